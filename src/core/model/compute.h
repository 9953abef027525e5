#pragma once
// Computes: what kinds there are, what they may be called, and the numbers that a cluster may have. The rules
// are here, each with its own sentence, because a file, a request and the command line are held to the same
// ones.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lavant {

enum class ComputeKind {
    Cluster,
    Instance,
    VirtualMachine,
    Kubernetes,
    SynapseSpark,
    Aks,
    DataFactory,
    HdInsight,
    Databricks,
    DataLakeAnalytics,
};
inline constexpr std::array kEveryComputeKind = {ComputeKind::Cluster,        ComputeKind::Instance,
                                                 ComputeKind::VirtualMachine, ComputeKind::Kubernetes,
                                                 ComputeKind::SynapseSpark,   ComputeKind::Aks,
                                                 ComputeKind::DataFactory,    ComputeKind::HdInsight,
                                                 ComputeKind::Databricks,     ComputeKind::DataLakeAnalytics};

std::string_view name_of(ComputeKind kind);                            // "amlcompute", as files have it
std::string_view arm_name_of(ComputeKind kind);                        // "AmlCompute"
std::optional<ComputeKind> parse_compute_kind(std::string_view name);  // either, whatever its case
// A machine of somebody else's that the workspace knows of: a record, no nodes of ours.
inline bool is_attached(ComputeKind kind) {
    return kind != ComputeKind::Cluster && kind != ComputeKind::Instance;
}

inline constexpr std::size_t kComputeNameCharsLeast = 3;
inline constexpr std::size_t kComputeNameCharsMost = 24;
inline constexpr std::size_t kAttachedNameCharsMost = 255;

// One sentence for each rule that `name` breaks; none if it can be used. Attached machines keep the name they
// have elsewhere, so of them only what a path can hold is asked.
std::vector<std::string> check_compute_name(ComputeKind kind, std::string_view name);
// "local" and "serverless": not a compute of that name, but none.
bool is_no_compute(std::string_view name);

inline constexpr int kClusterNodesMost = 1'000;
inline constexpr int kDefaultNodesMin = 0;
inline constexpr int kDefaultNodesMax = 4;
inline constexpr std::int64_t kDefaultIdleSeconds = 120;
inline constexpr std::int64_t kIdleSecondsMost = 30LL * 24 * 3600;

struct Scale {
    std::optional<std::int64_t> nodes_min;
    std::optional<std::int64_t> nodes_max;
    std::optional<std::int64_t> idle_seconds;
};
struct ScaleProblem {
    enum class Of { Min, Max, Idle };
    Of of = Of::Min;
    std::string message;
};
// What is not given is not judged.
std::vector<ScaleProblem> check_scale(const Scale& scale);

}  // namespace lavant
