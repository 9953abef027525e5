#pragma once
// Opening files below a folder without ever leaving it: no link is followed, no ".." is obeyed, whatever lies
// on the disk. Paths are relative; "" is the folder itself.

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"

namespace lavant::blobs {

// As open(2): an empty Fd and errno on failure. ELOOP or ENOTDIR: a link or a file is in the way.
Fd open_beneath(int root, const std::string& path, int flags, mode_t mode = 0600);
// The same on kernels without openat2.
Fd open_beneath_by_walking(int root, const std::string& path, int flags, mode_t mode = 0600);

// Whether a sync of one file or folder makes sure of everything done before it, as the journal of ext4 and
// the log of xfs do: both commit in order. Elsewhere every folder with a new entry needs a sync of its own.
bool syncs_in_order(int fd);
// By the options that the kernel lists of a mounted ext4: with a journal they say how data gets there.
bool has_journal(std::string_view ext4_options);

// Folders that have got a new entry and must be synced before the entry is sure.
class UnsyncedFolders {
 public:
    void add(Fd folder) { folders_.push_back(std::move(folder)); }
    void take(UnsyncedFolders& others);      // those go here
    [[nodiscard]] Result<void> sync();       // each folder once
    [[nodiscard]] Result<void> sync_last();  // the one added last, which is enough where syncs_in_order()

 private:
    std::vector<Fd> folders_;
};

// Opens a folder, making what is missing of it. `unsynced` gets the folders in which one was made.
[[nodiscard]] Result<Fd> make_folders_beneath(int root, const std::string& path, UnsyncedFolders& unsynced,
                                              mode_t mode = 0700);

[[nodiscard]] Result<void> sync_fd(int fd, const std::string& what);
Fd duplicate(int fd);

// "a/b/c" -> {"a/b", "c"}; "c" -> {"", "c"}
struct SplitPath {
    std::string folder;
    std::string base;
};
SplitPath split_path(const std::string& path);

}  // namespace lavant::blobs
