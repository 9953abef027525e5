// Whose data a user reaches through the things that name a place: code, inputs, uploads.

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/bounded_cache.h"
#include "api/data_uris.h"
#include "api/test_world.h"
#include "base/files.h"
#include "base/text.h"

namespace lavant::api {
namespace {

using wire::Json;

const std::string kMine =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/mine";
const std::string kTheirs =
    "/subscriptions/s1/resourceGroups/g1/providers/Microsoft.MachineLearningServices/workspaces/theirs";

// Bob contributes to the workspace "mine" and has no right anywhere else.
class DataRights : public testing::Test {
 protected:
    using Headers = std::map<std::string, std::string>;

    DataRights() : team_(world_.folder + "-team") {
        EXPECT_TRUE(make_directories(team_ + "/sub"));
        EXPECT_TRUE(write_file_atomically(team_ + "/sub/a.csv", "a,b"));
        for (const std::string& workspace : {kMine, kTheirs})
            EXPECT_EQ(world_.call({"GET", workspace, "", {}}).status, 200);
        bob_ = world_.as("bob", Role::None);
        assign(R"({"principal":"bob","role":"contributor"})", "mine");
    }
    ~DataRights() override { static_cast<void>(remove_tree(team_)); }

    void assign(const std::string& body, const std::string& workspace) {
        const auto made = world_.call(
            {"POST", "/lavant/v1/role-assignments", body, {{"Lavant-Workspace", "s1/g1/" + workspace}}});
        EXPECT_EQ(made.status, 201) << made.body;
    }
    ports::HttpResponse put(const std::string& path, const std::string& properties) {
        return world_.call({"PUT", path, R"({"properties":)" + properties + "}", bob_});
    }
    std::string container_of(const std::string& workspace, const std::string& datastore) {
        return json_of(world_.call({"GET", workspace + "/datastores/" + datastore, "", {}}))
            .get("properties.containerName")
            .string();
    }
    std::string code_of(const std::string& workspace) {
        const auto begun =
            world_.call({"POST", workspace + "/codes/c/versions/1/startPendingUpload", "{}", {}});
        return json_of(begun).get("blobReferenceForConsumption.blobUri").string();
    }
    // As an owner.
    std::string make_folder_store(const std::string& workspace, const std::string& name) {
        const auto made = world_.call(
            {"PUT",
             workspace + "/datastores/" + name,
             R"({"properties":{"datastoreType":"AzureBlob","lavant":{"path":)" + json_quote(team_) + "}}}",
             {}});
        EXPECT_EQ(made.status, 201) << made.body;
        return container_of(workspace, name);
    }
    static std::string url(const std::string& container) {
        return "https://h/storage/acct/" + container + "/priv";
    }
    ports::HttpResponse put_code(const std::string& name, const std::string& uri) {
        return put(kMine + "/codes/" + name + "/versions/1", R"({"codeUri":)" + json_quote(uri) + "}");
    }
    ports::HttpResponse submit(const std::string& name, const std::string& more) {
        return put(kMine + "/jobs/" + name,
                   R"({"jobType":"Command","command":"true","environmentId":"azureml:base:1",)" + more + "}");
    }
    ports::HttpResponse submit_with_input(const std::string& uri) {
        return submit("j" + std::to_string(++jobs_),
                      R"("inputs":{"i":{"jobInputType":"uri_folder","uri":)" + json_quote(uri) + "}}");
    }

