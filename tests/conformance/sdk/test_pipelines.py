"""Pipelines as the SDK builds them: stored as sent, found again whole. Their engine comes later."""
import pytest
from azure.ai.ml import Input, Output, dsl, load_component, load_job, spark
from azure.ai.ml.entities import CommandComponent, Environment
from flows import IMAGE, ended, fresh, write_tree
from test_sweep_spark_automl import ends_unsupported

BASE = "azureml:base:1"


@pytest.fixture
def step(tmp_path):
    """A command component in a file, with code."""
    write_tree(tmp_path, {"src/main.py": fresh("print(1)"), "c.yml": """
type: command
name: step
version: "1"
inputs:
  n: {type: integer, default: 1}
  d: {type: uri_folder, optional: true}
outputs:
  o: {type: uri_folder}
code: src
command: python main.py ${{inputs.n}} $[[--d ${{inputs.d}}]] ${{outputs.o}}
environment: {image: "python:3.11-slim"}
"""})
    return load_component(tmp_path / "c.yml")


def submit(ml, job):
    made = ml.jobs.create_or_update(job)
    got = ml.jobs.get(made.name)
    assert got.type == "pipeline" and got.name == made.name
    return got


def test_a_dsl_pipeline(ml, step):
    @dsl.pipeline(display_name="two steps", description="text", tags={"a": "b"}, default_compute="serverless", experiment_name="pipes")
    def pipe(n, data):
        one = step(n=n)
        two = step(n=2, d=one.outputs.o)
        two.display_name = "second"
        return {"final": two.outputs.o}

    job = pipe(n=5, data=Input(type="uri_folder", path="azureml://datastores/workspaceblobstore/paths/d/"))
    got = submit(ml, job)
    assert set(got.jobs) == {"one", "two"} and got.display_name == "two steps" and got.description == "text" and got.tags == {"a": "b"}
    assert got.settings.default_compute == "serverless" and got.experiment_name == "pipes"
    assert str(got._to_dict()["inputs"]["n"]) == "5" and set(got.outputs) == {"final"}
    assert got.jobs["two"].display_name == "second" and got.jobs["two"].type == "command"
    assert got.jobs["two"]._to_dict()["inputs"]["d"]["path"] == "${{parent.jobs.one.outputs.o}}"
    assert str(got)


