#include "core/quota/quota_book.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace lavant {
namespace {

const QuotaKey kFamily{.location = "local", .family = "standardDSv2Family", .tier = Tier::Dedicated};
const QuotaKey kFamilySpot{.location = "local", .family = "standardDSv2Family", .tier = Tier::LowPriority};
const QuotaKey kTotal{.location = "local", .family = "", .tier = Tier::Dedicated};
const QuotaKey kTotalSpot{.location = "local", .family = "", .tier = Tier::LowPriority};

constexpr QuotaDefaults kDefaults{
    .family_cores = 10, .low_priority_family_cores = 20, .total_cores = 30, .low_priority_total_cores = 40};

Pool a_pool(std::int64_t id, std::string compute, int nodes_max, int vcpus) {
    Pool pool;
    pool.id = PoolId{id};
    pool.nodes_max = nodes_max;
    pool.terms.compute = std::move(compute);
    pool.terms.location = kFamily.location;
    pool.terms.family = kFamily.family;
    pool.terms.vcpus = vcpus;
    return pool;
}

Node a_node(std::int64_t id, std::int64_t pool, NodeState state) {
    Node node;
    node.id = NodeId{id};
    node.pool = PoolId{pool};
    node.state = state;
    return node;
}

TEST(QuotaBook, HasADefaultOfEachKind) {
    const QuotaBook book(kDefaults);
    EXPECT_EQ(book.limit(kFamily), 10);
    EXPECT_EQ(book.limit(kFamilySpot), 20);
    EXPECT_EQ(book.limit(kTotal), 30);
    EXPECT_EQ(book.limit(kTotalSpot), 40);
    EXPECT_EQ(QuotaBook().limit(kFamily), 1000);
    EXPECT_EQ(QuotaBook().limit(kTotal), 10000);
}

TEST(QuotaBook, LeavesTheWorkspaceUnlimitedUntilSomebodySetsIt) {
    QuotaBook book(kDefaults);
    EXPECT_EQ(book.limit(kFamily, QuotaLevel::Workspace), kUnlimitedCores);
    EXPECT_EQ(book.find(kFamily, QuotaLevel::Workspace), std::nullopt);
    book.set({kFamily, QuotaLevel::Workspace, 4});
    EXPECT_EQ(book.limit(kFamily, QuotaLevel::Workspace), 4);
    EXPECT_EQ(book.find(kFamily, QuotaLevel::Workspace), 4);
}

TEST(QuotaBook, LetsTheSmallerLevelCount) {
    QuotaBook book(kDefaults);
    book.set({kFamily, QuotaLevel::Workspace, 4});
    EXPECT_EQ(book.limit(kFamily), 4);
    EXPECT_EQ(book.limit(kFamily, QuotaLevel::Subscription), 10);
    book.set({kFamily, QuotaLevel::Workspace, 400});
    EXPECT_EQ(book.limit(kFamily), 10);
    book.set({kFamily, QuotaLevel::Subscription, 0});
    EXPECT_EQ(book.limit(kFamily), 0);
}

TEST(QuotaBook, KeepsTiersLocationsAndTotalsApart) {
    QuotaBook book(kDefaults);
    book.set({kFamily, QuotaLevel::Subscription, 1});
    EXPECT_EQ(book.limit(kFamilySpot), 20);
    EXPECT_EQ(book.limit(kTotal), 30);
    QuotaKey elsewhere = kFamily;
    elsewhere.location = "westeurope";
    EXPECT_EQ(book.limit(elsewhere), 10);
}

TEST(QuotaBook, DoesNotLimitTheMachineItself) {
    QuotaBook book(kDefaults);
    const QuotaKey local{.location = "local", .family = std::string(kLocalFamily), .tier = Tier::Dedicated};
    book.set({local, QuotaLevel::Subscription, 1});
    EXPECT_EQ(book.limit(local), kUnlimitedCores);
}

TEST(CoresHeld, CountsWhatAComputeMayGrowTo) {
    EXPECT_EQ(cores_held(a_pool(1, "cpu", 4, 8), 0), 32);
    EXPECT_EQ(cores_held(a_pool(1, "cpu", 4, 8), 3), 32);
}

TEST(CoresHeld, CountsTheNodesThatAShrunkComputeStillHas) {
    EXPECT_EQ(cores_held(a_pool(1, "cpu", 2, 8), 3), 24);
}

TEST(CoresHeld, CountsWhatIsStillThereOfADeletedCompute) {
    Pool pool = a_pool(1, "cpu", 4, 8);
    pool.leaving = true;
    EXPECT_EQ(cores_held(pool, 1), 8);
    EXPECT_EQ(cores_held(pool, 0), 0);
}

TEST(CoresHeld, CountsTheNodesOfAServerlessPool) {
    EXPECT_EQ(cores_held(a_pool(1, "", 100, 4), 0), 0);
    EXPECT_EQ(cores_held(a_pool(1, "", 100, 4), 3), 12);
}

TEST(CoresHeld, DoesNotOverflow) {
    constexpr int kMany = std::numeric_limits<int>::max();
    EXPECT_EQ(cores_held(a_pool(1, "cpu", kMany, kMany), 0), std::int64_t{kMany} * kMany);
}

TEST(UsageOf, SharesFamilyAndTotalAmongComputesAndServerless) {
    const std::vector<Pool> pools{a_pool(1, "cpu", 2, 4), a_pool(2, "", 100, 4)};
    const std::vector<Node> nodes{a_node(1, 1, NodeState::Busy),     a_node(2, 2, NodeState::Starting),
                                  a_node(3, 2, NodeState::Draining), a_node(4, 2, NodeState::Released),
                                  a_node(5, 2, NodeState::Lost),     a_node(6, 2, NodeState::Preempted)};
    EXPECT_EQ(usage_of(pools, nodes), (QuotaUsage{{kFamily, 16}, {kTotal, 16}}));
}

TEST(UsageOf, CountsLowPriorityApart) {
    Pool spot = a_pool(2, "spot", 1, 6);
    spot.terms.tier = Tier::LowPriority;
    EXPECT_EQ(usage_of({a_pool(1, "cpu", 1, 4), spot}, {}),
              (QuotaUsage{{kFamily, 4}, {kFamilySpot, 6}, {kTotal, 4}, {kTotalSpot, 6}}));
}

TEST(UsageOf, AddsTheFamiliesOfARegionUp) {
    Pool other = a_pool(2, "gpu", 1, 6);
    other.terms.family = "standardNCFamily";
    const QuotaUsage usage = usage_of({a_pool(1, "cpu", 1, 4), other}, {});
    EXPECT_EQ(usage.at(kTotal), 10);
    EXPECT_EQ(usage.at(kFamily), 4);
}

TEST(UsageOf, LeavesTheMachineItselfOutOfTheTotal) {
    Pool local = a_pool(1, "here", 1, 64);
    local.terms.family = std::string(kLocalFamily);
    const QuotaUsage usage = usage_of({local}, {});
    EXPECT_FALSE(usage.contains(kTotal));
    EXPECT_EQ(usage.size(), 1U);
}

TEST(UsageOf, CountsAPoolWithoutAFamilyOnce) {
    Pool odd = a_pool(1, "odd", 1, 4);
    odd.terms.family = "";
    EXPECT_EQ(usage_of({odd}, {}), (QuotaUsage{{kTotal, 4}}));
}

TEST(UsageOf, IgnoresNodesOfNoPool) { EXPECT_TRUE(usage_of({}, {a_node(1, 9, NodeState::Busy)}).empty()); }

}  // namespace
}  // namespace lavant
