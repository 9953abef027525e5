#pragma once
// A schedule file: when, and what is then made. What is made is a job for now; monitors and imports are kept
// as they were written, and nothing acts on them.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "core/spec/command_job.h"
#include "core/spec/document.h"

namespace lavant::spec {

inline constexpr std::size_t kScheduleTextBytes = 1'024;

struct TriggerSpec {
    bool cron = false;       // else recurrence
    std::string expression;  // of cron
    std::string frequency;   // minute, hour, day, week, month
    std::optional<int> interval;
    bool has_pattern = false;  // the next four
    std::vector<int> hours;
    std::vector<int> minutes;
    std::vector<std::string> week_days;
    std::vector<int> month_days;
    std::string start_time;  // as written
    std::string end_time;
    std::string time_zone;
};

struct ScheduleSpec {
    std::string name;
    std::string display_name;
    std::string description;
    std::map<std::string, std::string> tags;
    std::map<std::string, std::string> properties;
    TriggerSpec trigger;

    enum class Action { Job, Monitor, Import };
    Action action = Action::Job;
    std::string job_name;                // of Job: one that is there already, without its `azureml:`
    std::optional<Document> job;         // or the job itself, what is to be different put into it
    std::string job_folder;              // where the job's relative paths begin
    std::string job_label;               // the file it came from, "" if it stands in the schedule's own
    std::optional<Document> definition;  // of Monitor and Import

    std::vector<std::string> warnings;
};

// All problems at once in Error::fields, but those of the job, which who reads jobs checks.
[[nodiscard]] Result<ScheduleSpec> parse_schedule(const Document& document, const ComponentLoader& loader);

}  // namespace lavant::spec
