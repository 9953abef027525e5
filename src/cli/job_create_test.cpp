#include "cli/job_create.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <string>

#include "base/files.h"
#include "cli/fake_server_test.h"

namespace lavant::cli {
namespace {

CreateOptions named_j1(std::vector<std::string> settings = {}) {
    CreateOptions options;
    options.name = "j1";
    options.git_diff = false;
    options.settings = std::move(settings);
    return options;
}

class CreateJobTest : public ::testing::Test {
 protected:
    CreateJobTest() {
        std::string pattern = ::testing::TempDir() + "/create.XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
        terminal_.variables = {{"LAVANT_ENDPOINT", "https://127.0.0.1:1"}, {"LAVANT_TOKEN", "key"}};
        server_.on("PUT " + kWorkspacePath + "/jobs/j1", 201,
                   R"({"name":"j1","properties":{"status":"Queued"}})");
    }
    ~CreateJobTest() override { (void)remove_tree(folder_); }

    void write(const std::string& name, const std::string& text) {
        ASSERT_TRUE(write_file_atomically(folder_ + "/" + name, text, 0644));
    }
    Outcome<Exit> create(CreateOptions options) {
        Context context = terminal_.context(server_);
        options.file = folder_ + "/job.yml";
        return create_job(context, {}, options, {});
    }
    // The body of the request that made the job.
    wire::Json sent() { return wire::parse_json(server_.requests.back().body).value()["properties"]; }

