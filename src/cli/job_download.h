#pragma once
#include <string>

#include "cli/blob_fetch.h"
#include "cli/context.h"
#include "cli/session.h"

namespace lavant::cli {

struct DownloadOptions {
    std::string name;
    std::string folder;       // "" : ./{name}
    std::string output_name;  // one named output only
    bool all = false;         // named outputs besides the artifacts
    int parallel = kFilesAtOnce;
};

// Logs and ./outputs to {folder}/artifacts, named outputs to {folder}/named-outputs/{output}, as the SDK lays
// them out.
[[nodiscard]] Outcome<Exit> download_job(Session& session, const Context& context,
                                         const DownloadOptions& options);

}  // namespace lavant::cli
