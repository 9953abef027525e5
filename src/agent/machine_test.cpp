#include <gtest/gtest.h>

#include <csignal>

#include "agent/machine_rig_test.h"

namespace lavant::agent {
namespace {

TEST(Machine, ReportsAShortTaskOnceWithItsEnd) {
    Rig rig(MachineSettings{});
    rig.run(kTask);
    EXPECT_EQ(rig.machine().next_wake(), rig.now() + std::chrono::milliseconds(10));
    EXPECT_TRUE(reports_in(rig.after(std::chrono::milliseconds(4))).empty());
    const auto reports = reports_in(rig.exit(kTask));
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].phase, TaskPhase::Ended);
    EXPECT_EQ(reports[0].ran_micros, 4000);
    EXPECT_TRUE(reports_in(rig.after(std::chrono::milliseconds(20))).empty());
}

TEST(Machine, ReportsALongerTaskWhenItHasRunForAMoment) {
    Rig rig(MachineSettings{});
    rig.run(kTask);
    const auto reports = reports_in(rig.after(std::chrono::milliseconds(10)));
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].phase, TaskPhase::Running);
    EXPECT_TRUE(reports_in(rig.after(std::chrono::milliseconds(10))).empty());
}

TEST(Machine, SendsAShortLogWithTheReportOfTheEnd) {
    Rig rig;
    rig.run(kTask);
    const auto actions =
        rig.step(Exited{.task = kTask, .exit = {.known = true}, .log_bytes = 5, .log = "done\n"});
    EXPECT_TRUE(all_of<SendLog>(actions).empty());
    ASSERT_EQ(reports_in(actions).size(), 1U);
    EXPECT_EQ(reports_in(actions)[0].phase, TaskPhase::Ended);
    EXPECT_EQ(reports_in(actions)[0].end.log, "done\n");
    rig.step(LinkDown{Link::Bulk});
    EXPECT_TRUE(all_of<SendLog>(rig.step(LinkUp{Link::Bulk})).empty());
    rig.step(LinkDown{Link::Control});
    const auto hellos = hellos_in(rig.step(LinkUp{Link::Control}));
    EXPECT_EQ(hellos.at(0).tasks.at(0).end.log, "done\n") << "until it is forgotten";
}

TEST(Machine, SendsALogByItselfWhereItsEndMayNotBringIt) {
    const TaskRef second{{7}, 2, 0};
    for (const auto& [task, instances, processes, files, log] : {std::tuple{second, 1, 1, false, "abc"},
                                                                 {kTask, 2, 1, false, "abc"},
                                                                 {kTask, 1, 2, false, "abc"},
                                                                 {kTask, 1, 1, true, "abc"},
                                                                 {kTask, 1, 1, false, "ab"}}) {
        Rig rig;
        rig.hear(StartTask{.task = task, .instances = instances, .processes = processes});
        rig.step(Prepared{.task = task});
        rig.step(Launched{task});
        const auto actions = rig.step(
            Exited{.task = task, .exit = {.known = true}, .log_bytes = 3, .log = log, .has_files = files});
        EXPECT_EQ(all_of<SendLog>(actions).size(), 1U);
        for (const TaskReport& report : reports_in(actions)) EXPECT_NE(report.phase, TaskPhase::Ended);
    }
    Rig rig;
    rig.run(kTask);
    rig.step(LogGrew{kTask, 1});
    const auto actions =
        rig.step(Exited{.task = kTask, .exit = {.known = true}, .log_bytes = 3, .log = "abc"});
    EXPECT_EQ(all_of<SendLog>(actions).at(0).from, 1U) << "a part of it is on its way already";
}

