// Command jobs from YAML to the wire, with the files they name kept in memory.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/spec/command_job.h"
#include "wire/arm_job.h"
#include "wire/job_file.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using spec::CommandJobSpec;

constexpr const char* kTrainComponent = R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
name: train
version: 3
type: command
display_name: Train it
inputs:
  rate: {type: number, min: 0, max: 1}
  epochs: {type: integer, default: 3}
  kernel: {type: string, enum: [rbf, linear], default: rbf}
  data: {type: uri_folder, optional: true, mode: download}
outputs:
  model: {type: mlflow_model}
code: ./code
command: >-
  python t.py --rate ${{inputs.rate}} --epochs ${{inputs.epochs}}
  $[[--data ${{inputs.data}}]] --out ${{outputs.model}}
environment: azureml:e:1
resources: {instance_count: 2}
)";

const std::map<std::string, std::string>& files() {
    static const std::map<std::string, std::string> all = {
        {"/job/parts/train.yml", kTrainComponent},
        {"/job/conda.yml", "name: x\ndependencies: [python=3.12]\n"},
        {"/job/envs/env.yml", "name: mine\nversion: 4\nbuild: {path: ., dockerfile_path: D}\n"},
        {"/job/parts/bad.yml", "type: command\ncommand: x\nenvironment: { imag: a}\n"},
        {"/job/broken.yml", "a: [\n"},
        {"/job/data.csv", "1,2\n"},
    };
    return all;
}

spec::ComponentLoader memory_loader() {
    static const std::set<std::string> folders = {"/job/src", "/job/parts/code", "/job/docker", "/job/envs"};
    spec::ComponentLoader loader;
    loader.folder = "/job";
    loader.read_text = [](const std::string& path) -> Result<std::string> {
        const auto file = files().find(path);
        if (file == files().end()) return fail(ErrorCode::NotFound, "there is no file '" + path + "'");
        return file->second;
    };
    loader.load = [read = loader.read_text](const std::string& path) -> Result<spec::Document> {
        LAVANT_TRY(const std::string text, read(path));
        return parse_yaml(text, path);
    };
    loader.kind_of = [](const std::string& path) {
        if (folders.contains(path)) return spec::PathKind::Folder;
        return files().contains(path) ? spec::PathKind::File : spec::PathKind::Absent;
    };
    return loader;
}

Result<CommandJobSpec> parse(const std::string& yaml) {
    LAVANT_TRY(const spec::Document document, parse_yaml(yaml, "job.yml"));
    return spec::parse_command_job(document, memory_loader());
}

CommandJobSpec parsed(const std::string& yaml) {
    auto job = parse(yaml);
    EXPECT_TRUE(job) << job.error().message;
    return job ? std::move(*job) : CommandJobSpec{};
}

Json body_of(const CommandJobSpec& job) {
    Resolver as_written;
    auto body = to_arm_job(job, as_written);
    EXPECT_TRUE(body) << body.error().message;
    return body ? (*body)["properties"] : Json();
}

Json body(const std::string& yaml) { return body_of(parsed(yaml)); }

const std::string kSmall = "command: echo hi\nenvironment: azureml:e:1\n";

// Every problem as "path@line:column message".
std::vector<std::string> problems(const std::string& yaml) {
    std::vector<std::string> out;
    const auto job = parse(yaml);
    if (job) return out;
    for (const FieldProblem& problem : job.error().fields) {
        out.push_back(problem.path + "@" + std::to_string(problem.line) + ":" +
                      std::to_string(problem.column) + " " + problem.message);
    }
    return out;
}

// `more` is added to the smallest job; exactly one problem must come of it, with this beginning.
void check_problem(const std::string& more, const std::string& beginning) {
    const auto found = problems(kSmall + more);
    ASSERT_EQ(found.size(), 1U) << more
                                << (found.empty() ? " was accepted" : "\n" + found[0] + "\n" + found.back());
    EXPECT_TRUE(found[0].starts_with(beginning)) << found[0] << "\nwanted: " << beginning;
}

TEST(JobSpec, SmallestJobMakesTheSmallestBody) {
    EXPECT_EQ(body(kSmall).dump(),
              R"({"jobType":"Command","tags":{},"properties":{},"isArchived":false,"command":"echo hi",)"
              R"("environmentId":"e:1","environmentVariables":{},"inputs":{},"outputs":{}})");
}

