// The inputs and outputs that components declare.

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "core/spec/component_reading.h"

namespace lavant::spec {
namespace {

std::vector<std::string> port_types() {
    std::vector<std::string> types = asset_types();
    types.emplace_back("path");  // an old word for uri_folder
    types.insert(types.end(), literal_types().begin(), literal_types().end());
    return types;
}

std::optional<double> read_bound(Fields& fields, std::string_view key) {
    const Document* value = fields.find(key);
    if (value == nullptr) return std::nullopt;
    char* end = nullptr;
    const double bound = std::strtod(value->text.c_str(), &end);
    if (value->is_scalar() && !value->text.empty() && *end == '\0') return bound;
    fields.problem(key, "must be a number");
    return std::nullopt;
}

void read_type(Fields& fields, bool required, PortSpec& port) {
    const std::vector<std::string> types = port_types();
    port.type = fields.choice("type", types);
    if (required && fields.map().is_map() && !fields.has("type"))
        fields.problem("type", "is missing; it must be " + listed(types));
    port.is_called_path = port.type == "path";
    if (port.is_called_path) port.type = "uri_folder";
}

PortSpec read_input(const Document::Entry& entry, const std::string& path, Reading& reading) {
    PortSpec port;
    port.name = entry.key;
    Fields fields(entry.value, path, reading.problems);
    read_type(fields, true, port);
    port.optional = fields.boolean("optional");
    port.description = fields.string("description");
    if (const Document* value = fields.find("default")) port.value = *value;
    port.least = read_bound(fields, "min");
    port.most = read_bound(fields, "max");
    if (const Document* one_of = fields.find("enum")) {
        for (const Document& item : one_of->items) port.one_of.push_back(item.printed());
        if (!one_of->is_list()) fields.problem("enum", "must be a list");
    }
    port.mode = fields.choice("mode", input_modes());
    fields.finish();
    if (!port.value) return port;
    if (!port.value->is_scalar()) {
        fields.problem("default", "must be a string, a number or a boolean");
        port.value.reset();
    } else if (port.is_literal()) {
        const std::string wrong = check_value(port, port.value->printed());
        if (!wrong.empty()) fields.problem("default", wrong);
    }
    return port;
}

PortSpec read_output(const Document::Entry& entry, const std::string& path, Reading& reading) {
    PortSpec port;
    port.name = entry.key;
    Fields fields(entry.value, path, reading.problems);
    read_type(fields, false, port);
    port.mode = fields.choice("mode", output_modes());
    if (port.mode == "mount") port.mode = "rw_mount";
    port.description = fields.string("description");
    port.early_available = fields.boolean("early_available");
    port.is_control = fields.boolean("is_control");
    fields.finish();
    return port;
}

using ReadPort = PortSpec (*)(const Document::Entry&, const std::string&, Reading&);
std::vector<PortSpec> read_all(Fields& fields, std::string_view section, Reading& reading, ReadPort read) {
    std::vector<PortSpec> ports;
    const Document* map = fields.find(section);
    if (map == nullptr) return ports;
    if (!map->is_map() || map->entries.size() > kPortsMost) {
        fields.problem(section, "must be a mapping of at most " + std::to_string(kPortsMost) + " names");
        return ports;
    }
    for (const Document::Entry& entry : map->entries)
        ports.push_back(read(entry, fields.path_of(section) + "." + entry.key, reading));
    return ports;
}

}  // namespace

bool PortSpec::is_literal() const {
    return std::ranges::find(literal_types(), type) != literal_types().end();
}

std::string PortSpec::printed(const Document& document) const {
    if (type != "number") return document.printed();
    return python_float(std::strtod(document.printed().c_str(), nullptr));
}

const PortSpec* find_port(const std::vector<PortSpec>& ports, std::string_view name) {
    const auto found = std::ranges::find(ports, name, &PortSpec::name);
    return found == ports.end() ? nullptr : &*found;
}

std::string check_value(const PortSpec& input, const std::string& text) {
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    const bool is_number = !text.empty() && *end == '\0';
    if (input.type == "integer" && !parse_integer(text)) return "must be an integer, not '" + text + "'";
    if (input.type == "number" && !is_number) return "must be a number, not '" + text + "'";
    if (input.type == "boolean" && !equals_ignoring_case(text, "true") &&
        !equals_ignoring_case(text, "false")) {
        return "must be true or false, not '" + text + "'";
    }
    if (input.least && is_number && number < *input.least)
        return "must be at least " + python_float(*input.least);
    if (input.most && is_number && number > *input.most)
        return "must be at most " + python_float(*input.most);
    if (!input.one_of.empty() &&
        std::find(input.one_of.begin(), input.one_of.end(), text) == input.one_of.end()) {
        return "must be " + listed(input.one_of) + ", not '" + text + "'";
    }
    return "";
}

std::vector<PortSpec> read_input_ports(Fields& fields, Reading& reading) {
    return read_all(fields, "inputs", reading, read_input);
}

std::vector<PortSpec> read_output_ports(Fields& fields, Reading& reading) {
    return read_all(fields, "outputs", reading, read_output);
}

}  // namespace lavant::spec
