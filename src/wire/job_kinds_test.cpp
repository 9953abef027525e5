// Sweeps, pipelines, Spark, automl and components from YAML to the wire, with the files they name in memory.

#include <gtest/gtest.h>

#include <map>

#include "core/spec/job.h"
#include "wire/component_to_arm.h"
#include "wire/job_to_arm.h"
#include "wire/json.h"
#include "wire/yaml.h"

namespace lavant::wire {
namespace {

using Files = std::map<std::string, std::string>;

spec::ComponentLoader loader_of(const Files& files) {
    spec::ComponentLoader loader;
    loader.folder = "/job";
    loader.read_text = [files](const std::string& path) -> Result<std::string> {
        const auto file = files.find(path);
        if (file == files.end()) return fail(ErrorCode::NotFound, "there is no file '" + path + "'");
        return file->second;
    };
    loader.load = [read = loader.read_text](const std::string& path) -> Result<spec::Document> {
        LAVANT_TRY(const std::string text, read(path));
        return parse_yaml(text, path);
    };
    loader.kind_of = [files](const std::string& path) {
        if (files.contains(path)) return spec::PathKind::File;
        return path.ends_with("/gone") ? spec::PathKind::Absent : spec::PathKind::Folder;
    };
    return loader;
}

Result<spec::JobSpec> parse(const std::string& yaml, const Files& files = {}) {
    LAVANT_TRY(const spec::Document document, parse_yaml(yaml, "job.yml"));
    return spec::parse_job(document, loader_of(files));
}

Json body(const std::string& yaml, const Files& files = {}) {
    const auto job = parse(yaml, files);
    EXPECT_TRUE(job) << job.error().message;
    if (!job) return {};
    Resolver as_written;
    auto made = to_arm_job(*job, as_written);
    EXPECT_TRUE(made) << made.error().message;
    return made ? (*made)["properties"] : Json();
}

// Every problem as "path: message".
template <class Parsed>
std::vector<std::string> problems_of(const Result<Parsed>& parsed) {
    std::vector<std::string> out;
    if (parsed) return out;
    for (const FieldProblem& problem : parsed.error().fields)
        out.push_back(problem.path + ": " + problem.message);
    return out;
}

std::vector<std::string> problems(const std::string& yaml, const Files& files = {}) {
    return problems_of(parse(yaml, files));
}

bool has(const std::vector<std::string>& found, std::string_view beginning) {
    for (const std::string& one : found) {
        if (one.starts_with(beginning)) return true;
    }
    for (const std::string& one : found) ADD_FAILURE() << "found: " << one;
    return false;
}

Result<spec::ComponentSpec> parse_component(const std::string& yaml, const Files& files = {}) {
    LAVANT_TRY(const spec::Document document, parse_yaml(yaml, "component.yml"));
    return spec::parse_component(document, loader_of(files));
}

const std::string kSweep = R"(
type: sweep
trial: {command: "x ${{inputs.a}} ${{search_space.lr}}", environment: "azureml:e:1", code: src}
inputs: {a: 1}
sampling_algorithm: random
search_space: {lr: {type: uniform, min_value: 0.1, max_value: 1}}
objective: {goal: maximize, primary_metric: m}
limits: {max_total_trials: 4}
)";

TEST(JobKinds, TheTypeOrTheSchemaSaysWhichKindItIs) {
    const auto type_of = [](const char* yaml) { return spec::job_type_of(*parse_yaml(yaml, "job.yml")); };
    EXPECT_EQ(type_of("type: sweep"), "sweep");
    EXPECT_EQ(type_of("$schema: https://x/latest/pipelineJob.schema.json"), "pipeline");
    EXPECT_EQ(type_of("$schema: http://azureml/sdk-2-0/AutoMLJob.json"), "automl");
    EXPECT_EQ(type_of("command: x"), "command");
    EXPECT_EQ(type_of("[]"), "command");
    EXPECT_TRUE(has(problems("type: pipelin\n"),
                    "type: there is no kind of job 'pipelin'; did you mean 'pipeline'?"));
    EXPECT_TRUE(has(problems("type: [a]\n"), "type: must be a string"));
}

TEST(JobKinds, SweepsReachTheWire) {
    const Json job = body(kSweep + R"(
early_termination: {type: bandit, evaluation_interval: 2, slack_factor: 0.2}
resources: {instance_type: Standard_DS3_v2}
queue_settings: {job_tier: spot}
identity: {type: user_identity}
)");
    EXPECT_EQ(job["searchSpace"].dump(), R"({"lr":["uniform",[0.1,1]]})");
    EXPECT_EQ(job["samplingAlgorithm"].dump(), R"({"samplingAlgorithmType":"Random"})");
    EXPECT_EQ(job["limits"].dump(), R"({"jobLimitsType":"Sweep","maxTotalTrials":4})");
    EXPECT_EQ(
        job["earlyTermination"].dump(),
        R"({"policyType":"Bandit","delayEvaluation":0,"evaluationInterval":2,"slackAmount":0,"slackFactor":0.2})");
    EXPECT_EQ(job.get("trial.command").text(), "x ${{inputs.a}} ${{search_space.lr}}");
    EXPECT_EQ(job.get("resources.instanceType").text(), "Standard_DS3_v2");
    EXPECT_EQ(job.get("queueSettings.jobTier").text(), "Spot");
}

TEST(JobKinds, EveryDistributionHasItsListOnTheWire) {
    const Json space = body(R"(
type: sweep
trial: {command: x, environment: "azureml:e:1"}
sampling_algorithm: {type: random, rule: sobol, seed: 7, logbase: e}
search_space:
  a: {type: choice, values: [1, x, true, {deep: {type: uniform, min_value: 0, max_value: 1}, flat: 2}]}
  b: {type: qloguniform, min_value: 1, max_value: 2, q: 0.5}
  c: {type: lognormal, mu: 0, sigma: 1}
  d: {type: randint, upper: 5}
  e: {type: qnormal, mu: "1", sigma: 2.5, q: 1}
objective: {goal: minimize, primary_metric: m}
limits: {max_total_trials: 4, timeout: 60, trial_timeout: 30}
)")["searchSpace"];
    EXPECT_EQ(
        space.dump(),
        R"({"a":["choice",[[1,"x",true,{"deep":["uniform",[0,1]],"flat":2}]]],)"
        R"("b":["qloguniform",[1,2,0.5]],"c":["lognormal",[0,1]],"d":["randint",[5]],"e":["qnormal",[1,2.5,1]]})");
}

TEST(JobKinds, AllProblemsOfASweepAreSaidAtOnce) {
    const auto found = problems(R"(
type: sweep
trial: {comand: x, environment: "azureml:e:1"}
sampling_algorithm: grid
search_space:
  a: {type: unifrm, min_value: 0, max_value: 1}
  b: {type: uniform, min_value: 2, max_value: 1}
  c: {type: choice, values: []}
  d: {type: randint, upper: 0}
  e: {type: normal, mu: x}
objective: {goal: best}
limits: {max_total_trials: 0, max_concurrent_trials: 5}
early_termination: {type: truncation_selection}
)");
    for (const char* beginning :
         {"trial.comand: unknown key; did you mean 'command'?",
          "search_space.a.type: cannot be 'unifrm'; did you", "search_space.b.max_value: must not be below",
          "search_space.b.type: must be choice; a grid", "search_space.c.values: must be a list",
          "search_space.d.upper: must be a whole number", "search_space.e.sigma: is missing",
          "search_space.e.mu: must be a number", "objective.goal: cannot be",
          "objective.primary_metric: is missing", "limits.max_total_trials: must be between 1 and",
          "early_termination.truncation_percentage: is missing"}) {
        EXPECT_TRUE(has(found, beginning)) << beginning;
    }
    EXPECT_TRUE(has(problems("type: sweep\n"), "search_space: is missing"));
    EXPECT_TRUE(has(problems(kSweep + "early_termination: {type: bandit}\nx: 1\n"), "x: unknown key"));
    std::string wrong = kSweep;
    wrong.replace(wrong.find("search_space.lr"), 15, "search_space.le");
    EXPECT_TRUE(has(problems(wrong), "trial.command: ${{search_space.le}} names nothing of this job"));
}

const Files kParts = {{"/job/parts/train.yml", R"(
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
name: train_it
version: 7
type: command
inputs:
  data: {type: uri_file}
  rate: {type: number, default: 1, min: 0, max: 2}
  opt: {type: string, optional: true}
outputs: {model: {type: mlflow_model}}
code: ./src
command: python t.py ${{inputs.data}} ${{inputs.rate}} $[[--o ${{inputs.opt}}]] ${{outputs.model}}
environment: {image: python:3.12}
resources: {instance_count: 2}
)"},
                      {"/job/parts/pipe.yml", R"(
name: inner
type: pipeline
inputs: {csv: {type: uri_file}}
outputs: {m: {type: mlflow_model}}
jobs:
  one:
    type: command
    component: ./train.yml
    inputs: {data: "${{parent.inputs.csv}}"}
    outputs: {model: "${{parent.outputs.m}}"}
)"}};

const std::string kPipeline = R"(
type: pipeline
inputs: {csv: {type: uri_file, path: "azureml:d:1", mode: download}, n: 3}
outputs: {final: {type: uri_folder, mode: rw_mount}}
settings: {default_compute: azureml:serverless, continue_on_step_failure: false}
jobs:
  prep:
    command: "a ${{inputs.n}} ${{inputs.csv}} ${{outputs.o}} ${{outputs.p}}"
    environment: azureml:e:1
    compute: azureml:cpu
    inputs: {n: "${{parent.inputs.n}}", csv: "${{parent.inputs.csv}}", s: hi}
    outputs: {o: , p: {type: uri_file, mode: upload}}
  train:
    type: command
    component: ./parts/train.yml
    inputs: {data: "${{parent.jobs.prep.outputs.p}}", rate: 0.5}
)";

Json component_of(const Json& job, const std::string& step) {
    return *parse_json(job["jobs"][step]["componentId"].text());
}

TEST(JobKinds, AStepOfItsOwnBecomesAComponentWithPortsFromItsBindings) {
    const Json job = body(kPipeline, kParts);
    EXPECT_EQ(
        component_of(job, "prep")["inputs"].dump(),
        R"({"n":{"type":"integer"},"csv":{"type":"uri_file","mode":"download"},"s":{"type":"string","default":"hi"}})");
    EXPECT_EQ(component_of(job, "prep")["outputs"].dump(),
              R"({"o":{"type":"uri_folder"},"p":{"type":"uri_file","mode":"upload"}})");
    EXPECT_EQ(job["jobs"]["prep"]["outputs"].dump(),
              R"({"p":{"job_output_type":"uri_file","mode":"Upload"}})");
    EXPECT_EQ(job["jobs"]["prep"]["inputs"]["n"].dump(),
              R"({"job_input_type":"literal","value":"${{parent.inputs.n}}"})");
    EXPECT_EQ(job["settings"].dump(),
              R"({"_source":"YAML.JOB","default_compute":"serverless","continue_on_step_failure":false})");
    const Json train = component_of(job, "train");
    EXPECT_EQ(train["inputs"]["rate"].dump(), R"({"type":"number","default":"1.0","min":"0.0","max":"2.0"})");
    EXPECT_EQ(train["name"].text(), "azureml_anonymous");
    EXPECT_EQ(job["jobs"]["train"]["_source"].text(), "YAML.COMPONENT");
    EXPECT_EQ(job["jobs"]["train"]["resources"].dump(), R"({"instance_count":2})");
}

TEST(JobKinds, BindingsThatLeadNowhereAreNamedWithWhatIsNear) {
    const auto found = problems(R"(
type: pipeline
inputs: {csv: {path: "azureml:d:1"}}
jobs:
  a:
    command: "x ${{inputs.gone}}"
    environment: azureml:e:1
    inputs: {i: "${{parent.inputs.cvs}}", j: "${{parent.jobs.bb.outputs.o}}", k: "${{parent.outputs.z}}"}
    outputs: {o: "${{parent.outputs.nothing}}", q: "${{parent.inputs.csv}}"}
  b:
    component: ./parts/train.yml
    type: command
    inputs: {data: "${{parent.jobs.a.outputs.none}}", rate: 9}
    outputs: {mdel: }
)",
                                kParts);
    for (const char* beginning :
         {"jobs.a.command: ${{inputs.gone}} names no input",
          "jobs.a.inputs.i: '${{parent.inputs.cvs}}' names nothing", "jobs.a.inputs.j: there is no step 'bb'",
          "jobs.a.inputs.k: must be bound to ${{parent.inputs",
          "jobs.a.outputs.o: '${{parent.outputs.nothing}}' names nothing of this pipeline; it has none",
          "jobs.a.outputs.q: must be bound to ${{parent.outputs",
          "jobs.b.inputs.data: step 'a' has no output 'none'", "jobs.b.inputs.rate: must be at most 2.0",
          "jobs.b.outputs.mdel: is not an output of the component; did"}) {
        EXPECT_TRUE(has(found, beginning)) << beginning;
    }
    EXPECT_TRUE(
        has(problems("type: pipeline\njobs: {a: {type: command, component: ./parts/train.yml}}\n", kParts),
            "jobs.a.inputs.data: is missing; the component needs this input of type uri_file"));
}

