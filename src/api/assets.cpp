#include "api/assets.h"

namespace lavant::api {

Result<std::optional<Asset>> find_version(Context& context, const std::string& workspace,
                                          const std::string& kind, const AssetName& name) {
    if (!name.version.empty())
        return context.ports.reader.find_asset({workspace, kind, name.name, name.version});
    if (name.label != "latest" && name.label != "default") return std::optional<Asset>{};
    ports::AssetQuery query;
    query.workspace = workspace;
    query.kind = kind;
    query.name = name.name;
    query.limit = 1;
    LAVANT_TRY(auto newest, context.ports.reader.list_assets(query));
    if (newest.empty()) return std::optional<Asset>{};
    return std::optional<Asset>(std::move(newest.front()));
}

Result<void> check_scope(Context& context, const std::string& workspace, std::string_view reference) {
    const auto named = workspace_in_reference(reference);
    if (!named) return {};
    LAVANT_TRY(const auto found, context.workspaces.find(*named));
    if (found && found->key == workspace) return {};
    return fail(ErrorCode::InvalidArgument,
                "'" + std::string(reference) + "' is in workspace '" + named->name +
                    "' and not in this one; what is used here has to be here: register or copy it first");
}

}  // namespace lavant::api
