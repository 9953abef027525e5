#include "wire/yaml.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace lavant::wire {
namespace {

using spec::Document;
using spec::Position;

Document parsed(std::string_view text) {
    auto document = parse_yaml(text, "job.yml");
    EXPECT_TRUE(document) << document.error().message;
    return document ? std::move(*document) : Document{};
}

void check_refused(std::string_view text, std::string_view why, Position at) {
    const auto document = parse_yaml(text, "job.yml");
    ASSERT_FALSE(document) << text;
    const Error& error = document.error();
    EXPECT_NE(error.message.find(why), std::string::npos) << error.message;
    ASSERT_EQ(error.fields.size(), 1U);
    EXPECT_EQ((Position{error.fields[0].line, error.fields[0].column}), at) << error.message;
}

TEST(Yaml, AQuoteThatIsNotClosedIsToldWhereItOpens) {
    for (const char* text : {"a: 1\nb: \"echo hi\n", "a: 1\nb: 'echo hi\n", "a: 1\nb: \"x\\\"\n",
                             "a: 1\nb: 'it''s\n", "a: 1\nb: \"echo\nc: 2\n"}) {
        const auto parsed = parse_yaml(text, "job.yml");
        ASSERT_FALSE(parsed) << text;
        EXPECT_NE(parsed.error().message.find("line 2, column 4"), std::string::npos)
            << parsed.error().message;
    }
    for (const char* text :
         {"a: \"\"\n", "a: ''\n", "a: 'it''s'\n", "a: \"x\\\\\"\n", "{é: \"ü\", b: 'ö'}\n",
          "? \"k\"\n: 'v'\n", "a: \"two\n  lines\"\n", "a: &x \"y\"\nb: *x\n", "a: \"\\\"\""})
        EXPECT_TRUE(parse_yaml(text, "job.yml")) << text;
}

TEST(Yaml, KeepsOrderTextAndPositions) {
    const Document root = parsed("b: one\na:\n  - 2\n  - {c: 0x1F}\n");
    ASSERT_EQ(root.entries.size(), 2U);
    EXPECT_EQ(root.entries[0].key, "b");
    EXPECT_EQ(root.entries[1].key_at, (Position{2, 1}));
    const Document& list = root.entries[1].value;
    EXPECT_EQ(list.items[0].at, (Position{3, 5}));
    const Document* c = list.items[1].find("c");
    ASSERT_NE(c, nullptr);
    EXPECT_EQ(c->text, "0x1F");
    EXPECT_EQ(c->integer, 31);
    EXPECT_EQ(c->at, (Position{4, 9}));
}

TEST(Yaml, ReadsPlainScalarsAsAzuresClientsDo) {
    const std::pair<const char*, const char*> cases[] = {
        {"0777", "511"},
        {"0x1F", "31"},
        {"1_000", "1000"},
        {"1e3", "1e3"},
        {"1.0e+3", "1000.0"},
        {"12:30", "750"},
        {"yes", "True"},
        {"0o7", "0o7"},
        {"+3", "3"},
        {"1.", "1.0"},
        {".5", "0.5"},
        {"0b11", "3"},
        {"1.0", "1.0"},
        {"Off", "False"},
        {"y", "y"},
        {"-.inf", "-inf"},
        {"08", "08"},
        {"tRUE", "tRUE"},
        {"2020-01-01", "2020-01-01"},
        {"1.5.2", "1.5.2"},
        {"-7", "-7"},
        {"~", "None"},
        {"NULL", "None"},
        {"-", "-"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"1.0e-5", "1e-05"},
        {"1.0e+17", "1e+17"},
    };
    for (const auto& [text, printed] : cases) {
        EXPECT_EQ(plain_scalar(text, {}).printed(), printed) << text;
    }
    EXPECT_EQ(plain_scalar("0.00001", {}).printed(), "1e-05");
}

TEST(Yaml, TakesQuotedAndBlockScalarsForStrings) {
    const Document root = parsed("a: '1'\nb: \"yes\"\nc: |\n  2\nd: >-\n  x\n  y\n");
    for (const Document::Entry& entry : root.entries) EXPECT_TRUE(entry.value.is_string()) << entry.key;
    EXPECT_EQ(root.find("c")->text, "2\n");
    EXPECT_EQ(root.find("d")->text, "x y");
}

TEST(Yaml, ExpandsAliasesAndMergeKeys) {
    const Document root = parsed("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\ncopy: *b\n");
    EXPECT_EQ(root.find("use")->find("x")->integer, 1);
    EXPECT_EQ(root.find("use")->find("y")->integer, 3);
    EXPECT_EQ(root.find("use")->find("<<"), nullptr);
    EXPECT_EQ(root.find("copy")->find("y")->integer, 2);
}

TEST(Yaml, RefusesWithLineAndColumn) {
    check_refused("a: 1\nb: 2\na: 3\n", "the key 'a' stands here a second time", {3, 1});
    check_refused("a: !!python/object:os.system x\n", "tag", {1, 4});
    check_refused("a: 1\n---\nb: 2\n", "more than one document", {3, 1});
    check_refused("? [x]\n: 1\n", "a key must be a plain word", {1, 3});
    check_refused("a: [1, 2\nb: 3\n", "", {2, 2});
    check_refused("a: x\x01y\n", "control character", {1, 5});
    check_refused("", "it is empty", {0, 0});
    check_refused("# only a comment\n", "it is empty", {0, 0});
    check_refused("a: &x [*x]\n", "alias", {1, 8});
}

TEST(Yaml, ExplodingAliasesCostNoMoreThanTheLimit) {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        text += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
        for (int j = 0; j < 9; ++j) text += ", " + before;
        text += "]\n";
    }
    const auto document = parse_yaml(text, "bomb.yml");
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().message.find("aliases are expanded"), std::string::npos)
        << document.error().message;
    // A long string repeated by aliases is few nodes but many bytes.
    std::string wide = "a: &a " + std::string(1 << 20, 'x') + "\nb: [*a";
    for (int i = 0; i < 1000; ++i) wide += ",*a";
    EXPECT_FALSE(parse_yaml(wide + "]\n", "wide.yml"));
}

TEST(Yaml, RefusesWhatIsTooDeepOrTooLong) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_TRUE(parse_yaml(nested(limits::kDocumentDepth), "x"));
    EXPECT_FALSE(parse_yaml(nested(limits::kDocumentDepth + 1), "x"));
    EXPECT_FALSE(parse_yaml(nested(100'000), "x"));
    EXPECT_FALSE(parse_yaml("a: " + std::string(limits::kYamlBytes, 'x'), "x"));
    std::string many = "[";
    for (std::size_t i = 0; i < limits::kYamlNodes; ++i) many += "0,";
    EXPECT_FALSE(parse_yaml(many + "]", "x"));
}

}  // namespace
}  // namespace lavant::wire
