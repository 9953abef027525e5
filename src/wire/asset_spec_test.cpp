// Files of data, models, environments, datastores and schedules: what is taken, what is refused, what is
// sent.

#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "wire/asset_to_arm.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

// A disk made of a list: names that end in a slash are folders.
struct Disk {
    std::map<std::string, std::string> files;

    spec::ComponentLoader loader() const {
        spec::ComponentLoader loader;
        loader.folder = "/project";
        loader.kind_of = [this](const std::string& path) {
            std::string bare = path;
            while (bare.ends_with('/')) bare.pop_back();
            if (files.contains(bare)) return spec::PathKind::File;
            const auto below = files.lower_bound(bare + "/");
            return below != files.end() && below->first.starts_with(bare + "/") ? spec::PathKind::Folder
                                                                                : spec::PathKind::Absent;
        };
        loader.read_text = [this](const std::string& path) -> Result<std::string> {
            const auto found = files.find(path);
            if (found == files.end()) return fail(ErrorCode::NotFound, "there is no file '" + path + "'");
            return found->second;
        };
        loader.load = [read = loader.read_text](const std::string& path) -> Result<spec::Document> {
            LAVANT_TRY(const std::string text, read(path));
            return parse_yaml(text, path);
        };
        return loader;
    }
};

const Disk kDisk{{{"/project/d/a.csv", "1"},
                  {"/project/one.csv", "1"},
                  {"/project/table/MLTable", "paths:\n- file: ./x.csv\n- pattern: ./*.parquet\n"},
                  {"/project/conda.yml", "name: x\nchannels: [conda-forge]\n"},
                  {"/project/context/Dockerfile", "FROM python"},
                  {"/project/job.yml", "type: pipeline\ninputs: {a: 1, b: 2}\njobs: {}\n"}}};

spec::Document yaml(std::string_view text) {
    auto document = parse_yaml(text, "test");
    EXPECT_TRUE(document) << document.error().message;
    return document ? std::move(*document) : spec::Document::map();
}

template <class T>
std::string problems(const Result<T>& parsed) {
    if (parsed) return "taken";
    std::string text;
    for (const FieldProblem& one : parsed.error().fields)
        text += one.path + "@" + std::to_string(one.line) + ": " + one.message + "\n";
    return text;
}

auto data_file(std::string_view text) { return spec::parse_data(yaml(text), kDisk.loader()); }
auto model(std::string_view text) { return spec::parse_model(yaml(text), kDisk.loader()); }
auto environment(std::string_view text) { return spec::parse_environment_file(yaml(text), kDisk.loader()); }
auto datastore(std::string_view text) { return spec::parse_datastore(yaml(text), "/project"); }
auto schedule(std::string_view text) { return spec::parse_schedule(yaml(text), kDisk.loader()); }

TEST(DataFile, LocalAndRemotePathsAreKeptApart) {
    const auto local = data_file("name: d\npath: d\nversion: 3\ntags: {a: b}\n");
    ASSERT_TRUE(local) << problems(local);
    EXPECT_EQ(local->local_path, "/project/d");
    EXPECT_EQ(local->type, "uri_folder");
    EXPECT_EQ(local->version, "3");
    const Json body = to_arm_data(*local, "azureml://datastores/x/paths/y/");
    EXPECT_EQ(body.get("properties.dataUri").text(), "azureml://datastores/x/paths/y/");
    EXPECT_EQ(body.get("properties.tags.a").text(), "b");
    const auto remote = data_file("name: d\ntype: uri_file\npath: https://example.com/a.csv\n");
    ASSERT_TRUE(remote) << problems(remote);
    EXPECT_EQ(remote->local_path, "");
    EXPECT_EQ(to_arm_data(*remote, "").get("properties.dataUri").text(), "https://example.com/a.csv");
}

TEST(DataFile, AllProblemsAreReportedAtOnceWithTheirLines) {
    EXPECT_EQ(problems(data_file("nam: d\ntype: uri_fil\npath: missing\nversion: 'a b'\n")),
              "nam@1: unknown key; did you mean 'name'?\n"
              "type@2: cannot be 'uri_fil'; did you mean 'uri_file'?\n"
              "path@3: there is no file or folder 'missing' (looked for /project/missing)\n"
              "version@4: 'a b' cannot be a version: use letters, digits, '-', '_' and '.', and begin with a "
              "letter or digit\n");
    EXPECT_EQ(problems(data_file("{}\n")),
              "name@1: is missing; it is what others find it by\n"
              "path@1: is missing; say where it is: a local path, or azureml://datastores/…\n");
}

