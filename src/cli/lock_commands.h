#pragma once
// `lavant lock …` and `az lock …`

#include <string>

#include "cli/context.h"
#include "cli/output.h"
#include "cli/session.h"

namespace lavant::cli {

// What is locked: one of these, or the resource group itself.
struct LockedThing {
    std::string compute;
    std::string network;
    bool workspace = false;
    std::string scope;          // an ARM id
    std::string resource;       // as az says it, with the next
    std::string resource_type;  // "Microsoft.Network/virtualNetworks"
    bool group = false;         // the resource group was named

    int said() const;  // how many of them, without the group
};

struct LockWords {
    std::string name;
    std::string level;
    std::string notes;
    LockedThing thing;
};
[[nodiscard]] Outcome<Exit> create_lock(Session& session, const Console& console, const LockWords& words,
                                        const Output& output);
// Without a thing all there are.
[[nodiscard]] Outcome<Exit> list_locks(Session& session, const Console& console, const LockedThing& thing,
                                       const Output& output);
// By name, wherever it is, as long as there is one of that name.
[[nodiscard]] Outcome<Exit> delete_lock(Session& session, const Console& console, const std::string& name,
                                        const LockedThing& thing);
[[nodiscard]] Outcome<Exit> show_lock(Session& session, const Console& console, const std::string& name,
                                      const LockedThing& thing, const Output& output);

}  // namespace lavant::cli
