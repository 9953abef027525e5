#include "api/computes_known.h"

#include <algorithm>

namespace lavant::api {

Result<std::vector<std::string>> list_compute_names(Context& context) {
    ports::AssetQuery query;
    query.workspace = kWorkspaceKey;
    query.kind = kComputeKind;
    query.unversioned = true;
    query.archived = std::nullopt;
    query.limit = ports::kRowsPerQuery;
    LAVANT_TRY(const auto computes, context.ports.reader.list_assets(query));
    std::vector<std::string> names;
    for (const Asset& compute : computes) names.push_back(compute.key.name);
    std::ranges::sort(names);
    return names;
}

}  // namespace lavant::api
