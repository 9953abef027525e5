// Jobs of several ranks and of several attempts: what each one sees, and what is left of it.

#include <gtest/gtest.h>

#include "core/model/workspace.h"
#include "tests/agent/agent_world.h"
#include "tests/support/wait_until.h"

namespace lavant::test {
namespace {

constexpr const char* kPlace = "azureml://datastores/workspaceblobstore/paths/azureml/";

std::string last_line(const std::string& log) {
    const std::size_t before = log.size() < 2 ? std::string::npos : log.rfind('\n', log.size() - 2);
    return before == std::string::npos ? log : log.substr(before + 1);
}

void wait_for_log(AgentWorld& world, const std::string& job, const std::string& text) {
    while (world.log_of(job).find(text) == std::string::npos) std::this_thread::yield();
}

std::string output_of(AgentWorld& world, const std::string& job, const std::string& name) {
    return world.read_blob(kArtifactContainer, artifact_prefix(job) + "outputs/" + name);
}

// The command says that it is to be tried again by this exit code.
JobHead tried_again(int processes = 1) {
    JobHead head;
    head.retry.on_exit_codes = {3};
    head.demand.processes = processes;
    return head;
}

TEST(AgentAttempts, RunsTwoRanksOnOneNodeWithALogForEach) {
    AgentWorld world;
    JobHead head;
    head.demand.processes = 2;
    world.submit(world.a_launch("gang",
                                "echo rank $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE on node "
                                "$NODE_RANK; echo $RANK > outputs/$RANK"),
                 head);
    const JobHead job = world.wait_for_end("gang");
    EXPECT_EQ(job.status, JobStatus::Completed) << (job.error ? job.error->message : "");
    EXPECT_EQ(last_line(world.log_of("gang", "std_log_process_0.txt")), "rank 0 of 2, 0 of 2 on node 0\n");
    EXPECT_EQ(last_line(world.log_of("gang", "std_log_process_1.txt")), "rank 1 of 2, 1 of 2 on node 0\n");
    EXPECT_EQ(world.log_of("gang"), "(none)");
    EXPECT_EQ(output_of(world, "gang", "0") + output_of(world, "gang", "1"), "0\n1\n");
    EXPECT_EQ(world.starts(), 2);
}

TEST(AgentAttempts, EndsAllRanksWithTheFirstCause) {
    AgentWorld world;
    JobHead head;
    head.demand.processes = 2;
    world.submit(world.a_launch("gang", "if [ $RANK = 1 ]; then echo broken; exit 5; fi; exec sleep 1000"),
                 head);
    const JobHead job = world.wait_for_end("gang");
    EXPECT_EQ(job.status, JobStatus::Failed);
    ASSERT_TRUE(job.error);
    EXPECT_EQ(job.error->exit_code, 5) << job.error->message;
    EXPECT_EQ(last_line(world.log_of("gang", "std_log_process_1.txt")), "broken\n");
}

TEST(AgentAttempts, CarriesOnWithWhatTheLastAttemptLeft) {
    AgentWorld world;
    Launch launch = world.a_launch(
        "steps",
        "n=$(cat outputs/deep/n || echo 0); n=$((n+1)); mkdir -p outputs/deep; echo $n > outputs/deep/n; "
        "[ $n = 1 ] && echo of the first > outputs/once; cat outputs/once; "
        "echo line $n >> ${{outputs.o}}/all; echo $n > ${{outputs.m}}.new; cat ${{outputs.m}}; "
        "mv ${{outputs.m}}.new ${{outputs.m}}; echo $n; [ $n = 3 ] || exit 3");
    launch.outputs = {{"o", "uri_folder", "rw_mount", std::string(kPlace) + "steps/o/"},
                      {"m", "uri_file", "rw_mount", std::string(kPlace) + "steps/m.txt"}};
    world.submit(launch, tried_again());
    const JobHead job = world.wait_for_end("steps");
    EXPECT_EQ(job.status, JobStatus::Completed) << world.log_of("steps");
    EXPECT_EQ(job.attempt, 3);
    EXPECT_EQ(output_of(world, "steps", "deep/n"), "3\n");
    EXPECT_EQ(output_of(world, "steps", "once"), "of the first\n");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/steps/o/all"), "line 1\nline 2\nline 3\n");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/steps/m.txt"), "3\n");
    EXPECT_TRUE(world.log_of("steps").ends_with("of the first\n2\n3\n")) << world.log_of("steps");
    EXPECT_TRUE(world.log_of("steps", "attempt_2/std_log.txt").ends_with("of the first\n1\n2\n"));
    EXPECT_EQ(last_line(world.log_of("steps", "attempt_1/std_log.txt")), "1\n");
}

