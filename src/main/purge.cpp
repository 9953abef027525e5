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

}  // namespace

Result<void> kill_nodes(const DataFolder& folder) {
    nodes_local::LocalNodes nodes({.folder = folder.nodes()});
    LAVANT_TRY(const auto held, nodes.list_nodes());
    for (const auto& one : held) LAVANT_TRY_VOID(nodes.stop_node(one.node));
    return {};
}

namespace {

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

Outcome<void> remove_folder(const DataFolder& folder) {
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
    return {};
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
        if (!agreed) return cli::stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was removed");
    }
    LAVANT_TRY_VOID(remove_everything(context, folder));
    context.console.out << "removed " << data << " and everything that ran for it\n";
    context.console.out.flush();
    // pip and the SDK would look for certificates that are gone.
    if (context.variable("REQUESTS_CA_BUNDLE").starts_with(data + "/"))
        context.console.err << "this shell still points there: eval \"$(lavant env --unset)\"\n";
    return Exit::Completed;
}

Outcome<void> remove_everything(Context& context, const DataFolder& folder) {
    const std::string& data = folder.root;
    LAVANT_TRY([[maybe_unused]] const bool stopped, cli::stop_local_server(context, data));
    const Result<Fd> lock = lock_data_folder(folder);
    if (!lock)
        return cli::stop(
            Exit::Failed, lock.error().code,
            lock.error().code == ErrorCode::AlreadyExists
                ? "a server that does not answer holds '" + data + "'; end its process, then try again"
                : lock.error().message);
    LAVANT_TRY_VOID(kill_nodes(folder));
    return remove_folder(folder);
}

}  // namespace lavant
