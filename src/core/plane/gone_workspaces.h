#pragma once
// Keys of workspaces that were deleted lately. No key is used twice, but a request that was planned before
// the deletion may arrive after it: it must not leave anything where nobody looks any more.

#include <cstddef>
#include <deque>
#include <set>
#include <string>

namespace lavant::plane {

class GoneWorkspaces {
 public:
    // Far more than are deleted while one request is under way.
    static constexpr std::size_t kKept = 10'000;

    void add(const std::string& key) {
        if (!keys_.insert(key).second) return;
        order_.push_back(key);
        if (order_.size() <= kKept) return;
        keys_.erase(order_.front());
        order_.pop_front();
    }
    // Its deletion may not have been stored.
    void take_back(const std::string& key) {
        if (keys_.erase(key) > 0) std::erase(order_, key);
    }
    bool contains(const std::string& key) const { return keys_.contains(key); }

 private:
    std::set<std::string> keys_;
    std::deque<std::string> order_;  // the oldest first
};

}  // namespace lavant::plane
