#pragma once
// What the readers of a compute's parts share. Internal to core/spec.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/spec/compute.h"
#include "core/spec/fields.h"

namespace lavant::spec {

// "" if absent; too long is a problem and reads as absent.
std::string short_text(Fields& fields, std::string_view key, std::size_t bytes_most = kComputeTextBytes);

struct NumberRange {
    std::int64_t least = 0;
    std::int64_t most = 0;
};
std::optional<int> small_number(Fields& fields, std::string_view key, NumberRange range);

// Every mapping of a list, with its unknown keys reported.
void each_map(Fields& parent, std::string_view key, const std::function<void(Fields&)>& read);

// What only an instance has.
void read_instance(Fields& fields, ComputeSpec& spec);

}  // namespace lavant::spec