def test_without_an_engine_it_ends_with_a_reason(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        step(n=1)

    ends_unsupported(ml, submit(ml, pipe()).name)


def test_inline_commands(ml, tmp_path):
    write_tree(tmp_path, {"p.yml": """
type: pipeline
display_name: inline
settings: {default_compute: azureml:serverless, continue_on_step_failure: false, force_rerun: true}
inputs:
  n: 5
  f: {type: uri_file, path: x.csv}
outputs:
  final: {type: uri_folder, mode: upload}
jobs:
  a:
    type: command
    command: echo ${{inputs.n}} ${{inputs.f}} > ${{outputs.o}}/x
    environment: {image: "python:3.11-slim"}
    inputs: {n: "${{parent.inputs.n}}", f: "${{parent.inputs.f}}"}
    outputs: {o: {type: uri_folder}}
  b:
    command: cp -r ${{inputs.i}} ${{outputs.final}}
    environment: azureml:base:1
    inputs: {i: "${{parent.jobs.a.outputs.o}}"}
    outputs: {final: "${{parent.outputs.final}}"}
""", "x.csv": fresh("a")})
    got = submit(ml, load_job(tmp_path / "p.yml"))
    assert set(got.jobs) == {"a", "b"} and got.settings.default_compute == "serverless"
    assert got.settings.continue_on_step_failure is False and got.settings.force_rerun is True
    assert got.inputs["f"].mode == "ro_mount" and got.outputs["final"].mode == "upload"


def test_components_registered_before(ml, step, uniq):
    step.name = uniq("step")
    registered = ml.components.create_or_update(step)

    @dsl.pipeline(default_compute="serverless")
    def pipe():
        registered(n=4)

    got = submit(ml, pipe())
    node = next(iter(got.jobs.values()))
    assert registered.name in str(node.component) and str(node._to_dict()["inputs"]["n"]) == "4"


def test_a_component_by_name(ml, step, uniq, tmp_path):
    step.name = uniq("step")
    ml.components.create_or_update(step)
    write_tree(tmp_path, {"p.yml": f"""
type: pipeline
settings: {{default_compute: serverless}}
jobs:
  a: {{type: command, component: "azureml:{step.name}:1", inputs: {{n: 3}}}}
  b: {{type: command, component: "azureml:{step.name}@latest", inputs: {{n: 3}}}}
"""})
    got = submit(ml, load_job(tmp_path / "p.yml"))
    assert set(got.jobs) == {"a", "b"}


def test_a_component_that_is_not_there(ml, tmp_path):
    write_tree(tmp_path, {"p.yml": "type: pipeline\nsettings: {default_compute: serverless}\njobs:\n"
                                   "  a: {type: command, component: 'azureml:nosuchcomponent:1'}\n"})
    with pytest.raises(Exception) as refused:
        ml.jobs.create_or_update(load_job(tmp_path / "p.yml"))
    assert "nosuchcomponent" in str(refused.value)


def test_a_pipeline_in_a_pipeline(ml, step):
    @dsl.pipeline()
    def inner(n: int):
        node = step(n=n)
        return {"o": node.outputs.o}

    @dsl.pipeline(default_compute="serverless")
    def outer():
        first = inner(n=1)
        step(n=2, d=first.outputs.o)

    got = submit(ml, outer())
    assert set(got.jobs) == {"first", "step"} and got.jobs["first"].type == "pipeline"


def test_a_parallel_step(ml, tmp_path):
    from azure.ai.ml.parallel import RunFunction, parallel_run_function
    source = write_tree(tmp_path / "src", {"score.py": fresh("def init(): pass\ndef run(b): return b")})
    batch = parallel_run_function(
        name="batch", inputs={"files": Input(type="uri_folder")}, outputs={"res": Output(type="uri_file")}, input_data="${{inputs.files}}",
        instance_count=2, mini_batch_size="3", mini_batch_error_threshold=5, max_concurrency_per_instance=2, logging_level="DEBUG",
        retry_settings={"max_retries": 2, "timeout": 60},
        task=RunFunction(code=str(source), entry_script="score.py", environment=Environment(image=IMAGE), append_row_to="${{outputs.res}}"))

    @dsl.pipeline(default_compute="serverless")
    def pipe(files):
        node = batch(files=files)
        return {"r": node.outputs.res}

    got = submit(ml, pipe(files=Input(type="uri_folder", path="azureml://datastores/workspaceblobstore/paths/d/")))
    node = next(iter(got.jobs.values()))
    assert node.type == "parallel" and int(node.mini_batch_size) == 3 and node.resources.instance_count == 2
    assert node.retry_settings.max_retries == 2 and node.logging_level == "DEBUG"


def test_a_spark_step(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"entry.py": fresh()})
    node = spark(code=str(source), entry={"file": "entry.py"}, driver_cores=1, driver_memory="2g", executor_cores=2, executor_memory="2g",
                 executor_instances=2, inputs={"p": Input(type="integer")}, args="--p ${{inputs.p}}",
                 resources={"instance_type": "standard_e4s_v3", "runtime_version": "3.4"})

    @dsl.pipeline()
    def pipe():
        one = node(p=3)
        one.resources = {"instance_type": "standard_e8s_v3", "runtime_version": "3.4"}

    got = submit(ml, pipe())
    assert got.jobs["one"].type == "spark"


def test_a_sweep_step(ml):
    from azure.ai.ml.sweep import Uniform
    trial = CommandComponent(name="trial", command="echo ${{inputs.lr}}", environment=Environment(image=IMAGE), inputs={"lr": Input(type="number")})

    @dsl.pipeline(default_compute="serverless")
    def pipe():
        node = trial(lr=Uniform(0.1, 0.9)).sweep(primary_metric="acc", goal="maximize", sampling_algorithm="random")
        node.set_limits(max_total_trials=2)

    got = submit(ml, pipe())
    node = next(iter(got.jobs.values()))
    assert node.type == "sweep" and node.search_space["lr"].type == "uniform"


def test_an_automl_step(ml, tmp_path):
    from azure.ai.ml import automl

    @dsl.pipeline(default_compute="serverless")
    def pipe(data):
        node = automl.classification(training_data=data, target_column_name="y", primary_metric="accuracy",
                                     outputs={"best_model": Output(type="mlflow_model")})
        node.set_limits(max_trials=1)
        return {"m": node.outputs.best_model}

    got = submit(ml, pipe(data=Input(type="mltable", path="azureml://datastores/workspaceblobstore/paths/t/")))
    assert next(iter(got.jobs.values())).type == "automl"