TEST(Machine, TakesATaskFromStartToForgotten) {
    Rig rig;
    auto actions = rig.hear(StartTask{.task = kTask, .launch = "L", .job_token = "T"});
    ASSERT_EQ(all_of<Prepare>(actions).size(), 1U);
    EXPECT_EQ(all_of<Prepare>(actions)[0].start.launch, "L");
    EXPECT_TRUE(reports_in(actions).empty());

    actions = rig.step(Prepared{.task = kTask});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(all_of<Launch>(actions).at(0).task, kTask);
    actions = rig.step(Launched{kTask});
    EXPECT_EQ(reports_in(actions).at(0).phase, TaskPhase::Running);

    actions = rig.step(LogGrew{kTask, 6});
    EXPECT_EQ(all_of<SendLog>(actions).at(0).to, 6U);
    actions = rig.step(Exited{.task = kTask, .exit = {.known = true}, .log_bytes = 10, .has_files = true});
    EXPECT_EQ(all_of<StageOutputs>(actions).size(), 1U);
    EXPECT_EQ(all_of<SendLog>(actions).at(0).from, 6U);
    EXPECT_EQ(reports_in(actions).at(0).phase, TaskPhase::Finalizing);

    EXPECT_TRUE(reports_in(rig.step(OutputsStaged{.task = kTask, .any = true})).empty());
    EXPECT_TRUE(reports_in(rig.hear(LogDurable{.task = kTask, .bytes = 6})).empty());
    actions = rig.hear(LogDurable{.task = kTask, .bytes = 10});
    ASSERT_EQ(reports_in(actions).size(), 1U);
    EXPECT_EQ(reports_in(actions)[0].phase, TaskPhase::Ended);
    EXPECT_TRUE(reports_in(actions)[0].end.succeeded());
    EXPECT_TRUE(reports_in(actions)[0].end.has_outputs);

    actions = rig.hear(ForgetTask{kTask});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(all_of<Forget>(actions).at(0).task, kTask);
    EXPECT_TRUE(rig.machine().inventory().empty());
    EXPECT_TRUE(rig.hear(ForgetTask{kTask}).empty());
}

TEST(Machine, EndsATaskWithoutFilesInOneReport) {
    Rig rig;
    rig.run(kTask);
    const auto actions = rig.exit(kTask);
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(reports_in(actions).at(0).phase, TaskPhase::Ended);
}

TEST(Machine, IgnoresARepeatedStartInEveryPhase) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.step(Prepared{.task = kTask});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.step(Launched{kTask});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.step(Exited{.task = kTask, .exit = {.known = true}, .has_files = true});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.step(OutputsStaged{.task = kTask});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.hear(ForgetTask{kTask});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty()) << "a late repetition woke a finished task";
}

TEST(Machine, IgnoresTheStartOfAnOlderAttempt) {
    Rig rig;
    rig.hear(StartTask{.task = kNext});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
    rig.hear(ForgetTask{kNext});
    EXPECT_TRUE(rig.hear(StartTask{.task = kTask}).empty());
}

TEST(Machine, StartsANewAttemptOnlyWhenTheOldOneIsDead) {
    Rig rig;
    rig.run(kTask);
    auto actions = rig.hear(StartTask{.task = kNext});
    EXPECT_TRUE(all_of<Prepare>(actions).empty());
    EXPECT_EQ(all_of<Kill>(actions).at(0).task, kTask);
    EXPECT_EQ(rig.phase(kNext), TaskPhase::Assigned);
    actions = rig.exit(kTask);
    EXPECT_EQ(all_of<Forget>(actions).at(0).task, kTask);
    EXPECT_EQ(all_of<Prepare>(actions).at(0).start.task, kNext);
}

TEST(Machine, StopsWithATermAndThenAKill) {
    Rig rig;
    rig.run(kTask);
    auto actions = rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(all_of<Signal>(actions).at(0).number, SIGTERM);
    EXPECT_TRUE(rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000}).empty()) << "not idempotent";
    EXPECT_TRUE(rig.after(seconds(4)).empty());
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(1))).size(), 1U);
    EXPECT_TRUE(rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000}).empty());
    const auto end = reports_in(rig.exit(kTask, {.known = true, .signal = SIGKILL})).at(0).end;
    EXPECT_EQ(end.reason, EndReason::Stopped);
    EXPECT_EQ(end.signal, SIGKILL);
}