    TestWorld world_;
    std::string team_;
    Headers bob_;
    int jobs_ = 0;
};

TEST_F(DataRights, CodeLiesInItsOwnWorkspace) {
    const std::string folder = make_folder_store(kTheirs, "team");
    for (const std::string& place :
         {url(container_of(kTheirs, "workspaceblobstore")),
          url(container_of(kTheirs, "workspaceartifactstore")), url("azureml-blobstore"), url("azureml"),
          url(folder), code_of(kTheirs), code_of(kWs), url("no-such"),
          url(container_of(kMine, "workspaceblobstore") + "/.lavant-staging"),
          url(container_of(kMine, "workspaceblobstore") + "%2F.lavant-staging%2F")}) {
        const auto refused = put_code("stolen", place);
        EXPECT_EQ(refused.status, 400) << place << " " << refused.body;
        EXPECT_NE(refused.body.find("not there"), std::string::npos) << "no word of what others have";
    }
    for (const std::string& place :
         {code_of(kMine), url(container_of(kMine, "workspaceblobstore")) + "/LocalUpload/x"})
        EXPECT_EQ(put_code("own" + std::to_string(++jobs_), place).status, 201) << place;
}

TEST_F(DataRights, CodeOfADatastoreNeedsTheRightToReadIt) {
    const std::string folder = make_folder_store(kMine, "team");
    ASSERT_EQ(put_code("before", url(folder)).status, 201);
    const std::string code = R"("codeId":")" + kMine + R"(/codes/before/versions/1")";
    EXPECT_EQ(submit("allowed", code).status, 201);
    assign(R"({"principal":"bob","data":"none","resource":"datastores/team"})", "mine");
    EXPECT_EQ(put_code("after", url(folder)).status, 403);
    EXPECT_EQ(submit("refused", code).status, 403) << "though it was found before";
}

// Rows from before there was a check.
TEST_F(DataRights, AJobGetsNoCodeOfAnotherWorkspace) {
    AssetWrite write;
    const auto row = world_.store.find_asset({"", "workspaces", "s1/g1/mine", ""});
    write.asset.key = {(*row)->hash, "codes", "old", "1"};
    write.asset.body = R"({"codeUri":"azureml-blobstore/priv"})";
    world_.write({write});
    const auto refused = submit("thief", R"("codeId":"azureml:old:1")");
    EXPECT_EQ(refused.status, 400) << refused.body;
}

TEST_F(DataRights, APathIntoADatastoresFolderNeedsTheRightToIt) {
    make_folder_store(kTheirs, "team");
    const std::string link = world_.folder + "/link";
    ASSERT_EQ(::symlink(team_.c_str(), link.c_str()), 0);
    for (const std::string& uri :
         {"file://" + team_, "file:" + team_, team_, team_ + "/sub/a.csv", "file://" + team_ + "/not/yet",
          "file://" + link + "/sub", "file:///" + percent_encode(team_.substr(1)), std::string("file:///"),
          team_ + "/./sub"})
        EXPECT_EQ(submit_with_input(uri).status, 403) << uri;
    for (const std::string& uri :
         {"file:///x/.." + team_, "file:///x/%2e%2e" + team_, "/x/.." + team_, std::string("file:///x%00y")})
        EXPECT_EQ(submit_with_input(uri).status, 400) << uri;
    EXPECT_EQ(submit("python", R"("properties":{"lavant.python_home":)" + json_quote(team_) + "}").status,
              403);
    EXPECT_EQ(submit_with_input("file:///usr/share").status, 201) << "it is nobody's";
    EXPECT_EQ(submit_with_input(team_ + "-other").status, 201) << "it only begins alike";
    assign(R"({"principal":"bob","data":"read","resource":"datastores/team"})", "theirs");
    EXPECT_EQ(submit_with_input("file://" + team_).status, 201);
}

TEST_F(DataRights, OnlyOwnersSeeWhereAFolderLies) {
    make_folder_store(kMine, "team");
    const auto shown = world_.call({"GET", kMine + "/datastores/team", "", bob_});
    EXPECT_EQ(shown.status, 200);
    EXPECT_EQ(shown.body.find(team_), std::string::npos) << shown.body;
    EXPECT_EQ(world_.call({"GET", kMine + "/datastores", "", bob_}).body.find(team_), std::string::npos);
    EXPECT_NE(world_.call({"GET", kMine + "/datastores/team", "", {}}).body.find(team_), std::string::npos);
}

TEST(Mirrors, LeadNowhereElse) {
    const std::map<std::string, std::string> mirrors{{"acct", "/mirror"}};
    EXPECT_EQ(find_mirror(mirrors, {"acct", "c", ""}), "/mirror/c");
    for (const char* container : {"..", "%2e%2e", "%2E.", "a/b"})
        EXPECT_FALSE(find_mirror(mirrors, {"acct", container, ""})) << container;
}

TEST_F(DataRights, WhatNamesAnotherWorkspaceIsNotTakenForOnesOwn) {
    const std::string long_form = "azureml://subscriptions/s1/resourcegroups/g1/workspaces/";
    const std::string path = "/datastores/workspaceblobstore/paths/x";
    EXPECT_EQ(submit_with_input(long_form + "mine" + path).status, 201);
    EXPECT_EQ(submit_with_input(long_form + "MINE" + path).status, 201);
    EXPECT_EQ(submit_with_input("azureml:/" + long_form.substr(10) + "mine" + path).status, 400);
    ASSERT_EQ(put(kMine + "/data/d/versions/1",
                  R"({"dataType":"uri_file","dataUri":"azureml://datastores/workspaceblobstore/paths/x"})")
                  .status,
              201);
    EXPECT_EQ(submit_with_input(kMine + "/data/d/versions/1").status, 201);
    for (const std::string& uri :
         {long_form + "theirs" + path, long_form + "none" + path, kTheirs + "/data/d/versions/1",
          "azureml:" + kTheirs + "/data/d/versions/1", long_form + "theirs/jobs/j/outputs/o",
          std::string("azureml://subscriptions/s1/datastores/workspaceblobstore/paths/x")}) {
        const auto refused = submit_with_input(uri);
        EXPECT_EQ(refused.status, 400) << uri;
        EXPECT_NE(refused.body.find("not in this one"), std::string::npos) << refused.body;
    }
    EXPECT_EQ(submit("o", R"("outputs":{"o":{"jobOutputType":"uri_folder","uri":)" +
                              json_quote(long_form + "theirs" + path) + "}}")
                  .status,
              400);
    EXPECT_EQ(put(kMine + "/jobs/e", R"({"jobType":"Command","command":"true","environmentId":")" + kTheirs +
                                         R"(/environments/base/versions/1"})")
                  .status,
              400);
    EXPECT_EQ(submit("c", R"("codeId":")" + kTheirs + R"(/codes/c/versions/1")").status, 400);
}

TEST_F(DataRights, AnUploadCanBeReadByTheJobsOfItsWorkspace) {
    const auto begun = world_.call({"POST", kMine + "/data/d/versions/1/startPendingUpload", "{}", bob_});
    const std::string uri = json_of(begun).get("blobReferenceForConsumption.blobUri").string();
    ASSERT_EQ(
        put(kMine + "/data/d/versions/1", R"({"dataType":"uri_folder","dataUri":)" + json_quote(uri) + "}")
            .status,
        201);
    const auto made = submit_with_input("azureml:d:1");
    ASSERT_EQ(made.status, 201) << made.body;
    const auto& job = std::get<plane::SubmitJob>(world_.posted.back());
    const std::string container = uri.substr(uri.rfind('/') + 1);
    EXPECT_NE(job.job.body.launch.find("azureml://datastores/" + container + "/paths/"), std::string::npos)
        << job.job.body.launch;
    const std::string path = "/storage/acct/" + container + "?restype=container&comp=list";
    EXPECT_EQ(world_.call({"GET", path, "", bob_}).status, 200);
    EXPECT_EQ(world_.call({"GET", path, "", world_.as("eve", Role::None)}).status, 403);
    EXPECT_EQ(submit("o", R"("outputs":{"o":{"jobOutputType":"uri_folder","uri":"azureml://datastores/)" +
                              container + R"(/paths/x"}})")
                  .status,
              400);
    assign(R"({"principal":"bob","data":"none","resource":"datastores/workspaceblobstore"})", "mine");
    EXPECT_EQ(submit_with_input("azureml:d:1").status, 403);
    ASSERT_TRUE(world_.blobs().has_container(container));
    EXPECT_EQ(world_.call({"DELETE", kMine, "", {}}).status, 202);
    EXPECT_FALSE(world_.blobs().has_container(container)) << "it goes with its workspace";
}

