#include "adapters/sql/copy.h"

#include <gtest/gtest.h>

#include "adapters/sql/sqlite_reader.h"
#include "adapters/sql/sqlite_store.h"
#include "base/files.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_folder.h"

namespace lavant::adapters {
namespace {

TEST(DatabaseCopy, HasWhatWasCommittedBeforeAndNothingLater) {
    const test::TemporaryFolder folder;
    auto store = SqliteStore::open(folder / "a.db");
    ASSERT_TRUE(store);
    WriteBatch batch;
    batch.jobs_added = {test::a_job(1), test::a_job(2)};
    ASSERT_TRUE((*store)->commit(batch));
    ASSERT_TRUE(copy_database(folder / "a.db", folder / "b.db"));
    batch.jobs_added = {test::a_job(3)};
    ASSERT_TRUE((*store)->commit(batch)) << "the copy holds nobody up";
    ASSERT_TRUE(check_database(folder / "b.db"));
    auto copied = SqliteStore::open(folder / "b.db");
    ASSERT_TRUE(copied) << copied.error().message;
    EXPECT_EQ((*copied)->load_live()->jobs.size(), 2U);
    EXPECT_EQ((*copied)->load_live()->last_job, 2);
    EXPECT_FALSE(copy_database(folder / "a.db", folder / "b.db")) << "nothing is written over";
    EXPECT_FALSE(copy_database(folder / "none.db", folder / "c.db"));
}

TEST(DatabaseCopy, TellsADamagedOneFromAWholeOne) {
    const test::TemporaryFolder folder;
    ASSERT_TRUE(write_file_atomically(folder / "text.db", std::string(10'000, 'x')));
    EXPECT_FALSE(check_database(folder / "text.db"));
    {
        auto store = SqliteStore::open(folder / "a.db");
        WriteBatch batch;
        for (std::int64_t id = 1; id <= 500; ++id) batch.jobs_added.push_back(test::a_job(id));
        ASSERT_TRUE((*store)->commit(batch));
    }
    ASSERT_TRUE(copy_database(folder / "a.db", folder / "b.db"));
    std::string bytes = *read_file(folder / "b.db", 64U << 20);
    ASSERT_GT(bytes.size(), 100'000U);
    bytes.replace(bytes.size() / 2, 8'192, std::string(8'192, '\x7f'));
    ASSERT_TRUE(write_file_atomically(folder / "c.db", bytes));
    EXPECT_FALSE(check_database(folder / "c.db"));
    EXPECT_TRUE(check_database(folder / "b.db"));
}

}  // namespace
}  // namespace lavant::adapters
