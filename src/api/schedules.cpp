#include "api/schedules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/asset_view.h"
#include "api/schedule_trigger.h"
#include "wire/arm_job.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::string_view kTriggerTime = "${{creation_context.trigger_time}}";

void default_member(Json& object, std::string_view key, Json value) {
    if (object[key].is_null()) object.set(key, std::move(value));
}

// What the service says of a job that it would make.
void complete_definition(Json& definition) {
    // Tags without a value stay: clients compare them with what they sent.
    const Json tags = definition["tags"];
    const Json own = definition["properties"];
    definition = wire::normalised_job(std::move(definition));
    if (tags.is_object()) definition.set("tags", tags);
    if (own.is_object()) definition.set("properties", own);
    default_member(definition, "status", "NotStarted");
}

void check_action(const Json& action, std::vector<FieldProblem>& problems) {
    const auto add = [&](const char* place, std::string message) {
        problems.push_back({std::string("properties.action") + place, std::move(message), 0, 0});
    };
    if (!action.is_object()) return add("", "is missing; say which job is made");
    constexpr std::array<std::string_view, 4> kTypes = {"CreateJob", "CreateMonitor", "ImportData",
                                                        "InvokeBatchEndpoint"};
    const std::string_view type = action["actionType"].text();
    if (std::ranges::find(kTypes, type) == kTypes.end())
        return add(".actionType", "must be CreateJob, CreateMonitor, ImportData or InvokeBatchEndpoint");
    if (type != "CreateJob") return;
    const Json& definition = action["jobDefinition"];
    if (!definition.is_object()) return add(".jobDefinition", "must be an object");
    if (!definition["jobType"].is_string())
        add(".jobDefinition.jobType", "is missing; as Pipeline or Command");
    for (const char* map : {"inputs", "outputs", "jobs", "tags", "properties"})
        if (!definition[map].is_null() && !definition[map].is_object())
            add((".jobDefinition." + std::string(map)).c_str(), "must be an object");
}

}  // namespace

Result<ScheduleBody> read_schedule(std::string_view body) {
    LAVANT_TRY(Json whole, wire::parse_json(body));
    ScheduleBody schedule;
    schedule.properties = whole["properties"];
    Json& properties = schedule.properties;
    if (!properties.is_object())
        return fail(ErrorCode::InvalidArgument, "the body has no `properties` object");
    std::vector<FieldProblem> problems;
    for (const char* map : {"tags", "properties"})
        if (!properties[map].is_null() && !properties[map].is_object())
            problems.push_back({std::string("properties.") + map, "must be an object", 0, 0});
    if (!properties["isEnabled"].is_null() && !properties["isEnabled"].is_boolean())
        problems.push_back({"properties.isEnabled", "must be true or false", 0, 0});
    schedule.enabled = properties["isEnabled"].boolean(true);
    Json trigger = complete_trigger(properties["trigger"], problems);
    check_action(properties["action"], problems);
    if (body.size() > kAssetBytes)
        problems.push_back({"properties",
                            "has more than " + std::to_string(kAssetBytes >> 10) +
                                " KiB; make a component of the steps and name that",
                            0, 0});
    if (!problems.empty())
        return fail(
            Error{ErrorCode::InvalidArgument, "the schedule cannot be kept as it is", std::move(problems)});
    properties.set("trigger", std::move(trigger));
    for (const char* ours : {"isEnabled", "provisioningState", "provisioningStatus"}) properties.remove(ours);
    std::erase_if(properties.mutable_members(), [](const Json::Member& one) { return one.value.is_null(); });
    return schedule;
}

Result<Json> schedule_view(const WorkspaceName& workspace, const Asset& asset) {
    LAVANT_TRY(Json properties, wire::parse_json(asset.body));
    default_member(properties, "tags", Json::object());
    default_member(properties, "properties", Json::object());
    if (properties["action"]["jobDefinition"].is_object())
        complete_definition(properties.member("action").member("jobDefinition"));
    properties.set("isEnabled", !asset.archived);
    properties.set("provisioningState", "Succeeded");
    properties.set("provisioningStatus", "Completed");
    return Json::object({{"id", arm_id(workspace) + "/schedules/" + asset.key.name},
                         {"name", asset.key.name},
                         {"type", "Microsoft.MachineLearningServices/workspaces/schedules"},
                         {"systemData", Json::object({{"createdAt", to_rfc3339(asset.created_at)},
                                                      {"createdBy", asset.created_by},
                                                      {"createdByType", "User"},
                                                      {"lastModifiedAt", to_rfc3339(asset.modified_at)}})},
                         {"properties", std::move(properties)}});
}

Json job_of_schedule(Json definition, const std::string& schedule, Instant at) {
    for (const char* gone : {"status", "sourceJobId"}) definition.remove(gone);
    if (definition["experimentName"].text().empty()) definition.remove("experimentName");
    if (definition["inputs"].is_object())
        for (Json::Member& input : definition.member("inputs").mutable_members())
            if (input.value["value"].text() == kTriggerTime) input.value.set("value", to_rfc3339(at));
    if (!definition["properties"].is_object()) definition.set("properties", Json::object());
    definition.member("properties").set("azureml.scheduleName", schedule);
    return Json::object({{"properties", std::move(definition)}});
}

}  // namespace lavant::api