TEST(JobKinds, StepsThatWaitForEachOtherAreRefused) {
    const auto found = problems(R"(
type: pipeline
jobs:
  a: {command: x, environment: "azureml:e:1", inputs: {i: "${{parent.jobs.b.outputs.o}}"}, outputs: {o: }}
  b: {command: x, environment: "azureml:e:1", inputs: {i: "${{parent.jobs.a.outputs.o}}"}, outputs: {o: }}
  c: {command: x, environment: "azureml:e:1", inputs: {i: "${{parent.jobs.c.outputs.o}}"}, outputs: {o: }}
  d: {command: x, environment: "azureml:e:1"}
)");
    EXPECT_TRUE(has(found, "jobs.a: waits for itself: a, b or c depend"));
    EXPECT_EQ(found.size(), 1U);
}

TEST(JobKinds, ComponentFilesMayNotNameEachOtherInACircle) {
    const std::string step = "type: pipeline\nname: x\njobs: {s: {type: pipeline, component: ./";
    const Files files = {{"/job/a.yml", step + "b.yml}}\n"}, {"/job/b.yml", step + "a.yml}}\n"}};
    EXPECT_TRUE(
        has(problems("type: pipeline\njobs: {s: {type: pipeline, component: ./a.yml}}\n", files),
            "jobs.s.component.jobs.s.component.jobs.s.component: in ./b.yml: './a.yml' names itself"));
    Files deep;
    for (int i = 0; i < 40; ++i)
        deep["/job/" + std::to_string(i) + ".yml"] = step + std::to_string(i + 1) + ".yml}}\n";
    const auto found = problems("type: pipeline\njobs: {s: {type: pipeline, component: ./0.yml}}\n", deep);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_NE(found[0].find("more than 16 deep"), std::string::npos) << found[0];
}

