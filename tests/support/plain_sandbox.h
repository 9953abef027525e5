#pragma once
// A Sandbox that confines nothing: a process group per task, for tests of what stands above it. Tasks survive
// the agent's loop as long as this object lives, as they do with a supervisor of their own.

#include <map>
#include <string>

#include "base/files.h"
#include "ports/sandbox.h"

namespace lavant::test {

class PlainSandbox final : public ports::Sandbox {
 public:
    ~PlainSandbox() override;
    [[nodiscard]] Result<ports::RunningTask> start(const ports::ConfinedTask& task) override;
    [[nodiscard]] Result<void> signal(TaskRef task, int signal_number) override;
    [[nodiscard]] Result<void> kill(TaskRef task) override;
    [[nodiscard]] Result<ports::TaskExit> collect(TaskRef task) override;
    [[nodiscard]] Result<std::vector<ports::RunningTask>> recover(
        const std::vector<ports::ConfinedTask>& known) override;
    std::string written_files(const ports::ConfinedTask& task) override { return task.working_folder; }
    Usage usage(TaskRef) override { return {}; }
    void release(TaskRef task) override { tasks_.erase(task); }
    std::string protections() const override { return "none"; }
    int starts() const { return starts_; }

 private:
    struct Running {
        int pid = 0;
        Fd pidfd;
        bool collected = false;
        ports::TaskExit exit;
    };
    std::map<TaskRef, Running> tasks_;
    int starts_ = 0;
};

}  // namespace lavant::test
