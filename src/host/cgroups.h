#pragma once
// Control groups of this machine, in two layouts: pure v2, and hybrid (v2 for tracking and killing, v1 for
// limits). Everything is made below the cgroup this process is in; nothing outside it is touched.
// Needs permission to write there; without it `make` answers PermissionDenied and callers do without.

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

// Folders of the cgroup a process is in; empty where there is none.
struct CgroupPlace {
    std::string unified;
    bool unified_has_controllers = false;  // memory, cpu and pids are v2's (the pure layout)
    std::string memory;                    // v1
    std::string cpu;
    std::string pids;
    bool operator==(const CgroupPlace&) const = default;
};

// Texts of /proc/PID/mountinfo and /proc/PID/cgroup.
CgroupPlace parse_cgroup_place(std::string_view mountinfo, std::string_view membership);
CgroupPlace own_cgroup_place();

// Where limited cgroups can be made: our own, or, in the pure layout, our own after this process has moved
// into a cgroup below it (v2 allows limits only below a cgroup without processes).
CgroupPlace place_for_limits();

struct CgroupLimits {
    std::int64_t memory_bytes = 0;  // 0: none
    std::int64_t cpu_millis = 0;
    std::int64_t pids = 0;
    bool any() const { return memory_bytes > 0 || cpu_millis > 0 || pids > 0; }
};

class Cgroup {
 public:
    // Makes `name` below `parent`, or takes it over where it exists. Limits that the machine does not let us
    // set are listed in missing_limits(). Tracking and killing work always.
    [[nodiscard]] static Result<Cgroup> make(const CgroupPlace& parent, const std::string& name,
                                             const CgroupLimits& limits);
    // One that was made earlier, perhaps by another process.
    static Cgroup at(CgroupPlace place);

    const CgroupPlace& place() const { return place_; }
    int folder_fd() const { return folder_.get(); }  // for CLONE_INTO_CGROUP
    const std::vector<std::string>& missing_limits() const { return missing_; }

    [[nodiscard]] Result<void> add(pid_t pid) const;
    bool populated() const;  // any live process in it or below
    // Kills everything in it and below; false: something is still alive after `limit`.
    bool kill_all(Duration limit) const;
    // Only when nothing lives in it; takes the cgroups below with it.
    [[nodiscard]] Result<void> remove();

    std::int64_t oom_kills() const;          // since it was made, 0 where unknown
    std::int64_t cpu_micros() const;         // of everything that ever ran in it
    std::int64_t memory_peak_bytes() const;  // 0 where unknown

 private:
    CgroupPlace place_;
    Fd folder_, events_, oom_;
    std::vector<std::string> missing_;
    void open_files();
    void set_limits(const CgroupLimits& limits);
};

}  // namespace lavant::host
