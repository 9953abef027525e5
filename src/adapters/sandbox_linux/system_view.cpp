#include "adapters/sandbox_linux/system_view.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>

#include "adapters/sandbox_linux/mounts.h"
#include "base/text.h"

namespace lavant::sandbox_linux {
namespace {

constexpr std::array kSystemFolders = {"/usr",
                                       "/bin",
                                       "/sbin",
                                       "/lib",
                                       "/lib32",
                                       "/lib64",
                                       "/libx32",
                                       "/etc",
                                       "/opt",
                                       "/nix",
                                       "/run/systemd/resolve"};
constexpr std::array kDevices = {"null", "zero", "full", "random", "urandom", "tty"};

Error failed(const std::string& attempted) { return system_error(attempted, errno); }

// Runs `work` in a child that shares our memory and files; we wait for its end. So a namespace it enters is
// not ours, but what it opens is.
int enter_child(void* argument) {
    (*static_cast<std::function<void()>*>(argument))();
    ::_exit(0);
}

Result<void> run_in_child(std::function<void()> work) {
    constexpr std::size_t kStackBytes = 256U << 10;
    const auto stack = std::make_unique<std::array<char, kStackBytes>>();
    const pid_t child = ::clone(enter_child, stack->data() + stack->size(),
                                CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &work);
    if (child < 0) return fail(failed("start a process"));
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {};
}

Result<void> bind_read_only(const std::string& source, const std::string& target, bool with_mounts_below) {
    const unsigned below = with_mounts_below ? AT_RECURSIVE : 0;
    const Fd tree(::open_tree(AT_FDCWD, source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | below));
    if (!tree) return fail(failed("open '" + source + "' for mounting"));
    mount_attr attributes{};
    attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
    if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | below, &attributes, sizeof attributes) != 0)
        return fail(failed("make '" + source + "' read-only"));
    Sys sys;
    if (const Failure failure = make_mount_point(sys, target.c_str(), false))
        return fail(system_error("make '" + target + "'", failure.error));
    if (::move_mount(tree.get(), "", AT_FDCWD, target.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return fail(failed("mount '" + source + "'"));
    return {};
}

Result<void> show_system(const std::string& root, std::vector<std::string>& shown) {
    for (const std::string folder : kSystemFolders) {
        struct stat found {};
        if (::lstat(folder.c_str(), &found) != 0) continue;
        if (S_ISLNK(found.st_mode)) {
            std::array<char, 4096> target{};
            if (::readlink(folder.c_str(), target.data(), target.size() - 1) < 0 ||
                ::symlink(target.data(), (root + folder).c_str()) != 0)
                return fail(failed("make link '" + folder + "'"));
        } else if (S_ISDIR(found.st_mode)) {
            LAVANT_TRY_VOID(bind_read_only(folder, root + folder, true));
            shown.push_back(folder);
        }
    }
    // Without what is mounted below (cgroups, debugfs) where we may: mounts locked by a user namespace stay.
    if (!bind_read_only("/sys", root + "/sys", false))
        static_cast<void>(bind_read_only("/sys", root + "/sys", true));
    return {};
}

Result<void> make_device(const std::string& root, const std::string& name) {
    const std::string source = "/dev/" + name;
    struct stat found {};
    if (::stat(source.c_str(), &found) != 0) return {};
    const std::string target = root + source;
    if (::mknod(target.c_str(), S_IFCHR | 0666, found.st_rdev) == 0) {
        ::chmod(target.c_str(), 0666);
        const Fd usable(::open(target.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
        if (usable || errno == ENXIO) return {};
        ::unlink(target.c_str());
    }
    Sys sys;
    if (const Failure failure = make_mount_point(sys, target.c_str(), true))
        return fail(system_error("make '" + target + "'", failure.error));
    if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return fail(failed("mount '" + source + "'"));
    return {};
}

Result<void> make_devices(const std::string& root) {
    for (const char* folder : {"/dev", "/dev/shm", "/dev/pts"}) ::mkdir((root + folder).c_str(), 0755);
    for (const char* name : kDevices) LAVANT_TRY_VOID(make_device(root, name));
    for (const auto& [name, target] : {std::pair{"fd", "/proc/self/fd"},
                                       {"stdin", "/proc/self/fd/0"},
                                       {"stdout", "/proc/self/fd/1"},
                                       {"stderr", "/proc/self/fd/2"},
                                       {"ptmx", "pts/ptmx"}})
        if (::symlink(target, (root + "/dev/" + name).c_str()) != 0)
            return fail(failed("make /dev/" + std::string(name)));
    // Terminals are a comfort: a machine that refuses them runs tasks all the same.
    static_cast<void>(::mount("devpts", (root + "/dev/pts").c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
                              "newinstance,ptmxmode=0666,mode=0620"));
    return {};
}

// In a user namespace the kernel lets us mount a /proc only where one is seen already; the task's own covers
// it.
Result<void> keep_proc_visible(const std::string& root) {
    if (!in_made_user_namespace()) return {};
    const Fd tree(::open_tree(AT_FDCWD, "/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
    if (!tree ||
        ::move_mount(tree.get(), "", AT_FDCWD, (root + "/proc").c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
        return fail(failed("mount '/proc'"));
    return {};
}

Result<void> step_into(const std::string& root) {
    if (::chdir(root.c_str()) != 0) return fail(failed("change to '" + root + "'"));
    if (::syscall(SYS_pivot_root, ".", ".") != 0) return fail(failed("change the root folder"));
    if (::umount2(".", MNT_DETACH) != 0) return fail(failed("leave the old root folder"));
    if (::chdir("/") != 0) return fail(failed("change to '/'"));
    return {};
}

Result<SystemView> build_view() {
    if (::unshare(CLONE_NEWNS) != 0) return fail(failed("make a mount namespace"));
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        return fail(failed("make mounts private"));
    ::umask(0);
    const std::string root = "/tmp";
    if (::mount("tmpfs", root.c_str(), "tmpfs", MS_NOSUID, "mode=0755") != 0)
        return fail(failed("mount a tmpfs"));
    SystemView view;
    LAVANT_TRY_VOID(show_system(root, view.shown));
    LAVANT_TRY_VOID(make_devices(root));
    for (const char* folder : {"/proc", "/run", "/home", "/root", "/var", "/mnt"})
        ::mkdir((root + folder).c_str(), 0755);
    ::mkdir((root + "/tmp").c_str(), 01777);
    if (::symlink("/tmp", (root + "/var/tmp").c_str()) != 0) return fail(failed("make /var/tmp"));
    LAVANT_TRY_VOID(keep_proc_visible(root));
    LAVANT_TRY_VOID(step_into(root));
    return view;
}

}  // namespace

Result<SystemView> make_system_view() {
    Result<SystemView> view = fail(ErrorCode::Internal, "cannot build the tasks' view of the system");
    // Opened before the root changes: the new one has no /proc yet.
    const Fd proc(::open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC));
    LAVANT_TRY_VOID(run_in_child([&] {
        view = build_view();
        if (!view) return;
        view->mounts.reset(::openat(proc.get(), "self/ns/mnt", O_RDONLY | O_CLOEXEC));
        if (!view->mounts) view = fail(failed("open the mount namespace"));
    }));
    return view;
}

Result<void> enter_user_namespace() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    // Our own maps may be written only while we are dumpable.
    const int dumpable = ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) {
        if (errno != ENOSPC) return fail(failed("make a user namespace"));
        // The kernel means a limit of its own, no disk.
        return fail(ErrorCode::PermissionDenied,
                    "cannot make a user namespace: user.max_user_namespaces allows no more");
    }
    const auto put = [](const char* path, const std::string& text) {
        const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
        return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
    };
    const std::string users = std::to_string(user) + " " + std::to_string(user) + " 1";
    const std::string groups = std::to_string(group) + " " + std::to_string(group) + " 1";
    const bool mapped = put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", users) &&
                        put("/proc/self/gid_map", groups);
    const int error = errno;
    ::prctl(PR_SET_DUMPABLE, dumpable == 1 ? 1 : 0, 0, 0, 0);
    if (!mapped) return fail(system_error("map our user into a user namespace", error));
    if (::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
        return fail(failed("keep our mounts to ourselves"));
    return {};
}

bool in_made_user_namespace() {
    const auto map = read_file("/proc/self/uid_map", 4096);
    if (!map) return false;
    std::vector<std::string_view> words;
    for (const std::string_view word : split(trim(*map), ' '))
        if (!word.empty()) words.push_back(word);
    return words.size() != 3 || words[0] != "0" || words[1] != "0" || words[2] != "4294967295";
}

Result<void> try_user_namespace() {
    Result<void> answer;
    // A real fork: a user namespace cannot be entered by a process that shares memory safely with us.
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(failed("make a pipe"));
    Fd reader(ends[0]);
    Fd writer(ends[1]);
    const pid_t child = ::fork();
    if (child < 0) return fail(failed("start a process"));
    if (child == 0) {
        std::string problem;
        if (auto entered = enter_user_namespace(); !entered) problem = entered.error().message;
        if (problem.empty())
            if (auto view = make_system_view(); !view) problem = view.error().message;
        static_cast<void>(write_all(writer.get(), problem));
        ::_exit(problem.empty() ? 0 : 1);
    }
    writer.reset();
    std::array<char, 1024> text{};
    const ssize_t count = ::read(reader.get(), text.data(), text.size());
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return answer;
    return fail(ErrorCode::PermissionDenied, count > 0
                                                 ? std::string(text.data(), static_cast<std::size_t>(count))
                                                 : "user namespaces do not work");
}

Result<Fd> make_identity(uid_t user) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(failed("make a pipe"));
    const Fd reader(ends[0]);
    Fd writer(ends[1]);
    const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child < 0) return fail(failed("make a user namespace"));
    if (child == 0) {
        ::close(ends[1]);
        char byte = 0;
        [[maybe_unused]] const ssize_t count = ::read(ends[0], &byte, 1);
        ::_exit(0);
    }
    const std::string base = "/proc/" + std::to_string(child);
    Fd identity;
    bool mapped = true;
    for (const auto& [name, own] : {std::pair{"/uid_map", ::geteuid()}, {"/gid_map", ::getegid()}}) {
        const std::string map = std::to_string(own) + " " + std::to_string(user) + " 1";
        const Fd file(::open((base + name).c_str(), O_WRONLY | O_CLOEXEC));
        mapped =
            mapped && file && ::write(file.get(), map.data(), map.size()) == static_cast<ssize_t>(map.size());
    }
    const int error = errno;
    if (mapped) identity.reset(::open((base + "/ns/user").c_str(), O_RDONLY | O_CLOEXEC));
    writer.reset();
    while (::waitpid(static_cast<pid_t>(child), nullptr, 0) < 0 && errno == EINTR) {
    }
    if (!identity) return fail(system_error("map user " + std::to_string(user), error));
    return identity;
}

}  // namespace lavant::sandbox_linux
