#pragma once
// The expression language of commands and paths: ${{inputs.x}}, ${{outputs.y}}, ${{name}},
// ${{default_datastore}}, and $[[ ... ]], a block that vanishes when an input inside it is absent. Checked at
// submission, substituted by the agent, which alone knows the paths on its node.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace lavant::spec {

struct Reference {
    std::string scope;            // "inputs", "outputs", "name", "default_datastore", or whatever was written
    std::string name;             // after the first dot; empty for `name` and `default_datastore`
    bool in_optional = false;     // inside $[[ ]]
    std::string written() const;  // "${{inputs.x}}"
    bool operator==(const Reference&) const = default;
};

// In order of appearance, repeats included. Unclosed brackets are not references: see find_unclosed().
std::vector<Reference> find_references(std::string_view text);

// The opening bracket that nothing closes, "${{" or "$[[", if there is one.
std::optional<std::string> find_unclosed(std::string_view text);

// nullopt: absent. In an optional block that drops the block, elsewhere it is an error.
using Lookup = std::function<std::optional<std::string>(const Reference&)>;

[[nodiscard]] Result<std::string> substitute(std::string_view text, const Lookup& lookup);

// Decides the optional blocks only: drops those that mention an input which `is_present` denies, unwraps the
// others. References stay as they are.
std::string settle_optional_blocks(std::string_view text,
                                   const std::function<bool(const Reference&)>& is_present);

}  // namespace lavant::spec
