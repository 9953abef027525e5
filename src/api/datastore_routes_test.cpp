#include "api/datastore_routes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/datastores.h"
#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {
namespace {

class DatastoreRoutes : public testing::Test {
 protected:
    DatastoreRoutes() : team_(world_.folder + "-team") {
        EXPECT_TRUE(make_directories(team_ + "/sub"));
        EXPECT_TRUE(write_file_atomically(team_ + "/sub/a.csv", "a,b"));
    }
    ~DatastoreRoutes() override { static_cast<void>(remove_tree(team_)); }
    static std::string at(const std::string& name) { return kWs + "/datastores/" + name; }
    ports::HttpResponse put(const std::string& name, const std::string& properties,
                            const std::map<std::string, std::string>& headers = {}) {
        return world_.call({"PUT", at(name), R"({"properties":)" + properties + "}", headers});
    }
    ports::HttpResponse put_folder(const std::string& name, const std::string& path,
                                   const std::map<std::string, std::string>& headers = {}) {
        return put(name, R"({"datastoreType":"AzureBlob","lavant":{"path":)" + json_quote(path) + "}}",
                   headers);
    }
    std::string sas_of(const std::string& name, const std::map<std::string, std::string>& headers = {}) {
        return json_of(world_.call(
            {"POST", at(name) + "/listSecrets", R"({"expirableSecret":true})", headers}))["sasToken"]
            .string();
    }

