#include "adapters/blobs_fs/growing_files.h"

#include <utility>

namespace lavant::blobs {

std::shared_ptr<GrowingFile> GrowingFiles::find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second);
    return found->second->file;
}

void GrowingFiles::keep(const std::string& key, std::shared_ptr<GrowingFile> file) {
    const std::lock_guard lock(mutex_);
    if (by_key_.contains(key)) return;
    order_.push_front({key, std::move(file)});
    by_key_[key] = order_.begin();
    if (order_.size() <= files_max_) return;
    by_key_.erase(order_.back().key);
    order_.pop_back();
}

void GrowingFiles::forget(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = by_key_.find(key);
    if (found == by_key_.end()) return;
    order_.erase(found->second);
    by_key_.erase(found);
}

void GrowingFiles::forget_below(const std::string& prefix) {
    const std::lock_guard lock(mutex_);
    for (auto next = order_.begin(); next != order_.end();) {
        if (next->key.starts_with(prefix)) {
            by_key_.erase(next->key);
            next = order_.erase(next);
        } else {
            ++next;
        }
    }
}

std::size_t GrowingFiles::size() const {
    const std::lock_guard lock(mutex_);
    return order_.size();
}

}  // namespace lavant::blobs
