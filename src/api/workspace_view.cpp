#include "api/workspace_view.h"

#include <utility>

#include "base/text.h"

namespace lavant::api {

using wire::Json;

Json workspace_view(const Context& context, const Call& call, const Workspace& workspace,
                    const WorkspaceSettings& settings) {
    // Spelt as the caller does, where it names one: clients compare.
    const WorkspaceName& name = call.param("workspace").empty() ? workspace.name : workspace_of(call);
    const std::string origin = origin_of(context, call.request);
    const std::string id = arm_id(name);
    const std::string group =
        "/subscriptions/" + name.subscription + "/resourceGroups/" + name.resource_group;
    Json tags = Json::object();
    for (const auto& [key, value] : settings.tags) tags.set(key, value);
    Json properties = Json::object(
        {{"friendlyName", settings.display_name.empty() ? name.name : settings.display_name},
         {"description", settings.description},
         {"workspaceId", workspace.id},
         {"discoveryUrl", origin + "/discovery"},
         {"mlFlowTrackingUri", origin + "/mlflow/v1.0" + id},
         {"storageAccount", group + "/providers/Microsoft.Storage/storageAccounts/" + kStorageAccount},
         {"keyVault", group + "/providers/Microsoft.KeyVault/vaults/lavant"},
         {"applicationInsights", group + "/providers/Microsoft.Insights/components/lavant"},
         {"provisioningState", "Succeeded"},
         {"publicNetworkAccess", "Enabled"},
         {"hbiWorkspace", false},
         {"v1LegacyMode", false},
         {"serverlessComputeSettings",
          Json::object({{"serverlessComputeCustomSubnet",
                         settings.custom_subnet.empty() ? Json() : Json(settings.custom_subnet)},
                        {"serverlessComputeNoPublicIP", settings.no_public_ip}})}});
    const std::string created = to_rfc3339(workspace.created_at);
    return Json::object({{"id", id},
                         {"name", name.name},
                         {"type", "Microsoft.MachineLearningServices/workspaces"},
                         {"location", workspace.location},
                         {"kind", "Default"},
                         {"tags", std::move(tags)},
                         {"identity", Json::object({{"type", "SystemAssigned"},
                                                    {"principalId", workspace.id},
                                                    {"tenantId", "00000000-0000-0000-0000-000000000000"}})},
                         {"systemData", Json::object({{"createdAt", created},
                                                      {"createdBy", workspace.created_by},
                                                      {"createdByType", "User"},
                                                      {"lastModifiedAt", created}})},
                         {"properties", std::move(properties)}});
}

}  // namespace lavant::api
