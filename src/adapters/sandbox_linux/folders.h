#pragma once
// Private writable copies of folders, and folders that change owner. Follows no link, makes no hard link.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace lavant::sandbox_linux {

using Owner = std::optional<uid_t>;  // nothing: stays the caller's

// Copies a tree: shares blocks (reflink) where the file system can. Entries that are neither file, folder nor
// link are left out.
[[nodiscard]] Result<void> copy_tree(const std::string& from, const std::string& to, Owner owner);
struct TreeSize {
    int files = 0;  // and folders and links
    std::uint64_t bytes = 0;
};
bool is_small_tree(const std::string& path, TreeSize limit);
// Moves what is in `from` into `to`, where it replaces what is in its way. Both are on one file system, and
// nobody else is at work there. Leaves `from` with empty folders.
[[nodiscard]] Result<void> move_tree(const std::string& from, const std::string& to, Owner owner);
[[nodiscard]] Result<void> give_tree(const std::string& path, uid_t owner);
// Makes the folder if it is missing, and gives it to `owner`.
[[nodiscard]] Result<void> make_folder_for(const std::string& path, Owner owner);

}  // namespace lavant::sandbox_linux
