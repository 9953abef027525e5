#include "core/spec/schedule.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "core/spec/asset_reading.h"
#include "core/spec/compute_reading.h"
#include "core/spec/cron.h"

namespace lavant::spec {
namespace {

constexpr int kIntervalMost = 100'000;
constexpr std::size_t kMomentsMost = 100;  // hours, minutes or days in one pattern

const std::vector<std::string>& day_names() {
    static const std::vector<std::string> names = {"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};
    return names;
}

// One number, or a list of them.
std::vector<int> read_numbers(Fields& fields, std::string_view key, NumberRange range) {
    std::vector<int> out;
    const Document* value = fields.find(key);
    if (value == nullptr) return out;
    const std::vector<Document> items = value->is_list() ? value->items : std::vector<Document>{*value};
    for (const Document& item : items) {
        const bool fine = item.kind == Document::Kind::Integer && item.integer >= range.least &&
                          item.integer <= range.most && out.size() < kMomentsMost;
        if (!fine) {
            fields.problem(key, "must be a number from " + std::to_string(range.least) + " to " +
                                    std::to_string(range.most) + ", or a list of at most " +
                                    std::to_string(kMomentsMost) + " of them");
            return {};
        }
        out.push_back(static_cast<int>(item.integer));
    }
    return out;
}

void read_week_days(Fields& fields, TriggerSpec& trigger) {
    const Document* value = fields.find("week_days");
    if (value == nullptr) return;
    const std::vector<Document> items = value->is_list() ? value->items : std::vector<Document>{*value};
    for (const Document& item : items) {
        const auto day = item.is_string() ? match_choice(item.text, day_names()) : std::nullopt;
        if (!day)
            return fields.problem("week_days", "'" + item.text.substr(0, 80) + "' is no day" +
                                                   suggestion(item.text.substr(0, 80), day_names()));
        if (std::ranges::find(trigger.week_days, *day) == trigger.week_days.end())
            trigger.week_days.push_back(*day);
    }
}

void read_pattern(Fields& parent, TriggerSpec& trigger) {
    const Document* map = parent.find("schedule");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("schedule"), parent.problems());
    trigger.has_pattern = true;
    for (const char* key : {"hours", "minutes"})
        if (map->is_map() && !fields.has(key)) fields.problem(key, "is missing; a number or a list of them");
    trigger.hours = read_numbers(fields, "hours", {0, 23});
    trigger.minutes = read_numbers(fields, "minutes", {0, 59});
    read_week_days(fields, trigger);
    trigger.month_days = read_numbers(fields, "month_days", {1, 31});
    fields.finish();
}

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// 2026-01-31T10:00:00, with a blank for the T, without seconds, or with a zone behind it.
bool is_time(std::string_view text) {
    if (text.size() < 16 || text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') ||
        text[13] != ':')
        return false;
    const auto number = [&](std::size_t at, std::size_t count) {
        const std::string_view digits = text.substr(at, count);
        return is_digits(digits) ? parse_integer(digits).value_or(-1) : -1;
    };
    return number(0, 4) >= 1 && number(5, 2) >= 1 && number(5, 2) <= 12 && number(8, 2) >= 1 &&
           number(8, 2) <= 31 && number(11, 2) >= 0 && number(11, 2) <= 23 && number(14, 2) >= 0 &&
           number(14, 2) <= 59;
}

std::string read_time(Fields& fields, std::string_view key) {
    std::string text = short_text(fields, key, kScheduleTextBytes);
    if (!text.empty() && !is_time(text))
        fields.problem(key, "'" + text.substr(0, 80) + "' is no time; write it as \"2026-01-31T10:00:00\"");
    return text;
}

void read_trigger(Fields& parent, TriggerSpec& trigger) {
    const Document* map = parent.find("trigger");
    if (map == nullptr) {
        if (!parent.has("trigger"))
            parent.problem("trigger", "is missing; like {type: cron, expression: \"0 3 * * *\"}");
        return;
    }
    Fields fields(*map, parent.path_of("trigger"), parent.problems());
    if (!map->is_map()) return;
    if (!fields.has("type")) fields.problem("type", "is missing; it must be cron or recurrence");
    const std::string type = fields.choice("type", {"cron", "recurrence"});
    trigger.cron = type == "cron";
    trigger.start_time = read_time(fields, "start_time");
    trigger.end_time = read_time(fields, "end_time");
    trigger.time_zone = short_text(fields, "time_zone", kScheduleTextBytes);
    if (type == "cron") {
        trigger.expression = short_text(fields, "expression", kScheduleTextBytes);
        if (!fields.has("expression")) fields.problem("expression", "is missing; as \"0 18 * * *\"");
        if (const auto problem = find_cron_problem(trigger.expression);
            problem && fields.map().find("expression") != nullptr &&
            fields.map().find("expression")->is_string())
            fields.problem("expression", *problem);
    }
    if (type == "recurrence") {
        if (!fields.has("frequency")) fields.problem("frequency", "is missing; as day or week");
        trigger.frequency = fields.choice("frequency", {"minute", "hour", "day", "week", "month"});
        if (!fields.has("interval")) fields.problem("interval", "is missing; 1 is every time");
        trigger.interval = small_number(fields, "interval", {1, kIntervalMost});
        read_pattern(fields, trigger);
    }
    if (type.empty()) fields.ignore({"expression", "frequency", "interval", "schedule"});
    fields.finish();
}

// What `over` says goes over `under`, mapping by mapping.
void merge(Document& under, const Document& over) {
    for (const Document::Entry& entry : over.entries) {
        const auto same = std::ranges::find(under.entries, entry.key, &Document::Entry::key);
        if (same == under.entries.end()) {
            under.entries.push_back(entry);
        } else if (same->value.is_map() && entry.value.is_map()) {
            merge(same->value, entry.value);
        } else {
            same->value = entry.value;
        }
    }
}

struct JobReading {
    Fields& fields;  // of the schedule
    const ComponentLoader& loader;
    ScheduleSpec& spec;
};

// A job by its name, or by its file.
void read_reference(JobReading reading, const Document& value, const std::string& path) {
    Problems& problems = reading.fields.problems();
    if (!value.is_string())
        return problems.add(path, value.at,
                            "must be a job file or azureml:NAME, but is " + std::string(name_of(value.kind)));
    if (value.text.starts_with("azureml:")) {
        reading.spec.job_name = value.text.substr(std::string_view("azureml:").size());
        if (trim(reading.spec.job_name).empty())
            problems.add(path, value.at, "names no job; write azureml:NAME");
        return;
    }
    const std::string file = join_path(reading.loader.folder, without_file_scheme(value.text));
    auto job = reading.loader.load(file);
    if (!job) return problems.add(path, value.at, job.error().message);
    if (!job->is_map())
        return problems.add(path, value.at, "'" + value.text + "' is no job file: it must be a mapping");
    reading.spec.job = std::move(*job);
    reading.spec.job_folder = parent_folder(file);
    reading.spec.job_label = value.text;
}

void read_job(JobReading reading) {
    const Document* value = reading.fields.find("create_job");
    if (value == nullptr) return;
    const std::string path = reading.fields.path_of("create_job");
    if (!value->is_map()) return read_reference(reading, *value, path);
    ScheduleSpec& spec = reading.spec;
    Document changes = *value;
    const Document* job = value->find("job");
    std::erase_if(changes.entries, [](const Document::Entry& entry) { return entry.key == "job"; });
    if (job == nullptr) {
        if (value->find("type") == nullptr && value->find("jobs") == nullptr)
            reading.fields.problems().add(path + ".job", value->at,
                                          "is missing; name a job file, or azureml:NAME");
        spec.job = std::move(changes);
        spec.job_folder = reading.loader.folder;
        return;
    }
    read_reference(reading, *job, path + ".job");
    if (spec.job) {
        merge(*spec.job, changes);
    } else if (!changes.entries.empty()) {
        if (value->find("type") == nullptr)
            reading.fields.problems().add(path + ".type", value->at,
                                          "is missing; a job by name that is changed needs it: pipeline");
        spec.job = std::move(changes);
        spec.job_folder = reading.loader.folder;
    }
}

void read_action(JobReading reading) {
    Fields& fields = reading.fields;
    const bool job = fields.has("create_job");
    const bool monitor = fields.has("create_monitor");
    const bool import = fields.has("import_data");
    if (!job && !monitor && !import) {
        if (fields.map().is_map())
            fields.problem("create_job", "is missing; name the job file, or azureml:NAME");
        return;
    }
    if (job + monitor + import > 1)
        return fields.problem(monitor ? "create_monitor" : "import_data",
                              "cannot stand beside another action; a schedule has one");
    if (job) return read_job(reading);
    const char* key = monitor ? "create_monitor" : "import_data";
    reading.spec.action = monitor ? ScheduleSpec::Action::Monitor : ScheduleSpec::Action::Import;
    const Document* definition = fields.find(key);
    if (definition == nullptr) return;
    if (!definition->is_map() && !(import && definition->is_string()))
        return fields.problem(key, "must be a mapping, but is " + std::string(name_of(definition->kind)));
    reading.spec.definition = *definition;
    reading.spec.warnings.push_back(std::string(key) +
                                    ": is kept, and nothing acts on it: only jobs run here");
}

}  // namespace

Result<ScheduleSpec> parse_schedule(const Document& document, const ComponentLoader& loader) {
    ScheduleSpec spec;
    Problems problems;
    Fields fields(document, "", problems);
    spec.name = read_asset_name(fields);
    spec.display_name = short_text(fields, "display_name", kScheduleTextBytes);
    spec.description = read_description(fields);
    spec.tags = read_pairs(fields, "tags");
    spec.properties = read_pairs(fields, "properties");
    if (document.is_map()) read_trigger(fields, spec.trigger);
    read_action({fields, loader, spec});
    fields.ignore(
        {"$schema", "id", "is_enabled", "provisioning_state", "creation_context", "resourceGroup", "type"});
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the schedule"));
    return spec;
}

}  // namespace lavant::spec
