#pragma once
// Blobs as plain files: root/<container>/<name>, or below a folder of the user's. Beside our containers lie
// .tmp (uploads under way), .meta (metadata and properties) and .blocks (uncommitted blocks). No link below a
// container is ever followed.

#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adapters/blobs_fs/beneath.h"
#include "adapters/blobs_fs/containers.h"
#include "adapters/blobs_fs/growing_files.h"
#include "adapters/blobs_fs/sidecar.h"
#include "base/files.h"
#include "base/spare_room.h"
#include "ports/blobs.h"

namespace lavant::adapters {

class FsBlobStore final : public ports::BlobStore {
 public:
    // Makes the folders that are missing and empties the temporary one.
    [[nodiscard]] static Result<std::unique_ptr<FsBlobStore>> open(const std::string& root);
    ~FsBlobStore() override;
    // Gives way when the disk is full, for logs and other small blobs of our own. Outlives the store.
    void use_spare(SpareRoom& spare) { spare_ = &spare; }
    // From now on put_later() gathers what comes at the same time, on a thread of its own, and waits for the
    // disk once for all of it. Without it put_later() is put().
    void gather_puts();

    using BlobStore::put;
    [[nodiscard]] Result<void> make_container(const std::string& container) override;
    bool has_container(const std::string& container) override;
    [[nodiscard]] Result<void> map_container(const std::string& container,
                                             const std::string& folder) override;
    [[nodiscard]] Result<void> remove_container(const std::string& container) override;
    void unmap_container(const std::string& container) override;
    [[nodiscard]] Result<ports::BlobInfo> put(const ports::BlobPut& put) override;
    void put_later(ports::BlobPut put, std::function<void(Result<ports::BlobInfo>)> done) override;
    [[nodiscard]] Result<ports::BlobInfo> put_bytes(const std::string& container, const std::string& name,
                                                    std::string_view bytes) override;
    [[nodiscard]] Result<ports::BlobInfo> set_metadata(const std::string& container, const std::string& name,
                                                       const std::map<std::string, std::string>& metadata,
                                                       const ports::BlobCheck& check = {}) override;
    [[nodiscard]] Result<ports::BlobInfo> set_properties(const std::string& container,
                                                         const std::string& name,
                                                         const std::map<std::string, std::string>& properties,
                                                         const ports::BlobCheck& check = {}) override;
    [[nodiscard]] Result<std::optional<ports::BlobInfo>> find(const std::string& container,
                                                              const std::string& name) override;
    [[nodiscard]] Result<std::optional<ports::OpenBlob>> open(const std::string& container,
                                                              const std::string& name) override;
    std::string path_of(const std::string& container, const std::string& name) override;
    [[nodiscard]] Result<ports::BlobPage> list(const ports::BlobListing& listing) override;
    [[nodiscard]] Result<void> remove(const std::string& container, const std::string& name,
                                      const ports::BlobCheck& check = {}) override;
    [[nodiscard]] Result<void> put_block(const std::string& container, const std::string& name,
                                         const std::string& block_id, const std::string& source) override;
    [[nodiscard]] Result<ports::BlobInfo> put_block_list(ports::BlobPut put,
                                                         const std::vector<ports::BlockRef>& blocks) override;
    [[nodiscard]] Result<ports::BlockList> list_blocks(const std::string& container,
                                                       const std::string& name) override;
    [[nodiscard]] Result<void> append(const std::string& container, const std::string& name,
                                      std::uint64_t offset, std::string_view bytes) override;
    std::string temporary_folder() override;
    [[nodiscard]] Result<void> publish(const std::string& container, const std::string& from,
                                       const std::string& to) override;
    [[nodiscard]] Result<void> remove_folder(const std::string& container,
                                             const std::string& folder) override;
    [[nodiscard]] Result<std::vector<std::string>> list_staged(const std::string& container) override;
    [[nodiscard]] Result<void> drop_staged(const std::string& container, const std::string& folder) override;

    // Blocks of blobs that have got none since `before` and were never committed. Returns of how many blobs.
    [[nodiscard]] Result<std::size_t> drop_old_blocks(Instant before);
    std::size_t files_open() const { return growing_.size(); }

 private:
    struct Pending;  // a put under way
    struct Waiting;  // one that is gathered
    struct Gathering;

    FsBlobStore(std::string root, Fd folder, Fd metadata, Fd blocks);
    static Result<bool> move_out(const Fd& root, const std::string& folder, const std::string& doomed);

    Result<blobs::Container> open_container(const std::string& container, const std::string& name) const;
    Result<Pending> prepare(const ports::BlobPut& put);
    Result<void> write_out(Pending& pending);
    Result<void> copy_over(Pending& pending);
    Result<void> place(Pending& pending);
    Result<void> rename_into_place(Pending& pending);
    Result<Pending> begin_round(const ports::BlobPut& put);
    void commit_round(std::vector<Waiting>& round);
    void run_rounds();
    Result<ports::BlobInfo> change_facts(const std::string& container, const std::string& name,
                                         const ports::BlobCheck& check,
                                         const std::function<void(ports::BlobFacts&)>& change);
    Result<std::string> gather_blocks(const ports::BlobPut& put, const std::vector<ports::BlockRef>& blocks,
                                      const std::string& target, std::vector<ports::BlockInfo>& gathered);
    // Makes the file if `unsynced` is given; else an absent one is null.
    Result<std::shared_ptr<blobs::GrowingFile>> open_growing(const std::string& container,
                                                             const std::string& name,
                                                             blobs::UnsyncedFolders* unsynced) const;
    Result<void> append_locked(const std::string& container, const std::string& name, std::uint64_t offset,
                               std::string_view bytes);
    Result<ports::BlobInfo> put_bytes_once(const std::string& container, const std::string& name,
                                           std::string_view bytes);
    Result<void> append_once(const std::string& container, const std::string& name, std::uint64_t offset,
                             std::string_view bytes);
    Result<void> settle(const blobs::Container& container);
    std::string temporary_name();
    std::string temporary_path();
    // Calls for one blob follow each other; those for different ones rarely meet.
    std::mutex& lock_of(const std::string& container, const std::string& name);

    const std::string root_;
    const Fd folder_;
    blobs::Containers containers_;
    blobs::Sidecars sidecars_;
    const Fd blocks_;
    const bool syncs_in_order_;
    blobs::GrowingFiles growing_;
    SpareRoom* spare_ = nullptr;
    std::atomic<bool> unsettled_{
        false};  // a write failed half-way: folders may be there that were never synced
    std::atomic<std::uint64_t> last_temporary_{0};
    std::array<std::mutex, 64> locks_;
    std::unique_ptr<Gathering> gathering_;  // null: nothing is gathered
};

namespace fs_blob_store {

Error in_the_way(const std::string& name);
Error write_error(const std::string& name, int errno_value);
bool is_folder_at(int folder, const std::string& base);
inline std::string key_of(const std::string& container, const std::string& name) {
    return container + "/" + name;
}
// Copies `bytes` from where `from` stands, all of it by default, in the kernel where it can.
[[nodiscard]] Result<void> copy_bytes(int from, int to, std::uint64_t bytes = ~0ULL);

}  // namespace fs_blob_store

}  // namespace lavant::adapters
