#pragma once
// A SQLite VFS whose disk forgets: it passes everything on to the real files, remembers of each what was
// synced, and after a power cut puts that back. Belongs to one test and one thread.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

struct sqlite3_vfs;

namespace lavant::test {

class LossyVfs {
 public:
    LossyVfs();
    LossyVfs(const LossyVfs&) = delete;
    LossyVfs& operator=(const LossyVfs&) = delete;
    ~LossyVfs();

    const char* name() const { return name_.c_str(); }  // for sqlite3_open_v2

    // The n-th sync from now (1 is the next) and everything after it does not happen: calls fail, files stay.
    void cut_at_sync(int n) { syncs_left_ = n; }
    // From now on syncs succeed and do nothing, as on the worst of disks.
    void lie_about_syncs() { lies_ = true; }
    bool is_cut() const { return is_dead_; }
    int syncs() const { return syncs_; }  // all that happened

    // What a disk holds after the power is back: of each file what was synced, and nothing that came later.
    // With a seed, each later sector is lost or kept by chance, as a real disk may. Close all connections
    // first.
    void power_cut(std::uint64_t seed = 0);

    // --- for the C functions in lossy_vfs.cpp ---
    bool allows_write() const { return !is_dead_; }
    bool lies() const { return lies_; }
    bool begin_sync();  // false: the power went
    void track(const std::string& path, bool is_new);
    void synced(const std::string& path);
    void synced_folder();  // there is one: all files of a test lie together
    void removed(const std::string& path, bool durably);
    sqlite3_vfs* real() const { return real_; }

 private:
    std::string name_;
    sqlite3_vfs* real_;
    std::unique_ptr<sqlite3_vfs> vfs_;
    std::map<std::string, std::optional<std::string>> durable_;  // nullopt: not there
    int syncs_left_ = 0;
    int syncs_ = 0;
    bool is_dead_ = false;
    bool lies_ = false;
};

}  // namespace lavant::test
