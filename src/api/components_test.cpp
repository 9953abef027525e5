#include <gtest/gtest.h>

#include "api/component_spec.h"
#include "api/test_world.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

const FindComponent kKnowsNone = [](std::string_view) -> std::optional<Json> { return std::nullopt; };

Json complete(const std::string& text, const FindComponent& find = kKnowsNone) {
    auto spec = complete_component(*wire::parse_json(text), {"c", "3", false}, find);
    EXPECT_TRUE(spec) << spec.error().message;
    return spec ? *spec : Json();
}

TEST(ComponentSpec, FillsWhatACommandLeavesOut) {
    const Json spec = complete(
        R"({"type":"command","command":"x",
            "inputs":{"a":{"type":"number","optional":true},"b":{"type":"uri_file"}},
            "distribution":{"type":"pytorch","process_count_per_instance":4},"sourceJobId":null})");
    EXPECT_EQ(spec["name"].text(), "c");
    EXPECT_EQ(spec["version"].text(), "3");
    EXPECT_TRUE(spec.get("inputs.a.optional").boolean());
    EXPECT_TRUE(spec.get("inputs.b.optional").is_boolean());
    EXPECT_FALSE(spec.get("inputs.b.optional").boolean(true));
    EXPECT_EQ(spec.get("resources.instance_count").integer(), 1);
    EXPECT_EQ(spec.get("distribution.process_count_per_instance").text(), "4");
    EXPECT_FALSE(spec.has("sourceJobId")) << "clients break on nulls";
    EXPECT_EQ(complete(R"({"type":"command","resources":{"instance_count":2}})")
                  .get("resources.instance_count")
                  .integer(),
              2);
}

TEST(ComponentSpec, KnowsTheOtherKinds) {
    EXPECT_FALSE(complete(R"({"type":"parallel","resources":{"instance_count":2}})").has("resources"));
    const Json spark = complete(
        R"({"type":"spark","inputs":{"a":{"type":"uri_file","mode":"direct"}},"outputs":{"o":{"type":"uri_folder","mode":"direct"}}})");
    EXPECT_FALSE(spark["inputs"]["a"].has("mode"));
    EXPECT_FALSE(spark["outputs"]["o"].has("mode"));
    EXPECT_FALSE(complete(R"({"type":"pipeline"})")["is_deterministic"].boolean(true));
    const auto compute = [](const std::string& sent) {
        return complete(R"({"type":"pipeline","settings":{"default_compute":")" + sent + "\"}}")
            .get("settings.default_compute")
            .string();
    };
    EXPECT_EQ(compute("azureml:cpu"), "cpu");
    EXPECT_EQ(compute("cpu"), "cpu");
    EXPECT_EQ(compute("azureml://x"), "azureml://x");
    EXPECT_EQ(complete(R"({"type":"pipeline","settings":3})")["settings"].integer(), 3);
    EXPECT_TRUE(complete(R"({"type":"command"})")["is_deterministic"].boolean());
}

TEST(ComponentSpec, TakesFromItsSteps) {
    const FindComponent find = [](std::string_view id) -> std::optional<Json> {
        if (id != "/step") return std::nullopt;
        return *wire::parse_json(R"({"outputs":{"o":{"type":"string","early_available":true}}})");
    };
    const Json spec = complete(
        R"({"type":"pipeline",
            "inputs":{"where":{"type":"string","default":"azureml:cpu"},
                      "what":{"type":"string","default":"azureml:d"}},
            "outputs":{"result":{"type":"string"},"late":{"type":"string"}},
            "jobs":{"a":{"componentId":"/step","computeId":"${{parent.inputs.where}}",
                         "outputs":{"o":{"value":"${{parent.outputs.result}}","type":"literal"}}},
                    "b":{"componentId":"/other","outputs":{"o":"${{ parent.outputs.late }}"}}}})",
        find);
    EXPECT_EQ(spec.get("inputs.where.default").text(), "cpu");
    EXPECT_EQ(spec.get("inputs.what.default").text(), "azureml:d") << "no step takes it for a compute";
    EXPECT_TRUE(spec.get("outputs.result.early_available").boolean());
    EXPECT_FALSE(spec["outputs"]["late"].has("early_available"));
}

TEST(ComponentSpec, NamesCuratedEnvironmentsByTheirRegistry) {
    EXPECT_EQ(complete(R"({"type":"command","environment":"azureml:AzureML-x:33"})")["environment"].text(),
              "azureml://registries/azureml/environments/AzureML-x/versions/33");
    EXPECT_EQ(complete(R"({"type":"command","environment":"azureml:mine:1"})")["environment"].text(),
              "azureml:mine:1");
}

TEST(ComponentSpec, RefusesWhatIsNone) {
    for (const char* bad : {"[]", "3", "{}", R"({"type":3})", R"({"type":"command","inputs":[]})",
                            R"({"type":"pipeline","jobs":"x"})"})
        EXPECT_FALSE(complete_component(*wire::parse_json(bad), {"c", "1", false}, kKnowsNone)) << bad;
}

