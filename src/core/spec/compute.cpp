#include "core/spec/compute.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "core/model/lock_scope.h"
#include "core/model/region.h"
#include "core/model/size.h"
#include "core/spec/compute_reading.h"

namespace lavant::spec {
namespace {

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (const ComputeKind kind : kEveryComputeKind) names.emplace_back(name_of(kind));
    return names;
}

// What az itself can load from a file.
bool is_of_az(ComputeKind kind) {
    return kind == ComputeKind::Cluster || kind == ComputeKind::Instance ||
           kind == ComputeKind::VirtualMachine || kind == ComputeKind::Kubernetes ||
           kind == ComputeKind::SynapseSpark;
}

bool read_kind(Fields& fields, ComputeSpec& spec) {
    if (!fields.has("type")) {
        if (fields.map().is_map())
            fields.problem("type", "is missing; amlcompute is a cluster, computeinstance one machine");
        return false;
    }
    const auto kind = parse_compute_kind(fields.choice("type", kind_names()));
    if (!kind) return false;
    spec.kind = *kind;
    if (!is_of_az(*kind))
        spec.beyond_azure.push_back(
            refused_there("type", "az has no files for " + std::string(name_of(*kind))));
    return true;
}

void read_tags(Fields& fields, ComputeSpec& spec) {
    if (!fields.has("tags")) return;
    spec.tags = fields.string_map("tags");
    for (const auto& [name, problem] : check_tags(*spec.tags)) {
        const Document* one = fields.map().find("tags")->find(name);
        fields.problems().add(fields.path_of("tags") + (name.empty() ? "" : "." + name.substr(0, 80)),
                              one != nullptr ? one->at : fields.position_of("tags"), problem);
    }
}

void read_location(Fields& fields, ComputeSpec& spec) {
    const std::string written = fields.string("location");
    if (written.empty()) return;
    const auto region = find_region(written);
    if (!region) return fields.problem("location", region_problem(written));
    if (spec.kind == ComputeKind::Cluster) {
        spec.location = *region;
    } else if (*region != kLocalRegion) {
        spec.warnings.push_back("location: has no effect; only a cluster can be in another region");
    }
}

void read_headline(Fields& fields, ComputeSpec& spec) {
    spec.name = fields.string("name");
    const Document* written = fields.map().find("name");
    if (written == nullptr || written->is_string())
        for (std::string& problem : check_compute_name(spec.kind, spec.name))
            fields.problem("name", std::move(problem));
    if (is_attached(spec.kind) && spec.name.find_first_of("<>") != std::string::npos)
        spec.warnings.push_back("name: '" + spec.name + "' still is the example's placeholder");
    if (fields.has("description"))
        spec.description = short_text(fields, "description", kComputeDescriptionBytes);
    read_tags(fields, spec);
    read_location(fields, spec);
    // What the service reports, so it may stand in a file that came from `compute show`.
    fields.ignore({"$schema", "id", "provisioning_state", "provisioning_errors", "created_on",
                   "resourceGroup", "compute_location", "lavant"});
}

// What is not Azure's may be a size of the site, which the server knows.
void read_size(Fields& fields, ComputeSpec& spec) {
    spec.size = short_text(fields, "size");
    if (is_azure_size_name(spec.size) && !find_size(spec.size))
        fields.problem("size", size_problem(spec.size));
}

void read_network(Fields& parent, ComputeSpec& spec) {
    const Document* map = parent.find("network_settings");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("network_settings"), parent.problems());
    NetworkSpec network{.vnet_name = short_text(fields, "vnet_name"), .subnet = short_text(fields, "subnet")};
    fields.ignore({"public_ip_address", "private_ip_address"});
    fields.finish();
    const bool whole_id = network.subnet.starts_with("/");
    const std::string id =
        whole_id ? network.subnet
                 : "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/" +
                       network.vnet_name + "/subnets/" + network.subnet;
    if (!network.vnet_name.empty() && network.subnet.empty()) {
        fields.problem("subnet", "is missing; say which subnet of " + network.vnet_name + " it is");
    } else if (network.vnet_name.empty() && !network.subnet.empty() && !whole_id) {
        fields.problem("vnet_name", "is missing; say whose subnet it is, or give the subnet's whole id");
    }
    const bool named = whole_id || (!network.vnet_name.empty() && !network.subnet.empty());
    if (named && !is_subnet_id(id))
        fields.problem("subnet", whole_id
                                     ? "is no id of a subnet: /subscriptions/S/resourceGroups/G/providers/"
                                       "Microsoft.Network/virtualNetworks/V/subnets/NAME"
                                     : "is no subnet: a name has a character that names do not have");
    if (!network.subnet.empty()) spec.network = std::move(network);
}

