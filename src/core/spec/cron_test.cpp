#include "core/spec/cron.h"

#include <gtest/gtest.h>

namespace lavant::spec {
namespace {

TEST(Cron, TakesWhatCronTakes) {
    for (const char* fine : {"* * * * *", "15 10 * * 1", "*/10 0-6 1,15 * mon-fri", "0 0 1 JAN 7",
                             "  5   4 * *  SUN ", "0-59/15 * * * *"})
        EXPECT_FALSE(find_cron_problem(fine)) << fine << ": " << *find_cron_problem(fine);
}

TEST(Cron, NamesThePartThatIsWrong) {
    const auto said = [](const char* expression) { return find_cron_problem(expression).value_or(""); };
    EXPECT_NE(said("").find("0 parts"), std::string::npos);
    EXPECT_NE(said("* * * *").find("4 parts"), std::string::npos);
    EXPECT_NE(said("* * * * * *").find("6 parts"), std::string::npos);
    EXPECT_NE(said("60 * * * *").find("'60' is no minute"), std::string::npos);
    EXPECT_NE(said("* 24 * * *").find("no hour"), std::string::npos);
    EXPECT_NE(said("* * 0 * *").find("no day"), std::string::npos);
    EXPECT_NE(said("* * * foo *").find("no month"), std::string::npos);
    EXPECT_NE(said("* * * * 8").find("no weekday"), std::string::npos);
    for (const char* bad : {"5-1 * * * *", "*/0 * * * *", "*/ * * * *", "1,, * * * *", "-1 * * * *",
                            "99999999999999999999 * * * *", "1/x * * * *", "\x01 * * * *"})
        EXPECT_TRUE(find_cron_problem(bad)) << bad;
}

}  // namespace
}  // namespace lavant::spec
