#include "tests/support/plain_sandbox.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace lavant::test {
namespace {

Result<void> move_files(const std::filesystem::path& from, const std::filesystem::path& working_folder) {
    std::error_code error;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(from, error)) {
        if (!entry.is_regular_file()) continue;
        const auto target = working_folder / "outputs" / std::filesystem::relative(entry.path(), from);
        LAVANT_TRY_VOID(make_directories(target.parent_path()));
        std::filesystem::rename(entry.path(), target, error);
        if (error) return fail(ErrorCode::Internal, error.message());
    }
    return {};
}

}  // namespace

PlainSandbox::~PlainSandbox() {
    for (const auto& [ref, task] : tasks_) {
        if (task.collected) continue;
        (void)::kill(-task.pid, SIGKILL);
        (void)::waitpid(task.pid, nullptr, 0);
    }
}

Result<ports::RunningTask> PlainSandbox::start(const ports::ConfinedTask& task) {
    ++starts_;
    std::error_code error;
    if (!task.code_folder.empty())
        std::filesystem::copy(task.code_folder, task.working_folder, std::filesystem::copy_options::recursive,
                              error);
    for (const char* name : {"/outputs", "/logs"})
        LAVANT_TRY_VOID(make_directories(task.working_folder + name));
    if (!task.outputs_before.empty()) LAVANT_TRY_VOID(move_files(task.outputs_before, task.working_folder));

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    (void)::posix_spawn_file_actions_init(&actions);
    (void)::posix_spawnattr_init(&attributes);
    (void)::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    (void)::posix_spawn_file_actions_addopen(&actions, 1, task.log_file.c_str(), O_WRONLY | O_APPEND, 0);
    (void)::posix_spawn_file_actions_adddup2(&actions, 1, 2);
    (void)::posix_spawn_file_actions_addchdir_np(&actions, task.working_folder.c_str());
    (void)::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> environment;
    for (const std::string& line : task.environment) environment.push_back(const_cast<char*>(line.c_str()));
    environment.push_back(nullptr);
    char* arguments[] = {const_cast<char*>("bash"), const_cast<char*>("-c"),
                         const_cast<char*>(task.script.c_str()), nullptr};
    pid_t pid = 0;
    const int failed = ::posix_spawn(&pid, "/bin/bash", &actions, &attributes, arguments, environment.data());
    (void)::posix_spawn_file_actions_destroy(&actions);
    (void)::posix_spawnattr_destroy(&attributes);
    if (failed != 0) return fail(system_error("cannot start bash", failed));
    Running& running = tasks_[task.ref];
    running.pid = pid;
    running.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    return ports::RunningTask{task.ref, pid, running.pidfd.get()};
}

Result<void> PlainSandbox::signal(TaskRef task, int signal_number) {
    const auto found = tasks_.find(task);
    if (found != tasks_.end() && !found->second.collected) (void)::kill(-found->second.pid, signal_number);
    return {};
}

Result<void> PlainSandbox::kill(TaskRef task) { return signal(task, SIGKILL); }

Result<ports::TaskExit> PlainSandbox::collect(TaskRef task) {
    const auto found = tasks_.find(task);
    if (found == tasks_.end()) return ports::TaskExit{};
    Running& running = found->second;
    if (!running.collected) {
        (void)::kill(-running.pid, SIGKILL);
        int status = 0;
        if (::waitpid(running.pid, &status, 0) < 0)
            return fail(system_error("cannot wait for a task", errno));
        running.collected = true;
        running.exit.known = true;
        running.exit.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        running.exit.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    return running.exit;
}

Result<std::vector<ports::RunningTask>> PlainSandbox::recover(const std::vector<ports::ConfinedTask>& known) {
    std::vector<ports::RunningTask> running;
    for (const ports::ConfinedTask& task : known) {
        const auto found = tasks_.find(task.ref);
        const bool lives = found != tasks_.end() && !found->second.collected;
        running.push_back({task.ref, lives ? found->second.pid : 0, lives ? found->second.pidfd.get() : -1});
    }
    return running;
}

}  // namespace lavant::test
