#pragma once
// A small helper process that starts supervisors. A fork costs by what the forking process has mapped, and an
// agent has libraries and a heap; the launcher, forked from it early, gives all that back. Its supervisors
// even share its memory (a vfork that goes on), which makes one cost little more than a thread. It runs
// nothing but this and the supervisor's code, and ends when its agent does; the memory stays while a
// supervisor needs it.

#include <sys/types.h>

#include "adapters/sandbox_linux/arena.h"
#include "adapters/sandbox_linux/plan.h"
#include "base/files.h"
#include "base/result.h"

namespace lavant::sandbox_linux {

// What clone3 is to do besides forking.
struct ForkPlace {
    bool namespaces = false;
    int cgroup = -1;  // folder to start in; -1: stay
};

// Forks a supervisor from this process. Its parent is this process, or, from a launcher, the launcher's.
// The child does not return. Signals must be blocked. -1: errno tells.
pid_t fork_supervisor(const Plan& plan, const ForkPlace& place);

class Launcher {
 public:
    // Call with one thread only, after the block is made that the arenas share. Does nothing where a launcher
    // is not possible: then launch() always answers 0.
    void start();
    void stop();
    bool running() const { return static_cast<bool>(socket_); }
    ~Launcher() { stop(); }

    // The pid of the new supervisor, a child of this process. 0: this launcher cannot do it, fork it
    // yourself.
    // The plan and its arena must stay as they are until the supervisor has ended.
    [[nodiscard]] Result<pid_t> launch(const Plan& plan, const ForkPlace& place, Arena& arena);

 private:
    Fd socket_;
    pid_t pid_ = 0;
};

}  // namespace lavant::sandbox_linux
