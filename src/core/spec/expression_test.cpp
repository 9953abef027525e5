#include "core/spec/expression.h"

#include <gtest/gtest.h>

#include <map>

namespace lavant::spec {
namespace {

std::string substituted(std::string_view text) {
    const std::map<std::string, std::string> values = {
        {"${{inputs.lr}}", "0.1"}, {"${{inputs.my-data}}", "/in/data"}, {"${{outputs.model}}", "/out/model"},
        {"${{name}}", "job-1"},    {"${{default_datastore}}", "store"},
    };
    const auto result = substitute(text, [&](const Reference& reference) -> std::optional<std::string> {
        const auto found = values.find(reference.written());
        if (found == values.end()) return std::nullopt;
        return found->second;
    });
    return result ? *result : "error: " + result.error().message;
}

TEST(Expression, PutsValuesInPlace) {
    EXPECT_EQ(substituted("python t.py --lr ${{inputs.lr}} --d ${{ inputs.my-data }}/x ${{outputs.model}}"),
              "python t.py --lr 0.1 --d /in/data/x /out/model");
    EXPECT_EQ(substituted("azureml://datastores/${{default_datastore}}/paths/${{name}}"),
              "azureml://datastores/store/paths/job-1");
    EXPECT_EQ(substituted("echo $HOME ${PATH} $((1+2)) [[ -f x ]] {{x}}"),
              "echo $HOME ${PATH} $((1+2)) [[ -f x ]] {{x}}");
    EXPECT_EQ(substituted(""), "");
}

TEST(Expression, DropsOptionalBlocksWhoseInputIsAbsent) {
    EXPECT_EQ(substituted("a $[[--lr ${{inputs.lr}}]] b"), "a --lr 0.1 b");
    EXPECT_EQ(substituted("a $[[--z ${{inputs.z}}]] b"), "a  b");
    EXPECT_EQ(substituted("a $[[${{inputs.lr}} ${{inputs.z}}]]$[[plain]]"), "a plain");
}

TEST(Expression, RefusesAnAbsentValueOutsideABlock) {
    EXPECT_EQ(substituted("a ${{inputs.z}}"), "error: there is no value for ${{inputs.z}}");
    EXPECT_EQ(substituted("a ${{search_space.z}} ${{inputs.q}}"),
              "error: there is no value for ${{search_space.z}}");
}

TEST(Expression, InsertsAValueOnceEvenWhenItLooksLikeAnExpression) {
    const auto echo = [](const Reference&) -> std::optional<std::string> { return "${{name}}"; };
    EXPECT_EQ(*substitute("${{inputs.a}}", echo), "${{name}}");
}

TEST(Expression, ListsReferencesInOrder) {
    const auto found = find_references("${{inputs.a}} $[[${{inputs.b}} ${{outputs.c}}]] ${{name}}");
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0], (Reference{"inputs", "a", false}));
    EXPECT_EQ(found[1], (Reference{"inputs", "b", true}));
    EXPECT_EQ(found[2], (Reference{"outputs", "c", true}));
    EXPECT_EQ(found[3], (Reference{"name", "", false}));
}

TEST(Expression, FindsBracketsThatNothingCloses) {
    EXPECT_EQ(find_unclosed("a ${{inputs.x} b"), "${{");
    EXPECT_EQ(find_unclosed("a $[[ ${{inputs.x}} b"), "$[[");
    EXPECT_EQ(find_unclosed("a $[[ ${{inputs.x ]]"), "${{");
    EXPECT_EQ(find_unclosed("${{inputs.x}} $[[y]] $["), std::nullopt);
}

TEST(Expression, SettlesBlocksAndKeepsReferences) {
    const auto present = [](const Reference& reference) { return reference.name != "z"; };
    EXPECT_EQ(settle_optional_blocks("x ${{inputs.z}} $[[-a ${{inputs.a}}]] $[[-z ${{inputs.z}}]]!", present),
              "x ${{inputs.z}} -a ${{inputs.a}} !");
    EXPECT_EQ(settle_optional_blocks("plain", present), "plain");
}

}  // namespace
}  // namespace lavant::spec
