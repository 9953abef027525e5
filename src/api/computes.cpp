#include "api/computes.h"

#include <algorithm>
#include <utility>

#include "api/sizes.h"
#include "base/text.h"
#include "core/model/region.h"
#include "core/plane/fit.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::size_t kNamesShown = 10;

Result<StoredCompute> read_asset(Asset asset) {
    LAVANT_TRY(Json document, wire::parse_json(asset.body));
    return StoredCompute{std::move(asset), std::move(document)};
}

Result<std::vector<Asset>> list_assets(Context& context, const std::string& workspace) {
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = kComputeKind;
    query.archived = std::nullopt;
    query.unversioned = true;
    query.limit = kComputesMost;
    return context.ports.reader.list_assets(query);
}

}  // namespace

std::string StoredCompute::holder() const {
    const auto kind = parse_compute_kind(document.get("properties.computeType").text());
    return std::string(kind ? name_of(*kind) : "compute") + " '" + name() + "' of " + asset.created_by +
           ", made " + to_rfc3339(asset.created_at).substr(0, 10);
}

Result<std::optional<StoredCompute>> find_compute(Context& context, const std::string& workspace,
                                                  const std::string& name) {
    LAVANT_TRY(auto asset, context.ports.reader.find_asset({workspace, kComputeKind, name, ""}));
    if (!asset) {
        LAVANT_TRY(auto all, list_assets(context, workspace));
        const auto found = std::ranges::find_if(
            all, [&](const Asset& one) { return equals_ignoring_case(one.key.name, name); });
        if (found == all.end()) return std::optional<StoredCompute>{};
        asset = std::move(*found);
    }
    LAVANT_TRY(StoredCompute compute, read_asset(std::move(*asset)));
    return std::optional<StoredCompute>(std::move(compute));
}

Result<StoredCompute> load_compute(Context& context, const std::string& workspace, const std::string& name) {
    LAVANT_TRY(auto found, find_compute(context, workspace, name));
    if (!found) return fail(ErrorCode::NotFound, explain_no_compute(context, workspace, name));
    return std::move(*found);
}

Result<std::vector<StoredCompute>> list_computes(Context& context, const std::string& workspace) {
    LAVANT_TRY(auto assets, list_assets(context, workspace));
    std::ranges::sort(assets, {}, [](const Asset& one) { return one.key.name; });
    std::vector<StoredCompute> computes;
    for (Asset& asset : assets) {
        LAVANT_TRY(StoredCompute compute, read_asset(std::move(asset)));
        computes.push_back(std::move(compute));
    }
    return computes;
}

std::string explain_no_compute(Context& context, const std::string& workspace, const std::string& name) {
    std::string text = "there is no compute '" + name.substr(0, kAttachedNameCharsMost) + "'";
    std::vector<std::string> names;
    if (const auto all = list_assets(context, workspace))
        for (const Asset& one : *all) names.push_back(one.key.name);
    std::ranges::sort(names);
    const auto near = nearest(name, names);
    if (near) text += "; did you mean '" + *near + "'?";
    if (names.empty()) return text + "; there is none yet: leave compute out to run serverless";
    text += near ? " There are " : "; there are ";
    for (std::size_t i = 0; i < std::min(names.size(), kNamesShown); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kNamesShown) text += " and " + std::to_string(names.size() - kNamesShown) + " more";
    return text + "; leave compute out to run serverless";
}

std::string compute_arm_id(const WorkspaceName& workspace, const std::string& name) {
    return arm_id(workspace) + "/computes/" + name;
}

void set_size_terms(Pool& pool, const Size& size, Tier tier) {
    pool.size = size.name;
    pool.terms.family = size.family;
    pool.terms.tier = tier;
    pool.terms.vcpus = static_cast<int>(size.vcpus());
    pool.terms.price = tier == Tier::LowPriority ? size.low_priority_price : size.price;
}

Result<PlannedCompute> plan_compute_pool(Context& context, const Call& call, const std::string& name,
                                         const wire::ArmCompute& compute) {
    PlannedCompute planned;
    Pool& pool = planned.pool;
    pool.workspace = call.workspace;
    pool.key = "compute/" + name;
    pool.terms.compute = name;
    pool.terms.arm_id = to_lower(compute_arm_id(workspace_of(call), name));
    pool.terms.location = compute.location;
    if (is_attached(compute.kind)) return planned;
    LAVANT_TRY(const ResolvedSize chosen, choose_size(context, compute.size));
    const Size& size = chosen.size;
    if (!size.regions.has(compute.location))
        return fail(Error{ErrorCode::InvalidArgument,
                          "compute '" + name + "' is not valid",
                          {{"location", size.name + " cannot be had in " + compute.location +
                                            "; `lavant size list --location " + compute.location +
                                            "` has those that can"}}});
    set_size_terms(pool, size, compute.tier);
    pool.terms.subnet = compute.subnet;
    pool.terms.packed = compute.packed;
    pool.nodes_min = compute.nodes_min;
    pool.nodes_max = compute.nodes_max;
    pool.idle_before_release = compute.idle_before_release;
    plane::FittedCluster fitted =
        plane::fit_cluster(size, compute.nodes_min, compute.nodes_max, context.settings.capacity);
    pool.node_resources = fitted.node_resources;
    pool.terms.node_limit = fitted.node_limit;
    planned.warning = std::move(fitted.warning);
    return planned;
}

const char* azure_word(NodeState state) {
    switch (state) {
        case NodeState::Requested:
        case NodeState::Starting:
            return "preparing";
        case NodeState::Idle:
            return "idle";
        case NodeState::Busy:
            return "running";
        case NodeState::Draining:
        case NodeState::Released:
            return "leaving";
        case NodeState::Preempted:
            return "preempted";
        case NodeState::Lost:
            break;
    }
    return "unusable";
}

const Pool* ComputeNodes::pool_of(const std::string& compute) const {
    const auto found = std::ranges::find_if(
        pools, [&](const Pool& pool) { return pool.terms.compute == compute && !pool.leaving; });
    return found == pools.end() ? nullptr : &*found;
}

wire::NodeCounts ComputeNodes::counts_of(const std::string& compute) const {
    wire::NodeCounts counts;
    const Pool* pool = pool_of(compute);
    if (pool == nullptr) return counts;
    for (const Node& node : nodes) {
        if (node.pool != pool->id) continue;
        const std::string_view word = azure_word(node.state);
        ++(word == "idle"        ? counts.idle
           : word == "running"   ? counts.running
           : word == "preparing" ? counts.preparing
           : word == "leaving"   ? counts.leaving
           : word == "preempted" ? counts.preempted
                                 : counts.unusable);
    }
    return counts;
}

Result<ComputeNodes> load_compute_nodes(Context& context, const std::string& workspace) {
    LAVANT_TRY(auto pools, context.ports.reader.list_pools());
    std::erase_if(pools, [&](const Pool& pool) { return pool.workspace != workspace; });
    LAVANT_TRY(auto nodes, context.ports.reader.list_nodes());
    return ComputeNodes{std::move(pools), std::move(nodes)};
}

Result<std::int64_t> load_pool_version(Context& context, const std::string& workspace,
                                       const std::string& compute) {
    LAVANT_TRY(const auto pools, context.ports.reader.list_pools());
    for (const Pool& pool : pools)
        if (!pool.is_serverless() && !pool.leaving && pool.workspace == workspace &&
            equals_ignoring_case(pool.terms.compute, compute))
            return pool.version;
    return 0;
}

}  // namespace lavant::api
