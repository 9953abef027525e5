#pragma once
#include <string>

#include "cli/context.h"
#include "cli/session.h"

namespace lavant::cli {

struct DownloadOptions {
    std::string name;
    std::string folder;       // "" : ./{name}
    std::string output_name;  // one named output only
    bool all = false;         // named outputs besides the artifacts
};

// Logs and ./outputs to {folder}/artifacts, named outputs to {folder}/named-outputs/{output}, as the SDK lays
// them out. Files come in ranges, so that a broken transfer repeats one piece; names that would leave the
// folder are left out with a warning.
[[nodiscard]] Outcome<Exit> download_job(Session& session, const Console& console,
                                         const DownloadOptions& options);

}  // namespace lavant::cli
