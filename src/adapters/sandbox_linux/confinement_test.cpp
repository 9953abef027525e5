// What a confined task can and cannot see and do, and the whole suite again for users with fewer rights.

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "adapters/sandbox_linux/sandbox_fixture.h"
#include "base/text.h"
#include "host/cgroups.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

class Confined : public SandboxFixture {
 protected:
    void SetUp() override {
        SandboxFixture::SetUp();
        if (!confined()) GTEST_SKIP() << "no namespaces here: " << sandbox_->protections();
    }
};

INSTANTIATE_TEST_SUITE_P(, Confined,
                         ::testing::Values(Limited{.name = "AsTheMachineAllows"},
                                           Limited{.name = "WithAttachedLayers", .attached_layers = true},
                                           Limited{.name = "WithoutCgroups", .cgroups = false}),
                         [](const auto& one) { return one.param.name; });

TEST_P(Confined, SeesNoOtherJobsFolderAndNoFileOfTheServer) {
    const auto other = task("true");
    ASSERT_TRUE(write_file_atomically(other.folder + "/secret", "other job\n", 0644));
    ASSERT_TRUE(write_file_atomically(base_ + "/lavant.db", "server\n", 0644));
    const auto one =
        task("ls " + base_ + "/tasks; ls -A ..; cat " + other.folder + "/secret " + base_ + "/lavant.db");
    EXPECT_NE(run(one).exit_code, 0);
    EXPECT_EQ(log_of(one).find("other job"), std::string::npos);
    EXPECT_EQ(log_of(one).find("server\n"), std::string::npos);
    EXPECT_TRUE(log_of(one).starts_with(base_name_of(one.folder) + "\nwd\n")) << log_of(one);
}

TEST_P(Confined, CannotWriteTheSystem) {
    for (const char* path : {"/", "/usr", "/etc", "/dev", "/root", "/home", "/proc", "/sys", "/var"}) {
        const auto one = task("touch " + std::string(path) + "/lavant-probe");
        EXPECT_NE(run(one).exit_code, 0) << path;
        EXPECT_FALSE(exists(std::string(path) + "/lavant-probe"));
    }
}

TEST_P(Confined, SeesNoHomeFolders) {
    EXPECT_EQ(output_of("ls -A /home /mnt | grep -v -e : -e '^$' | wc -l"), "0\n");
}

TEST_P(Confined, HasATmpOfItsOwnThatIsEmptyAndGoesAway) {
    ASSERT_TRUE(write_file_atomically("/tmp/lavant-outside", "x"));
    for (int round = 0; round < 2; ++round)
        EXPECT_EQ(output_of("ls -A /tmp | grep -v -e ^lavant-sandbox -e ^lavant-ordinary; mkdir -p /tmp/a/b; "
                            "echo 1 > /tmp/a/b/c; chmod 0 /tmp/a; "
                            "echo 2 > /var/tmp/d; ls -A /tmp | grep -v -e ^lavant-sandbox -e "
                            "^lavant-ordinary | tr '\\n' ' '"),
                  "a d ");
    EXPECT_FALSE(exists("/tmp/a"));
    ::unlink("/tmp/lavant-outside");
}

TEST_P(Confined, SeesOnlyItsOwnProcesses) {
    // The shell is process 2, its supervisor process 1.
    EXPECT_EQ(output_of("echo $$; ps -e -o pid= | wc -l; kill -0 1 2>/dev/null; test -d /proc/$PPID && echo "
                        "parent $PPID"),
              "2\n4\nparent 1\n");
}

TEST_P(Confined, CannotReadTheSupervisorsMemory) {
    EXPECT_EQ(output_of("for f in environ mem maps; do cat /proc/1/$f >/dev/null 2>&1 && echo read $f; done; "
                        "ls /proc/1/fd >/dev/null 2>&1 && echo listed; kill -9 1 2>/dev/null; kill -STOP 1 "
                        "2>/dev/null; true"),
              "");
}

TEST_P(Confined, HasNoPowers) {
    EXPECT_EQ(
        output_of("grep -E '^(CapEff|CapPrm|CapAmb|NoNewPrivs)' /proc/self/status | tr -s '\\t ' ' '"),
        "CapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\n");
    EXPECT_EQ(
        output_of(
            "mount -t tmpfs x /tmp 2>/dev/null && echo mounted; umount /proc 2>/dev/null && echo gone; true"),
        "");
}

