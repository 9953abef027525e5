#include "core/spec/workspace.h"

#include "core/model/lock_scope.h"
#include "core/spec/fields.h"

namespace lavant::spec {
namespace {

constexpr std::string_view kWithoutMeaning[] = {"location",
                                                "resource_group",
                                                "storage_account",
                                                "container_registry",
                                                "key_vault",
                                                "application_insights",
                                                "hbi_workspace",
                                                "image_build_compute",
                                                "public_network_access",
                                                "managed_network",
                                                "customer_managed_key",
                                                "identity",
                                                "primary_user_assigned_identity",
                                                "enable_data_isolation",
                                                "allow_roleassignment_on_rg",
                                                "system_datastores_auth_mode",
                                                "hub_id",
                                                "network_acls",
                                                "provision_network_now"};

std::optional<std::string> text_of(Fields& fields, std::string_view key) {
    if (!fields.has(key)) return std::nullopt;
    return fields.text(key);
}

ServerlessSpec read_serverless(const Document& document, Problems& problems) {
    ServerlessSpec spec;
    Fields fields(document, "serverless_compute", problems);
    if (const Document* subnet = fields.find_nullable("custom_subnet"); subnet && !subnet->is_null()) {
        spec.custom_subnet = subnet->text;
        if (!subnet->is_scalar() || !is_subnet_id(subnet->text))
            fields.problem("custom_subnet",
                           "must be the id of a subnet: /subscriptions/S/resourceGroups/G/providers/"
                           "Microsoft.Network/virtualNetworks/V/subnets/N");
    }
    spec.no_public_ip = fields.boolean("no_public_ip").value_or(false);
    fields.finish();
    return spec;
}

}  // namespace

Result<WorkspaceSpec> parse_workspace(const Document& root) {
    Problems problems;
    WorkspaceSpec spec;
    Fields fields(root, "", problems);
    fields.ignore({"$schema"});
    spec.name = fields.text("name");
    spec.display_name = text_of(fields, "display_name");
    spec.description = text_of(fields, "description");
    if (fields.has("tags")) spec.tags = fields.string_map("tags");
    if (const Document* serverless = fields.find("serverless_compute"))
        spec.serverless = read_serverless(*serverless, problems);
    for (const std::string_view key : kWithoutMeaning)
        if (fields.has(key)) spec.without_meaning.emplace_back(key);
    fields.finish();
    if (!problems.empty()) return fail(problems.to_error("the workspace"));
    return spec;
}

}  // namespace lavant::spec