TEST(Machine, ShortensTheGraceWhenASecondStopIsMoreUrgent) {
    Rig rig;
    rig.run(kTask);
    rig.hear(StopTask{.task = kTask, .grace_micros = 60'000'000});
    EXPECT_EQ(all_of<Kill>(rig.hear(StopTask{.task = kTask, .grace_micros = 0})).size(), 1U);
}

TEST(Machine, KillsAgainWhileATaskWillNotDie) {
    Rig rig;
    rig.run(kTask);
    rig.hear(StopTask{.task = kTask, .grace_micros = 0});
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(10))).size(), 1U);
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(10))).size(), 1U);
}

TEST(Machine, EndsAPreparingTaskAsStopped) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    const auto actions = rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000});
    EXPECT_EQ(all_of<CancelPrepare>(actions).size(), 1U);
    EXPECT_EQ(reports_in(actions).at(0).end.reason, EndReason::Stopped);
    EXPECT_TRUE(rig.step(Prepared{.task = kTask}).empty()) << "launched after all";
}

TEST(Machine, StopsATaskThatIsJustBeingLaunched) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    rig.step(Prepared{.task = kTask});
    EXPECT_TRUE(rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000}).empty());
    EXPECT_EQ(all_of<Signal>(rig.step(Launched{kTask})).size(), 1U);
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(5))).size(), 1U);
}

TEST(Machine, LetsAFinalizingTaskFinishWhenItIsStopped) {
    Rig rig;
    rig.run(kTask);
    rig.step(Exited{.task = kTask, .exit = {.known = true}, .has_files = true});
    EXPECT_TRUE(rig.hear(StopTask{.task = kTask}).empty());
    EXPECT_TRUE(reports_in(rig.step(OutputsStaged{.task = kTask})).at(0).end.succeeded());
}

TEST(Machine, PreemptsWithATermAndThenAKillAndKeepsOutputs) {
    Rig rig;
    rig.run(kTask);
    const StopTask preempt{.task = kTask, .grace_micros = 30'000'000, .preempted = true};
    EXPECT_EQ(all_of<Signal>(rig.hear(preempt)).at(0).number, SIGTERM);
    EXPECT_TRUE(rig.hear(preempt).empty()) << "not idempotent";
    EXPECT_FALSE(rig.machine().ends_by_itself(kTask)) << "nothing of it is kept for inspection";
    EXPECT_TRUE(all_of<Kill>(rig.live(seconds(29))).empty());
    EXPECT_EQ(all_of<Kill>(rig.live(seconds(1))).size(), 1U);
    const auto actions =
        rig.step(Exited{.task = kTask, .exit = {.known = true, .signal = SIGKILL}, .has_files = true});
    EXPECT_EQ(all_of<StageOutputs>(actions).size(), 1U);
    EXPECT_EQ(reports_in(actions).at(0).phase, TaskPhase::Finalizing);
    const auto end = reports_in(rig.step(OutputsStaged{.task = kTask, .any = true})).at(0).end;
    EXPECT_EQ(end.reason, EndReason::Preempted);
    EXPECT_EQ(end.signal, SIGKILL);
    EXPECT_TRUE(end.has_outputs);
}

TEST(Machine, TakesATaskThatFinishesInTheGraceOfAPreemptionForDone) {
    const std::vector<std::pair<ports::TaskExit, EndReason>> table{
        {{.known = true}, EndReason::Exited},
        {{.known = true, .exit_code = 1}, EndReason::Preempted},
        {{.known = true, .exit_code = 128 + SIGTERM}, EndReason::Preempted},
        {{.known = true, .signal = SIGTERM}, EndReason::Preempted},
        {{.known = true, .signal = SIGKILL, .out_of_memory = true}, EndReason::Preempted},
        {{.known = false}, EndReason::Preempted},
    };
    for (const auto& [how, reason] : table) {
        Rig rig;
        rig.run(kTask);
        rig.hear(StopTask{.task = kTask, .grace_micros = 5'000'000, .preempted = true});
        const auto end = reports_in(rig.exit(kTask, how)).at(0).end;
        EXPECT_EQ(end.reason, reason);
        EXPECT_EQ(end.succeeded(), reason == EndReason::Exited);
    }
    Rig stopped;
    stopped.run(kTask);
    stopped.hear(StopTask{.task = kTask, .grace_micros = 5'000'000});
    EXPECT_EQ(reports_in(stopped.exit(kTask)).at(0).end.reason, EndReason::Stopped)
        << "one that was to be stopped has not finished";
}