// Ten steps that each name ten steps that …: cut off long before the end.
TEST(JobKinds, NestingThatMultipliesIsCutOff) {
    Files files;
    for (int level = 0; level < 8; ++level) {
        std::string text = "type: pipeline\nname: x\njobs:\n";
        for (int i = 0; i < 10; ++i)
            text += "  s" + std::to_string(i) + ": {type: pipeline, component: ./" +
                    std::to_string(level + 1) + ".yml}\n";
        files["/job/" + std::to_string(level) + ".yml"] = text;
    }
    EXPECT_FALSE(parse("type: pipeline\njobs: {s: {type: pipeline, component: ./0.yml}}\n", files));
    std::string many = "type: pipeline\njobs:\n";
    for (int i = 0; i < 2'500; ++i)
        many += "  s" + std::to_string(i) + ": {command: x, environment: 'azureml:e:1'}\n";
    EXPECT_TRUE(has(problems(many), "jobs.s2000: there are more than 2000 steps"));
}

TEST(JobKinds, WrongTypesAreProblemsAndNeverMore) {
    const std::vector<std::string> wrong = {"null",          "3",    "text", "[]", "[a, {b: c}]", "{}",
                                            "{a: {b: [c]}}", "true", "''"};
    const std::vector<std::pair<std::string, std::vector<std::string>>> kinds = {
        {"sweep",
         {"trial", "search_space", "objective", "limits", "sampling_algorithm", "early_termination",
          "inputs"}},
        {"pipeline", {"jobs", "settings", "inputs", "outputs", "component", "identity", "compute"}},
        {"spark", {"entry", "conf", "py_files", "args", "resources", "code", "inputs"}},
        {"automl",
         {"task", "training_data", "limits", "featurization", "training", "sweep", "search_space",
          "forecasting"}},
        {"finetuning", {"model", "training_data", "hyperparameters", "resources", "outputs"}},
        {"distillation", {"student_model", "teacher_model_settings", "prompt_settings"}}};
    for (const auto& [type, keys] : kinds) {
        for (const std::string& key : keys) {
            for (const std::string& value : wrong) {
                std::string text = "type: " + type + "\n" + key + ": " + value + "\n";
                if (type == "automl" && key != "task") text += "task: forecasting\n";
                EXPECT_FALSE(parse(text)) << text;
            }
        }
    }
    for (const std::string& value : wrong) {
        EXPECT_FALSE(parse("type: pipeline\njobs: {a: " + value + "}\n")) << value;
        for (const char* key : {"type", "inputs", "outputs", "component", "task", "trial", "training_data"}) {
            for (const char* type : {"command", "parallel", "spark", "sweep", "automl", "pipeline"}) {
                const std::string has_type =
                    std::string(key) == "type" ? "" : std::string("type: ") + type + ", ";
                EXPECT_FALSE(parse("type: pipeline\njobs: {a: {" + has_type + key + ": " + value + "}}\n"))
                    << type << " " << key << " " << value;
            }
        }
        for (const char* key : {"inputs", "outputs", "jobs", "task", "entry", "command"}) {
            for (const char* type : {"command", "parallel", "spark", "pipeline"}) {
                EXPECT_FALSE(parse_component(std::string("type: ") + type + "\nname: x\n" + key + ": " +
                                             value + "\n"));
            }
        }
    }
}

TEST(JobKinds, SweepParallelAndNestedStepsReachTheWire) {
    const Json job = body(R"(
type: pipeline
inputs: {csv: {type: uri_file, path: "azureml:d:1"}}
jobs:
  search:
    type: sweep
    trial: ./parts/train.yml
    inputs: {data: "${{parent.inputs.csv}}"}
    search_space: {rate: {type: choice, values: [1, 2]}}
    sampling_algorithm: grid
    objective: {goal: minimize, primary_metric: m}
    limits: {max_total_trials: 2}
    early_termination: {type: median_stopping, delay_evaluation: 5}
  batch:
    type: parallel
    inputs: {files: {type: uri_folder, path: "azureml://datastores/d/paths/x/", mode: ro_mount}}
    outputs: {o: {type: uri_file}}
    input_data: ${{inputs.files}}
    mini_batch_size: "10kb"
    error_threshold: -1
    retry_settings: {max_retries: 2, timeout: 60}
    task: {type: run_function, code: ./src, entry_script: a.py, environment: "azureml:e:1",
           append_row_to: "${{outputs.o}}"}
  inner:
    type: pipeline
    component: ./parts/pipe.yml
    inputs: {csv: "${{parent.inputs.csv}}"}
  known:
    type: command
    component: azureml:train_it@latest
    inputs: {data: "${{parent.jobs.inner.outputs.m}}"}
)",
                          kParts);
    const Json& jobs = job["jobs"];
    EXPECT_EQ(jobs["search"]["early_termination"].dump(),
              R"({"policy_type":"MedianStopping","delay_evaluation":5,"evaluation_interval":0})");
    EXPECT_EQ(jobs["search"]["search_space"].dump(), R"({"rate":{"type":"choice","values":[1,2]}})");
    EXPECT_TRUE(jobs["search"]["trial"].has("componentId"));
    EXPECT_EQ(jobs["batch"]["mini_batch_size"].integer(), 10'240);
    EXPECT_EQ(component_of(job, "batch")["mini_batch_size"].text(), "10240");
    EXPECT_EQ(component_of(job, "batch")["task"]["environment"].text(), "azureml:e:1");
    const Json inner = component_of(job, "inner");
    EXPECT_EQ(inner["type"].text(), "pipeline");
    EXPECT_EQ(inner["jobs"]["one"]["outputs"].dump(),
              R"({"model":{"value":"${{parent.outputs.m}}","type":"literal"}})");
    EXPECT_EQ(jobs["known"]["componentId"].text(), "train_it@latest");
    EXPECT_EQ(jobs["known"]["_source"].text(), "REMOTE.WORKSPACE.COMPONENT");
}

// The source documents write some things in an older way; what they say is taken.
TEST(JobKinds, OlderSpellingsOfPipelinesAreTaken) {
    const Json job = body(R"(
$schema: http://azureml/sdk-2-0/PipelineJob.json
type: pipeline
jobs:
  train:
    type: parallel
    inputs: {train_data: {path: "azureml://datastores/d/paths/x/", mode: ro_mount}}
    outputs: {results: {mode: upload}}
    parallel:
      type: command
      inputs: {train_data: {type: uri_folder}}
      outputs: {results: {type: uri_folder}}
      command: python train.py --train_data ${{inputs.train_data}} --models ${{outputs.results}}
      code: ./src
      environment: azureml:my-env:1
    mini_batch: {split_inputs: train_data, mini_batch_size: 1}
    resources: {instance_count: 2, instance_type: Standard_NC6}
  score-job:
    type: command
    command: x ${{inputs.m}}
    environment: azureml:e:1
    inputs: {m: "${{jobs.train.outputs.results}}"}
    queue_settings: {job_tier: standard}
)");
    EXPECT_EQ(job["jobs"]["train"]["input_data"].text(), "${{inputs.train_data}}");
    EXPECT_EQ(job["jobs"]["train"]["task"]["type"].text(), "command");
    EXPECT_EQ(job["jobs"]["score-job"]["inputs"]["m"]["value"].text(),
              "${{parent.jobs.train.outputs.results}}");
    EXPECT_EQ(job["jobs"]["score-job"]["queue_settings"].dump(), R"({"job_tier":"Standard"})");
}

TEST(JobKinds, APipelineJobMayBeOneComponent) {
    const Json job = body(
        "type: pipeline\ncomponent: parts/pipe.yml\ninputs: {csv: {type: uri_file, path: 'azureml:d:1'}}\n",
        kParts);
    EXPECT_TRUE(job["jobs"].has("one"));
    EXPECT_EQ(job["settings"]["_source"].text(), "YAML.COMPONENT");
    EXPECT_EQ(job["outputs"].dump(), R"({"m":{"jobOutputType":"mlflow_model"}})");  // the component's
    EXPECT_TRUE(
        has(problems("type: pipeline\ncomponent: parts/pipe.yml\n", kParts), "inputs: 'csv' is missing"));
    EXPECT_TRUE(has(problems("type: pipeline\ncomponent: parts/train.yml\n", kParts),
                    "component: is of type command"));
}

TEST(JobKinds, IncludesTravelWithTheCodeOfAComponent) {
    struct Asked : Resolver {
        std::vector<CodeAsk> all;
        Result<std::string> code(const CodeAsk& ask) override {
            all.push_back(ask);
            return std::string("/subscriptions/s/codes/c/versions/1");
        }
    } asked;
    const std::string head = "type: command\nname: c\ncommand: x\nenvironment: azureml:e:1\n";
    const auto component = parse_component(head + "additional_includes: [lib/, ../one.txt]\n");
    ASSERT_TRUE(component) << component.error().message;
    const auto made = to_arm_component(*component, ComponentUse::Named, asked);
    ASSERT_TRUE(made);
    const Json spec = made->get("properties.componentSpec");
    EXPECT_EQ(spec["code"].text(), "azureml:/subscriptions/s/codes/c/versions/1");
    EXPECT_EQ(spec["additional_includes"].dump(), R"(["lib/","../one.txt"])");
    ASSERT_EQ(asked.all.size(), 1U);
    EXPECT_TRUE(asked.all[0].of_component);
    EXPECT_EQ(asked.all[0].includes.local, (std::vector<std::string>{"/job/lib", "/job/../one.txt"}));
    const auto wrong = [&head](const std::string& more) { return problems_of(parse_component(head + more)); };
    EXPECT_TRUE(
        has(wrong("additional_includes: [gone]\n"), "additional_includes: there is no file or folder"));
    EXPECT_TRUE(has(wrong("additional_includes: [{type: artifact}]\n"), "additional_includes"));
    EXPECT_TRUE(
        has(wrong("additional_includes: ['']\n"), "additional_includes: there is no file or folder ''"));
    EXPECT_TRUE(has(wrong("code: azureml:c:1\nadditional_includes: [a]\n"),
                    "additional_includes: needs code of this machine"));
    std::string many = "additional_includes: [a";
    for (std::size_t i = 0; i < spec::kIncludesMost; ++i) many += ", a";
    EXPECT_TRUE(has(wrong(many + "]\n"), "additional_includes: has more than"));
}

TEST(JobKinds, SparkReachesTheWireWithTextsOnly) {
    const Json job = body(R"(
type: spark
code: ./src
entry: {file: a.py}
py_files: [u.zip]
conf: {spark.driver.cores: 1, spark.executor.memory: 2g, spark.dynamicAllocation.enabled: true,
       spark.dynamicAllocation.minExecutors: 2}
inputs: {t: {type: uri_file, path: "azureml://datastores/d/paths/t.csv", mode: direct}}
args: --t ${{inputs.t}}
resources: {instance_type: standard_e4s_v3, runtime_version: 3.4}
)");
    EXPECT_EQ(
        job["conf"].dump(),
        R"({"spark.driver.cores":"1","spark.executor.memory":"2g","spark.dynamicAllocation.enabled":"True",)"
        R"("spark.dynamicAllocation.minExecutors":"2","spark.executor.instances":"2"})");
    EXPECT_EQ(job["resources"].dump(), R"({"instanceType":"standard_e4s_v3","runtimeVersion":"3.4"})");
    EXPECT_EQ(job["identity"].dump(), R"({"identityType":"UserIdentity"})");
    EXPECT_TRUE(has(problems("type: spark\nentry: {file: a, class_name: b}\nargs: ${{inputs.x}}\n"
                             "compute: c\nresources: {instance_type: s}\n"),
                    "resources: cannot stand beside compute"));
}

TEST(JobKinds, AutomlReadsWhatTheSourceDocumentWrites) {
    const Json job = body(R"(
type: automl
experiment_name: dpv2-cli-text-ner
resources: {instance_type: Standard_NC24}
task: text_ner
primary_metric: accuracy
log_verbosity: debug
limits: {timeout_minutes: 120, max_nodes: 4, max_trials: 2, max_concurrent_trials: 2}
training_data: {path: ./t, type: mltable}
validation_data: {type: mltable, path: ./v}
sweep:
  sampling_algorithm: random
  early_termination: {type: bandit, evaluation_interval: 2, slack_amount: 0.05, delay_evaluation: 6}
search_space:
  - model_name: {type: choice, values: [bert_base_cased, roberta_base]}
  - model_name: {type: choice, values: [distilroberta_base]}
    weight_decay: {type: uniform, min_value: 0.01, max_value: 0.1}
)");
    const Json& details = job["taskDetails"];
    EXPECT_EQ(details["taskType"].text(), "TextNER");
    EXPECT_EQ(details["limitSettings"].dump(),
              R"({"maxNodes":4,"maxTrials":2,"maxConcurrentTrials":2,"timeout":"PT2H"})");
    EXPECT_EQ(details["searchSpace"].dump(),
              "[{\"modelName\":\"choice('bert_base_cased','roberta_base')\"},"
              "{\"modelName\":\"choice('distilroberta_base')\",\"weightDecay\":\"uniform(0.01,0.1)\"}]");
    EXPECT_EQ(details["sweepSettings"]["earlyTermination"]["slackAmount"].number(), 0.05);
    EXPECT_EQ(job["resources"]["instanceType"].text(), "Standard_NC24");
}

TEST(JobKinds, AutomlNamesWhatItDoesNotKnow) {
    const auto found = problems(R"(
type: automl
task: classification
primary_metric: acuracy
training_data: {path: ./t, type: uri_folder}
limits: {max_trails: 2}
training: {allowed_training_algorithms: [light_gbm, xgbost]}
featurization: {mode: sometimes}
)");
    for (const char* beginning :
         {"primary_metric: cannot be 'acuracy'; did you mean 'accuracy'?", "training_data.type: cannot be",
          "limits.max_trails: unknown key; did you mean 'max_trials'?", "target_column_name: is missing",
          "training.allowed_training_algorithms: cannot have 'xgbost'", "featurization.mode: cannot be"}) {
        EXPECT_TRUE(has(found, beginning)) << beginning;
    }
    EXPECT_TRUE(has(problems("type: automl\ntask: clasification\n"),
                    "task: cannot be 'clasification'; did you mean"));
}

TEST(JobKinds, ComponentsSayWhatIsWrongWithThem) {
    EXPECT_TRUE(
        has(problems_of(parse_component("type: comand\nname: x\n")), "type: cannot be 'comand'; did you"));
    EXPECT_TRUE(has(
        problems_of(parse_component("type: command\nname: A-b\ncommand: x\nenvironment: 'azureml:e:1'\n")),
        "name: a component's name begins with a small letter"));
    EXPECT_TRUE(has(problems_of(parse_component("type: command\ncommand: x\nenvironment: 'azureml:e:1'\n")),
                    "name: is missing"));
    EXPECT_TRUE(
        has(problems_of(parse_component("type: spark\nname: s\nentry: {file: a}\nargs: ${{inputs.x}}\n")),
            "args: ${{inputs.x}} names no input of this component"));
    EXPECT_TRUE(has(problems_of(parse_component("type: parallel\nname: s\n")), "task: is missing"));
    const auto fine = parse_component(
        "type: spark\nname: s\nentry: {class_name: a.B}\ninputs: {n: {type: number, default: 3}}\n");
    ASSERT_TRUE(fine) << fine.error().message;
    Resolver as_written;
    const Json spec =
        (*to_arm_component(*fine, ComponentUse::Named, as_written)).get("properties.componentSpec");
    EXPECT_EQ(spec["entry"].dump(), R"({"class_name":"a.B"})");
    EXPECT_EQ(spec["inputs"].dump(), R"({"n":{"type":"number","default":"3.0"}})");
}

TEST(JobKinds, HugeListsAreRefused) {
    std::string values;
    for (int i = 0; i < 10'001; ++i) values += "1,";
    std::string sweep = kSweep;
    sweep.replace(sweep.find("{type: uniform, min_value: 0.1, max_value: 1}"), 45,
                  "{type: choice, values: [" + values + "]}");
    EXPECT_TRUE(has(problems(sweep), "search_space.lr.values: has more than 10000 values"));
    std::string ports = "type: command\nname: x\ncommand: x\nenvironment: 'azureml:e:1'\ninputs:\n";
    for (int i = 0; i < 1'001; ++i) ports += "  i" + std::to_string(i) + ": {type: string}\n";
    EXPECT_TRUE(has(problems_of(parse_component(ports)), "inputs: must be a mapping of at most 1000 names"));
}

}  // namespace
}  // namespace lavant::wire
