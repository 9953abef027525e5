#include "adapters/sql/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "adapters/sql/database.h"
#include "adapters/sql/sqlite_reader.h"
#include "base/files.h"
#include "tests/support/builders.h"
#include "tests/support/temporary_folder.h"

namespace lavant::adapters {
namespace {

class SqliteStoreTest : public testing::Test {
 protected:
    std::unique_ptr<SqliteStore> open() {
        auto store = SqliteStore::open(path_);
        EXPECT_TRUE(store) << store.error().message;
        return std::move(*store);
    }
    std::unique_ptr<sql::Database> raw() { return std::move(*sql::Database::open({.path = path_})); }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_ / "lavant.db";
};

TEST_F(SqliteStoreTest, CountersSurviveTheRemovalOfTheirRows) {
    WriteBatch batch;
    batch.jobs_added = {test::a_job(7)};
    batch.tasks = {test::a_task(7, 1)};
    batch.nodes = {test::a_node(5)};
    batch.pools = {test::a_pool(3)};
    batch.events = {test::an_event(11)};
    const auto store = open();
    ASSERT_TRUE(store->commit(batch));
    ASSERT_TRUE(raw()->execute("DELETE FROM job; DELETE FROM node; DELETE FROM pool; DELETE FROM event"));
    const auto rows = store->load_live();
    ASSERT_TRUE(rows);
    EXPECT_TRUE(rows->jobs.empty() && rows->tasks.empty());
    EXPECT_EQ(rows->last_job, 7);
    EXPECT_EQ(rows->last_node, 5);
    EXPECT_EQ(rows->last_pool, 3);
    EXPECT_EQ(rows->last_event, 11);
    EXPECT_EQ(*raw()->query_integer("SELECT count(*) FROM task"), 0);
    EXPECT_EQ(*raw()->query_integer("SELECT count(*) FROM job_body"), 0);
}

TEST_F(SqliteStoreTest, ValueOfANewerVersionIsAnErrorNotAGuess) {
    const auto store = open();
    WriteBatch batch;
    batch.jobs_added = {test::a_job(1)};
    ASSERT_TRUE(store->commit(batch));
    ASSERT_TRUE(raw()->execute("UPDATE job SET status = -1"));
    EXPECT_EQ(store->load_live().error().code, ErrorCode::Internal);
    ASSERT_TRUE(raw()->execute("UPDATE job SET status = 0, retry = x'ff'"));
    EXPECT_EQ(store->load_live().error().code, ErrorCode::Internal);
    EXPECT_EQ(store->find_job(test::kWorkspace, "job-1").error().code, ErrorCode::Internal);
}

TEST_F(SqliteStoreTest, ChangingAHeadRewritesNoBigColumn) {
    const auto store = open();
    Job job = test::a_job(1);
    job.body.properties = std::string(1'000'000, 'p');
    WriteBatch batch;
    batch.jobs_added = {job};
    ASSERT_TRUE(store->commit(batch));
    struct stat before {};
    ASSERT_EQ(::stat((path_ + "-wal").c_str(), &before), 0);
    WriteBatch change;
    change.jobs_changed = {test::changed(job.head, JobStatus::Running)};
    ASSERT_TRUE(store->commit(change));
    struct stat after {};
    ASSERT_EQ(::stat((path_ + "-wal").c_str(), &after), 0);
    EXPECT_LT(after.st_size - before.st_size, 50'000);
}

TEST_F(SqliteStoreTest, GivesTheSpaceOfItsLogBackAfterABurst) {
    const auto store = open();
    const auto log_bytes = [&] {
        struct stat log {};
        return ::stat((path_ + "-wal").c_str(), &log) == 0 ? log.st_size : 0;
    };
    auto reader = raw();
    ASSERT_TRUE(reader->execute("BEGIN"));
    EXPECT_EQ(*reader->query_integer("SELECT count(*) FROM job"), 0);  // holds the log back
    for (std::int64_t id = 1; id <= 8; ++id) {
        Job job = test::a_job(id);
        job.body.properties = std::string(1'000'000, 'p');
        WriteBatch batch;
        batch.jobs_added = {job};
        ASSERT_TRUE(store->commit(batch));
    }
    EXPECT_GT(log_bytes(), sql::kLogBytesKept);
    EXPECT_TRUE(*store->tidy(100)) << "a reader is in the way: later";
    EXPECT_GT(log_bytes(), sql::kLogBytesKept);
    ASSERT_TRUE(reader->execute("COMMIT"));
    EXPECT_FALSE(*store->tidy(100));
    EXPECT_EQ(log_bytes(), 0);
    EXPECT_EQ(store->load_live()->jobs.size(), 8U);
}

TEST_F(SqliteStoreTest, DatabaseOfANewerVersionIsRefused) {
    const auto store = open();
    const auto other = raw();
    ASSERT_TRUE(other->execute("PRAGMA user_version = 99"));
    const auto reopened = SqliteStore::open(path_);
    ASSERT_FALSE(reopened);
    EXPECT_EQ(reopened.error().code, ErrorCode::InvalidArgument);
}

TEST_F(SqliteStoreTest, ReaderOfAnEmptyOrAbsentDatabaseSaysSo) {
    EXPECT_FALSE(SqliteReader::open(path_));
    ASSERT_TRUE(sql::prepare_file(path_));
    const auto reader = SqliteReader::open(path_);
    ASSERT_FALSE(reader);
    EXPECT_EQ(reader.error().code, ErrorCode::NotFound);
}

TEST_F(SqliteStoreTest, ReaderWithOneConnectionServesOneAfterTheOther) {
    const auto store = open();
    const auto reader = SqliteReader::open(path_, 1);
    ASSERT_TRUE(reader);
    for (int i = 0; i < 5; ++i) EXPECT_TRUE((*reader)->list_jobs({.workspace = test::kWorkspace}));
}

}  // namespace
}  // namespace lavant::adapters
