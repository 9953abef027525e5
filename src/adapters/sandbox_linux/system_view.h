#pragma once
// What every confined task sees of the machine: the system's folders read-only, a small /dev, nothing else.
// Built once as a mount namespace of its own; each task starts from a copy, which is far cheaper than
// building it per task.

#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace lavant::sandbox_linux {

struct SystemView {
    Fd mounts;                       // the mount namespace
    std::vector<std::string> shown;  // folders of the machine that it shows, read-only
};

// Needs CAP_SYS_ADMIN in the current user namespace. Call with one thread only.
[[nodiscard]] Result<SystemView> make_system_view();

// Puts this process into a user and mount namespace of its own, where it keeps its user but may mount.
// Mounts that appear on the machine later are still seen. Call with one thread only.
[[nodiscard]] Result<void> enter_user_namespace();

// Whether this process is in a user namespace that somebody made (a container, or enter_user_namespace).
bool in_made_user_namespace();

// Whether enter_user_namespace and make_system_view would work, tried in a child.
[[nodiscard]] Result<void> try_user_namespace();

// A user namespace in which the agent's user is shown as `user`, for idmapped mounts.
[[nodiscard]] Result<Fd> make_identity(uid_t user);

}  // namespace lavant::sandbox_linux