TEST(AgentAttempts, ShowsAShortLogOfAnAttemptThatWasFollowedByAnother) {
    AgentWorld world;
    world.submit(world.a_launch("short", "echo $LAVANT_ATTEMPT; [ $LAVANT_ATTEMPT = 2 ] || exit 3"),
                 tried_again());
    EXPECT_EQ(world.wait_for_end("short").status, JobStatus::Completed);
    EXPECT_EQ(last_line(world.log_of("short")), "2\n");
    EXPECT_EQ(last_line(world.log_of("short", "attempt_1/std_log.txt")), "1\n");
}

TEST(AgentAttempts, KeepsWhatARankWroteWhenAnotherLeftItAsItWas) {
    AgentWorld world;
    world.submit(
        world.a_launch("ranks",
                       "cat outputs/model; if [ $RANK = 0 ]; then echo $LAVANT_ATTEMPT > outputs/model; "
                       "[ $LAVANT_ATTEMPT = 3 ] || exit 3; fi"),
        tried_again(2));
    EXPECT_EQ(world.wait_for_end("ranks").status, JobStatus::Completed);
    EXPECT_EQ(output_of(world, "ranks", "model"), "3\n");
    EXPECT_EQ(last_line(world.log_of("ranks", "std_log_process_1.txt")), "2\n");
    EXPECT_NE(world.log_of("ranks", "attempt_1/std_log_process_0.txt"), "(none)");
}

TEST(AgentAttempts, LeavesAloneWhatOthersWroteMeanwhileAlsoAfterARestartOfTheAgent) {
    AgentWorld world;
    TemporaryFolder folder;
    const std::string go = folder / "go";
    Launch launch = world.a_launch("shared",
                                   "echo $LAVANT_ATTEMPT > ${{outputs.o}}/own; "
                                   "if [ $LAVANT_ATTEMPT = 1 ]; then echo old > ${{outputs.o}}/both; "
                                   "exit 3; fi; echo up; while ! [ -e " +
                                       go + " ]; do sleep 0.01; done; cat ${{outputs.o}}/both");
    launch.outputs = {{"o", "uri_folder", "rw_mount", std::string(kPlace) + "together/"}};
    world.submit(launch, tried_again());
    wait_for_log(world, "shared", "up\n");
    ASSERT_TRUE(world.blobs().put_bytes(kBlobContainer, "azureml/together/both", "new\n"));
    world.end_agents();
    ASSERT_TRUE(write_file_atomically(go, ""));
    world.reconcile();
    EXPECT_EQ(world.wait_for_end("shared").status, JobStatus::Completed);
    EXPECT_EQ(last_line(world.log_of("shared")), "old\n");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/together/own"), "2\n");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/together/both"), "new\n");
}

TEST(AgentAttempts, RunsAPreemptedJobAgainWithItsOutputs) {
    AgentWorld world;
    world.submit(world.a_launch(
        "spot",
        "if [ -e outputs/state ]; then cat outputs/state; exit 0; fi; "
        "trap 'echo saved > outputs/state; exit 1' TERM; echo up; while true; do sleep 0.01; done"));
    wait_for_log(world, "spot", "up\n");
    world.evict();
    const JobHead job = world.wait_for_end("spot");
    EXPECT_EQ(job.status, JobStatus::Completed) << (job.error ? job.error->message : "");
    EXPECT_EQ(job.attempt, 2);
    EXPECT_EQ(job.preemptions, 1);
    EXPECT_EQ(last_line(world.log_of("spot")), "saved\n");
    EXPECT_NE(world.log_of("spot", "attempt_1/std_log.txt").find("up\n"), std::string::npos);
    EXPECT_EQ(output_of(world, "spot", "state"), "saved\n");
}

TEST(AgentAttempts, KillsAPreemptedJobAfterItsGraceAndKeepsItsOutputs) {
    AgentWorld world;
    JobHead head;
    head.demand.grace = std::chrono::milliseconds(200);
    world.submit(
        world.a_launch("stubborn",
                       "if [ -e outputs/half ]; then exit 0; fi; trap '' TERM; echo x > outputs/half; "
                       "echo up; while true; do sleep 0.01; done"),
        head);
    wait_for_log(world, "stubborn", "up\n");
    world.evict();
    EXPECT_EQ(world.wait_for_end("stubborn").status, JobStatus::Completed);
    EXPECT_EQ(output_of(world, "stubborn", "half"), "x\n");
}

TEST(AgentAttempts, TakesAPreemptedJobThatFinishesInItsGraceForDone) {
    AgentWorld world;
    world.submit(world.a_launch(
        "last", "trap 'echo done > outputs/x; exit 0' TERM; echo up; while true; do sleep 0.01; done"));
    wait_for_log(world, "last", "up\n");
    world.evict();
    const JobHead job = world.wait_for_end("last");
    EXPECT_EQ(job.status, JobStatus::Completed);
    EXPECT_EQ(job.attempt, 1);
    EXPECT_EQ(output_of(world, "last", "x"), "done\n");
}

}  // namespace
}  // namespace lavant::test
