// Whose data a user reaches through the things that name a place: code, inputs, uploads.

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace lavant::api
