#pragma once
// The parts that job bodies share, as ARM spells them: camelCase. Steps of a pipeline and components have the
// same parts in snake_case, see with_snake_keys.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/spec/sections.h"
#include "wire/json.h"
#include "wire/resolver.h"

namespace lavant::wire {

// A part of a file that travels as it is.
Json to_json(const spec::Document& document);
Json to_json(const std::map<std::string, std::string>& strings);
Json to_json(const std::vector<std::string>& strings);

void set_text(Json& object, std::string_view key, const std::string& value);  // unless empty
template <class T>
void set_value(Json& object, std::string_view key, const std::optional<T>& value) {
    if (value) object.set(key, *value);
}
template <>
inline void set_value(Json& object, std::string_view key, const std::optional<spec::Document>& value) {
    if (value) object.set(key, to_json(*value));
}

std::string without_scheme(const std::string& reference);  // "azureml:x:1" is "x:1"; URIs stay
std::string wire_mode(const std::string& mode);            // "ro_mount" is "ReadOnlyMount"
std::string iso_seconds(std::int64_t seconds);             // "PT1H"

[[nodiscard]] Result<Json> input_of(const spec::InputSpec& input, Resolver& resolver);
[[nodiscard]] Result<Json> inputs_of(const std::vector<spec::InputSpec>& all, Resolver& resolver);
Json outputs_of(const std::vector<spec::OutputSpec>& all);
Json resources_of(const spec::ResourcesSpec& resources);
Json distribution_of(const spec::DistributionSpec& distribution);
Json queue_of(const spec::QueueSpec& queue);
Json identity_of(const spec::IdentitySpec& identity);
Json services_of(const std::vector<spec::ServiceSpec>& all);

// The head of every job's properties: jobType, names, tags, isArchived, computeId.
[[nodiscard]] Result<Json> head_of(const spec::JobHead& job, std::string_view type, Resolver& resolver);

// The object's own keys in snake_case; its values stay as they are.
Json with_snake_keys(const Json& object);

}  // namespace lavant::wire
