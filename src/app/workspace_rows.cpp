#include "app/workspace_rows.h"

#include "base/text.h"

namespace lavant::app {

std::string row_name_of(const WorkspaceName& name) {
    return percent_encode(to_lower(name.subscription)) + "/" + percent_encode(to_lower(name.resource_group)) +
           "/" + percent_encode(to_lower(name.name));
}

Result<std::vector<std::string>> list_workspace_keys(ports::Reader& reader) {
    std::vector<std::string> keys{kDefaultWorkspace};
    ports::AssetQuery query;
    query.kind = kWorkspaceKind;
    query.unversioned = true;
    query.limit = ports::kRowsPerQuery;
    while (true) {
        LAVANT_TRY(const auto rows, reader.list_assets(query));
        for (const Asset& row : rows)
            if (row.hash != kDefaultWorkspace) keys.push_back(row.hash);
        if (rows.size() < static_cast<std::size_t>(query.limit)) return keys;
        query.offset += query.limit;
    }
}

Result<Containers> list_containers(ports::Reader& reader, const std::string& workspace) {
    Containers containers = own_containers(workspace);
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = kDatastoreKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    LAVANT_TRY(const auto rows, reader.list_assets(query));
    for (const Asset& row : rows)
        if (!row.hash.empty()) containers.push_back(row.hash);
    return containers;
}

}  // namespace lavant::app
