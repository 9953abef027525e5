"""Kinds of jobs whose engines come later: stored as sent, found again whole, and ended as Failed with a clear reason."""
import pytest
from azure.ai.ml import Input, automl, command, load_job, spark
from azure.ai.ml.entities import SparkResourceConfiguration, UserIdentityConfiguration
from azure.ai.ml.sweep import (BanditPolicy, BayesianSamplingAlgorithm, Choice, GridSamplingAlgorithm, LogNormal, LogUniform, MedianStoppingPolicy,
                               Normal, QLogNormal, QLogUniform, QNormal, QUniform, Randint, RandomSamplingAlgorithm, TruncationSelectionPolicy,
                               Uniform)
from flows import ended, fresh, raw, settled, text_of, workspace_id, write_tree

BASE = "azureml:base:1"


def ends_unsupported(ml, name):
    """Until the engine is there the job says so; with it, it runs."""
    status = ended(name)
    if status == "Failed":
        record = raw("GET", f"/history/v1.0{workspace_id()}/runs/{name}/details").json()
        assert "not supported yet" in str(record["error"]), record["error"]
    else:
        assert status in ("Completed", "Canceled")


def swept(space, text="echo ${{inputs.x}}", **fields):
    base = command(command=text, environment=BASE, inputs={"x": 1})
    return base(**space).sweep(primary_metric="acc", goal="maximize", **fields)


SPACES = {"choice": Choice([1, 2, 3]), "uniform": Uniform(0.1, 0.9), "loguniform": LogUniform(-3, -1), "quniform": QUniform(1, 10, 2),
          "qloguniform": QLogUniform(0, 3, 1), "normal": Normal(0, 1), "qnormal": QNormal(0, 1, 1), "lognormal": LogNormal(0, 1),
          "qlognormal": QLogNormal(0, 1, 1), "randint": Randint(10)}


@pytest.mark.parametrize("name", SPACES)
def test_a_search_space(ml, name):
    made = ml.jobs.create_or_update(swept({"x": SPACES[name]}))
    got = ml.jobs.get(made.name)
    assert got.type == "sweep" and got.search_space["x"].type == name
    for key, value in vars(SPACES[name]).items():
        if isinstance(value, (int, float)):
            assert getattr(got.search_space["x"], key) == value


@pytest.mark.parametrize("algorithm,kind", [("random", "random"), ("grid", "grid"), ("bayesian", "bayesian"),
                                            (RandomSamplingAlgorithm(seed=7, rule="sobol"), "random"), (GridSamplingAlgorithm(), "grid"),
                                            (BayesianSamplingAlgorithm(), "bayesian")])
def test_a_sampling_algorithm(ml, algorithm, kind):
    made = ml.jobs.create_or_update(swept({"x": Choice([1, 2])}, sampling_algorithm=algorithm))
    got = ml.jobs.get(made.name).sampling_algorithm
    assert (got if isinstance(got, str) else text_of(got.type)).lower() == kind
    if not isinstance(algorithm, str) and kind == "random":
        assert got.seed == 7 and text_of(got.rule).lower() == "sobol"


@pytest.mark.parametrize("policy", [BanditPolicy(slack_factor=0.1, evaluation_interval=2, delay_evaluation=3), BanditPolicy(slack_amount=0.2),
                                    MedianStoppingPolicy(evaluation_interval=1), TruncationSelectionPolicy(truncation_percentage=20)])
def test_early_termination(ml, policy):
    made = ml.jobs.create_or_update(swept({"x": Choice([1, 2])}, early_termination_policy=policy))
    got = ml.jobs.get(made.name).early_termination
    assert type(got).__name__ == type(policy).__name__ and got.evaluation_interval == policy.evaluation_interval
    if isinstance(policy, BanditPolicy):
        assert (got.slack_factor or 0, got.slack_amount or 0) == (policy.slack_factor or 0, policy.slack_amount or 0)


def test_limits_and_objective_of_a_sweep(ml):
    job = swept({"x": Choice([1, 2])}, max_total_trials=4, max_concurrent_trials=2)
    job.set_limits(max_total_trials=4, max_concurrent_trials=2, timeout=7200, trial_timeout=600)
    job.display_name, job.experiment_name = "sweep", "sweeps"
    made = ml.jobs.create_or_update(job)
    got = ml.jobs.get(made.name)
    assert (got.limits.max_total_trials, got.limits.max_concurrent_trials) == (4, 2)
    assert (got.limits.timeout, got.limits.trial_timeout) == (7200, 600)
    assert (got.objective.primary_metric, got.objective.goal.lower()) == ("acc", "maximize")
    assert got.display_name == "sweep" and got.experiment_name == "sweeps" and got.trial.command == "echo ${{search_space.x}}"
    assert made.name in [one.name for one in ml.jobs.list()]
    assert str(got) and got._to_dict()["type"] == "sweep"
    ends_unsupported(ml, made.name)


def test_a_sweep_without_an_engine_streams_its_reason(ml):
    from azure.ai.ml.exceptions import JobException
    from flows import streamed
    made = ml.jobs.create_or_update(swept({"x": Choice([1])}, max_total_trials=1))
    try:
        streamed(ml, made.name)
    except JobException as wrong:
        assert "not supported yet" in str(wrong)


