#pragma once
// Bulk bytes: blobs in containers, plain files under a folder. Logs are blobs that grow.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/workspace.h"

namespace lavant::ports {

struct BlobInfo {
    std::string name;
    std::uint64_t bytes = 0;
    std::string etag;  // changes with the content, without quotes
    Instant modified_at{};
    std::string content_type;
    std::map<std::string, std::string> metadata;
};

struct BlobPage {
    std::vector<BlobInfo> blobs;        // sorted by name
    std::vector<std::string> prefixes;  // with a delimiter: the common prefixes, each ends in it
    std::string next_marker;            // "" at the end
};

struct BlobListing {
    std::string container;
    std::string prefix;
    std::string delimiter;  // "" or "/"
    std::string marker;
    int limit = 5000;
};

using lavant::kStagingFolder;  // hidden from list()
// Whether a blob name lies there. Only the staging routes may read or write such names; others refuse them.
inline bool is_staged(std::string_view name) { return name.substr(0, name.find('/')) == kStagingFolder; }

// A blob's content type travels as this entry of the metadata given to put() and set_metadata().
inline constexpr std::string_view kContentTypeKey = "content-type";

// Blob names are relative paths: no empty, "." or ".." segment, no NUL; anything else is InvalidArgument.
// Any thread. What a write acknowledged survives a power cut.
class BlobStore {
 public:
    virtual ~BlobStore() = default;
    [[nodiscard]] virtual Result<void> make_container(const std::string& container) = 0;
    virtual bool has_container(const std::string& container) = 0;
    // With all that is in it; none there: done.
    [[nodiscard]] virtual Result<void> remove_container(const std::string& container) = 0;
    // Takes the file at `source` (same file system) as the blob, atomically. `only_if_absent`: AlreadyExists.
    [[nodiscard]] virtual Result<BlobInfo> put(const std::string& container, const std::string& name,
                                               const std::string& source,
                                               const std::map<std::string, std::string>& metadata,
                                               bool only_if_absent) = 0;
    [[nodiscard]] virtual Result<BlobInfo> put_bytes(const std::string& container, const std::string& name,
                                                     std::string_view bytes) = 0;
    [[nodiscard]] virtual Result<BlobInfo> set_metadata(
        const std::string& container, const std::string& name,
        const std::map<std::string, std::string>& metadata) = 0;
    [[nodiscard]] virtual Result<std::optional<BlobInfo>> find(const std::string& container,
                                                               const std::string& name) = 0;
    // The plain file behind a blob that exists.
    virtual std::string path_of(const std::string& container, const std::string& name) = 0;
    [[nodiscard]] virtual Result<BlobPage> list(const BlobListing& listing) = 0;
    [[nodiscard]] virtual Result<void> remove(const std::string& container, const std::string& name) = 0;
    // Uncommitted blocks of a blob, then the list that makes them the blob.
    [[nodiscard]] virtual Result<void> put_block(const std::string& container, const std::string& name,
                                                 const std::string& block_id, const std::string& source) = 0;
    [[nodiscard]] virtual Result<BlobInfo> put_block_list(const std::string& container,
                                                          const std::string& name,
                                                          const std::vector<std::string>& block_ids,
                                                          bool only_if_absent) = 0;
    // Writes `bytes` at `offset` of a growing blob (a log), made if absent; durable when it returns. Bytes
    // that are there already may be written again. A gap before `offset` is Conflict.
    [[nodiscard]] virtual Result<void> append(const std::string& container, const std::string& name,
                                              std::uint64_t offset, std::string_view bytes) = 0;
    virtual std::string temporary_folder() = 0;  // on the same file system, emptied at start
    // Moves every file below `from` (a folder of blobs) to below `to`, or the blob `from` to the name `to`;
    // what is there is replaced. Repeated calls finish the work; nothing at `from` means that it is done.
    // What cannot be moved stays, is told of, and keeps nothing else back.
    [[nodiscard]] virtual Result<void> publish(const std::string& container, const std::string& from,
                                               const std::string& to) = 0;
    // Removes every blob below `folder` (none there: done). Out of sight at once, as a whole.
    [[nodiscard]] virtual Result<void> remove_folder(const std::string& container,
                                                     const std::string& folder) = 0;
    // The folders right below kStagingFolder, and the end of one with all that is in it (none there: done).
    [[nodiscard]] virtual Result<std::vector<std::string>> list_staged(const std::string& container) = 0;
    [[nodiscard]] virtual Result<void> drop_staged(const std::string& container,
                                                   const std::string& folder) = 0;
};

}  // namespace lavant::ports
