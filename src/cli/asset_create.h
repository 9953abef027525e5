#pragma once
// `lavant data | model | environment | component create | validate`: from a file, or flags that say the same,
// to a version on the server. Local paths are uploaded first.

#include "cli/asset_kind.h"
#include "cli/connect.h"
#include "cli/context.h"
#include "cli/file_options.h"
#include "cli/output.h"

namespace lavant::cli {

[[nodiscard]] Outcome<Exit> create_asset(Context& context, const ServerChoice& choice, AssetKind kind,
                                         const FileOptions& options, const Output& output);
// Needs no server.
[[nodiscard]] Outcome<Exit> validate_asset(Context& context, AssetKind kind, const FileOptions& options,
                                           const Output& output);

}  // namespace lavant::cli