def test_a_sweep_from_a_file(ml, tmp_path):
    write_tree(tmp_path, {"src/main.py": fresh("print(1)"), "s.yml": """
type: sweep
trial:
  code: src
  command: python main.py --lr ${{search_space.lr}}
  environment: {image: "python:3.11-slim"}
sampling_algorithm: {type: random, seed: 3}
search_space:
  lr: {type: uniform, min_value: 0.001, max_value: 0.1}
  bs: {type: choice, values: [16, 32]}
objective: {primary_metric: acc, goal: minimize}
limits: {max_total_trials: 2}
resources: {instance_count: 1, instance_type: Standard_DS3_v2}
queue_settings: {job_tier: standard}
"""})
    made = ml.jobs.create_or_update(load_job(tmp_path / "s.yml"))
    got = ml.jobs.get(made.name)
    assert got.search_space["bs"].values == [16, 32] and got.objective.goal.lower() == "minimize"
    assert got.trial.environment and "/codes/" in got.trial.code


def test_a_sweep_can_be_canceled_archived_and_restored(ml):
    made = ml.jobs.create_or_update(swept({"x": Choice([1, 2])}))
    ml.jobs.begin_cancel(made.name).result()
    settled(ml, made.name)
    ml.jobs.archive(made.name)
    assert made.name not in [one.name for one in ml.jobs.list()]
    ml.jobs.restore(made.name)
    assert made.name in [one.name for one in ml.jobs.list()]


# --- spark

@pytest.fixture
def spark_job(tmp_path):
    source = write_tree(tmp_path / "src", {"entry.py": fresh("print('spark')"), "a.jar": "j", "b.py": "", "c.txt": ""})
    return lambda **fields: spark(code=str(source), entry={"file": "entry.py"}, driver_cores=1, driver_memory="2g", executor_cores=2,
                                  executor_memory="2g", executor_instances=2, identity=UserIdentityConfiguration(),
                                  resources=fields.pop("resources", {"instance_type": "Standard_E4S_V3", "runtime_version": "3.4"}), **fields)


def test_spark(ml, spark_job):
    made = ml.jobs.create_or_update(spark_job(inputs={"p": 3}, args="--p ${{inputs.p}}", display_name="sp", experiment_name="sparks"))
    got = ml.jobs.get(made.name)
    assert got.type == "spark" and got.display_name == "sp" and got.args == "--p ${{inputs.p}}"
    assert got.entry.entry == "entry.py" and text_of(got.entry.entry_type).endswith("PythonEntry")
    assert (int(got.driver_cores), got.driver_memory, int(got.executor_cores), got.executor_memory, int(got.executor_instances)) == (1, "2g", 2, "2g", 2)
    assert got.resources.instance_type.lower() == "standard_e4s_v3" and got.resources.runtime_version.startswith("3.4")
    assert got.identity.type == "user_identity"
    assert str(got)
    ends_unsupported(ml, made.name)


def test_spark_with_dynamic_allocation_and_files(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"entry.py": fresh(), "a.jar": "j", "b.py": "", "c.txt": ""})
    job = spark(code=str(source), entry={"file": "entry.py"}, driver_cores=1, driver_memory="2g", executor_cores=2, executor_memory="2g",
                dynamic_allocation_enabled=True, dynamic_allocation_min_executors=1, dynamic_allocation_max_executors=4,
                executor_instances=2, py_files=["b.py"], jars=["a.jar"], files=["c.txt"], conf={"spark.x": "1"},
                resources=SparkResourceConfiguration(instance_type="standard_e4s_v3", runtime_version="3.4"))
    got = ml.jobs.get(ml.jobs.create_or_update(job).name)
    # Neither release reads them back into the entity.
    kept = raw("GET", got.id).json()["properties"]
    assert kept["pyFiles"] == ["b.py"] and kept["jars"] == ["a.jar"] and kept["files"] == ["c.txt"]
    assert str(got.conf["spark.x"]) == "1"


def test_spark_from_a_file(ml, tmp_path):
    write_tree(tmp_path, {"src/entry.py": fresh(), "s.yml": """
type: spark
code: src
entry: {file: entry.py}
conf: {spark.driver.cores: 1, spark.driver.memory: 2g, spark.executor.cores: 2, spark.executor.memory: 2g, spark.executor.instances: 2}
inputs:
  d: {type: uri_file, path: "azureml://datastores/workspaceblobstore/paths/x.csv", mode: direct}
args: --d ${{inputs.d}}
identity: {type: managed}
resources: {instance_type: standard_e4s_v3, runtime_version: "3.4"}
"""})
    got = ml.jobs.get(ml.jobs.create_or_update(load_job(tmp_path / "s.yml")).name)
    assert got.type == "spark" and got.inputs["d"].mode == "direct"


# --- automl

@pytest.fixture
def table(tmp_path):
    folder = write_tree(tmp_path / "table", {"MLTable": "paths:\n  - file: ./t.csv\n", "t.csv": fresh("a,y\n1,0")})
    return Input(type="mltable", path=str(folder))


