#include "main/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include <filesystem>

#include <fmt/format.h>

#include "adapters/blobs_fs/facts.h"
#include "adapters/sql/copy.h"
#include "base/tar.h"
#include "base/text.h"
#include "cli/disk_use.h"
#include "cli/local_server.h"
#include "main/data_folder.h"
#include "main/system_clock.h"
#include "main/version.h"
#include "wire/codec.h"
#include "wire/json.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;

constexpr std::size_t kPiece = 256U << 10;
constexpr std::string_view kBlobs = "blobs/";
constexpr auto kToldEvery = std::chrono::seconds(5);

// Removes a file or folder that only the work at hand needs, however that ends.
class Scrap {
 public:
    explicit Scrap(std::string path) : path_(std::move(path)) {}
    Scrap(const Scrap&) = delete;
    Scrap& operator=(const Scrap&) = delete;
    ~Scrap() {
        if (!path_.empty()) (void)remove_tree(path_);
    }
    void keep() { path_.clear(); }

 private:
    std::string path_;
};

class Packer {
 public:
    Packer(Context& context, int fd) : context_(context), tape_(fd) {}

    Result<void> add_text(const std::string& name, const std::string& text) {
        LAVANT_TRY_VOID(tape_.begin({name, text.size()}));
        LAVANT_TRY_VOID(tape_.write(text));
        note(name, context_.crypto.sha256(text));
        return {};
    }

    // As long as it is now: a log may grow meanwhile. One that is gone was replaced or removed; so be it.
    Result<void> add_file(const std::string& path, const std::string& name) {
        const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        if (!file && errno == ENOENT) return {};
        if (!file) return fail(system_error("read '" + path + "'", errno));
        struct stat status {};
        if (::fstat(file.get(), &status) != 0) return fail(system_error("look at '" + path + "'", errno));
        if (!S_ISREG(status.st_mode)) return {};
        std::uint64_t left = static_cast<std::uint64_t>(status.st_size);
        LAVANT_TRY_VOID(tape_.begin({name, left}));
        Result<void> done;
        std::string piece;
        const std::string digest = context_.crypto.sha256_of_chunks([&]() -> std::optional<std::string_view> {
            if (left == 0 || !done) return std::nullopt;
            piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)));
            const ssize_t got = ::read(file.get(), piece.data(), piece.size());
            if (got <= 0) {
                done = fail(system_error("read '" + path + "' to its end", got == 0 ? ENODATA : errno));
                return std::nullopt;
            }
            piece.resize(static_cast<std::size_t>(got));
            left -= piece.size();
            done = tape_.write(piece);
            return piece;
        });
        LAVANT_TRY_VOID(done);
        note(name, digest);
        tell();
        return add_facts(file.get(), name);
    }

    // Names of folders right below that are left out.
    Result<void> add_folder(const std::string& path, const std::string& name,
                            const std::vector<std::string>& without) {
        const auto entries = list_directory(path);
        if (!entries)
            return entries.error().code == ErrorCode::NotFound ? Result<void>{} : fail(entries.error());
        for (const DirectoryEntry& entry : *entries) {
            if (std::ranges::find(without, entry.name) != without.end()) continue;
            const std::string below = path + "/" + entry.name;
            if (entry.is_directory) LAVANT_TRY_VOID(add_folder(below, name + "/" + entry.name, {}));
            if (entry.is_file) LAVANT_TRY_VOID(add_file(below, name + "/" + entry.name));
        }
        return {};
    }

    Result<void> finish() {
        const std::string manifest = std::exchange(manifest_, {});
        LAVANT_TRY_VOID(add_text(kBackupManifest, manifest));
        return tape_.finish();
    }

    std::uint64_t bytes() const { return tape_.bytes_written(); }
    std::size_t files() const { return files_; }

 private:
    // What a file system keeps with a blob has no place in the archive: it becomes the blob's side file.
    Result<void> add_facts(int file, const std::string& name) {
        const auto kept = blobs::kept_with_file(file);
        if (!name.starts_with(kBlobs) || !kept || kept->empty()) return {};
        const std::size_t slash = name.find('/', kBlobs.size());
        if (slash == std::string::npos) return {};
        const std::string container = name.substr(kBlobs.size(), slash - kBlobs.size());
        return add_text(std::string(kBlobs) + blobs::Sidecars::path_of(container, name.substr(slash + 1)),
                        wire::encode(*kept));
    }
    void note(const std::string& name, const std::string& digest) {
        manifest_ += to_hex(digest) + " " + name + "\n";
        ++files_;
    }
    void tell() {
        const auto now = std::chrono::steady_clock::now();
        if (now - told_ < kToldEvery) return;
        told_ = now;
        context_.console.err << fmt::format("{} in {} files so far\n", cli::describe_bytes(bytes()), files_);
        context_.console.err.flush();
    }

    Context& context_;
    TarWriter tape_;
    std::string manifest_;
    std::size_t files_ = 0;
    std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

