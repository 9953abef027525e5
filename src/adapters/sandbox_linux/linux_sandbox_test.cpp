// The contract of ports::Sandbox, held on every step of the ladder from full confinement to process groups.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "adapters/sandbox_linux/sandbox_fixture.h"
#include "base/text.h"
#include "host/processes.h"

namespace lavant::sandbox_linux {
namespace {

using Sandboxed = SandboxFixture;

INSTANTIATE_TEST_SUITE_P(
    , Sandboxed,
    ::testing::Values(Limited{.name = "AsTheMachineAllows"},
                      Limited{.name = "WithSmallCopies", .small_copies = true},
                      Limited{.name = "WithoutOverlay", .overlay = false},
                      Limited{.name = "WithoutCgroups", .cgroups = false},
                      Limited{.name = "WithoutNamespaces", .namespaces = false},
                      Limited{.name = "WithProcessGroupsOnly", .namespaces = false, .cgroups = false}),
    [](const auto& one) { return one.param.name; });

TEST_P(Sandboxed, TellsTheExitCode) {
    for (const int code : {0, 1, 3, 255}) {
        const ports::TaskExit exit = run(task("exit " + std::to_string(code)));
        EXPECT_TRUE(exit.known);
        EXPECT_EQ(exit.exit_code, code);
        EXPECT_EQ(exit.signal, 0);
        EXPECT_FALSE(exit.out_of_memory);
    }
}

TEST_P(Sandboxed, TellsTheSignal) {
    const ports::TaskExit exit = run(task("kill -SEGV $$"));
    EXPECT_TRUE(exit.known);
    EXPECT_EQ(exit.signal, SIGSEGV);
}

TEST_P(Sandboxed, ACommandThatDoesNotExistIs127AndSaysSo) {
    for (const char* script : {"no-such-command --x", "/no/such/command", "no-such-command; exit $?"}) {
        const auto one = task(script);
        EXPECT_EQ(run(one).exit_code, 127);
        EXPECT_NE(log_of(one).find("such"), std::string::npos) << log_of(one);
    }
}

TEST_P(Sandboxed, OutputAndErrorsGoToOneLogInOrderAndInputIsEmpty) {
    const auto one = task("echo a; echo b >&2; cat; echo c; echo d >> /dev/stderr");
    ASSERT_TRUE(write_file_atomically(one.log_file, "before\n"));
    EXPECT_EQ(run(one).exit_code, 0);
    EXPECT_EQ(log_of(one), "before\na\nb\nc\nd\n");
}

TEST_P(Sandboxed, TheEnvironmentIsExactlyWhatWasGiven) {
    auto one = task("env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= -e ^LAVANT_TASK_FOLDER= | sort");
    one.environment = {"A=1", "PATH=/usr/bin:/bin", "WITH_SPACE=a b"};
    EXPECT_EQ(run(one).exit_code, 0);
    EXPECT_EQ(log_of(one), "A=1\nPATH=/usr/bin:/bin\nWITH_SPACE=a b\n");
}

TEST_P(Sandboxed, RunsInItsWorkingFolderWithOutputsAndLogsReady) {
    const auto one = task("pwd; ls -d outputs logs; echo x > outputs/file; echo y > logs/file");
    start(one);
    EXPECT_EQ(finish(one).exit_code, 0);
    EXPECT_EQ(log_of(one), one.working_folder + "\nlogs\noutputs\n");
    EXPECT_EQ(text_of(sandbox_->written_files(one) + "/outputs/file"), "x\n");
    EXPECT_EQ(text_of(sandbox_->written_files(one) + "/logs/file"), "y\n");
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, BeginsWithTheOutputsItIsGiven) {
    const std::string code = base_ + "/code";
    ASSERT_TRUE(make_directories(code + "/outputs"));
    ASSERT_TRUE(write_file_atomically(code + "/outputs/of_the_code", "code\n", 0644));
    ASSERT_TRUE(write_file_atomically(code + "/outputs/both", "code\n", 0644));
    for (const bool with_code : {false, true}) {
        auto one = task("cat outputs/both outputs/deep/a; echo more >> outputs/deep/a; ls outputs");
        one.code_folder = with_code ? code : "";
        one.outputs_before = one.folder + "/before";
        ASSERT_TRUE(make_directories(one.outputs_before + "/deep"));
        ASSERT_TRUE(write_file_atomically(one.outputs_before + "/both", "before\n", 0644));
        ASSERT_TRUE(write_file_atomically(one.outputs_before + "/deep/a", "a\n", 0644));
        start(one);
        EXPECT_EQ(finish(one).exit_code, 0) << log_of(one);
        EXPECT_EQ(log_of(one), std::string("before\na\nboth\ndeep\n") + (with_code ? "of_the_code\n" : ""));
        EXPECT_EQ(text_of(sandbox_->written_files(one) + "/outputs/deep/a"), "a\nmore\n");
        sandbox_->release(one.ref);
    }
    EXPECT_EQ(text_of(code + "/outputs/both"), "code\n");
}

TEST_P(Sandboxed, HasASessionOfItsOwnAndNoFilesOfTheAgent) {
    EXPECT_EQ(output_of("ps -o pid=,sid=,pgid= -p $$ | awk '{ print ($1==$2 && $2==$3) }'; ls /proc/$$/fd > "
                        "list; tr '\\n' ' ' < list"),
              "1\n0 1 2 ");
}

TEST_P(Sandboxed, SignalsAreAtTheirDefaults) {
    EXPECT_EQ(output_of("grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -s '\\t ' ' '"),
              "SigBlk: 0000000000000000\nSigIgn: 0000000000000000\n");
}

TEST_P(Sandboxed, RaisesItsOwnOomScore) { EXPECT_EQ(output_of("cat /proc/self/oom_score_adj"), "600\n"); }

TEST_P(Sandboxed, AJobThatOverwritesItsOwnScriptLeavesTheOriginalForTheNext) {
    const std::string code = base_ + "/code";
    ASSERT_TRUE(make_directories(code + "/sub"));
    ASSERT_TRUE(
        write_file_atomically(code + "/train.sh", "echo original\necho broken > train.sh\nrm sub/data\n"));
    ASSERT_TRUE(write_file_atomically(code + "/sub/data", "data\n"));
    for (int round = 0; round < 2; ++round) {
        auto one = task("cat sub/data; bash train.sh; cat train.sh; ls sub; touch new; mv sub renamed");
        one.code_folder = code;
        start(one);
        EXPECT_EQ(finish(one).exit_code, 0) << log_of(one);
        EXPECT_EQ(log_of(one), "data\noriginal\nbroken\n");
        EXPECT_EQ(text_of(sandbox_->written_files(one) + "/train.sh"), "broken\n");
        sandbox_->release(one.ref);
    }
    EXPECT_TRUE(text_of(code + "/train.sh").starts_with("echo original"));
    EXPECT_EQ(text_of(code + "/sub/data"), "data\n");
}

TEST_P(Sandboxed, ForwardsSignalsToTheCommand) {
    const auto one = task("trap 'echo got it; exit 7' TERM; echo ready; while :; do sleep 0.01; done");
    start(one);
    ASSERT_TRUE(wait_until([&] { return log_of(one) == "ready\n"; }));
    EXPECT_TRUE(sandbox_->signal(one.ref, SIGTERM));
    EXPECT_EQ(finish(one).exit_code, 7);
    EXPECT_NE(log_of(one).find("got it"), std::string::npos);
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, KillsWhatIgnoresSignalsLeavesItsSessionOrDaemonises) {
    const std::string seconds = unique_seconds();
    const auto one = task(
        "trap '' TERM INT HUP\n"
        "setsid bash -c 'trap \"\" TERM; sleep " +
        seconds +
        "' &\n"
        "(setsid sleep " +
        seconds +
        " >/dev/null 2>&1 &) &\n"
        "for i in 1 2 3 4 5 6 7 8 9 10; do sleep " +
        seconds +
        " & done\n"
        "echo ready; sleep " +
        seconds + "\nsleep " + seconds);
    start(one);
    ASSERT_TRUE(wait_until([&] { return host::processes_with_argument(seconds).size() >= 13; }))
        << log_of(one);
    EXPECT_TRUE(sandbox_->kill(one.ref));
    EXPECT_TRUE(host::processes_with_argument(seconds).empty());
    const ports::TaskExit exit = finish(one);
    EXPECT_TRUE(exit.known);
    EXPECT_EQ(exit.signal, SIGKILL);
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, KillsAForkBomb) {
    const std::string seconds = unique_seconds();
    // Bounded by its depth, because as root no limit of ours would bound it: 2^7 shells, then it only sleeps.
    const auto one = task("bomb() { if (( $1 == 0 )); then sleep " + seconds +
                          "; else bomb $(($1-1)) & bomb $(($1-1)) & wait; fi; }; bomb 6");
    start(one);
    ASSERT_TRUE(wait_until([&] { return host::processes_with_argument(seconds).size() >= 8; }));
    const auto killed = sandbox_->kill(one.ref);
    EXPECT_TRUE(killed) << killed.error().message;
    EXPECT_TRUE(host::processes_with_argument(seconds).empty());
    EXPECT_EQ(finish(one).signal, SIGKILL);
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, WhatTheCommandLeavesBehindDiesWithIt) {
    const std::string seconds = unique_seconds();
    const auto one = task("setsid sleep " + seconds + " & (setsid sleep " + seconds + " &) ; sleep " +
                          seconds + " & exit 4");
    EXPECT_EQ(run(one).exit_code, 4);
    EXPECT_TRUE(host::processes_with_argument(seconds).empty());
}

TEST_P(Sandboxed, TellsWhatWasUsed) {
    const ports::TaskExit exit = run(task("i=0; while ((i < 40000)); do ((++i)); done; :"));
    EXPECT_GT(exit.usage.cpu_micros, 5'000);
    EXPECT_GT(exit.usage.memory_peak_bytes, 500'000);
    EXPECT_GE(exit.usage.wall_micros, exit.usage.cpu_micros / 4);
}

TEST_P(Sandboxed, AMissingFolderToMountIsAnErrorThatNamesIt) {
    auto one = task("true");
    one.binds = {{.path = one.folder + "/not-there", .writable = false}};
    if (!confined()) GTEST_SKIP() << "nothing is mounted without namespaces";
    start(one);
    ASSERT_TRUE(wait_until([&] { return host::wait_until_gone(pidfds_[one.ref], Duration{0}); }));
    const auto exit = sandbox_->collect(one.ref);
    ASSERT_FALSE(exit);
    EXPECT_NE(exit.error().message.find("not-there"), std::string::npos) << exit.error().message;
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, ATaskThatRunsCannotBeCollectedOrStartedAgain) {
    const auto one = task("sleep " + unique_seconds());
    start(one);
    EXPECT_EQ(sandbox_->collect(one.ref).error().code, ErrorCode::Conflict);
    EXPECT_EQ(sandbox_->start(one).error().code, ErrorCode::AlreadyExists);
    EXPECT_TRUE(sandbox_->kill(one.ref));
    finish(one);
    sandbox_->release(one.ref);
    EXPECT_EQ(sandbox_->collect(one.ref).error().code, ErrorCode::NotFound);
}

TEST_P(Sandboxed, SeveralTasksRunAtOnceAndApart) {
    std::vector<ports::ConfinedTask> tasks;
    for (int i = 0; i < 4; ++i) {
        tasks.push_back(
            task("echo started; while [ ! -e go ]; do sleep 0.01; done; exit " + std::to_string(10 + i)));
        start(tasks.back());
    }
    EXPECT_TRUE(sandbox_->kill(tasks[1].ref));
    for (const int i : {0, 2, 3})
        ASSERT_TRUE(write_file_atomically(sandbox_->written_files(tasks[static_cast<std::size_t>(i)]) + "/go",
                                          "", 0644));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const ports::TaskExit exit = finish(tasks[i]);
        EXPECT_EQ(i == 1 ? exit.signal : exit.exit_code, i == 1 ? SIGKILL : static_cast<int>(10 + i));
        sandbox_->release(tasks[i].ref);
    }
}

// --- an agent that dies ---

// Starts the tasks from another process, an agent that is then killed.
void start_from_an_agent_that_dies(const std::function<std::unique_ptr<LinuxSandbox>()>& make,
                                   const std::vector<ports::ConfinedTask>& tasks) {
    const pid_t agent = ::fork();
    ASSERT_GE(agent, 0);
    if (agent == 0) {
        const auto sandbox = make();
        bool started = sandbox != nullptr;
        for (const ports::ConfinedTask& task : tasks) started = started && sandbox->start(task);
        ::kill(::getpid(), started ? SIGKILL : SIGTERM);
        ::_exit(1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(agent, &status, 0), agent);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the tasks could not be started";
}

TEST_P(Sandboxed, TasksSurviveTheirAgentAndAreTakenOver) {
    const auto runs = task("echo one; while [ ! -e go ]; do sleep 0.01; done; echo two; exit 5");
    const auto ended = task("echo quick; exit 6");
    const auto never = task("echo never");
    start_from_an_agent_that_dies([&] { return make_sandbox(); }, {runs, ended});
    ASSERT_TRUE(
        wait_until([&] { return text_of(state_path(ended.folder)).find("end ") != std::string::npos; }));

    const auto successor = make_sandbox();
    const auto found = successor->recover({runs, ended, never});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 2U);
    EXPECT_GE((*found)[0].pidfd, 0);
    EXPECT_EQ((*found)[1].ref, ended.ref);
    // It may still be on its way out; then it has a pidfd that becomes readable at once.
    ASSERT_TRUE((*found)[1].pidfd < 0 || host::wait_until_gone((*found)[1].pidfd, std::chrono::seconds(20)));

    EXPECT_EQ(successor->collect(ended.ref)->exit_code, 6);
    ASSERT_TRUE(write_file_atomically(successor->written_files(runs) + "/go", "", 0644));
    ASSERT_TRUE(host::wait_until_gone((*found)[0].pidfd, std::chrono::seconds(20)));
    const auto exit = successor->collect(runs.ref);
    ASSERT_TRUE(exit) << exit.error().message;
    EXPECT_TRUE(exit->known);
    EXPECT_EQ(exit->exit_code, 5);
    EXPECT_EQ(log_of(runs), "one\ntwo\n");
    successor->release(runs.ref);
    successor->release(ended.ref);
}

TEST_P(Sandboxed, ATaskThatWasTakenOverCanBeKilled) {
    const std::string seconds = unique_seconds();
    const auto one = task("setsid sleep " + seconds + " & sleep " + seconds);
    start_from_an_agent_that_dies([&] { return make_sandbox(); }, {one});
    const auto successor = make_sandbox();
    ASSERT_EQ(successor->recover({one})->size(), 1U);
    ASSERT_TRUE(wait_until([&] { return host::processes_with_argument(seconds).size() == 2; }));
    EXPECT_TRUE(successor->kill(one.ref));
    EXPECT_TRUE(host::processes_with_argument(seconds).empty());
    EXPECT_EQ(successor->collect(one.ref)->signal, SIGKILL);
    successor->release(one.ref);
}

TEST_P(Sandboxed, AReusedPidIsNotTakenForTheTask) {
    const auto one = task("true");
    const auto boot = text_of("/proc/sys/kernel/random/boot_id").substr(0, 8);
    // Nobody holds the lock: the process that has the pid now is another.
    const TaskState state{.start = name_start(one.ref, 1), .supervisor = ::getpid(), .boot = boot};
    ASSERT_TRUE(write_file_atomically(state_path(one.folder), render_started(state)));
    const auto found = sandbox_->recover({one});
    ASSERT_EQ(found->size(), 1U);
    EXPECT_EQ(found->front().pidfd, -1);
    EXPECT_FALSE(sandbox_->collect(one.ref)->known);
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, WhatAnEarlierTaskLeftInTheFolderIsNotTakenForTheNextOne) {
    auto one = task("exit 3");
    start(one);
    EXPECT_EQ(finish(one).exit_code, 3);
    sandbox_->release(one.ref);
    one.ref.attempt += 1;
    EXPECT_TRUE(sandbox_->recover({one})->empty());
    one.script = "exit 4";
    start(one);
    EXPECT_EQ(finish(one).exit_code, 4);
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, AnEndedTaskInTheSlotOfARunningOneDoesNotTakeItAlong) {
    const auto ended = task("exit 3");
    const auto runs = task("while [ ! -e go ]; do sleep 0.01; done; exit 5");
    start_from_an_agent_that_dies(
        [&] {
            auto agent = make_sandbox();
            const auto running = agent->start(ended);
            host::wait_until_gone(running->pidfd, std::chrono::seconds(20));
            (void)agent->collect(ended.ref);
            agent->release(ended.ref);
            return agent;
        },
        {runs});
    const auto successor = make_sandbox();
    const auto found = successor->recover({ended, runs});
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_EQ(found->size(), 1U);
    EXPECT_FALSE(successor->collect(ended.ref)) << "it is not in the sandbox";
    ASSERT_TRUE(write_file_atomically(successor->written_files(runs) + "/go", "", 0644));
    ASSERT_TRUE(host::wait_until_gone(found->front().pidfd, std::chrono::seconds(20)));
    EXPECT_EQ(successor->collect(runs.ref)->exit_code, 5);
    successor->release(runs.ref);
}

TEST_P(Sandboxed, ASupervisorKilledFromOutsideLeavesNothingRunning) {
    const std::string seconds = unique_seconds();
    const auto one = task("(setsid sleep " + seconds + " &); echo ready; sleep " + seconds);
    start(one);
    ASSERT_TRUE(wait_until([&] { return host::processes_with_argument(seconds).size() == 2; }));
    ASSERT_TRUE(host::send_signal(pidfds_[one.ref], SIGKILL));
    const ports::TaskExit exit = finish(one);
    EXPECT_FALSE(exit.known);
    EXPECT_TRUE(host::processes_with_argument(seconds).empty());
    sandbox_->release(one.ref);
}

TEST_P(Sandboxed, TasksStartAlsoWhenTheLauncherWasKilled) {
    EXPECT_EQ(run(task("exit 3")).exit_code, 3);
    for (const pid_t child : host::descendants_of(::getpid())) ::kill(child, SIGKILL);
    EXPECT_EQ(run(task("exit 4")).exit_code, 4);
    EXPECT_EQ(run(task("exit 5")).exit_code, 5);
}

TEST_P(Sandboxed, AVeryLongCommandAndEnvironmentAreCarriedWhole) {
    auto one = task("x='" + std::string(90'000, 'x') + "'; echo ${#x} ${#Y}; exit 0");
    one.environment.push_back("Y=" + std::string(100'000, 'y'));
    EXPECT_EQ(run(one).exit_code, 0);
    EXPECT_EQ(log_of(one), "90000 100000\n");
    EXPECT_EQ(run(task("exit 3")).exit_code, 3);
}

// --- leaks ---

std::size_t lines_in(const std::string& path) { return split(text_of(path), '\n').size(); }

std::size_t leaves_of(const std::string& prefix) {
    const auto entries = list_directory(host::own_cgroup_place().unified);
    return entries
               ? static_cast<std::size_t>(std::ranges::count_if(
                     *entries, [&](const DirectoryEntry& entry) { return entry.name.starts_with(prefix); }))
               : 0;
}

TEST_P(Sandboxed, ManyTasksLeaveNoFilesMountsCgroupsOrZombies) {
    const char* chosen = ::getenv("LAVANT_SANDBOX_ROUNDS");
    const int rounds = chosen != nullptr ? std::atoi(chosen) : 100;
    const std::string code = base_ + "/code";
    ASSERT_TRUE(make_directories(code));
    auto one = task("exit 0");
    one.code_folder = code;
    std::size_t files = 0;
    std::size_t mounts = 0;
    std::size_t cgroups = 0;
    for (int round = 0; round < rounds; ++round) {
        ASSERT_EQ(run(one).exit_code, 0);
        if (round > 0) continue;
        files = list_directory("/proc/self/fd")->size();
        mounts = lines_in("/proc/self/mountinfo");
        cgroups = leaves_of(base_name_of(base_));
    }
    EXPECT_EQ(list_directory("/proc/self/fd")->size(), files);
    EXPECT_EQ(lines_in("/proc/self/mountinfo"), mounts);
    EXPECT_EQ(leaves_of(base_name_of(base_)), cgroups);
    sandbox_.reset();  // With its launcher.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace lavant::sandbox_linux
