#include "cli/compute_create.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

const std::string kComputes = kWorkspacePath + "/computes";
const std::string kMade =
    R"({"name":"cpu-cluster","properties":{"computeType":"AmlCompute","lavant":{"warnings":["it is far"]},"properties":)"
    R"({"vmSize":"Standard_DS3_v2","scaleSettings":{"minNodeCount":0,"maxNodeCount":2}}}})";

class CreateCompute : public testing::Test {
 protected:
    CreateCompute() : context_(terminal_.context(server_)) {
        terminal_.variables["LAVANT_ENDPOINT"] = "https://server";
        terminal_.variables["LAVANT_TOKEN"] = "key";
        terminal_.variables["LAVANT_CA"] = "/ca.pem";
        context_.config =
            load_config({.variable = context_.variable, .folder = "", .user = 0, .system_file = ""}).value();
    }
    std::string file(const std::string& text) {
        const std::string path = testing::TempDir() + "compute.yml";
        EXPECT_TRUE(write_file_atomically(path, text));
        return path;
    }
    wire::Json sent() const { return wire::parse_json(server_.requests.back().body).value_or(wire::Json()); }
    std::string header(const std::string& name) const {
        for (const auto& [key, value] : server_.requests.back().headers)
            if (key == name) return value;
        return "";
    }
    static std::string problem_of(const Outcome<Exit>& outcome) {
        EXPECT_FALSE(outcome);
        return outcome ? "" : outcome.error().error.message;
    }

    FakeServer server_;
    FakeTerminal terminal_;
    Context context_;
};

TEST_F(CreateCompute, SendsTheFileAndSaysTheWarnings) {
    server_.on("PUT " + kComputes + "/cpu-cluster", 201, kMade);
    ComputeOptions options;
    options.file = file("name: cpu-cluster\ntype: amlcompute\nmax_instances: 2\n");
    const auto made = create_compute(context_, {}, options, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "cpu-cluster  amlcompute  Standard_DS3_v2  0 to 2 nodes\n");
    EXPECT_NE(terminal_.err.str().find("warning: it is far"), std::string::npos);
    EXPECT_EQ(sent().get("properties.properties.scaleSettings.maxNodeCount").integer(), 2);
    EXPECT_EQ(header("If-None-Match"), "*");
    options.may_exist = true;
    ASSERT_TRUE(create_compute(context_, {}, options, {}));
    EXPECT_EQ(header("If-None-Match"), "");
}

TEST_F(CreateCompute, FlagsAloneMakeACluster) {
    server_.on("PUT " + kComputes + "/cpu-cluster", 201, kMade);
    ComputeOptions options;
    options.words = {{"name", "cpu-cluster"},
                     {"size", "Standard_DS2_v2"},
                     {"max_instances", "2"},
                     {"ssh_public_access_enabled", "true"},
                     {"identity.type", "user_assigned"},
                     {"tier", ""}};
    options.tags = {"a=b", "c=d=e"};
    options.identities = {"/x/one,/x/two", "/x/three"};
    const auto made = create_compute(context_, {}, options, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(sent().get("properties.computeType").text(), "AmlCompute");
    EXPECT_EQ(sent().get("properties.properties.vmSize").text(), "Standard_DS2_v2");
    EXPECT_EQ(sent()["tags"].dump(), R"({"a":"b","c":"d=e"})");
    EXPECT_EQ(sent().get("identity.userAssignedIdentities").dump(),
              R"({"/x/one":{},"/x/two":{},"/x/three":{}})");
    EXPECT_EQ(sent().get("properties.properties.remoteLoginPortPublicAccess").text(), "Enabled");
}

TEST_F(CreateCompute, FlagsGoOverTheFile) {
    server_.on("PUT " + kComputes + "/other-name", 201, kMade);
    ComputeOptions options;
    options.file = file("name: cpu-cluster\ntype: amlcompute\nmax_instances: 2\n");
    options.words = {{"name", "other-name"}, {"max_instances", "7"}};
    options.settings = {"tier=low_priority"};
    ASSERT_TRUE(create_compute(context_, {}, options, {}));
    EXPECT_EQ(sent().get("properties.properties.scaleSettings.maxNodeCount").integer(), 7);
    EXPECT_EQ(sent().get("properties.properties.vmPriority").text(), "LowPriority");
}

TEST_F(CreateCompute, SendsNothingThatIsWrong) {
    ComputeOptions options;
    options.words = {{"name", "a_b"}, {"max_instances", "0"}, {"size", "Standard_DS3_v22"}};
    const auto wrong = create_compute(context_, {}, options, {});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().exit, Exit::Usage);
    EXPECT_EQ(wrong.error().error.fields.size(), 3U);
    options.words = {{"name", "cpu-cluster"}};
    options.tags = {"novalue"};
    EXPECT_NE(problem_of(create_compute(context_, {}, options, {})).find("write it as KEY=VALUE"),
              std::string::npos);
    options = {};
    options.file = "/nonexistent.yml";
    EXPECT_EQ(create_compute(context_, {}, options, {}).error().exit, Exit::Usage);
    options.file = file("name: cpu-cluster\ntype: amlcompute\nnetwork_settings: none\n");
    options.words = {{"network_settings.subnet", "s"}};
    EXPECT_NE(problem_of(create_compute(context_, {}, options, {})).find("cannot use --subnet"),
              std::string::npos);
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateCompute, ADryRunPrintsTheBodyAndAsksNobody) {
    ComputeOptions options;
    options.words = {{"name", "cpu-cluster"}};
    options.dry_run = true;
    ASSERT_TRUE(create_compute(context_, {}, options, {}));
    EXPECT_NE(terminal_.out.str().find(R"("computeType": "AmlCompute")"), std::string::npos);
    EXPECT_NE(terminal_.err.str().find("nothing was sent"), std::string::npos);
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateCompute, ServerProblemsAreToldInTheWordsOfTheFile) {
    server_.on(
        "PUT " + kComputes + "/cpu-cluster", 400,
        R"({"error":{"code":"BadRequest","message":"compute 'cpu-cluster' is not valid: properties.properties.vmSize: no such size",)"
        R"("details":[{"target":"properties.properties.vmSize","message":"no such size"}]}})");
    ComputeOptions options;
    options.words = {{"name", "cpu-cluster"}};
    EXPECT_EQ(problem_of(create_compute(context_, {}, options, {})),
              "cannot create compute 'cpu-cluster': compute 'cpu-cluster' is not valid: size: no such size");
}

