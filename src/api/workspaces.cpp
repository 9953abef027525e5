#include "api/workspaces.h"

#include <algorithm>
#include <utility>

#include "api/asset_view.h"
#include "api/environments.h"
#include "app/workspace_rows.h"
#include "base/text.h"
#include "core/model/region.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr std::size_t kKnownMax = 10'000;
constexpr std::size_t kNameCharsMax = 260;
constexpr std::size_t kKeyBytes = 6;

}  // namespace

std::string make_guid(ports::Crypto& crypto) {
    const std::string hex = to_hex(crypto.random_bytes(16));
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

// Any text, as on Azure's own wire; but it is part of paths and messages. A percent sign is left of a name
// that was encoded twice.
Result<void> check_workspace_name(const WorkspaceName& name) {
    for (const std::string& part : {name.subscription, name.resource_group, name.name}) {
        const bool odd = std::ranges::any_of(part, [](char c) {
            return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == '%';
        });
        if (part.empty() || part.size() > kNameCharsMax || odd || part == "." || part == ".." ||
            valid_utf8_bytes(part) != part.size())
            return fail(ErrorCode::InvalidArgument,
                        "subscription, resource group and workspace have names of 1 to " +
                            std::to_string(kNameCharsMax) +
                            " characters of UTF-8 without slashes and percent signs");
    }
    return {};
}

Result<Workspace> parse_workspace(const Asset& row) {
    LAVANT_TRY(const Json body, wire::parse_json(row.body));
    return Workspace{
        .key = row.hash,
        .id = body["workspaceId"].string(),
        .name = {body["subscription"].string(), body["resourceGroup"].string(), body["name"].string()},
        .location = body["location"].string(std::string(kLocalRegion)),
        .deleted = row.archived,
        .created_by = row.created_by,
        .created_at = row.created_at};
}

AssetWrite workspace_row(const Workspace& workspace, std::int64_t expected, Instant now) {
    AssetWrite write;
    write.asset.key = {"", app::kWorkspaceKind, app::row_name_of(workspace.name), ""};
    write.asset.hash = workspace.key;
    write.asset.body = Json::object({{"workspaceId", workspace.id},
                                     {"subscription", workspace.name.subscription},
                                     {"resourceGroup", workspace.name.resource_group},
                                     {"name", workspace.name.name},
                                     {"location", workspace.location}})
                           .dump();
    write.asset.archived = workspace.deleted;
    write.asset.created_by = workspace.created_by;
    write.asset.created_at = workspace.created_at;
    write.asset.modified_at = now;
    write.expected = expected;
    return write;
}

Result<std::vector<AssetWrite>> first_assets(const std::string& key, Instant now) {
    AssetWrite version;
    version.asset.key = {key, "environments", "base", "1"};
    version.asset.body =
        Json::object({{"image", kHostImage},
                      {"description", "the python and the programs of the machine the job runs on"},
                      {"environmentType", "Curated"}})
            .dump();
    AssetWrite container;
    container.asset.key = {key, "environments", "base", ""};
    LAVANT_TRY(const Json body, advance_container("", "1"));
    container.asset.body = body.dump();
    for (AssetWrite* write : {&version, &container}) {
        write->asset.created_by = "lavant";
        write->asset.created_at = write->asset.modified_at = now;
        write->expected = 0;
    }
    return std::vector<AssetWrite>{std::move(version), std::move(container)};
}

Result<std::optional<Workspace>> Workspaces::find(const WorkspaceName& name) {
    const std::string row_name = app::row_name_of(name);
    std::uint64_t generation = 0;
    {
        const std::lock_guard lock(mutex_);
        if (const auto known = known_.find(row_name); known != known_.end()) return known->second;
        generation = generation_;
    }
    LAVANT_TRY(const auto row, ports_.reader.find_asset({"", app::kWorkspaceKind, row_name, ""}));
    if (!row) return std::nullopt;
    LAVANT_TRY(Workspace workspace, parse_workspace(*row));
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return workspace;  // a row has changed meanwhile, perhaps this one
    if (known_.size() >= kKnownMax) known_.clear();
    known_[row_name] = workspace;
    return workspace;
}

Result<std::vector<Workspace>> Workspaces::list() const {
    ports::AssetQuery query;
    query.kind = app::kWorkspaceKind;
    query.unversioned = true;
    query.limit = ports::kRowsPerQuery;
    LAVANT_TRY(const auto rows, ports_.reader.list_assets(query));
    std::vector<Workspace> workspaces;
    for (const Asset& row : rows) {
        LAVANT_TRY(Workspace workspace, parse_workspace(row));
        workspaces.push_back(std::move(workspace));
    }
    return workspaces;
}

Result<Workspaces::Plan> Workspaces::plan(const WorkspaceName& name, const std::string& location,
                                          const std::string& who) {
    LAVANT_TRY_VOID(check_workspace_name(name));
    const Instant now = ports_.clock.now();
    LAVANT_TRY(const auto row,
               ports_.reader.find_asset({"", app::kWorkspaceKind, app::row_name_of(name), ""}));
    Plan plan;
    plan.workspace = {.key = kWorkspaceKeyStart + to_hex(ports_.crypto.random_bytes(kKeyBytes)),
                      .id = make_guid(ports_.crypto),
                      .name = name,
                      .location = location.empty() ? std::string(kLocalRegion) : location,
                      .created_by = who,
                      .created_at = now};
    for (const std::string& container : app::own_containers(plan.workspace.key))
        LAVANT_TRY_VOID(ports_.blobs.make_container(container));
    plan.writes.push_back(workspace_row(plan.workspace, row ? row->row_version : 0, now));
    LAVANT_TRY(auto assets, first_assets(plan.workspace.key, now));
    for (AssetWrite& write : assets) plan.writes.push_back(std::move(write));
    return plan;
}

bool Workspaces::begin_making(const WorkspaceName& name, Made then) {
    const std::lock_guard lock(mutex_);
    std::vector<Made>& waiting = making_[app::row_name_of(name)];
    waiting.push_back(std::move(then));
    return waiting.size() == 1;
}

void Workspaces::made(const WorkspaceName& name, const Result<Workspace>& workspace) {
    std::vector<Made> waiting;
    {
        const std::lock_guard lock(mutex_);
        known_.erase(app::row_name_of(name));
        ++generation_;
        const auto found = making_.find(app::row_name_of(name));
        if (found == making_.end()) return;
        waiting = std::move(found->second);
        making_.erase(found);
    }
    for (const Made& then : waiting) then(workspace);
}

void Workspaces::forget(const WorkspaceName& name) {
    const std::lock_guard lock(mutex_);
    known_.erase(app::row_name_of(name));
    ++generation_;
}

}  // namespace lavant::api
