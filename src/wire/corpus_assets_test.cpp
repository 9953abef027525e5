// The public examples of data, models, environments, datastores and schedules: each is taken, and the body
// made from it is the one that Azure's client makes (rest/, where it is recorded). corpus_test.cpp has the
// jobs.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "wire/asset_to_arm.h"
#include "wire/spec_file.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

constexpr std::size_t kFileMost = 4U << 20;
const std::string kPlace = "{CORPUS}";

std::string corpus_folder() {
    const char* named = std::getenv("LAVANT_CORPUS");
    return named != nullptr ? named : LAVANT_SOURCE_DIR "/../shared/corpus";
}

std::vector<std::string> examples_of(std::string_view kind) {
    std::vector<std::string> out;
    const auto table = read_file(corpus_folder() + "/expect.csv", kFileMost);
    if (!table) return out;
    for (const std::string_view line : split(*table, '\n')) {
        const auto cells = split(line, ',');
        if (cells.size() < 3 || cells[1] != kind) continue;
        EXPECT_EQ(cells[2], "1") << cells[0];
        out.emplace_back(cells[0]);
    }
    return out;
}

std::optional<Json> recorded(const std::string& example) {
    const auto text = read_file(corpus_folder() + "/rest/" + example + ".json", kFileMost);
    if (!text) return std::nullopt;
    return *parse_json(*text);
}

// The corpus holds YAML only: what else the examples name is taken for present, a file if its name says so.
spec::ComponentLoader loader_for(const std::string& example, const std::string& conda) {
    spec::ComponentLoader loader;
    loader.folder = parent_of(corpus_folder() + "/examples/" + example);
    loader.read_text = [conda](const std::string& path) -> Result<std::string> {
        if (exists(path)) return read_file(path, kFileMost);
        return path.ends_with("MLTable") ? "paths: []\n" : conda;
    };
    loader.load = [read = loader.read_text](const std::string& path) -> Result<spec::Document> {
        LAVANT_TRY(const std::string text, read(path));
        return parse_yaml(text, path);
    };
    loader.kind_of = [](const std::string& path) {
        const std::string name = path.substr(path.rfind('/') + 1);
        return name.find('.') != std::string::npos || name == "MLTable" ? spec::PathKind::File
                                                                        : spec::PathKind::Folder;
    };
    return loader;
}

// The record writes local paths as the client resolves them: absolute, without a slash at the end.
std::string as_recorded(const std::string& local_path) {
    if (local_path.empty()) return {};
    std::vector<std::string_view> parts;
    for (const std::string_view part : split(local_path, '/')) {
        if (part == ".." && !parts.empty()) {
            parts.pop_back();
        } else if (!part.empty() && part != ".") {
            parts.push_back(part);
        }
    }
    std::string path;
    for (const std::string_view part : parts) path += "/" + std::string(part);
    return kPlace + path.substr(path.find("/examples/") + std::string_view("/examples").size());
}

Json sorted(const Json& value) {
    if (!value.is_object()) return value;
    Json::Object members;
    for (const Json::Member& member : value.members()) members.push_back({member.key, sorted(member.value)});
    std::ranges::sort(members, {}, &Json::Member::key);
    return Json(std::move(members));
}

void expect_same(const Json& made, const Json& expected) {
    EXPECT_EQ(sorted(made).pretty(), sorted(expected).pretty());
}

class CorpusAssets : public testing::Test {
 protected:
    void SetUp() override {
        if (!exists(corpus_folder() + "/expect.csv"))
            GTEST_SKIP() << "no corpus at " << corpus_folder()
                         << "; set LAVANT_CORPUS to its folder to run it";
    }
    static SpecFile read(const std::string& example) {
        auto file = read_spec_file(corpus_folder() + "/examples/" + example, "a file");
        EXPECT_TRUE(file) << file.error().message;
        return file ? std::move(*file) : SpecFile{};
    }
};

TEST_F(CorpusAssets, DataMakesTheRecordedBodies) {
    const auto examples = examples_of("data");
    for (const std::string& example : examples) {
        SCOPED_TRACE(example);
        const auto spec = spec::parse_data(read(example).root, loader_for(example, ""));
        ASSERT_TRUE(spec) << spec.error().message;
        expect_same(to_arm_data(*spec, as_recorded(spec->local_path)), recorded(example).value());
    }
    EXPECT_GE(examples.size(), 12U);
}

TEST_F(CorpusAssets, ModelsMakeTheRecordedBodies) {
    const auto examples = examples_of("model");
    for (const std::string& example : examples) {
        SCOPED_TRACE(example);
        const auto spec = spec::parse_model(read(example).root, loader_for(example, ""));
        ASSERT_TRUE(spec) << spec.error().message;
        expect_same(to_arm_model(*spec, as_recorded(spec->local_path)), recorded(example).value());
    }
    EXPECT_GE(examples.size(), 3U);
}

TEST_F(CorpusAssets, EnvironmentsMakeTheRecordedBodies) {
    const auto examples = examples_of("environment");
    for (const std::string& example : examples) {
        SCOPED_TRACE(example);
        const Json expected = recorded(example).value();
        const SpecFile file = read(example);
        const auto parsed = spec::parse_environment_file(
            file.root, loader_for(example, expected.get("properties.condaFile").string()));
        ASSERT_TRUE(parsed) << parsed.error().message;
        const spec::Document* build = file.root.find("build");
        const std::string context = build != nullptr ? build->find("path")->text : "";
        expect_same(to_arm_environment(*parsed, context), expected);
    }
    EXPECT_GE(examples.size(), 6U);
}

TEST_F(CorpusAssets, DatastoresAreTaken) {
    const auto examples = examples_of("datastore");
    for (const std::string& example : examples) {
        SCOPED_TRACE(example);
        const auto spec = spec::parse_datastore(read(example).root, "/");
        ASSERT_TRUE(spec) << spec.error().message;
        EXPECT_TRUE(to_arm_datastore(*spec).get("properties.credentials.credentialsType").is_string());
    }
    EXPECT_GE(examples.size(), 5U);
}

TEST_F(CorpusAssets, SchedulesAreTaken) {
    const auto examples = examples_of("schedule");
    for (const std::string& example : examples) {
        SCOPED_TRACE(example);
        const auto spec = spec::parse_schedule(read(example).root, loader_for(example, "type: pipeline\n"));
        ASSERT_TRUE(spec) << spec.error().message;
        EXPECT_TRUE(to_arm_schedule(*spec, Json::object()).get("properties.action.actionType").is_string());
    }
    EXPECT_GE(examples.size(), 6U);
}

}  // namespace
}  // namespace lavant::wire
