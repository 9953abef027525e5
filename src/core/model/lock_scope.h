#pragma once
// What a lock may be put on: a resource group, a virtual network, the workspace or a compute, by its ARM id.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace lavant {

enum class LockedKind { ResourceGroup, Network, Workspace, Compute };
std::string_view name_of(LockedKind kind);  // "resource group", "virtual network", "workspace", "compute"

struct LockScope {
    LockedKind kind = LockedKind::ResourceGroup;
    std::string id;    // lower case, no slash at the end: Lock::scope
    std::string name;  // of what is locked, as it was written
};

inline constexpr std::size_t kArmIdCharsMax = 1024;

// What is wrong says which ids there are.
[[nodiscard]] Result<LockScope> parse_lock_scope(std::string_view id);

// "/subscriptions/.../virtualNetworks/v/subnets/s": what serverless nodes may be put into.
bool is_subnet_id(std::string_view id);

}  // namespace lavant
