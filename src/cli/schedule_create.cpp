// `lavant schedule create | validate`: the file, the job it makes, and what of it must be on the server
// first.

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/schedule_commands.h"
#include "cli/session_resolver.h"
#include "core/spec/job.h"
#include "core/spec/schedule.h"
#include "wire/asset_to_arm.h"
#include "wire/job_file.h"
#include "wire/job_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::cli {
namespace {

using wire::Json;

// What was read, before a server is looked for.
struct Prepared {
    spec::ScheduleSpec schedule;
    std::optional<spec::JobSpec> job;  // nothing: one by its name, or no job at all
    Snapshots code;
};

bool is_by_name(const spec::ScheduleSpec& schedule) { return !schedule.job_name.empty(); }

Outcome<Prepared> prepare(const Context& context, const FileOptions& options) {
    LAVANT_TRY(const wire::SpecFile file,
               read_file_options(context, options, "a schedule file", {"create_job"}));
    Prepared prepared;
    LAVANT_TRY(prepared.schedule,
               users_to_mend(spec::parse_schedule(file.root, wire::disk_loader(file.folder)), file.label));
    const spec::ScheduleSpec& schedule = prepared.schedule;
    if (!schedule.job || is_by_name(schedule)) return prepared;
    const std::string label =
        schedule.job_label.empty() ? file.label + ": create_job" : file.label + ": " + schedule.job_label;
    LAVANT_TRY(prepared.job,
               users_to_mend(spec::parse_job(*schedule.job, wire::disk_loader(schedule.job_folder)), label));
    LAVANT_TRY(prepared.code, read_code_folders(
                                  [&prepared](wire::Resolver& resolver) {
                                      return wire::to_arm_job(*prepared.job, resolver);
                                  },
                                  context.console));
    return prepared;
}

// A job that is there already, and what is to be different about it.
Json job_by_name(const Session& session, const spec::ScheduleSpec& schedule) {
    const std::string& name = schedule.job_name;
    Json job = Json::object({{"jobType", "Pipeline"},
                             {"sourceJobId", name.starts_with('/') ? name : session.job_path(name)},
                             {"experimentName", ""},
                             {"isArchived", false}});
    if (!schedule.job) return job;
    for (const auto& [key, at, value] : schedule.job->entries) {
        if (key == "type" || key == "$schema") continue;
        if (key == "inputs" && value.is_map()) {
            Json inputs = Json::object();
            for (const auto& input : value.entries)
                inputs.set(input.key,
                           input.value.is_scalar()
                               ? Json::object({{"jobInputType", "literal"}, {"value", input.value.printed()}})
                               : wire::with_camel_keys(wire::to_json(input.value)));
            job.set("inputs", std::move(inputs));
        } else {
            const bool users = key == "tags" || key == "properties" || key == "settings";
            job.set(wire::camel_case(key),
                    users ? wire::to_json(value) : wire::with_camel_keys(wire::to_json(value)));
        }
    }
    return job;
}

Outcome<Json> job_of(Session& session, Context& context, Prepared& prepared) {
    if (is_by_name(prepared.schedule)) return job_by_name(session, prepared.schedule);
    if (!prepared.job) return Json();
    SessionResolver resolver(session, context.crypto, context.console, std::move(prepared.code));
    LAVANT_TRY(const Json body, resolver.outcome(wire::to_arm_job(*prepared.job, resolver)));
    return body["properties"];
}

// Without a server: what is on this machine is named as it was written.
Outcome<Json> job_as_written(const Prepared& prepared) {
    if (is_by_name(prepared.schedule))
        return Json::object({{"jobType", "Pipeline"}, {"sourceJobId", prepared.schedule.job_name}});
    if (!prepared.job) return Json();
    wire::Resolver resolver;
    LAVANT_TRY(const Json body, wire::to_arm_job(*prepared.job, resolver));
    return body["properties"];
}

Outcome<Exit> put(Session& session, Context& context, Prepared& prepared, const Output& output) {
    const spec::ScheduleSpec& schedule = prepared.schedule;
    LAVANT_TRY(Json job, job_of(session, context, prepared));
    const std::string path = session.workspace_path("/schedules/" + percent_encode(schedule.name));
    LAVANT_TRY(const Json made, session.attempt(fmt::format("create schedule '{}'", schedule.name), "PUT",
                                                path, wire::to_arm_schedule(schedule, std::move(job))));
    return print_schedule(made, context.console, output, false);
}

Outcome<Exit> print_plan(const Prepared& prepared, const Console& console, const Output& output) {
    LAVANT_TRY(Json job, job_as_written(prepared));
    return print_body(wire::to_arm_schedule(prepared.schedule, std::move(job)), console, output);
}

}  // namespace

Outcome<Exit> create_schedule(Context& context, const ServerChoice& choice, const FileOptions& options,
                              const Output& output) {
    LAVANT_TRY(Prepared prepared, prepare(context, options));
    say_warnings(context.console, prepared.schedule.warnings);
    if (options.dry_run) return print_plan(prepared, context.console, output);
    LAVANT_TRY(Session session, connect(context, choice));
    return put(session, context, prepared, output);
}

Outcome<Exit> replace_schedule(Context& context, const ServerChoice& choice, const FileOptions& options,
                               const Output& output) {
    LAVANT_TRY(Prepared prepared, prepare(context, options));
    say_warnings(context.console, prepared.schedule.warnings);
    LAVANT_TRY(Session session, connect(context, choice));
    LAVANT_TRY_VOID(fetch_schedule(session, prepared.schedule.name, "change"));
    if (options.dry_run) return print_plan(prepared, context.console, output);
    return put(session, context, prepared, output);
}

Outcome<Exit> validate_schedule(Context& context, const FileOptions& options, const Output& output) {
    LAVANT_TRY(const Prepared prepared, prepare(context, options));
    say_warnings(context.console, prepared.schedule.warnings);
    const std::string& name = prepared.schedule.name;
    std::vector<spec::Finding> findings;
    if (prepared.job) findings = wire::azure_findings(*prepared.job);
    for (spec::Finding& one : findings) one.text.insert(0, "create_job.");
    return print_valid(context.console, output,
                       {.file = options.file,
                        .kind = "schedule",
                        .name = name,
                        .what = "schedule " + name,
                        .for_azure = options.for_azure,
                        .findings = std::move(findings)});
}

}  // namespace lavant::cli
