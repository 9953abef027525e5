#include "cli/job_edit.h"

#include <fmt/format.h>

#include "cli/ask.h"
#include "cli/asset_commands.h"
#include "cli/job_commands.h"
#include "wire/az_job.h"

namespace lavant::cli {
namespace {

using wire::Json;

Outcome<Json> put_edited(Session& session, const std::string& name, const Json& properties) {
    return session.put(session.job_path(name), Json::object({{"properties", properties}}));
}

}  // namespace

Outcome<Exit> update_job(Session& session, const Console& console, const std::string& name,
                         const std::vector<std::string>& settings, const Output& output) {
    LAVANT_TRY(const Json job, session.get(session.job_path(name)));
    Json properties = job["properties"];
    for (const std::string& setting : settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            return stop(
                Exit::Usage, ErrorCode::InvalidArgument,
                "cannot use --set " + setting + ": write it as path=value, like --set tags.team=vision");
        const std::string_view path = std::string_view(setting).substr(0, equals);
        if (!set_words_about(properties, path, std::string_view(setting).substr(equals + 1)))
            return stop(
                Exit::Usage, ErrorCode::InvalidArgument,
                fmt::format("cannot change '{0}' of a job that exists: only display_name, description, "
                            "tags.KEY and properties.KEY; for the rest: lavant job rerun {1} --set {0}=…",
                            path, name));
    }
    LAVANT_TRY(const Json edited, put_edited(session, name, properties));
    const Json shown = wire::to_az_job(edited);
    LAVANT_TRY_VOID(print(shown, output, console, [&] { return render_job(shown, console); }));
    return Exit::Completed;
}

Outcome<Exit> archive_job(Session& session, const Console& console, const std::string& name, bool archived) {
    LAVANT_TRY(const Json job, session.get(session.job_path(name)));
    Json properties = job["properties"];
    properties.set("isArchived", archived);
    LAVANT_TRY_VOID(put_edited(session, name, properties));
    console.err << (archived ? fmt::format(
                                   "archived {0}; it is listed with: lavant job list --archived-only\n", name)
                             : fmt::format("restored {}\n", name));
    return Exit::Completed;
}

Outcome<Exit> delete_job(Session& session, Context& context, const std::string& name, bool yes) {
    if (!yes) {
        LAVANT_TRY(const bool sure,
                   ask(context, fmt::format("delete job {} with its logs and outputs?", name)));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was deleted");
    }
    LAVANT_TRY_VOID(session.remove(session.job_path(name)));
    context.console.err << "deleted " << name << "\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