def test_node_options(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        node = step(n=1)
        node.compute = "serverless"
        node.environment_variables = {"FOO": "bar"}
        node.comment = "why"
        node.resources = {"instance_count": 2, "instance_type": "Standard_DS3_v2"}
        node.distribution = {"type": "pytorch", "process_count_per_instance": 2}
        node.set_limits(timeout=600)
        node.outputs.o = Output(type="uri_folder", mode="upload", path="azureml://datastores/workspaceblobstore/paths/out/")

    got = submit(ml, pipe())
    node = got.jobs["node"]
    assert node.environment_variables["FOO"] == "bar" and node.resources.instance_count == 2
    assert node.limits.timeout == 600 and node.distribution.type.lower() == "pytorch" and node.comment == "why"


def test_named_outputs_of_a_pipeline(ml, step, uniq):
    name = uniq("out")

    @dsl.pipeline(default_compute="serverless")
    def pipe():
        node = step(n=1)
        return {"final": node.outputs.o}

    job = pipe()
    job.outputs.final = Output(type="uri_folder", mode="rw_mount", path="azureml://datastores/workspaceblobstore/paths/final/", name=name, version="1")
    got = submit(ml, job)
    assert got.outputs["final"].name == name and got.outputs["final"].version == "1"


def test_settings(ml, step):
    @dsl.pipeline()
    def pipe():
        step(n=1)

    job = pipe()
    job.settings.default_compute = "serverless"
    job.settings.continue_on_step_failure = True
    job.settings.continue_run_on_failed_optional_input = False
    job.settings.default_datastore = "workspaceblobstore"
    got = submit(ml, job)
    assert got.settings.continue_on_step_failure is True and got.settings.default_datastore == "workspaceblobstore"


def test_a_cluster_is_looked_up_before(ml, step):
    @dsl.pipeline(default_compute="no-such-cluster")
    def pipe():
        step(n=1)

    with pytest.raises(Exception) as refused:
        ml.jobs.create_or_update(pipe())
    assert "no-such-cluster" in str(refused.value)


def test_a_pipeline_on_a_cluster(ml, step, uniq):
    from azure.ai.ml.entities import AmlCompute
    name = uniq("cl")
    ml.compute.begin_create_or_update(AmlCompute(name=name, size="Standard_DS3_v2")).result()

    @dsl.pipeline(default_compute=name)
    def pipe():
        step(n=1)

    got = submit(ml, pipe())
    assert got.settings.default_compute == name
    ended(got.name)
    ml.compute.begin_delete(name)


def test_the_same_pipeline_twice_shares_its_components(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        step(n=1)

    first, second = submit(ml, pipe()), submit(ml, pipe())
    assert str(first.jobs["step"].component) == str(second.jobs["step"].component)


def test_experiment_and_tags_at_submission(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        step(n=1)

    made = ml.jobs.create_or_update(pipe(), experiment_name="given", tags={"k": "v"})
    assert made.experiment_name == "given" and made.tags["k"] == "v"


def test_skip_validation(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        step(n=1)

    assert ml.jobs.create_or_update(pipe(), skip_validation=True).name


def test_pipelines_are_listed_and_archived(ml, step):
    @dsl.pipeline(default_compute="serverless", display_name="to archive")
    def pipe():
        step(n=1)

    got = submit(ml, pipe())
    listed = list(ml.jobs.list())
    assert None not in listed and got.name in [one.name for one in listed]
    ended(got.name)
    ml.jobs.archive(got.name)
    assert got.name not in [one.name for one in ml.jobs.list()]
    ml.jobs.restore(got.name)


def test_children_of_a_pipeline(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe():
        step(n=1)

    got = submit(ml, pipe())
    ended(got.name)
    list(ml.jobs.list(parent_job_name=got.name))


def test_a_pipeline_of_a_pipeline_component(ml, tmp_path, uniq):
    write_tree(tmp_path, {"pc.yml": """
type: pipeline
name: inner
version: "1"
inputs: {n: {type: integer, default: 1}}
jobs:
  a: {type: command, command: "echo ${{inputs.n}}", environment: {image: "python:3.11-slim"}, inputs: {n: "${{parent.inputs.n}}"}}
""", "p.yml": """
type: pipeline
settings: {default_compute: serverless}
jobs:
  sub: {type: pipeline, component: ./pc.yml, inputs: {n: 3}}
"""})
    got = submit(ml, load_job(tmp_path / "p.yml"))
    assert got.jobs["sub"].type == "pipeline"


def test_literal_inputs_of_every_type(ml, step):
    @dsl.pipeline(default_compute="serverless")
    def pipe(i, f, b, s):
        step(n=i)

    got = submit(ml, pipe(i=1, f=0.5, b=True, s="text"))
    shown = got._to_dict()["inputs"]
    assert [str(shown[key]).lower() for key in "ifbs"] == ["1", "0.5", "true", "text"]
