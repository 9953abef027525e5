#pragma once
// Named, versioned things of a workspace: codes, environments, data, models, components, datastores, and
// our own kinds (api keys). The body is the ARM `properties` object as JSON text; core does not read it.

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"

namespace lavant {

struct AssetKey {
    std::string workspace;  // "" for server-wide kinds
    std::string kind;       // "codes", "environments", "datastores", "api_keys", ...
    std::string name;
    std::string version;  // "" for unversioned kinds and for the container of a versioned one
    auto operator<=>(const AssetKey&) const = default;
};

struct Asset {
    AssetKey key;
    std::int64_t row_version = 0;  // counts writes
    std::string body;
    std::string hash;  // content hash for look-up, may be empty
    bool archived = false;
    std::string created_by;
    Instant created_at{};
    Instant modified_at{};
    bool operator==(const Asset&) const = default;
};

// Puts `asset` if the stored row_version is `expected` (0: must not exist; nullopt: whatever is there).
struct AssetWrite {
    Asset asset;
    std::optional<std::int64_t> expected;
    bool remove = false;
};

}  // namespace lavant