TEST_P(Confined, AsRootATaskHasAUserOfItsOwn) {
    if (!is_root()) GTEST_SKIP() << "only root can give each task a user";
    EXPECT_EQ(output_of("id -u; id -g; id -G"), "200000\n200000\n200000\n");
    const auto first = task("while [ ! -e go ]; do sleep 0.01; done");
    start(first);
    EXPECT_EQ(output_of("id -u"), "200001\n");
    EXPECT_TRUE(sandbox_->kill(first.ref));
    finish(first);
    sandbox_->release(first.ref);
}

TEST_P(Confined, HasTheUsualDevices) {
    EXPECT_EQ(
        output_of(
            "echo x > /dev/null; head -c 4 /dev/zero | wc -c; head -c 4 /dev/urandom | wc -c; "
            "echo s > /dev/shm/s; cat /dev/shm/s; ls /dev/fd/ > /dev/null && echo fd; echo x 2>&1 >/dev/full"
            " | grep -c 'No space'"),
        "4\n4\ns\nfd\n1\n");
}

TEST_P(Confined, InputsAreReadOnlyAndOutputsWritable) {
    auto one = task("");
    const std::string in = one.folder + "/inputs/data";
    const std::string out = one.folder + "/outputs/model";
    ASSERT_TRUE(make_directories(in));
    ASSERT_TRUE(make_directories(out));
    ASSERT_TRUE(write_file_atomically(in + "/x", "input\n", 0600));
    ASSERT_TRUE(write_file_atomically(one.folder + "/inputs/file", "file\n", 0600));
    ASSERT_TRUE(write_file_atomically(one.folder + "/launch.bin", "token\n", 0644));
    one.binds = {{.path = in}, {.path = one.folder + "/inputs/file"}, {.path = out, .writable = true}};
    one.script = "cat " + in + "/x " + one.folder + "/inputs/file; echo bad 2>/dev/null > " + in +
                 "/x; rm -f " + in + "/x 2>/dev/null; mkdir " + out + "/deep; echo model > " + out +
                 "/deep/m; ls " + one.folder;
    EXPECT_EQ(run(one).exit_code, 0) << log_of(one);
    EXPECT_EQ(log_of(one), "input\nfile\ninputs\noutputs\nwd\n");
    EXPECT_EQ(text_of(in + "/x"), "input\n");
    EXPECT_EQ(text_of(out + "/deep/m"), "model\n");
}

TEST_P(Confined, ADeviceIsThereOnlyWhereItIsShownAndStaysTheMachines) {
    const char* device = "/dev/kmsg";  // one that is not shown to everybody
    struct stat before {};
    if (::stat(device, &before) != 0) GTEST_SKIP() << "no " << device << " here";
    const auto without = task(std::string("test -e ") + device + "; echo $?");
    EXPECT_EQ(run(without).exit_code, 0);
    EXPECT_EQ(log_of(without), "1\n");
    auto with = task(std::string("test -c ") + device + "; echo $?");
    with.binds = {{.path = device}};
    EXPECT_EQ(run(with).exit_code, 0);
    EXPECT_EQ(log_of(with), "0\n");
    struct stat after {};
    ASSERT_EQ(::stat(device, &after), 0);
    EXPECT_EQ(after.st_uid, before.st_uid);
}

