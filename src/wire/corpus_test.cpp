// The public examples: each command job loads or is refused as Azure's client says (expect.csv), and the body
// made from it says the same as that client's (rest/). The corpus lies beside the repository, or where
// LAVANT_CORPUS points. It holds the YAML files only, so folders and data that the examples name are taken
// for present.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text.h"
#include "core/spec/command_job.h"
#include "wire/arm_compute.h"
#include "wire/compute_file.h"
#include "wire/compute_to_arm.h"
#include "wire/corpus_test.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"

namespace lavant::wire {
namespace {

using namespace corpus;

std::string snake(std::string_view camel) {
    std::string out;
    for (char c : camel) {
        if (c >= 'A' && c <= 'Z') {
            out += '_';
            c = static_cast<char>(c - 'A' + 'a');
        }
        out += c;
    }
    return out;
}

Json with_snake_keys(const Json& object) {
    Json out = Json::object();
    for (const Json::Member& member : object.members()) {
        if (member.key == "properties" && member.value.size() == 0) continue;
        out.set(snake(member.key), member.value);
    }
    return out;
}

// The recorded bodies are those of a pipeline's step: snake_case, nothing empty, and what a step takes from
// its component left out (that part is compared with the component's own text).
Json as_step(const Json& job, const Json& expected) {
    Json step = Json::object();
    for (const char* key : {"distribution", "limits", "resources", "identity"}) {
        if (job.has(key)) step.set(key, with_snake_keys(job[key]));
    }
    for (const char* key : {"inputs", "outputs", "services"}) {
        Json section = Json::object();
        for (const Json::Member& member : job[key].members()) {
            const bool only_named =
                member.value.size() == 1 && member.value["jobOutputType"].text() == "uri_folder";
            if (only_named && !expected[key].has(member.key)) continue;
            section.set(member.key, with_snake_keys(member.value));
        }
        if (section.size() > 0) step.set(key, std::move(section));
    }
    if (job.has("computeId")) step.set("computeId", job["computeId"]);
    if (job.has("displayName")) step.set("display_name", job["displayName"]);
    if (job["environmentVariables"].size() > 0)
        step.set("environment_variables", job["environmentVariables"]);
    return step;
}

// What the recorded step keeps in its component: command, code, environment, description, names of inputs and
// outputs.
void compare_component(const Document& component, const spec::CommandJobSpec& spec, const Json& job) {
    EXPECT_EQ(text_of(component, "command"), spec.command);
    EXPECT_EQ(text_of(component, "code"), spec.code);
    EXPECT_EQ(trim(text_of(component, "description")), trim(spec.description));
    EXPECT_EQ(text_of(component, "display_name"), spec.display_name);
    for (const auto& [section, key] : {std::pair("inputs", "inputs"), std::pair("outputs", "outputs")}) {
        const Document* ports = component.find(section);
        const std::size_t count = ports != nullptr ? ports->entries.size() : 0;
        ASSERT_EQ(count, job[key].size()) << section;
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(ports->entries[i].key, job[key].members()[i].key);
        }
    }
    for (const spec::InputSpec& input : spec.inputs) {
        const Document& port = *component.find("inputs")->find(input.name);
        EXPECT_EQ(text_of(port, "type"), input.type == "literal" ? input.value_type : input.type)
            << input.name;
        EXPECT_EQ(text_of(port, "mode"), input.mode) << input.name;
    }
    const Document& environment = *component.find("environment");
    if (!environment.is_map()) {
        const std::string& reference = spec.environment.reference;
        EXPECT_EQ(environment.text, reference.starts_with("azureml://") ? reference : "azureml:" + reference);
        return;
    }
    EXPECT_EQ(text_of(environment, "image"), spec.environment.image);
    EXPECT_EQ(environment.find("conda_file") != nullptr, !spec.environment.conda_file.empty());
    if (const Document* build = environment.find("build")) {
        const std::string folder = corpus_folder() + "/examples/";
        const std::string path = text_of(*build, "path");
        EXPECT_EQ(path.substr(path.find("cli/")), spec.environment.build_path.substr(folder.size()));
    }
}

void compare_body(const Expectation& expected, const spec::CommandJobSpec& spec) {
    const auto recorded = read_file(corpus_folder() + "/rest/" + expected.path + ".json", kFileMost);
    ASSERT_TRUE(recorded) << recorded.error().message;
    Json step = *parse_json(*recorded);
    // The record writes its own folder as {CORPUS}, which plain YAML would take for a mapping.
    std::string component_text = step["componentId"].string();
    for (std::size_t at; (at = component_text.find("{CORPUS}")) != std::string::npos;)
        component_text.replace(at, 8, "CORPUS");
    const auto component = parse_yaml(component_text, expected.path);
    ASSERT_TRUE(component) << component.error().message;
    for (const char* key : {"_source", "componentId", "type"}) step.remove(key);
    Resolver as_written;
    const Json body = *to_arm_job(spec, as_written);
    EXPECT_EQ(sorted(as_step(body["properties"], step)).pretty(), sorted(step).pretty());
    EXPECT_EQ(body.get("properties.experimentName").text(), spec.experiment_name);
    compare_component(*component, spec, body["properties"]);
}

TEST_F(Corpus, CommandJobsAreTakenOrRefusedAsExpectedAndMakeTheRecordedBodies) {
    int jobs = 0;
    for (const Expectation& expected : expectations()) {
        if (expected.kind != "job") continue;
        const auto document = example(expected);
        if (!document || !is_of_type_command(*document)) continue;
        SCOPED_TRACE(expected.path);
        ++jobs;
        const auto spec =
            spec::parse_command_job(*document, corpus_loader(corpus_folder() + "/examples/" + expected.path));
        EXPECT_EQ(spec.has_value(), expected.accepted) << (spec ? "accepted" : spec.error().message);
        if (spec) compare_body(expected, *spec);
    }
    EXPECT_GE(jobs, 24);
}

Result<ChosenSize> any_size(const std::string& name) { return ChosenSize{name, ""}; }

// As the record has it: no passwords, sizes in the catalogue's spelling.
Json comparable(Json body) {
    body.remove("name");
    Json& inner = body.member("properties").member("properties");
    if (inner.has("vmSize")) inner.set("vmSize", to_lower(inner["vmSize"].text()));
    if (inner.has("administratorAccount")) inner.member("administratorAccount").remove("password");
    if (inner.is_null()) body.member("properties").remove("properties");
    return sorted(body);
}

TEST_F(Corpus, ComputesAreTakenOrRefusedAsExpectedAndMakeTheRecordedBodies) {
    int computes = 0;
    for (const Expectation& expected : expectations()) {
        if (expected.kind != "compute") continue;
        SCOPED_TRACE(expected.path);
        ++computes;
        const auto spec = load_compute_file(corpus_folder() + "/examples/" + expected.path, {});
        EXPECT_EQ(spec.has_value(), expected.accepted) << (spec ? "accepted" : spec.error().message);
        if (!spec) continue;
        const auto recorded = read_file(corpus_folder() + "/rest/" + expected.path + ".json", kFileMost);
        ASSERT_TRUE(recorded) << recorded.error().message;
        const Json body = to_arm_compute(*spec, spec::ComputeText::Whole, {"s", "g", "w"});
        EXPECT_EQ(comparable(body).pretty(), comparable(*parse_json(*recorded)).pretty());
        for (const std::string& sent : {body.dump(), *recorded}) {
            const auto compute =
                parse_arm_compute({ComputeRequest::Put, spec->name, sent, nullptr, any_size});
            EXPECT_TRUE(compute) << compute.error().message;
        }
    }
    EXPECT_GE(computes, 10);
}

}  // namespace
}  // namespace lavant::wire
