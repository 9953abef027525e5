#include "adapters/sandbox_linux/sandbox_fixture.h"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "host/processes.h"

namespace lavant::sandbox_linux {

std::string text_of(const std::string& path) {
    const auto text = read_file(path, 16U << 20);
    return text ? *text : "(no file " + path + ")";
}

bool is_root() { return ::geteuid() == 0; }

std::string unique_seconds() {
    static int count = 0;
    return std::to_string(100'000 + ::getpid()) + "." + std::to_string(++count);
}

void SandboxFixture::SetUp() {
    const char* chosen = ::getenv("LAVANT_TEST_FOLDER");
    std::string name = (chosen != nullptr ? std::string(chosen) : "/tmp") + "/lavant-sandbox-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    base_ = name;
    ::mkdir((base_ + "/tasks").c_str(), 0700);
    sandbox_ = make_sandbox();
}

void SandboxFixture::TearDown() {
    sandbox_.reset();
    EXPECT_TRUE(remove_tree(base_));
}

std::unique_ptr<LinuxSandbox> SandboxFixture::make_sandbox() const {
    SandboxSettings settings{.folder = base_ + "/sandbox", .name = base_name_of(base_)};
    settings.allow_namespaces = GetParam().namespaces;
    settings.allow_cgroups = GetParam().cgroups;
    settings.allow_overlay = GetParam().overlay;
    settings.attach_layers = GetParam().attached_layers;
    if (!GetParam().small_copies) settings.copied_code_bytes_max = -1;
    auto made = LinuxSandbox::make(settings);
    EXPECT_TRUE(made) << made.error().message;
    return made ? *std::move(made) : nullptr;
}

ports::ConfinedTask SandboxFixture::task(std::string script) {
    const std::string folder = base_ + "/tasks/" + std::to_string(++jobs_) + ".1.0";
    EXPECT_TRUE(make_directories(folder));
    return {.ref = {.job = JobId{jobs_}, .attempt = 1, .index = 0},
            .folder = folder,
            .script = std::move(script),
            .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C"},
            .code_folder = "",
            .working_folder = folder + "/wd",
            .log_file = folder + "/std_log.txt"};
}

void SandboxFixture::start(const ports::ConfinedTask& task) {
    const auto running = sandbox_->start(task);
    ASSERT_TRUE(running) << running.error().message;
    pidfds_[task.ref] = running->pidfd;
}

ports::TaskExit SandboxFixture::finish(const ports::ConfinedTask& task) {
    EXPECT_TRUE(host::wait_until_gone(pidfds_[task.ref], std::chrono::seconds(30))) << log_of(task);
    const auto exit = sandbox_->collect(task.ref);
    EXPECT_TRUE(exit) << exit.error().message;
    return exit ? *exit : ports::TaskExit{};
}

ports::TaskExit SandboxFixture::run(const ports::ConfinedTask& task) {
    start(task);
    const ports::TaskExit exit = finish(task);
    sandbox_->release(task.ref);
    return exit;
}

std::string SandboxFixture::output_of(const std::string& script) {
    const ports::ConfinedTask one = task(script);
    const ports::TaskExit exit = run(one);
    EXPECT_EQ(exit.exit_code, 0) << log_of(one);
    return log_of(one);
}

}  // namespace lavant::sandbox_linux
