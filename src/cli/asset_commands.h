#pragma once
// `lavant data | model | environment | component show | list | update | archive | restore | delete`, and
// `model download`: what is there already.

#include <string>
#include <vector>

#include "cli/asset_kind.h"
#include "cli/blob_fetch.h"
#include "cli/connect.h"
#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> show_asset(Session& session, const Console& console, AssetKind kind,
                                       const AssetName& name, const Output& output);
// Without a name every one with its latest version, else the versions of that one.
[[nodiscard]] Outcome<Exit> list_assets(Session& session, const Console& console, AssetKind kind,
                                        const AssetFilter& options, const Output& output);

// Description, tags and properties; of a model its stage too. The rest never changes under a version.
[[nodiscard]] Outcome<Exit> update_asset(Session& session, const Console& console, AssetKind kind,
                                         const AssetName& name, const std::vector<std::string>& settings,
                                         const Output& output);
// One version, or without one the whole container.
[[nodiscard]] Outcome<Exit> archive_asset(Session& session, const Console& console, AssetKind kind,
                                          const AssetName& name, bool archived);
[[nodiscard]] Outcome<Exit> delete_asset(Session& session, Context& context, AssetKind kind,
                                         const AssetName& name, bool yes);

// To {folder}/{name}, as the SDK lays it out.
[[nodiscard]] Outcome<Exit> download_model(Session& session, const Context& context, const AssetName& name,
                                           const std::string& folder, int parallel = kFilesAtOnce);

// For completion: names in the workspace that begin so, as long as a server runs already. `segment` is the
// path's: data, models, datastores.
std::vector<std::string> known_resource_names(Context& context, const ServerChoice& choice,
                                              const std::string& segment, const std::string& begun);

// One "path=value" of --set into a resource's properties: description, display_name, tags.KEY,
// properties.KEY. False if the path is none of them.
bool set_words_about(wire::Json& properties, std::string_view path, std::string_view value);
[[nodiscard]] Outcome<std::pair<std::string, std::string>> split_setting(const std::string& setting);

}  // namespace lavant::cli
