#include "wire/resolver.h"

#include "wire/sections_to_arm.h"

namespace lavant::wire {

Result<std::string> Resolver::code(const CodeAsk& ask) { return without_scheme(ask.written); }

Result<std::string> Resolver::environment(const spec::EnvironmentSpec& environment) {
    return environment.reference;
}

Result<std::string> Resolver::data(const spec::InputSpec& input) { return without_scheme(input.path); }

Result<std::string> Resolver::component(const Json& body) {
    return body.get("properties.componentSpec").dump();
}

Result<std::string> Resolver::job_component(const Json& /*body*/) { return std::string(); }

Result<std::string> Resolver::component_named(const std::string& reference) {
    return without_scheme(reference);
}

std::string Resolver::compute(const std::string& name) { return name; }

std::string Resolver::datastore(const std::string& name) { return name; }

}  // namespace lavant::wire
