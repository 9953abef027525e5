#include "adapters/sandbox_linux/slots.h"

#include <sys/stat.h>

#include "adapters/sandbox_linux/system_view.h"
#include "base/log.h"

namespace lavant::sandbox_linux {
namespace {
constexpr Duration kKillLimit = std::chrono::seconds(30);
}

Result<int> Slots::take() {
    int number = 0;
    while (number < static_cast<int>(slots_.size()) && at(number).taken) ++number;
    LAVANT_TRY_VOID(make_up_to(number));
    Slot& slot = at(number);
    // Something of an earlier agent that nobody claims: it must not mix with the new task.
    if (slot.leaf && slot.leaf->populated() && !slot.leaf->kill_all(kKillLimit))
        return fail(ErrorCode::Unavailable,
                    "processes in cgroup '" + slot.leaf->place().unified +
                        "' do not die; see what they wait for, or restart the machine");
    if (!slot.clean) LAVANT_TRY_VOID(clean(slot));
    slot.taken = true;
    slot.clean = false;
    return number;
}

Result<void> Slots::take_again(int number) {
    LAVANT_TRY_VOID(make_up_to(number));
    at(number).taken = true;
    return {};
}

void Slots::give_back(int number, bool used) {
    at(number).taken = false;
    if (!used) {
        at(number).clean = true;
        return;
    }
    if (auto cleaned = clean(at(number)); !cleaned)
        log(Level::Warning, "scratch_not_emptied", {{"problem", cleaned.error().message}});
}

Result<void> Slots::clean(Slot& slot) {
    if (!slot.scratch.empty()) LAVANT_TRY_VOID(remove_contents(slot.scratch));
    slot.clean = true;
    return {};
}

void Slots::remove_free() {
    for (Slot& slot : slots_)
        if (!slot.taken && slot.leaf) static_cast<void>(slot.leaf->remove());
}

Result<void> Slots::make_up_to(int number) {
    if (number < 0 || number >= settings_.slots_max)
        return fail(ErrorCode::ResourceExhausted, "this node runs " + std::to_string(settings_.slots_max) +
                                                      " tasks already; wait for one to end");
    while (static_cast<int>(slots_.size()) <= number) {
        LAVANT_TRY(Slot slot, make(static_cast<int>(slots_.size())));
        slots_.push_back(std::move(slot));
    }
    return {};
}

Result<Slot> Slots::make(int number) const {
    Slot slot{.number = number};
    if (!settings_.parent.unified.empty()) {
        LAVANT_TRY(slot.leaf, host::Cgroup::make(settings_.parent,
                                                 settings_.name + "task-" + std::to_string(number), {}));
    }
    if (settings_.first_user) slot.owner = *settings_.first_user + static_cast<uid_t>(number);
    if (settings_.identities && slot.owner) {
        LAVANT_TRY(slot.identity, make_identity(*slot.owner));
    }
    if (settings_.scratch_folders) {
        slot.scratch = settings_.folder + "/tmp-" + std::to_string(number);
        LAVANT_TRY_VOID(make_folder_for(slot.scratch, slot.owner));
        ::chmod(slot.scratch.c_str(), 01777);
    }
    return slot;
}

}  // namespace lavant::sandbox_linux
