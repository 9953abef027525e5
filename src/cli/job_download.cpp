#include "cli/job_download.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/blob_fetch.h"
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

Outcome<Exit> download_job(Session& session, const Console& console, const DownloadOptions& options) {
    LAVANT_TRY(const Json job, session.get(session.job_path(options.name)));
    const std::string status = job.get("properties.status").string();
    if (!is_terminal(status)) {
        return stop(Exit::Refused, ErrorCode::Conflict,
                    fmt::format("cannot download job '{}': it is {}; wait with: lavant job stream {}",
                                options.name, status, options.name));
    }
    const std::string folder = options.folder.empty() ? "./" + options.name : options.folder;
    Fetched total;
    const auto count = [&total](const Fetched& more) {
        total.files += more.files;
        total.bytes += more.bytes;
    };
    if (options.output_name.empty()) {
        LAVANT_TRY(const DatastorePlace place, open_datastore(session, kArtifactDatastore));
        LAVANT_TRY(const Fetched more, fetch_tree(session, console, {place, artifact_prefix(options.name)},
                                                  folder + "/artifacts"));
        count(more);
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
            LAVANT_TRY(const DatastorePlace place, open_datastore(session, output.place.datastore));
            LAVANT_TRY(const Fetched more, fetch_tree(session, console, {place, output.place.path},
                                                      folder + "/named-outputs/" + output.output));
            count(more);
        }
    }
    console.out << fmt::format("{} file{}, {} bytes in {}\n", total.files, total.files == 1 ? "" : "s",
                               total.bytes, folder);
    console.out.flush();
    return Exit::Completed;
}

}  // namespace lavant::cli
