#include "api/first_run.h"

#include <utility>

#include "api/access.h"
#include "api/workspaces.h"
#include "app/workspace_rows.h"
#include "base/files.h"
#include "base/text.h"
#include "core/model/region.h"
#include "core/model/workspace.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr const char* kFirstKey = "key-first";
constexpr const char* kServerKind = "server";
// A row that says that there was a first key.
constexpr const char* kFirstKeyMark = "first_key";

Result<void> commit(FirstRunPorts ports, std::vector<AssetWrite> writes) {
    WriteBatch batch;
    batch.assets = std::move(writes);
    for (AssetWrite& write : batch.assets)
        write.asset.created_at = write.asset.modified_at = ports.clock.now();
    LAVANT_TRY([[maybe_unused]] const auto written, ports.store.commit(batch));
    return {};
}

}  // namespace

Result<void> ensure_first_key(FirstRunPorts ports, const std::string& key_file, const std::string& user) {
    ports::AssetQuery query;
    query.kind = kKeyKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = 1;
    LAVANT_TRY(const auto keys, ports.reader.list_assets(query));
    AssetWrite mark;
    mark.asset.key = {"", kServerKind, kFirstKeyMark, ""};
    mark.asset.body = "{}";
    LAVANT_TRY(const auto marked, ports.reader.find_asset(mark.asset.key));
    if (!keys.empty()) return marked ? Result<void>{} : commit(ports, {std::move(mark)});
    // A file without a row is what a crash between the two leaves: take its key.
    std::string plain;
    const auto left = read_file(key_file, kKeyFileBytes);
    if (left && !marked) plain = trim(*left);
    if (!looks_like_key(plain)) {
        plain = "lvk_" + base64url_encode(ports.crypto.random_bytes(32));
        LAVANT_TRY_VOID(write_file_atomically(key_file, plain + "\n", 0600));
    }
    AssetWrite write = key_row(ports.crypto, plain, kFirstKey, {.user = user, .role = Role::Owner});
    write.asset.created_by = user;
    return commit(ports, {std::move(write), std::move(mark)});
}

Result<void> ensure_workspace(FirstRunPorts ports) {
    for (const std::string& container : app::own_containers(kDefaultWorkspace))
        LAVANT_TRY_VOID(ports.blobs.make_container(container));
    const WorkspaceName& name = default_workspace();
    LAVANT_TRY(const auto row,
               ports.reader.find_asset({"", app::kWorkspaceKind, app::row_name_of(name), ""}));
    if (row) return {};
    // Releases before this one kept the id of their one workspace here.
    LAVANT_TRY(const auto before, ports.reader.find_asset({"", kServerKind, "workspace", ""}));
    Workspace workspace{.key = kDefaultWorkspace,
                        .id = make_guid(ports.crypto),
                        .name = name,
                        .location = std::string(kLocalRegion),
                        .created_by = "lavant",
                        .created_at = ports.clock.now()};
    if (before) {
        LAVANT_TRY(const Json stored, wire::parse_json(before->body));
        workspace.id = stored["workspaceId"].string();
    }
    std::vector<AssetWrite> writes{workspace_row(workspace, 0, ports.clock.now())};
    if (!before) {
        LAVANT_TRY(auto assets, first_assets(kDefaultWorkspace, ports.clock.now()));
        for (AssetWrite& write : assets) writes.push_back(std::move(write));
    }
    return commit(ports, std::move(writes));
}

}  // namespace lavant::api