    std::string folder_;
    FakeServer server_;
    FakeTerminal terminal_;
    Output output_;
};

TEST_F(CreateJobTest, SubmitsAndSaysHowToFollow) {
    write("job.yml", "command: echo hi\nenvironment: azureml:base:1\nexperiment_name: e\n");
    const auto outcome = create(named_j1());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_EQ(terminal_.out.str(), "j1  Queued\n");
    EXPECT_EQ(terminal_.err.str(), "follow it with: lavant job stream j1\n");
    EXPECT_EQ(sent()["command"].text(), "echo hi");
    EXPECT_EQ(sent()["experimentName"].text(), "e");
}

TEST_F(CreateJobTest, SetChangesTheFile) {
    write("job.yml", "command: echo hi\nenvironment: azureml:base:1\n");
    ASSERT_TRUE(create(named_j1({"resources.instance_count=2", "tags.a=b"})).has_value());
    EXPECT_EQ(sent().get("resources.instanceCount").integer(), 2);
    EXPECT_EQ(sent().get("tags.a").text(), "b");
}

TEST_F(CreateJobTest, AnImageBecomesAnEnvironmentWithTheSdksVersion) {
    const std::string version = "ef0a14cf89e36f216a2626a1a99ef32b57232a13a599879572fb8870a59eaeb1";
    const std::string path = kWorkspacePath + "/environments/CliV2AnonymousEnvironment/versions/" + version;
    server_.on("PUT " + path, 201, "{}");
    write("job.yml", "command: 'true'\nenvironment: {image: 'python:3.11-slim'}\n");
    const auto outcome = create(named_j1());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_EQ(sent()["environmentId"].text(), path);
}

TEST_F(CreateJobTest, HostNamesTheActiveInterpreterUnlessTheServerIsElsewhere) {
    ASSERT_TRUE(make_directories(folder_ + "/venv/bin"));
    write("venv/bin/python3", "");
    ASSERT_EQ(::chmod((folder_ + "/venv/bin/python3").c_str(), 0755), 0);
    terminal_.variables["VIRTUAL_ENV"] = folder_ + "/venv";
    write("job.yml", "command: 'true'\nenvironment: host\n");
    ASSERT_TRUE(create(named_j1()).has_value());
    EXPECT_EQ(sent()["properties"]["lavant.python_home"].text(), folder_ + "/venv");
    terminal_.variables["LAVANT_ENDPOINT"] = "https://elsewhere:1";
    ASSERT_TRUE(create(named_j1()).has_value());
    EXPECT_FALSE(sent()["properties"].has("lavant.python_home"));
}

TEST_F(CreateJobTest, AStepBecomesAnAnonymousComponentWithTheSdksVersion) {
    const std::string path =
        kWorkspacePath + "/components/azureml_anonymous/versions/" + "d989979e-6d45-208e-8d29-52d7c0f6ec78";
    server_.on("PUT " + path, 201, "{}");
    write("job.yml",
          "type: pipeline\nexperiment_name: e\ninputs: {n: 3}\nsettings: {default_compute: "
          "azureml:serverless}\njobs:\n"
          "  a: {command: 'echo ${{inputs.n}}', environment: 'azureml:base:1', compute: azureml:cpu,\n"
          "      inputs: {n: '${{parent.inputs.n}}'}}\n"
          "  b: {type: command, component: 'azureml:known:2'}\n");
    const auto outcome = create(named_j1());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_EQ(sent()["displayName"].text(), "j1");
    EXPECT_EQ(sent().get("jobs.a.componentId").text(), path);
    EXPECT_EQ(sent().get("jobs.a.computeId").text(), kWorkspacePath + "/computes/cpu");
    EXPECT_EQ(sent().get("jobs.b.componentId").text(), kWorkspacePath + "/components/known/versions/2");
    EXPECT_EQ(sent().get("settings.default_compute").text(), kWorkspacePath + "/computes/serverless");
}

TEST_F(CreateJobTest, AssetsAreNamedByTheirIds) {
    server_.on("GET " + kWorkspacePath + "/data/d", 200, R"({"properties":{"latestVersion":"4"}})");
    server_.on("GET " + kWorkspacePath + "/environments/e", 200, R"({"properties":{"latestVersion":"2"}})");
    write(
        "job.yml",
        "command: 'true'\nenvironment: azureml:e@latest\ninputs:\n"
        "  a: {type: uri_folder, path: 'azureml:d@latest'}\n  b: {type: uri_file, path: 'azureml:d:1'}\n"
        "  c: {type: mlflow_model, path: 'azureml:m:3'}\n  d: {type: uri_file, path: 'azureml:gone@latest'}\n"
        "  e: {type: uri_file, path: 'azureml://datastores/x/paths/y'}\n"
        "  f: {type: uri_file, path: 'azureml:d@best'}\n");
    const auto outcome = create(named_j1());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_EQ(sent()["environmentId"].text(), kWorkspacePath + "/environments/e/versions/2");
    EXPECT_EQ(sent().get("inputs.a.uri").text(), kWorkspacePath + "/data/d/versions/4");
    EXPECT_EQ(sent().get("inputs.b.uri").text(), kWorkspacePath + "/data/d/versions/1");
    EXPECT_EQ(sent().get("inputs.c.uri").text(), kWorkspacePath + "/models/m/versions/3");
    EXPECT_EQ(sent().get("inputs.d.uri").text(), "gone@latest");  // the server says what it thinks of that
    EXPECT_EQ(sent().get("inputs.e.uri").text(), "azureml://datastores/x/paths/y");
    EXPECT_EQ(sent().get("inputs.f.uri").text(), "d@best");
}

TEST_F(CreateJobTest, ACuratedEnvironmentKeepsItsName) {
    for (const char* name : {"AzureML-sklearn-1.5@latest", "AzureML-sklearn-1.5:3"}) {
        write("job.yml", std::string("command: 'true'\nenvironment: azureml:") + name + "\n");
        ASSERT_TRUE(create(named_j1()).has_value());
        EXPECT_EQ(sent()["environmentId"].text(), std::string("azureml:") + name);
    }
}

TEST_F(CreateJobTest, AnInputWithoutAPathIsRefusedBeforeTheJobIsSent) {
    write("job.yml",
          "type: pipeline\ninputs: {a: {type: uri_folder}}\n"
          "jobs: {s: {type: command, component: 'azureml:c:1'}}\n");
    const auto outcome = create(named_j1());
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Usage);
    EXPECT_NE(outcome.error().error.message.find("input 'a' has no path"), std::string::npos);
    EXPECT_EQ(server_.asked().back(), "GET " + kWorkspacePath + "/jobs/j1");
}

TEST_F(CreateJobTest, APipelineThatIsOneComponentNamesItByItsId) {
    const std::string component = kWorkspacePath + "/components/azureml_anonymous/versions/";
    std::vector<std::string> made;
    server_.on_start("PUT " + component, [&made](const ports::ClientRequest& request) {
        made.push_back(request.body);
        ports::HttpResponse taken;
        taken.status = 201;
        taken.body = "{}";
        return Result<ports::HttpResponse>(taken);
    });
    write(
        "part.yml",
        "type: pipeline\nname: part\ninputs: {n: {type: integer, default: 2}, m: {type: integer}}\n"
        "outputs: {o: {type: uri_file}}\njobs:\n"
        "  s: {type: command, command: 'echo ${{inputs.n}} ${{outputs.o}}', environment: 'azureml:base:1',\n"
        "      inputs: {n: '${{parent.inputs.n}}'}, outputs: {o: '${{parent.outputs.o}}'}}\n");
    write("job.yml",
          "type: pipeline\ncomponent: part.yml\ninputs: {m: 5}\n"
          "settings: {default_datastore: azureml:workspaceblobstore}\n");
    const auto outcome = create(named_j1());
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    ASSERT_EQ(made.size(), 2U);  // its step's, and its own
    EXPECT_EQ(wire::parse_json(made[1])->get("properties.componentSpec.type").text(), "pipeline");
    EXPECT_TRUE(sent()["componentId"].text().starts_with(component)) << sent().dump();
    EXPECT_EQ(sent()["jobs"].size(), 0U);
    EXPECT_EQ(sent().get("settings._source").text(), "REMOTE.WORKSPACE.JOB");
    EXPECT_EQ(sent().get("settings.default_datastore").text(),
              kWorkspacePath + "/datastores/workspaceblobstore");
    EXPECT_EQ(sent().get("inputs.n.value").text(), "2");
    EXPECT_EQ(sent().get("inputs.m.value").text(), "5");
    EXPECT_EQ(sent().get("outputs.o.jobOutputType").text(), "uri_file");
}

TEST_F(CreateJobTest, WhatAzureRefusesEndsWithTwoAndWhatItIgnoresDoesNot) {
    const auto validate = [this](const std::string& inputs) {
        write("job.yml", "command: x\nenvironment: azureml:base:1\n" + inputs);
        Context context = terminal_.context(server_);
        ValidateOptions options;
        options.file = folder_ + "/job.yml";
        options.for_azure = true;
        return validate_job(context, options, {}).value_or(Exit::Failed);
    };
    EXPECT_EQ(validate("inputs: {a: 1}\n"), Exit::Completed);
    EXPECT_EQ(validate("inputs: {a: {type: number, value: 1}}\n"), Exit::Usage);
    EXPECT_EQ(validate("properties: {lavant.max_retries: '2'}\n"), Exit::Completed);
}

TEST_F(CreateJobTest, ADryRunSendsNothing) {
    write("job.yml", "command: x ${{inputs.a}}\nenvironment: azureml:base:1\ninputs: {a: 1}\n");
    CreateOptions options = named_j1();
    options.dry_run = true;
    const auto outcome = create(options);
    ASSERT_TRUE(outcome.has_value()) << outcome.error().error.message;
    EXPECT_NE(terminal_.out.str().find("x ${{inputs.a}}"), std::string::npos) << terminal_.out.str();
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateJobTest, EveryKindIsValidatedWithoutAServer) {
    const auto validate = [this](const std::string& text) {
        write("job.yml", text);
        Context context = terminal_.context(server_);
        ValidateOptions options;
        options.file = folder_ + "/job.yml";
        return validate_job(context, options, {});
    };
    EXPECT_EQ(validate("type: spark\nentry: {file: a.py}\n").value_or(Exit::Failed), Exit::Completed);
    EXPECT_EQ(validate("type: pipeline\njobs: {a: {command: x, environment: host}}\n").value_or(Exit::Failed),
              Exit::Completed);
    for (const char* kind : {"sweep", "pipeline", "spark", "automl", "finetuning", "distillation", "other"}) {
        const auto wrong = validate(std::string("type: ") + kind + "\nwhat: 1\n");
        ASSERT_FALSE(wrong.has_value()) << kind;
        EXPECT_EQ(wrong.error().exit, Exit::Usage) << kind;
    }
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateJobTest, ANameThatIsTakenIsRefused) {
    server_.on("GET " + kWorkspacePath + "/jobs/j1", 200, R"({"name":"j1"})");
    write("job.yml", "command: 'true'\nenvironment: host\n");
    const auto outcome = create(named_j1());
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Refused);
    EXPECT_EQ(server_.asked().back(), "GET " + kWorkspacePath + "/jobs/j1");
}

TEST_F(CreateJobTest, AWrongFileIsUsageAndAsksNobody) {
    write("job.yml", "comand: echo\n");
    const auto outcome = create({});
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(outcome.error().exit, Exit::Usage);
    EXPECT_TRUE(server_.requests.empty());
}

TEST_F(CreateJobTest, TheServersRefusalComesThroughWithItsFields) {
    server_.on("PUT " + kWorkspacePath + "/jobs/j1", 400,
               R"({"error":{"code":"UserError","message":"the job is refused","details":[)"
               R"({"target":"properties.computeId","message":"there is no compute 'c'"}]}})");
    write("job.yml", "command: 'true'\nenvironment: host\n");
    const auto outcome = create(named_j1());
    ASSERT_FALSE(outcome.has_value());
    EXPECT_EQ(report(outcome.error(), terminal_.console()), 5);
    EXPECT_EQ(terminal_.err.str(),
              "lavant: cannot create job 'j1': the job is refused\n  compute: there is no compute 'c'\n");
}

}  // namespace
}  // namespace lavant::cli
