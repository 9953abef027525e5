#pragma once
// The public examples for tests: which are taken, and what Azure's own client makes of them. The corpus lies
// beside the repository, or where LAVANT_CORPUS points. It holds the YAML files only, so folders and data
// that the examples name are taken for present.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "core/spec/sections.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace lavant::wire::corpus {

using spec::Document;

struct Expectation {
    std::string path;
    std::string kind;
    bool accepted = false;
};

inline std::string corpus_folder() {
    const char* named = std::getenv("LAVANT_CORPUS");
    // Its true name: code folders are told by it.
    return std::filesystem::weakly_canonical(named != nullptr ? named
                                                              : LAVANT_SOURCE_DIR "/../shared/corpus");
}

inline constexpr std::size_t kFileMost = 4U << 20;

// What stands for files that are named and did not make it into the corpus.
inline constexpr const char* kMissingFile = "build: {path: .}\n";

inline std::vector<Expectation> expectations() {
    std::vector<Expectation> out;
    const auto table = read_file(corpus_folder() + "/expect.csv", kFileMost);
    if (!table) return out;
    for (std::string_view line : split(*table, '\n')) {
        const auto cells = split(line, ',');
        if (cells.size() >= 3 && cells[0] != "path") {
            out.push_back({std::string(cells[0]), std::string(cells[1]), cells[2] == "1"});
        }
    }
    return out;
}

inline spec::ComponentLoader corpus_loader(const std::string& file) {
    spec::ComponentLoader loader;
    loader.folder = parent_of(file);
    loader.read_text = [](const std::string& path) -> Result<std::string> {
        // One example's environment file did not make it into the corpus; its body says what was in it.
        return exists(path) ? read_file(path, kFileMost) : kMissingFile;
    };
    loader.load = [read = loader.read_text](const std::string& path) -> Result<Document> {
        LAVANT_TRY(const std::string text, read(path));
        return parse_yaml(text, path);
    };
    loader.kind_of = [](const std::string& path) {
        // The one folder that is missing upstream too, which is why that example is refused.
        if (path.ends_with("aml-mlfow-java-example")) return spec::PathKind::Absent;
        if (path.find('<') != std::string::npos) return spec::PathKind::Absent;
        for (const char* ending : {".yml", ".yaml", ".json", ".jsonl", ".csv", ".py"}) {
            if (path.ends_with(ending)) return spec::PathKind::File;
        }
        return spec::PathKind::Folder;
    };
    return loader;
}

inline std::optional<Document> example(const Expectation& expected) {
    const std::string file = corpus_folder() + "/examples/" + expected.path;
    const auto text = read_file(file, kFileMost);
    if (!text) return std::nullopt;
    auto document = parse_yaml(*text, file);
    EXPECT_TRUE(document) << document.error().message;
    if (!document) return std::nullopt;
    return std::move(*document);
}

inline bool is_of_type_command(const Document& document) {
    const Document* type = document.find("type");
    return (type == nullptr || type->text == "command") && document.find("jobs") == nullptr;
}

inline Json sorted(const Json& value) {
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json& item : value.items()) out.append(sorted(item));
        return out;
    }
    if (!value.is_object()) return value;
    Json::Object members;
    for (const Json::Member& member : value.members()) members.push_back({member.key, sorted(member.value)});
    std::sort(members.begin(), members.end(),
              [](const Json::Member& a, const Json::Member& b) { return a.key < b.key; });
    return Json(std::move(members));
}

inline std::string text_of(const Document& map, std::string_view key) {
    const Document* value = map.find(key);
    return value != nullptr ? value->text : "";
}

// What the client sends for an example.
inline Result<Json> recorded(const Expectation& expected) {
    LAVANT_TRY(const std::string text,
               read_file(corpus_folder() + "/rest/" + expected.path + ".json", kFileMost));
    return parse_json(text);
}

class Corpus : public testing::Test {
 protected:
    void SetUp() override {
        if (!exists(corpus_folder() + "/expect.csv")) {
            GTEST_SKIP() << "no corpus at " << corpus_folder()
                         << "; set LAVANT_CORPUS to its folder to run this test";
        }
    }
};

}  // namespace lavant::wire::corpus