TEST(Machine, PreemptsATaskThatDoesNotRunYet) {
    const StopTask preempt{.task = kTask, .grace_micros = 5'000'000, .preempted = true};
    Rig preparing;
    preparing.hear(StartTask{.task = kTask});
    const auto actions = preparing.hear(preempt);
    EXPECT_EQ(all_of<CancelPrepare>(actions).size(), 1U);
    EXPECT_EQ(reports_in(actions).at(0).end.reason, EndReason::Preempted);
    EXPECT_TRUE(preparing.step(Prepared{.task = kTask}).empty()) << "launched after all";
    Rig launching;
    launching.hear(StartTask{.task = kTask});
    launching.step(Prepared{.task = kTask});
    EXPECT_TRUE(launching.hear(preempt).empty());
    EXPECT_EQ(all_of<Signal>(launching.step(Launched{kTask})).size(), 1U);
    Rig failing;
    failing.hear(StartTask{.task = kTask});
    failing.step(Prepared{.task = kTask});
    failing.hear(preempt);
    const auto failed = failing.step(LaunchFailed{.task = kTask, .message = "no"});
    EXPECT_EQ(reports_in(failed).at(0).end.reason, EndReason::Preempted);
}

TEST(Machine, KeepsTheFirstReasonToStopATask) {
    const StopTask preempt{.task = kTask, .grace_micros = 5'000'000, .preempted = true};
    const StopTask cancel{.task = kTask, .grace_micros = 1'000'000};
    for (const bool preempted_first : {true, false}) {
        Rig rig;
        rig.run(kTask);
        rig.hear(preempted_first ? preempt : cancel);
        rig.hear(preempted_first ? cancel : preempt);
        EXPECT_EQ(all_of<Kill>(rig.after(seconds(1))).size(), 1U) << "the shorter grace counts";
        EXPECT_EQ(reports_in(rig.exit(kTask, {.known = true, .signal = SIGKILL})).at(0).end.reason,
                  preempted_first ? EndReason::Preempted : EndReason::Stopped);
    }
}

TEST(Machine, RunsTheRanksOfOneJobSideBySide) {
    const TaskRef second{{7}, 1, 1};
    const TaskRef next_second{{7}, 2, 1};
    Rig rig;
    for (const TaskRef& task : {kTask, second}) {
        EXPECT_EQ(all_of<Prepare>(rig.hear(StartTask{.task = task, .processes = 2})).size(), 1U);
        rig.step(Prepared{.task = task});
        rig.step(Launched{task});
    }
    const auto actions = rig.exit(kTask, {.known = true, .exit_code = 1});
    EXPECT_EQ(reports_in(actions).at(0).task, kTask);
    EXPECT_EQ(rig.phase(second), TaskPhase::Running);
    rig.hear(ForgetTask{kTask});
    EXPECT_EQ(rig.phase(second), TaskPhase::Running);
    EXPECT_TRUE(all_of<Prepare>(rig.hear(StartTask{.task = next_second, .processes = 2})).empty())
        << "a rank of the next attempt beside one of the last";
    EXPECT_TRUE(all_of<Prepare>(rig.hear(StartTask{.task = kNext, .processes = 2})).empty());
    EXPECT_EQ(all_of<Prepare>(rig.exit(second)).size(), 2U);
}

TEST(Machine, StartsANewAttemptOnlyWhenEveryRankOfTheOldOneIsDead) {
    const TaskRef second{{7}, 1, 1};
    Rig rig;
    rig.hear(StartTask{.task = kTask, .processes = 2});  // still being prepared, and gone at once
    rig.run(second);
    auto actions = rig.hear(StartTask{.task = kNext, .processes = 2});
    EXPECT_EQ(all_of<Kill>(actions).at(0).task, second);
    EXPECT_TRUE(all_of<Prepare>(actions).empty());
    EXPECT_EQ(all_of<Prepare>(rig.exit(second)).at(0).start.task, kNext);
}

