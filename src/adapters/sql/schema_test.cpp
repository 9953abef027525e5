#include "adapters/sql/schema.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/temporary_folder.h"

namespace lavant::sql {
namespace {

class Schema : public testing::Test {
 protected:
    void SetUp() override {
        ASSERT_TRUE(prepare_file(path_));
        reopen();
    }
    void reopen() {
        database_.reset();
        database_ = std::move(*Database::open({.path = path_}));
    }
    std::int64_t version() { return *database_->query_integer("PRAGMA user_version"); }

    test::TemporaryFolder folder_;
    const std::string path_ = folder_ / "x.db";
    std::unique_ptr<Database> database_;
};

constexpr std::array<Migration, 2> kTwo = {
    {{"0001_a", "CREATE TABLE a (x INTEGER);"},
     {"0002_b", "INSERT INTO a VALUES (7); CREATE TABLE b (y INTEGER);"}}};

TEST_F(Schema, EveryMigrationIsInTheBinaryInOrder) {
    ASSERT_FALSE(migrations().empty());
    EXPECT_STREQ(migrations().front().name, "0001_spine");
    ASSERT_TRUE(migrate(*database_));
    EXPECT_EQ(version(), static_cast<std::int64_t>(migrations().size()));
    ASSERT_TRUE(migrate(*database_));
}

TEST_F(Schema, GoesForwardFromWhereItStands) {
    ASSERT_TRUE(migrate(*database_, std::span(kTwo).first(1)));
    EXPECT_EQ(version(), 1);
    reopen();
    ASSERT_TRUE(migrate(*database_, kTwo));
    EXPECT_EQ(version(), 2);
    EXPECT_EQ(*database_->query_integer("SELECT count(*) FROM a"), 1);
}

TEST_F(Schema, FailedMigrationLeavesTheVersionBefore) {
    const std::array<Migration, 2> broken = {
        {kTwo[0], {"0002_bad", "CREATE TABLE b (y INTEGER); NONSENSE;"}}};
    const auto migrated = migrate(*database_, broken);
    ASSERT_FALSE(migrated);
    EXPECT_NE(migrated.error().message.find("0002_bad"), std::string::npos);
    EXPECT_EQ(version(), 1);
    EXPECT_EQ(*database_->query_integer("SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
    EXPECT_TRUE(migrate(*database_, kTwo));
}

TEST_F(Schema, NewerDatabaseIsRefusedWithWhatToDo) {
    ASSERT_TRUE(migrate(*database_, kTwo));
    const auto migrated = migrate(*database_, std::span(kTwo).first(1));
    ASSERT_FALSE(migrated);
    EXPECT_NE(migrated.error().message.find("newer version of lavant"), std::string::npos);
    EXPECT_NE(migrated.error().message.find("run that version"), std::string::npos);
    EXPECT_EQ(version(), 2);
}

TEST_F(Schema, AnotherProgramsDatabaseIsLeftAlone) {
    ASSERT_TRUE(database_->execute("CREATE TABLE theirs (x INTEGER)"));
    const auto migrated = migrate(*database_);
    ASSERT_FALSE(migrated);
    EXPECT_NE(migrated.error().message.find("another program"), std::string::npos);
    EXPECT_EQ(*database_->query_integer("SELECT count(*) FROM sqlite_schema"), 1);
}

}  // namespace
}  // namespace lavant::sql
