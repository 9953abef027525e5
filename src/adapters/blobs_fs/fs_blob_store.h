#pragma once
// Blobs as plain files: root/<container>/<name>. Beside the containers lie .tmp (uploads under way), .meta
// (content types and metadata) and .blocks (uncommitted blocks). No link below the root is ever followed.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/blobs_fs/beneath.h"
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
    // Gives way when the disk is full, for logs and other small blobs of our own. Outlives the store.
    void use_spare(SpareRoom& spare) { spare_ = &spare; }

    [[nodiscard]] Result<void> make_container(const std::string& container) override;
    bool has_container(const std::string& container) override;
    [[nodiscard]] Result<void> remove_container(const std::string& container) override;
    [[nodiscard]] Result<ports::BlobInfo> put(const std::string& container, const std::string& name,
                                              const std::string& source,
                                              const std::map<std::string, std::string>& metadata,
                                              bool only_if_absent) override;
    [[nodiscard]] Result<ports::BlobInfo> put_bytes(const std::string& container, const std::string& name,
                                                    std::string_view bytes) override;
    [[nodiscard]] Result<ports::BlobInfo> set_metadata(
        const std::string& container, const std::string& name,
        const std::map<std::string, std::string>& metadata) override;
    [[nodiscard]] Result<std::optional<ports::BlobInfo>> find(const std::string& container,
                                                              const std::string& name) override;
    std::string path_of(const std::string& container, const std::string& name) override;
    [[nodiscard]] Result<ports::BlobPage> list(const ports::BlobListing& listing) override;
    [[nodiscard]] Result<void> remove(const std::string& container, const std::string& name) override;
    [[nodiscard]] Result<void> put_block(const std::string& container, const std::string& name,
                                         const std::string& block_id, const std::string& source) override;
    [[nodiscard]] Result<ports::BlobInfo> put_block_list(const std::string& container,
                                                         const std::string& name,
                                                         const std::vector<std::string>& block_ids,
                                                         bool only_if_absent) override;
    [[nodiscard]] Result<void> append(const std::string& container, const std::string& name,
                                      std::uint64_t offset, std::string_view bytes) override;
    std::string temporary_folder() override;
    [[nodiscard]] Result<void> publish(const std::string& container, const std::string& from,
                                       const std::string& to) override;
    [[nodiscard]] Result<std::vector<std::string>> list_staged(const std::string& container) override;
    [[nodiscard]] Result<void> remove_folder(const std::string& container,
                                             const std::string& folder) override;
    [[nodiscard]] Result<void> drop_staged(const std::string& container, const std::string& folder) override;

    // Blocks of blobs that have got none since `before` and were never committed. Returns of how many blobs.
    [[nodiscard]] Result<std::size_t> drop_old_blocks(Instant before);
    std::size_t files_open() const { return growing_.size(); }

 private:
    FsBlobStore(std::string root, Fd folder, Fd metadata, Fd blocks);
    static Result<bool> move_out(const Fd& root, const std::string& folder, const std::string& doomed);

    Result<Fd> open_container(const std::string& container, const std::string& name) const;
    Result<ports::BlobInfo> put_file(const std::string& container, const std::string& name,
                                     const std::string& source, bool only_if_absent);
    Result<void> gather_blocks(const std::string& folder, const std::vector<std::string>& block_ids,
                               const std::string& target) const;
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
    Result<void> settle();
    std::string temporary_path();
    // Calls for one blob follow each other; those for different ones rarely meet.
    std::mutex& lock_of(const std::string& container, const std::string& name);

    const std::string root_;
    const Fd folder_;
    blobs::Sidecars sidecars_;
    const Fd blocks_;
    const bool syncs_in_order_;
    blobs::GrowingFiles growing_;
    SpareRoom* spare_ = nullptr;
    std::atomic<bool> unsettled_{
        false};  // a write failed half-way: folders may be there that were never synced
    std::atomic<std::uint64_t> last_temporary_{0};
    std::array<std::mutex, 64> locks_;
};

}  // namespace lavant::adapters
