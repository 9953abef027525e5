#pragma once
// Blobs that grow by appends, kept open while they do. The least lately used is closed first.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "base/files.h"

namespace lavant::blobs {

struct GrowingFile {
    Fd file;
    std::uint64_t bytes = 0;  // guarded, like the writing itself, by whoever serialises calls for one blob
};

class GrowingFiles {
 public:
    explicit GrowingFiles(std::size_t files_max) : files_max_(files_max) {}

    std::shared_ptr<GrowingFile> find(const std::string& key);
    void keep(const std::string& key, std::shared_ptr<GrowingFile> file);
    void forget(const std::string& key);
    void forget_below(const std::string& prefix);
    std::size_t size() const;

 private:
    struct Entry {
        std::string key;
        std::shared_ptr<GrowingFile> file;
    };
    using Order = std::list<Entry>;  // latest first

    const std::size_t files_max_;
    mutable std::mutex mutex_;  // guards order_ and by_key_
    Order order_;
    std::unordered_map<std::string, Order::iterator> by_key_;
};

}  // namespace lavant::blobs
