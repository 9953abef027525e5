#include "api/asset_routes.h"

#include <gtest/gtest.h>

#include "api/asset_names.h"
#include "api/test_world.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

class AssetRoutes : public testing::Test {
 protected:
    ports::HttpResponse put(const std::string& path, const std::string& properties) {
        return world_.call({"PUT", kWs + path, R"({"properties":)" + properties + "}", {}});
    }
    Json get(const std::string& path) {
        const auto response = world_.call({"GET", kWs + path, "", {}});
        EXPECT_EQ(response.status, 200) << path << " " << response.body;
        return *wire::parse_json(response.body);
    }
    int status(const std::string& path) { return world_.call({"GET", kWs + path, "", {}}).status; }
    TestWorld world_;
};

TEST_F(AssetRoutes, HasTheDefaultEnvironmentFromTheStart) {
    EXPECT_EQ(get("/environments/base/versions/1")["id"].text(), kWs + "/environments/base/versions/1");
    EXPECT_EQ(get("/environments/base").get("properties.latestVersion").text(), "1");
}

TEST_F(AssetRoutes, GrowsEnvironmentVersionsByConflict) {
    EXPECT_EQ(status("/environments/e"), 404);
    const std::string first = R"({"image":"python:3.11","condaFile":"a: 1","tags":{"a":"b"}})";
    EXPECT_EQ(put("/environments/e/versions/1", first).status, 201);
    EXPECT_EQ(put("/environments/e/versions/1", R"({"image":"python:3.11","condaFile":"a: 1"})").status, 200);
    EXPECT_EQ(put("/environments/e/versions/1", R"({"image":"python:3.12"})").status, 409);
    EXPECT_EQ(get("/environments/e").get("properties.nextVersion").text(), "2");
    EXPECT_EQ(put("/environments/e/versions/2", R"({"image":"python:3.12"})").status, 201);
    EXPECT_EQ(get("/environments/e").get("properties.latestVersion").text(), "2");
    const Json stored = get("/environments/e/versions/1");
    EXPECT_EQ(stored.get("properties.tags.a").text(), "b") << "tags are kept when a PUT leaves them out";
    const Json newest = get("/environments/e/versions?%24orderBy=createdtime%20desc&%24top=1");
    ASSERT_EQ(newest["value"].size(), 1U);
    EXPECT_EQ(newest["value"].items().front()["name"].text(), "2");
}

TEST_F(AssetRoutes, ArchivesVersionsAndContainers) {
    ASSERT_EQ(put("/environments/e/versions/1", R"({"image":"python:3.11"})").status, 201);
    ASSERT_EQ(put("/environments/e/versions/1", R"({"image":"python:3.11","isArchived":true})").status, 200);
    EXPECT_EQ(get("/environments/e/versions?listViewType=ActiveOnly")["value"].size(), 0U);
    EXPECT_EQ(get("/environments/e/versions?listViewType=All")["value"].size(), 1U);
    const auto names = [&] {
        std::vector<std::string> all;
        const Json listed = get("/environments?listViewType=ActiveOnly");
        for (const Json& item : listed["value"].items()) all.push_back(item["name"].string());
        return all;
    };
    EXPECT_EQ(names().size(), 2U);
    ASSERT_EQ(put("/environments/e", R"({"isArchived":true})").status, 200);
    EXPECT_EQ(names(), std::vector<std::string>{"base"});
    EXPECT_EQ(get("/environments/e").get("properties.latestVersion").text(), "1");
}

