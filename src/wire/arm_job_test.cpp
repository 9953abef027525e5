#include "wire/arm_job.h"

#include <gtest/gtest.h>

#include "wire/json.h"

namespace lavant::wire {
namespace {

// A body with this text inside `properties`, after the members every job has.
std::string with(const std::string& more) {
    return R"({"properties":{"jobType":"Command","command":"echo hi")" + (more.empty() ? "" : "," + more) +
           "}}";
}

ArmCommandJob parsed(const std::string& body) {
    auto job = parse_arm_job(body);
    EXPECT_TRUE(job) << job.error().message;
    return job ? std::move(*job) : ArmCommandJob{};
}

void check_refused(const std::string& body, const std::string& path) {
    const auto job = parse_arm_job(body);
    ASSERT_FALSE(job) << body;
    EXPECT_EQ(job.error().code, ErrorCode::InvalidArgument);
    ASSERT_EQ(job.error().fields.size(), 1U) << job.error().message;
    EXPECT_EQ(job.error().fields[0].path, path) << job.error().message;
}

TEST(ArmJob, ReadsAWholeCommandJob) {
    const ArmCommandJob job =
        parsed(R"({"properties":{"jobType":"Command","displayName":"d","description":"q",
"experimentName":"x","tags":{"a":"b","n":null},"properties":{"p":"q"},"isArchived":true,
"command":"echo ${{inputs.lr}} ${{outputs.o}} ${{name}}","codeId":"C","environmentId":"E","computeId":"K",
"environmentVariables":{"A":"1","B":2,"C":true},
"inputs":{"lr":{"jobInputType":"literal","value":"0.1"},
          "csv":{"jobInputType":"uri_file","uri":"azureml://d","mode":"ReadOnlyMount"}},
"outputs":{"o":{"jobOutputType":"uri_folder","mode":"ReadWriteMount",
           "assetName":"m","assetVersion":"2"},"p":null},
"distribution":{"distributionType":"PyTorch","processCountPerInstance":2},
"resources":{"instanceCount":3,"instanceType":"whatever-the-cluster-has","properties":{}},
"limits":{"jobLimitsType":"Command","timeout":"PT1H"},"queueSettings":{"jobTier":"spot","priority":3},
"identity":{"identityType":"UserIdentity"}}})");
    EXPECT_EQ(job.display_name, "d");
    EXPECT_EQ(job.experiment_name, "x");
    EXPECT_TRUE(job.archived);
    EXPECT_EQ(job.tags.at("n"), "");
    EXPECT_EQ(job.extra.at("p"), "q");
    EXPECT_EQ(job.environment_variables.at("B"), "2");
    ASSERT_EQ(job.inputs.size(), 2U);
    EXPECT_EQ(job.inputs[0].value, "0.1");
    EXPECT_EQ(job.inputs[1].type, "uri_file");
    EXPECT_EQ(job.inputs[1].mode, "ro_mount");
    ASSERT_EQ(job.outputs.size(), 2U);
    EXPECT_EQ(job.outputs[0].mode, "rw_mount");
    EXPECT_EQ(job.outputs[0].asset_version, "2");
    EXPECT_EQ(job.outputs[1].type, "uri_folder");
    EXPECT_EQ(job.distribution, "pytorch");
    EXPECT_EQ(job.process_count, 2);
    EXPECT_EQ(job.instance_count, 3);
    EXPECT_EQ(job.timeout_micros, 3'600'000'000);
    EXPECT_EQ(job.job_tier, "Spot");
    EXPECT_EQ(job.priority, "high");
    EXPECT_EQ(job.identity, "user_identity");
}

TEST(ArmJob, TakesNullsMissingMembersAndSnakeCase) {
    const ArmCommandJob job =
        parsed(with(R"("tags":null,"properties":null,"services":null,"inputs":null,"outputs":null,)"
                    R"("resources":{"instance_count":2,)"
                    R"("instance_type":null},"limits":null,"queueSettings":null,"distribution":null,)"
                    R"("identity":null,"codeId":null)"));
    EXPECT_EQ(job.instance_count, 2);
    EXPECT_EQ(job.code_id, "");
    EXPECT_EQ(parsed(with("")).instance_count, 1);
    EXPECT_EQ(parsed(with(R"("limits":{"timeout":60})")).timeout_micros, 60'000'000);
}

TEST(ArmJob, EchoHasObjectsWhereClientsBreakOnNull) {
    const Json echo = *parse_json(
        parsed(with(R"("tags":null,"services":{"a":null,"b":{"jobServiceType":"SSH"}},"unknown":{"kept":1})"))
            .properties);
    EXPECT_EQ(echo["tags"].dump(), "{}");
    EXPECT_EQ(echo["properties"].dump(), "{}");
    EXPECT_EQ(echo["services"].dump(), R"({"b":{"jobServiceType":"SSH"}})");
    EXPECT_EQ(echo["inputs"].dump(), "{}");
    EXPECT_EQ(echo.get("unknown.kept").integer(), 1);
    EXPECT_FALSE(echo["isArchived"].boolean(true));
}

TEST(ArmJob, RefusesWhatCannotWork) {
    check_refused(with(R"("resources":{"instanceCount":0})"), "properties.resources.instanceCount");
    check_refused(with(R"("resources":{"instanceCount":1001})"), "properties.resources.instanceCount");
    check_refused(with(R"("resources":{"instanceCount":1.5})"), "properties.resources.instanceCount");
    check_refused(with(R"("limits":{"timeout":"-PT5S"})"), "properties.limits.timeout");
    check_refused(with(R"("limits":{"timeout":"PT0S"})"), "properties.limits.timeout");
    check_refused(with(R"("limits":{"timeout":-5})"), "properties.limits.timeout");
    check_refused(with(R"("limits":{"timeout":"P999999999W"})"), "properties.limits.timeout");
    check_refused(with(R"("inputs":{"a":{"jobInputType":"uri_file"}})"), "properties.inputs.a.uri");
    check_refused(with(R"("inputs":{"a":{"value":"x"}})"), "properties.inputs.a.jobInputType");
    check_refused(with(R"("inputs":{"a":{"jobInputType":"nope","uri":"x"}})"),
                  "properties.inputs.a.jobInputType");
    check_refused(with(R"("queueSettings":{"jobTier":"Gold"})"), "properties.queueSettings.jobTier");
    check_refused(with(R"("queueSettings":{"priority":7})"), "properties.queueSettings.priority");
    check_refused(with(R"("distribution":{"distributionType":"Nope"})"),
                  "properties.distribution.distributionType");
    check_refused(with(R"("properties":{"lavant.max_retries":"-1"})"),
                  "properties.properties.lavant.max_retries");
    check_refused(with(R"("tags":[1])"), "properties.tags");
    check_refused(R"({"properties":{"jobType":"Command","command":"echo ${{inputs.x}}"}})",
                  "properties.command");
    check_refused(R"({"properties":{"jobType":"Command","command":"echo ${{search_space.x}}"}})",
                  "properties.command");
    check_refused(R"({"properties":{"jobType":"Command","command":" "}})", "properties.command");
    check_refused(R"({"properties":{"jobType":"Nonsense","command":"x"}})", "properties.jobType");
    check_refused(R"({"properties":{"jobType":"Spark","args":"x"}})", "properties.entry");
    EXPECT_TRUE(
        parse_arm_job(R"({"properties":{"jobType":"Command","command":"echo $[[ ${{inputs.x}} ]]"}})"));
    EXPECT_FALSE(parse_arm_job("{}"));
    EXPECT_FALSE(parse_arm_job("[]"));
    EXPECT_FALSE(parse_arm_job(R"({"properties":null})"));
    EXPECT_FALSE(parse_arm_job("{\"properties\":"));
}

TEST(ArmJob, ListsAllProblemsAtOnce) {
    const auto job = parse_arm_job(with(R"("resources":{"instanceCount":0},"limits":{"timeout":"x"})"));
    ASSERT_FALSE(job);
    EXPECT_EQ(job.error().fields.size(), 2U);
}

}  // namespace
}  // namespace lavant::wire