TEST(Machine, CountsTheTimeoutFromRunning) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    rig.live(minutes(5));
    rig.step(Prepared{.task = kTask, .timeout = seconds(30)});
    rig.step(Launched{kTask});
    EXPECT_TRUE(all_of<Signal>(rig.live(seconds(29))).empty());
    EXPECT_EQ(all_of<Signal>(rig.live(seconds(1))).size(), 1U);
    EXPECT_TRUE(all_of<Kill>(rig.live(seconds(9))).empty());
    EXPECT_EQ(all_of<Kill>(rig.live(seconds(1))).size(), 1U);
    EXPECT_EQ(reports_in(rig.exit(kTask, {.known = true, .signal = SIGTERM})).at(0).end.reason,
              EndReason::Timeout);
}

TEST(Machine, KnowsWhetherATaskEndsByItself) {
    Rig rig;
    EXPECT_FALSE(rig.machine().ends_by_itself(kTask));
    rig.run(kTask, seconds(30));
    EXPECT_TRUE(rig.machine().ends_by_itself(kTask));
    rig.live(seconds(31));
    EXPECT_TRUE(rig.machine().ends_by_itself(kTask)) << "a time-out is its own fault";
    Rig other;
    other.run(kTask);
    other.hear(StopTask{.task = kTask, .grace_micros = 1});
    EXPECT_FALSE(other.machine().ends_by_itself(kTask));
    Rig third;
    third.run(kTask);
    third.hear(ForgetTask{kTask});
    EXPECT_FALSE(third.machine().ends_by_itself(kTask));
}

TEST(Machine, KeepsTheTimeoutOfARecoveredTask) {
    Machine machine(Hello{}, {});
    const Instant now = from_micros(9'000'000'000);
    (void)machine.step(
        Started{.tasks = {{.task = kTask, .running_since = now - seconds(20), .timeout = seconds(30)}}}, now);
    EXPECT_EQ(machine.next_wake(), now + seconds(10));
    EXPECT_EQ(all_of<Signal>(machine.step(Tick{}, now + seconds(10))).size(), 1U);
}

TEST(Machine, TellsATimeoutThatAnEarlierAgentEnforced) {
    Rig rig;
    rig.run(kTask, minutes(1));
    const auto end =
        reports_in(rig.exit(kTask, {.known = true, .signal = SIGTERM, .usage = {.wall_micros = 61'000'000}}))
            .at(0)
            .end;
    EXPECT_EQ(end.reason, EndReason::Timeout);
}

TEST(Machine, MapsEveryKindOfExit) {
    const std::vector<std::pair<ports::TaskExit, EndReason>> table{
        {{.known = true, .exit_code = 3}, EndReason::Exited},
        {{.known = true, .signal = 11}, EndReason::Signaled},
        {{.known = true, .signal = 9, .out_of_memory = true}, EndReason::OutOfMemory},
        {{.known = false}, EndReason::NodeLost},
    };
    int job = 100;
    Rig rig;
    for (const auto& [how, reason] : table) {
        const TaskRef task{{++job}, 1, 0};
        rig.run(task);
        const auto end = reports_in(rig.exit(task, how)).at(0).end;
        EXPECT_EQ(end.reason, reason);
        EXPECT_EQ(end.exit_code, how.exit_code);
        EXPECT_EQ(end.signal, how.signal);
    }
}

TEST(Machine, KillsEverythingWhenTheLeaseRunsOut) {
    Rig rig;
    const TaskRef preparing{{8}, 1, 0};
    rig.run(kTask);
    rig.hear(StartTask{.task = preparing});
    rig.step(LinkDown{Link::Control});
    rig.step(LinkDown{Link::Bulk});
    EXPECT_TRUE(rig.after(seconds(599)).empty());
    const auto actions = rig.after(seconds(1));
    EXPECT_EQ(all_of<Kill>(actions).at(0).task, kTask);
    EXPECT_EQ(all_of<CancelPrepare>(actions).at(0).task, preparing);
    EXPECT_TRUE(rig.exit(kTask, {.known = true, .signal = SIGKILL}).empty());
    const auto hello = hellos_in(rig.step(LinkUp{Link::Control})).at(0);
    ASSERT_EQ(hello.tasks.size(), 2U);
    for (const TaskReport& report : hello.tasks) {
        EXPECT_EQ(report.phase, TaskPhase::Ended);
        EXPECT_EQ(report.end.reason, EndReason::LeaseExpired);
    }
}

TEST(Machine, CountsTheLeaseFromWhatTheServerHeardNotFromItsAnswer) {
    Rig rig;
    rig.run(kTask);
    const auto beats = all_of<Say>(rig.after(seconds(10)));  // heartbeat 1, said at 10 s
    ASSERT_EQ(std::get<Heartbeat>(beats.at(0).message).number, 1);
    rig.after(seconds(100));
    rig.hear(Welcome{.heard = 1});  // the answer took 100 s
    rig.step(LinkDown{Link::Control});
    EXPECT_TRUE(all_of<Kill>(rig.after(seconds(499))).empty());
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(1))).size(), 1U);
}

