#pragma once
// What a component is made of (`componentSpec`): completed with the defaults that clients of Azure get back,
// and compared with what is registered. Values alone; what other components say comes in as a function.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/json.h"

namespace lavant::api {

// The spec of the component that a step names by its id; nullopt where it is not known.
using FindComponent = std::function<std::optional<wire::Json>(std::string_view id)>;

struct ComponentPlace {
    std::string name;
    std::string version;
    bool anonymous = false;
};
// Refuses what is no component. Nulls go: clients break on them.
[[nodiscard]] Result<wire::Json> complete_component(const wire::Json& sent, const ComponentPlace& place,
                                                    const FindComponent& find);

// The field whose change makes another component of it: the program that runs, or the steps. nullopt: none.
std::optional<std::string> changed_component_field(const wire::Json& stored, const wire::Json& wanted);

struct SpecReference {
    std::string path;  // "componentSpec.task.code"
    std::string id;
};
std::vector<SpecReference> code_references(const wire::Json& spec);

}  // namespace lavant::api
