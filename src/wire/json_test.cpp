#include "wire/json.h"

#include <gtest/gtest.h>

#include "base/limits.h"

namespace lavant::wire {
namespace {

void check_round_trip(std::string_view text) {
    const auto value = parse_json(text);
    ASSERT_TRUE(value) << value.error().message;
    EXPECT_EQ(value->dump(), text);
    EXPECT_EQ(*parse_json(value->pretty()), *value);
}

TEST(Json, ReadsAndWritesTheSameTextInTheSameOrder) {
    check_round_trip(R"({"z":1,"a":[true,false,null,-7,0.5,1.0,"x"],"m":{"":{}},"e":[]})");
    check_round_trip(R"("é\n\"\\")");
    check_round_trip("9223372036854775807");
    check_round_trip("1e+300");
    check_round_trip("[0.1,5e-324,1.7976931348623157e+308,123456.78901234567,-0.0]");
}

TEST(Json, FollowsPathsAndFallsBackToNull) {
    const Json value = *parse_json(R"({"a":{"b":{"c":"deep"}},"x.y":3})");
    EXPECT_EQ(value.get("a.b.c").text(), "deep");
    EXPECT_TRUE(value.get("a.q.c").is_null());
    EXPECT_TRUE(value.get("a.b.c.d").is_null());
    EXPECT_EQ(value["x.y"].integer(), 3);
    EXPECT_EQ(value.get("a.b").integer(17), 17);
    EXPECT_EQ(value["nothing"].string("else"), "else");
}

TEST(Json, IsBuiltInPlaceAndKeepsOrderWhenAMemberIsReplaced) {
    Json value;
    value.set("name", "job-1").set("count", 2).set("ok", true);
    value.member("tags").set("a", "b");
    value.member("list").append(1).append(Json::object({{"k", nullptr}}));
    value.set("count", 3).remove("ok");
    EXPECT_EQ(value.dump(), R"({"name":"job-1","count":3,"tags":{"a":"b"},"list":[1,{"k":null}]})");
}

TEST(Json, TakesTheLastOfRepeatedKeysAlsoInLargeObjects) {
    EXPECT_EQ(parse_json(R"({"a":1,"b":2,"a":3})")->dump(), R"({"a":3,"b":2})");
    std::string large = "{";
    for (int i = 0; i < 100; ++i) large += "\"k" + std::to_string(i % 50) + "\":" + std::to_string(i) + ",";
    large.back() = '}';
    const Json value = *parse_json(large);
    EXPECT_EQ(value.size(), 50U);
    EXPECT_EQ(value["k7"].integer(), 57);
}

TEST(Json, SaysWhereTheTextIsMalformed) {
    const auto value = parse_json("{\n  \"a\": oops}");
    ASSERT_FALSE(value);
    EXPECT_NE(value.error().message.find("line 2 column 8"), std::string::npos) << value.error().message;
    for (const char* bad :
         {"", "{", "[1,]", "{} {}", "nul", "\"\xff\"", "{\"a\" 1}", "\"\\ud800\"", "1e999"}) {
        EXPECT_FALSE(parse_json(bad)) << bad;
    }
}

TEST(Json, RefusesWhatIsTooDeepTooLongOrTooMany) {
    const auto nested = [](int depth) {
        return std::string(static_cast<std::size_t>(depth), '[') +
               std::string(static_cast<std::size_t>(depth), ']');
    };
    EXPECT_TRUE(parse_json(nested(limits::kDocumentDepth)));
    EXPECT_FALSE(parse_json(nested(limits::kDocumentDepth + 1)));
    EXPECT_FALSE(parse_json(std::string(limits::kJsonBytes, ' ') + "1"));
    std::string many = "[";
    for (std::size_t i = 0; i < kJsonValues; ++i) many += "0,";
    many.back() = ']';
    EXPECT_FALSE(parse_json(many));
}

TEST(Json, BecomesYamlThatReadsBackAsTheSameStrings) {
    const Json value = *parse_json(
        R"({"name":"a b","num":1,"yes":"no","empty":"","s":"1.0","list":[1,{"a":"x","b":[2]},[]],)"
        R"("o":{"p":{}},"t":"l1\nl2\n"})");
    EXPECT_EQ(
        value.to_yaml(),
        "name: a b\nnum: 1\n\"yes\": \"no\"\nempty: \"\"\ns: \"1.0\"\nlist:\n- 1\n- a: x\n  b:\n  - 2\n- []\n"
        "o:\n  p: {}\nt: |\n  l1\n  l2\n");
    EXPECT_EQ(json_to_yaml("not json"), "not json");
    EXPECT_EQ(pretty_json("{\"a\":[1]}"), "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(Json, TurnsScalarsIntoTextForStringMaps) {
    EXPECT_EQ(Json("x").scalar_text(), "x");
    EXPECT_EQ(Json(true).scalar_text(), "true");
    EXPECT_EQ(Json(0.1).scalar_text(), "0.1");
}

}  // namespace
}  // namespace lavant::wire