TEST(Machine, DoesNotTakeAnUnansweredLinkForALivingServer) {
    Rig rig;
    rig.run(kTask);
    for (int i = 0; i < 59; ++i) EXPECT_TRUE(all_of<Kill>(rig.after(seconds(10))).empty());
    EXPECT_EQ(all_of<Kill>(rig.after(seconds(10))).size(), 1U);
}

TEST(Machine, LivesForeverWhileHeartbeatsAreAnswered) {
    Rig rig;
    rig.run(kTask);
    const auto actions = rig.live(std::chrono::hours(24));
    EXPECT_TRUE(all_of<Kill>(actions).empty());
    EXPECT_EQ(all_of<Say>(actions).size(), 8640U);
    EXPECT_EQ(rig.phase(kTask), TaskPhase::Running);
}

TEST(Machine, GivesTheLeaseAGraceAfterASuspendWhenToldTo) {
    Rig strict;
    strict.run(kTask);
    EXPECT_EQ(all_of<Kill>(strict.after(std::chrono::hours(8))).size(), 1U);
    Rig lenient(MachineSettings{.wake_grace = seconds(30)});
    lenient.run(kTask);
    EXPECT_TRUE(all_of<Kill>(lenient.after(std::chrono::hours(8))).empty());
    lenient.live(minutes(1));
    EXPECT_EQ(lenient.phase(kTask), TaskPhase::Running);
}

TEST(Machine, RemembersTheLeaseOfAnEarlierProcess) {
    Machine machine(Hello{}, {});
    const Instant now = from_micros(9'000'000'000);
    const auto actions =
        machine.step(Started{.tasks = {{.task = kTask}}, .heard_at = now - minutes(11)}, now);
    EXPECT_EQ(all_of<Kill>(actions).size(), 1U);
}

TEST(Machine, RepeatsAnEndInEveryHelloUntilItIsForgotten) {
    Rig rig;
    rig.run(kTask);
    rig.exit(kTask, {.known = true, .exit_code = 4});
    for (int i = 0; i < 3; ++i) {
        rig.step(LinkDown{Link::Control});
        const auto hello = hellos_in(rig.step(LinkUp{Link::Control})).at(0);
        EXPECT_EQ(hello.tasks.at(0).end.exit_code, 4);
    }
    rig.hear(ForgetTask{kTask});
    rig.step(LinkDown{Link::Control});
    EXPECT_TRUE(hellos_in(rig.step(LinkUp{Link::Control})).at(0).tasks.empty());
}

TEST(Machine, RepeatsAnUnansweredEndWithTheHeartbeats) {
    Rig rig;
    rig.run(kTask);
    rig.exit(kTask);
    EXPECT_EQ(reports_in(rig.live(seconds(35))).size(), 3U);
}

TEST(Machine, KillsAForgottenTaskThatStillRunsAndSaysNothingOfItsEnd) {
    Rig rig;
    rig.run(kTask);
    const auto actions = rig.hear(ForgetTask{kTask});
    ASSERT_EQ(actions.size(), 1U);
    EXPECT_EQ(all_of<Kill>(actions).at(0).task, kTask);
    const auto after = rig.exit(kTask);
    ASSERT_EQ(after.size(), 1U);
    EXPECT_EQ(all_of<Forget>(after).size(), 1U);
}

TEST(Machine, ForgetsAPreparingOrLaunchingTask) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    auto actions = rig.hear(ForgetTask{kTask});
    EXPECT_EQ(all_of<CancelPrepare>(actions).size(), 1U);
    EXPECT_EQ(all_of<Forget>(actions).size(), 1U);
    rig.hear(StartTask{.task = kNext});
    rig.step(Prepared{.task = kNext});
    EXPECT_TRUE(rig.hear(ForgetTask{kNext}).empty());
    actions = rig.step(Launched{kNext});
    EXPECT_EQ(all_of<Kill>(actions).size(), 1U);
    EXPECT_TRUE(reports_in(actions).empty());
    EXPECT_EQ(all_of<Forget>(rig.exit(kNext)).size(), 1U);
}

