#include "api/asset_writes.h"

#include <gtest/gtest.h>

#include "api/environments.h"
#include "api/test_world.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

class AssetWrites : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& path, const std::string& properties) {
        return world_.call({"PUT", kWs + path, R"({"properties":)" + properties + "}", {}});
    }
    ports::HttpResponse put_data(const std::string& version, const std::string& where) {
        return put("/data/d/versions/" + version,
                   R"({"dataType":"uri_file","dataUri":"azureml://datastores/b/paths/)" + where + "\"}");
    }
    Json get(const std::string& path) {
        const auto response = world_.call({"GET", kWs + path, "", {}});
        EXPECT_EQ(response.status, 200) << path << " " << response.body;
        return json_of(response);
    }
    int status(const std::string& path) { return world_.call({"GET", kWs + path, "", {}}).status; }
    int remove(const std::string& path) { return world_.call({"DELETE", kWs + path, "", {}}).status; }

    // What another client does between our look and our write, once.
    void meanwhile(std::function<void()> other) {
        world_.refuse = [this, other = std::move(other)](const plane::Event&) -> std::optional<Error> {
            const auto once = other;
            world_.refuse = nullptr;
            once();
            return std::nullopt;
        };
    }
    TestWorld world_;
};

TEST_F(AssetWrites, EqualOnesAtOnceAllSucceed) {
    world_.api();
    meanwhile([this] { EXPECT_EQ(put_data("1", "x").status, 201); });
    const auto mine = put_data("1", "x");
    EXPECT_EQ(mine.status, 200) << mine.body;
    EXPECT_EQ(get("/data/d").get("properties.nextVersion").text(), "2");
}

TEST_F(AssetWrites, DifferentOnesAtOnceDoNotOverwriteEachOther) {
    world_.api();
    meanwhile([this] { EXPECT_EQ(put_data("1", "theirs").status, 201); });
    EXPECT_EQ(put_data("1", "mine").status, 409);
    EXPECT_EQ(get("/data/d/versions/1").get("properties.dataUri").text(),
              "azureml://datastores/b/paths/theirs");
}

TEST_F(AssetWrites, NoVersionIsLostFromTheCount) {
    ASSERT_EQ(put_data("1", "a").status, 201);
    meanwhile([this] { EXPECT_EQ(put_data("8", "b").status, 201); });
    EXPECT_EQ(put_data("2", "c").status, 201);
    EXPECT_EQ(get("/data/d").get("properties.nextVersion").text(), "9");
    meanwhile([this] { EXPECT_EQ(put_data("9", "d").status, 201); });
    EXPECT_EQ(put("/data/d", R"({"isArchived":true})").status, 200);
    EXPECT_EQ(get("/data/d").get("properties.nextVersion").text(), "10");
}

TEST_F(AssetWrites, WhatAddsUpIsLimitedAsAWhole) {
    const std::string half = "\"" + std::string(600U << 10, 'x') + "\"";
    ASSERT_EQ(put_data("1", "a").status, 201);
    const auto with = [](const std::string& more) {
        return R"({"dataType":"uri_file","dataUri":"azureml://datastores/b/paths/a",)" + more + "}";
    };
    const std::string tags = R"("tags":{"a":)" + half + "}";
    const std::string own = R"("properties":{"a":)" + half + "}";
    EXPECT_EQ(put("/data/d/versions/1", with(tags)).status, 200);
    EXPECT_EQ(put("/data/d/versions/1", with(own)).status, 400);
    EXPECT_EQ(put("/data/d", "{" + tags + "}").status, 200);
    EXPECT_EQ(put("/data/d", "{" + own + "}").status, 400);
    EXPECT_EQ(put("/data/d", R"({"tags":{"a":"1"}})").status, 200) << "less is always possible";
}