void read_identity(Fields& parent, ComputeSpec& spec) {
    const Document* map = parent.find("identity");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("identity"), parent.problems());
    ComputeIdentitySpec identity;
    if (map->is_map() && !fields.has("type"))
        fields.problem("type", "is missing; it must be system_assigned or user_assigned");
    identity.type =
        fields.choice("type", {"system_assigned", "user_assigned", "none", "system_assigned,user_assigned"});
    each_map(fields, "user_assigned_identities", [&](Fields& one) {
        const std::string id = short_text(one, "resource_id");
        if (id.empty() && !one.has("resource_id")) one.problem("resource_id", "is missing");
        if (!id.empty()) identity.user_assigned.push_back(id);
        one.ignore({"principal_id", "client_id", "tenant_id", "object_id"});
    });
    fields.ignore({"principal_id", "tenant_id"});
    fields.finish();
    const bool for_users = identity.type.ends_with("user_assigned");
    if (for_users && !fields.has("user_assigned_identities"))
        fields.problem("user_assigned_identities", "is missing; name at least one: - resource_id: ID");
    if (!for_users && !identity.type.empty() && fields.has("user_assigned_identities"))
        fields.problem("user_assigned_identities", "cannot stand beside type: " + identity.type);
    spec.identity = std::move(identity);
}

