#pragma once
// What a new data folder must have before the first request: the owner's key, the default environment, the
// containers and the workspace's id. Safe to call at every start; called before the control loop runs, so it
// may commit itself.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "ports/blobs.h"
#include "ports/clock.h"
#include "ports/crypto.h"
#include "ports/store.h"

namespace lavant::api {

struct FirstRunPorts {
    ports::Store& store;
    ports::Reader& reader;
    ports::BlobStore& blobs;
    ports::Crypto& crypto;
    ports::Clock& clock;
};

inline constexpr const char* kOwnerKeyFile = "owner.key";
inline constexpr std::size_t kKeyFileBytes = 4096;

// If there is no API key at all, makes the first one (an owner's) for `user` and writes it to `key_file`
// (0600). A key that is in the file already is taken only if there never was a first one: one that was
// revoked stays dead.
[[nodiscard]] Result<void> ensure_first_key(FirstRunPorts ports, const std::string& key_file,
                                            const std::string& user);
// The default workspace, with its containers and the environment base:1.
[[nodiscard]] Result<void> ensure_workspace(FirstRunPorts ports);

}  // namespace lavant::api