TEST(DataFile, ItsTypeFitsWhatLiesThere) {
    EXPECT_EQ(problems(data_file("name: d\ntype: uri_file\npath: d\n")),
              "path@3: 'd' is a folder; its type is uri_folder\n");
    EXPECT_EQ(problems(data_file("name: d\npath: one.csv\n")),
              "path@2: 'one.csv' is a file; its type is uri_file\n");
    EXPECT_EQ(problems(data_file("name: d\ntype: mltable\npath: d\n")),
              "path@3: 'd' is no MLTable: it has no file of that name\n");
    const auto table = data_file("name: d\ntype: mltable\npath: table\n");
    ASSERT_TRUE(table) << problems(table);
    EXPECT_EQ(to_arm_data(*table, "u").get("properties.referencedUris").dump(),
              R"(["./x.csv","./*.parquet"])");
}

TEST(DataFile, HostileNamesAndSizesAreRefused) {
    EXPECT_NE(problems(data_file("name: ../../etc\npath: d\n")), "taken");
    EXPECT_NE(problems(data_file("name: '" + std::string(300, 'a') + "'\npath: d\n")), "taken");
    EXPECT_NE(problems(data_file("name: latest\nversion: Latest\npath: d\n")), "taken");
    EXPECT_NE(problems(data_file("name: d\npath: '" + std::string(9'000, 'a') + "'\n")), "taken");
    EXPECT_NE(problems(data_file("name: d\npath: [a]\n")), "taken");
    EXPECT_NE(problems(data_file("- a\n- b\n")), "taken");
    std::string many = "name: d\npath: d\ntags:\n";
    for (int i = 0; i < 1'001; ++i) many += "  k" + std::to_string(i) + ": v\n";
    EXPECT_EQ(problems(data_file(many)), "tags@4: has 1001 entries; at most 1000\n");
}

TEST(DataFile, APlaceholderInAVersionIsAWarning) {
    const auto spec = data_file("name: d\nversion: <VERSION>\npath: d\n");
    ASSERT_TRUE(spec) << problems(spec);
    ASSERT_EQ(spec->warnings.size(), 1U);
    EXPECT_EQ(spec->warnings[0], "version: '<VERSION>' still is the example's placeholder");
}

TEST(ModelFile, FlavorsTravelAsData) {
    const auto spec = model("name: m\ntype: mlflow_model\npath: d\nstage: Dev\nflavors: {sk: {v: 1}}\n");
    ASSERT_TRUE(spec) << problems(spec);
    const Json body = to_arm_model(*spec, "u");
    EXPECT_EQ(body.get("properties.flavors").dump(), R"({"sk":{"data":{"v":1}}})");
    EXPECT_EQ(body.get("properties.stage").text(), "Dev");
    EXPECT_EQ(problems(model("name: m\npath: one.csv\nflavors: {sk: 1}\ntype: mlflow_model\n")),
              "path@2: 'one.csv' is a file; an MLflow model is the folder that has the file MLmodel\n"
              "flavors@3: must be a mapping of flavors to their settings\n");
}

TEST(EnvironmentFile, TheCondaFileStandsInTheBody) {
    const auto file = environment("name: e\nimage: python\nconda_file: conda.yml\nproperties: {a: b}\n");
    ASSERT_TRUE(file) << problems(file);
    EXPECT_EQ(to_arm_environment(*file, "").dump(),
              R"({"properties":{"image":"python","condaFile":"channels:\n- conda-forge\nname: x\n",)"
              R"("isAnonymous":false,"properties":{"a":"b"},"isArchived":false}})");
    const auto built = environment("name: e\nbuild: {path: context, dockerfile_path: D}\nos_type: windows\n");
    ASSERT_TRUE(built) << problems(built);
    EXPECT_EQ(to_arm_environment(*built, "https://x/").dump(),
              R"({"properties":{"build":{"contextUri":"https://x/","dockerfilePath":"D"},)"
              R"("osType":"Windows","isAnonymous":false,"isArchived":false}})");
}

TEST(EnvironmentFile, ItsProblemsAreReportedTogether) {
    EXPECT_EQ(problems(environment("image: python\nconda_file: nope.yml\nversion: 'a/b'\nfoo: 1\n")),
              "name@1: is missing; it is what others find it by\n"
              "conda_file@2: there is no file 'nope.yml' (looked for /project/nope.yml)\n"
              "version@3: 'a/b' cannot be a version: use letters, digits, '-', '_' and '.', and begin with a "
              "letter or digit\n"
              "foo@4: unknown key; known here: name, version, description, tags, image, os_type, conda_file, "
              "build, $schema, properties, inference_config, datastore, id, creation_context or type\n");
    EXPECT_EQ(problems(environment("name: 7\nimage: python\n")),
              "name@1: must be a string, but is an integer; put it in quotes\n");
    EXPECT_EQ(problems(environment("channels: [a]\ndependencies: [b]\n")),
              "@1: is a conda file; an environment file names it: image: IMAGE and conda_file: FILE\n");
}

TEST(DatastoreFile, EveryTypeMakesItsBody) {
    const auto blob = datastore(
        "name: b\ntype: azure_blob\naccount_name: a\ncontainer_name: c\n"
        "credentials: {account_key: k}\n");
    ASSERT_TRUE(blob) << problems(blob);
    EXPECT_EQ(to_arm_datastore(*blob).dump(),
              R"({"properties":{"datastoreType":"AzureBlob","accountName":"a","endpoint":"core.windows.net",)"
              R"("protocol":"https","containerName":"c","tags":{},"credentials":{"credentialsType":)"
              R"("AccountKey","secrets":{"secretsType":"AccountKey","key":"k"}}}})");
    const auto gen2 = datastore(
        "name: g\ntype: azure_data_lake_gen2\naccount_name: a\nfilesystem: f\n"
        "credentials: {tenant_id: t, client_id: c, client_secret: s}\n");
    ASSERT_TRUE(gen2) << problems(gen2);
    EXPECT_EQ(
        to_arm_datastore(*gen2).get("properties.credentials").dump(),
        R"({"credentialsType":"ServicePrincipal","authorityUrl":"https://login.microsoftonline.com",)"
        R"("tenantId":"t","clientId":"c","secrets":{"secretsType":"ServicePrincipal","clientSecret":"s"}})");
    const auto gen1 = datastore("name: g\ntype: azure_data_lake_gen1\nstore_name: s\n");
    ASSERT_TRUE(gen1) << problems(gen1);
    EXPECT_EQ(to_arm_datastore(*gen1).get("properties.storeName").text(), "s");
    const auto lake = datastore(
        "name: o\ntype: one_lake\none_lake_workspace_name: w\nendpoint: e\n"
        "artifact: {name: n, type: lake_house}\n");
    ASSERT_TRUE(lake) << problems(lake);
    EXPECT_EQ(to_arm_datastore(*lake).get("properties.artifact.artifactName").text(), "n");
    const auto local = datastore("name: mine\ntype: local\npath: data\n");
    ASSERT_TRUE(local) << problems(local);
    EXPECT_EQ(to_arm_datastore(*local).get("properties.lavant.path").text(), "/project/data");
}

TEST(DatastoreFile, ProblemsSayNoSecret) {
    EXPECT_EQ(problems(datastore("name: a-b\ntype: azure_blob\ncontainer_name: c\n"
                                 "credentials: {account_key: [hush], sas_token: hush, acount: hush}\n")),
              "account_name@1: is missing; like mystorageaccount\n"
              "name@1: 'a-b' cannot be a datastore's name: use letters, digits and '_'\n"
              "credentials.account_key@4: must be a string, but is a list\n"
              "credentials.sas_token@4: cannot stand beside account_key; keep one of the two\n"
              "credentials.acount@4: unknown key; known here: account_key or sas_token\n");
    EXPECT_EQ(problems(datastore("name: a\n")),
              "type@1: is missing; azure_blob, or local for a folder of your own\n");
}

TEST(ScheduleFile, TriggersMakeTheirBodies) {
    const auto cron = schedule(
        "name: s\ntrigger: {type: cron, expression: '0 3 * * mon-fri', "
        "start_time: '2026-01-31T10:00:00', time_zone: Pacific Standard Time}\n"
        "create_job: azureml:old_job\n");
    ASSERT_TRUE(cron) << problems(cron);
    EXPECT_EQ(cron->job_name, "old_job");
    EXPECT_EQ(to_arm_schedule(*cron, Json::object()).get("properties.trigger").dump(),
              R"({"triggerType":"Cron","startTime":"2026-01-31 10:00:00","timeZone":"Pacific Standard Time",)"
              R"("expression":"0 3 * * mon-fri"})");
    const auto weekly = schedule(
        "name: s\ntrigger: {type: recurrence, frequency: week, interval: 2, "
        "schedule: {hours: 3, minutes: [0, 30], week_days: [Monday]}}\n"
        "create_job: job.yml\n");
    ASSERT_TRUE(weekly) << problems(weekly);
    ASSERT_TRUE(weekly->job);
    EXPECT_EQ(weekly->job_folder, "/project");
    EXPECT_EQ(to_arm_schedule(*weekly, Json::object()).get("properties.trigger").dump(),
              R"({"triggerType":"Recurrence","timeZone":"UTC","frequency":"week","interval":2,)"
              R"("schedule":{"hours":[3],"minutes":[0,30],"weekDays":["monday"]}})");
}

TEST(ScheduleFile, WhatItChangesGoesOverTheJob) {
    const auto spec = schedule(
        "name: s\ntrigger: {type: cron, expression: '0 3 * * *'}\n"
        "create_job:\n  job: ./job.yml\n  inputs: {a: 7}\n  experiment_name: e\n");
    ASSERT_TRUE(spec) << problems(spec);
    EXPECT_EQ(spec->job->find("inputs")->find("a")->integer, 7);
    EXPECT_EQ(spec->job->find("inputs")->find("b")->integer, 2);
    EXPECT_EQ(spec->job->find("experiment_name")->text, "e");
    EXPECT_EQ(spec->job->find("job"), nullptr);
    EXPECT_EQ(problems(schedule("name: s\ntrigger: {type: cron, expression: '0 3 * * *'}\n"
                                "create_job:\n  job: azureml:x\n  inputs: {a: 7}\n")),
              "create_job.type@4: is missing; a job by name that is changed needs it: pipeline\n");
}

TEST(ScheduleFile, ProblemsAreReportedTogether) {
    EXPECT_EQ(problems(schedule("name: s\ntrigger:\n  type: cron\n  expression: '61 * * *'\n"
                                "  start_time: tomorrow\ncreate_job: nope.yml\n")),
              "trigger.expression@4: has 4 parts; five are needed: minute hour day month weekday\n"
              "trigger.start_time@5: 'tomorrow' is no time; write it as \"2026-01-31T10:00:00\"\n"
              "create_job@6: there is no file '/project/nope.yml'\n");
    EXPECT_EQ(problems(schedule("name: s\ntrigger: {type: recurrence, schedule: {hours: 24, minutes: 0}}\n")),
              "create_job@1: is missing; name the job file, or azureml:NAME\n"
              "trigger.frequency@2: is missing; as day or week\n"
              "trigger.interval@2: is missing; 1 is every time\n"
              "trigger.schedule.hours@2: must be a number from 0 to 23, or a list of at most 100 of them\n");
}

TEST(ScheduleFile, MonitorsAndImportsAreKeptWithAWarning) {
    const auto spec = schedule(
        "name: s\ntrigger: {type: cron, expression: '0 3 * * *'}\n"
        "create_monitor: {compute: {instance_type: x}}\n");
    ASSERT_TRUE(spec) << problems(spec);
    ASSERT_EQ(spec->warnings.size(), 1U);
    EXPECT_EQ(to_arm_schedule(*spec, {}).get("properties.action").dump(),
              R"({"actionType":"CreateMonitor","monitorDefinition":{"compute":{"instanceType":"x"}}})");
}

}  // namespace
}  // namespace lavant::wire