    TestWorld world_;
    std::string team_;
    const std::string blob_ =
        R"({"datastoreType":"AzureBlob","accountName":"a","containerName":"c","tags":{"k":"v"},)"
        R"("credentials":{"credentialsType":"AccountKey","secrets":{"secretsType":"AccountKey","key":"S3cret"}}})";
};

TEST_F(DatastoreRoutes, KeepsForeignOnesWithTheirSecretsSealed) {
    const auto made = put("mine", blob_);
    ASSERT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(made.body.find("S3cret"), std::string::npos);
    EXPECT_EQ(put("mine", blob_).status, 200);
    const auto got = world_.call({"GET", at("mine"), "", {}});
    EXPECT_EQ(got.body.find("S3cret"), std::string::npos);
    EXPECT_EQ(json_of(got).get("properties.accountName").text(), "a");
    EXPECT_EQ(json_of(got).get("properties.credentials.credentialsType").text(), "AccountKey");
    EXPECT_EQ(json_of(got).get("properties.isDefault").dump(), "false");
    const auto rows =
        world_.store.list_assets({.workspace = kDefaultWorkspace, .kind = "datastores", .unversioned = true});
    ASSERT_EQ(rows->size(), 1U);
    EXPECT_EQ(rows->front().body.find("S3cret"), std::string::npos);
    const auto secrets = world_.call({"POST", at("mine") + "/listSecrets", "{}", {}});
    EXPECT_EQ(json_of(secrets)["key"].text(), "S3cret");
    EXPECT_EQ(json_of(secrets)["secretsType"].text(), "AccountKey");
    EXPECT_EQ(
        world_.call({"POST", at("mine") + "/listSecrets", "{}", world_.as("rita", Role::Reader)}).status,
        403);
    // An update that does not say them leaves them.
    EXPECT_EQ(put("mine", R"({"datastoreType":"AzureBlob","accountName":"a2","containerName":"c",)"
                          R"("credentials":{"credentialsType":"AccountKey"}})")
                  .status,
              200);
    EXPECT_EQ(json_of(world_.call({"POST", at("mine") + "/listSecrets", "", {}}))["key"].text(), "S3cret");
}

TEST_F(DatastoreRoutes, TakesEveryKindAndSaysWhatIsMissing) {
    EXPECT_EQ(
        put("f",
            R"({"datastoreType":"AzureFile","accountName":"a","fileShareName":"s","credentials":{"credentialsType":"Sas","secrets":{"secretsType":"Sas","sasToken":"sv=1"}}})")
            .status,
        201);
    EXPECT_EQ(
        put("g1",
            R"({"datastoreType":"AzureDataLakeGen1","storeName":"s","credentials":{"credentialsType":"None"}})")
            .status,
        201);
    EXPECT_EQ(put("g2", R"({"datastoreType":"AzureDataLakeGen2","accountName":"a","filesystem":"f"})").status,
              201);
    EXPECT_EQ(
        put("one",
            R"({"datastoreType":"OneLake","oneLakeWorkspaceName":"w","artifact":{"artifactType":"LakeHouse","artifactName":"x"}})")
            .status,
        201);
    EXPECT_EQ(world_.call({"POST", at("g2") + "/listSecrets", "{}", {}}).status, 400) << "it has none";
    for (
        const char* bad :
        {R"({"datastoreType":"AzureBlob","accountName":"a"})", R"({"datastoreType":"Tape"})", R"({})",
         R"({"datastoreType":"AzureDataLakeGen1","storeName":"s","credentials":{"credentialsType":"Magic"}})",
         R"({"datastoreType":"AzureDataLakeGen1","storeName":"s","credentials":{"credentialsType":"AccountKey"}})"})
        EXPECT_EQ(put("bad", bad).status, 400) << bad;
    EXPECT_EQ(put("bad.name", blob_).status, 400);
    EXPECT_EQ(world_.call({"PUT", at("bad"), "[]", {}}).status, 400);
    EXPECT_EQ(put("r", blob_, world_.as("rita", Role::Reader)).status, 403);
}

TEST_F(DatastoreRoutes, ListsInPages) {
    for (const char* name : {"b", "a", "c"}) ASSERT_EQ(put(name, blob_).status, 201);
    const auto all = json_of(world_.call({"GET", kWs + "/datastores", "", {}}));
    ASSERT_EQ(all["value"].size(), 5U);
    EXPECT_EQ(all["value"].items()[0]["name"].text(), "workspaceblobstore");
    EXPECT_EQ(all["value"].items()[2]["name"].text(), "a");
    EXPECT_FALSE(all.has("nextLink"));
    std::string link = kWs + "/datastores?count=2&api-version=x";
    std::size_t seen = 0;
    for (int page = 0; page < 3; ++page) {
        const auto got = json_of(world_.call({"GET", link, "", {}}));
        seen += got["value"].size();
        link = got["nextLink"].string();
        link = link.substr(std::min(link.size(), link.find("/subscriptions")));
    }
    EXPECT_EQ(seen, 5U);
    EXPECT_EQ(link, "");
    EXPECT_EQ(json_of(world_.call({"GET", kWs + "/datastores?isDefault=true", "", {}}))["value"].size(), 1U);
    EXPECT_EQ(json_of(world_.call({"GET", kWs + "/datastores?names=a,c", "", {}}))["value"].size(), 2U);
}

TEST_F(DatastoreRoutes, TheWorkspacesOwnStay) {
    for (const char* name : {"workspaceblobstore", "workspaceartifactstore"}) {
        EXPECT_EQ(world_.call({"DELETE", at(name), "", {}}).status, 409);
        EXPECT_EQ(put(name, blob_).status, 409);
    }
    EXPECT_EQ(world_.call({"DELETE", at("none"), "", {}}).status, 204);
    EXPECT_EQ(world_.call({"GET", at("none"), "", {}}).status, 404);
    EXPECT_EQ(world_.call({"POST", at("none") + "/listSecrets", "", {}}).status, 404);
    ASSERT_EQ(put("mine", blob_).status, 201);
    EXPECT_EQ(world_.call({"DELETE", at("mine"), "", {}}).status, 200);
    EXPECT_EQ(world_.call({"GET", at("mine"), "", {}}).status, 404);
}

TEST_F(DatastoreRoutes, AFolderIsServedAsAContainer) {
    const auto made = put_folder("team", team_ + "/./");
    ASSERT_EQ(made.status, 201) << made.body;
    const auto about = json_of(made)["properties"];
    EXPECT_EQ(about["datastoreType"].text(), "AzureBlob");
    EXPECT_EQ(about.get("lavant.path").text(), team_);
    const std::string root = "/storage/acct/" + about["containerName"].string();
    const std::string sas = sas_of("team");
    const auto listed = world_.call({"GET", root + "?restype=container&comp=list&" + sas, "", {}, false});
    EXPECT_NE(listed.body.find("<Name>sub/a.csv</Name>"), std::string::npos) << listed.body;
    EXPECT_EQ(world_.body_of(world_.call({"GET", root + "/sub/a.csv?" + sas, "", {}, false})), "a,b");
    ASSERT_EQ(world_.call({"PUT", root + "/new/b.txt?" + sas, "hello", {}, false}).status, 201);
    EXPECT_EQ(*read_file(team_ + "/new/b.txt", 100), "hello");
    const std::string readers = sas_of("team", world_.as("rita", Role::Reader));
    EXPECT_EQ(world_.call({"PUT", root + "/no.txt?" + readers, "x", {}, false}).status, 403);
    // Its row is the truth: a store that knows nothing of it learns of it at the next start.
    world_.blobs().unmap_container(about["containerName"].string());
    EXPECT_EQ(world_.call({"GET", root + "/sub/a.csv?" + sas, "", {}, false}).status, 404);
    ASSERT_TRUE(map_folders(world_.store, world_.blobs()));
    EXPECT_EQ(world_.call({"GET", root + "/sub/a.csv?" + sas, "", {}, false}).status, 200);
    EXPECT_EQ(world_.call({"DELETE", at("team"), "", {}}).status, 200);
    EXPECT_EQ(world_.call({"GET", root + "/sub/a.csv?" + sas, "", {}, false}).status, 404);
    EXPECT_TRUE(exists(team_ + "/new/b.txt")) << "the user's files stay";
    const auto again = put_folder("team", team_);
    ASSERT_EQ(again.status, 201);
    EXPECT_NE(json_of(again).get("properties.containerName").text(), about["containerName"].text())
        << "old signatures do not open it";
}

TEST_F(DatastoreRoutes, RefusesFoldersThatAreNotTheUsersToGive) {
    ASSERT_EQ(put_folder("team", team_).status, 201);
    EXPECT_EQ(put_folder("team", team_).status, 200);
    ASSERT_EQ(::symlink(world_.folder.c_str(), (team_ + "/link").c_str()), 0);
    for (const std::string& path :
         {team_, team_ + "/sub", world_.folder, world_.folder + "/blobs", team_ + "/link", std::string("/"),
          parent_of(world_.folder), team_ + "/sub/a.csv", team_ + "-none", std::string("relative")})
        EXPECT_EQ(put_folder("other", path).status, 400) << path;
    EXPECT_EQ(put_folder("mine", "/usr", world_.as("cory", Role::Contributor)).status, 403);
    EXPECT_EQ(put("team", blob_).status, 409) << "another kind";
    EXPECT_EQ(put_folder("team", "/usr").status, 409) << "another folder";
    EXPECT_EQ(world_.call({"DELETE", at("team"), "", world_.as("carl", Role::Contributor)}).status, 403);
}

TEST_F(DatastoreRoutes, GivesAnOwnerTheKeyOfOneDatastoreAlone) {
    ASSERT_EQ(put_folder("team", team_).status, 201);
    const auto key_of = [&](const std::string& name) {
        return json_of(world_.call(
            {"POST", at(name) + "/listSecrets", R"({"expirableSecret":false})", {}}))["key"]
            .string();
    };
    EXPECT_EQ(base64_decode(key_of("team"))->size(), 32U);
    EXPECT_NE(key_of("team"), key_of("workspaceblobstore"));
    const auto to_contributor =
        world_.call({"POST", at("team") + "/listSecrets", R"({"expirableSecret":false})",
                     world_.as("cory", Role::Contributor)});
    EXPECT_EQ(json_of(to_contributor)["secretsType"].text(), "Sas");
}

}  // namespace
}  // namespace lavant::api