def submit(ml, job):
    made = ml.jobs.create_or_update(job)
    got = ml.jobs.get(made.name)
    assert got.type == "automl" and got.name == made.name
    return got


def test_classification(ml, table):
    job = automl.classification(training_data=table, target_column_name="y", primary_metric="accuracy", n_cross_validations=3,
                                experiment_name="auto", tags={"k": "v"})
    job.set_limits(timeout_minutes=60, trial_timeout_minutes=10, max_trials=4, max_concurrent_trials=2, enable_early_termination=True)
    job.set_training(allowed_training_algorithms=["LogisticRegression"], enable_onnx_compatible_models=True)
    job.set_featurization(mode="auto")
    job.resources = {"instance_type": "Standard_DS3_v2", "instance_count": 1}
    got = submit(ml, job)
    assert got.task_type.lower() == "classification" and got.target_column_name == "y" and text_of(got.primary_metric).lower() == "accuracy"
    assert (got.limits.max_trials, got.limits.timeout_minutes, got.limits.max_concurrent_trials) == (4, 60, 2)
    assert got.n_cross_validations in (3, "3") and got.tags == {"k": "v"} and got.experiment_name == "auto"
    assert str(got)
    ends_unsupported(ml, got.name)


def test_regression(ml, table):
    job = automl.regression(training_data=table, target_column_name="y", primary_metric="r2_score")
    job.set_limits(max_trials=2)
    assert submit(ml, job).task_type.lower() == "regression"


def test_forecasting(ml, table):
    from azure.ai.ml.automl import ForecastingSettings
    job = automl.forecasting(training_data=table, target_column_name="y", primary_metric="normalized_root_mean_squared_error",
                             forecasting_settings=ForecastingSettings(time_column_name="t", forecast_horizon=24, frequency="H"))
    job.set_limits(max_trials=2)
    got = submit(ml, job)
    assert got.forecasting_settings.time_column_name == "t" and int(got.forecasting_settings.forecast_horizon) == 24


TEXT_TASKS = ["text_classification", "text_classification_multilabel", "text_ner"]
IMAGE_TASKS = ["image_classification", "image_classification_multilabel", "image_object_detection", "image_instance_segmentation"]


@pytest.mark.parametrize("task", TEXT_TASKS)
def test_text(ml, table, task):
    fields = {} if task == "text_ner" else {"target_column_name": "y"}
    job = getattr(automl, task)(training_data=table, validation_data=table, **fields)
    job.set_limits(max_trials=2, timeout_minutes=30)
    assert submit(ml, job).limits.max_trials == 2


@pytest.mark.parametrize("task", IMAGE_TASKS)
def test_images(ml, table, task):
    job = getattr(automl, task)(training_data=table, target_column_name="y")
    job.set_limits(max_trials=2, max_concurrent_trials=1)
    job.set_training_parameters(model_name="vitb16r224" if "classification" in task else "fasterrcnn_resnet50_fpn"
                                if "detection" in task else "maskrcnn_resnet50_fpn")
    got = submit(ml, job)
    assert got.target_column_name == "y"


def test_images_with_a_sweep(ml, table):
    from azure.ai.ml.automl import SearchSpace
    job = automl.image_classification(training_data=table, target_column_name="y")
    job.set_limits(max_trials=2)
    job.extend_search_space([SearchSpace(model_name=Choice(["vitb16r224"]), learning_rate=Uniform(0.001, 0.01))])
    job.set_sweep(sampling_algorithm="random", early_termination=BanditPolicy(evaluation_interval=2, slack_factor=0.2))
    got = submit(ml, job)
    assert got.sweep.sampling_algorithm.lower() == "random"


def test_automl_from_a_file(ml, tmp_path, table):
    write_tree(tmp_path, {"a.yml": f"""
type: automl
task: classification
primary_metric: accuracy
target_column_name: y
training_data: {{path: "{table.path}", type: mltable}}
limits: {{timeout_minutes: 60, max_trials: 3}}
training: {{enable_model_explainability: false}}
"""})
    assert submit(ml, load_job(tmp_path / "a.yml")).limits.max_trials == 3


def test_automl_by_datastore_uri(ml):
    job = automl.regression(training_data=Input(type="mltable", path="azureml://datastores/workspaceblobstore/paths/t/"), target_column_name="y")
    assert submit(ml, job).training_data.path.endswith("/paths/t/")


# --- data transfer, import, fine-tuning: sent by newer releases

def test_finetuning_is_stored(ml):
    finetuning = pytest.importorskip("azure.ai.ml.finetuning")
    job = finetuning.create_finetuning_job(
        model="azureml://registries/azureml-meta/models/Llama-2-7b/versions/1", task="chatCompletion",
        training_data="azureml://datastores/workspaceblobstore/paths/t.jsonl",
        validation_data="azureml://datastores/workspaceblobstore/paths/v.jsonl", output_model_name_prefix="ft")
    made = ml.jobs.create_or_update(job)
    got = ml.jobs.get(made.name)
    assert got.name == made.name and got.task.lower().replace("_", "") == "chatcompletion"
