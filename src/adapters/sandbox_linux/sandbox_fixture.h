#pragma once
// What the sandbox's tests share: a temporary spool, tasks in it, and the ways a sandbox may be limited.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "adapters/sandbox_linux/linux_sandbox.h"
#include "tests/support/wait_until.h"

namespace lavant::sandbox_linux {

struct Limited {
    const char* name = "";
    bool namespaces = true;
    bool cgroups = true;
    bool overlay = true;
    bool small_copies = false;
    bool attached_layers = false;
};

using test::wait_until;
std::string text_of(const std::string& path);
bool is_root();
// A number of seconds for `sleep` that no other process on this machine uses.
std::string unique_seconds();

class SandboxFixture : public ::testing::TestWithParam<Limited> {
 protected:
    void SetUp() override;
    void TearDown() override;

    std::unique_ptr<LinuxSandbox> make_sandbox() const;
    ports::ConfinedTask task(std::string script);  // the next job number, folder made
    void start(const ports::ConfinedTask& task);
    ports::TaskExit finish(const ports::ConfinedTask& task);  // waits, collects; not yet released
    ports::TaskExit run(const ports::ConfinedTask& task);     // start, finish, release
    std::string log_of(const ports::ConfinedTask& task) const { return text_of(task.log_file); }
    std::string output_of(const std::string& script);  // log of a task that must succeed
    bool confined() const { return sandbox_->protections().starts_with("pid"); }

    std::string base_;
    std::unique_ptr<LinuxSandbox> sandbox_;
    std::int64_t jobs_ = 0;
    std::map<TaskRef, int> pidfds_;
};

}  // namespace lavant::sandbox_linux