TEST(JobSpec, EveryFieldReachesTheWire) {
    const Json job = body(R"(
$schema: http://azureml/sdk-2-0/CommandJob.json
type: command
name: n1
display_name: d
experiment_name: x
description: q
tags: {a: b}
properties: {p: q}
code: ./src
command: echo ${{inputs.a}} ${{outputs.o}} ${{name}}
compute: azureml:c
environment: azureml:e@latest
environment_variables: {A: '1', B: 2, C: true}
inputs:
  a: 1
  b: true
  c: 0.5
  d: hi
  e: {type: uri_folder, path: ./src, mode: download}
  f: {path: 'azureml:d:1'}
  g: {type: mltable, path: 'azureml:d@latest', mode: eval_mount}
  h: {value: 1.0}
  i: {type: integer, default: 3}
  j: {type: uri_file, path: 'file:./data.csv'}
outputs:
  o:
  p: {type: uri_file, mode: upload, path: 'azureml://datastores/d/paths/x', name: nm, version: 2}
resources: {instance_count: 2, instance_type: Standard_NC24, locations: [eastus],
            properties: {k: v, m: {a: 1}}, shm_size: 2g, docker_args: '--x', max_instance_count: 4}
queue_settings: {job_tier: spot, priority: Medium}
limits: {timeout: 100}
identity: {type: managed, client_id: abc}
services:
  s: {type: ssh, ssh_public_keys: k, nodes: all}
  t: {type: tensor_board, log_dir: x, port: 8000}
  j: {type: jupyter_lab, properties: {x: y}}
  v: {type: vs_code}
distribution: {type: tensorflow, worker_count: 2}
)");
    // Made by Azure's own client from the same file, less the two inputs only we take (h as 1.0, i).
    const Json expected =
        *parse_json(R"({"jobType":"Command","displayName":"d","description":"q","experimentName":"x",
"tags":{"a":"b"},"properties":{"p":"q"},"isArchived":false,"computeId":"c",
"command":"echo ${{inputs.a}} ${{outputs.o}} ${{name}}",
"codeId":"./src","environmentId":"e@latest",
"environmentVariables":{"A":"1","B":"2","C":"True"},
"inputs":{"a":{"jobInputType":"literal","value":"1"},"b":{"jobInputType":"literal","value":"True"},
"c":{"jobInputType":"literal","value":"0.5"},"d":{"jobInputType":"literal","value":"hi"},
"e":{"jobInputType":"uri_folder","uri":"./src","mode":"Download"},
"f":{"jobInputType":"uri_folder","uri":"d:1"},
"g":{"jobInputType":"mltable","uri":"d@latest","mode":"EvalMount"},
"h":{"jobInputType":"literal","value":"1.0"},
"i":{"jobInputType":"literal","value":"3"},"j":{"jobInputType":"uri_file","uri":"file:./data.csv"}},
"outputs":{"o":{"jobOutputType":"uri_folder"},
"p":{"jobOutputType":"uri_file","uri":"azureml://datastores/d/paths/x",
"mode":"Upload","assetName":"nm","assetVersion":"2"}},
"distribution":{"distributionType":"TensorFlow","parameterServerCount":0,"workerCount":2},
"resources":{"instanceCount":2,"instanceType":"Standard_NC24","locations":["eastus"],
"shmSize":"2g","dockerArgs":"--x",
"maxInstanceCount":4,"properties":{"k":"v","m":{"a":1}}},
"limits":{"jobLimitsType":"Command","timeout":"PT1M40S"},"queueSettings":{"jobTier":"Spot","priority":2},
"identity":{"identityType":"Managed","clientId":"abc"},
"services":{"s":{"jobServiceType":"SSH","nodes":{"nodesValueType":"All"},"properties":{"sshPublicKeys":"k"}},
"t":{"jobServiceType":"TensorBoard","port":8000,"properties":{"logDir":"x"}},
"j":{"jobServiceType":"JupyterLab","properties":{"x":"y"}},"v":{"jobServiceType":"VSCode"}}})");
    EXPECT_EQ(job.pretty(), expected.pretty());
}

