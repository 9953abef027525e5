#include "adapters/sql/database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "tests/support/temporary_folder.h"

namespace lavant::sql {
namespace {

class DatabaseTest : public testing::Test {
 protected:
    std::unique_ptr<Database> open(bool read_only = false) {
        auto database = Database::open({.path = path_, .read_only = read_only});
        EXPECT_TRUE(database) << database.error().message;
        return std::move(*database);
    }
    void SetUp() override { ASSERT_TRUE(prepare_file(path_)); }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_ / "x.db";
};

TEST_F(DatabaseTest, IsOpenedWithALogFullSyncsAndForeignKeys) {
    const auto database = open();
    EXPECT_EQ(*database->query_integer("PRAGMA synchronous"), 2);
    EXPECT_EQ(*database->query_integer("PRAGMA foreign_keys"), 1);
    sql::Run mode(database->shaped("PRAGMA journal_mode"));
    ASSERT_TRUE(*mode.step());
    EXPECT_EQ(mode.read_text(), "wal");
}

TEST_F(DatabaseTest, FilesAreForTheirOwnerOnly) {
    ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
    ASSERT_TRUE(prepare_file(path_));
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t (x INTEGER)"));
    for (const char* suffix : {"", "-wal", "-shm"}) {
        struct stat status {};
        ASSERT_EQ(::stat((path_ + suffix).c_str(), &status), 0) << suffix;
        EXPECT_EQ(status.st_mode & 0777, 0600U) << suffix;
    }
}

TEST_F(DatabaseTest, ValuesComeBackAsTheyWereBound) {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t (a INTEGER, b TEXT, c BLOB, d INTEGER)"));
    const std::string odd("z\0\xff'", 4);
    sql::Run insert(database->constant("INSERT INTO t VALUES (?, ?, ?, ?)"));
    ASSERT_EQ(*insert.integer(INT64_MIN).text(odd).blob("").null().execute(), 1);
    sql::Run select(database->constant("SELECT a, b, c, d, d FROM t"));
    ASSERT_TRUE(*select.step());
    EXPECT_EQ(select.read_integer(), INT64_MIN);
    EXPECT_EQ(select.read_text(), odd);
    EXPECT_FALSE(select.next_is_null());
    EXPECT_EQ(select.read_text(), "");
    EXPECT_EQ(select.read_optional_instant(), std::nullopt);
    EXPECT_FALSE(*select.step());
}

TEST_F(DatabaseTest, TransactionThatIsNotCommittedLeavesNothing) {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t (x INTEGER PRIMARY KEY)"));
    {
        auto transaction = Transaction::begin_writing(*database);
        ASSERT_TRUE(transaction);
        ASSERT_TRUE(database->execute("INSERT INTO t VALUES (1)"));
    }
    EXPECT_EQ(*database->query_integer("SELECT count(*) FROM t"), 0);
    auto transaction = Transaction::begin_writing(*database);
    ASSERT_TRUE(transaction);
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES (1)"));
    ASSERT_TRUE(transaction->commit());
    EXPECT_EQ(*database->query_integer("SELECT count(*) FROM t"), 1);
}

TEST_F(DatabaseTest, BrokenConstraintIsAConflict) {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t (x INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)"));
    EXPECT_EQ(database->execute("INSERT INTO t VALUES (1)").error().code, ErrorCode::Conflict);
}

TEST_F(DatabaseTest, FullDiskSaysWhatToDoAndLeavesNothing) {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t (x BLOB); PRAGMA max_page_count = 20"));
    {
        auto transaction = Transaction::begin_writing(*database);
        const auto written = database->execute("INSERT INTO t VALUES (zeroblob(1)), (zeroblob(1000000))");
        ASSERT_FALSE(written);
        EXPECT_EQ(written.error().code, ErrorCode::ResourceExhausted);
        EXPECT_NE(written.error().message.find("free some space"), std::string::npos);
    }
    EXPECT_EQ(*database->query_integer("SELECT count(*) FROM t"), 0);
    EXPECT_TRUE(database->execute("INSERT INTO t VALUES (zeroblob(1))"));
}

TEST_F(DatabaseTest, FileThatIsNoDatabaseIsNamedWithTheRemedy) {
    ASSERT_TRUE(write_file_atomically(path_, std::string(5'000, 'x')));
    const auto database = Database::open({.path = path_});
    ASSERT_FALSE(database);
    EXPECT_EQ(database.error().code, ErrorCode::Internal);
    EXPECT_NE(database.error().message.find(path_), std::string::npos);
    EXPECT_NE(database.error().message.find("backup"), std::string::npos);
}

TEST_F(DatabaseTest, ReaderCannotWrite) {
    const auto writer = open();
    ASSERT_TRUE(writer->execute("CREATE TABLE t (x INTEGER)"));
    const auto reader = open(true);
    const auto written = reader->execute("INSERT INTO t VALUES (1)");
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, ErrorCode::PermissionDenied);
}

TEST_F(DatabaseTest, LinkInPlaceOfTheFileIsRefused) {
    ASSERT_EQ(::symlink(path_.c_str(), (folder_ / "link.db").c_str()), 0);
    EXPECT_FALSE(prepare_file(folder_ / "link.db"));
}

TEST_F(DatabaseTest, StrangeEnumNumberIsAnErrorNotAValue) {
    enum class Colour { Red, Green };
    const auto database = open();
    sql::Run run(database->constant("SELECT 1, 2"));
    ASSERT_TRUE(*run.step());
    EXPECT_EQ(run.read_enum(Colour::Green), Colour::Green);
    EXPECT_TRUE(run.check_row("thing"));
    (void)run.read_enum(Colour::Green);
    EXPECT_EQ(run.check_row("thing").error().code, ErrorCode::Internal);
}

}  // namespace
}  // namespace lavant::sql
