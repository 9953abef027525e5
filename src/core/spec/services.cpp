#include "base/text.h"
#include "core/spec/reading.h"

namespace lavant::spec {
namespace {

const std::vector<std::string>& service_types() {
    static const std::vector<std::string> types = {"ssh", "vs_code", "jupyter_lab", "tensor_board", "custom"};
    return types;
}

std::string read_type(Fields& fields, ServiceSpec& service, Reading& reading) {
    if (fields.has("job_service_type")) {
        service.uses_seed_spelling = true;
        reading.beyond_azure.push_back(refused_there(fields.path_of("job_service_type"), "write type"));
        if (fields.has("type")) {
            fields.problem("job_service_type", "cannot stand beside type, which means the same");
        }
        return fields.choice("job_service_type", service_types());
    }
    if (!fields.has("type")) {
        fields.problem("type", "is missing; it must be " + listed(service_types()));
        return "";
    }
    return fields.choice("type", service_types());
}

// Keys that have a spelling of their own beside `properties`.
void read_property(Fields& fields, ServiceSpec& service, std::string_view key, const char* property) {
    if (!fields.has(key)) return;
    const std::string value = fields.string(key);
    if (service.properties.contains(property)) {
        fields.problem(key,
                       "cannot stand beside properties." + std::string(property) + ", which means the same");
    }
    service.properties[property] = value;
}

ServiceSpec read_service(const Document::Entry& entry, const std::string& path, Reading& reading) {
    ServiceSpec service;
    service.name = entry.key;
    if (entry.value.is_null()) {
        reading.problems.add(path, entry.key_at, "is empty; give it a type");
        return service;
    }
    Fields fields(entry.value, path, reading.problems);
    if (entry.value.is_map()) service.type = read_type(fields, service, reading);
    service.properties = fields.string_map("properties");
    if (service.type == "tensor_board") read_property(fields, service, "log_dir", "logDir");
    if (service.type == "ssh") read_property(fields, service, "ssh_public_keys", "sshPublicKeys");
    const std::string nodes = fields.string("nodes");
    service.on_all_nodes = equals_ignoring_case(nodes, "all");
    if (!nodes.empty() && !service.on_all_nodes) {
        fields.problem("nodes", "can only be all; without it the service runs on the first node");
    }
    if (const auto port = fields.integer("port")) {
        if (*port < 1 || *port > 65'535) {
            fields.problem("port", "must be between 1 and 65535");
        } else {
            service.port = static_cast<int>(*port);
        }
    }
    fields.ignore({"endpoint", "status", "error_message"});
    fields.finish();
    return service;
}

}  // namespace

std::vector<ServiceSpec> read_services(Fields& fields, Reading& reading) {
    std::vector<ServiceSpec> services;
    const Document* map = fields.find("services");
    if (map == nullptr) return services;
    if (!map->is_map()) {
        fields.problem("services", "must be a mapping of names, but is " + std::string(name_of(map->kind)));
        return services;
    }
    for (const Document::Entry& entry : map->entries) {
        services.push_back(read_service(entry, fields.path_of("services") + "." + entry.key, reading));
    }
    return services;
}

}  // namespace lavant::spec