TEST_F(AssetRoutes, FindsCodeByItsHashWhateverTheName) {
    const auto started = world_.call({"POST",
                                      kWs + "/codes/g1/versions/1/startPendingUpload",
                                      R"({"pendingUploadType":"TemporaryBlobReference"})",
                                      {}});
    ASSERT_EQ(started.status, 200) << started.body;
    const Json reference = (*wire::parse_json(started.body))["blobReferenceForConsumption"];
    const std::string uri = reference["blobUri"].string();
    EXPECT_TRUE(
        reference.get("credential.sasUri").text().starts_with("https://127.0.0.1:8443/storage/acct/code-"));
    const std::string code =
        R"({"codeUri":")" + uri +
        R"(/my src","isAnonymous":true,"properties":{"hash_sha256":"abc","hash_version":202208}})";
    ASSERT_EQ(put("/codes/g1/versions/1", code).status, 201);
    EXPECT_EQ(put("/codes/g1/versions/1", code).status, 200);
    EXPECT_EQ(get("/codes/other/versions?hash=nope&hashVersion=202208")["value"].size(), 0U);
    const Json hit = get("/codes/other/versions?hash=abc&hashVersion=202208")["value"];
    ASSERT_EQ(hit.size(), 1U);
    EXPECT_EQ(hit.items().front()["id"].text(), kWs + "/codes/g1/versions/1");
    EXPECT_EQ(get("/codes/g1/versions/1").get("properties.codeUri").text(), uri + "/my%20src");
    EXPECT_EQ(put("/codes/g2/versions/1", R"({"codeUri":"https://evil.example/x"})").status, 400);
    EXPECT_EQ(put("/codes/g2/versions/1", R"({"codeUri":"https://h/storage/acct/no-such/x"})").status, 400);
}

TEST_F(AssetRoutes, CodeIsReadWithTheCredentialOfTheWorkspacesBlobs) {
    const auto started = world_.call({"POST", kWs + "/codes/g1/versions/1/startPendingUpload", "{}", {}});
    const std::string uri = json_of(started).get("blobReferenceForConsumption.blobUri").string();
    const std::string path = uri.substr(uri.find("/storage/"));
    const auto secrets = world_.call({"POST", kWs + "/datastores/workspaceblobstore/listSecrets", "{}", {}});
    const std::string sas = json_of(secrets)["sasToken"].string();
    const auto with = [&](const std::string& method, const std::string& target) {
        return world_
            .call(
                {method, target + sas, method == "PUT" ? "x" : "", {{"x-ms-blob-type", "BlockBlob"}}, false})
            .status;
    };
    EXPECT_EQ(with("GET", path + "?restype=container&comp=list&"), 200);
    EXPECT_EQ(with("PUT", path + "/a?"), 403) << "to be read, not written";
    EXPECT_EQ(with("DELETE", path + "/a?"), 403);
    const auto artifacts =
        world_.call({"POST", kWs + "/datastores/workspaceartifactstore/listSecrets", "{}", {}});
    EXPECT_EQ(world_
                  .call({"GET",
                         path + "?restype=container&comp=list&" + json_of(artifacts)["sasToken"].string(),
                         "",
                         {},
                         false})
                  .status,
              403);
}

TEST(Workspaces, KnowWhoseCodeAContainerHas) {
    EXPECT_EQ(code_container(kDefaultWorkspace, "12ab"), "code-12ab");
    EXPECT_EQ(code_container("w9", "12ab"), "code-w9-12ab");
    EXPECT_EQ(workspace_of_code("code-12ab"), kDefaultWorkspace);
    EXPECT_EQ(workspace_of_code("code-w9-12ab"), "w9");
    EXPECT_EQ(workspace_of_code("code-"), kDefaultWorkspace);
    EXPECT_FALSE(workspace_of_code("azureml-blobstore"));
}

TEST_F(AssetRoutes, KeepsModelsAndDataAsTheSdkNeedsThem) {
    const std::string store = "azureml://datastores/workspaceblobstore/paths/";
    ASSERT_EQ(put("/models/m/versions/1",
                  R"({"modelUri":")" + store + R"(m","modelType":"custom_model","flavors":null})")
                  .status,
              201);
    EXPECT_TRUE(get("/models/m/versions/1").get("properties.flavors").is_object());
    ASSERT_EQ(put("/data/d/versions/1", R"({"dataUri":")" + store + R"(d","dataType":"uri_folder"})").status,
              201);
    EXPECT_EQ(get("/data/d/versions/1").get("properties.dataUri").text(), store + "d/");
    EXPECT_EQ(
        put("/data/d/versions/1", R"({"dataUri":")" + store + R"(other","dataType":"uri_folder"})").status,
        409);
}

TEST_F(AssetRoutes, RefusesHostileNamesAndBodies) {
    EXPECT_EQ(put("/environments/..%2F/versions/1", R"({"image":"x"})").status, 400);
    EXPECT_EQ(put("/environments/e/versions/%00", R"({"image":"x"})").status, 400);
    EXPECT_EQ(world_.call({"PUT", kWs + "/environments/e/versions/1", "{}", {}}).status, 400);
    EXPECT_EQ(world_.call({"PUT", kWs + "/environments/e/versions/1", "\xff", {}}).status, 400);
}

TEST(AssetNames, KnowsEverySpellingOfAVersion) {
    for (const char* text : {"azureml:n:1", "n:1", "/subscriptions/s/x/environments/n/versions/1",
                             "azureml:/subscriptions/s/x/Environments/n/versions/1",
                             "azureml://registries/azureml/environments/n/versions/1"}) {
        const auto name = parse_asset_name(text, "environments");
        ASSERT_TRUE(name) << text;
        EXPECT_EQ(name->name, "n");
        EXPECT_EQ(name->version, "1");
    }
    EXPECT_EQ(parse_asset_name("azureml:n@latest", "environments")->label, "latest");
    EXPECT_EQ(parse_asset_name("/x/environments/n/labels/default", "environments")->label, "default");
    for (const char* text :
         {"", ":", "n", "@x", "/x/environments/n", "/x/models/n/versions/1", "/environments//versions/1"})
        EXPECT_FALSE(parse_asset_name(text, "environments")) << text;
}

TEST(AssetNames, ReadsDatastoreUrisInBothForms) {
    EXPECT_EQ(parse_datastore_uri("azureml://datastores/d/paths/a/b")->path, "a/b");
    EXPECT_EQ(
        parse_datastore_uri("azureml://subscriptions/s/resourcegroups/g/workspaces/w/datastores/d/paths/p/")
            ->datastore,
        "d");
    for (const char* bad : {"", "azureml://", "azureml://datastores/d", "azureml://datastores/d/x/y",
                            "https://datastores/d/paths/x"})
        EXPECT_FALSE(parse_datastore_uri(bad)) << bad;
    EXPECT_EQ(*parse_storage_url("https://h:1/storage/acct.blob.core.windows.net/c/a%20b/?x=1"), "c/a b");
    EXPECT_EQ(*parse_storage_url("https://h:1/storage/acct/c"), "c");
    EXPECT_FALSE(parse_storage_url("https://h:1/other/acct/c"));
}

}  // namespace
}  // namespace lavant::api
