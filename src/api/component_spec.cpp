#include "api/component_spec.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/curated.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::string_view kScheme = "azureml:";

Json without_nulls(const Json& value) {
    if (value.is_object()) {
        Json out = Json::object();
        for (const Json::Member& member : value.members())
            if (!member.value.is_null())
                out.mutable_members().push_back({member.key, without_nulls(member.value)});
        return out;
    }
    if (!value.is_array()) return value;
    Json out = Json::array();
    for (const Json& item : value.items()) out.append(without_nulls(item));
    return out;
}

// "${{parent.inputs.n}}" -> "n", for `what` "inputs".
std::string_view bound_name(std::string_view text, std::string_view what) {
    text = trim(text);
    if (!text.starts_with("${{") || !text.ends_with("}}")) return {};
    text = trim(text.substr(3, text.size() - 5));
    constexpr std::string_view kParent = "parent.";
    if (!text.starts_with(kParent)) return {};
    text.remove_prefix(kParent.size());
    if (!text.starts_with(what) || text.size() <= what.size() || text[what.size()] != '.') return {};
    return text.substr(what.size() + 1);
}

void complete_inputs(Json& spec) {
    if (!spec["inputs"].is_object()) return;
    for (Json::Member& input : spec.member("inputs").mutable_members())
        if (input.value.is_object() && !input.value.has("optional")) input.value.set("optional", false);
}

void remove_modes(Json& spec, std::string_view ports) {
    if (!spec[ports].is_object()) return;
    for (Json::Member& port : spec.member(ports).mutable_members())
        if (port.value.is_object()) port.value.remove("mode");
}

// A compute given as the default of an input, or of the steps, loses its scheme, as it does where a step
// names it directly.
void shorten_default_computes(Json& spec) {
    const std::string_view of_steps = spec["settings"]["default_compute"].text();
    if (of_steps.starts_with(kScheme) && !of_steps.starts_with("azureml://"))
        spec.member("settings").set("default_compute", std::string(of_steps.substr(kScheme.size())));
    if (!spec["inputs"].is_object()) return;
    for (Json::Member& input : spec.member("inputs").mutable_members()) {
        const std::string_view value = input.value["default"].text();
        if (!value.starts_with(kScheme) || value.starts_with("azureml://")) continue;
        const bool is_compute = std::ranges::any_of(spec["jobs"].members(), [&](const Json::Member& job) {
            return bound_name(job.value["compute"].text(), "inputs") == input.key ||
                   bound_name(job.value["computeId"].text(), "inputs") == input.key;
        });
        if (is_compute) input.value.set("default", std::string(value.substr(kScheme.size())));
    }
}

// An output of a pipeline component is available as early as the output of the step that is bound to it.
void take_early_outputs(Json& spec, const FindComponent& find) {
    if (!spec["outputs"].is_object()) return;
    const Json jobs = spec["jobs"];
    for (const Json::Member& job : jobs.members()) {
        for (const Json::Member& output : job.value["outputs"].members()) {
            const bool is_text = output.value.is_string();
            const std::string name(
                bound_name(is_text ? output.value.text() : output.value["value"].text(), "outputs"));
            if (name.empty() || !spec["outputs"][name].is_object()) continue;
            const auto step = find(job.value["componentId"].text());
            if (!step) continue;
            const Json& early = (*step)["outputs"][output.key]["early_available"];
            if (!early.is_null()) spec.member("outputs").member(name).set("early_available", early);
        }
    }
}

void stringify_numbers(Json& object) {
    for (Json::Member& member : object.mutable_members())
        if (member.value.is_integer()) member.value = member.value.scalar_text();
}

void complete_command(Json& spec) {
    if (!spec["resources"].is_object()) spec.set("resources", Json::object());
    if (!spec["resources"].has("instance_count")) spec.member("resources").set("instance_count", 1);
}

bool has_program(std::string_view type) {
    constexpr std::array<std::string_view, 4> kTypes = {"command", "parallel", "spark", "data_transfer"};
    return std::ranges::find(kTypes, type) != kTypes.end();
}

// What the steps are, by name: their wiring may be written in several ways, their components may not.
Json steps_of(const Json& spec) {
    Json steps = Json::object();
    for (const Json::Member& job : spec["jobs"].members()) steps.set(job.key, job.value["componentId"]);
    std::ranges::sort(steps.mutable_members(), {}, &Json::Member::key);
    return steps;
}

std::string_view bare_id(std::string_view id) {
    if (id.starts_with(kScheme) && !id.starts_with("azureml://")) id.remove_prefix(kScheme.size());
    return id;
}

}  // namespace

Result<Json> complete_component(const Json& sent, const ComponentPlace& place, const FindComponent& find) {
    if (!sent.is_object())
        return fail(ErrorCode::InvalidArgument, "properties.componentSpec must be an object");
    Json spec = without_nulls(sent);
    const std::string type = spec["type"].string();
    if (type.empty())
        return fail(ErrorCode::InvalidArgument,
                    "properties.componentSpec.type is missing; write command, pipeline, parallel or spark");
    for (const char* ports : {"inputs", "outputs", "jobs"})
        if (spec.has(ports) && !spec[ports].is_object())
            return fail(ErrorCode::InvalidArgument,
                        std::string("properties.componentSpec.") + ports + " must be an object");
    if (!spec["name"].is_string()) spec.set("name", place.name);
    if (!spec.has("version") || !place.anonymous) spec.set("version", place.version);
    complete_inputs(spec);
    if (spec["environment"].is_string())
        spec.set("environment", to_registry_reference(spec["environment"].text()));
    if (spec["task"]["environment"].is_string())
        spec.member("task").set("environment", to_registry_reference(spec["task"]["environment"].text()));
    if (spec["distribution"].is_object()) stringify_numbers(spec.member("distribution"));
    if (type == "command") complete_command(spec);
    if (type == "parallel") spec.remove("resources");
    if (type == "spark") {
        remove_modes(spec, "inputs");
        remove_modes(spec, "outputs");
    }
    if (has_program(type) && !spec.has("is_deterministic")) spec.set("is_deterministic", true);
    if (type == "pipeline") {
        if (!spec.has("is_deterministic")) spec.set("is_deterministic", false);
        shorten_default_computes(spec);
        take_early_outputs(spec, find);
    }
    return spec;
}

std::optional<std::string> changed_component_field(const Json& stored, const Json& wanted) {
    for (const char* field : {"type", "command", "args", "entry"})
        if (!(stored[field] == wanted[field])) return field;
    const auto same = [&](const Json& a, const Json& b) { return bare_id(a.text()) == bare_id(b.text()); };
    if (!same(stored["code"], wanted["code"])) return "code";
    if (!same(stored["task"]["code"], wanted["task"]["code"])) return "task.code";
    if (!(stored["task"]["entry_script"] == wanted["task"]["entry_script"])) return "task.entry_script";
    if (!(steps_of(stored) == steps_of(wanted))) return "jobs";
    return std::nullopt;
}

std::vector<SpecReference> code_references(const Json& spec) {
    std::vector<SpecReference> found;
    if (const std::string id = spec["code"].string(); !id.empty())
        found.push_back({"componentSpec.code", id});
    if (const std::string id = spec["task"]["code"].string(); !id.empty())
        found.push_back({"componentSpec.task.code", id});
    return found;
}

}  // namespace lavant::api
