#include "wire/jmespath.h"

#include <gtest/gtest.h>

namespace lavant::wire {
namespace {

constexpr std::string_view kJobs = R"({
  "jobs": [
    {"name": "a", "status": "Completed", "cores": 4, "tags": {"team": "x"}, "parts": [[1, 2], [3]]},
    {"name": "b", "status": "Running", "cores": 1, "tags": {}, "parts": []},
    {"name": "c", "status": "Completed", "cores": 2.5, "tags": {"team": "y"}, "parts": [[4]]}
  ],
  "next": null, "text": "Grüße", "odd name": 7, "numbers": [3, 1, 2], "none": []
})";

std::string ask(std::string_view expression, std::string_view document = kJobs) {
    const auto json = parse_json(document);
    EXPECT_TRUE(json) << document;
    const auto query = parse_query(expression);
    if (!query) return query.error().message;
    const auto value = evaluate(*query, *json);
    return value ? value->dump() : value.error().message;
}

TEST(JmesPath, AnswersEachFormOfExpression) {
    static constexpr std::pair<std::string_view, std::string_view> kCases[] = {
        {"@.next", "null"},
        {"\"odd name\"", "7"},
        {"jobs[0].name", R"("a")"},
        {"jobs[-1].tags.team", R"("y")"},
        {"jobs[3]", "null"},
        {"text[0]", "null"},
        {"jobs[*].name", R"(["a","b","c"])"},
        {"jobs[*].tags.team", R"(["x","y"])"},
        {"jobs[].parts[]", "[[1,2],[3],[4]]"},
        {"jobs[].parts[][]", "[1,2,3,4]"},
        {"jobs[0].tags.*", R"(["x"])"},
        {"numbers[::-1]", "[2,1,3]"},
        {"numbers[1:]", "[1,2]"},
        {"numbers[-2:10]", "[1,2]"},
        {"numbers[9223372036854775807:-9223372036854775807:-9223372036854775807]", "[2]"},
        {"text[1:]", "null"},
        {"jobs[?status=='Completed'].name", R"(["a","c"])"},
        {"jobs[?status==`Completed`] | [0].name", R"("a")"},
        {"jobs[?cores > `2` && tags.team].cores", "[4,2.5]"},
        {"jobs[?!tags].name", R"(["b"])"},
        {"jobs[?name < 'b'].name", R"(["a"])"},
        {"jobs[?name < `1`].name", "[]"},
        {"jobs[*].[name, cores] | [1]", R"(["b",1])"},
        {"jobs[0].{n: name, \"odd key\": `[1]`}", R"({"n":"a","odd key":[1]})"},
        {"next.{a: text}", "null"},
        {"missing || text", R"("Grüße")"},
        {"`0` && 'yes'", R"("yes")"},
        {"!`0`", "false"},
        {"!none", "true"},
        {R"('it\'s \n')", R"("it's \\n")"},
        {"`\"a\\`b\"`", R"("a`b")"},
        {"`{\"a\": 1, \"b\": 2.0}` == `{\"b\": 2, \"a\": 1.0}`", "true"},
        {"`1` == `true`", "false"},
        {"(jobs | [1]).name", R"("b")"},
    };
    for (const auto& [expression, expected] : kCases) EXPECT_EQ(ask(expression), expected) << expression;
}

TEST(JmesPath, HasEveryFunction) {
    static constexpr std::pair<std::string_view, std::string_view> kCases[] = {
        {"abs(`-3`)", "3"},
        {"abs(`-2.5`)", "2.5"},
        {"avg(numbers)", "2.0"},
        {"avg(none)", "null"},
        {"ceil(`1.2`)", "2"},
        {"contains(numbers, `3.0`)", "true"},
        {"contains(text, 'rü')", "true"},
        {"contains(text, `1`)", "false"},
        {"ends_with(text, 'ße')", "true"},
        {"floor(`-1.2`)", "-2"},
        {"join('-', jobs[].name)", R"("a-b-c")"},
        {"keys(jobs[0].tags)", R"(["team"])"},
        {"length(text)", "5"},
        {"length(@)", "6"},
        {"map(&tags.team, jobs)", R"(["x",null,"y"])"},
        {"max(numbers)", "3"},
        {"max(none)", "null"},
        {"max_by(jobs, &cores).name", R"("a")"},
        {"merge(`{\"a\":1}`, `{\"a\":2,\"b\":3}`)", R"({"a":2,"b":3})"},
        {"min(jobs[].name)", R"("a")"},
        {"min_by(jobs, &cores).name", R"("b")"},
        {"not_null(missing, next, `1`)", "1"},
        {"reverse(text)", R"("eßürG")"},
        {"reverse(numbers)", "[2,1,3]"},
        {"sort(numbers)", "[1,2,3]"},
        {"sort_by(jobs, &cores)[].name", R"(["b","c","a"])"},
        {"sort_by(jobs, &status)[].name", R"(["a","c","b"])"},
        {"starts_with(text, 'Gr')", "true"},
        {"sum(numbers)", "6"},
        {"sum(none)", "0"},
        {"to_array(text)", R"(["Grüße"])"},
        {"to_number('1.5')", "1.5"},
        {"to_number('abc')", "null"},
        {"to_number(`true`)", "null"},
        {"to_string(numbers)", R"("[3,1,2]")"},
        {"[type(@), type(none), type(text), type(next), type(`1`), type(`true`)]",
         R"(["object","array","string","null","number","boolean"])"},
        {"values(jobs[2].tags)", R"(["y"])"},
    };
    for (const auto& [expression, expected] : kCases) EXPECT_EQ(ask(expression), expected) << expression;
}

TEST(JmesPath, SaysWhatIsWrongAndWhere) {
    static constexpr std::pair<std::string_view, std::string_view> kCases[] = {
        {"", "column 1: there is nothing"},
        {"jobs[?name='a']", "column 11: '=' is no sign; compare with '=='"},
        {"jobs.", "column 6: the query ends too early; expected a name"},
        {"jobs[0", "column 7: the query ends too early; expected ']'"},
        {"jobs[1.5]", "column 7: expected ']', found '.'"},
        {"a b", "column 3: expected the end, found 'b'"},
        {"lenght(@)", "column 1: there is no function 'lenght'; did you mean 'length'?"},
        {"zzz(@)", "there are abs, avg"},
        {"sort_by(jobs)", "column 1: sort_by() takes 2 arguments, here it has 1"},
        {"merge()", "merge() takes at least 1 argument, here it has 0"},
        {"sort_by(jobs, name)", "column 15: argument 2 of sort_by() is an expression behind '&'"},
        {"length(&a)", "column 8: argument 1 of length() is a value"},
        {"&a", "column 1: '&' stands only before an argument"},
        {"\"length\"(@)", "column 1: the name of a function stands without quotes"},
        {"numbers[::0]", "column 8: a slice cannot step by 0"},
        {"'abc", "column 1: the string that begins here has no end"},
        {"a-b", "column 2: '-' is no whole number"},
        {"naïve", "column 3:"},
        {"sum(text)", "argument 1 of sum() is an array of numbers; here it is string"},
        {"sort(`[1, \"a\"]`)", "here it is array of other things"},
        {"sort_by(jobs, &tags)", "sort_by() orders by numbers or strings; here the expression gives object"},
        {"max_by(jobs, &not_null(tags.team, `1`))", "max_by() orders by strings throughout"},
    };
    for (const auto& [expression, expected] : kCases)
        EXPECT_NE(ask(expression).find(expected), std::string::npos) << expression << ": " << ask(expression);
}

TEST(JmesPath, TakesUpToItsLimits) {
    EXPECT_EQ(ask(std::string(kQueryBytes - 1, ' ') + "@", "1"), "1");
    EXPECT_NE(ask(std::string(kQueryBytes, ' ') + "@").find("at most 4096 are read"), std::string::npos);

    const auto parentheses = [](int count) {
        return std::string(static_cast<std::size_t>(count), '(') + "@" +
               std::string(static_cast<std::size_t>(count), ')');
    };
    EXPECT_EQ(ask(parentheses(kQueryDepth - 1), "1"), "1");
    EXPECT_NE(ask(parentheses(kQueryDepth), "1").find("nested more than 64 deep"), std::string::npos);
    std::string chain = "a";
    for (int i = 1; i < kQueryDepth; ++i) chain += ".a";
    EXPECT_EQ(ask(chain, "{}"), "null");
    EXPECT_NE(ask(chain + ".a", "{}").find("nested more than 64 deep"), std::string::npos);
}

// Expressions that double what they are given must stop early, whatever they double.
TEST(JmesPath, StopsAtItsBudget) {
    for (std::string_view step : {"[@, @]", "to_string([@])", "join(@, [@, @, @])", "merge({a: @}, {b: @})",
                                  "map(&[@, @], to_array(@))"}) {
        std::string expression = "'start'";
        for (int i = 0; i < 50; ++i) (expression += " | ") += step;
        const std::string answer = ask(expression);
        EXPECT_NE(answer.find("steps on this document"), std::string::npos)
            << step << ": " << answer.substr(0, 300);
    }
}

}  // namespace
}  // namespace lavant::wire
