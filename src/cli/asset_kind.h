#pragma once
// What is kept by name and version: data, models, environments and components. The commands are the same for
// all of them; this says what differs, and how one of them is named.

#include <string>
#include <string_view>
#include <vector>

#include "cli/outcome.h"
#include "cli/session.h"
#include "wire/json.h"

namespace lavant::cli {

enum class AssetKind { Data, Model, Environment, Component };

struct AssetWords {
    const char* word;     // the family's: `lavant data`
    const char* article;  // with it: "a data asset"
    const char* plural;   // "data assets"
    const char* segment;  // in the server's paths
    wire::Json (*to_az)(const wire::Json& arm);
};
const AssetWords& words_of(AssetKind kind);

// As the user said it: NAME, NAME:VERSION, NAME@LABEL, each with `azureml:` before it or not, and what
// --version and --label said.
struct AssetName {
    std::string name;
    std::string version;       // "": of a container, or by its label
    std::string label;         // "": none
    std::string text() const;  // NAME:VERSION for messages
};
[[nodiscard]] Outcome<AssetName> read_asset_name(AssetKind kind, const std::string& word,
                                                 const std::string& version, const std::string& label);

std::string container_path(const Session& session, AssetKind kind, const std::string& name);
std::string version_path(const Session& session, AssetKind kind, const AssetName& name);

// The ARM resource of a version; without version and label the newest one. `verb` for messages: "show".
[[nodiscard]] Outcome<wire::Json> fetch_version(Session& session, AssetKind kind, const AssetName& name,
                                                std::string_view verb);

enum class Archived { No, Only, Too };
struct AssetFilter {
    std::string name;  // "": the containers
    Archived archived = Archived::No;
    int max = 0;  // 0: all
};
// ARM resources, page after page; at most `max` (0: all). More pages than can be fetched are an error. `what`
// for messages: "models".
[[nodiscard]] Outcome<std::vector<wire::Json>> fetch_list(Session& session, std::string_view what,
                                                          const std::string& path, std::string_view view,
                                                          int max);
std::string_view view_of(Archived archived);  // listViewType

}  // namespace lavant::cli
