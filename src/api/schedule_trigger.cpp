#include "api/schedule_trigger.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/time.h"
#include "core/spec/cron.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::int64_t kIntervalMost = 100'000;
constexpr std::size_t kMomentsMost = 100;  // hours, minutes or days in one pattern
constexpr std::size_t kTextBytes = 1'024;

constexpr std::array<std::string_view, 7> kDays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                   "Friday", "Saturday", "Sunday"};
constexpr std::array<std::string_view, 5> kFrequencies = {"minute", "hour", "day", "week", "month"};

class TriggerReader {
 public:
    TriggerReader(Json trigger, std::vector<FieldProblem>& problems)
        : trigger_(std::move(trigger)), problems_(problems) {}

    Json read() {
        if (!trigger_.is_object()) {
            add("", "is missing; like {\"triggerType\": \"Cron\", \"expression\": \"0 3 * * *\"}");
            return trigger_;
        }
        read_times();
        const std::string_view type = trigger_["triggerType"].text();
        if (equals_ignoring_case(type, "Cron")) {
            trigger_.set("triggerType", "Cron");
            read_cron();
        } else if (equals_ignoring_case(type, "Recurrence")) {
            trigger_.set("triggerType", "Recurrence");
            read_recurrence();
        } else {
            add(".triggerType", "must be Cron or Recurrence");
        }
        return trigger_;
    }

 private:
    void add(const std::string& place, std::string message) {
        problems_.push_back({"properties.trigger" + place, std::move(message), 0, 0});
    }

    void read_times() {
        std::array<std::optional<Instant>, 2> times;
        constexpr std::array<const char*, 2> kNames = {"startTime", "endTime"};
        for (std::size_t i = 0; i < kNames.size(); ++i) {
            const Json& value = trigger_[kNames[i]];
            if (value.is_null()) {
                trigger_.remove(kNames[i]);
                continue;
            }
            times[i] = parse_local_time(value.text());
            if (!times[i]) add(std::string(".") + kNames[i], "is no time; write it as 2026-01-31T10:00:00");
        }
        if (times[0] && times[1] && *times[1] <= *times[0]) add(".endTime", "must be later than startTime");
        const Json& zone = trigger_["timeZone"];
        if (zone.is_null()) {
            trigger_.set("timeZone", "UTC");
        } else if (zone.text().empty() || zone.text().size() > kTextBytes) {
            add(".timeZone", "must be the name of a time zone, as UTC or Pacific Standard Time");
        }
    }

    // 2026-01-31T10:00:00, with a blank for the T, without seconds, with a zone or without.
    static std::optional<Instant> parse_local_time(std::string_view text) {
        if (text.size() < 16 || text.size() > kTextBytes) return std::nullopt;
        std::string whole(text);
        if (whole[10] == ' ') whole[10] = 'T';
        if (whole.size() == 16) whole += ":00";
        if (auto at = parse_rfc3339(whole)) return at;
        return parse_rfc3339(whole + "Z");
    }

    void read_cron() {
        const Json& expression = trigger_["expression"];
        if (!expression.is_string()) return add(".expression", "is missing; as \"0 18 * * *\"");
        if (expression.text().size() > kTextBytes)
            return add(".expression", "has at most " + std::to_string(kTextBytes) + " characters");
        if (auto problem = spec::find_cron_problem(expression.text())) add(".expression", *problem);
    }

    void read_recurrence() {
        const std::string frequency = to_lower(trigger_["frequency"].text());
        if (std::ranges::find(kFrequencies, frequency) == kFrequencies.end())
            add(".frequency", "must be minute, hour, day, week or month");
        const Json& interval = trigger_["interval"];
        if (!interval.is_number() || interval.integer() < 1 || interval.integer() > kIntervalMost)
            add(".interval", "must be a whole number from 1 to " + std::to_string(kIntervalMost));
        if (trigger_["schedule"].is_null()) {
            trigger_.set("schedule", Json::object({{"hours", Json::array()}, {"minutes", Json::array()}}));
            return;
        }
        if (!trigger_["schedule"].is_object()) return add(".schedule", "must be an object");
        Json& pattern = trigger_.member("schedule");
        check_numbers(pattern, "hours", {0, 23});
        check_numbers(pattern, "minutes", {0, 59});
        check_numbers(pattern, "monthDays", {1, 31});
        read_days(pattern);
    }

    struct Bounds {
        int least;
        int most;
    };
    void check_numbers(Json& pattern, const char* name, Bounds bounds) {
        const Json& list = pattern[name];
        if (list.is_null()) {
            pattern.remove(name);
            return;
        }
        const bool fine =
            list.is_array() && list.size() <= kMomentsMost &&
            std::ranges::all_of(list.items(), [&](const Json& item) {
                return item.is_integer() && item.integer() >= bounds.least && item.integer() <= bounds.most;
            });
        if (!fine)
            add(std::string(".schedule.") + name,
                "must be a list of at most " + std::to_string(kMomentsMost) + " numbers from " +
                    std::to_string(bounds.least) + " to " + std::to_string(bounds.most));
    }

    void read_days(Json& pattern) {
        if (pattern["weekDays"].is_null()) {
            pattern.remove("weekDays");
            return;
        }
        if (!pattern["weekDays"].is_array() || pattern["weekDays"].size() > kMomentsMost)
            return add(".schedule.weekDays", "must be a list of days");
        for (Json& day : pattern.member("weekDays").mutable_items()) {
            const auto known = std::ranges::find_if(
                kDays, [&](std::string_view name) { return equals_ignoring_case(name, day.text()); });
            if (known == kDays.end())
                return add(".schedule.weekDays",
                           "'" + day.scalar_text().substr(0, 80) + "' is no day; as Monday or Sunday");
            day = std::string(*known);
        }
    }

    Json trigger_;
    std::vector<FieldProblem>& problems_;
};

}  // namespace

Json complete_trigger(const Json& sent, std::vector<FieldProblem>& problems) {
    return TriggerReader(sent, problems).read();
}

}  // namespace lavant::api