TEST(JobSpec, RarerSpellingsReachTheWireToo) {
    const auto dumped = [](const std::string& more, const char* key) {
        return body(kSmall + more)[key].dump();
    };
    EXPECT_EQ(dumped("outputs: {o: {mode: mount}}\n", "outputs"),
              R"({"o":{"jobOutputType":"uri_folder","mode":"ReadWriteMount"}})");
    EXPECT_EQ(dumped("distribution: {type: Ray, port: 6379, include_dashboard: true}\n", "distribution"),
              R"({"distributionType":"Ray","port":6379,"includeDashboard":true})");
    EXPECT_EQ(dumped("distribution: {type: MPI}\n", "distribution"), R"({"distributionType":"Mpi"})");
    EXPECT_EQ(dumped("resources: {docker_args: [-a, -b]}\n", "resources"),
              R"({"dockerArgsList":["-a","-b"],"properties":{}})");
    EXPECT_EQ(dumped("resources: {docker_args_list: [-a]}\n", "resources"),
              R"({"dockerArgsList":["-a"],"properties":{}})");
    EXPECT_EQ(dumped("resources: {instance_count: '2'}\n", "resources"),
              R"({"instanceCount":2,"properties":{}})");
    EXPECT_EQ(dumped("queue_settings: {job_tier: PREMIUM, priority: High}\n", "queueSettings"),
              R"({"jobTier":"Premium","priority":3})");
    EXPECT_EQ(dumped("identity: {type: UserIdentity}\n", "identity"), R"({"identityType":"UserIdentity"})");
    EXPECT_EQ(dumped("identity: {type: AMLToken}\n", "identity"), R"({"identityType":"AMLToken"})");
    EXPECT_EQ(dumped("identity: {type: managed_identity}\n", "identity"), R"({"identityType":"Managed"})");
    EXPECT_EQ(dumped("inputs: {a: {type: URI_FILE, path: 'https://x/y', mode: Download}}\n", "inputs"),
              R"({"a":{"jobInputType":"uri_file","uri":"https://x/y","mode":"Download"}})");
    EXPECT_EQ(dumped("code: git+https://x/y\n", "codeId"), R"("git+https://x/y")");
    EXPECT_EQ(dumped("compute: azureml:serverless\n", "computeId"), R"("serverless")");
}

TEST(JobSpec, IdsOfTheSubmitterReplaceWhatWasWritten) {
    const CommandJobSpec spec = parsed(kSmall + "code: src\ncompute: c\ninputs: {a: {path: ./src}}\n");
    EXPECT_EQ(spec.code_local, "/job/src");
    EXPECT_EQ(spec.inputs[0].local_path, "/job/src");
    struct Ids : Resolver {
        Result<std::string> code(const CodeAsk&) override { return "CODE"; }
        Result<std::string> environment(const spec::EnvironmentSpec&) override { return "ENV"; }
        Result<std::string> data(const spec::InputSpec&) override { return "azureml://x"; }
        std::string compute(const std::string&) override { return "COMPUTE"; }
    } ids;
    const Json job = (*to_arm_job(spec, ids))["properties"];
    EXPECT_EQ(job["codeId"].text(), "CODE");
    EXPECT_EQ(job["environmentId"].text(), "ENV");
    EXPECT_EQ(job["computeId"].text(), "COMPUTE");
    EXPECT_EQ(job.get("inputs.a.uri").text(), "azureml://x");
}

TEST(JobSpec, EnvironmentComesInAllItsForms) {
    const auto environment = [](const std::string& text) {
        return parsed("command: x\nenvironment: " + text).environment;
    };
    EXPECT_EQ(environment("azureml:n:2\n").reference, "n:2");
    EXPECT_EQ(environment("azureml:n@latest\n").reference, "n@latest");
    EXPECT_EQ(environment("azureml://registries/r/environments/n/labels/latest\n").reference,
              "azureml://registries/r/environments/n/labels/latest");
    EXPECT_EQ(environment("{image: python:3}\n").image, "python:3");
    EXPECT_EQ(environment("{image: a, conda_file: conda.yml}\n").conda_text, files().at("/job/conda.yml"));
    EXPECT_EQ(environment("{build: {path: docker}}\n").build_path, "/job/docker");
    const auto from_file = environment("file:./envs/env.yml\n");
    EXPECT_EQ(from_file.name + from_file.version, "");  // as azure-ai-ml has it: one of a job is anonymous
    EXPECT_EQ(from_file.build_path, "/job/envs");
    EXPECT_EQ(environment("envs/env.yml\n").dockerfile_path, "D");
    const auto inline_conda =
        environment("{image: a, conda_file: {name: z, dependencies: [python, {pip: [x]}]}}\n");
    const Json arm = (*parse_json(to_arm_environment(inline_conda, "")))["properties"];
    EXPECT_EQ(arm["condaFile"].text(), "dependencies:\n- python\n- pip:\n  - x\nname: z\n");
    EXPECT_TRUE(arm["isAnonymous"].boolean());
    EXPECT_EQ((*parse_json(to_arm_environment(from_file, "blob")))["properties"]["build"].dump(),
              R"({"contextUri":"blob","dockerfilePath":"D"})");
}

TEST(JobSpec, AllProblemsAreListedAtOnceWithPlaceAndSuggestion) {
    const auto found = problems(
        "comand: x\nenvironment: azureml:e:1\nresources:\n  instance_count: 0\n  instance_typ: y\n"
        "tags: {a: 1}\nlimits: {timeout: -3}\ncode: ./nosuch\n");
    const std::vector<std::string> expected = {
        "comand@1:1 unknown key; did you mean 'command'?",  // and not that `command` is missing, too
        "resources.instance_count@4:19 must be between 1 and 1000, not 0",
        "resources.instance_typ@5:3 unknown key; did you mean 'instance_type'?",
        "tags.a@6:11 must be a string, but is an integer; put it in quotes",
        "limits.timeout@7:19 must be a number of seconds above 0, not -3",
        "code@8:7 the code folder './nosuch' does not exist (looked for /job/nosuch)",
    };
    EXPECT_EQ(found, expected);
}

TEST(JobSpec, RefusesWhatCannotWork) {
    check_problem("resources: {instance_count: 0}\n", "resources.instance_count@3:29 must be between 1");
    check_problem("resources: {instance_count: many}\n", "resources.instance_count@3:29 must be an integer");
    check_problem(
        "resources: {instance_type: Standard_DS3_v3}\n",
        "resources.instance_type@3:28 there is no size 'Standard_DS3_v3'; did you mean 'Standard_DS3_v2'?");
    EXPECT_EQ(parsed("command: x\nenvironment: azureml:e:1\nresources: {instance_type: rtx4090}\n")
                  .resources->instance_type,
              "rtx4090")
        << "the server knows the sizes of its site";
    check_problem("resources: {shm_size: lots}\n", "resources.shm_size@3:23 must be a positive number");
    check_problem("limits: {timeout: 0}\n", "limits.timeout@3:19");
    check_problem("limits: {timeout: 1h}\n", "limits.timeout@3:19 must be an integer, not '1h'");
    check_problem("queue_settings: {job_tier: premum}\n",
                  "queue_settings.job_tier@3:28 cannot be 'premum'; did you mean 'Premium'?");
    check_problem("distribution: {type: torch}\n", "distribution.type@3:22 cannot be 'torch'");
    check_problem("distribution: {type: mpi, worker_count: 3}\n",
                  "distribution.worker_count@3:27 unknown key");
    check_problem("identity: {type: nobody}\n", "identity.type@3:18 cannot be 'nobody'");
    check_problem("type: sweep\n", "type@3:7 is 'sweep', but a command job");
    check_problem("name: a b\n", "name@3:7 a name begins");
    check_problem("compute:\n", "compute@3:1 is empty");
    check_problem("inputs: {a: null}\n", "inputs.a@");
    check_problem("inputs: {a: [1]}\n", "inputs.a@3:13 must be a string, a number or a boolean");
    check_problem("inputs: {a: {type: uri_fil, path: x}}\n",
                  "inputs.a.type@3:20 cannot be 'uri_fil'; did you mean 'uri_file'?");
    check_problem("inputs: {a: {path: ./gone}}\n", "inputs.a.path@3:20 there is no file or folder './gone'");
    check_problem("inputs: {a: {type: uri_file}}\n", "inputs.a.path@3:13 is missing");
    check_problem("inputs: {a: {path: ./src, mode: eval_mount}}\n",
                  "inputs.a.mode@3:33 cannot be 'eval_mount'");
    check_problem("inputs: {'a b': 1}\n", "inputs.a b@3:10 is not a usable name");
    check_problem("outputs: {a: foo}\n", "outputs.a@3:14 must be a mapping, but is a string");
    check_problem("outputs: {a: {version: 3}}\n", "outputs.a.version@3:24 needs a name");
    check_problem("outputs: {a: {path: ./local}}\n",
                  "outputs.a.path@3:21 must be a place the job can write to");
    const std::string store = "azureml://datastores/workspaceblobstore/paths/";
    check_problem("outputs: {a: {path: " + store + "x//y}}\n",
                  "outputs.a.path@3:21 is no place for an output: a part of it is empty");
    check_problem("outputs: {a: {path: " + store + "}}\n",
                  "outputs.a.path@3:21 is no place for an output: it names nothing below paths/");
    check_problem("services: {a: {type: vscode2}}\n", "services.a.type@3:22 cannot be 'vscode2'");
    check_problem("services: {a: }\n", "services.a@3:12 is empty");
    check_problem("services: {a: {type: vs_code, nodes: '0,1'}}\n", "services.a.nodes@3:38 can only be all");
    check_problem("properties: {lavant.max_retries: 3}\n",
                  "properties.lavant.max_retries@3:34 must be a string");
    check_problem("properties: {lavant.max_retry: '3'}\n",
                  "properties.lavant.max_retry@3:32 unknown key; did you mean 'lavant.max_retries'?");
    check_problem("environment_variables: {A: [1]}\n", "environment_variables.A@3:28 must be a string");
}

TEST(JobSpec, RefusesEnvironmentsThatCannotBe) {
    const auto one = [](const std::string& text) {
        const auto found = problems("command: x\nenvironment: " + text + "\n");
        return found.size() == 1 ? found[0] : "count " + std::to_string(found.size());
    };
    EXPECT_EQ(one("{image: a, build: {path: docker}}"),
              "environment.build@2:32 cannot stand beside image; keep one of the two");
    EXPECT_TRUE(
        one("{conda_file: conda.yml}").starts_with("environment@2:14 needs an image or a build folder"));
    EXPECT_TRUE(
        one("{imag: a, image: b}").starts_with("environment.imag@2:15 unknown key; did you mean 'image'?"));
    EXPECT_TRUE(one("nothing").starts_with(
        "environment@2:14 'nothing' is neither a file nor a registered environment"));
    EXPECT_TRUE(
        one("{image: a, conda_file: gone.yml}").starts_with("environment.conda_file@2:37 there is no file"));
    EXPECT_TRUE(
        one("{build: {path: gone}}").starts_with("environment.build.path@2:29 there is no folder 'gone'"));
    EXPECT_TRUE(one("file:broken.yml").starts_with("environment@2:14 cannot read '/job/broken.yml' as YAML"));
    EXPECT_TRUE(
        one("azureml://datastores/x").starts_with("environment@2:14 must look like azureml://registries"));
}

TEST(JobSpec, RefusesExpressionsThatNameNothing) {
    const auto one = [](const std::string& command) {
        const auto found =
            problems("command: " + command + "\nenvironment: azureml:e:1\ninputs: {rate: 1}\n");
        return found.size() == 1 ? found[0] : "count " + std::to_string(found.size());
    };
    EXPECT_EQ(one("echo ${{inputs.rat}}"),
              "command@1:10 ${{inputs.rat}} names no input of this job; did you mean 'rate'?");
    EXPECT_EQ(one("echo ${{outputs.x}}"),
              "command@1:10 ${{outputs.x}} names no output of this job; it has none");
    EXPECT_TRUE(one("echo ${{parent.inputs.x}}")
                    .starts_with("command@1:10 ${{parent.inputs.x}} is not an expression"));
    EXPECT_EQ(one("echo ${{inputs.rate}"), "command@1:10 '${{' is never closed");
    EXPECT_EQ(one("echo $[[ ${{inputs.x}} ]] ${{inputs.rate}} ${{name}}"), "count 0");
}

TEST(JobSpec, ComponentStandsInPlaceOfTheCommand) {
    const CommandJobSpec job =
        parsed("component: ./parts/train.yml\ninputs: {rate: 0.2}\nqueue_settings: {job_tier: Standard}\n");
    EXPECT_EQ(job.component, "train");
    EXPECT_EQ(job.display_name, "Train it");
    EXPECT_EQ(job.code_local, "/job/parts/code");
    EXPECT_EQ(job.command,
              "python t.py --rate ${{inputs.rate}} --epochs ${{inputs.epochs}}  --out ${{outputs.model}}");
    EXPECT_EQ(job.environment.reference, "e:1");
    EXPECT_EQ(job.resources->instance_count, 2);
    const Json wire = body_of(job);
    EXPECT_EQ(
        wire["inputs"].dump(),
        R"({"rate":{"jobInputType":"literal","value":"0.2"},"epochs":{"jobInputType":"literal","value":"3"},)"
        R"("kernel":{"jobInputType":"literal","value":"rbf"}})");
    EXPECT_EQ(wire["outputs"].dump(), R"({"model":{"jobOutputType":"mlflow_model"}})");

    const CommandJobSpec with_data = parsed(
        "component: file:parts/train.yml\ninputs: {rate: 1, data: {path: ./src}}\nresources: "
        "{instance_count: 4}\n"
        "outputs: {model: {mode: upload}}\n");
    EXPECT_NE(with_data.command.find("--data ${{inputs.data}}"), std::string::npos);
    EXPECT_EQ(with_data.inputs.back().mode, "download");
    EXPECT_EQ(with_data.outputs[0].mode, "upload");
    EXPECT_EQ(with_data.resources->instance_count, 4);
}

TEST(JobSpec, ComponentInputsAreChecked) {
    const auto one = [](const std::string& more) {
        const auto found = problems("component: ./parts/train.yml\n" + more);
        return found.size() == 1 ? found[0] : "count " + std::to_string(found.size());
    };
    EXPECT_TRUE(
        one("").starts_with("inputs.rate@1:1 is missing; the component needs this input of type number"));
    EXPECT_EQ(one("inputs: {rate: 2}\n"), "inputs.rate@2:16 must be at most 1.0");
    EXPECT_EQ(one("inputs: {rate: -1}\n"), "inputs.rate@2:16 must be at least 0.0");
    EXPECT_EQ(one("inputs: {rate: fast}\n"), "inputs.rate@2:16 must be a number, not 'fast'");
    EXPECT_EQ(one("inputs: {rate: 1, epochs: 1.5}\n"), "inputs.epochs@2:27 must be an integer, not '1.5'");
    EXPECT_EQ(one("inputs: {rate: 1, kernel: poly}\n"),
              "inputs.kernel@2:27 must be rbf or linear, not 'poly'");
    EXPECT_TRUE(one("inputs: {rate: 1, epoch: 2}\n")
                    .starts_with("inputs.epoch@2:9 is not an input of the component; did you"));
    EXPECT_TRUE(one("inputs: {rate: 1}\noutputs: {m: }\n")
                    .starts_with("outputs.m@3:10 is not an output of the component"));
    EXPECT_TRUE(
        one("inputs: {rate: 1}\ncommand: x\n").starts_with("command@3:10 cannot stand beside component"));
    EXPECT_TRUE(
        problems("component: azureml:train:1\n")[0].starts_with("component@1:12 registered components"));
    EXPECT_TRUE(problems("component: gone.yml\n")[0].starts_with("component@1:12 "));
}

TEST(JobSpec, InlineComponentIsCheckedInPlace) {
    const auto found = problems(
        "component:\n  command: echo ${{inputs.x}} ${{inputs.opt}}\n  environment: azureml:e:1\n"
        "  inputs: {opt: {type: string, optional: true}, y: {type: integer, default: z}}\n");
    ASSERT_EQ(found.size(), 3U);
    EXPECT_TRUE(found[0].starts_with("component.command@2:12 ${{inputs.x}} names no input")) << found[0];
    EXPECT_TRUE(found[1].starts_with("component.command@2:12 ${{inputs.opt}} is optional")) << found[1];
    EXPECT_TRUE(found[2].starts_with("component.inputs.y.default@4:77 must be an integer")) << found[2];
}

TEST(JobSpec, ProblemsInsideAComponentFileSayWhichFile) {
    const auto found = problems("component: parts/bad.yml\n");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].starts_with("component.environment@3:14 in parts/bad.yml: needs an image"))
        << found[0];
    EXPECT_TRUE(found[1].starts_with("component.environment.imag@3:16 in parts/bad.yml: unknown key"))
        << found[1];
    const auto spark = problems("component:\n  type: spark\n  entry: {file: a.py}\n");
    ASSERT_EQ(spark.size(), 1U);
    EXPECT_TRUE(spark[0].starts_with("component@2:3 is of type spark")) << spark[0];
}

