#include "tests/support/lossy_disk.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/files.h"

namespace lavant::test {
namespace {

constexpr std::size_t kFileBytesMax = 16U << 20;
constexpr const char* kFacts = "user.lavant.facts";

LossyDisk* watched = nullptr;

struct stat stat_of(const std::string& path) {
    struct stat found {};
    CHECK(::lstat(path.c_str(), &found) == 0, "the test's files stay while they are looked at");
    return found;
}

std::string bytes_of(const std::string& path) {
    auto bytes = read_file(path, kFileBytesMax);
    CHECK(bytes.has_value(), "the test's files can be read");
    return *std::move(bytes);
}

std::string facts_of(const std::string& path) {
    std::array<char, 4096> facts{};
    const ssize_t count = ::getxattr(path.c_str(), kFacts, facts.data(), facts.size());
    return {facts.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
}

void write_facts(const Fd& file, const std::map<ino_t, std::string>& facts, ino_t inode) {
    const auto found = facts.find(inode);
    if (found == facts.end() || found->second.empty()) return;
    CHECK(::fsetxattr(file.get(), kFacts, found->second.data(), found->second.size(), 0) == 0,
          "the test's files can be described");
}

std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

// What is restored by chance, and what of it is placed already.
struct LossyDisk::Mix {
    const Image& now;
    std::map<ino_t, bool>& written;
};

LossyDisk::LossyDisk(std::string folder, Kind kind) : folder_(std::move(folder)), kind_(kind) {
    CHECK(watched == nullptr, "one disk at a time");
    struct statfs about {};
    CHECK(::statfs(folder_.c_str(), &about) == 0 && about.f_type == TMPFS_MAGIC, "the folder is on a tmpfs");
    root_ = stat_of(folder_).st_ino;
    durable_.folders[root_];
    watched = this;
}

LossyDisk::~LossyDisk() { watched = nullptr; }

LossyDisk* LossyDisk::watching() { return watched != nullptr && !watched->paused_ ? watched : nullptr; }

bool LossyDisk::holds(int fd) const {
    std::array<char, 4096> path{};
    const ssize_t count = ::readlink(path_of(fd).c_str(), path.data(), path.size() - 1);
    const std::string found(path.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return found == folder_ || found.starts_with(folder_ + "/");
}

void LossyDisk::begin_sync() {
    ++syncs_;
    if (!at_sync) return;
    paused_ = true;
    at_sync();
    paused_ = false;
}

void LossyDisk::sync(int fd) {
    begin_sync();
    if (lies_) return;
    if (kind_ == Kind::Ordered) {
        Image now = scan();
        durable_.folders = std::move(now.folders);
        durable_.facts = std::move(now.facts);
    }
    struct stat about {};
    CHECK(::fstat(fd, &about) == 0, "what is synced is open");
    if (!S_ISDIR(about.st_mode)) {
        durable_.files[about.st_ino] = bytes_of(path_of(fd));
        durable_.facts[about.st_ino] = facts_of(path_of(fd));
    } else {
        keep_folder(path_of(fd), about.st_ino);
    }
}

void LossyDisk::sync_all() {
    begin_sync();
    if (!lies_) durable_ = scan();
}

void LossyDisk::keep_folder(const std::string& path, ino_t inode) {
    const auto entries = list_directory(path);
    CHECK(entries.has_value(), "the test's folders can be listed");
    auto& names = durable_.folders[inode];
    names.clear();
    for (const DirectoryEntry& entry : *entries)
        names[entry.name] = {stat_of(path + "/" + entry.name).st_ino, entry.is_directory};
}

LossyDisk::Image LossyDisk::scan() const {
    Image image;
    scan_folder(folder_, root_, image);
    return image;
}

void LossyDisk::scan_folder(const std::string& path, ino_t inode, Image& image) {
    const auto entries = list_directory(path);
    CHECK(entries.has_value(), "the test's folders can be listed");
    image.folders[inode];
    for (const DirectoryEntry& entry : *entries) {
        const std::string below = path + "/" + entry.name;
        const ino_t found = stat_of(below).st_ino;
        image.folders[inode][entry.name] = {found, entry.is_directory};
        if (entry.is_directory) {
            scan_folder(below, found, image);
        } else {
            image.files[found] = bytes_of(below);
            image.facts[found] = facts_of(below);
        }
    }
}

void LossyDisk::write_what_is_left(const std::string& into, std::uint64_t seed) const {
    std::map<ino_t, bool> written;
    if (seed == 0) return write(durable_, root_, into, written);
    const Image now = scan();
    Image mixed;
    mix(durable_, now, seed, mixed);
    write(mixed, root_, into, written);
    Mix what{now, written};
    put_back(durable_, root_, into, what);
}

void LossyDisk::write(const Image& image, ino_t folder, const std::string& into,
                      std::map<ino_t, bool>& written) {
    CHECK(make_directories(into).has_value(), "the test's folders can be made");
    const auto found = image.folders.find(folder);
    if (found == image.folders.end()) return;  // Its name is on the disk, nothing in it is.
    for (const auto& [name, what] : found->second) {
        const std::string path = into + "/" + name;
        written[what.inode] = true;
        if (what.is_folder) {
            write(image, what.inode, path, written);
            continue;
        }
        const auto bytes = image.files.find(what.inode);
        const auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
        CHECK(file && write_all(file->get(), bytes == image.files.end() ? "" : bytes->second),
              "the test's files can be written");
        write_facts(*file, image.facts, what.inode);
    }
}

// Each inode's fate is one throw: so a rename, which changes two folders, happens as a whole.
void LossyDisk::mix(const Image& before, const Image& now, std::uint64_t seed, Image& mixed) {
    const auto chance = [seed](ino_t inode) { return std::mt19937_64(seed ^ (inode * 0x9e3779b97f4a7c15U)); };
    const auto happened = [&](ino_t inode) { return chance(inode)() % 2 == 0; };
    mixed = before;
    for (const auto& [folder, names] : now.folders) {
        auto& kept = mixed.folders[folder];
        for (const auto& [name, what] : names)
            if (happened(what.inode)) kept[name] = what;
        std::erase_if(kept, [&](const auto& entry) {
            return !names.contains(entry.first) && happened(entry.second.inode);
        });
    }
    for (const auto& [inode, facts] : now.facts)
        if (happened(inode)) mixed.facts[inode] = facts;
    for (const auto& [inode, bytes] : now.files) {
        std::string& kept = mixed.files[inode];
        if (kept == bytes) continue;
        auto random = chance(inode);
        if (bytes.starts_with(kept)) {
            kept = bytes.substr(0, kept.size() + random() % (bytes.size() - kept.size() + 1));
        } else if (happened(inode)) {
            kept = bytes;
        }
    }
}

// A file that exists still, but whose new name lies in a folder that is lost, was not renamed.
void LossyDisk::put_back(const Image& image, ino_t folder, const std::string& into, Mix& what) {
    const auto found = image.folders.find(folder);
    if (found == image.folders.end()) return;
    for (const auto& [name, entry] : found->second) {
        const std::string path = into + "/" + name;
        if (entry.is_folder) {
            put_back(image, entry.inode, path, what);
            continue;
        }
        if (what.written.contains(entry.inode) || !what.now.files.contains(entry.inode) || exists(path))
            continue;
        CHECK(make_directories(into).has_value(), "the test's folders can be made");
        const auto bytes = image.files.find(entry.inode);
        const auto file = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
        CHECK(file && write_all(file->get(), bytes == image.files.end() ? "" : bytes->second),
              "the test's files can be written");
        write_facts(*file, image.facts, entry.inode);
        what.written[entry.inode] = true;
    }
}

}  // namespace lavant::test

// The linker sends every call of NAME to __wrap_NAME; __real_NAME is the system's own.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __real_fsync(int fd);
int __real_fdatasync(int fd);
int __real_syncfs(int fd);
int __real_fstatfs(int fd, struct statfs* about);

int __wrap_fsync(int fd) {
    auto* disk = lavant::test::LossyDisk::watching();
    if (disk == nullptr || !disk->holds(fd)) return __real_fsync(fd);
    disk->sync(fd);
    return 0;
}

int __wrap_fdatasync(int fd) {
    auto* disk = lavant::test::LossyDisk::watching();
    if (disk == nullptr || !disk->holds(fd)) return __real_fdatasync(fd);
    disk->sync(fd);
    return 0;
}

int __wrap_syncfs(int fd) {
    auto* disk = lavant::test::LossyDisk::watching();
    if (disk == nullptr || !disk->holds(fd)) return __real_syncfs(fd);
    disk->sync_all();
    return 0;
}

int __wrap_fstatfs(int fd, struct statfs* about) {
    const int code = __real_fstatfs(fd, about);
    const auto* disk = lavant::test::LossyDisk::watching();
    if (code == 0 && disk != nullptr && disk->kind() == lavant::test::LossyDisk::Kind::Ordered)
        about->f_type = XFS_SUPER_MAGIC;  // ext4 would be asked for its journal
    return code;
}
}
// NOLINTEND(bugprone-reserved-identifier)
