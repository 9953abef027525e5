// What only an instance has: schedules, scripts, applications.

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "core/spec/compute_reading.h"

namespace lavant::spec {
namespace {

std::vector<int> small_numbers(Fields& fields, std::string_view key, NumberRange range) {
    std::vector<int> out;
    const Document* list = fields.find(key);
    if (list == nullptr) return out;
    const std::string wanted =
        "must be a list of numbers from " + std::to_string(range.least) + " to " + std::to_string(range.most);
    if (!list->is_list() || list->items.size() > kComputeItemsMost) {
        fields.problem(key, wanted);
        return out;
    }
    for (const Document& item : list->items) {
        if (item.kind != Document::Kind::Integer || item.integer < range.least || item.integer > range.most) {
            fields.problem(key, wanted);
            return out;
        }
        out.push_back(static_cast<int>(item.integer));
    }
    return out;
}

void read_pattern(Fields& trigger, PowerScheduleSpec& schedule) {
    const Document* map = trigger.find("schedule");
    if (map == nullptr) return;
    Fields fields(*map, trigger.path_of("schedule"), trigger.problems());
    schedule.has_pattern = true;
    static const std::vector<std::string> days = {"monday", "tuesday",  "wednesday", "thursday",
                                                  "friday", "saturday", "sunday"};
    for (const std::string& word : fields.strings("week_days")) {
        const auto day = match_choice(word, days);
        if (day) {
            schedule.week_days.push_back(*day);
        } else {
            fields.problem("week_days", "'" + word.substr(0, 80) + "' is no day" + suggestion(word, days));
        }
    }
    schedule.hours = small_numbers(fields, "hours", {0, 23});
    schedule.minutes = small_numbers(fields, "minutes", {0, 59});
    fields.finish();
}

void read_cron(Fields& fields, PowerScheduleSpec& schedule) {
    schedule.expression = short_text(fields, "expression");
    if (!fields.has("expression")) return fields.problem("expression", "is missing; as \"0 18 * * *\"");
    const auto words = split(trim(schedule.expression), ' ');
    const auto count = std::ranges::count_if(words, [](std::string_view word) { return !word.empty(); });
    if (!schedule.expression.empty() && count != 5)
        fields.problem("expression", "has " + std::to_string(count) +
                                         " parts; five are needed: minute hour day month weekday");
}

void read_trigger(Fields& parent, PowerScheduleSpec& schedule) {
    const Document* map = parent.find("trigger");
    if (map == nullptr) {
        if (!parent.has("trigger")) parent.problem("trigger", "is missing; say when");
        return;
    }
    Fields fields(*map, parent.path_of("trigger"), parent.problems());
    if (map->is_map() && !fields.has("type"))
        fields.problem("type", "is missing; it must be cron or recurrence");
    schedule.trigger = fields.choice("type", {"cron", "recurrence"});
    schedule.start_time = short_text(fields, "start_time");
    schedule.time_zone = short_text(fields, "time_zone");
    if (schedule.trigger == "cron") read_cron(fields, schedule);
    if (schedule.trigger == "recurrence") {
        if (!fields.has("frequency")) fields.problem("frequency", "is missing; as day or week");
        schedule.frequency = fields.choice("frequency", {"minute", "hour", "day", "week", "month"});
        schedule.interval = small_number(fields, "interval", {1, 1'000});
        read_pattern(fields, schedule);
    }
    if (schedule.trigger.empty()) fields.ignore({"expression", "frequency", "interval", "schedule"});
    fields.finish();
}

void read_schedules(Fields& parent, ComputeSpec& spec) {
    const Document* map = parent.find("schedules");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("schedules"), parent.problems());
    each_map(fields, "compute_start_stop", [&](Fields& one) {
        PowerScheduleSpec schedule;
        if (!one.has("action")) one.problem("action", "is missing; it must be start or stop");
        schedule.action = one.choice("action", {"start", "stop"});
        schedule.enabled = one.choice("state", {"enabled", "disabled"}) != "disabled";
        read_trigger(one, schedule);
        one.ignore({"schedule_id", "provisioning_state"});
        spec.instance.schedules.push_back(std::move(schedule));
    });
    fields.finish();
}

std::optional<ScriptSpec> read_script(Fields& parent, std::string_view key) {
    const Document* map = parent.find(key);
    if (map == nullptr) return std::nullopt;
    Fields fields(*map, parent.path_of(key), parent.problems());
    ScriptSpec script{.path = short_text(fields, "path"),
                      .command = short_text(fields, "command"),
                      .timeout_minutes = small_number(fields, "timeout_minutes", {1, 24 * 60})};
    fields.finish();
    return script;
}

void read_scripts(Fields& parent, ComputeSpec& spec) {
    const Document* map = parent.find("setup_scripts");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("setup_scripts"), parent.problems());
    spec.instance.creation_script = read_script(fields, "creation_script");
    spec.instance.startup_script = read_script(fields, "startup_script");
    fields.finish();
}

ApplicationSpec read_application(Fields& fields) {
    ApplicationSpec application;
    application.name = short_text(fields, "name");
    if (!fields.has("name")) fields.problem("name", "is missing");
    fields.choice("type", {"docker"});
    if (const Document* map = fields.find("image")) {
        Fields image(*map, fields.path_of("image"), fields.problems());
        application.image = short_text(image, "reference");
        image.finish();
    } else if (!fields.has("image")) {
        fields.problem("image", "is missing; write image: {reference: IMAGE}");
    }
    each_map(fields, "endpoints", [&](Fields& one) {
        application.endpoints.push_back({small_number(one, "target", {2, 65'534}).value_or(0),
                                         small_number(one, "published", {2, 65'534}).value_or(0)});
        for (const char* key : {"target", "published"})
            if (!one.has(key)) one.problem(key, "is missing");
    });
    each_map(fields, "bind_mounts", [&](Fields& one) {
        application.mounts.push_back({short_text(one, "source"), short_text(one, "target")});
    });
    application.variables = fields.string_map("environment_variables");
    if (application.variables.size() > kComputeItemsMost)
        fields.problem("environment_variables", "has too many: at most " + std::to_string(kComputeItemsMost));
    return application;
}

void read_applications(Fields& fields, ComputeSpec& spec) {
    std::vector<std::string> names;
    std::vector<int> ports;
    each_map(fields, "custom_applications", [&](Fields& one) {
        ApplicationSpec application = read_application(one);
        if (std::ranges::find(names, application.name) != names.end() && !application.name.empty())
            one.problem("name", "'" + application.name + "' is there twice");
        names.push_back(application.name);
        for (const ApplicationSpec::Endpoint& endpoint : application.endpoints) {
            if (endpoint.published != 0 && std::ranges::find(ports, endpoint.published) != ports.end())
                one.problem("endpoints",
                            "port " + std::to_string(endpoint.published) + " is published twice");
            ports.push_back(endpoint.published);
        }
        spec.instance.applications.push_back(std::move(application));
    });
}

void read_idle(Fields& fields, ComputeSpec& spec) {
    const auto minutes = small_number(fields, "idle_time_before_shutdown_minutes", {1, kShutdownMinutesMost});
    const std::string written = short_text(fields, "idle_time_before_shutdown");
    if (!written.empty()) {
        const auto length = parse_iso_duration(written);
        if (!length || *length < std::chrono::minutes(1) ||
            *length > std::chrono::minutes(kShutdownMinutesMost)) {
            fields.problem("idle_time_before_shutdown",
                           "must be a time like PT30M, from a minute to 30 days");
        } else {
            spec.instance.idle_before_shutdown = to_iso_duration(*length);
        }
    }
    if (minutes && !written.empty())
        fields.problem("idle_time_before_shutdown",
                       "cannot stand beside idle_time_before_shutdown_minutes, which means the same");
    if (minutes) spec.instance.idle_before_shutdown = "PT" + std::to_string(*minutes) + "M";
}

}  // namespace

void read_instance(Fields& fields, ComputeSpec& spec) {
    InstanceSpec& instance = spec.instance;
    if (const Document* map = fields.find("create_on_behalf_of")) {
        Fields person(*map, fields.path_of("create_on_behalf_of"), fields.problems());
        instance.user_tenant_id = short_text(person, "user_tenant_id");
        instance.user_object_id = short_text(person, "user_object_id");
        for (const char* key : {"user_tenant_id", "user_object_id"})
            if (map->is_map() && !person.has(key)) person.problem(key, "is missing");
        person.finish();
    }
    read_idle(fields, spec);
    read_schedules(fields, spec);
    read_scripts(fields, spec);
    read_applications(fields, spec);
    spec.ssh_public_access = fields.boolean("ssh_public_access_enabled");
    spec.node_public_ip = fields.boolean("enable_node_public_ip");
    instance.sso = fields.boolean("enable_sso");
    instance.root_access = fields.boolean("enable_root_access");
    instance.release_quota_on_stop = fields.boolean("release_quota_on_stop");
    instance.os_patching = fields.boolean("enable_os_patching");
    fields.ignore({"state", "last_operation", "services", "os_image_metadata"});
}

}  // namespace lavant::spec
