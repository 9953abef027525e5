#include "api/container_places.h"

#include "api/datastores.h"
#include "core/model/workspace.h"

namespace lavant::api {

Result<std::optional<ContainerPlace>> find_container_place(Context& context, const std::string& container) {
    const std::string blobs = std::string(kBlobContainer) + "-";
    if (container == kBlobContainer) return ContainerPlace{kDefaultWorkspace, kBlobDatastore};
    if (container.starts_with(blobs)) return ContainerPlace{container.substr(blobs.size()), kBlobDatastore};
    if (const auto workspace = workspace_of_artifacts(container))
        return ContainerPlace{std::string(*workspace), kArtifactDatastore};
    if (const auto workspace = workspace_of_upload(container))
        return ContainerPlace{*workspace, kBlobDatastore};
    if (const auto workspace = workspace_of_code(container))
        return ContainerPlace{*workspace, kBlobDatastore};
    if (auto known = context.container_places.find(container)) return known;
    const std::uint64_t generation = context.container_places.generation();
    // What is not there is nobody's: no reason to look through all workspaces for it.
    if (!context.ports.blobs.has_container(container)) return std::nullopt;
    LAVANT_TRY(const auto workspaces, context.workspaces.list());
    for (const Workspace& workspace : workspaces) {
        LAVANT_TRY(const auto datastores, list_datastores(context, workspace.key));
        for (const Datastore& datastore : datastores) {
            if (datastore.container != container || container.empty()) continue;
            ContainerPlace place{workspace.key, datastore.name};
            context.container_places.put(container, place, generation);
            return place;
        }
    }
    return std::nullopt;
}

Result<std::string> find_code_datastore(Context& context, const std::string& workspace,
                                        const std::string& place) {
    const std::size_t slash = place.find('/');
    const std::string container = place.substr(0, slash);
    const bool staged = slash != std::string::npos && ports::is_staged(place.substr(slash + 1));
    std::optional<ContainerPlace> found;
    if (!staged) {
        LAVANT_TRY(found, find_container_place(context, container));
    }
    // Nobody learns what other workspaces have.
    if (!found || found->workspace != workspace || !context.ports.blobs.has_container(container))
        return fail(ErrorCode::InvalidArgument,
                    "properties.codeUri names a container that is not there; upload first");
    return workspace_of_code(container) ? "" : found->datastore;
}

}  // namespace lavant::api
