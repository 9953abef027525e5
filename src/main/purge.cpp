#include "main/purge.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "adapters/nodes_local/local_nodes.h"
#include "cli/ask.h"
#include "cli/disk_use.h"
#include "cli/local_server.h"
#include "main/data_folder.h"

namespace lavant {
namespace {

using cli::Context;
using cli::Exit;
using cli::Outcome;

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

Result<void> kill_nodes(const DataFolder& folder) {
    nodes_local::LocalNodes nodes({.folder = folder.nodes()});
    LAVANT_TRY(const auto held, nodes.list_nodes());
    for (const auto& one : held) LAVANT_TRY_VOID(nodes.stop_node(one.node));
    return {};
}

// The lock goes last: until then no server can start here.
Result<std::vector<std::string>> remove_known(const DataFolder& folder) {
    LAVANT_TRY(std::vector<DirectoryEntry> entries, list_directory(folder.root));
    std::ranges::stable_partition(entries, [](const DirectoryEntry& entry) { return entry.name != "lock"; });
    std::vector<std::string> unknown;
    for (const DirectoryEntry& entry : entries) {
        if (!DataFolder::is_ours(entry.name)) {
            unknown.push_back(entry.name);
            continue;
        }
        LAVANT_TRY_VOID(remove_tree(folder.root + "/" + entry.name));
    }
    return unknown;
}

Outcome<Exit> remove_folder(Context& context, const DataFolder& folder) {
    LAVANT_TRY(const std::vector<std::string> unknown, remove_known(folder));
    if (!unknown.empty()) {
        std::string names;
        for (const std::string& name : unknown) names += (names.empty() ? "" : ", ") + cli::printable(name);
        return cli::stop(Exit::Failed, ErrorCode::Conflict,
                         fmt::format("removed what Lavant made in '{}'; the folder stays, as these are not "
                                     "Lavant's: {}",
                                     folder.root, names));
    }
    if (::rmdir(folder.root.c_str()) != 0 && errno != ENOENT)
        return fail(system_error("remove '" + folder.root + "'", errno));
    context.console.out << "removed " << folder.root << " and everything that ran for it\n";
    context.console.out.flush();
    return Exit::Completed;
}

}  // namespace

Outcome<Exit> purge(Context& context, const cli::ServerChoice& choice, bool yes) {
    LAVANT_TRY(const std::string data, cli::data_folder(context, choice.data));
    const DataFolder folder{data};
    struct stat status {};
    if (::lstat(data.c_str(), &status) != 0 && errno == ENOENT) {
        context.console.out << "there is nothing at " << data << "\n";
        return Exit::Completed;
    }
    if (!is_data_folder(folder))
        return cli::stop(Exit::Usage, ErrorCode::InvalidArgument,
                         "'" + data + "' is no data folder of Lavant; nothing was touched");
    if (!yes) {
        LAVANT_TRY(const bool agreed,
                   cli::ask(context,
                            fmt::format("End every job of {} and remove the folder ({}), history and outputs "
                                        "included?",
                                        data, cli::describe_bytes(cli::measure_disk_use(data).bytes))));
        if (!agreed) return Exit::Canceled;
    }
    LAVANT_TRY([[maybe_unused]] const bool stopped, cli::stop_local_server(context, data));
    const Result<Fd> lock = lock_data_folder(folder);
    if (!lock)
        return cli::stop(
            Exit::Failed, lock.error().code,
            lock.error().code == ErrorCode::AlreadyExists
                ? "a server that does not answer holds '" + data + "'; end its process, then try again"
                : lock.error().message);
    LAVANT_TRY_VOID(kill_nodes(folder));
    return remove_folder(context, folder);
}

}  // namespace lavant
