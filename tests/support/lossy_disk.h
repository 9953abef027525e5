#pragma once
// A disk that forgets: what was not synced is gone when the power goes. A program that uses it is linked so
// that its calls of fsync, fdatasync, syncfs and fstatfs come here (lavant_test_lossy_disk sees to that);
// each sync below the watched folder copies what it makes durable from the real files. The folder lies on a
// tmpfs, which uses no inode number twice. Belongs to one test and one thread.

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace lavant::test {

class LossyDisk {
 public:
    enum class Kind {
        Strict,  // the least that POSIX promises: a file's sync keeps its bytes, a folder's the names in it
        Ordered  // as ext4 and xfs, and says so: any sync keeps all earlier changes of names as well
    };
    // Watches the folder until it is destroyed. At first the disk holds an empty folder.
    LossyDisk(std::string folder, Kind kind);
    LossyDisk(const LossyDisk&) = delete;
    LossyDisk& operator=(const LossyDisk&) = delete;
    ~LossyDisk();

    // Called before each sync takes effect: a moment at which the power may go. Not watched meanwhile.
    std::function<void()> at_sync;
    // From now on syncs succeed and do nothing, as on the worst of disks.
    void lie_about_syncs() { lies_ = true; }
    int syncs() const { return syncs_; }

    // Writes into a new folder what the disk holds if the power goes now. With a seed, each later change is
    // there or not by chance, and later bytes of a file up to some place; a rename happened as a whole or not
    // at all.
    void write_what_is_left(const std::string& into, std::uint64_t seed = 0) const;

    // --- for the functions in lossy_disk.cpp that stand for the system's ---
    static LossyDisk* watching();
    bool holds(int fd) const;
    void sync(int fd);
    void sync_all();
    Kind kind() const { return kind_; }

 private:
    struct Name {
        ino_t inode = 0;
        bool is_folder = false;
        bool operator==(const Name&) const = default;
    };
    struct Image {
        std::map<ino_t, std::map<std::string, Name>> folders;
        std::map<ino_t, std::string> files;
        std::map<ino_t, std::string> facts;  // kept with a file, see adapters/blobs_fs/facts.h
    };
    struct Mix;
    void begin_sync();
    void keep_folder(const std::string& path, ino_t inode);
    Image scan() const;
    static void scan_folder(const std::string& path, ino_t inode, Image& image);
    static void mix(const Image& before, const Image& now, std::uint64_t seed, Image& mixed);
    static void write(const Image& image, ino_t folder, const std::string& into,
                      std::map<ino_t, bool>& written);
    static void put_back(const Image& image, ino_t folder, const std::string& into, Mix& what);

    const std::string folder_;
    const Kind kind_;
    ino_t root_ = 0;
    Image durable_;
    int syncs_ = 0;
    bool lies_ = false;
    bool paused_ = false;
};

}  // namespace lavant::test