TEST(ComponentSpec, FindsWhatMakesAnotherComponent) {
    const Json stored = complete(
        R"({"type":"command","command":"x","code":"azureml:/s/codes/a/versions/1","description":"d"})");
    Json wanted = stored;
    wanted.set("description", "other");
    wanted.set("code", "/s/codes/a/versions/1");
    EXPECT_FALSE(changed_component_field(stored, wanted));
    wanted.set("code", "/s/codes/b/versions/1");
    EXPECT_EQ(changed_component_field(stored, wanted), "code");
    wanted = stored;
    wanted.set("command", "y");
    EXPECT_EQ(changed_component_field(stored, wanted), "command");
    const Json pipeline = complete(R"({"type":"pipeline","jobs":{"a":{"componentId":"/1","name":"a"}}})");
    EXPECT_FALSE(changed_component_field(
        pipeline, complete(R"({"type":"pipeline","jobs":{"a":{"componentId":"/1"}}})")));
    EXPECT_EQ(changed_component_field(pipeline,
                                      complete(R"({"type":"pipeline","jobs":{"a":{"componentId":"/2"}}})")),
              "jobs");
}

class Components : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& path, const std::string& spec,
                            const std::string& more = R"("isAnonymous":false)") {
        return world_.call({"PUT",
                            kWs + "/components" + path,
                            R"({"properties":{"componentSpec":)" + spec + "," + more + "}}",
                            {}});
    }
    Json get(const std::string& path) {
        const auto response = world_.call({"GET", kWs + "/components" + path, "", {}});
        EXPECT_EQ(response.status, 200) << path << " " << response.body;
        return json_of(response);
    }
    TestWorld world_;
};

TEST_F(Components, AreRegisteredAndFoundByVersionAndByDefault) {
    const auto made = put("/c/versions/1", R"({"name":"c","type":"command","command":"x"})");
    ASSERT_EQ(made.status, 201) << made.body;
    world_.clock.at += std::chrono::seconds(1);
    ASSERT_EQ(put("/c/versions/foo", R"({"name":"c","type":"command","command":"y"})").status, 201);
    EXPECT_EQ(get("/c/versions/1").get("properties.componentSpec.version").text(), "1");
    const Json found = get("/c/versions/azureml_default");
    EXPECT_EQ(found["id"].text(), kWs + "/components/c/labels/default");
    EXPECT_EQ(found.get("properties.componentSpec.version").text(), "foo");
    EXPECT_EQ(get("/c/labels/latest").get("properties.componentSpec.version").text(), "foo");
    const std::string next = get("/c").get("properties.nextVersion").string();
    EXPECT_EQ(next.size(), std::string_view("2026-09-21-14-13-21-0000000").size()) << next;
    EXPECT_EQ(get("/c").get("properties.latestVersion").text(), "foo");
    EXPECT_EQ(world_.call({"GET", kWs + "/components/none/versions/azureml_default", "", {}}).status, 404);
    EXPECT_EQ(put("/c/versions/azureml_default", R"({"type":"command"})").status, 400);
}

TEST_F(Components, KeepTheirProgram) {
    const std::string first = R"({"name":"c","type":"command","command":"x","display_name":"a"})";
    ASSERT_EQ(put("/c/versions/1", first).status, 201);
    const auto renamed =
        put("/c/versions/1", R"({"name":"c","type":"command","command":"x","display_name":"b"})");
    EXPECT_EQ(renamed.status, 200);
    EXPECT_EQ(json_of(renamed).get("properties.componentSpec.display_name").text(), "b");
    const auto changed = put("/c/versions/1", R"({"name":"c","type":"command","command":"z"})");
    EXPECT_EQ(changed.status, 400);
    EXPECT_NE(changed.body.find("use another version"), std::string::npos) << changed.body;
}

TEST_F(Components, WithoutANameAreTheLastOneOfTheirGuid) {
    const std::string anonymous = R"("isAnonymous":true)";
    ASSERT_EQ(
        put("/azureml_anonymous/versions/g", R"({"name":"a","version":"0.1","type":"command"})", anonymous)
            .status,
        201);
    const auto second = put("/azureml_anonymous/versions/g", R"({"name":"b","type":"command"})", anonymous);
    EXPECT_EQ(second.status, 200) << second.body;
    EXPECT_EQ(get("/azureml_anonymous/versions/g").get("properties.componentSpec.name").text(), "b");
    EXPECT_EQ(get("?listViewType=All")["value"].size(), 0U) << "they have no container";
}

TEST_F(Components, NeedTheirCode) {
    const auto refused = put("/c/versions/1", R"({"type":"command","command":"x","code":"azureml:)" + kWs +
                                                  R"(/codes/gone/versions/1"})");
    EXPECT_EQ(refused.status, 400);
    EXPECT_NE(refused.body.find("componentSpec.code"), std::string::npos);
    EXPECT_NE(refused.body.find("upload it again"), std::string::npos);
    EXPECT_EQ(put("/c/versions/1", R"({"type":"command","code":"git+https://h/r"})").status, 201);
}

}  // namespace
}  // namespace lavant::api
