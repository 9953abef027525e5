#pragma once
// POSIX files with errors as values. Paths are plain strings; nothing here follows a policy.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace lavant {

// Owns a file descriptor; -1 is empty.
class Fd {
 public:
    Fd() = default;
    explicit Fd(int raw) : raw_(raw) {}
    Fd(Fd&& other) noexcept : raw_(std::exchange(other.raw_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        if (this != &other) reset(std::exchange(other.raw_, -1));
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd() { reset(); }

    int get() const { return raw_; }
    explicit operator bool() const { return raw_ >= 0; }
    int release() { return std::exchange(raw_, -1); }
    void reset(int raw = -1);

 private:
    int raw_ = -1;
};

[[nodiscard]] Result<Fd> open_file(const std::string& path, int flags, int mode = 0600);
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t bytes_max);
[[nodiscard]] Result<void> write_all(int fd, std::string_view bytes);
// Written beside, synced, renamed over: readers see the old or the new file, also after a power cut.
[[nodiscard]] Result<void> write_file_atomically(const std::string& path, std::string_view bytes,
                                                 int mode = 0600);
[[nodiscard]] Result<void> sync_directory(const std::string& path);
[[nodiscard]] Result<void> make_directories(const std::string& path, int mode = 0700);
// Whatever modes somebody left on what is in it. Absent is fine. Follows no link.
[[nodiscard]] Result<void> remove_tree(const std::string& path);
[[nodiscard]] Result<void> remove_contents(const std::string& path);  // of a folder, which stays
bool exists(const std::string& path);
std::string parent_of(const std::string& path);
std::string working_folder();  // "/" if it cannot be told
// Everything until the end of a stream; more than `bytes_max` is refused.
[[nodiscard]] Result<std::string> read_all(int fd, std::size_t bytes_max);
std::string base_name_of(const std::string& path);

struct DirectoryEntry {
    std::string name;
    bool is_directory = false;  // A link is neither.
    bool is_file = false;
    bool is_link = false;
    std::uint64_t bytes = 0;
};
[[nodiscard]] Result<std::vector<DirectoryEntry>> list_directory(const std::string& path);  // sorted by name

}  // namespace lavant
