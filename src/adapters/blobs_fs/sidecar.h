#pragma once
// Content type and metadata of blobs, in a tree of side files: only blobs that have any have one.

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "ports/blobs.h"

namespace lavant::blobs {

using Metadata = std::map<std::string, std::string>;

inline constexpr std::size_t kMetadataBytes = 16U << 10;  // names and values together; Azure allows 8 KiB

class Sidecars {
 public:
    explicit Sidecars(Fd root) : root_(std::move(root)) {}

    [[nodiscard]] Result<Metadata> read(const std::string& container, const std::string& name) const;
    // Replaces; an empty map removes. Durable when it returns.
    [[nodiscard]] Result<void> write(const std::string& container, const std::string& name,
                                     const Metadata& metadata);
    // Of which blocks a blob with this etag was made. Not synced: what is lost counts as not known.
    void write_blocks(const std::string& container, const std::string& name, const std::string& etag,
                      const std::vector<ports::BlockInfo>& blocks);
    std::vector<ports::BlockInfo> read_blocks(const std::string& container, const std::string& name,
                                              const std::string& etag) const;
    void forget_blocks(const std::string& container, const std::string& name);
    // Of a blob's side file, below the store's folder.
    static std::string path_of(const std::string& container, const std::string& name);
    bool has_any(const std::string& container) const;

 private:
    Fd root_;
};

}  // namespace lavant::blobs
