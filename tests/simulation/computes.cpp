// A cluster that is made, resized and deleted; quotas that change; locks; evictions. And what must hold of
// them.

#include <algorithm>

#include "core/quota/quota_book.h"
#include "tests/simulation/world.h"

namespace lavant::simulation {

using namespace std::chrono_literals;

namespace {

constexpr const char* kCluster = "/w/computes/c";
constexpr Duration kPeace = 1h;  // by then every lock is gone and every quota wide

}  // namespace

// Serverless of two sizes, serverless on nodes of low priority, and the cluster.
Pool World::pool_of(std::size_t index) const {
    const std::size_t kind = index % 5;
    if (kind == 3) return {.workspace = "w", .key = "compute/c"};
    const bool large = kind == 0;
    const bool spot = kind == 4;
    Pool pool{.workspace = "w",
              .key = large  ? "large"
                     : spot ? "spot"
                            : "small",
              .size = large ? "large" : "small",
              .node_resources = {.cpu_millis = large ? 1500 : 1000, .memory_bytes = 10},
              .nodes_max = 4,
              .idle_before_release = 2min};
    pool.terms = {.arm_id = "/w/serverless",
                  .location = "here",
                  .family = "f",
                  .tier = spot ? Tier::LowPriority : Tier::Dedicated,
                  .vcpus = large ? 2 : 1,
                  .price = 1'000'000};
    return pool;
}

void World::plan_computes() {
    put_cluster(true, 0, 3);
    for (int i = 0; i < 6; ++i) {
        after(between(1min, 50min),
              [this] { put_cluster(false, static_cast<int>(upto(2)), 2 + static_cast<int>(upto(2))); });
        after(between(1min, 50min),
              [this] { set_quota(chance(70) ? Tier::Dedicated : Tier::LowPriority, upto(8)); });
        after(between(1min, 50min), [this] { evict(); });
    }
    if (chance(40)) after(between(1min, 30min), [this] { lock_for(between(1min, 20min)); });
    after(kPeace, [this] {
        set_quota(Tier::Dedicated, 100);
        set_quota(Tier::LowPriority, 100);
        put_cluster(false, 1, 3);
    });
    // A minimum may keep a large gang from ever fitting.
    after(90min, [this] { put_cluster(false, 0, 3); });
    after(5h, [this] {
        cluster_wanted_ = false;
        delete_cluster();
    });
}

void World::put_cluster(bool is_new, int nodes_min, int nodes_max) {
    plane::PutCompute put{.asset = {}, .pool = Pool{}, .is_new = is_new};
    put.asset.key = {"w", "computes", "c", ""};
    put.pool->size = "small";
    put.pool->node_resources = {.cpu_millis = 1000, .memory_bytes = 10};
    put.pool->nodes_min = nodes_min;
    put.pool->nodes_max = nodes_max;
    put.pool->idle_before_release = 1min;
    put.pool->terms = {.arm_id = kCluster, .location = "here", .family = "f", .vcpus = 1, .price = 1'000'000};
    auto done = std::make_shared<bool>(false);
    post(put, [this, done, nodes_min, nodes_max](const Result<app::Answer>& answer) {
        if (dying_ || (!answer && answer.error().code == ErrorCode::Unavailable)) return;
        *done = true;
        if (!answer) return;
        cluster_min_ = nodes_min;
        cluster_max_ = nodes_max;
    });
    after(15s, [this, done, is_new, nodes_min, nodes_max] {
        if (!*done && cluster_wanted_) put_cluster(is_new, nodes_min, nodes_max);
    });
}

void World::delete_cluster() {
    auto gone = std::make_shared<bool>(false);
    post(plane::DeleteCompute{.workspace = "w", .name = "c", .who = "user"},
         [this, gone](const Result<app::Answer>& answer) {
             *gone = !dying_ && (answer || answer.error().code == ErrorCode::NotFound);
         });
    after(30s, [this, gone] {
        if (!*gone) delete_cluster();
    });
}

void World::set_quota(Tier tier, std::int64_t cores) {
    auto done = std::make_shared<bool>(false);
    post(plane::SetQuota{.quota = {{"here", "f", tier}, QuotaLevel::Subscription, cores}, .who = "owner"},
         [this, done](const Result<app::Answer>& answer) {
             *done = !dying_ && (answer || answer.error().code != ErrorCode::Unavailable);
         });
    after(15s, [this, done, tier, cores] {
        if (!*done) set_quota(tier, cores);
    });
}

void World::lock_for(Duration length) {
    const std::string scope = chance(50) ? "/w" : kCluster;
    post(plane::PutLock{.lock = {.scope = scope, .name = "l"}});
    const auto unlock = std::make_shared<std::function<void()>>();
    *unlock = [this, scope, weak = std::weak_ptr(unlock)] {
        auto done = std::make_shared<bool>(false);
        post(plane::DeleteLock{.scope = scope, .name = "l", .who = "owner"},
             [this, done](const Result<app::Answer>& answer) {
                 *done = !dying_ && (answer || answer.error().code == ErrorCode::NotFound);
             });
        after(15s, [done, again = weak.lock()] {
            if (!*done) (*again)();
        });
    };
    after(length, [unlock] { (*unlock)(); });
}

void World::evict() {
    if (!server_is_up()) return;
    post(plane::EvictNode{
        .workspace = "w", .compute = chance(50) ? "c" : "serverless", .node = {}, .who = "drill"});
}

// Work of low priority makes room; dedicated work does not.
void World::check_node_event(const HistoryEvent& event) {
    if (event.what != "Draining" || !event.detail.starts_with("makes room")) return;
    const LiveRows rows = loop_->plane().rows();
    for (const Node& node : rows.nodes) {
        if (to_string(node.id) != event.subject) continue;
        const auto pool =
            std::ranges::find_if(rows.pools, [&](const Pool& one) { return one.id == node.pool; });
        const bool dedicated = pool->terms.tier == Tier::Dedicated;
        for (const Task& task : rows.tasks)
            if (dedicated && task.node == node.id && task.phase < TaskPhase::Ended)
                fail("a dedicated node was preempted: " + event.subject);
    }
}

void World::check_computes(const LiveRows& live) {
    QuotaBook book;
    for (const Quota& quota : live.quotas) book.set(quota);
    for (const auto& [key, cores] : usage_of(live.pools, live.nodes))
        if (cores > book.limit(key)) fail("more cores of " + key.family + " are in use than its quota");
    std::map<PoolId, std::size_t> nodes;
    for (const Node& node : live.nodes) ++nodes[node.pool];
    for (const Pool& pool : live.pools) {
        const bool grew = nodes[pool.id] > nodes_seen_[pool.id];
        const bool same = version_seen_[pool.id] == pool.version;  // otherwise its maximum was another
        if (grew && same && std::cmp_greater(nodes[pool.id], pool.nodes_max))
            fail("a pool is above its maximum");
        version_seen_[pool.id] = pool.version;
    }
    nodes_seen_ = nodes;
    // A gang is placed as a whole, and each of its ranks once.
    std::map<JobId, int> ranks;
    for (const Task& task : live.tasks) ++ranks[task.ref.job];
    for (const JobHead& head : live.jobs) {
        const int expected = head.status == JobStatus::Queued ? 0 : head.instances * head.demand.processes;
        if (ranks[head.id] != expected) fail("a part of the gang of " + head.name + " is placed");
    }
    // In peace a cluster has its minimum, but for what has just changed.
    if (nemeses_on_ || now_ < born_ + 70min || now_ > born_ + 90min) return;
    Resources promised;
    for (const Pool& pool : live.pools)
        for (std::size_t i = 0; i <= nodes[pool.id]; ++i)
            if (i < nodes[pool.id] || pool.key == "compute/c") promised += pool.node_resources;
    const bool room = promised.fits_in({.cpu_millis = 5000, .memory_bytes = 50});
    for (const Pool& pool : live.pools)
        if (room && pool.key == "compute/c" && std::cmp_less(nodes[pool.id], pool.nodes_min) &&
            live.jobs.empty())
            fail("the cluster is below its minimum");
}

}  // namespace lavant::simulation
