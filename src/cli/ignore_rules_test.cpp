#include "cli/ignore_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lavant::cli {
namespace {

struct Case {
    std::string rules;
    std::string path;
    bool excluded;
};

void check(const Case& given) {
    const auto rules = IgnoreRules::parse(given.rules);
    ASSERT_TRUE(rules.has_value()) << given.rules << ": " << rules.error().message;
    EXPECT_EQ(rules->excludes(given.path), given.excluded)
        << "rules [" << given.rules << "] path [" << given.path << "]";
}

TEST(IgnoreRules, ANameMatchesAtAnyDepthAndEverythingBelowIt) {
    check({"data", "data", true});
    check({"data", "a/b/data", true});
    check({"data", "data/x/y", true});
    check({"data", "mydata", false});
    check({"*.pyc", "a/b.pyc", true});
    check({"*.pyc", "a.pyc/inside", true});
}

TEST(IgnoreRules, ASlashAnchorsAtTheRoot) {
    check({"/data", "data/x", true});
    check({"/data", "a/data", false});
    check({"a/b", "a/b/c", true});
    check({"a/b", "x/a/b", false});
}

TEST(IgnoreRules, ASlashAtTheEndMeansWhatLiesInside) {
    check({"data/", "data/x", true});
    check({"data/", "a/data/x", true});
    check({"data/", "data", false});
}

TEST(IgnoreRules, DoubleStarsCrossFolders) {
    check({"**/x", "x", true});
    check({"**/x", "a/b/x", true});
    check({"a/**/b", "a/b", true});
    check({"a/**/b", "a/x/y/b", true});
    check({"a/**", "a/x", true});
    check({"a/**", "a", false});
    check({"**", "anything/at/all", true});
    check({"**/", "in_root", false});
    check({"**/", "in/folder", true});
    check({"a/**/**/b", "a/q/b", true});
}

TEST(IgnoreRules, TheLastMatchingRuleWins) {
    check({"*.log\n!keep.log", "keep.log", false});
    check({"!keep.log\n*.log", "keep.log", true});
    check({"build/\n!build/keep", "build/keep", false});
}

TEST(IgnoreRules, BracketsQuestionMarksAndEscapes) {
    check({"a[0-9]", "a7", true});
    check({"a[!0-9]", "ab", true});
    check({"a[!0-9]", "a7", false});
    check({"a[]x]", "a]", true});
    check({"a[^x]", "a^", true});
    check({"a[", "a[", true});
    check({"a?c", "aüc", true});
    check({"a?c", "a/c", false});
    check({R"(\#x)", "#x", true});
    check({R"(\!x)", "!x", true});
}

TEST(IgnoreRules, CommentsBlanksAndLineEndsAreNoRules) {
    check({"# x\r\n\r\n  x  \r\n", "x", true});
    check({"\xef\xbb\xbfx", "x", true});
    check({"/", "x", false});
    check({"#x", "#x", false});
}

TEST(IgnoreRules, ABrokenPatternNamesItsLine) {
    const auto rules = IgnoreRules::parse("fine\nbad\\\n");
    ASSERT_FALSE(rules.has_value());
    EXPECT_NE(rules.error().message.find("line 2"), std::string::npos) << rules.error().message;
    EXPECT_FALSE(IgnoreRules::parse("[z-a]").has_value());
    EXPECT_FALSE(IgnoreRules::parse("!").has_value());
}

TEST(IgnoreRules, ManyStarsDoNotTakeForever) {
    std::string pattern;
    for (int i = 0; i < 200; ++i) pattern += "*a";
    check({pattern, std::string(3'000, 'a') + "b", false});
}

}  // namespace
}  // namespace lavant::cli
