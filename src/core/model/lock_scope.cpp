#include "core/model/lock_scope.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/text.h"

namespace lavant {
namespace {

// A word stands for itself, * for any name.
constexpr std::string_view kGroup = "subscriptions/*/resourcegroups/*";
constexpr std::string_view kNetwork =
    "subscriptions/*/resourcegroups/*/providers/microsoft.network/virtualnetworks/*";
constexpr std::string_view kSubnet =
    "subscriptions/*/resourcegroups/*/providers/microsoft.network/virtualnetworks/*/subnets/*";
constexpr std::string_view kWorkspace =
    "subscriptions/*/resourcegroups/*/providers/microsoft.machinelearningservices/workspaces/*";
constexpr std::string_view kCompute =
    "subscriptions/*/resourcegroups/*/providers/microsoft.machinelearningservices/workspaces/*/computes/*";

constexpr std::pair<LockedKind, std::string_view> kKinds[] = {{LockedKind::ResourceGroup, kGroup},
                                                              {LockedKind::Network, kNetwork},
                                                              {LockedKind::Workspace, kWorkspace},
                                                              {LockedKind::Compute, kCompute}};

bool is_name(std::string_view part) {
    return !part.empty() && std::ranges::none_of(part, [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
               std::string_view("<>%&\\?*\"'#").find(c) != std::string_view::npos;
    });
}

bool matches(const std::vector<std::string_view>& parts, std::string_view pattern) {
    return std::ranges::equal(parts, split(pattern, '/'), [](std::string_view part, std::string_view word) {
        return word == "*" ? is_name(part) : equals_ignoring_case(part, word);
    });
}

// "" if it does not begin as an id does; a slash at its end is no part of it.
std::string_view bare(std::string_view id) {
    if (!id.starts_with('/') || id.size() > kArmIdCharsMax) return {};
    while (id.ends_with('/')) id.remove_suffix(1);
    return id;
}

std::vector<std::string_view> parts_of(std::string_view bare_id) {
    return bare_id.empty() ? std::vector<std::string_view>{} : split(bare_id.substr(1), '/');
}

}  // namespace

std::string_view name_of(LockedKind kind) {
    switch (kind) {
        case LockedKind::ResourceGroup:
            return "resource group";
        case LockedKind::Network:
            return "virtual network";
        case LockedKind::Workspace:
            return "workspace";
        case LockedKind::Compute:
            return "compute";
    }
    CHECK(false, "kind of a locked thing outside its enum");
}

Result<LockScope> parse_lock_scope(std::string_view id) {
    const std::string_view whole = bare(id);
    const auto parts = parts_of(whole);
    for (const auto& [kind, pattern] : kKinds)
        if (matches(parts, pattern)) return LockScope{kind, to_lower(whole), std::string(parts.back())};
    return fail(ErrorCode::InvalidArgument,
                "a lock is put on a resource group, a virtual network, a workspace or a compute; '" +
                    std::string(id.substr(0, 200)) +
                    "' is the id of none of them (/subscriptions/S/resourceGroups/G is one)");
}

bool is_subnet_id(std::string_view id) { return matches(parts_of(bare(id)), kSubnet); }

}  // namespace lavant
