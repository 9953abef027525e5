#pragma once
// A small map of things that never change while they are there. When it is full it starts anew; whoever
// removes such a thing clears it. Somebody may have read the thing before and put it afterwards: hence the
// generation, which is to be asked for before reading.

#include <cstddef>
#include <cstdint>
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
    std::uint64_t generation() {
        const std::lock_guard lock(mutex_);
        return generation_;
    }
    // Nothing happens if it was cleared since `generation`.
    void put(const std::string& key, Value value, std::uint64_t generation) {
        const std::lock_guard lock(mutex_);
        if (generation != generation_) return;
        if (entries_.size() >= entries_max_) entries_.clear();
        entries_.insert_or_assign(key, std::move(value));
    }
    void clear() {
        const std::lock_guard lock(mutex_);
        entries_.clear();
        ++generation_;
    }

 private:
    const std::size_t entries_max_;
    std::mutex mutex_;  // guards what follows
    std::unordered_map<std::string, Value> entries_;
    std::uint64_t generation_ = 0;  // counts clear
};

}  // namespace lavant::api
