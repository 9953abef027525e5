#include "adapters/sandbox_linux/mounts.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/mount.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace lavant::sandbox_linux {
namespace {

bool is_directory(Sys& sys, int fd) {
    struct stat found {};
    return sys.fstat(fd, found) == 0 && S_ISDIR(found.st_mode);
}

bool is_device(Sys& sys, int fd) {
    struct stat found {};
    return sys.fstat(fd, found) == 0 && (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode));
}

constexpr unsigned int kCloneTree = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE;

// What was checked had no link on its way: one that is there now was put there since.
int clone_checked(Sys& sys, const char* source) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW;
    how.resolve = RESOLVE_NO_SYMLINKS;
    const int place = static_cast<int>(sys.call(SYS_openat2, AT_FDCWD, source, &how, sizeof how));
    if (place < 0) return -1;
    const int tree = static_cast<int>(sys.call(SYS_open_tree, place, "", kCloneTree | AT_EMPTY_PATH));
    const int error = sys.error;
    sys.close(place);
    sys.error = error;
    return tree;
}

// A detached copy of the mount at `path`, seen as the plan says. -1: sys.error tells.
int open_bind(Sys& sys, const BindStep& bind, int identity) {
    const int tree = bind.source != nullptr
                         ? clone_checked(sys, bind.source)
                         : static_cast<int>(sys.call(SYS_open_tree, AT_FDCWD, bind.path, kCloneTree));
    if (tree < 0) return -1;
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_NOSUID;
    if (!is_device(sys, tree)) attributes.attr_set |= MOUNT_ATTR_NODEV;
    if (!bind.writable) attributes.attr_set |= MOUNT_ATTR_RDONLY;
    if (bind.owned_by_task && identity >= 0) {
        attributes.attr_set |= MOUNT_ATTR_IDMAP;
        attributes.userns_fd = static_cast<decltype(attributes.userns_fd)>(identity);
    }
    if (sys.call(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) ==
        0)
        return tree;
    const int error = sys.error;
    sys.close(tree);
    sys.error = error;
    return -1;
}

int set_layer(Sys& sys, int context, const char* key, const char* path) {
    return static_cast<int>(sys.call(SYS_fsconfig, context, FSCONFIG_SET_STRING, key, path, 0));
}

// The read-only layer. Seen through an idmapped mount where the task has a user of its own: only then may it
// change files that the agent owns (the change goes to the upper layer).
int open_lower(Sys& sys, const MountPlan& plan) {
    return open_bind(sys, {.path = plan.overlay_lower, .writable = false, .owned_by_task = true},
                     plan.identity);
}

struct OverlayTrees {
    int lower = -1;
    int layers = -1;
    int overlay = -1;  // where it can be made beforehand
};

int set_lower_layer(Sys& sys, int context, const MountPlan& plan) {
    if (plan.overlay_lower_at[0] != '\0') return set_layer(sys, context, "lowerdir", plan.overlay_lower_at);
    if (plan.identity < 0) return set_layer(sys, context, "lowerdir", plan.overlay_lower);
    const int tree = open_lower(sys, plan);
    if (tree < 0) return -1;
    std::array<char, 32> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", tree);
    return set_layer(sys, context, "lowerdir", path.data());
}

