#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/model/workspace.h"
#include "tests/agent/agent_world.h"
#include "tests/support/wait_until.h"

namespace lavant::test {
namespace {

// The log without the lines that we add ourselves.
std::string written_by_the_command(const std::string& log) {
    std::string rest = log;
    while (rest.starts_with("lavant: ")) rest.erase(0, rest.find('\n') + 1);
    return rest;
}

std::string numbered_lines(int count) {
    std::string all;
    for (int i = 1; i <= count; ++i) all += "line " + std::to_string(i) + "\n";
    return all;
}

// Says its lines one by one, each after the file `go` has grown by one byte: tests decide how far it gets.
std::string stepwise(const std::string& go, int lines) {
    return "for i in $(seq 1 " + std::to_string(lines) + "); do while [ $(stat -c %s " + go +
           " 2>/dev/null || echo 0) -lt $i ]; do sleep 0.01; done; echo line $i; done";
}

void let_go(const std::string& go, int steps) {
    std::ofstream(go, std::ios::app) << std::string(static_cast<std::size_t>(steps), '.');
}

void wait_for_log(AgentWorld& world, const std::string& job, const std::string& text) {
    while (world.log_of(job).find(text) == std::string::npos) std::this_thread::yield();
}

TEST(AgentWhole, RunsACommandAndKeepsItsLog) {
    AgentWorld world;
    world.submit(world.a_launch("hello", "echo hello; printf 'no newline'"));
    const JobHead job = world.wait_for_end("hello");
    EXPECT_EQ(job.status, JobStatus::Completed) << (job.error ? job.error->message : "");
    const std::string log = world.log_of("hello");
    EXPECT_TRUE(log.starts_with("lavant: attempt 1 of hello, environment host"));
    EXPECT_EQ(written_by_the_command(log), "hello\nno newline");
}

TEST(AgentWhole, RunsManyJobsOnWarmNodes) {
    AgentWorld world;
    for (int i = 0; i < 50; ++i)
        world.submit(world.a_launch("j" + std::to_string(i), "echo " + std::to_string(i)));
    for (int i = 0; i < 50; ++i) {
        const std::string name = "j" + std::to_string(i);
        EXPECT_EQ(world.wait_for_end(name).status, JobStatus::Completed);
        EXPECT_EQ(written_by_the_command(world.log_of(name)), std::to_string(i) + "\n");
    }
    EXPECT_EQ(world.starts(), 50);
}

TEST(AgentWhole, BringsCodeAndInputsAndKeepsOutputs) {
    AgentWorld world;
    ASSERT_TRUE(
        world.blobs().put_bytes("code-1", "src/main.sh", "cat lib/text \"$1\" \"$2/b\" > \"$3/all\""));
    ASSERT_TRUE(world.blobs().put_bytes("code-1", "src/lib/text", "code\n"));
    ASSERT_TRUE(world.blobs().put_bytes(kBlobContainer, "in/a file.txt", "input a\n"));
    ASSERT_TRUE(world.blobs().put_bytes(kBlobContainer, "in/set/b", "input b\n"));
    Launch launch =
        world.a_launch("data",
                       "bash main.sh \"${{inputs.f}}\" ${{inputs.d}} ${{outputs.o}}; echo $AZUREML_RUN_ID"
                       " > outputs/run; mkdir logs/sub; echo l > logs/sub/x; echo 3 > ${{outputs.m}}");
    launch.code_uri = "code-1/src";
    launch.code_hash = "abc";
    launch.inputs = {
        {"f", "uri_file", "ro_mount", "azureml://datastores/workspaceblobstore/paths/in/a file.txt"},
        {"d", "uri_folder", "ro_mount", "azureml://datastores/workspaceblobstore/paths/in/set"}};
    launch.outputs = {
        {"o", "uri_folder", "rw_mount", "azureml://datastores/workspaceblobstore/paths/azureml/data/o/"},
        {"m", "uri_file", "rw_mount", "azureml://datastores/workspaceblobstore/paths/azureml/data/m.txt"}};
    world.submit(launch);
    const JobHead job = world.wait_for_end("data");
    EXPECT_EQ(job.status, JobStatus::Completed)
        << world.log_of("data") << (job.error ? job.error->message : "");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/data/o/all"), "code\ninput a\ninput b\n");
    EXPECT_EQ(world.read_blob(kBlobContainer, "azureml/data/m.txt"), "3\n");
    EXPECT_EQ(world.read_blob(kArtifactContainer, artifact_prefix("data") + "outputs/run"), "data\n");
    EXPECT_EQ(world.read_blob(kArtifactContainer, artifact_prefix("data") + "logs/sub/x"), "l\n");
}

TEST(AgentWhole, SaysWhyAJobFailed) {
    AgentWorld world;
    world.submit(world.a_launch("none", "no-such-command --x"));
    const JobHead none = world.wait_for_end("none");
    ASSERT_TRUE(none.error);
    EXPECT_EQ(none.status, JobStatus::Failed);
    EXPECT_EQ(none.error->exit_code, 127);
    EXPECT_NE(none.error->message.find("a program was not found"), std::string::npos) << none.error->message;
    world.submit(world.a_launch("trace", "python3 -c 'raise ValueError(\"no column\")'"));
    EXPECT_EQ(world.wait_for_end("trace").error->traceback_line, "ValueError: no column");
    Launch launch = world.a_launch("missing", "true");
    launch.inputs = {{"f", "uri_file", "ro_mount", "azureml://datastores/workspaceblobstore/paths/none"}};
    world.submit(launch);
    const JobHead missing = world.wait_for_end("missing");
    EXPECT_EQ(missing.error->code, "DataNotFound") << missing.error->message;
    EXPECT_NE(world.log_of("missing").find("input 'f'"), std::string::npos);
}

TEST(AgentWhole, KeepsOutputsOfAFailedJob) {
    AgentWorld world;
    world.submit(world.a_launch("bad", "echo half > outputs/part; exit 3"));
    EXPECT_EQ(world.wait_for_end("bad").status, JobStatus::Failed);
    EXPECT_EQ(world.read_blob(kArtifactContainer, artifact_prefix("bad") + "outputs/part"), "half\n");
}

// The folder that the last line of a log names, empty if it names none.
std::string kept_folder(const std::string& log) {
    const std::size_t last = log.rfind('\n', log.size() - 2);
    const std::string line = log.substr(last == std::string::npos ? 0 : last + 1);
    const std::size_t at = line.find(" at /");
    if (!line.starts_with("lavant: the task failed; its folder is kept") || at == std::string::npos)
        return "";
    return line.substr(at + 4, line.size() - at - 5);
}

TEST(AgentWhole, KeepsTheFolderOfAFailedTaskWhenAskedTo) {
    AgentWorld world;
    Launch launch = world.a_launch("bad", "echo half > part; printf 'no newline'; exit 3");
    launch.keep_on_failure = true;
    world.submit(launch);
    EXPECT_EQ(world.wait_for_end("bad").status, JobStatus::Failed);
    const std::string folder = kept_folder(world.log_of("bad"));
    ASSERT_NE(folder, "") << world.log_of("bad");
    EXPECT_TRUE(wait_until([&] { return exists(folder + "/wd/part"); })) << folder;
    EXPECT_TRUE(exists(folder + "/std_log.txt"));

    launch = world.a_launch("good", "echo fine");
    launch.keep_on_failure = true;
    world.submit(launch);
    EXPECT_EQ(world.wait_for_end("good").status, JobStatus::Completed);
    EXPECT_EQ(kept_folder(world.log_of("good")), "");

    launch = world.a_launch("stopped", "echo up; exec sleep 1000");
    launch.keep_on_failure = true;
    world.submit(launch);
    wait_for_log(world, "stopped", "up\n");
    world.cancel("stopped");
    EXPECT_EQ(world.wait_for_end("stopped").status, JobStatus::Canceled);
    EXPECT_EQ(kept_folder(world.log_of("stopped")), "");
}

TEST(AgentWhole, CancelsARunningJob) {
    AgentWorld world;
    world.submit(
        world.a_launch("long", "trap 'echo bye; exit 0' TERM; echo up; while true; do sleep 0.01; done"));
    wait_for_log(world, "long", "up\n");
    world.cancel("long");
    EXPECT_EQ(world.wait_for_end("long").status, JobStatus::Canceled);
    EXPECT_TRUE(world.log_of("long").ends_with("bye\n")) << world.log_of("long");
    world.submit(world.a_launch("stubborn", "trap '' TERM; echo up; while true; do sleep 0.01; done"));
    wait_for_log(world, "stubborn", "up\n");
    world.cancel("stubborn");
    EXPECT_EQ(world.wait_for_end("stubborn").status, JobStatus::Canceled);
}

TEST(AgentWhole, EndsAJobThatTakesTooLong) {
    AgentWorld world;
    Launch launch = world.a_launch("slow", "echo up; exec sleep 1000");
    launch.timeout_micros = 200'000;
    world.submit(launch);
    const JobHead job = world.wait_for_end("slow");
    ASSERT_TRUE(job.error);
    EXPECT_EQ(job.error->code, "Timeout");
}

TEST(AgentWhole, CollapsesProgressBars) {
    AgentWorld world;
    world.submit(world.a_launch("bar", "printf 'go\\n\\r10%%\\r50%%\\r100%%\\ndone\\n'"));
    (void)world.wait_for_end("bar");
    EXPECT_EQ(written_by_the_command(world.log_of("bar")), "go\n100%\ndone\n");
}

TEST(AgentWhole, LosesNothingWhenTheServerDies) {
    AgentWorld world;
    TemporaryFolder folder;
    const std::string go = folder / "go";
    world.submit(world.a_launch("steady", stepwise(go, 60)));
    for (int round = 0; round < 5; ++round) {
        let_go(go, 6);
        wait_for_log(world, "steady", "line " + std::to_string(round * 12 + 3) + "\n");
        world.end_server();
        let_go(go, 6);
        world.start_server();
    }
    EXPECT_EQ(world.wait_for_end("steady").status, JobStatus::Completed);
    EXPECT_EQ(written_by_the_command(world.log_of("steady")), numbered_lines(60));
    EXPECT_EQ(world.starts(), 1);
}

TEST(AgentWhole, LosesNothingWhenAnAgentDies) {
    AgentWorld world;
    TemporaryFolder folder;
    const std::string go = folder / "go";
    world.submit(world.a_launch("steady", stepwise(go, 60)));
    for (int round = 0; round < 5; ++round) {
        let_go(go, 6);
        wait_for_log(world, "steady", "line " + std::to_string(round * 12 + 3) + "\n");
        world.end_agents();
        let_go(go, 6);
        world.reconcile();
    }
    const JobHead job = world.wait_for_end("steady");
    EXPECT_EQ(job.status, JobStatus::Completed) << (job.error ? job.error->message : "");
    EXPECT_EQ(written_by_the_command(world.log_of("steady")), numbered_lines(60));
    EXPECT_EQ(world.starts(), 1);
}

TEST(AgentWhole, TellsTheEndOfATaskThatEndedWhileNoAgentWasThere) {
    AgentWorld world;
    TemporaryFolder folder;
    const std::string go = folder / "go";
    world.submit(world.a_launch(
        "orphan", stepwise(go, 2) + "; echo kept > outputs/x; echo gone > " + (folder / "end")));
    let_go(go, 1);
    wait_for_log(world, "orphan", "line 1\n");
    world.end_agents();
    let_go(go, 1);
    while (!exists(folder / "end")) std::this_thread::yield();
    world.reconcile();
    EXPECT_EQ(world.wait_for_end("orphan").status, JobStatus::Completed);
    EXPECT_EQ(written_by_the_command(world.log_of("orphan")), numbered_lines(2));
    EXPECT_EQ(world.read_blob(kArtifactContainer, artifact_prefix("orphan") + "outputs/x"), "kept\n");
}

TEST(AgentWhole, ShipsALogLargerThanItsWindow) {
    AgentWorld world;
    world.submit(world.a_launch("big", "for i in $(seq 1 4); do seq 1 300000; done"));
    EXPECT_EQ(world.wait_for_end("big").status, JobStatus::Completed);
    std::string one;
    for (int i = 1; i <= 300'000; ++i) one += std::to_string(i) + "\n";
    const std::string log = written_by_the_command(world.log_of("big"));
    EXPECT_TRUE(log == one + one + one + one) << log.size();
}

}  // namespace
}  // namespace lavant::test
