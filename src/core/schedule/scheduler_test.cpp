#include "core/schedule/scheduler.h"

#include "core/schedule/forecast.h"
#include "core/schedule/scheduler_world_test.h"

namespace lavant::schedule {
namespace {

TEST(Scheduler, GrowsWithDemandToTheMaximumAndNotBeyond) {
    World world;
    const PoolId pool = world.pool(2);
    std::vector<JobId> jobs;
    for (int i = 0; i < 5; ++i) jobs.push_back(world.submit(pool));
    EXPECT_EQ(world.requested.size(), 2U);
    world.start_nodes();
    EXPECT_TRUE(world.runs(jobs[0]) && world.runs(jobs[1]));
    EXPECT_EQ(world.scheduler.why_waiting(pool), Wait::Maximum);
    world.end(jobs[0]);
    EXPECT_TRUE(world.runs(jobs[2]));
    EXPECT_TRUE(world.requested.empty());
}

TEST(Scheduler, SharesAPoolBetweenItsUsers) {
    World world;
    const PoolId pool = world.pool(2);
    std::vector<JobId> anns;
    for (int i = 0; i < 6; ++i) anns.push_back(world.submit(pool, {.user = 1}));
    world.start_nodes();
    const JobId bobs = world.submit(pool, {.user = 2});
    world.end(anns[0]);
    EXPECT_TRUE(world.runs(bobs)) << "who has fewer nodes comes first";
    EXPECT_FALSE(world.runs(anns[2]));
    const JobId urgent = world.submit(pool, {.rank = -1, .user = 1});
    world.end(anns[1]);
    EXPECT_TRUE(world.runs(urgent)) << "a priority comes before a share";
}

TEST(Scheduler, DoesNotOvertakeAJobForEver) {
    World world;
    const PoolId pool = world.pool(1);
    const JobId first = world.submit(pool, {.user = 1});
    world.start_nodes();
    const JobId old = world.submit(pool, {.user = 1});
    world.now += 2h;
    const JobId young = world.submit(pool, {.user = 2});
    world.end(first);
    EXPECT_TRUE(world.runs(old));
    EXPECT_FALSE(world.runs(young));
}

TEST(Scheduler, PlacesAGangAllAtOnceOrNotAtAll) {
    World world;
    const PoolId pool = world.pool(3);
    const JobId one = world.submit(pool);
    const JobId gang = world.submit(pool, {.instances = 3});
    world.start_nodes();
    EXPECT_TRUE(world.runs(one));
    EXPECT_FALSE(world.runs(gang));
    EXPECT_EQ(world.scheduler.why_waiting(pool), Wait::Gang);
    const JobId small = world.submit(pool);
    EXPECT_FALSE(world.runs(small)) << "it might keep the gang waiting";
    world.end(one);
    EXPECT_EQ(world.placed.at(gang).size(), 3U);
}

TEST(Scheduler, BackfillsWithWhatEndsBeforeTheHeadCanStart) {
    World world;
    const PoolId pool = world.pool(3);
    const JobId long_one = world.submit(pool, {.bound = 1h});
    const JobId other = world.submit(pool, {.bound = 1h});
    world.start_nodes();
    const JobId gang = world.submit(pool, {.instances = 3});
    world.start_nodes();
    const JobId too_long = world.submit(pool, {.bound = 2h});
    const JobId fits = world.submit(pool, {.bound = 30min});
    const JobId unknown = world.submit(pool);
    EXPECT_TRUE(world.runs(fits));
    EXPECT_FALSE(world.runs(too_long) || world.runs(unknown) || world.runs(gang));
    world.end(fits);
    world.now += 40min;
    const JobId late = world.submit(pool, {.bound = 30min});
    EXPECT_FALSE(world.runs(late)) << "the gang can start in twenty minutes";
    world.end(long_one);
    world.end(other);
    EXPECT_TRUE(world.runs(gang));
}

TEST(Scheduler, BackfillsNothingWhereNobodyKnowsWhenTheHeadCanStart) {
    World world;
    const PoolId pool = world.pool(2);
    world.submit(pool);  // may run for ever
    world.start_nodes();
    const JobId gang = world.submit(pool, {.instances = 2});
    world.start_nodes();
    const JobId small = world.submit(pool, {.bound = 1s});
    EXPECT_FALSE(world.runs(gang) || world.runs(small));
}

TEST(Scheduler, PacksTasksIntoNodesThatShare) {
    World world;
    const PoolId pool = world.pool(2, Tier::Dedicated, true);
    std::vector<JobId> jobs;
    for (int i = 0; i < 9; ++i) jobs.push_back(world.submit(pool));
    EXPECT_EQ(world.requested.size(), 2U) << "four to a node, and two at most";
    world.start_nodes();
    EXPECT_EQ(world.placed.size(), 8U);
    EXPECT_FALSE(world.runs(jobs[8]));
    world.end(jobs[0]);
    EXPECT_TRUE(world.runs(jobs[8]));
    const JobId large = world.submit(pool, {.on_node = {.cpu_millis = 4000, .memory_bytes = 40}});
    EXPECT_FALSE(world.runs(large));
}

TEST(Scheduler, TakesNodesOfLowPriorityBackForDedicatedWorkOnly) {
    World world(2);
    const PoolId spot = world.pool(2, Tier::LowPriority);
    const PoolId dedicated = world.pool(2);
    const JobId old = world.submit(spot);
    const JobId young = world.submit(spot);
    world.start_nodes();
    ASSERT_TRUE(world.runs(old) && world.runs(young));
    const JobId wanting = world.submit(dedicated);
    ASSERT_EQ(world.preempted.size(), 1U);
    EXPECT_EQ(world.preempted[0], world.placed.at(young)[0]) << "the youngest has lost least";
    EXPECT_EQ(world.reason, "makes room for p2");
    world.gone();
    world.start_nodes();
    EXPECT_TRUE(world.runs(wanting) && world.runs(old));
    EXPECT_FALSE(world.runs(young));
    // Neither does low priority preempt, nor dedicated work its equals.
    world.submit(spot);
    world.submit(world.pool(1));
    EXPECT_EQ(world.preempted.size(), 1U) << "the other spot node, for the new dedicated job";
    world.gone();
    world.start_nodes();
    world.submit(world.pool(1));
    EXPECT_TRUE(world.preempted.empty());
}

TEST(Scheduler, TakesNothingBackInVain) {
    World world(2);
    const PoolId spot = world.pool(1, Tier::LowPriority);
    const PoolId dedicated = world.pool(4);
    world.submit(dedicated);
    world.submit(spot);
    world.start_nodes();
    const PoolId other = world.pool(4);
    world.submit(other, {.instances = 2});
    EXPECT_TRUE(world.preempted.empty()) << "one node more would not let the gang begin";
}

TEST(Scheduler, NeverExceedsAQuotaAndPassesCoresOn) {
    World world;
    const PoolId pool = world.pool(10);
    const PoolId other = world.pool(10);
    world.scheduler.set_quota({{"l", "f", Tier::Dedicated}, QuotaLevel::Workspace, 2});
    const JobId first = world.submit(pool);
    world.submit(pool);
    world.submit(pool);
    EXPECT_EQ(world.requested.size(), 2U);
    EXPECT_EQ(world.scheduler.cores_used({"l", "f", Tier::Dedicated}), 2);
    world.start_nodes();
    EXPECT_EQ(world.scheduler.why_waiting(pool), Wait::Quota);
    const JobId urgent = world.submit(other, {.rank = -1});
    EXPECT_EQ(world.scheduler.why_waiting(other), Wait::Quota);
    world.end(first);
    world.start_nodes();
    EXPECT_FALSE(world.runs(urgent)) << "its own pool's next job took the node that was there";
    world.scheduler.set_quota({{"l", "f", Tier::Dedicated}, QuotaLevel::Workspace, 3});
    world.decide();
    world.start_nodes();
    EXPECT_TRUE(world.runs(urgent));
}

TEST(Scheduler, GivesIdleCoresToAnotherSize) {
    World world;
    const PoolId pool = world.pool(10);
    const PoolId other = world.pool(10);
    world.scheduler.set_quota({{"l", "f", Tier::Dedicated}, QuotaLevel::Workspace, 1});
    const JobId first = world.submit(pool);
    world.start_nodes();
    world.end(first);
    const JobId second = world.submit(other);
    EXPECT_EQ(world.released.size(), 1U);
    world.gone();
    world.start_nodes();
    EXPECT_TRUE(world.runs(second));
}

TEST(Scheduler, LeavesTheCoresOfAnotherFamilyAlone) {
    World world;
    const PoolId pool = world.pool(10);
    Pool other = world.rows.at(world.pool(10));
    other.terms.family = "g";
    world.scheduler.put_pool(other);
    const JobId first = world.submit(other.id);
    const JobId second = world.submit(pool);
    world.start_nodes();
    world.end(first);
    world.scheduler.set_quota({{"l", "f", Tier::Dedicated}, QuotaLevel::Workspace, 1});
    world.submit(pool);
    EXPECT_EQ(world.scheduler.why_waiting(pool), Wait::Quota);
    EXPECT_TRUE(world.released.empty()) << "its node would not help";
    EXPECT_TRUE(world.runs(second));
}

TEST(Scheduler, LetsNodesWorkThatStayWhateverHappens) {
    World world(4);
    Pool fixed = world.rows.at(world.pool(1));
    fixed.nodes_min = 1;
    world.scheduler.put_pool(fixed);
    const PoolId busy = world.pool(2);
    world.submit(busy);
    world.submit(busy);
    world.start_nodes();
    const JobId gang = world.submit(world.pool(3), {.instances = 3});
    const JobId small = world.submit(fixed.id);
    EXPECT_FALSE(world.runs(gang));
    EXPECT_TRUE(world.runs(small)) << "its node could not have made room for the gang";
}

TEST(Scheduler, ScalesNothingUnderALock) {
    World world;
    const PoolId pool = world.pool(4);
    const JobId first = world.submit(pool);
    world.start_nodes();
    world.scheduler.set_locked(pool, true);
    const JobId second = world.submit(pool);
    EXPECT_TRUE(world.requested.empty());
    EXPECT_EQ(world.scheduler.why_waiting(pool), Wait::Lock);
    EXPECT_TRUE(world.scheduler.wants_no_fewer(pool));
    world.end(first);
    EXPECT_TRUE(world.runs(second)) << "a node that is there may be used";
    const JobId third = world.submit(pool);
    world.scheduler.set_locked(pool, false);
    world.decide();
    world.start_nodes();
    EXPECT_TRUE(world.runs(third));
}

TEST(Scheduler, KeepsItsMinimumAndShrinksToALowerMaximum) {
    World world;
    const PoolId id = world.pool(4);
    Pool row = world.rows.at(id);
    row.nodes_min = 3;
    world.scheduler.put_pool(row);
    world.decide();
    EXPECT_EQ(world.requested.size(), 3U);
    world.start_nodes();
    EXPECT_TRUE(world.scheduler.wants_no_fewer(id));
    row.nodes_min = 0;
    row.nodes_max = 1;
    world.scheduler.put_pool(row);
    world.decide();
    EXPECT_EQ(world.released.size(), 2U);
}

TEST(Scheduler, LetsNoStreamOfSmallJobsStarveALargeOne) {
    World world(4);
    const PoolId small = world.pool(100);
    const PoolId large = world.pool(4);
    std::vector<JobId> running;
    for (int i = 0; i < 4; ++i) running.push_back(world.submit(small));
    world.start_nodes();
    const JobId gang = world.submit(large, {.instances = 4});
    for (int i = 0; i < 20; ++i) world.submit(small);
    EXPECT_EQ(world.scheduler.why_waiting(small), Wait::Turn);
    for (const JobId job : running) world.end(job);
    EXPECT_EQ(world.released.size(), 4U) << "no younger job took a node";
    world.gone();
    world.start_nodes();
    EXPECT_TRUE(world.runs(gang));
}

TEST(Scheduler, LetsNobodyWaitForAGangThatCanNeverBegin) {
    World world(4);
    const PoolId fixed = world.pool(2);
    Pool row = world.rows.at(fixed);
    row.nodes_min = 2;
    world.scheduler.put_pool(row);
    world.decide();
    world.start_nodes();
    const JobId gang = world.submit(world.pool(4), {.instances = 4});
    const JobId small = world.submit(world.pool(1));
    world.start_nodes();
    EXPECT_FALSE(world.runs(gang));
    EXPECT_TRUE(world.runs(small));
}

TEST(Scheduler, GrowsOthersWhereOneOnlyWantsToGoFaster) {
    World world(3);
    const PoolId busy = world.pool(100);
    Pool large = world.rows.at(busy);
    large.node_resources = {.cpu_millis = 2000, .memory_bytes = 20};
    world.rows[busy] = large;
    world.scheduler.put_pool(large);
    for (int i = 0; i < 5; ++i) world.submit(busy);
    world.start_nodes();
    const JobId small = world.submit(world.pool(1));
    world.start_nodes();
    EXPECT_TRUE(world.runs(small)) << "there is room that the older ones cannot use";
}

TEST(Scheduler, BackfillsNothingOnNodesThatWillNotCome) {
    World world(3);
    const PoolId other = world.pool(1);
    world.submit(other);
    const PoolId pool = world.pool(10);
    const JobId first = world.submit(pool, {.instances = 2, .bound = 1h});
    world.start_nodes();
    world.end(first);
    const JobId gang = world.submit(pool, {.instances = 3});
    const JobId small = world.submit(pool);
    EXPECT_FALSE(world.runs(gang) || world.runs(small));
}

TEST(Scheduler, GivesAGangOfPartsItsOwnNodes) {
    World world;
    const PoolId pool = world.pool(4, Tier::Dedicated, true);
    const JobId gang = world.submit(pool, {.instances = 2});
    EXPECT_EQ(world.requested.size(), 2U);
    world.start_nodes();
    EXPECT_TRUE(world.runs(gang));
}

TEST(Scheduler, ReplacesIdleNodesOfAnotherCost) {
    World world(2);
    const PoolId id = world.pool(1);
    Pool row = world.rows.at(id);
    row.node_resources = {.cpu_millis = 2000, .memory_bytes = 20};
    world.rows[id] = row;
    world.scheduler.put_pool(row);
    const JobId first = world.submit(id);
    world.start_nodes();
    world.end(first);
    row.nodes_max = 2;
    row.node_resources = kNode;
    world.rows[id] = row;
    world.scheduler.put_pool(row);
    const JobId gang = world.submit(id, {.instances = 2});
    world.gone();
    world.start_nodes();
    EXPECT_TRUE(world.runs(gang));
}

TEST(Scheduler, TakesNoNodeOfALockedPool) {
    World world(1);
    const PoolId spot = world.pool(1, Tier::LowPriority);
    world.submit(spot);
    world.start_nodes();
    world.scheduler.set_locked(spot, true);
    world.submit(world.pool(1));
    EXPECT_TRUE(world.preempted.empty());
}

TEST(Scheduler, ShrinksBeforeItPlaces) {
    World world;
    const PoolId id = world.pool(2);
    const JobId first = world.submit(id);
    const JobId second = world.submit(id);
    world.start_nodes();
    Pool row = world.rows.at(id);
    row.nodes_max = 1;
    world.scheduler.put_pool(row);
    const JobId third = world.submit(id);
    world.end(first);
    EXPECT_FALSE(world.runs(third)) << "the node that came free is above the maximum";
    world.gone();
    world.end(second);
    EXPECT_TRUE(world.runs(third));
}

TEST(Forecast, TellsWhenAJobWillStart) {
    World world;
    const PoolId pool = world.pool(2);
    for (int i = 0; i < 2; ++i) world.submit(pool);
    world.start_nodes();
    for (int i = 0; i < 4; ++i) world.submit(pool);
    const JobId last = world.submit(pool);
    const auto usual = [](PoolId) { return std::optional<Duration>(10min); };
    const Forecast forecast =
        forecast_start(world.scheduler, {.pool = pool, .turn = {0, last}, .usual_length = usual}, world.now);
    EXPECT_EQ(forecast.starts_at, world.now + 30min);
    EXPECT_FALSE(forecast.at_least);
    const Forecast cut = forecast_start(
        world.scheduler, {.pool = pool, .turn = {0, last}, .usual_length = usual, .jobs_max = 2}, world.now);
    EXPECT_TRUE(cut.at_least);
    EXPECT_EQ(cut.starts_at, world.now + 10min);
}

TEST(Forecast, SaysNothingWhereNobodyKnows) {
    World world;
    const PoolId pool = world.pool(1);
    world.submit(pool);
    world.start_nodes();
    const JobId waits = world.submit(pool);
    const auto unknown = [](PoolId) { return std::optional<Duration>(); };
    const ForecastAsk ask{.pool = pool, .turn = {0, waits}, .usual_length = unknown};
    EXPECT_FALSE(forecast_start(world.scheduler, ask, world.now).starts_at);
}

TEST(Forecast, CountsTheStartOfANode) {
    World world;
    const PoolId pool = world.pool(1);
    const JobId waits = world.submit(pool);
    const auto unknown = [](PoolId) { return std::optional<Duration>(); };
    const ForecastAsk ask{.pool = pool, .turn = {0, waits}, .usual_length = unknown};
    EXPECT_EQ(forecast_start(world.scheduler, ask, world.now).starts_at,
              world.now + world.scheduler.settings().start_estimate);
}

TEST(Profile, FindsTheEarliestGapAndFillsIt) {
    const Instant now = from_micros(0);
    Profile profile(now, 1);
    profile.add_from(now + 10s, 2);
    EXPECT_EQ(profile.earliest(1, 5s), now);
    EXPECT_EQ(profile.earliest(3, 5s), now + 10s);
    EXPECT_FALSE(profile.earliest(4, 5s));
    profile.reserve(now + 10s, 3, 20s);
    EXPECT_EQ(profile.earliest(1, 10s), now);
    EXPECT_EQ(profile.earliest(1, 11s), now + 30s);
    EXPECT_EQ(profile.earliest(1, 0s), now + 30s) << "for ever";
}

}  // namespace
}  // namespace lavant::schedule
