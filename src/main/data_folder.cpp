#include "main/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "main/build.h"
#include "wire/json.h"

namespace lavant {
namespace {

constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};
constexpr std::string_view kApplication = "Lavn";
constexpr std::size_t kApplicationAt = 68;

bool is_plain_file(const std::string& path) {
    struct stat status {};
    return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// A young database has its mark in the log beside it only; another program's mark is never ours.
bool is_our_database(const std::string& path) {
    const auto file = open_file(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    std::string header(100, '\0');
    const ssize_t got = file ? ::pread(file->get(), header.data(), header.size(), 0) : -1;
    if (got != static_cast<ssize_t>(header.size()) || !header.starts_with(kSqliteMagic)) return got == 0;
    const std::string mark = header.substr(kApplicationAt, kApplication.size());
    return mark == kApplication || mark == std::string(kApplication.size(), '\0');
}

}  // namespace

bool is_data_folder(const DataFolder& folder) {
    struct stat status {};
    if (::lstat(folder.root.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
    if (!is_plain_file(folder.lock())) return false;
    if (is_plain_file(folder.database()))
        return is_plain_file(folder.secret()) && is_our_database(folder.database());
    // Nothing ever came of the server that was to start here.
    const auto entries = list_directory(folder.root);
    return entries && std::ranges::all_of(*entries, [](const DirectoryEntry& entry) {
               return DataFolder::is_ours(entry.name);
           });
}

bool DataFolder::is_ours(const std::string& name) {
    static constexpr std::string_view kNames[] = {"lavant.db",     "lavant.db-wal",
                                                  "lavant.db-shm", "lavant.db-journal",
                                                  "secret.key",    "tls",
                                                  "blobs",         "nodes",
                                                  "bin",           "owner.key",
                                                  "endpoint",      "port",
                                                  "lock",          "serve.log",
                                                  "spare",         "backup",
                                                  "restored",      "lavant-ca-bundle.pem",
                                                  "audit"};
    return std::ranges::find(kNames, name) != std::end(kNames);
}

namespace {

// Everything below is Lavant's to remove one day, so nothing of anybody else's may be there when it begins.
Result<void> refuse_foreign(const DataFolder& folder) {
    if (is_plain_file(folder.database())) return {};
    const auto entries = list_directory(folder.root);
    if (!entries) return {};
    const auto has = [&entries](std::string_view name) {
        return std::ranges::any_of(*entries,
                                   [name](const DirectoryEntry& entry) { return entry.name == name; });
    };
    // What a server that died in its first second left. The rest of ours comes after the database.
    static constexpr std::string_view kFirst[] = {"lock",  "serve.log", "endpoint", "port",
                                                  "spare", "tls",       "nodes",    "secret.key"};
    const bool known = std::ranges::all_of(*entries, [](const DirectoryEntry& entry) {
        return std::ranges::find(kFirst, entry.name) != std::end(kFirst);
    });
    // Certificates are made after the key.
    const auto certificates = list_directory(folder.tls());
    const bool others = !has("secret.key") && certificates && !certificates->empty();
    if (known && !others) return {};
    return fail(ErrorCode::InvalidArgument,
                "'" + folder.root +
                    "' is neither empty nor a data folder of Lavant; choose another "
                    "--data");
}

}  // namespace

Result<Fd> lock_data_folder(const DataFolder& folder) {
    LAVANT_TRY_VOID(make_directories(folder.root).map_error(in("the data folder")));
    constexpr int kTries = 100;
    for (int tries = 0; tries < kTries; ++tries) {
        LAVANT_TRY(Fd lock, open_file(folder.lock(), O_RDWR | O_CREAT));
        if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
            if (errno != EWOULDBLOCK) return fail(system_error("lock '" + folder.root + "'", errno));
            return fail(ErrorCode::AlreadyExists,
                        "another server already uses the data folder '" + folder.root +
                            "'; use that one, end it with 'lavant down', or choose another --data");
        }
        // Whoever removed or replaced the folder held the lock of a file that is gone now.
        struct stat ours {};
        struct stat named {};
        const bool current = ::fstat(lock.get(), &ours) == 0 && ::stat(folder.lock().c_str(), &named) == 0 &&
                             ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
        if (!current) continue;
        auto fine = refuse_foreign(folder);  // Nobody else makes anything here now.
        if (fine) return lock;
        ::unlink(folder.lock().c_str());
        return fail(std::move(fine).error());
    }
    return fail(ErrorCode::Unavailable,
                "the lock of '" + folder.root + "' is replaced again and again; try again");
}

Result<void> write_endpoint(const DataFolder& folder, const Endpoint& endpoint) {
    const cli::Build& build = own_build();
    const wire::Json text = wire::Json::object({{"url", endpoint.url},
                                                {"pid", ::getpid()},
                                                {"ca", endpoint.ca_file},
                                                {"version", build.version},
                                                {"build", build.id},
                                                {"builtAt", build.made_at_us},
                                                {"since", to_rfc3339(endpoint.since)},
                                                {"embedded", endpoint.embedded},
                                                {"idleExit", endpoint.idle_exit_s}});
    return write_file_atomically(folder.endpoint(), text.dump() + "\n");
}

}  // namespace lavant
