// The power goes at every sync in turn: what was acknowledged is there afterwards, and nothing is half there.

#include <gtest/gtest.h>

#include "adapters/memory/memory_store.h"
#include "adapters/sql/sqlite_store.h"
#include "tests/support/lossy_vfs.h"
#include "tests/support/random_batches.h"
#include "tests/support/temporary_folder.h"

namespace lavant::test {
namespace {

using adapters::MemoryStore;
using adapters::SqliteStore;

constexpr int kBatches = 50;

std::vector<WriteBatch> script() {
    RandomBatches random(11);
    std::vector<WriteBatch> batches;
    while (batches.size() < kBatches)
        if (WriteBatch batch = random.next(); !batch.empty()) batches.push_back(std::move(batch));
    return batches;
}

// The rows after the first 0, 1, 2, ... batches.
std::vector<LiveRows> states_of(const std::vector<WriteBatch>& batches) {
    MemoryStore model;
    std::vector<LiveRows> states = {*model.load_live()};
    for (const WriteBatch& batch : batches) {
        EXPECT_TRUE(model.commit(batch));
        states.push_back(*model.load_live());
    }
    return states;
}

class PowerCut : public testing::Test {
 protected:
    // Commits the batches from `first` on until one fails; answers how many were acknowledged in all. Reopens
    // in between, so that checkpoints, a closed log and a new one are cut as well.
    std::size_t run(LossyVfs& vfs, const std::string& path, std::size_t first) {
        std::size_t acknowledged = first;
        while (acknowledged < batches_.size()) {
            auto store = SqliteStore::open(path, vfs.name());
            if (!store) return acknowledged;
            for (int i = 0; i < 20 && acknowledged < batches_.size(); ++i, ++acknowledged)
                if (!(*store)->commit(batches_[acknowledged])) return acknowledged;
        }
        return acknowledged;
    }
    // Cuts at sync `n`, looks at what is left, and goes on from there to the end.
    void cut_and_go_on(int n, std::uint64_t seed) {
        SCOPED_TRACE("cut at sync " + std::to_string(n) + ", seed " + std::to_string(seed));
        TemporaryFolder folder(TemporaryFolder::On::Memory);
        LossyVfs vfs;
        vfs.cut_at_sync(n);
        const std::size_t acknowledged = run(vfs, folder / "lavant.db", 0);
        vfs.power_cut(seed);
        std::size_t found = states_.size();
        {
            const auto store = SqliteStore::open(folder / "lavant.db", vfs.name());
            ASSERT_TRUE(store) << store.error().message;
            const auto rows = (*store)->load_live();
            ASSERT_TRUE(rows) << rows.error().message;
            for (std::size_t i = acknowledged; i <= std::min(acknowledged + 1, batches_.size()); ++i)
                if (found == states_.size() && *rows == states_[i]) found = i;
        }
        ASSERT_LT(found, states_.size()) << acknowledged << " batches were acknowledged";
        ASSERT_EQ(run(vfs, folder / "lavant.db", found), batches_.size());
        EXPECT_EQ(*(*SqliteStore::open(folder / "lavant.db"))->load_live(), states_.back());
    }
    int syncs_of_a_whole_run() {
        TemporaryFolder folder(TemporaryFolder::On::Memory);
        LossyVfs vfs;
        EXPECT_EQ(run(vfs, folder / "lavant.db", 0), batches_.size());
        return vfs.syncs();
    }

    const std::vector<WriteBatch> batches_ = script();
    const std::vector<LiveRows> states_ = states_of(batches_);
};

TEST_F(PowerCut, AtAnySyncLosesNothingAcknowledged) {
    const int syncs = syncs_of_a_whole_run();
    ASSERT_GE(syncs, kBatches);
    for (int n = 1; n <= syncs && !HasFailure(); ++n) cut_and_go_on(n, 0);
}

TEST_F(PowerCut, ThatLeavesSomeOfTheLaterSectorsLosesNothingEither) {
    const int syncs = syncs_of_a_whole_run();
    for (int n = 1; n <= syncs && !HasFailure(); ++n) cut_and_go_on(n, static_cast<std::uint64_t>(n) * 7 + 1);
}

// The tool itself: were a commit acknowledged before it is synced, the tests above would notice.
TEST_F(PowerCut, OnADiskThatLiesAboutSyncsLosesWhatWasAcknowledged) {
    TemporaryFolder folder(TemporaryFolder::On::Memory);
    LossyVfs vfs;
    const std::string path = folder / "lavant.db";
    {
        auto store = SqliteStore::open(path, vfs.name());
        ASSERT_TRUE(store);
        ASSERT_TRUE((*store)->commit(batches_[0]));
        ASSERT_TRUE((*store)->commit(batches_[1]));
        vfs.lie_about_syncs();
        ASSERT_TRUE((*store)->commit(batches_[2]));
        vfs.cut_at_sync(1);
        EXPECT_FALSE((*store)->commit(batches_[3]));
        EXPECT_TRUE(vfs.is_cut());
    }
    vfs.power_cut();
    const auto rows = (*SqliteStore::open(path, vfs.name()))->load_live();
    EXPECT_EQ(*rows, states_[2]);
    EXPECT_NE(*rows, states_[3]);
}

}  // namespace
}  // namespace lavant::test