TEST_F(AssetWrites, GiveUpAgainstSomebodyWhoNeverStops) {
    ASSERT_EQ(put_data("1", "a").status, 201);
    int tag = 0;
    bool inner = false;
    world_.refuse = [&](const plane::Event&) -> std::optional<Error> {
        if (std::exchange(inner, true)) return std::nullopt;
        put("/data/d/versions/1",
            R"({"dataType":"uri_file","dataUri":"azureml://datastores/b/paths/a","tags":{"n":")" +
                std::to_string(++tag) + "\"}}");
        inner = false;
        return std::nullopt;
    };
    const auto mine =
        put("/data/d/versions/1",
            R"({"dataType":"uri_file","dataUri":"azureml://datastores/b/paths/a","description":"x"})");
    EXPECT_EQ(mine.status, 409);
    EXPECT_NE(mine.body.find("try again"), std::string::npos);
}

TEST_F(AssetWrites, TheNewestThatIsNotArchivedIsTheLatest) {
    ASSERT_EQ(put_data("1", "a").status, 201);
    world_.clock.at += std::chrono::seconds(1);
    ASSERT_EQ(put_data("foo", "b").status, 201);
    EXPECT_EQ(get("/data/d").get("properties.latestVersion").text(), "foo");
    ASSERT_EQ(put("/data/d/versions/foo",
                  R"({"dataType":"uri_file","dataUri":"azureml://datastores/b/paths/b","isArchived":true})")
                  .status,
              200);
    EXPECT_EQ(get("/data/d").get("properties.latestVersion").text(), "1");
    EXPECT_EQ(get("/data/d/labels/latest")["name"].text(), "1");
}

TEST_F(AssetWrites, DeletesVersionsAndContainers) {
    ASSERT_EQ(put_data("1", "a").status, 201);
    ASSERT_EQ(put_data("2", "b").status, 201);
    EXPECT_EQ(remove("/data/d/versions/2"), 204);
    EXPECT_EQ(status("/data/d/versions/2"), 404);
    EXPECT_EQ(remove("/data/d/versions/2"), 204) << "done is done";
    EXPECT_EQ(get("/data/d").get("properties.latestVersion").text(), "1");
    EXPECT_EQ(get("/data/d").get("properties.nextVersion").text(), "3") << "numbers are not used twice";
    EXPECT_EQ(remove("/data/d"), 204);
    EXPECT_EQ(status("/data/d"), 404);
    EXPECT_EQ(status("/data/d/versions/1"), 404);
    const auto reader = world_.as("rob", Role::Reader);
    ASSERT_EQ(put_data("1", "a").status, 201);
    EXPECT_EQ(world_.call({"DELETE", kWs + "/data/d", "", reader}).status, 403);
}

TEST_F(AssetWrites, DeletesNothingThatCameInTheMeantime) {
    ASSERT_EQ(put_data("1", "a").status, 201);
    meanwhile([this] { EXPECT_EQ(put_data("2", "b").status, 201); });
    EXPECT_EQ(remove("/data/d"), 409);
    EXPECT_EQ(status("/data/d/versions/1"), 404);
    EXPECT_EQ(get("/data/d").get("properties.latestVersion").text(), "2");
    EXPECT_EQ(get("/data/d").get("properties.nextVersion").text(), "3");
    EXPECT_EQ(remove("/data/d"), 204);
}

TEST_F(AssetWrites, ComparesWhatACondaFileSays) {
    const auto put_file = [this](const char* text) {
        return put("/environments/c/versions/1", R"({"image":"i","condaFile":)" + json_quote(text) + "}")
            .status;
    };
    ASSERT_EQ(put_file("name: x\ndependencies:\n- python=3.11\n- pip:\n  - numpy\n"), 201);
    EXPECT_EQ(put_file("dependencies: [python=3.11, {pip: [numpy]}]\nname: 'x'\n"), 200);
    EXPECT_EQ(put_file("{\"dependencies\": [\"python=3.11\", {\"pip\": [\"numpy\"]}], \"name\": \"x\"}"),
              200);
    EXPECT_EQ(put_file("name: x\ndependencies:\n- pip:\n  - numpy\n- python=3.11\n"), 409) << "order counts";
    EXPECT_EQ(put_file("{not: [yaml"), 409);
}

TEST_F(AssetWrites, KeepsTheEnvironmentThatIsThereFromTheStart) {
    EXPECT_EQ(remove("/environments/base"), 409);
    EXPECT_EQ(remove("/environments/base/versions/1"), 409);
    EXPECT_EQ(status("/environments/base/versions/1"), 200);
}

TEST_F(AssetWrites, KeepsWhatALiveJobUses) {
    ASSERT_EQ(put("/environments/e/versions/1", R"({"image":"python:3.11"})").status, 201);
    ASSERT_EQ(put("/environments/e/versions/2", R"({"image":"python:3.12"})").status, 201);
    const auto made = world_.call({"PUT",
                                   kWs + "/jobs/j",
                                   R"({"properties":{"jobType":"Command","command":"x","environmentId":")" +
                                       kWs + R"(/environments/e/versions/1"}})",
                                   {}});
    ASSERT_EQ(made.status, 201) << made.body;
    const auto refused = world_.call({"DELETE", kWs + "/environments/e/versions/1", "", {}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_NE(refused.body.find("job 'j' is Queued"), std::string::npos) << refused.body;
    EXPECT_EQ(remove("/environments/e"), 409);
    EXPECT_EQ(remove("/environments/e/versions/2"), 204);
    world_.set_status("j", JobStatus::Completed);
    EXPECT_EQ(remove("/environments/e/versions/1"), 204);
    const auto again = world_.call({"PUT",
                                    kWs + "/jobs/k",
                                    R"({"properties":{"jobType":"Command","command":"x","environmentId":")" +
                                        kWs + R"(/environments/e/versions/1"}})",
                                    {}});
    EXPECT_EQ(again.status, 400) << "what was deleted is not remembered";
}

