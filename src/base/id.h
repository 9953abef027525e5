#pragma once
// Ids that cannot be mixed up: a NodeId does not fit where a JobId is wanted.

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace lavant {

// A row number, made by the control loop, never reused. 0 means none.
template <class Tag>
struct NumberId {
    std::int64_t value = 0;
    auto operator<=>(const NumberId&) const = default;
    explicit operator bool() const { return value != 0; }
};

using JobId = NumberId<struct JobTag>;
using NodeId = NumberId<struct NodeTag>;
using PoolId = NumberId<struct PoolTag>;

std::string to_string(NodeId id);  // "node-17"

}  // namespace lavant

template <class Tag>
struct std::hash<lavant::NumberId<Tag>> {
    std::size_t operator()(const lavant::NumberId<Tag>& id) const noexcept {
        return std::hash<std::int64_t>{}(id.value);
    }
};
