#include "tests/support/lossy_vfs.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <random>
#include <utility>

#include "base/check.h"
#include "base/files.h"

namespace lavant::test {
namespace {

constexpr std::size_t kFileBytesMax = 256U << 20;
constexpr std::size_t kSectorBytes = 512;

// SQLite gives the memory; the real file follows behind this one.
struct LossyFile {
    sqlite3_file base;
    LossyVfs* vfs;
    std::string* path;
    sqlite3_file* real;
    bool syncs_folder;  // at its first sync, as the unix vfs does for a journal or log it has made
};

LossyFile& of(sqlite3_file* file) { return *reinterpret_cast<LossyFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return of(file).real; }
LossyVfs& of(sqlite3_vfs* vfs) { return *static_cast<LossyVfs*>(vfs->pAppData); }

int close_file(sqlite3_file* file) {
    const int code = real(file)->pMethods != nullptr ? real(file)->pMethods->xClose(real(file)) : SQLITE_OK;
    delete of(file).path;
    of(file).path = nullptr;
    return code;
}
int read_file_at(sqlite3_file* file, void* to, int count, sqlite3_int64 at) {
    return real(file)->pMethods->xRead(real(file), to, count, at);
}
int write_file_at(sqlite3_file* file, const void* from, int count, sqlite3_int64 at) {
    if (!of(file).vfs->allows_write()) return SQLITE_IOERR_WRITE;
    return real(file)->pMethods->xWrite(real(file), from, count, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    if (!of(file).vfs->allows_write()) return SQLITE_IOERR_TRUNCATE;
    return real(file)->pMethods->xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int) {
    if (!of(file).vfs->begin_sync()) return SQLITE_IOERR_FSYNC;
    if (of(file).vfs->lies()) return SQLITE_OK;
    of(file).vfs->synced(*of(file).path);
    if (std::exchange(of(file).syncs_folder, false)) of(file).vfs->synced_folder();
    return SQLITE_OK;
}
int file_size(sqlite3_file* file, sqlite3_int64* size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int level) { return real(file)->pMethods->xLock(real(file), level); }
int unlock_file(sqlite3_file* file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
int check_lock(sqlite3_file* file, int* out) {
    return real(file)->pMethods->xCheckReservedLock(real(file), out);
}
int control_file(sqlite3_file* file, int what, void* value) {
    return real(file)->pMethods->xFileControl(real(file), what, value);
}
int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int characteristics(sqlite3_file*) { return 0; }  // promise nothing: SQLite then takes every care
int map_shared(sqlite3_file* file, int page, int size, int extend, void volatile** out) {
    return real(file)->pMethods->xShmMap(real(file), page, size, extend, out);
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
    return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void barrier_shared(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int unmap_shared(sqlite3_file* file, int remove) {
    return real(file)->pMethods->xShmUnmap(real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,           close_file,     read_file_at, write_file_at, truncate_file, sync_file,       file_size,
    lock_file,   unlock_file,    check_lock,   control_file,  sector_size,   characteristics, map_shared,
    lock_shared, barrier_shared, unmap_shared, nullptr,       nullptr};

int open_path(sqlite3_vfs* vfs, const char* name, sqlite3_file* raw, int flags, int* out_flags) {
    LossyFile& file = *new (raw) LossyFile{};
    file.vfs = &of(vfs);
    file.real = reinterpret_cast<sqlite3_file*>(&file + 1);
    file.path = new std::string(name != nullptr ? name : "");
    const bool is_new = name != nullptr && !exists(name);
    if (is_new && !file.vfs->allows_write()) return delete file.path, SQLITE_CANTOPEN;
    const int code = file.vfs->real()->xOpen(file.vfs->real(), name, file.real, flags, out_flags);
    if (code != SQLITE_OK) return delete file.path, code;
    if (name != nullptr) file.vfs->track(name, is_new);
    file.syncs_folder = is_new && (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    file.base.pMethods = &kMethods;
    return SQLITE_OK;
}
int delete_path(sqlite3_vfs* vfs, const char* name, int sync_folder) {
    if (!of(vfs).allows_write()) return SQLITE_IOERR_DELETE;
    if (sync_folder != 0 && !of(vfs).begin_sync()) return SQLITE_IOERR_DELETE;
    const int code = of(vfs).real()->xDelete(of(vfs).real(), name, 0);
    if (code == SQLITE_OK) of(vfs).removed(name, sync_folder != 0);
    return code;
}
int access_path(sqlite3_vfs* vfs, const char* name, int flags, int* out) {
    return of(vfs).real()->xAccess(of(vfs).real(), name, flags, out);
}
int full_path(sqlite3_vfs* vfs, const char* name, int size, char* out) {
    return of(vfs).real()->xFullPathname(of(vfs).real(), name, size, out);
}
int randomness(sqlite3_vfs* vfs, int size, char* out) {
    return of(vfs).real()->xRandomness(of(vfs).real(), size, out);
}
int pause(sqlite3_vfs*, int micros) { return micros; }
int current_time(sqlite3_vfs* vfs, double* out) { return of(vfs).real()->xCurrentTime(of(vfs).real(), out); }
int last_error(sqlite3_vfs*, int, char*) { return 0; }

// Sector by sector either the old or the new, and a length between.
std::string torn(const std::string& before, const std::string& after, std::mt19937_64& random) {
    std::string mixed = random() % 2 == 0 ? before : after;
    const std::size_t longer = std::max(before.size(), after.size());
    mixed.resize(mixed.size() + (longer - mixed.size()) * (random() % 2), '\0');
    for (std::size_t at = 0; at < mixed.size(); at += kSectorBytes) {
        const std::string& source = random() % 2 == 0 ? before : after;
        const std::size_t count = std::min(kSectorBytes, mixed.size() - at);
        std::string sector = at < source.size() ? source.substr(at, count) : "";
        sector.resize(count, '\0');
        mixed.replace(at, count, sector);
    }
    return mixed;
}

std::optional<std::string> content_of(const std::string& path) {
    auto bytes = lavant::read_file(path, kFileBytesMax);
    if (!bytes) return std::nullopt;
    return std::move(*bytes);
}

}  // namespace

LossyVfs::LossyVfs() : real_(sqlite3_vfs_find("unix")), vfs_(std::make_unique<sqlite3_vfs>()) {
    static std::atomic<int> last{0};
    CHECK(real_ != nullptr, "sqlite has its unix vfs");
    name_ = "lossy-" + std::to_string(++last);
    vfs_->iVersion = 1;
    vfs_->szOsFile = static_cast<int>(sizeof(LossyFile)) + real_->szOsFile;
    vfs_->mxPathname = real_->mxPathname;
    vfs_->zName = name_.c_str();
    vfs_->pAppData = this;
    vfs_->xOpen = open_path;
    vfs_->xDelete = delete_path;
    vfs_->xAccess = access_path;
    vfs_->xFullPathname = full_path;
    vfs_->xRandomness = randomness;
    vfs_->xSleep = pause;
    vfs_->xCurrentTime = current_time;
    vfs_->xGetLastError = last_error;
    CHECK(sqlite3_vfs_register(vfs_.get(), 0) == SQLITE_OK, "a vfs can be registered");
}

LossyVfs::~LossyVfs() { sqlite3_vfs_unregister(vfs_.get()); }

bool LossyVfs::begin_sync() {
    if (is_dead_) return false;
    if (syncs_left_ > 0 && --syncs_left_ == 0) is_dead_ = true;
    if (!is_dead_) ++syncs_;
    return !is_dead_;
}

void LossyVfs::track(const std::string& path, bool is_new) {
    if (durable_.contains(path)) return;
    durable_[path] = is_new ? std::nullopt : content_of(path);
}

void LossyVfs::synced(const std::string& path) { durable_[path] = content_of(path); }

void LossyVfs::synced_folder() {
    for (auto& [path, bytes] : durable_) {
        if (!exists(path)) {
            bytes = std::nullopt;
        } else if (!bytes) {
            bytes = "";
        }
    }
}

void LossyVfs::removed(const std::string& path, bool durably) {
    if (durably) durable_[path] = std::nullopt;
}

void LossyVfs::power_cut(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    for (auto& [path, before] : durable_) {
        const std::optional<std::string> after = content_of(path);
        const bool keeps_some = seed != 0 && after != before;
        if (keeps_some && (before || random() % 2 == 0) && after)
            before = torn(before.value_or(""), *after, random);
        else if (keeps_some && !after && random() % 2 == 0)
            before = std::nullopt;
        ::unlink(path.c_str());
        if (before)
            CHECK(write_file_atomically(path, *before).has_value(), "the test's files can be written");
    }
    is_dead_ = false;
    syncs_left_ = 0;
}

}  // namespace lavant::test
