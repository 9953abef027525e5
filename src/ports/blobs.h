#pragma once
// Bulk bytes: blobs in containers, plain files under a folder. Logs are blobs that grow.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/time.h"
#include "core/model/workspace.h"

namespace lavant::ports {

// What is kept of a blob besides its bytes.
struct BlobFacts {
    std::map<std::string, std::string> metadata;
    // By the names of their HTTP headers in lower case: those of kBlobProperties, and kMd5Property.
    std::map<std::string, std::string> properties;
};
inline constexpr std::string_view kBlobProperties[] = {"content-type", "content-encoding", "content-language",
                                                       "content-disposition", "cache-control"};
// Base64. Forgotten as soon as the bytes change by another way than through the store.
inline constexpr const char* kMd5Property = "content-md5";

struct BlobInfo {
    std::string name;
    std::uint64_t bytes = 0;
    std::string etag;  // changes with the content and the facts, without quotes
    Instant modified_at{};
    std::map<std::string, std::string> metadata;
    std::map<std::string, std::string> properties;
};

struct OpenBlob {
    BlobInfo info;
    std::shared_ptr<const Fd> file;  // shared with whoever sends it
};

// Asked while the blob is locked, with what is there (null: nothing). An error ends the write.
using BlobCheck = std::function<Result<void>(const BlobInfo* there)>;

struct BlockRef {
    enum class From { Latest, Committed, Uncommitted };
    std::string id;
    From from = From::Latest;
};
struct BlockInfo {
    std::string id;
    std::uint64_t bytes = 0;
    bool operator==(const BlockInfo&) const = default;
};
struct BlockList {
    std::vector<BlockInfo> committed;    // in the order in which they make the blob
    std::vector<BlockInfo> uncommitted;  // sorted by id
};

struct BlobPut {
    std::string container;
    std::string name;
    std::string source;  // a file, which goes into its place
    BlobFacts facts;
    bool only_if_absent = false;
    BlobCheck check = {};
    std::string bytes = {};  // the content where there is no source
    // What must stay free of the disk where blocks are put together; else ResourceExhausted.
    std::uint64_t free_bytes_min = 0;
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

// Blob names are relative paths: no empty, "." or ".." segment, no NUL; anything else is InvalidArgument.
// Any thread. What a write acknowledged survives a power cut.
class BlobStore {
 public:
    virtual ~BlobStore() = default;
    [[nodiscard]] virtual Result<void> make_container(const std::string& container) = 0;
    virtual bool has_container(const std::string& container) = 0;
    // From now on the container is a folder of the user's own, which must exist: its files are the blobs, and
    // what is written there are plain files. Not kept over a restart. AlreadyExists: one of ours has the
    // name.
    [[nodiscard]] virtual Result<void> map_container(const std::string& container,
                                                     const std::string& folder) = 0;
    // With all that is in it; none there: done. A folder of the user's own is unmapped, and stays.
    [[nodiscard]] virtual Result<void> remove_container(const std::string& container) = 0;
    virtual void unmap_container(const std::string& container) = 0;  // its files stay
    // Takes the file at `source` as the blob, atomically; one on another file system is copied first.
    // `only_if_absent`: AlreadyExists.
    [[nodiscard]] virtual Result<BlobInfo> put(const BlobPut& put) = 0;
    [[nodiscard]] Result<BlobInfo> put(const std::string& container, const std::string& name,
                                       const std::string& source,
                                       const std::map<std::string, std::string>& metadata,
                                       bool only_if_absent) {
        return put(BlobPut{container, name, source, {metadata, {}}, only_if_absent});
    }
    // The same, many at a time; `done` is called once, from any thread, maybe before this returns.
    virtual void put_later(BlobPut put, std::function<void(Result<BlobInfo>)> done) = 0;
    [[nodiscard]] virtual Result<BlobInfo> put_bytes(const std::string& container, const std::string& name,
                                                     std::string_view bytes) = 0;
    // Each replaces its half of the facts.
    [[nodiscard]] virtual Result<BlobInfo> set_metadata(const std::string& container, const std::string& name,
                                                        const std::map<std::string, std::string>& metadata,
                                                        const BlobCheck& check = {}) = 0;
    [[nodiscard]] virtual Result<BlobInfo> set_properties(
        const std::string& container, const std::string& name,
        const std::map<std::string, std::string>& properties, const BlobCheck& check = {}) = 0;
    [[nodiscard]] virtual Result<std::optional<BlobInfo>> find(const std::string& container,
                                                               const std::string& name) = 0;
    // With the file to read it from, which stays what it is whatever is put in its place.
    [[nodiscard]] virtual Result<std::optional<OpenBlob>> open(const std::string& container,
                                                               const std::string& name) = 0;
    // The plain file behind a blob that exists, of a container of ours.
    virtual std::string path_of(const std::string& container, const std::string& name) = 0;
    [[nodiscard]] virtual Result<BlobPage> list(const BlobListing& listing) = 0;
    [[nodiscard]] virtual Result<void> remove(const std::string& container, const std::string& name,
                                              const BlobCheck& check = {}) = 0;
    // Uncommitted blocks of a blob, then the list that makes them the blob. Blocks survive a restart of the
    // server, not one of the machine; a block that is not there is InvalidArgument.
    [[nodiscard]] virtual Result<void> put_block(const std::string& container, const std::string& name,
                                                 const std::string& block_id, const std::string& source) = 0;
    // `put.source` is made here.
    [[nodiscard]] virtual Result<BlobInfo> put_block_list(BlobPut put,
                                                          const std::vector<BlockRef>& blocks) = 0;
    [[nodiscard]] virtual Result<BlockList> list_blocks(const std::string& container,
                                                        const std::string& name) = 0;
    // Writes `bytes` at `offset` of a growing blob (a log), made if absent; durable when it returns. Bytes
    // that are there already may be written again. A gap before `offset` is Conflict.
    [[nodiscard]] virtual Result<void> append(const std::string& container, const std::string& name,
                                              std::uint64_t offset, std::string_view bytes) = 0;
    virtual std::string temporary_folder() = 0;  // on the file system of our containers, emptied at start
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
