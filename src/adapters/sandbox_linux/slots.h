#pragma once
// A slot is what a running task occupies on its node: a cgroup to be tracked and killed by, a user of its
// own, and a /tmp. Slots are kept and used again by later tasks, because making them costs more than a no-op
// task.

#include <optional>
#include <string>
#include <vector>

#include "adapters/sandbox_linux/folders.h"
#include "base/files.h"
#include "base/result.h"
#include "host/cgroups.h"

namespace lavant::sandbox_linux {

struct Slot {
    int number = 0;
    bool taken = false;
    bool clean = false;  // nothing of an earlier task is left in it
    std::optional<host::Cgroup> leaf;
    Owner owner;                  // the task's own user, where it gets one
    Fd identity;                  // for idmapped mounts
    std::int64_t cpu_micros = 0;  // of the tasks that ended in it, as far as we know
    std::string scratch;          // its /tmp on disk, empty between tasks
};

struct SlotSettings {
    std::string folder;
    std::string name;
    host::CgroupPlace parent;  // no unified folder: no cgroups
    std::optional<uid_t> first_user;
    bool identities = false;
    bool scratch_folders = false;
    int slots_max = 64;
};

class Slots {
 public:
    explicit Slots(SlotSettings settings) : settings_(std::move(settings)) {}
    // The free slot with the lowest number, made if there is none.
    [[nodiscard]] Result<int> take();
    // The slot a task of an earlier agent occupies.
    [[nodiscard]] Result<void> take_again(int number);
    // `used`: something may be in its /tmp.
    void give_back(int number, bool used);
    bool is_taken(int number) const {
        return number >= 0 && number < static_cast<int>(slots_.size()) &&
               slots_[static_cast<std::size_t>(number)].taken;
    }
    Slot& at(int number) { return slots_[static_cast<std::size_t>(number)]; }
    // Removes the cgroups of free slots.
    void remove_free();
    SlotSettings& settings() { return settings_; }

 private:
    [[nodiscard]] Result<void> make_up_to(int number);
    [[nodiscard]] Result<Slot> make(int number) const;
    [[nodiscard]] static Result<void> clean(Slot& slot);
    SlotSettings settings_;
    std::vector<Slot> slots_;
};

}  // namespace lavant::sandbox_linux