TEST_F(CreateCompute, AnUpdateSendsWhatIsDifferent) {
    server_.on("GET " + kComputes + "/cpu-cluster", 200, kMade);
    server_.on("PATCH " + kComputes + "/cpu-cluster", 200, kMade);
    ComputeOptions options;
    options.words = {{"name", "cpu-cluster"}, {"max_instances", "9"}, {"description", ""}};
    options.tags = {"a=b"};
    const auto changed = update_compute(context_, {}, options, {});
    ASSERT_TRUE(changed) << changed.error().error.message;
    EXPECT_EQ(
        sent().dump(),
        R"({"tags":{"a":"b"},"properties":{"computeType":"AmlCompute","properties":{"scaleSettings":{"maxNodeCount":9}}}})");
    options = {};
    options.words = {{"name", "cpu-cluster"}};
    EXPECT_NE(problem_of(update_compute(context_, {}, options, {})).find("say what to change"),
              std::string::npos);
    options.words = {{"name", ""}};
    EXPECT_NE(problem_of(update_compute(context_, {}, options, {})).find("say which compute"),
              std::string::npos);
}

TEST_F(CreateCompute, AnUpdateFromAFileReplacesWhatIsThere) {
    server_.on("PUT " + kComputes + "/cpu-cluster", 200, kMade);
    ComputeOptions options;
    options.words = {{"name", ""}};
    options.file = file("name: cpu-cluster\ntype: amlcompute\n");
    ASSERT_TRUE(update_compute(context_, {}, options, {}));
    EXPECT_EQ(header("If-Match"), "*");
}

TEST_F(CreateCompute, ADryRunOfAnUpdateFromAFileAsksNobody) {
    terminal_.variables["LAVANT_ENDPOINT"] = "http://server";  // Nobody connects to such a one.
    context_.config =
        load_config({.variable = context_.variable, .folder = "", .user = 0, .system_file = ""}).value();
    ComputeOptions options;
    options.words = {{"name", ""}};
    options.file = file("name: cpu-cluster\ntype: amlcompute\n");
    EXPECT_FALSE(update_compute(context_, {}, options, {}));
    options.dry_run = true;
    ASSERT_TRUE(update_compute(context_, {}, options, {}));
    EXPECT_NE(terminal_.out.str().find(R"("computeType": "AmlCompute")"), std::string::npos);
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateCompute, APasswordOnTheCommandLineIsWarnedOfAsOneInAFile) {
    ComputeOptions options;
    options.words = {{"name", "cpu-cluster"}};
    options.dry_run = true;
    options.gave_password = true;
    ASSERT_TRUE(create_compute(context_, {}, options, {}));
    EXPECT_NE(terminal_.err.str().find("warning: --admin-password: is not sent and not kept"),
              std::string::npos)
        << terminal_.err.str();
}

TEST_F(CreateCompute, AttachesRecordsOnly) {
    server_.on("PUT " + kComputes + "/k8s", 201,
               R"({"name":"k8s","properties":{"computeType":"Kubernetes"}})");
    ComputeOptions options;
    options.words = {{"name", "k8s"}, {"type", "Kubernetes"}, {"resource_id", "/subscriptions/x"}};
    const auto made = attach_compute(context_, {}, options, {});
    ASSERT_TRUE(made) << made.error().error.message;
    EXPECT_EQ(sent().get("properties.properties.namespace").text(), "default");
    options.words["type"] = "";
    EXPECT_NE(problem_of(attach_compute(context_, {}, options, {})).find("say what is attached"),
              std::string::npos);
    options.words = {{"name", "cpu-cluster"}, {"type", "amlcompute"}};
    EXPECT_NE(problem_of(attach_compute(context_, {}, options, {})).find("is made, not attached"),
              std::string::npos);
}

TEST_F(CreateCompute, ValidatesWithoutAServer) {
    ComputeOptions options;
    options.file = file("name: cpu-cluster\ntype: amlcompute\nnode_sharing: packed\n");
    EXPECT_EQ(validate_compute(context_, options, false, {}).value(), Exit::Completed);
    EXPECT_NE(terminal_.out.str().find("is valid: amlcompute cpu-cluster"), std::string::npos);
    EXPECT_EQ(validate_compute(context_, options, true, {}).value(), Exit::Usage);
    EXPECT_NE(terminal_.out.str().find("azure: node_sharing: refused"), std::string::npos);
    options.file = file("name: cpu-cluster\n");
    EXPECT_FALSE(validate_compute(context_, options, false, {}));
    EXPECT_TRUE(server_.requests.empty());
}

}  // namespace
}  // namespace lavant::cli
