#pragma once
// The computes of the workspace: as they are stored, which pool and nodes are behind them, and how they read.

#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"
#include "core/model/node.h"
#include "core/model/size.h"
#include "wire/arm_compute.h"
#include "wire/compute_answer.h"
#include "wire/json.h"

namespace lavant::api {

inline constexpr const char* kComputeKind = "computes";
inline constexpr int kComputesMost = 1'000;

struct StoredCompute {
    Asset asset;
    wire::Json document;  // wire/arm_compute.h

    const std::string& name() const { return asset.key.name; }
    // "amlcompute 'x' of ann, made 2026-01-02": who has a name that somebody else wants.
    std::string holder() const;
};

// Case does not matter, as in every ARM id.
[[nodiscard]] Result<std::optional<StoredCompute>> find_compute(Context& context,
                                                                const std::string& workspace,
                                                                const std::string& name);
// The same, or NotFound with the nearest name and those there are.
[[nodiscard]] Result<StoredCompute> load_compute(Context& context, const std::string& workspace,
                                                 const std::string& name);
// By name; all there are, as no workspace has more than kComputesMost.
[[nodiscard]] Result<std::vector<StoredCompute>> list_computes(Context& context,
                                                               const std::string& workspace);
// What is said of a name that no compute has.
std::string explain_no_compute(Context& context, const std::string& workspace, const std::string& name);

std::string compute_arm_id(const WorkspaceName& workspace, const std::string& name);

// What of a pool its size decides.
void set_size_terms(Pool& pool, const Size& size, Tier tier);

struct PlannedCompute {
    Pool pool;
    std::string warning;  // what the machine lacks
};
// The pool of a cluster or an instance. An attached machine has none of its own; its pool is without nodes
// and says where locks are looked for.
[[nodiscard]] Result<PlannedCompute> plan_compute_pool(Context& context, const Call& call,
                                                       const std::string& name,
                                                       const wire::ArmCompute& compute);

// --- nodes ---

const char* azure_word(NodeState state);  // idle, running, preparing, leaving, unusable, preempted
struct ComputeNodes {
    std::vector<Pool> pools;  // of one workspace
    std::vector<Node> nodes;

    const Pool* pool_of(const std::string& compute) const;
    wire::NodeCounts counts_of(const std::string& compute) const;
};
[[nodiscard]] Result<ComputeNodes> load_compute_nodes(Context& context, const std::string& workspace);
// Of the pool that a compute has now, whatever the case of its name; 0: it has none. Read before the compute
// itself, it lets the plane refuse a change that was made from what somebody else has changed since.
[[nodiscard]] Result<std::int64_t> load_pool_version(Context& context, const std::string& workspace,
                                                     const std::string& compute);

}  // namespace lavant::api