TEST(JobSpec, RetryPolicyComesFromProperties) {
    EXPECT_EQ(parsed(kSmall).retry, RetryPolicy{});
    const RetryPolicy policy =
        parsed(kSmall + "properties: {lavant.max_retries: '5', lavant.retry_on: 'oom, exit:42,exit:7'}\n")
            .retry;
    EXPECT_EQ(policy.retries_max, 5);
    EXPECT_FALSE(policy.on_node_lost);
    EXPECT_TRUE(policy.on_out_of_memory);
    EXPECT_EQ(policy.on_exit_codes, (std::vector<int>{42, 7}));
    check_problem("properties: {lavant.retry_on: 'exit:0'}\n",
                  "properties.lavant.retry_on@3:31 'exit:0' must name");
    check_problem("properties: {lavant.retry_on: 'node_lots'}\n",
                  "properties.lavant.retry_on@3:31 'node_lots' is not a cause; did you mean 'node_lost'?");
    check_problem("properties: {lavant.keep_on_failure: 'maybe'}\n",
                  "properties.lavant.keep_on_failure@3:38 must be");
}

// The documents that describe the system contain jobs which Azure's client refuses. Here they are law.
TEST(JobSpec, SeedSpellingsAreTaken) {
    const CommandJobSpec interactive = parsed(R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
command: python hello.py && sleep 600
code: src
environment: azureml:tensorflow@latest
resources: {instance_count: 4, instance_type: Standard_NC24}
services:
  code_editor: {job_service_type: vs_code}
  notebook: {job_service_type: jupyter_lab}
  board:
    job_service_type: tensor_board
    properties: {logDir: outputs/tblogs}
)");
    EXPECT_EQ(body_of(interactive)["services"].dump(),
              R"({"code_editor":{"jobServiceType":"VSCode"},"notebook":{"jobServiceType":"JupyterLab"},)"
              R"("board":{"jobServiceType":"TensorBoard","properties":{"logDir":"outputs/tblogs"}}})");
    const CommandJobSpec all_fields = parsed(R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
component: ./parts/train.yml
inputs: {rate: 0.5}
resources: {instance_count: 4, instance_type: Standard_NC24}
identity: {type: user_identity}
queue_settings: {job_tier: Standard, job_priority: low}
)");
    EXPECT_EQ(all_fields.queue->priority, "low");
    EXPECT_EQ(all_fields.identity->type, "user_identity");
    const CommandJobSpec distributed = parsed(R"(
$schema: https://azuremlsdk2.blob.core.windows.net/preview/0.0.1/commandJob.schema.json
code: src
command: >-
  python train.py
  --epochs ${{inputs.epochs}}
inputs: {epochs: 1}
environment: azureml:tensorflow@latest
resources: {instance_count: 2, instance_type: Standard_NC12}
distribution: {type: mpi, process_count_per_instance: 2}
)");
    EXPECT_EQ(distributed.distribution->process_count_per_instance, 2);
    EXPECT_EQ(parsed("command: echo \"hello world\"\nenvironment:\n  image: library/python:latest\n").compute,
              "");
}

TEST(JobSpec, FindingsForAzureNameWhatItRefusesOrIgnores) {
    EXPECT_TRUE(azure_findings(parsed(kSmall)).empty());
    const auto findings = azure_findings(parsed(
        kSmall +
        "services: {a: {job_service_type: ssh}}\nqueue_settings: {job_priority: low}\ninputs: {a-b: 1}\n"
        "properties: {lavant.max_retries: '1'}\n"));
    ASSERT_EQ(findings.size(), 4U);
    EXPECT_EQ(findings[0], "queue_settings.job_priority: refused; write priority");
    EXPECT_EQ(findings[1], "services.a.job_service_type: refused; write type");
    EXPECT_TRUE(findings[2].starts_with("properties.lavant.max_retries: ignored"));
    EXPECT_TRUE(findings[3].starts_with("inputs.a-b: refused"));
}

}  // namespace
}  // namespace lavant::wire
