#pragma once
// A small map of things that never change while they are there. When it is full it starts anew; whoever
// removes such a thing clears it.

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace lavant::api {

template <class Value>
class BoundedCache {
 public:
    explicit BoundedCache(std::size_t entries_max) : entries_max_(entries_max) {}

    std::optional<Value> find(const std::string& key) {
        const std::lock_guard lock(mutex_);
        const auto at = entries_.find(key);
        if (at == entries_.end()) return std::nullopt;
        return at->second;
    }
    void put(const std::string& key, Value value) {
        const std::lock_guard lock(mutex_);
        if (entries_.size() >= entries_max_) entries_.clear();
        entries_.insert_or_assign(key, std::move(value));
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        entries_.clear();
    }

 private:
    const std::size_t entries_max_;
    std::mutex mutex_;  // guards what follows
    std::unordered_map<std::string, Value> entries_;
};

}  // namespace lavant::api
