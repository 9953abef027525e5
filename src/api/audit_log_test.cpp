#include "api/audit_log.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

namespace lavant::api {
namespace {

using namespace std::chrono_literals;

class AuditLogTest : public testing::Test {
 protected:
    AuditLogTest() {
        std::string pattern = testing::TempDir() + "audit-XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~AuditLogTest() override { (void)remove_tree(folder_); }

    AuditRecord record(int number, const std::string& user = "ann", int status = 200) {
        return {.at = at_ + number * 1s,
                .user = user,
                .key = "key-1",
                .method = "PUT",
                .path = "/jobs/j" + std::to_string(number),
                .workspace = "default",
                .peer = "10.0.0.1:5",
                .status = status};
    }
    static std::vector<std::string> paths(const AuditPage& page) {
        std::vector<std::string> found;
        for (const wire::Json& one : page.records) found.push_back(one["path"].string());
        return found;
    }
    std::vector<std::string> read_all(const AuditLog& log, AuditQuery query, std::size_t pages_max = 10'000) {
        std::vector<std::string> all;
        for (std::size_t i = 0; i < pages_max; ++i) {
            const auto page = log.read(query);
            EXPECT_TRUE(page);
            for (const std::string& path : paths(*page)) all.push_back(path);
            if (page->next.empty()) return all;
            query.position = page->next;
        }
        ADD_FAILURE() << "the pages do not end";
        return all;
    }

    std::string folder_;
    const Instant at_ = from_micros(1'790'000'000'000'000);
};

TEST_F(AuditLogTest, KeepsWhatWasWrittenNewestFirst) {
    AuditLog log(folder_ + "/audit");
    EXPECT_TRUE(log.read({})->records.empty());
    for (int i = 0; i < 5; ++i) log.write(record(i, i % 2 == 0 ? "ann" : "bob", i == 3 ? 403 : 200));
    EXPECT_EQ(read_all(log, {}),
              (std::vector<std::string>{"/jobs/j4", "/jobs/j3", "/jobs/j2", "/jobs/j1", "/jobs/j0"}));
    EXPECT_EQ(read_all(log, {.limit = 2}).size(), 5U);
    EXPECT_EQ(read_all(log, {.user = "bob"}), (std::vector<std::string>{"/jobs/j3", "/jobs/j1"}));
    EXPECT_EQ(read_all(log, {.status = "4"}), (std::vector<std::string>{"/jobs/j3"}));
    EXPECT_EQ(read_all(log, {.path = "/jobs/j1"}), (std::vector<std::string>{"/jobs/j1"}));
    EXPECT_EQ(read_all(log, {.since = at_ + 3s}).size(), 2U);
    EXPECT_EQ(read_all(log, {.until = at_ + 3s}).size(), 3U);
    EXPECT_TRUE(read_all(log, {.method = "DELETE"}).empty());
    EXPECT_FALSE(log.read({.position = "x"}));
    EXPECT_FALSE(log.read({.position = "1-"}));
}

TEST_F(AuditLogTest, GoesOnInTheNextFileAndDropsTheOldest) {
    AuditLog log(folder_, {.file_bytes = 1'000, .files = 3});
    for (int i = 0; i < 100; ++i) log.write(record(i));
    const auto entries = list_directory(folder_).value();
    EXPECT_EQ(entries.size(), 3U);
    for (const DirectoryEntry& entry : entries) EXPECT_LE(entry.bytes, 1'000U);
    const auto all = read_all(log, {.limit = 4});
    EXPECT_EQ(all.front(), "/jobs/j99");
    EXPECT_GT(all.size(), 8U);
    EXPECT_LT(all.size(), 25U);
}

TEST_F(AuditLogTest, APageThatWasBegunGoesOnThoughMoreIsWritten) {
    AuditLog log(folder_);
    for (int i = 0; i < 6; ++i) log.write(record(i));
    const auto first = log.read({.limit = 3});
    for (int i = 6; i < 20; ++i) log.write(record(i));
    EXPECT_EQ(paths(*log.read({.limit = 3, .position = first->next})),
              (std::vector<std::string>{"/jobs/j2", "/jobs/j1", "/jobs/j0"}));
}

TEST_F(AuditLogTest, LooksAtNoMoreThanItsShareForOnePage) {
    AuditLog log(folder_, {.scan_bytes = 20'000});
    for (int i = 0; i < 1'000; ++i) log.write(record(i, i == 0 ? "rare" : "ann"));
    const auto first = log.read({.user = "rare"});
    EXPECT_TRUE(first->records.empty());
    EXPECT_FALSE(first->next.empty());
    EXPECT_EQ(read_all(log, {.user = "rare"}), (std::vector<std::string>{"/jobs/j0"}));
    EXPECT_EQ(read_all(log, {}).size(), 1'000U);
}

TEST_F(AuditLogTest, ALineThatACrashCutSpoilsNoOther) {
    {
        AuditLog log(folder_);
        log.write(record(0));
        log.write(record(1));
    }
    const std::string file = folder_ + "/" + list_directory(folder_).value().front().name;
    const std::string text = read_file(file, 10'000).value();
    ASSERT_TRUE(write_file_atomically(file, text.substr(0, text.size() - 20)));
    AuditLog log(folder_);
    log.write(record(2));
    EXPECT_EQ(read_all(log, {}), (std::vector<std::string>{"/jobs/j2", "/jobs/j0"}));
    EXPECT_EQ(list_directory(folder_).value().size(), 1U);
}

TEST_F(AuditLogTest, StrangersCannotWashThePastAway) {
    AuditLog log(folder_, {.strangers = {.per_s = 1, .burst = 10}});
    for (int i = 0; i < 100; ++i) {
        AuditRecord one = record(0, "", 401);
        log.write(one);
    }
    EXPECT_EQ(read_all(log, {}).size(), 10U);
    log.write(record(1));
    const auto page = log.read({.limit = 1});
    EXPECT_EQ(page->records.front()["leftOut"].integer(), 90);
}

TEST_F(AuditLogTest, AFullOrForbiddenPlaceStopsNobody) {
    AuditLog nowhere("");
    nowhere.write(record(0));
    EXPECT_TRUE(nowhere.read({})->records.empty());
    AuditLog impossible("/dev/null/audit");
    impossible.write(record(0));
    EXPECT_TRUE(impossible.read({})->records.empty());
}

TEST_F(AuditLogTest, AnythingInAPathStaysOnItsLine) {
    AuditLog log(folder_);
    AuditRecord one = record(0);
    one.path = "/a\"\n{\"user\":\"evil\"}\n" + std::string(5'000, 'x') + "\xff";
    log.write(one);
    const auto page = log.read({});
    ASSERT_EQ(page->records.size(), 1U);
    EXPECT_EQ(page->records.front()["user"].text(), "ann");
}

}  // namespace
}  // namespace lavant::api