TEST_F(DataRights, AFolderIsClosedWithItsWorkspace) {
    const std::string container = make_folder_store(kMine, "team");
    const std::string secrets = kMine + "/datastores/team/listSecrets";
    const std::string sas =
        json_of(world_.call({"POST", secrets, R"({"expirableSecret":true})", {}}))["sasToken"].string();
    const std::string blob = "/storage/acct/" + container + "/sub/a.csv";
    const Headers none{{"Authorization", ""}};
    ASSERT_EQ(world_.call({"GET", blob + "?" + sas, "", none}).status, 200);
    ASSERT_EQ(world_.call({"DELETE", kMine, "", {}}).status, 202);
    EXPECT_EQ(world_.call({"GET", blob + "?" + sas, "", none}).status, 404);
    EXPECT_EQ(
        world_.call({"PUT", blob + "?" + sas, "x", {{"Authorization", ""}, {"x-ms-blob-type", "BlockBlob"}}})
            .status,
        404);
    EXPECT_TRUE(exists(team_ + "/sub/a.csv")) << "its files stay";
}

TEST(BoundedCacheTest, DropsWhatWasReadBeforeItWasCleared) {
    BoundedCache<int> cache(2);
    const std::uint64_t before = cache.generation();
    cache.clear();
    cache.put("a", 1, before);
    EXPECT_FALSE(cache.find("a"));
    cache.put("a", 1, cache.generation());
    EXPECT_EQ(cache.find("a"), 1);
}

}  // namespace
}  // namespace lavant::api
