#pragma once
// A compute as it travels in ARM JSON, read on the server. (The CLI's direction is compute_to_arm.h.)
//
// What is stored of a compute is one document, {"location","tags","identity","properties"}: what the client
// sent, without secrets and without what only a server can say, with every default filled in.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "core/model/compute.h"
#include "core/model/quota.h"
#include "wire/json.h"

namespace lavant::wire {

inline constexpr std::size_t kComputeDocumentBytes = 256U << 10;

struct ArmCompute {
    ComputeKind kind = ComputeKind::Cluster;
    Json document;  // what to store
    std::string location;
    // of clusters and instances
    std::string size;    // as the catalogue spells it
    std::string subnet;  // an ARM id in lower case; "" none
    // of clusters
    Tier tier = Tier::Dedicated;
    int nodes_min = 0;
    int nodes_max = 1;
    Duration idle_before_release{};
    bool packed = false;
    bool running = true;  // of instances
    std::vector<std::string> warnings;
};

enum class ComputeRequest { Put, Patch };

struct ChosenSize {
    std::string name;
    std::string warning;  // where it is not quite what was asked for
};

struct ComputeAsk {
    ComputeRequest request = ComputeRequest::Put;
    std::string name;
    std::string_view body;         // the whole request body
    const Json* stored = nullptr;  // of the compute that is there; none if it is new
    // Which size a name means; an error is one sentence for whoever asked.
    std::function<Result<ChosenSize>(const std::string&)> choose_size;
};

// All problems at once, with paths like properties.properties.scaleSettings.maxNodeCount; among them every
// attempt to change what is fixed after creation. Of one that is there, what a request leaves out stays as it
// is; a PUT replaces tags, identity and description, a PATCH adds to them. AlreadyExists: the one that is
// there is of another kind.
[[nodiscard]] Result<ArmCompute> parse_arm_compute(const ComputeAsk& ask);

// What a stored document says.
[[nodiscard]] Result<ArmCompute> read_stored_compute(const Json& document);

// The same instance, started or stopped.
Json with_power(Json document, bool running);

}  // namespace lavant::wire
