#pragma once
// What an owner set for the workspace: whether jobs may go without a compute, where their nodes are, and how
// the workspace is described. Kept as the asset of kind "workspace_settings".

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "core/model/asset.h"
#include "core/model/node.h"

namespace lavant::api {

struct Context;

struct WorkspaceSettings {
    bool serverless = true;
    std::string custom_subnet;  // an ARM id as it was written; "" none
    bool no_public_ip = false;
    std::string display_name;
    std::string description;
    std::map<std::string, std::string> tags;
    std::int64_t row_version = 0;  // of what is stored; 0: nothing is
    bool operator==(const WorkspaceSettings&) const = default;
};

// Read for every job, written once in a while. Forgotten after a short time, so that a write whose outcome
// stayed unknown is seen too.
class SettingsCache {
 public:
    std::optional<WorkspaceSettings> find(const std::string& workspace, Instant now) const;
    // Unless a newer one is there.
    void put(const std::string& workspace, const WorkspaceSettings& settings, Instant now);

 private:
    mutable std::mutex mutex_;  // guards what follows
    struct Known {
        WorkspaceSettings settings;
        Instant until{};
    };
    std::map<std::string, Known> known_;
};

[[nodiscard]] Result<WorkspaceSettings> load_settings(Context& context, const std::string& workspace);
// Guarded by the version that `settings` was read with.
AssetWrite settings_write(const std::string& workspace, const WorkspaceSettings& settings,
                          const std::string& who, Instant now);

[[nodiscard]] Result<bool> serverless_is_on(Context& context, const std::string& workspace);
// Puts a serverless pool where the workspace wants it. Refused, naming the computes there are, while
// serverless is off.
[[nodiscard]] Result<void> apply_settings(Context& context, Pool& pool);

}  // namespace lavant::api
