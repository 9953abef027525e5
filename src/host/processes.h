#pragma once
// Processes of this machine, named so that a reused pid fools nobody, and found and killed for certain.
// Blocking; safe to use after fork in a process with one thread.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "base/time.h"

namespace lavant::host {

// A pid together with its start time in clock ticks since boot.
struct ProcessMark {
    pid_t pid = 0;
    std::uint64_t start_ticks = 0;
    bool operator==(const ProcessMark&) const = default;
};

// Nothing if there is no such process. A zombie still has its mark.
std::optional<ProcessMark> mark_of(pid_t pid);

// A pidfd of exactly that process; nothing if it is gone (also when its pid now belongs to another).
std::optional<Fd> open_process(const ProcessMark& mark);

// Waits until the process behind `pidfd` has ended. False: it has not within `limit`.
bool wait_until_gone(int pidfd, Duration limit);

bool send_signal(int pidfd, int signal_number);  // false: no such process, or not allowed

// Children, grandchildren and so on of `root`, zombies left out.
std::vector<pid_t> descendants_of(pid_t root);

// Stops, then kills all descendants of `root` until a scan finds none alive. Where `root` is a
// subreaper nothing escapes it. Reaping is the caller's. False: some are left after `limit`.
bool kill_descendants(pid_t root, Duration limit);

// Processes whose initial environment holds `entry` ("NAME=value"), as far as we may look.
std::vector<pid_t> processes_with_environment(std::string_view entry);

// Processes that were started with `argument` among their arguments, this one left out.
std::vector<pid_t> processes_with_argument(std::string_view argument);

}  // namespace lavant::host
