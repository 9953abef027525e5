#pragma once
// Where containers lie: folders below the store's own root, or folders of the user's that were mapped.

#include <sys/types.h>

#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace lavant::blobs {

// Below a container's staging folder: what is under way there, by this process.
inline constexpr const char* kTemporaryBelow = ".lavant-staging/.tmp";

struct Container {
    Fd folder;
    bool is_mapped = false;
    mode_t folder_mode = 0700;  // of what is made in it
    mode_t file_mode = 0600;
};

// Any thread.
class Containers {
 public:
    // `root` is the open folder of the store's own containers and outlives this.
    explicit Containers(int root);

    [[nodiscard]] Result<Container> open(const std::string& container) const;  // NotFound
    // The file or folder behind a blob's name, as open_beneath() does: an empty Fd and errno.
    Fd open_blob(const std::string& container, const std::string& name, int flags) const;
    bool has(const std::string& container) const;
    [[nodiscard]] Result<void> map(const std::string& container, const std::string& folder);
    void unmap(const std::string& container);
    std::string mapped_folder(const std::string& container) const;  // "" if it is not mapped

 private:
    const int root_;
    const mode_t umask_;
    mutable std::shared_mutex mutex_;  // guards mapped_
    std::map<std::string, std::string, std::less<>> mapped_;
};

// Opens the folder for what is under way in a container, made if it is not there.
[[nodiscard]] Result<Fd> open_temporary(const Container& container);
// A path to a name in an open folder, whatever becomes of the folder's own path.
std::string path_in(const Fd& folder, const std::string& name);

}  // namespace lavant::blobs