TEST(Machine, KillsAllAndLeavesWhenTheNodeIsReleased) {
    for (const Event& event : {Event{FromServer{ReleaseNode{}}}, Event{Refused{}}}) {
        Rig rig;
        const TaskRef preparing{{8}, 1, 0};
        rig.run(kTask);
        rig.hear(StartTask{.task = preparing});
        const auto actions = rig.step(event);
        ASSERT_EQ(actions.size(), 3U);
        EXPECT_TRUE(std::holds_alternative<Leave>(actions.back()));
        EXPECT_EQ(all_of<Kill>(actions).size(), 1U);
        EXPECT_TRUE(rig.machine().has_left());
        EXPECT_TRUE(rig.hear(StartTask{.task = {{9}, 1, 0}}).empty());
        EXPECT_EQ(rig.machine().next_wake(), std::nullopt);
    }
}

TEST(Machine, LeavesWhenNobodyComesForItAnyMore) {
    Rig idle;
    idle.step(LinkDown{Link::Control});
    EXPECT_EQ(idle.machine().next_wake(), idle.now() + std::chrono::hours(2));
    EXPECT_EQ(all_of<Leave>(idle.after(std::chrono::hours(2))).size(), 1U);
    Rig busy;
    busy.run(kTask);
    busy.step(LinkDown{Link::Control});
    busy.live(minutes(20));
    busy.exit(kTask);
    EXPECT_TRUE(busy.live(std::chrono::hours(48)).empty()) << "its end is not told yet";
}

TEST(Machine, ReportsAFailedPreparationAfterItsLogIsSafe) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    auto actions = rig.step(
        Prepared{.task = kTask, .problem = PrepareProblem{"DataNotFound", "no such blob"}, .log_bytes = 20});
    EXPECT_TRUE(reports_in(actions).empty());
    actions = rig.hear(LogDurable{.task = kTask, .bytes = 20});
    const auto end = reports_in(actions).at(0).end;
    EXPECT_EQ(end.reason, EndReason::PrepareFailed);
    EXPECT_EQ(end.error_code, "DataNotFound");
}

TEST(Machine, ReportsAFailedLaunch) {
    Rig rig;
    rig.hear(StartTask{.task = kTask});
    rig.step(Prepared{.task = kTask});
    const auto end = reports_in(rig.step(LaunchFailed{.task = kTask, .message = "no fork"})).at(0).end;
    EXPECT_EQ(end.reason, EndReason::PrepareFailed);
    EXPECT_EQ(end.message, "no fork");
}

