#pragma once
// What the body of a job or component needs from outside: who submits it uploads folders, registers
// environments and anonymous components, and answers with their ids. This one does nothing of that and
// answers with what the file says, which is enough to check a file where there is no server.

#include <string>

#include "base/result.h"
#include "core/spec/sections.h"
#include "wire/json.h"

namespace lavant::wire {

struct CodeAsk {
    std::string written;  // as the file has it; "" for a component that has includes only
    std::string local;    // the folder on this machine, empty if it is elsewhere
    spec::IncludesSpec includes = {};
    bool of_component = false;  // then it goes without what Python has compiled
};

class Resolver {
 public:
    virtual ~Resolver() = default;
    [[nodiscard]] virtual Result<std::string> code(const CodeAsk& ask);
    // "" for one that is defined in the file and not registered.
    [[nodiscard]] virtual Result<std::string> environment(const spec::EnvironmentSpec& environment);
    [[nodiscard]] virtual Result<std::string> data(const spec::InputSpec& input);
    // Of a component that a step brings with itself: what its body is; returns the id a step names it by.
    [[nodiscard]] virtual Result<std::string> component(const Json& body);
    // The same of a component that is the whole pipeline job; "" where components are not registered.
    [[nodiscard]] virtual Result<std::string> job_component(const Json& body);
    // Of a registered component, as the file names it: "azureml:NAME:VERSION" or a registry's URI.
    [[nodiscard]] virtual Result<std::string> component_named(const std::string& reference);
    virtual std::string compute(const std::string& name);
    virtual std::string datastore(const std::string& name);
};

}  // namespace lavant::wire