// "volatile": without it every task's end would sync the whole file system below.
int open_overlay(Sys& sys, const MountPlan& plan) {
    const int context = static_cast<int>(sys.call(SYS_fsopen, "overlay", FSOPEN_CLOEXEC));
    if (context < 0) return -1;
    if (set_lower_layer(sys, context, plan) != 0) return -1;
    if (set_layer(sys, context, "upperdir", plan.overlay_upper) != 0) return -1;
    if (set_layer(sys, context, "workdir", plan.overlay_work) != 0) return -1;
    if (plan.overlay_in_user_namespace &&
        sys.call(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", nullptr, 0) != 0)
        return -1;
    if (sys.call(SYS_fsconfig, context, FSCONFIG_SET_FLAG, "volatile", nullptr, 0) != 0) return -1;
    if (sys.call(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) return -1;
    return static_cast<int>(
        sys.call(SYS_fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
}

Failure attach(Sys& sys, int tree, const char* path) {
    if (const Failure failure = make_mount_point(sys, path, !is_directory(sys, tree))) return failure;
    if (sys.call(SYS_move_mount, tree, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return {sys.error, "mount", path};
    sys.close(tree);
    return {};
}

// Layers that are detached, or in another namespace, are refused by older kernels: they are mounted for the
// time it takes.
Failure attach_overlay(Sys& sys, const MountPlan& plan, const OverlayTrees& trees,
                       const char* working_folder) {
    if (const Failure failure = attach(sys, trees.lower, plan.overlay_lower_at)) return failure;
    if (const Failure failure = attach(sys, trees.layers, plan.overlay_layers_at)) return failure;
    const int overlay = open_overlay(sys, plan);
    if (overlay < 0) return {sys.error, "make an overlay of", plan.overlay_lower};
    for (const char* place : {plan.overlay_lower_at, plan.overlay_layers_at})
        if (sys.call(SYS_umount2, place, MNT_DETACH) != 0 ||
            sys.call(SYS_unlinkat, AT_FDCWD, place, AT_REMOVEDIR) != 0)
            return {sys.error, "unmount", place};
    return attach(sys, overlay, working_folder);
}

Failure mount_basics(Sys& sys, const MountPlan& plan, int scratch) {
    if (sys.mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
        return {sys.error, "mount", "/proc"};
    if (scratch >= 0) {
        if (sys.call(SYS_move_mount, scratch, "", AT_FDCWD, "/tmp", MOVE_MOUNT_F_EMPTY_PATH) != 0)
            return {sys.error, "mount", "/tmp"};
        sys.close(scratch);
    } else if (sys.mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        return {sys.error, "mount", "/tmp"};
    }
    // One private tmpfs gives the mount points of the task's folders and /dev/shm, unless one lies in the
    // other.
    const bool spool_in_shared_memory = std::strncmp(plan.private_folder, "/dev/shm/", 9) == 0;
    if (spool_in_shared_memory &&
        sys.mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0)
        return {sys.error, "mount", "/dev/shm"};
    if (const Failure failure = make_mount_point(sys, plan.private_folder, false)) return failure;
    if (sys.mount("tmpfs", plan.private_folder, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0)
        return {sys.error, "mount", plan.private_folder};
    if (spool_in_shared_memory) return {};
    std::array<char, 4096> shared{};
    std::snprintf(shared.data(), shared.size(), "%s/.shm", plan.private_folder);
    if (sys.mkdir(shared.data(), 01777) != 0 || sys.chmod(shared.data(), 01777) != 0 ||
        sys.mount(shared.data(), "/dev/shm", nullptr, MS_BIND, nullptr) != 0)
        return {sys.error, "mount", "/dev/shm"};
    return {};
}

Failure make_read_only(Sys& sys, const char* path) {
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY;
    if (sys.call(SYS_mount_setattr, AT_FDCWD, path, 0, &attributes, sizeof attributes) != 0)
        return {sys.error, "make read-only", path};
    return {};
}

}  // namespace

Failure make_mount_point(Sys& sys, const char* path, bool file) {
    std::array<char, 4096> part{};
    const std::size_t length = std::strlen(path);
    if (length >= part.size()) return {ENAMETOOLONG, "make mount point", path};
    for (std::size_t end = 1; end <= length; ++end) {
        if (end < length && path[end] != '/') continue;
        std::memcpy(part.data(), path, end);
        part[end] = '\0';
        if (end == length && file) {
            const int made = sys.open(part.data(), O_CREAT | O_RDONLY | O_CLOEXEC | O_NOFOLLOW, 0444);
            if (made < 0 && sys.error != EROFS) return {sys.error, "make mount point", path};
            if (made >= 0) sys.close(made);
        } else if (sys.mkdir(part.data(), 0755) != 0 && sys.error != EEXIST && sys.error != EROFS) {
            return {sys.error, "make mount point", path};
        }
    }
    return {};
}

Failure enter_mounts(Sys& sys, const MountPlan& plan, const char* working_folder) {
    constexpr std::size_t kBindsMax = 512;
    std::array<int, kBindsMax> trees{};
    if (plan.bind_count > kBindsMax) return {E2BIG, "mount more than 512 folders", ""};
    // Paths of the machine are opened before we step out of its view.
    for (std::size_t i = 0; i < plan.bind_count; ++i) {
        trees[i] = open_bind(sys, plan.binds[i], plan.identity);
        if (trees[i] < 0) return {sys.error, "open for mounting", plan.binds[i].path};
    }
    int scratch = -1;
    if (plan.scratch_folder[0] != '\0') {
        scratch = open_bind(sys, {.path = plan.scratch_folder, .writable = true}, -1);
        if (scratch < 0) return {sys.error, "open for mounting", plan.scratch_folder};
    }
    OverlayTrees layers;
    if (plan.overlay_layers[0] != '\0') {
        layers.lower = open_lower(sys, plan);
        if (layers.lower < 0) return {sys.error, "open for mounting", plan.overlay_lower};
        layers.layers = static_cast<int>(
            sys.call(SYS_open_tree, AT_FDCWD, plan.overlay_layers, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
        if (layers.layers < 0) return {sys.error, "open for mounting", plan.overlay_layers};
    } else if (plan.overlay_lower[0] != '\0') {
        layers.overlay = open_overlay(sys, plan);
        if (layers.overlay < 0) return {sys.error, "make an overlay of", plan.overlay_lower};
    }
    if (sys.call(SYS_setns, plan.view, CLONE_NEWNS) != 0)
        return {sys.error, "enter the prepared mount namespace", ""};
    if (sys.call(SYS_unshare, CLONE_NEWNS) != 0) return {sys.error, "make a mount namespace", ""};
    if (const Failure failure = mount_basics(sys, plan, scratch)) return failure;
    for (std::size_t i = 0; i < plan.bind_count; ++i)
        if (const Failure failure = attach(sys, trees[i], plan.binds[i].path)) return failure;
    if (layers.overlay >= 0)
        if (const Failure failure = attach(sys, layers.overlay, working_folder)) return failure;
    if (layers.layers >= 0)
        if (const Failure failure = attach_overlay(sys, plan, layers, working_folder)) return failure;
    if (const Failure failure = make_read_only(sys, plan.private_folder)) return failure;
    return make_read_only(sys, "/");
}

}  // namespace lavant::sandbox_linux