// The database first: what it speaks of is in the folders already, and stays there.
Result<void> pack(Packer& packer, const DataFolder& folder, const std::string& database, Instant now) {
    const wire::Json about = wire::Json::object({{"format", kBackupFormat},
                                                 {"version", kVersion},
                                                 {"madeAt", to_rfc3339(now)},
                                                 {"data", folder.root}});
    LAVANT_TRY_VOID(packer.add_text(kBackupNote, about.dump() + "\n"));
    LAVANT_TRY_VOID(packer.add_file(database, "lavant.db"));
    LAVANT_TRY_VOID(packer.add_file(folder.secret(), "secret.key"));
    LAVANT_TRY_VOID(packer.add_file(folder.owner_key(), "owner.key"));
    LAVANT_TRY_VOID(packer.add_folder(folder.tls(), "tls", {}));
    LAVANT_TRY_VOID(packer.add_folder(folder.blobs(), "blobs", {".tmp", ".blocks"}));
    return packer.finish();
}

std::string file_for(const std::string& target, Instant now) {
    struct stat status {};
    if (::stat(target.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return target;
    std::string name = "lavant-" + to_rfc3339(now).substr(0, 19) + ".tar";
    std::erase_if(name, [](char c) { return c == ':'; });
    return target + "/" + name;
}

}  // namespace

Outcome<Exit> backup(Context& context, const cli::ServerChoice& choice, const std::string& target) {
    LAVANT_TRY(const std::string named, cli::data_folder(context, choice.data));
    std::error_code unresolved;
    const std::string data = std::filesystem::weakly_canonical(named, unresolved).string();
    const DataFolder folder{data};
    if (!is_data_folder(folder) || !exists(folder.database()))
        return cli::stop(Exit::Usage, ErrorCode::NotFound, "there is nothing to back up at '" + data + "'");
    const Instant now = SystemClock().now();
    const std::string file = file_for(target, now);
    if (exists(file))
        return cli::stop(Exit::Usage, ErrorCode::AlreadyExists,
                         "'" + file + "' is there already; name another file");
    LAVANT_TRY_VOID(make_directories(folder.backup()));
    const std::string copy = fmt::format("{}/database-{}", folder.backup(), ::getpid());
    const Scrap copy_goes(copy);
    LAVANT_TRY_VOID(adapters::copy_database(folder.database(), copy));
    const std::string partial = file + ".partial";
    LAVANT_TRY(const Fd tape, open_file(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    Scrap partial_goes(partial);
    Packer packer(context, tape.get());
    LAVANT_TRY_VOID(pack(packer, folder, copy, now).map_error(in("writing '" + file + "'")));
    if (::fsync(tape.get()) != 0) return fail(system_error("sync '" + partial + "'", errno));
    if (::rename(partial.c_str(), file.c_str()) != 0)
        return fail(system_error("rename to '" + file + "'", errno));
    partial_goes.keep();
    LAVANT_TRY_VOID(sync_directory(parent_of(file)));
    context.console.out << file << "\n";
    context.console.out.flush();
    context.console.err << fmt::format(
        "backed up {} in {} files; it holds keys and secrets, so keep it as safe as {}\n",
        cli::describe_bytes(packer.bytes()), packer.files(), data);
    return Exit::Completed;
}

}  // namespace lavant
