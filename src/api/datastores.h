#pragma once
// Datastores: the two every workspace has, folders of the user's own, and places elsewhere that are only
// described. Rows are assets of kind "datastores": the body has the ARM properties, the hash the container of
// one that lies in our storage.

#include <optional>
#include <string>
#include <vector>

#include "api/context.h"
#include "base/result.h"
#include "core/model/asset.h"
#include "wire/json.h"

namespace lavant::api {

// The folder behind one that is a folder: `lavant: {path: ...}` among the ARM properties, or "lavant.path" in
// the datastore's own `properties`, which clients of Azure can write too. "" for any other.
std::string folder_of(const wire::Json& properties);
// A member of a row's body that is never shown.
inline constexpr const char* kSealedSecrets = "lavant.secrets";

struct Datastore {
    std::string name;
    std::string container;     // "": it lies elsewhere
    wire::Json properties;     // as ARM has them, without secrets
    std::string sealed;        // its secrets; "" for none
    std::optional<Asset> row;  // none: one of the two
};

[[nodiscard]] Result<std::optional<Datastore>> find_datastore(Context& context, const std::string& workspace,
                                                              const std::string& name);
// The default one first, then the artifacts', then the others by their names.
[[nodiscard]] Result<std::vector<Datastore>> list_datastores(Context& context, const std::string& workspace);

// What a user wrote, checked: {"datastoreType":...}. The secrets are sealed, and out of `properties`; where
// there are none, those that it has stay.
[[nodiscard]] Result<Datastore> parse_datastore(Context& context, const std::string& workspace,
                                                const std::string& name, const wire::Json& sent,
                                                const std::string& sealed_before);
[[nodiscard]] Result<wire::Json> open_secrets(Context& context, const std::string& workspace,
                                              const Datastore& datastore);

// The real path of a folder that may become a datastore: it exists, has nothing to do with the server's own
// data, and with no other datastore. `container` is that of the datastore itself, if it is there.
[[nodiscard]] Result<std::string> check_folder(Context& context, const std::string& path,
                                               const std::string& container);

// The datastores, of whatever workspace, whose folders hold this path of the machine or lie in it. A path
// that could become another one ('..', NUL) is InvalidArgument.
[[nodiscard]] Result<std::vector<AssetKey>> list_datastores_at(Context& context, const std::string& path);

// Containers of every datastore of every workspace.
[[nodiscard]] Result<std::vector<std::string>> list_containers(Context& context);
// At start: the store learns of the folders.
[[nodiscard]] Result<void> map_folders(ports::Reader& reader, ports::BlobStore& blobs);

}  // namespace lavant::api
