#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "adapters/sql/copy.h"
#include "base/tar.h"
#include "base/text.h"
#include "cli/local_server.h"
#include "main/backup.h"
#include "main/data_folder.h"
#include "main/purge.h"
#include "wire/json.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;

constexpr std::size_t kNoteBytes = 64U << 10;
constexpr std::size_t kManifestBytes = 1U << 30;

// Only what a backup has; nothing else may lie in a data folder because an archive says so.
bool belongs(const std::string& path) {
    static constexpr std::string_view kFiles[] = {"lavant.db", "secret.key", "owner.key"};
    return std::ranges::find(kFiles, path) != std::end(kFiles) || path.starts_with("tls/") ||
           path.starts_with("blobs/");
}

class Unpacker {
 public:
    Unpacker(Context& context, int fd, std::uint64_t bytes, std::string folder)
        : context_(context), tape_(fd, bytes), folder_(std::move(folder)) {}

    Result<void> run() {
        LAVANT_TRY_VOID(read_note());
        while (true) {
            LAVANT_TRY(const auto entry, tape_.next());
            if (!entry)
                return fail(ErrorCode::InvalidArgument, "the archive has no manifest: it is not whole");
            if (entry->path == kBackupManifest) break;
            if (!belongs(entry->path))
                return fail(ErrorCode::InvalidArgument,
                            "the archive holds what no backup has: " + json_quote(entry->path));
            LAVANT_TRY_VOID(unpack(*entry));
        }
        LAVANT_TRY(const std::string manifest, read_text(kManifestBytes));
        if (manifest != seen_)
            return fail(ErrorCode::InvalidArgument,
                        "the archive is damaged: its files are not those of its manifest");
        return {};
    }

 private:
    Result<std::string> read_text(std::size_t bytes_max) {
        std::string text;
        while (true) {
            LAVANT_TRY(const std::string_view piece, tape_.read());
            if (piece.empty()) return text;
            text += piece;
            if (text.size() > bytes_max)
                return fail(ErrorCode::InvalidArgument,
                            "the archive is not to be trusted: its notes are too long");
        }
    }

    Result<void> read_note() {
        LAVANT_TRY(const auto first, tape_.next());
        if (!first || first->path != kBackupNote)
            return fail(ErrorCode::InvalidArgument, "this is no backup that `lavant backup` made");
        LAVANT_TRY(const std::string text, read_text(kNoteBytes));
        LAVANT_TRY(const wire::Json about, wire::parse_json(text));
        const std::int64_t format = about["format"].integer();
        if (format != kBackupFormat)
            return fail(
                ErrorCode::InvalidArgument,
                fmt::format("this backup has format {}, written by version {}; this program reads format "
                            "{}: restore with that version",
                            format, cli::printable(about["version"].text()), kBackupFormat));
        note(first->path, context_.crypto.sha256(text));
        return {};
    }

    void note(const std::string& path, const std::string& digest) {
        seen_ += to_hex(digest) + " " + path + "\n";
    }

    Result<void> unpack(const TarEntry& entry) {
        const std::string path = folder_ + "/" + entry.path;
        LAVANT_TRY_VOID(make_directories(parent_of(path)));
        LAVANT_TRY(const Fd file,
                   open_file(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
        Result<void> done;
        std::string_view piece;
        const std::string digest = context_.crypto.sha256_of_chunks([&]() -> std::optional<std::string_view> {
            const Result<std::string_view> next = tape_.read();
            if (!next) done = fail(next.error());
            if (!next || next->empty()) return std::nullopt;
            piece = *next;
            done = write_all(file.get(), piece);
            return done ? std::optional(piece) : std::nullopt;
        });
        LAVANT_TRY_VOID(done);
        note(entry.path, digest);
        return {};
    }

    Context& context_;
    TarReader tape_;
    const std::string folder_;
    std::string seen_;
};

// What is there is put aside, never removed. Its nodes end: their jobs begin anew in what is restored.
Outcome<std::string> put_aside(const std::string& data, bool replace) {
    const DataFolder folder{data};
    const auto entries = list_directory(data);
    if (!entries || entries->empty()) {
        if (entries && ::rmdir(data.c_str()) != 0) return fail(system_error("replace '" + data + "'", errno));
        return std::string();
    }
    if (!replace || !is_data_folder(folder))
        return cli::stop(Exit::Usage, ErrorCode::AlreadyExists,
                         "'" + data + "' is not empty; choose another --data" +
                             (is_data_folder(folder) ? ", or say --yes to put it aside" : ""));
    const Result<Fd> lock = lock_data_folder(folder);
    if (!lock)
        return cli::stop(Exit::Failed, lock.error().code,
                         "a server uses '" + data + "'; stop it first: lavant down");
    LAVANT_TRY_VOID(kill_nodes(folder));
    const std::string aside = fmt::format("{}.before-restore-{}", data, ::getpid());
    if (::rename(data.c_str(), aside.c_str()) != 0)
        return fail(system_error("put '" + data + "' aside", errno));
    return aside;
}

Result<void> check_unpacked(Context& context, const DataFolder& fresh) {
    for (const std::string& needed : {fresh.database(), fresh.secret()})
        if (!exists(needed))
            return fail(ErrorCode::InvalidArgument, "the backup lacks '" + base_name_of(needed) + "'");
    LAVANT_TRY_VOID(adapters::check_database(fresh.database()));
    LAVANT_TRY_VOID(write_file_atomically(fresh.restored(), to_hex(context.crypto.random_bytes(16))));
    return write_file_atomically(fresh.lock(), "");
}

}  // namespace

Outcome<Exit> restore(Context& context, const cli::ServerChoice& choice, const std::string& file,
                      bool replace) {
    LAVANT_TRY(const std::string data, cli::data_folder(context, choice.data));
    LAVANT_TRY(const Fd tape, open_file(file, O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (::fstat(tape.get(), &status) != 0 || !S_ISREG(status.st_mode))
        return cli::stop(Exit::Usage, ErrorCode::InvalidArgument, "'" + file + "' is no file");
    // Beside its place, so that it gets there whole, by a rename, or not at all.
    const std::string beside = fmt::format("{}.restoring-{}", data, ::getpid());
    LAVANT_TRY_VOID(make_directories(beside));
    const auto unpacked = [&]() -> Outcome<std::string> {
        Unpacker unpacker(context, tape.get(), static_cast<std::uint64_t>(status.st_size), beside);
        LAVANT_TRY_VOID(unpacker.run().map_error(in("cannot restore '" + file + "'")));
        LAVANT_TRY_VOID(check_unpacked(context, {beside}).map_error(in("cannot restore '" + file + "'")));
        LAVANT_TRY(std::string aside, put_aside(data, replace));
        if (::rename(beside.c_str(), data.c_str()) != 0) {
            Error why = system_error("rename to '" + data + "'", errno);
            if (!aside.empty() && ::rename(aside.c_str(), data.c_str()) != 0)
                why.message += "; what was there is in " + aside;
            return fail(std::move(why));
        }
        return aside;
    }();
    if (!unpacked) {
        (void)remove_tree(beside);
        return tl::make_unexpected(unpacked.error());
    }
    ::sync();
    context.console.out << "restored " << data << "\n";
    if (!unpacked->empty()) context.console.out << "what was there is in " << *unpacked << "\n";
    context.console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant
