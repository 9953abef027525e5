#pragma once
// What one batch of the control loop writes, and what it reads when it starts.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/asset.h"
#include "core/model/effect.h"
#include "core/model/job.h"
#include "core/model/lineage.h"
#include "core/model/lock.h"
#include "core/model/node.h"
#include "core/model/quota.h"
#include "core/model/usage.h"

namespace lavant {

// One line of history. Never replayed to obtain state.
struct HistoryEvent {
    std::int64_t sequence = 0;  // without gaps; the oldest are removed
    Instant at{};
    std::string workspace;
    std::string kind;     // "job" or "node"
    std::string subject;  // the job's name, "node-3"
    JobId job;            // for kind "job"
    std::string what;     // "Queued", "Running", ...
    std::string detail;   // node, reason
    bool operator==(const HistoryEvent&) const = default;
};

struct JobMetaWrite {
    JobId job;
    JobMeta meta;
    std::optional<std::string> properties = {};  // of the body, if they change too
};

struct JobRemoval {
    JobId job;
    std::int64_t version = 0;  // that is stored
    bool operator==(const JobRemoval&) const = default;
};

struct WriteBatch {
    std::vector<Job> jobs_added;
    std::vector<JobHead> jobs_changed;  // guarded: the stored version is one less
    std::vector<JobMetaWrite> metas_changed;
    std::vector<JobRemoval> jobs_removed;  // after the rest, with their tasks; their history stays
    std::vector<Task> tasks;               // version 1 inserts, above updates
    std::vector<Node> nodes;
    std::vector<NodeId> nodes_removed;  // after the rest; those that are not there too
    std::vector<Pool> pools;
    std::vector<PoolId> pools_removed;  // likewise
    std::vector<Quota> quotas;          // put, by key and level
    std::vector<LockWrite> locks;       // put or removed, by scope and name
    std::vector<UsageEntry> usage;      // added
    std::vector<HistoryEvent> events;
    std::vector<OutboxEntry> outbox_added;
    std::vector<std::int64_t> outbox_removed;
    std::vector<AssetWrite> assets;
    std::vector<LineageEdge> lineage;             // added; they go with their jobs
    std::vector<std::string> workspaces_removed;  // before the rest: jobs and assets of these keys

    bool empty() const {
        return jobs_added.empty() && jobs_changed.empty() && metas_changed.empty() && jobs_removed.empty() &&
               tasks.empty() && nodes.empty() && nodes_removed.empty() && pools.empty() &&
               pools_removed.empty() && quotas.empty() && locks.empty() && usage.empty() && events.empty() &&
               outbox_added.empty() && outbox_removed.empty() && assets.empty() && lineage.empty() &&
               workspaces_removed.empty();
    }
};

// Everything that has not ended, and where the counters stand.
struct LiveRows {
    std::vector<JobHead> jobs;  // not terminal
    std::vector<Task> tasks;    // of those jobs' current attempts
    std::vector<Node> nodes;    // not gone
    std::vector<Pool> pools;
    std::vector<Quota> quotas;  // by key, level
    std::vector<Lock> locks;    // by scope, name
    std::vector<OutboxEntry> outbox;
    std::int64_t last_job = 0;
    std::int64_t last_node = 0;
    std::int64_t last_pool = 0;
    std::int64_t last_outbox = 0;
    std::int64_t last_event = 0;
    bool operator==(const LiveRows&) const = default;
};

}  // namespace lavant
