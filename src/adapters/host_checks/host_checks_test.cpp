#include "adapters/host_checks/host_checks.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "adapters/host_checks/programs.h"
#include "base/files.h"
#include "base/text.h"
#include "tests/support/wait_until.h"

namespace lavant::host_checks {
namespace {

using ports::HostCheck;
using Mark = HostCheck::Mark;

const HostCheck& named(const std::vector<HostCheck>& checks, const std::string& name) {
    return *std::ranges::find(checks, name, &HostCheck::name);
}

KernelFacts good() {
    KernelFacts facts;
    facts.release = "6.1.0-13-amd64";
    facts.max_userns = "100";
    facts.filesystems = "nodev\tproc\nnodev\toverlay\n";
    facts.cgroups = {.unified = "/cg", .unified_has_controllers = true, .memory = {}, .cpu = {}, .pids = {}};
    facts.cgroups_writable = true;
    facts.controllers = "cpu memory pids";
    return facts;
}

TEST(KernelChecks, AGoodMachineHasNothingToDo) {
    for (const HostCheck& check : judge_kernel(good())) {
        EXPECT_EQ(check.mark, Mark::Ok) << check.name;
        EXPECT_EQ(check.remedy, "") << check.name;
    }
}

TEST(KernelChecks, EachThingMissingHasItsRemedy) {
    KernelFacts facts = good();
    facts.release = "4.18.0";
    EXPECT_EQ(named(judge_kernel(facts), "kernel").mark, Mark::Bad);
    facts.release = "5.10.0";
    EXPECT_EQ(named(judge_kernel(facts), "kernel").mark, Mark::Off);
    facts.release = "";
    EXPECT_EQ(named(judge_kernel(facts), "kernel").mark, Mark::Bad);

    facts = good();
    facts.cgroups_writable = false;
    EXPECT_NE(named(judge_kernel(facts), "cgroups").remedy.find("Delegate=yes"), std::string::npos);
    facts = good();
    facts.controllers = "cpu";
    EXPECT_EQ(named(judge_kernel(facts), "cgroups").mark, Mark::Off);
    facts.cgroups = {};
    EXPECT_EQ(named(judge_kernel(facts), "cgroups").found, "none");

    facts = good();
    facts.filesystems = "nodev\toverlayish\n";
    EXPECT_EQ(named(judge_kernel(facts), "overlayfs").remedy, "sudo modprobe overlay");

    facts = good();
    facts.max_userns = "0";
    EXPECT_NE(named(judge_kernel(facts), "user namespaces").remedy.find("user.max_user_namespaces"),
              std::string::npos);
    facts = good();
    facts.userns_clone = "0";
    EXPECT_NE(named(judge_kernel(facts), "user namespaces").remedy.find("unprivileged_userns_clone=1"),
              std::string::npos);
    facts = good();
    facts.apparmor_userns = "1";
    EXPECT_NE(named(judge_kernel(facts), "user namespaces").remedy.find("apparmor"), std::string::npos);
    facts.is_root = true;
    EXPECT_EQ(named(judge_kernel(facts), "user namespaces").mark, Mark::Ok);
}

TEST(DiskCheck, TooLittleRoomOrNoRightStopsJobs) {
    EXPECT_EQ(judge_disk({"/d", "/d", true, 100ULL << 30}).mark, Mark::Ok);
    EXPECT_EQ(judge_disk({"/d", "/d", true, 1ULL << 30}).mark, Mark::Off);
    EXPECT_EQ(judge_disk({"/d", "/d", true, 1ULL << 20}).mark, Mark::Bad);
    EXPECT_EQ(judge_disk({"/d", "/", false, 100ULL << 30}).mark, Mark::Bad);
    EXPECT_EQ(read_disk_facts("/proc/not/there").existing, "/proc");
    EXPECT_FALSE(read_disk_facts("/etc/passwd/x").writable) << "a file is in the way";
}

TEST(ProtectionsCheck, SplitsWhatIsOffFromWhatIsOn) {
    HostQuery query;
    query.protections = "pid, mount and ipc namespaces, cgroup tracking";
    EXPECT_EQ(judge_protections(query).mark, Mark::Ok);
    query.protections = "cgroup tracking; off: pid, mount and ipc namespaces (not allowed)";
    EXPECT_EQ(judge_protections(query).mark, Mark::Off);
    EXPECT_EQ(judge_protections(query).found, "cgroup tracking");
    EXPECT_EQ(judge_protections(query).effect, "without: pid, mount and ipc namespaces (not allowed)");
}

TEST(ProxyCheck, ShowsNoPassword) {
    std::map<std::string, std::string> variables{{"https_proxy", "http://ann:se@cret@proxy:3128"}};
    HostQuery query;
    query.variable = [&](const std::string& name) { return variables[name]; };
    const HostCheck check = judge_proxy(query);
    EXPECT_NE(check.found.find("http://proxy:3128"), std::string::npos) << check.found;
    EXPECT_EQ(check.found.find("cret"), std::string::npos) << check.found;
}

class ProgramsTest : public ::testing::Test {
 protected:
    ProgramsTest() {
        std::string pattern = ::testing::TempDir() + "/programs.XXXXXX";
        folder_ = ::mkdtemp(pattern.data());
    }
    ~ProgramsTest() override { (void)remove_tree(folder_); }
    std::string script(const std::string& name, const std::string& text, int mode = 0755) {
        const std::string path = folder_ + "/" + name;
        EXPECT_TRUE(write_file_atomically(path, "#!/bin/sh\n" + text));
        EXPECT_EQ(::chmod(path.c_str(), static_cast<mode_t>(mode)), 0);
        return path;
    }
    std::string folder_;
};

TEST_F(ProgramsTest, AreFoundOnPathOnly) {
    const std::string path = script("tool", "");
    script("data", "", 0644);
    EXPECT_EQ(find_program("tool", "/nowhere::" + folder_), path);
    EXPECT_EQ(find_program("data", folder_), "");
    EXPECT_EQ(find_program("tool", ""), "");
    EXPECT_EQ(find_program("tool", "."), "");
}

TEST_F(ProgramsTest, OneThatHangsIsKilledWithItsChildren) {
    const std::string pid_file = folder_ + "/pid";
    const auto answers = run_programs({{script("fine", "echo ' one '; echo two"), {}},
                                       {script("fails", "echo no; exit 3"), {}},
                                       {"", {}},
                                       {folder_ + "/absent", {}},
                                       {script("hangs", "sleep 600 & echo $! > " + pid_file + "; wait"), {}},
                                       {script("closes", "exec >&-; exec sleep 600"), {}}},
                                      std::chrono::milliseconds(1'000));
    EXPECT_TRUE(answers[0].fine());
    EXPECT_EQ(answers[0].output, "one \ntwo");
    EXPECT_EQ(answers[1].exit_code, 3);
    EXPECT_FALSE(answers[2].ran);
    EXPECT_FALSE(answers[3].ran);
    EXPECT_FALSE(answers[4].in_time);
    EXPECT_FALSE(answers[5].in_time);
    const auto child = read_file(pid_file, 64);
    if (!child) return;  // It was killed before it had begun.
    const auto pid = static_cast<pid_t>(parse_integer(trim(*child)).value_or(0));
    ASSERT_GT(pid, 1);
    // The signal is on its way; the process may still be dying.
    EXPECT_TRUE(test::wait_until([pid] {
        const auto state = read_file("/proc/" + std::to_string(pid) + "/stat", 4096);
        return !state || state->find(") Z") != std::string::npos;
    }));
}

TEST_F(ProgramsTest, WhatIsNotThereIsOffAndNeverBad) {
    HostQuery query;
    query.variable = [](const std::string&) { return ""; };
    for (const HostCheck& check : check_programs(query)) {
        EXPECT_EQ(check.mark, Mark::Off) << check.name;
        EXPECT_NE(check.effect, "") << check.name;
    }
    script("podman", "echo podman 5.0");
    script("docker", "exit 1");
    script("python3", "echo 3.11.2; echo venv");
    query.variable = [&](const std::string& name) { return name == "PATH" ? folder_ : ""; };
    const auto checks = check_programs(query);
    EXPECT_EQ(named(checks, "podman").found, "podman 5.0, usable");
    EXPECT_EQ(named(checks, "docker").mark, Mark::Off);
    EXPECT_NE(named(checks, "python").found.find("without venv"), std::string::npos);
}

TEST_F(ProgramsTest, GpusThatASettingNamesAreNotLookedFor) {
    HostQuery query;
    query.variable = [](const std::string&) { return ""; };
    query.gpus = "fake0,fake1";
    const auto checks = check_programs(query);
    EXPECT_EQ(named(checks, "gpus").mark, Mark::Ok);
    EXPECT_EQ(named(checks, "gpus").found, "fake0,fake1, by the setting gpus");
}

}  // namespace
}  // namespace lavant::host_checks