TEST(Machine, FailsATaskWhoseOutputsCannotBeKept) {
    Rig rig;
    rig.run(kTask);
    rig.step(Exited{.task = kTask, .exit = {.known = true}, .has_files = true});
    const auto end = reports_in(rig.step(OutputsStaged{.task = kTask, .problem = "disk full"})).at(0).end;
    EXPECT_FALSE(end.succeeded());
    EXPECT_EQ(end.message, "disk full");
    rig.run({{8}, 1, 0});
    rig.step(Exited{
        .task = {{8}, 1, 0}, .exit = {.known = true, .exit_code = 2}, .message = "m", .has_files = true});
    const auto other =
        reports_in(rig.step(OutputsStaged{.task = {{8}, 1, 0}, .problem = "disk full"})).at(0).end;
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_EQ(other.reason, EndReason::Exited);
    EXPECT_EQ(other.message, "m; disk full");
}

TEST(Machine, ResendsTheLogFromTheDurableOffsetOnANewLink) {
    Rig rig;
    rig.run(kTask);
    rig.step(LogGrew{kTask, 100});
    rig.hear(LogDurable{.task = kTask, .bytes = 40});
    rig.step(LinkDown{Link::Bulk});
    EXPECT_TRUE(rig.step(LogGrew{kTask, 120}).empty());
    const auto sent = all_of<SendLog>(rig.step(LinkUp{Link::Bulk})).at(0);
    EXPECT_EQ(sent.from, 40U);
    EXPECT_EQ(sent.to, 120U);
}

TEST(Machine, BoundsWhatIsSentAndNotYetDurable) {
    Rig rig(MachineSettings{.log_window_bytes = 100});
    rig.run(kTask);
    EXPECT_EQ(all_of<SendLog>(rig.step(LogGrew{kTask, 250})).at(0).to, 100U);
    EXPECT_TRUE(all_of<SendLog>(rig.step(LogGrew{kTask, 260})).empty());
    const auto more = all_of<SendLog>(rig.hear(LogDurable{.task = kTask, .bytes = 100})).at(0);
    EXPECT_EQ(more.from, 100U);
    EXPECT_EQ(more.to, 200U);
}

TEST(Machine, ResendsALogThatMadeNoProgressForAWholeHeartbeat) {
    Rig rig;
    rig.run(kTask);
    rig.step(LogGrew{kTask, 50});
    EXPECT_TRUE(all_of<SendLog>(rig.after(seconds(10))).empty());
    EXPECT_EQ(all_of<SendLog>(rig.after(seconds(10))).at(0).from, 0U);
}

TEST(Machine, SaysNothingWithoutALinkAndEverythingInTheHello) {
    Rig rig;
    rig.step(LinkDown{Link::Control});
    rig.run(kTask);
    EXPECT_EQ(rig.phase(kTask), TaskPhase::Running);
    const auto hello = hellos_in(rig.step(LinkUp{Link::Control})).at(0);
    EXPECT_EQ(hello.node, NodeId{3});
    EXPECT_EQ(hello.tasks.at(0).phase, TaskPhase::Running);
}

TEST(Machine, RefusesMoreTasksThanItMayHold) {
    Rig rig(MachineSettings{.tasks_max = 1});
    rig.hear(StartTask{.task = kTask});
    const auto actions = rig.hear(StartTask{.task = {{8}, 1, 0}});
    EXPECT_TRUE(all_of<Prepare>(actions).empty());
    EXPECT_EQ(reports_in(actions).at(0).end.reason, EndReason::PrepareFailed);
}

TEST(Machine, IgnoresEventsOfUnknownTasks) {
    Rig rig;
    EXPECT_TRUE(rig.step(Prepared{.task = kTask}).empty());
    EXPECT_TRUE(rig.step(Launched{kTask}).empty());
    EXPECT_TRUE(rig.step(LaunchFailed{.task = kTask}).empty());
    EXPECT_TRUE(rig.exit(kTask).empty());
    EXPECT_TRUE(rig.step(LogGrew{kTask, 1}).empty());
    EXPECT_TRUE(rig.step(OutputsStaged{.task = kTask}).empty());
    EXPECT_TRUE(rig.hear(StopTask{.task = kTask}).empty());
    EXPECT_TRUE(rig.hear(ForgetTask{kTask}).empty());
    EXPECT_TRUE(rig.hear(LogDurable{.task = kTask, .bytes = 1}).empty());
}

}  // namespace
}  // namespace lavant::agent
