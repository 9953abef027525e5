#include "cli/job_download.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/job_commands.h"
#include "core/model/workspace.h"

namespace lavant::cli {
namespace {

using wire::Json;

struct Located {
    std::string output;
    BlobPlace place;
};

std::vector<Located> outputs_of(const Json& job, const std::string& only) {
    std::vector<Located> found;
    for (const auto& [output, about] : job.get("properties.outputs").members()) {
        if (!only.empty() && output != only) continue;
        auto place = parse_blob_place(about["uri"].text());
        const std::string usual = fmt::format("azureml/{}/{}/", job["name"].text(), output);
        found.push_back({output, place ? std::move(*place) : BlobPlace{kBlobDatastore, usual}});
    }
    return found;
}

}  // namespace

Outcome<Exit> download_job(Session& session, const Context& context, const DownloadOptions& options) {
    const Console& console = context.console;
    LAVANT_TRY(const Json job, session.attempt(fmt::format("download job '{}'", printable(options.name)),
                                               "GET", session.job_path(options.name), Json()));
    const std::string status = job.get("properties.status").string();
    if (!is_terminal(status)) {
        return stop(Exit::Refused, ErrorCode::Conflict,
                    fmt::format("cannot download job '{}': it is {}; wait with: lavant job stream {}",
                                options.name, status, options.name));
    }
    const std::string folder = options.folder.empty() ? "./" + options.name : options.folder;
    Fetched total;
    const auto fetch = [&](const BlobPlace& from, const std::string& into) -> Outcome<void> {
        LAVANT_TRY(const DatastorePlace place, open_datastore(session, from.datastore));
        LAVANT_TRY(const BlobTree tree, find_tree(session, place, from.path));
        LAVANT_TRY(const Fetched more, fetch_tree(session, context, tree, folder + into, options.parallel));
        total.files += more.files;
        total.bytes += more.bytes;
        total.there += more.there;
        return {};
    };
    if (options.output_name.empty()) {
        LAVANT_TRY_VOID(fetch({kArtifactDatastore, artifact_prefix(options.name)}, "/artifacts"));
    }
    if (options.all || !options.output_name.empty()) {
        const auto outputs = outputs_of(job, options.output_name);
        if (outputs.empty() && !options.output_name.empty()) {
            return stop(Exit::Usage, ErrorCode::NotFound,
                        fmt::format("job '{}' has no output '{}'; see: lavant job show {} -o yaml",
                                    options.name, options.output_name, options.name));
        }
        for (const Located& output : outputs) {
            if (!stays_inside_folder(output.output)) continue;
            LAVANT_TRY_VOID(fetch(output.place, "/named-outputs/" + output.output));
        }
    }
    console.out << fmt::format("{} file{}, {} bytes in {}{}\n", total.files, total.files == 1 ? "" : "s",
                               total.bytes, folder, said_of_those_there(total.there));
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
