// Every job and component of the public examples: taken or refused as Azure's client says, and the same on
// the wire. The records were made before anything was uploaded, so a component stands in them as text.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "core/spec/job.h"
#include "wire/component_to_arm.h"
#include "wire/corpus_test.h"
#include "wire/job_to_arm.h"
#include "wire/sections_to_arm.h"

namespace lavant::wire {
namespace {

using namespace corpus;

constexpr char kOr = '\x1f';  // between what may stand at a place

// The records name a folder as it was written, or where it was on the recorder's machine.
std::string either(const std::string& written, const std::string& local) {
    std::string place = std::filesystem::path(local).lexically_normal().string();
    while (place.ends_with('/')) place.pop_back();
    const std::string examples = corpus_folder() + "/examples";
    if (place.starts_with(examples)) place = "CORPUS" + place.substr(examples.size());
    return local.empty() ? written : written + kOr + place;
}

class CorpusResolver : public Resolver {
 public:
    Result<std::string> code(const CodeAsk& ask) override { return either(ask.written, ask.local); }
};

Json without_marks(Json value);

// Both sides as a tree: components that are text are read, what only the recorder knew is left out.
Json settled_component(const Json& spec) {
    Json out = spec;
    for (const char* key : {"_source", "sourceJobId"}) out.remove(key);
    for (const char* key : {"environment"}) {
        if (out[key].is_object()) out.member(key).remove("version");
    }
    if (out["task"]["environment"].is_object()) out.member("task").member("environment").remove("version");
    if (out["jobs"].is_object()) out.set("jobs", without_marks(out["jobs"]));
    return out;
}

std::optional<Json> as_component(const Json& id) {
    if (!id.is_string() || id.text().find("type: ") == std::string_view::npos) {
        if (!id.text().starts_with("{\"")) return std::nullopt;
        return settled_component(*parse_json(id.text()));
    }
    std::string text = id.string();
    for (std::size_t at; (at = text.find("{CORPUS}")) != std::string::npos;) text.replace(at, 8, "CORPUS");
    const auto document = parse_yaml(text, "record");
    if (!document || !document->is_map()) return std::nullopt;
    return settled_component(to_json(*document));
}

// A nested pipeline is recorded as a file would have it: paths, and components in place.
Json as_file_step(const Json& node) {
    Json out = node;
    for (const char* key : {"name", "_source"}) out.remove(key);
    if (out.has("computeId")) {
        out.set("compute", out["computeId"]);
        out.remove("computeId");
    }
    for (Json::Member& input : out.member("inputs").mutable_members()) {
        if (input.value.has("value")) input.value = Json::object({{"path", input.value["value"]}});
    }
    if (out["inputs"].size() == 0) out.remove("inputs");
    if (out.has("outputs")) {
        for (Json::Member& output : out.member("outputs").mutable_members()) {
            if (output.value["type"].text() == "literal") output.value = output.value["value"];
        }
    }
    if (out.has("componentId")) {
        if (auto component = as_component(out["componentId"])) out.set("component", *component);
        out.remove("componentId");
    }
    if (out["component"].is_object()) out.set("component", settled_component(out["component"]));
    return out;
}

Json without_marks(Json nodes) {
    Json out = Json::object();
    for (const Json::Member& member : nodes.members()) out.set(member.key, as_file_step(member.value));
    return out;
}

Json settled_step(const Json& node) {
    Json out = node;
    if (auto component = as_component(out["componentId"])) out.set("componentId", *component);
    if (auto trial = as_component(out["trial"]["componentId"])) out.set("trial", *trial);
    if (out["trial"].has("properties"))
        out.set("trial", settled_component(out["trial"]["properties"]["componentSpec"]));
    if (out["task"]["environment"].is_object()) out.member("task").member("environment").remove("version");
    return out;
}

Json settled(const Json& body) {
    Json out = body;
    out.remove("name");
    Json& properties = out.member("properties");
    if (properties.has("componentSpec")) {
        properties.member("properties").remove("client_component_hash");
        Json& spec = properties.member("componentSpec");
        if (spec["environment"].is_object()) spec.member("environment").remove("version");
        for (Json::Member& step : spec.member("jobs").mutable_members())
            step.value = settled_step(step.value);
        if (spec["jobs"].size() == 0) spec.remove("jobs");
        return out;
    }
    properties.member("properties").remove("azureml.connection_information");  // It has a key.
    if (!properties.has("jobs")) return out;
    for (Json::Member& step : properties.member("jobs").mutable_members())
        step.value = settled_step(step.value);
    return out;
}

// Of what may stand at a place, what does stand there.
Json chosen(const Json& ours, const Json& theirs) {
    if (ours.is_string()) {
        std::string wanted = theirs.string();
        if (wanted.starts_with("{CORPUS}")) wanted = "CORPUS" + wanted.substr(8);
        for (const std::string_view one : split(ours.text(), kOr)) {
            if (one == wanted) return theirs;
        }
        return ours;
    }
    if (ours.dump() == R"({"build":{"path":"."}})") return theirs;  // A conda file that is missing here.
    Json out = ours;
    if (ours.is_object()) {
        for (Json::Member& member : out.mutable_members())
            member.value = chosen(member.value, theirs[member.key]);
    }
    return out;
}

std::string difference(const Json& ours, const Json& theirs) {
    const Json expected = sorted(settled(theirs));
    const Json made = sorted(chosen(sorted(settled(ours)), expected));
    if (made.pretty() == expected.pretty()) return "";
    return "made:\n" + made.pretty() + "\nrecorded:\n" + expected.pretty();
}

// A Spark job is recorded as a step would be.
Json as_recorded_spark(const Json& job) {
    Json out = Json::object();
    for (const char* key : {"args", "computeId"}) {
        if (job.has(key)) out.set(key, job[key]);
    }
    for (const char* key : {"entry", "identity", "resources"}) {
        Json section = Json::object();
        for (const Json::Member& member : job[key].members())
            section.set(part_words(member.key, '_'), member.value);
        if (section.size() > 0) out.set(key, std::move(section));
    }
    for (const char* key : {"inputs", "outputs"}) {
        Json section = Json::object();
        for (const Json::Member& one : job[key].members()) {
            Json value = Json::object();
            for (const Json::Member& member : one.value.members())
                value.set(part_words(member.key, '_'), member.value);
            section.set(one.key, std::move(value));
        }
        out.set(key, std::move(section));
    }
    Json conf = Json::object();
    for (const Json::Member& member : job["conf"].members()) conf.set(member.key, member.value);
    out.set("conf", std::move(conf));
    return out;
}

Json comparable_record_of_spark(Json record) {
    for (const char* key : {"_source", "componentId", "type"}) record.remove(key);
    for (Json::Member& member : record.member("conf").mutable_members()) {
        const bool boolean = member.value.is_boolean();
        member.value = boolean ? (member.value.boolean() ? "True" : "False") : member.value.scalar_text();
    }
    return record;
}

// The one kind of component that only Azure's service reads: a prompt flow.
bool needs_prompt_flow(const Expectation& expected) {
    return expected.path.find("pipeline_job_with_flow_as_component") != std::string::npos;
}

TEST_F(Corpus, EveryJobIsTakenOrRefusedAndMakesTheRecordedBody) {
    std::map<std::string, int> equal;
    for (const Expectation& expected : expectations()) {
        if (expected.kind != "job" || needs_prompt_flow(expected)) continue;
        const auto document = example(expected);
        ASSERT_TRUE(document);
        const std::string type = spec::job_type_of(*document);
        SCOPED_TRACE(expected.path + " (" + type + ")");
        const auto job =
            spec::parse_job(*document, corpus_loader(corpus_folder() + "/examples/" + expected.path));
        EXPECT_EQ(job.has_value(), expected.accepted) << (job ? "accepted" : job.error().message);
        if (!job || type == "command") continue;  // Command jobs have a test of their own.
        CorpusResolver resolver;
        const auto body = to_arm_job(*job, resolver);
        ASSERT_TRUE(body) << body.error().message;
        const auto record = recorded(expected);
        ASSERT_TRUE(record) << record.error().message;
        if (type == "spark") {
            EXPECT_EQ(sorted(as_recorded_spark((*body)["properties"])).pretty(),
                      sorted(comparable_record_of_spark(*record)).pretty());
            if (!HasFailure()) ++equal[type];
            continue;
        }
        const std::string different = difference(*body, *record);
        EXPECT_EQ(different, "");
        if (different.empty()) ++equal[type];
    }
    for (const auto& [type, count] : equal) RecordProperty("equal_" + type, count);
    EXPECT_EQ(equal["sweep"], 2);
    EXPECT_EQ(equal["spark"], 4);
    EXPECT_EQ(equal["automl"], 12);
    EXPECT_EQ(equal["finetuning"], 4);
    EXPECT_EQ(equal["distillation"], 2);
    EXPECT_EQ(equal["pipeline"], 54);
}

TEST_F(Corpus, EveryComponentIsTakenOrRefusedAndMakesTheRecordedBody) {
    int equal = 0;
    for (const Expectation& expected : expectations()) {
        if (expected.kind != "component") continue;
        const auto document = example(expected);
        ASSERT_TRUE(document);
        SCOPED_TRACE(expected.path);
        const auto component =
            spec::parse_component(*document, corpus_loader(corpus_folder() + "/examples/" + expected.path));
        EXPECT_EQ(component.has_value(), expected.accepted)
            << (component ? "accepted" : component.error().message);
        if (!component) continue;
        CorpusResolver resolver;
        const auto body = to_arm_component(*component, ComponentUse::Named, resolver);
        ASSERT_TRUE(body) << body.error().message;
        const auto record = recorded(expected);
        ASSERT_TRUE(record) << record.error().message;
        const std::string different = difference(*body, *record);
        EXPECT_EQ(different, "");
        if (different.empty()) ++equal;
    }
    EXPECT_EQ(equal, 49);
}

}  // namespace
}  // namespace lavant::wire
