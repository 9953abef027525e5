#include "api/workspace_settings.h"

#include <chrono>
#include <utility>

#include "api/computes.h"
#include "api/context.h"
#include "base/text.h"
#include "core/spec/problems.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr const char* kSettingsKind = "workspace_settings";
constexpr std::size_t kNamedMax = 10;  // computes in a message
constexpr std::size_t kKnownMax = 10'000;
constexpr Duration kRememberFor = std::chrono::seconds(5);

// The name is the same in all of them.
AssetKey settings_key(const std::string& workspace) {
    return {workspace, kSettingsKind, kDefaultWorkspace, ""};
}

Result<WorkspaceSettings> parse_settings(const Asset& asset) {
    LAVANT_TRY(const Json body, wire::parse_json(asset.body));
    WorkspaceSettings settings;
    settings.serverless = body["serverless"].boolean(true);
    settings.custom_subnet = body["customSubnet"].string();
    settings.no_public_ip = body["noPublicIp"].boolean();
    settings.display_name = body["displayName"].string();
    settings.description = body["description"].string();
    for (const auto& [key, value] : body["tags"].members()) settings.tags[key] = value.scalar_text();
    settings.row_version = asset.row_version;
    return settings;
}

std::string off_message(std::vector<std::string> names) {
    const std::string message = "serverless compute is off in this workspace; ";
    if (names.empty())
        return message +
               "there is no compute to run on either: make one with lavant compute create, or ask an owner "
               "for lavant workspace update --serverless on";
    if (names.size() > kNamedMax) {
        const std::size_t more = names.size() - kNamedMax;
        names.resize(kNamedMax);
        names.push_back(std::to_string(more) + " more");
    }
    return message + "give the job a compute: " + spec::listed(names);
}

Result<WorkspaceSettings> recent_settings(Context& context, const std::string& workspace) {
    if (auto known = context.workspace_settings.find(workspace, context.ports.clock.now()))
        return std::move(*known);
    return load_settings(context, workspace);
}

}  // namespace

std::optional<WorkspaceSettings> SettingsCache::find(const std::string& workspace, Instant now) const {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(workspace);
    if (known == known_.end() || now >= known->second.until) return std::nullopt;
    return known->second.settings;
}

void SettingsCache::put(const std::string& workspace, const WorkspaceSettings& settings, Instant now) {
    const std::lock_guard lock(mutex_);
    const auto known = known_.find(workspace);
    if (known != known_.end() && known->second.settings.row_version > settings.row_version) return;
    if (known_.size() >= kKnownMax) known_.clear();
    known_[workspace] = {settings, now + kRememberFor};
}

Result<WorkspaceSettings> load_settings(Context& context, const std::string& workspace) {
    const Instant now = context.ports.clock.now();
    LAVANT_TRY(const auto asset, context.ports.reader.find_asset(settings_key(workspace)));
    WorkspaceSettings settings;
    if (asset) {
        LAVANT_TRY(settings, parse_settings(*asset));
    }
    context.workspace_settings.put(workspace, settings, now);
    return settings;
}

AssetWrite settings_write(const std::string& workspace, const WorkspaceSettings& settings,
                          const std::string& who, Instant now) {
    Json tags = Json::object();
    for (const auto& [key, value] : settings.tags) tags.set(key, value);
    AssetWrite write;
    write.asset.key = settings_key(workspace);
    write.asset.body = Json::object({{"serverless", settings.serverless},
                                     {"customSubnet", settings.custom_subnet},
                                     {"noPublicIp", settings.no_public_ip},
                                     {"displayName", settings.display_name},
                                     {"description", settings.description},
                                     {"tags", std::move(tags)}})
                           .dump();
    write.asset.created_by = who;
    write.asset.created_at = write.asset.modified_at = now;
    write.expected = settings.row_version;
    return write;
}

Result<bool> serverless_is_on(Context& context, const std::string& workspace) {
    LAVANT_TRY(const WorkspaceSettings settings, recent_settings(context, workspace));
    return settings.serverless;
}

Result<void> apply_settings(Context& context, Pool& pool) {
    LAVANT_TRY(const WorkspaceSettings settings, recent_settings(context, pool.workspace));
    if (!settings.serverless) {
        LAVANT_TRY(const auto computes, list_computes(context, pool.workspace));
        std::vector<std::string> names;
        for (const StoredCompute& compute : computes) names.push_back(compute.name());
        return fail(ErrorCode::InvalidArgument, off_message(std::move(names)));
    }
    if (settings.custom_subnet.empty()) return {};
    pool.terms.subnet = to_lower(settings.custom_subnet);
    // Nodes of a pool are alike, and a pool keeps its terms: another subnet is another pool.
    constexpr std::size_t kBytes = 6;
    pool.key += "/subnet-" + to_hex(context.ports.crypto.sha256(pool.terms.subnet).substr(0, kBytes));
    return {};
}

}  // namespace lavant::api