TEST_F(AssetWrites, RefusesWhatIsNoAsset) {
    const std::string data = "azureml://datastores/b/paths/x";
    EXPECT_EQ(put("/data/d/versions/1", R"({"dataType":"table","dataUri":")" + data + "\"}").status, 400);
    EXPECT_EQ(put("/data/d/versions/1", R"({"dataType":"uri_file"})").status, 400);
    EXPECT_EQ(put("/data/d/versions/1", R"({"dataUri":7})").status, 400);
    EXPECT_EQ(put("/models/m/versions/1", R"({})").status, 400);
    EXPECT_EQ(put("/models/m/versions/1", R"({"modelUri":"x","tags":[]})").status, 400);
    EXPECT_EQ(put("/environments/e/versions/1", R"({})").status, 400);
    EXPECT_EQ(put("/environments/e/versions/1", R"({"image":"x","build":{"contextUri":"y"}})").status, 400);
    EXPECT_EQ(put("/environments/e/versions/1", R"({"image":"x","isArchived":"yes"})").status, 400);
    EXPECT_EQ(put("/environments/AzureML-mine/versions/1", R"({"image":"x"})").status, 400);
    EXPECT_EQ(
        put("/models/m/versions/1", R"({"modelUri":"x","description":")" + std::string(1U << 20, 'x') + "\"}")
            .status,
        400);
    for (const char* bad : {"-a", "_a", "a%20b", "a%2Fb", "%2e%2e", "%ff", "a%3Ab", "a%40b"}) {
        EXPECT_EQ(put("/models/" + std::string(bad) + "/versions/1", R"({"modelUri":"x"})").status, 400)
            << bad;
        EXPECT_EQ(put("/models/m/versions/" + std::string(bad), R"({"modelUri":"x"})").status, 400) << bad;
    }
    EXPECT_EQ(put("/models/" + std::string(255, 'a') + "/versions/1", R"({"modelUri":"x"})").status, 201);
    EXPECT_EQ(put("/models/" + std::string(256, 'a') + "/versions/1", R"({"modelUri":"x"})").status, 400);
}

TEST_F(AssetWrites, NameThePlaceOfWhatAJobLeft) {
    world_.add_job("j", JobStatus::Completed);
    const std::string place =
        "azureml://subscriptions/s1/resourcegroups/g1/workspaces/w1/datastores/"
        "workspaceartifactstore/paths/ExperimentRun/dcid.j/outputs/m";
    int version = 0;
    for (const char* uri :
         {"azureml://jobs/j/outputs/artifacts/paths/outputs/m", "runs:/j/outputs/m", "runs://j/outputs/m"}) {
        const auto made = put("/models/m/versions/" + std::to_string(++version),
                              R"({"modelUri":")" + std::string(uri) + "\"}");
        ASSERT_EQ(made.status, 201) << made.body;
        EXPECT_EQ(json_of(made).get("properties.modelUri").text(), place);
        EXPECT_EQ(json_of(made).get("properties.jobName").text(), "j");
    }
    const auto data =
        put("/data/d/versions/1",
            R"({"dataType":"uri_folder","dataUri":"azureml://jobs/j/outputs/artifacts/paths/x"})");
    ASSERT_EQ(data.status, 201) << data.body;
    EXPECT_TRUE(json_of(data).get("properties.dataUri").text().ends_with("/dcid.j/x/"));
    EXPECT_EQ(get("/data/d").get("properties.dataType").text(), "uri_folder");
    for (const char* bad :
         {"azureml://jobs/none/outputs/o", "azureml://jobs/j/outputs/o", "runs:/", "runs:/none/x"})
        EXPECT_EQ(put("/models/x/versions/1", R"({"modelUri":")" + std::string(bad) + "\"}").status, 400)
            << bad;
}

TEST_F(AssetWrites, GiveAPlaceToUploadTo) {
    for (const char* kind : {"data", "models", "components", "environments"}) {
        const auto place =
            world_.call({"POST", kWs + "/" + kind + "/n/versions/1/startPendingUpload", "{}", {}});
        ASSERT_EQ(place.status, 200) << place.body;
        EXPECT_NE(json_of(place).get("blobReferenceForConsumption.credential.sasUri").text().find("/upload-"),
                  std::string_view::npos);
    }
}

}  // namespace
}  // namespace lavant::api
