#include "wire/compute_answer.h"

#include <utility>

#include "core/model/compute.h"

namespace lavant::wire {
namespace {

void add_cluster_facts(Json& inner, const ComputeFacts& facts) {
    const NodeCounts& nodes = facts.nodes;
    inner.set("nodeStateCounts", Json::object({{"idleNodeCount", nodes.idle},
                                               {"runningNodeCount", nodes.running},
                                               {"preparingNodeCount", nodes.preparing},
                                               {"unusableNodeCount", nodes.unusable},
                                               {"leavingNodeCount", nodes.leaving},
                                               {"preemptedNodeCount", nodes.preempted}}));
    inner.set("currentNodeCount", nodes.current());
    inner.set("targetNodeCount", nodes.target());
    inner.set("allocationState", nodes.current() == nodes.target() ? "Steady" : "Resizing");
    Json errors = Json::array();
    if (!facts.not_growing.empty())
        errors.append(Json::object(
            {{"error", Json::object({{"code", "ClusterNotGrowing"}, {"message", facts.not_growing}})}}));
    inner.set("errors", std::move(errors));
}

Json own_part(const Json& kept, const ComputeFacts& facts) {
    Json warnings = Json::array();
    for (const Json& warning : kept["warnings"].items()) warnings.append(warning);
    for (const std::string& warning : facts.warnings) warnings.append(warning);
    Json own = Json::object();
    if (warnings.size() > 0) own.set("warnings", std::move(warnings));
    if (!facts.not_growing.empty()) own.set("notGrowing", facts.not_growing);
    return own;
}

}  // namespace

Json to_arm_answer(const Json& document, const ComputeFacts& facts) {
    Json properties = document["properties"];
    const auto kind = parse_compute_kind(properties["computeType"].text());
    if (kind == ComputeKind::Cluster) add_cluster_facts(properties.member("properties"), facts);
    properties.set("computeLocation", document["location"]);
    properties.set("provisioningState", "Succeeded");
    properties.set("provisioningErrors", nullptr);
    properties.set("createdOn", to_rfc3339(facts.created_at));
    properties.set("modifiedOn", to_rfc3339(facts.modified_at));
    properties.set("isAttachedCompute", kind && is_attached(*kind));
    if (Json own = own_part(document["lavant"], facts); own.size() > 0)
        properties.set("lavant", std::move(own));
    Json answer =
        Json::object({{"id", facts.id},
                      {"name", facts.name},
                      {"type", "Microsoft.MachineLearningServices/workspaces/computes"},
                      {"location", document["location"]},
                      {"tags", document["tags"]},
                      {"systemData", Json::object({{"createdAt", to_rfc3339(facts.created_at)},
                                                   {"createdBy", facts.created_by},
                                                   {"createdByType", "User"},
                                                   {"lastModifiedAt", to_rfc3339(facts.modified_at)}})}});
    if (document.has("identity")) answer.set("identity", document["identity"]);
    answer.set("properties", std::move(properties));
    return answer;
}

}  // namespace lavant::wire