// What the three kinds of SSH settings have in common is little: each kind has its own words.
void read_ssh(Fields& parent, ComputeSpec& spec) {
    const Document* map = parent.find("ssh_settings");
    if (map == nullptr) return;
    Fields fields(*map, parent.path_of("ssh_settings"), parent.problems());
    ComputeSshSpec ssh;
    if (spec.kind == ComputeKind::Instance) {
        fields.ignore({"admin_username", "ssh_port"});
    } else {
        ssh.admin_username = short_text(fields, "admin_username");
        if (map->is_map() && !fields.has("admin_username"))
            fields.problem("admin_username", "is missing; say who may log in");
        ssh.gave_password = !fields.string("admin_password").empty();
    }
    if (spec.kind == ComputeKind::VirtualMachine) {
        ssh.port = small_number(fields, "ssh_port", {1, 65'535});
        ssh.private_key_file = short_text(fields, "ssh_private_key_file");
    } else {
        ssh.public_key = short_text(fields, "ssh_key_value", kComputeKeyBytes);
    }
    fields.finish();
    if (ssh.gave_password)
        spec.warnings.push_back(fields.path_of("admin_password") + std::string(kPasswordNotKept));
    spec.ssh = std::move(ssh);
}

void read_scale(Fields& fields, ComputeSpec& spec) {
    spec.scale = {fields.integer("min_instances"), fields.integer("max_instances"),
                  fields.integer("idle_time_before_scale_down")};
    Scale judged = spec.scale;
    // A minimum alone is measured against the maximum that the cluster would have.
    if (!fields.has("max_instances")) judged.nodes_max = kDefaultNodesMax;
    for (ScaleProblem& problem : check_scale(judged)) {
        const char* key = problem.of == ScaleProblem::Of::Min   ? "min_instances"
                          : problem.of == ScaleProblem::Of::Max ? "max_instances"
                                                                : "idle_time_before_scale_down";
        fields.problem(key, std::move(problem.message));
    }
}

void read_cluster(Fields& fields, ComputeSpec& spec, ComputeText text) {
    read_size(fields, spec);
    if (const std::string tier = fields.choice("tier", {"dedicated", "low_priority"}); !tier.empty())
        spec.tier = parse_tier(tier);
    if (text == ComputeText::Whole) {
        read_scale(fields, spec);
    } else {
        spec.scale = {fields.integer("min_instances"), fields.integer("max_instances"),
                      fields.integer("idle_time_before_scale_down")};
    }
    read_network(fields, spec);
    read_ssh(fields, spec);
    read_identity(fields, spec);
    spec.ssh_public_access = fields.boolean("ssh_public_access_enabled");
    spec.node_public_ip = fields.boolean("enable_node_public_ip");
    spec.node_sharing = fields.choice("node_sharing", {"exclusive", "packed"});
    if (fields.has("node_sharing"))
        spec.beyond_azure.push_back(refused_there("node_sharing", "there a node runs one job at a time"));
}

void read_attached(Fields& fields, ComputeSpec& spec, ComputeText text) {
    spec.resource_id = short_text(fields, "resource_id");
    if (!fields.has("resource_id")) {
        if (text == ComputeText::Whole)
            fields.problem("resource_id", "is missing; say what is attached: /subscriptions/…");
    } else if (!spec.resource_id.empty() && !spec.resource_id.starts_with("/subscriptions/")) {
        fields.problem("resource_id", "is no id of a resource: those begin with /subscriptions/");
    }
    if (spec.kind == ComputeKind::VirtualMachine) read_ssh(fields, spec);
    if (spec.kind == ComputeKind::Kubernetes) {
        spec.kube_namespace = short_text(fields, "namespace");
        if (const Document* properties = fields.find("properties")) {
            if (!properties->is_map())
                fields.problem("properties",
                               "must be a mapping, but is " + std::string(name_of(properties->kind)));
            spec.kube_properties = *properties;
        }
    }
    if (spec.kind == ComputeKind::Kubernetes || spec.kind == ComputeKind::SynapseSpark)
        read_identity(fields, spec);
    if (spec.kind == ComputeKind::SynapseSpark)
        fields.ignore({"node_family", "node_size", "node_count", "spark_version", "scale_settings",
                       "auto_pause_settings"});
    if (!is_of_az(spec.kind)) fields.ignore({"ssh_port"});
}

}  // namespace

std::string short_text(Fields& fields, std::string_view key, std::size_t bytes_most) {
    std::string text = fields.string(key);
    if (text.size() <= bytes_most) return text;
    fields.problem(key, "is too long: at most " + std::to_string(bytes_most) + " bytes");
    return {};
}

std::optional<int> small_number(Fields& fields, std::string_view key, NumberRange range) {
    const auto number = fields.integer(key);
    if (!number) return std::nullopt;
    if (*number >= range.least && *number <= range.most) return static_cast<int>(*number);
    fields.problem(key, "must be from " + std::to_string(range.least) + " to " + std::to_string(range.most));
    return std::nullopt;
}

void each_map(Fields& parent, std::string_view key, const std::function<void(Fields&)>& read) {
    const Document* list = parent.find(key);
    if (list == nullptr) return;
    if (!list->is_list())
        return parent.problem(key, "must be a list, but is " + std::string(name_of(list->kind)));
    if (list->items.size() > kComputeItemsMost)
        return parent.problem(key, "has too many items: at most " + std::to_string(kComputeItemsMost));
    for (std::size_t i = 0; i < list->items.size(); ++i) {
        Fields fields(list->items[i], parent.path_of(key) + "[" + std::to_string(i) + "]", parent.problems());
        if (!list->items[i].is_map()) continue;
        read(fields);
        fields.finish();
    }
}

std::vector<std::pair<std::string, std::string>> check_tags(const std::map<std::string, std::string>& tags) {
    std::vector<std::pair<std::string, std::string>> problems;
    if (tags.size() > kComputeTagsMost)
        problems.emplace_back("", "there are " + std::to_string(tags.size()) + "; at most " +
                                      std::to_string(kComputeTagsMost) + " tags");
    for (const auto& [name, value] : tags) {
        if (name.empty()) problems.emplace_back(name, "a tag has no name");
        if (name.size() > kComputeTagNameBytes)
            problems.emplace_back(
                name, "its name is too long: at most " + std::to_string(kComputeTagNameBytes) + " bytes");
        if (value.size() > kComputeTagValueBytes)
            problems.emplace_back(name,
                                  "is too long: at most " + std::to_string(kComputeTagValueBytes) + " bytes");
    }
    return problems;
}

Result<ComputeSpec> parse_compute(const Document& document, ComputeText text) {
    ComputeSpec spec;
    Problems problems;
    Fields fields(document, "", problems);
    const bool known = read_kind(fields, spec);
    if (known) {
        read_headline(fields, spec);
        if (spec.kind == ComputeKind::Cluster) read_cluster(fields, spec, text);
        if (spec.kind == ComputeKind::Instance) {
            read_size(fields, spec);
            read_network(fields, spec);
            read_ssh(fields, spec);
            read_identity(fields, spec);
            read_instance(fields, spec);
        }
        if (is_attached(spec.kind)) read_attached(fields, spec, text);
        fields.finish();
    }
    if (!problems.empty()) return fail(problems.to_error("the compute"));
    return spec;
}

}  // namespace lavant::spec
