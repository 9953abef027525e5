// `lavant schedule create | validate`: the file, the job it makes, and what of it must be on the server
// first.

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/schedule_commands.h"
#include "core/spec/schedule.h"
#include "wire/asset_to_arm.h"
#include "wire/job_file.h"

namespace lavant::cli {
namespace {

using wire::Json;

Outcome<spec::ScheduleSpec> load(const Context& context, const FileOptions& options) {
    LAVANT_TRY(const wire::SpecFile file,
               read_file_options(context, options, "a schedule file", {"create_job"}));
    return users_to_mend(spec::parse_schedule(file.root, wire::disk_loader(file.folder)), file.label);
}

// Of a job that is there already.
Json job_by_name(const Session& session, const std::string& name) {
    const std::string id = name.starts_with('/') ? name : session.job_path(name);
    return Json::object(
        {{"jobType", "Pipeline"}, {"sourceJobId", id}, {"experimentName", ""}, {"isArchived", false}});
}

}  // namespace

Outcome<Exit> create_schedule(Context& context, const ServerChoice& choice, const FileOptions& options,
                              const Output& output) {
    LAVANT_TRY(const spec::ScheduleSpec spec, load(context, options));
    say_warnings(context.console, spec.warnings);
    if (options.dry_run) return print_body(wire::to_arm_schedule(spec, Json()), context.console, output);
    LAVANT_TRY(Session session, connect(context, choice));
    const Json body = wire::to_arm_schedule(spec, job_by_name(session, spec.job_name));
    LAVANT_TRY(const Json made,
               session.attempt(fmt::format("create schedule '{}'", spec.name), "PUT",
                               session.workspace_path("/schedules/" + percent_encode(spec.name)), body));
    return print_schedule(made, context.console, output, false);
}

Outcome<Exit> validate_schedule(Context& context, const FileOptions& options, const Output& output) {
    LAVANT_TRY(const spec::ScheduleSpec spec, load(context, options));
    say_warnings(context.console, spec.warnings);
    return print_valid(context.console, output, options, "schedule " + spec.name);
}

}  // namespace lavant::cli
