#include "cli/job_reference.h"

#include <gtest/gtest.h>

#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

std::string resolved(const std::string& given, const std::string& answer, Match match = Match::ByBeginning) {
    FakeServer server;
    server.on("GET /lavant/v1/jobs", 200, answer);
    Session session = server.session();
    const auto name = resolve_job(session, given, match);
    return name ? *name : name.error().error.message;
}

TEST(ResolveJob, TakesAWholeNameEvenWhereOthersBeginWithIt) {
    EXPECT_EQ(resolved("a", R"({"value":[{"name":"ab"},{"name":"a"}]})"), "a");
}

TEST(ResolveJob, TakesABeginningThatOnlyOneHas) {
    EXPECT_EQ(resolved("am", R"({"value":[{"name":"amber_brook"}]})"), "amber_brook");
}

TEST(ResolveJob, TakesNoBeginningWhereTheWholeNameIsNeededAndNeverAnEmptyOne) {
    const std::string one = R"({"value":[{"name":"amber_brook"}]})";
    EXPECT_EQ(resolved("am", one, Match::Exactly), "there is no job 'am'; see: lavant job list");
    EXPECT_EQ(resolved("amber_brook", one, Match::Exactly), "amber_brook");
    EXPECT_EQ(resolved("", one), "the name of the job is empty; say which is meant");
}

TEST(ResolveJob, ListsThemWhereSeveralDo) {
    EXPECT_EQ(resolved("a", R"({"value":[{"name":"ab"},{"name":"ac"}]})"),
              "several jobs begin with 'a'; write more of the name:\n  ab\n  ac");
}

TEST(ResolveJob, SaysWhereToLookForOneThatIsNot) {
    EXPECT_EQ(resolved("zzz", R"({"value":[]})"), "there is no job 'zzz'; see: lavant job list");
    EXPECT_NE(resolved("@last", R"({"value":[]})").find("lavant submit"), std::string::npos);
    EXPECT_EQ(resolved("@last", R"({"value":[{"name":"newest"}]})"), "newest");
}

}  // namespace
}  // namespace lavant::cli
