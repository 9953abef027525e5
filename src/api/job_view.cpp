#include "api/job_view.h"

#include <array>

#include "api/context.h"
#include "base/check.h"
#include "base/text.h"

namespace lavant::api {
namespace {

// Where the JSON string that starts at `from` ends (one past its closing quote).
std::size_t end_of_string(std::string_view text, std::size_t from) {
    for (std::size_t i = from + 1; i < text.size(); ++i) {
        if (text[i] == '\\') {
            ++i;
        } else if (text[i] == '"') {
            return i + 1;
        }
    }
    return text.size();
}

// Where the value that starts at `from` ends: at the next comma or brace of its own level.
std::size_t end_of_value(std::string_view text, std::size_t from) {
    int depth = 0;
    for (std::size_t i = from; i < text.size();) {
        const char c = text[i];
        if (c == '"') {
            i = end_of_string(text, i);
            continue;
        }
        if (depth == 0 && (c == ',' || c == '}' || c == ']')) return i;
        if (c == '{' || c == '[') ++depth;
        if (c == '}' || c == ']') --depth;
        ++i;
    }
    return text.size();
}

bool is_edited_later(std::string_view key) {
    constexpr std::array<std::string_view, 7> kEdited = {"displayName", "description", "tags",  "isArchived",
                                                         "status",      "error",       "lavant"};
    for (const std::string_view edited : kEdited)
        if (key == edited) return true;
    return false;
}

void member(std::string& out, std::string_view key, std::string_view json) {
    if (out.back() != '{') out += ',';
    ((out += '"') += key) += "\":";
    out += json;
}

void text_member(std::string& out, std::string_view key, std::string_view text) {
    member(out, key, json_quote(text));
}

void time_member(std::string& out, std::string_view key, const std::optional<Instant>& at) {
    if (at) member(out, key, "\"" + to_rfc3339(*at) + "\"");
}

// What Azure has no place for: the reason of a failure, and what the control plane knows of the job's life.
std::string render_error(const JobError& error) {
    std::string out = "{";
    text_member(out, "code", error.code);
    text_member(out, "message", error.message);
    member(out, "exitCode", std::to_string(error.exit_code));
    member(out, "signal", std::to_string(error.signal));
    text_member(out, "node", error.node);
    text_member(out, "tracebackLine", error.traceback_line);
    return out + "}";
}

std::string render_own_part(const JobHead& head) {
    std::string out = "{";
    member(out, "attempt", std::to_string(head.attempt));
    member(out, "instances", std::to_string(head.instances));
    time_member(out, "submittedAt", head.submitted_at);
    time_member(out, "startedAt", head.started_at);
    time_member(out, "endedAt", head.ended_at);
    if (!head.canceled_by.empty()) text_member(out, "canceledBy", head.canceled_by);
    time_member(out, "cancelRequestedAt", head.cancel_requested_at);
    if (!head.warning.empty() || !head.queue_warning.empty()) {
        const bool both = !head.warning.empty() && !head.queue_warning.empty();
        text_member(out, "warning", head.warning + (both ? "; " : "") + head.queue_warning);
    }
    if (is_terminal(head.status)) {
        member(out, "usage",
               "{\"cpuMicros\":" + std::to_string(head.usage.cpu_micros) +
                   ",\"memoryPeakBytes\":" + std::to_string(head.usage.memory_peak_bytes) +
                   ",\"wallMicros\":" + std::to_string(head.usage.wall_micros) + "}");
    }
    return out + "}";
}

}  // namespace

std::vector<std::pair<std::string_view, std::string_view>> slice_object(std::string_view text) {
    std::vector<std::pair<std::string_view, std::string_view>> members;
    if (!text.starts_with('{')) return members;
    std::size_t at = 1;
    while (at < text.size() && text[at] == '"') {
        const std::size_t key_end = end_of_string(text, at);
        if (key_end >= text.size() || text[key_end] != ':') break;
        const std::string_view key = text.substr(at + 1, key_end - at - 2);
        const std::size_t value_end = end_of_value(text, key_end + 1);
        members.emplace_back(key, text.substr(key_end + 1, value_end - key_end - 1));
        at = value_end + 1;
    }
    return members;
}

// A job is kept and shown, which is no place for the key of a teacher's endpoint, where the SDK puts it. It
// does not read a connection without one, so the fields stay.
static void hide_secrets(wire::Json& own) {
    constexpr const char* kConnection = "azureml.connection_information";
    constexpr const char* kHidden = "***";
    if (!own.has(kConnection)) return;
    auto connection = wire::parse_json(own[kConnection].text());
    if (!connection || !connection->is_object()) {
        own.set(kConnection, "{}");
        return;
    }
    if (connection->has("api_key")) connection->set("api_key", kHidden);
    if (connection->has("credentials"))
        for (wire::Json::Member& one : connection->member("credentials").mutable_members())
            if (one.key != "type") one.value = kHidden;
    own.set(kConnection, connection->dump());
}

// The user's own properties as they are kept.
static std::string kept_properties(std::string_view sent) {
    if (sent.find("azureml.connection_information") == std::string_view::npos) return std::string(sent);
    auto own = wire::parse_json(sent);
    if (!own) return std::string(sent);
    hide_secrets(*own);
    return own->dump();
}

std::string to_stored_properties(std::string_view sent) {
    std::string out = "{";
    std::string_view services = "{}";
    bool has_properties = false;
    bool has_experiment = false;
    for (const auto& [key, value] : slice_object(sent)) {
        if (is_edited_later(key) || value == "null")
            continue;  // a null where clients expect an object breaks them
        if (key == "services") {
            services = value;
            continue;
        }
        has_properties = has_properties || key == "properties";
        has_experiment = has_experiment || key == "experimentName";
        if (key == "properties") {
            member(out, key, kept_properties(value));
        } else {
            member(out, key, value);
        }
    }
    if (!has_properties) member(out, "properties", "{}");
    if (!has_experiment) member(out, "experimentName", "\"Default\"");
    member(out, "services", services.starts_with('{') ? services : "{}");
    return out + "}";
}

wire::Json own_properties(std::string_view stored) {
    for (const auto& [key, value] : slice_object(stored)) {
        if (key != "properties") continue;
        if (auto own = wire::parse_json(value)) return std::move(*own);
    }
    return wire::Json::object();
}

std::string with_own_properties(std::string_view stored, const wire::Json& more) {
    wire::Json own = own_properties(stored);
    for (const wire::Json::Member& one : more.members())
        if (!one.value.is_null()) own.set(one.key, one.value.scalar_text());
    hide_secrets(own);
    std::string out = "{";
    for (const auto& [key, value] : slice_object(stored))
        member(out, key, key == "properties" ? own.dump() : std::string(value));
    return out + "}";
}

std::string to_json_object(const std::map<std::string, std::string>& values) {
    std::string out = "{";
    for (const auto& [key, value] : values) {
        if (out.back() != '{') out += ',';
        ((out += json_quote(key)) += ':') += json_quote(value);
    }
    return out + "}";
}

std::string render_job(const Job& job, const JobFrame& frame) {
    const std::string& stored = job.body.properties;
    CHECK(stored.size() >= 4 && stored.ends_with("}}"), "stored properties end with the services object");
    const std::string id = arm_id(frame.workspace) + "/jobs/" + job.head.name;
    std::string out;
    out.reserve(stored.size() + 1536);
    out += '{';
    text_member(out, "id", id);
    text_member(out, "name", job.head.name);
    member(out, "type", "\"Microsoft.MachineLearningServices/workspaces/jobs\"");
    const std::string created = "\"" + to_rfc3339(job.head.submitted_at) + "\"";
    member(out, "systemData",
           "{\"createdAt\":" + created + ",\"createdBy\":" + json_quote(job.body.created_by) +
               ",\"createdByType\":\"User\",\"lastModifiedAt\":" + created + "}");
    out += ",\"properties\":{";
    text_member(out, "status", name_of(frame.shown));
    text_member(out, "displayName", job.meta.display_name);
    if (!job.meta.description.empty()) text_member(out, "description", job.meta.description);
    member(out, "tags", to_json_object(job.meta.tags));
    member(out, "isArchived", job.meta.archived ? "true" : "false");
    if (job.head.error) member(out, "error", render_error(*job.head.error));
    member(out, "lavant", render_own_part(job.head));
    out += ',';
    out += std::string_view(stored).substr(1, stored.size() - 3);  // up to the end of the services
    if (out.back() != '{') out += ',';
    // azure-ai-ml puts "&tid=..." behind it.
    out += R"("Studio":{"jobServiceType":"Studio","endpoint":)" +
           json_quote(frame.origin + "/studio?job=" + job.head.name) +
           R"(},"Tracking":{"jobServiceType":"Tracking","endpoint":)" +
           json_quote(frame.origin + "/mlflow/v1.0" + arm_id(frame.workspace)) + "}}}}";
    return out;
}

}  // namespace lavant::api
