#include "cli/schedule_commands.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/ask.h"
#include "cli/asset_commands.h"
#include "cli/asset_tables.h"
#include "wire/az_asset.h"

namespace lavant::cli {
namespace {

using wire::Json;

std::string path_of(const Session& session, const std::string& name) {
    return session.workspace_path("/schedules/" + percent_encode(name));
}

std::string joined(const Json& list) {
    std::string text;
    for (const Json& one : list.items()) (text += text.empty() ? "" : ",") += printable(one.scalar_text());
    return text;
}

// "0 3 * * *", "every 2 weeks on monday at 3:00".
std::string when_of(const Json& schedule) {
    const Json& trigger = schedule["trigger"];
    if (trigger["type"].text() == "cron") return printable(trigger["expression"].text());
    const std::int64_t interval = trigger["interval"].integer(1);
    const std::string unit = printable(trigger["frequency"].text());
    std::string text = interval == 1 ? "every " + unit : fmt::format("every {} {}s", interval, unit);
    const Json& pattern = trigger["schedule"];
    if (pattern["week_days"].size() > 0) text += " on " + joined(pattern["week_days"]);
    if (pattern["month_days"].size() > 0) text += " on day " + joined(pattern["month_days"]);
    if (pattern["hours"].size() == 1 && pattern["minutes"].size() == 1)
        return text + fmt::format(" at {}:{:02}", pattern["hours"].items()[0].integer(),
                                  pattern["minutes"].items()[0].integer());
    if (pattern["hours"].size() > 0)
        text += fmt::format(" at hours {}, minutes {}", joined(pattern["hours"]), joined(pattern["minutes"]));
    return text;
}

std::string what_of(const Json& schedule) {
    if (schedule.has("create_monitor")) return "a monitor; nothing acts on it";
    if (schedule.has("import_data")) return "a data import; nothing acts on it";
    const Json& job = schedule["create_job"];
    std::string text = printable(job["type"].string("pipeline")) + " job";
    if (const std::string_view id = job["id"].text(); !id.empty())
        return text + " as " + printable(id.substr(id.rfind('/') + 1));
    if (const std::string_view name = job["display_name"].text(); !name.empty())
        text += " " + printable(name);
    return text;
}

const char* state_of(const Json& schedule) {
    return schedule["is_enabled"].boolean() ? "enabled" : "disabled";
}

std::string line_of(const Json& schedule) {
    return fmt::format("{}  {}  {}\n", printable(schedule["name"].text()), when_of(schedule),
                       state_of(schedule));
}

std::string fields_of(const Json& schedule, int width) {
    FieldRows rows;
    add_field(rows, "name", schedule["name"]);
    add_field(rows, "display name", schedule["display_name"]);
    add_field(rows, "description", schedule["description"]);
    rows.emplace_back("state", state_of(schedule));
    rows.emplace_back("when", when_of(schedule));
    const Json& trigger = schedule["trigger"];
    add_field(rows, "time zone", trigger["time_zone"]);
    add_field(rows, "from", trigger["start_time"]);
    add_field(rows, "until", trigger["end_time"]);
    rows.emplace_back("makes", what_of(schedule));
    add_field(rows, "experiment", schedule.get("create_job.experiment_name"));
    add_pairs(rows, "tag", schedule["tags"]);
    add_pairs(rows, "property", schedule["properties"]);
    add_creation(rows, schedule);
    return render_fields(rows, width);
}

Outcome<Json> put_back(Session& session, const std::string& name, const std::string& verb, Json properties) {
    properties.remove("provisioningState");
    return session.attempt(fmt::format("{} schedule '{}'", verb, printable(name)), "PUT",
                           path_of(session, name), Json::object({{"properties", std::move(properties)}}));
}

// One "path=value" of --set; false if that part is fixed.
bool apply(Json& properties, std::string_view path, const std::string& value) {
    constexpr std::pair<std::string_view, const char*> kTrigger[] = {{"trigger.expression", "expression"},
                                                                     {"trigger.time_zone", "timeZone"},
                                                                     {"trigger.start_time", "startTime"},
                                                                     {"trigger.end_time", "endTime"},
                                                                     {"trigger.frequency", "frequency"}};
    for (const auto& [word, key] : kTrigger)
        if (path == word) return properties.member("trigger").set(key, value), true;
    return set_words_about(properties, path, value);
}

Outcome<void> apply_setting(Json& properties, const std::string& setting) {
    LAVANT_TRY(const auto parts, split_setting(setting));
    const auto& [path, value] = parts;
    const auto refuse = [&setting](std::string_view why) {
        return stop(Exit::Usage, ErrorCode::InvalidArgument,
                    fmt::format("cannot use --set {}: {}", printable(setting), why));
    };
    if (path == "trigger.interval") {
        const auto number = parse_integer(value);
        if (!number) return refuse("trigger.interval must be an integer");
        properties.member("trigger").set("interval", *number);
        return {};
    }
    if (path == "is_enabled") {
        const bool on = equals_ignoring_case(value, "true");
        if (!on && !equals_ignoring_case(value, "false")) return refuse("is_enabled must be true or false");
        properties.set("isEnabled", on);
        return {};
    }
    if (apply(properties, path, value)) return {};
    return refuse(
        "description, display_name, tags.KEY, properties.KEY, is_enabled and the trigger can be set; for the "
        "job give the file again: lavant schedule update -f FILE");
}

// Nobody is to find out in the morning that nothing ran in the night.
void say_no_clock(const Console& console, const Json& arm) {
    if (!arm.get("properties.isEnabled").boolean(true)) return;
    console.note(
        fmt::format("warning: {0} is kept; nothing fires it by the clock yet: lavant schedule trigger "
                    "{0}",
                    printable(arm["name"].text())),
        Colour::Yellow);
}

}  // namespace

Outcome<Json> fetch_schedule(Session& session, const std::string& name, const std::string& verb) {
    return session.attempt(fmt::format("{} schedule '{}'", verb, printable(name)), "GET",
                           path_of(session, name), Json());
}

Outcome<Exit> print_schedule(const Json& arm, const Console& console, const Output& output, bool whole) {
    const Json schedule = wire::to_az_schedule(arm);
    LAVANT_TRY_VOID(print(schedule, output, console,
                          [&] { return whole ? fields_of(schedule, console.width) : line_of(schedule); }));
    say_no_clock(console, arm);
    return Exit::Completed;
}

Outcome<Exit> show_schedule(Session& session, const Console& console, const std::string& name,
                            const Output& output) {
    LAVANT_TRY(const Json arm, fetch_schedule(session, name, "show"));
    return print_schedule(arm, console, output, true);
}

Outcome<Exit> list_schedules(Session& session, const Console& console, const ScheduleFilter& filter,
                             const Output& output) {
    const char* view = filter.disabled_only      ? "DisabledOnly"
                       : filter.include_disabled ? "All"
                                                 : "EnabledOnly";
    LAVANT_TRY(const std::vector<Json> all,
               fetch_list(session, "schedules", session.workspace_path("/schedules"), view, filter.max));
    Json found = Json::array();
    for (const Json& one : all) found.append(wire::to_az_schedule(one));
    if (found.size() == 0 && output.format == Format::Table)
        console.note(
            filter.disabled_only || filter.include_disabled
                ? "no schedules"
                : "no schedule is enabled; those that are not: lavant schedule list --include-disabled");
    LAVANT_TRY_VOID(print(found, output, console, [&] {
        std::vector<std::vector<std::string>> rows;
        for (const Json& one : found.items())
            rows.push_back({printable(one["name"].text()), state_of(one), when_of(one), what_of(one)});
        return rows.empty()
                   ? std::string()
                   : render_table(
                         {{"NAME", Cut::Last}, {"STATE"}, {"WHEN", Cut::First}, {"MAKES", Cut::First}}, rows,
                         console.width);
    }));
    return Exit::Completed;
}

Outcome<Exit> update_schedule(Session& session, const Console& console, const FileOptions& options,
                              const Output& output) {
    const std::string& name = options.words.at("name");
    LAVANT_TRY(std::vector<std::string> settings, settings_of_tags(options.tags));
    settings.insert(settings.end(), options.settings.begin(), options.settings.end());
    if (settings.empty())
        return stop(
            Exit::Usage, ErrorCode::InvalidArgument,
            fmt::format("say what to change: lavant schedule update {} --set trigger.expression=\"0 4 * * "
                        "*\", or give its file: -f FILE",
                        printable(name)));
    LAVANT_TRY(const Json arm, fetch_schedule(session, name, "change"));
    Json properties = arm["properties"];
    properties.remove("provisioningState");
    for (const std::string& setting : settings) LAVANT_TRY_VOID(apply_setting(properties, setting));
    if (options.dry_run)
        return print_body(Json::object({{"properties", std::move(properties)}}), console, output);
    LAVANT_TRY(const Json changed, put_back(session, name, "change", std::move(properties)));
    return print_schedule(changed, console, output, true);
}

Outcome<Exit> enable_schedule(Session& session, const Console& console, const std::string& name,
                              bool enabled) {
    const std::string verb = enabled ? "enable" : "disable";
    LAVANT_TRY(const Json arm, fetch_schedule(session, name, verb));
    Json properties = arm["properties"];
    properties.set("isEnabled", enabled);
    LAVANT_TRY(const Json changed, put_back(session, name, verb, std::move(properties)));
    console.err << verb << "d " << printable(name) << "\n";
    say_no_clock(console, changed);
    return Exit::Completed;
}

Outcome<Exit> trigger_schedule(Session& session, const Console& console, const std::string& name,
                               const Output& output) {
    LAVANT_TRY(const Json answer,
               session.attempt(fmt::format("trigger schedule '{}'", printable(name)), "POST",
                               path_of(session, name) + "/trigger", Json::object()));
    const std::string job = printable(answer["submissionId"].text());
    const Json shown = Json::object(
        {{"job_name", answer["submissionId"]}, {"schedule_action_type", answer["scheduleActionType"]}});
    LAVANT_TRY_VOID(print(shown, output, console, [&] { return job + "\n"; }));
    if (output.format == Format::Table && !output.query)
        console.note("follow it with: lavant job stream " + job);
    return Exit::Completed;
}

Outcome<Exit> delete_schedule(Session& session, Context& context, const std::string& name, bool yes) {
    const std::string shown = printable(name);
    // Nobody is asked about what is not there, and a delete of it is no success.
    LAVANT_TRY_VOID(fetch_schedule(session, name, "delete"));
    if (!yes) {
        LAVANT_TRY(const bool sure, ask(context, fmt::format("delete schedule {}?", shown)));
        if (!sure) return stop(Exit::Usage, ErrorCode::InvalidArgument, "nothing was deleted");
    }
    auto removed =
        session.attempt(fmt::format("delete schedule '{}'", shown), "DELETE", path_of(session, name), Json());
    if (!removed) {
        Failure failure = std::move(removed).error();
        if (failure.error.message.find("active trigger") != std::string::npos)
            failure.error.message = fmt::format(
                "cannot delete schedule '{0}': it is enabled; disable it first: lavant schedule "
                "disable {0}",
                shown);
        return tl::make_unexpected(std::move(failure));
    }
    context.console.err << "deleted " << shown << "\n";
    return Exit::Completed;
}

}  // namespace lavant::cli