TEST_P(Confined, ADeviceThatIsShownCanBeWritten) {
    const std::string device = base_ + "/device";
    if (::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "needs root";
    ::chmod(device.c_str(), 0666);
    ::chmod(base_.c_str(), 0755);
    auto one = task("echo x > " + device + " && echo written");
    one.binds = {{.path = device}};
    EXPECT_EQ(run(one).exit_code, 0) << log_of(one);
    EXPECT_EQ(log_of(one), "written\n");
}

TEST_P(Confined, AFolderOutsideIsSeenAtItsOwnPath) {
    const std::string prefix = base_ + "/prefix";
    ASSERT_TRUE(make_directories(prefix + "/bin", 0755));
    ASSERT_TRUE(write_file_atomically(prefix + "/bin/hello", "#!/bin/sh\necho hello from prefix\n", 0755));
    ::chmod(prefix.c_str(), 0755);
    auto one = task("hello; ls " + base_);
    one.environment = {"PATH=" + prefix + "/bin:/usr/bin:/bin"};
    one.binds = {{.path = prefix}, {.path = "/usr/share"}};
    EXPECT_EQ(run(one).exit_code, 0) << log_of(one);
    EXPECT_EQ(log_of(one), "hello from prefix\nprefix\ntasks\n");
}

TEST_P(Confined, ALinkThatWasSwappedAfterTheCheckLeadsNowhereElse) {
    for (const char* name : {"/data", "/secret", "/parent/inner"}) {
        ASSERT_TRUE(make_directories(base_ + name, 0755));
        ASSERT_TRUE(write_file_atomically(base_ + name + "/x", std::string(name) + "\n", 0644));
    }
    for (const char* name : {"", "/data", "/parent", "/parent/inner"}) ::chmod((base_ + name).c_str(), 0755);
    const std::string link = base_ + "/link";
    ASSERT_EQ(::symlink((base_ + "/data").c_str(), link.c_str()), 0);
    auto one = task("cat " + link + "/x");
    one.binds = {{.path = link, .source = base_ + "/data"}};
    ASSERT_EQ(::unlink(link.c_str()), 0);
    ASSERT_EQ(::symlink((base_ + "/secret").c_str(), link.c_str()), 0);
    EXPECT_EQ(run(one).exit_code, 0) << log_of(one);
    EXPECT_EQ(log_of(one), "/data\n");

    auto two = task("cat " + base_ + "/parent/inner/x");
    two.binds = {{.path = base_ + "/parent/inner", .source = base_ + "/parent/inner"}};
    ASSERT_EQ(::rename((base_ + "/parent").c_str(), (base_ + "/elsewhere").c_str()), 0);
    ASSERT_EQ(::symlink((base_ + "/elsewhere").c_str(), (base_ + "/parent").c_str()), 0);
    start(two);
    ASSERT_TRUE(wait_until([&] { return host::wait_until_gone(pidfds_[two.ref], Duration{0}); }));
    EXPECT_FALSE(sandbox_->collect(two.ref));
    EXPECT_EQ(log_of(two), "");
    sandbox_->release(two.ref);
}

TEST_P(Confined, WhatItWritesIsSeenFromOutsideWhileItRuns) {
    const std::string code = base_ + "/code";
    ASSERT_TRUE(make_directories(code));
    auto one = task("echo l > logs/x; echo 0.5 > outputs/loss; while [ ! -e go ]; do sleep 0.01; done");
    one.code_folder = code;
    start(one);
    EXPECT_TRUE(
        wait_until([&] { return text_of(sandbox_->written_files(one) + "/outputs/loss") == "0.5\n"; }));
    EXPECT_TRUE(sandbox_->kill(one.ref));
    finish(one);
    EXPECT_EQ(text_of(sandbox_->written_files(one) + "/logs/x"), "l\n");
    sandbox_->release(one.ref);
}

// --- out of memory ---

TEST(SandboxMemory, OutOfMemoryIsToldApart) {
    if (!is_root()) GTEST_SKIP() << "needs root: limits of a cgroup";
    constexpr std::int64_t kLimitBytes = 192LL << 20;
    auto node = host::Cgroup::make(host::place_for_limits(), "oom-test-" + std::to_string(::getpid()),
                                   {.memory_bytes = kLimitBytes, .pids = 200});
    ASSERT_TRUE(node) << node.error().message;
    if (!node->missing_limits().empty()) GTEST_SKIP() << "no memory limits on this machine";
    std::string folder = "/tmp/lavant-oom-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const pid_t agent = ::fork();
    if (agent == 0) {
        if (!node->add(::getpid())) ::_exit(10);
        auto sandbox = LinuxSandbox::make({.folder = folder + "/sandbox"});
        if (!sandbox) ::_exit(11);
        const auto run = [&](int number, const char* script) {
            const std::string place = folder + "/tasks/" + std::to_string(number);
            static_cast<void>(make_directories(place));
            const ports::ConfinedTask task{.ref = {.job = JobId{number}},
                                           .folder = place,
                                           .script = script,
                                           .environment = {"PATH=/usr/bin:/bin"},
                                           .code_folder = "",
                                           .working_folder = place + "/wd",
                                           .log_file = place + "/log"};
            const auto running = (*sandbox)->start(task);
            if (!running) ::_exit(12);
            host::wait_until_gone(running->pidfd, std::chrono::seconds(60));
            const auto exit = (*sandbox)->collect(task.ref);
            (*sandbox)->release(task.ref);
            return exit ? *exit : ports::TaskExit{};
        };
        const auto hog = run(1, "exec tail /dev/zero");
        if (!hog.known || hog.signal != SIGKILL || !hog.out_of_memory) ::_exit(13);
        const auto child_hog = run(2, "tail /dev/zero; exit $?");
        if (child_hog.exit_code != 137 || !child_hog.out_of_memory) ::_exit(14);
        if (run(3, "exit 1").out_of_memory || run(4, "kill -9 $$").out_of_memory) ::_exit(15);
        sandbox->reset();
        ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(agent, &status, 0), agent);
    EXPECT_EQ(status, 0) << "exit code " << WEXITSTATUS(status);
    EXPECT_TRUE(node->kill_all(std::chrono::seconds(20)));
    EXPECT_TRUE(node->remove());
    EXPECT_TRUE(remove_tree(folder));
}

// --- the suite again, with fewer rights ---

bool put(const char* path, const std::string& text) {
    const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
    return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Becomes `nobody`; where told, inside a user namespace that allows no further ones.
bool become_ordinary(bool refuse_user_namespaces) {
    constexpr uid_t kNobody = 65534;
    if (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0)
        return false;
    if (!refuse_user_namespaces) return true;
    return enter_user_namespace() && put("/proc/sys/user/max_user_namespaces", "0");
}

void run_suite_as_ordinary_user(bool refuse_user_namespaces) {
    if (!is_root()) GTEST_SKIP() << "needs root, to become somebody else";
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizer has a thread of its own: such a process cannot enter a user namespace";
#endif
    std::string folder = "/tmp/lavant-ordinary-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    ASSERT_EQ(::chmod(folder.c_str(), 0777), 0);
    const Fd program(
        ::open("/proc/self/exe", O_RDONLY));  // Its folder may be closed to others: run it by descriptor.
    const pid_t child = ::fork();
    if (child == 0) {
        if (!become_ordinary(refuse_user_namespaces)) ::_exit(100);
        const std::string where = "LAVANT_TEST_FOLDER=" + folder;
        const std::string rounds = "LAVANT_SANDBOX_ROUNDS=50";
        std::array<const char*, 5> arguments{"suite", "--gtest_brief=1",
                                             "--gtest_filter=*Sandboxed*:*Confined*:SandboxProtections.*",
                                             nullptr};
        std::array<const char*, 4> environment{where.c_str(), rounds.c_str(),
                                               refuse_user_namespaces ? "LAVANT_TEST_REFUSED=1" : nullptr,
                                               nullptr};
        ::fexecve(program.get(), const_cast<char**>(arguments.data()),
                  const_cast<char**>(environment.data()));
        ::_exit(101);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "exit code " << WEXITSTATUS(status);
    EXPECT_TRUE(remove_tree(folder));
}

TEST(SandboxForOthers, TheSuiteHoldsForAnOrdinaryUserWithoutCgroupDelegation) {
    run_suite_as_ordinary_user(false);
}

TEST(SandboxForOthers, TheSuiteHoldsWhereUserNamespacesAreRefused) { run_suite_as_ordinary_user(true); }

TEST(SandboxProtections, OneLineSaysWhatIsOnAndWhatIsOffAndWhy) {
    const char* chosen = ::getenv("LAVANT_TEST_FOLDER");
    std::string folder = (chosen != nullptr ? std::string(chosen) : "/tmp") + "/lavant-protections-XXXXXX";
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    const auto sandbox = LinuxSandbox::make({.folder = folder, .name = "protections"});
    ASSERT_TRUE(sandbox) << sandbox.error().message;
    const std::string line = (*sandbox)->protections();
    std::printf("[ protections ] %s\n", line.c_str());
    EXPECT_EQ(line.find('\n'), std::string::npos);
    if (is_root()) {
        EXPECT_TRUE(line.starts_with(
            "pid, mount and ipc namespaces, read-only system, private /tmp, a user per task"));
    }
    if (::getenv("LAVANT_TEST_REFUSED") != nullptr) {
        EXPECT_TRUE(line.starts_with("process groups; off: pid, mount and ipc namespaces (")) << line;
    } else if (!is_root()) {
        EXPECT_TRUE(line.starts_with("pid, mount, ipc and user namespaces, read-only system")) << line;
        EXPECT_NE(line.find("cgroup tracking ("), std::string::npos);
    }
    EXPECT_TRUE(remove_tree(folder));
}

}  // namespace
}  // namespace lavant::sandbox_linux
