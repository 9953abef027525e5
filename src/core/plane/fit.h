#pragma once
// Sizes on a machine that is smaller than they are: a size is a limit, and a machine can promise no more than
// it has.

#include <string>

#include "core/model/node.h"
#include "core/model/size.h"

namespace lavant::plane {

struct Fitted {
    Resources resources;  // what one node is promised
    std::string warning;  // what it lacks, for the job; empty if nothing
};

// `instances` nodes of this size at once on a machine with `capacity` for all nodes together.
Fitted fit_to_machine(const Size& size, int instances, const Resources& capacity);

struct FittedCluster {
    Resources node_resources;  // what one node costs, with all of them there
    Resources node_limit;      // what one may use while others leave it
    std::string warning;       // what it lacks, for whoever makes the cluster; empty if nothing
};

// A cluster that may grow to `nodes_max` nodes of this size. All of them fit the machine at once, except for
// GPUs: a node that is to have one has one, and others wait.
FittedCluster fit_cluster(const Size& size, int nodes_min, int nodes_max, const Resources& capacity);

// What a node of this pool may use at most.
inline const Resources& node_limit_of(const Pool& pool) {
    return pool.terms.node_limit == Resources{} ? pool.node_resources : pool.terms.node_limit;
}

}  // namespace lavant::plane
