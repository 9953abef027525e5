#include "api/first_run.h"

#include <utility>

#include "api/access.h"
#include "api/asset_view.h"
#include "api/environments.h"
#include "base/files.h"
#include "base/text.h"
#include "core/model/workspace.h"
#include "wire/json.h"

namespace lavant::api {
namespace {

using wire::Json;

constexpr const char* kFirstKey = "key-first";
constexpr const char* kServerKind = "server";
constexpr std::size_t kKeyFileBytes = 4096;

Result<void> commit(FirstRunPorts ports, std::vector<AssetWrite> writes) {
    WriteBatch batch;
    batch.assets = std::move(writes);
    for (AssetWrite& write : batch.assets)
        write.asset.created_at = write.asset.modified_at = ports.clock.now();
    LAVANT_TRY([[maybe_unused]] const auto written, ports.store.commit(batch));
    return {};
}

std::string make_guid(ports::Crypto& crypto) {
    const std::string hex = to_hex(crypto.random_bytes(16));
    return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" + hex.substr(16, 4) +
           "-" + hex.substr(20);
}

}  // namespace

Result<void> ensure_first_key(FirstRunPorts ports, const std::string& key_file, const std::string& user) {
    ports::AssetQuery query;
    query.kind = kKeyKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = 1;
    LAVANT_TRY(const auto keys, ports.reader.list_assets(query));
    if (!keys.empty()) return {};
    // A file without a row is what a crash between the two leaves: take its key.
    std::string plain;
    if (const auto left = read_file(key_file, kKeyFileBytes)) plain = trim(*left);
    if (!looks_like_key(plain)) {
        plain = "lvk_" + base64url_encode(ports.crypto.random_bytes(32));
        LAVANT_TRY_VOID(write_file_atomically(key_file, plain + "\n", 0600));
    }
    AssetWrite write = key_row(ports.crypto, plain, kFirstKey, Caller{user, Role::Owner, kFirstKey, ""});
    write.asset.created_by = user;
    return commit(ports, {std::move(write)});
}

Result<std::string> ensure_workspace(FirstRunPorts ports) {
    for (const char* container : {kBlobContainer, kArtifactContainer})
        LAVANT_TRY_VOID(ports.blobs.make_container(container));
    std::vector<AssetWrite> writes;
    AssetWrite version;
    version.asset.key = {kWorkspaceKey, "environments", "base", "1"};
    version.asset.body =
        Json::object({{"image", kHostImage},
                      {"description", "the python and the programs of the machine the job runs on"},
                      {"environmentType", "Curated"}})
            .dump();
    version.asset.created_by = "lavant";
    version.expected = 0;
    AssetWrite container;
    container.asset.key = {kWorkspaceKey, "environments", "base", ""};
    LAVANT_TRY(const Json body, advance_container("", "1"));
    container.asset.body = body.dump();
    container.asset.created_by = "lavant";
    container.expected = 0;
    AssetWrite identity;
    identity.asset.key = {"", kServerKind, "workspace", ""};
    identity.asset.body = Json::object({{"workspaceId", make_guid(ports.crypto)}}).dump();
    identity.expected = 0;

    LAVANT_TRY(const auto known, ports.reader.find_asset(identity.asset.key));
    if (!known) {
        LAVANT_TRY_VOID(commit(ports, {version, container, identity}));
    }
    LAVANT_TRY(const Json stored, wire::parse_json(known ? known->body : identity.asset.body));
    return stored["workspaceId"].string();
}

}  // namespace lavant::api
