#pragma once
// A resource lock: while it is there, nothing below its scope is deleted or scaled.

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace lavant {

enum class LockLevel { CanNotDelete, ReadOnly };
std::string_view name_of(LockLevel level);
std::optional<LockLevel> parse_lock_level(std::string_view name);

struct Lock {
    std::string scope;  // an ARM id in lower case: of a resource group, a network, a workspace or a compute
    std::string name;
    LockLevel level = LockLevel::CanNotDelete;
    std::string notes;
    std::string created_by;
    Instant created_at{};
    bool operator==(const Lock&) const = default;
};

struct LockWrite {
    Lock lock;
    bool remove = false;
};

// Whether a lock at `scope` holds for the resource `id`: it is that resource, or lies above it.
bool covers(std::string_view scope, std::string_view id);

}  // namespace lavant
