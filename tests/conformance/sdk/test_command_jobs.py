"""Every field of command(), as a user finds it again in the job that was stored."""
import os

import pytest
import sdk_version
from azure.ai.ml import Input, MpiDistribution, Output, PyTorchDistribution, TensorFlowDistribution, command
from azure.ai.ml.entities import (AmlTokenConfiguration, Environment, JobResourceConfiguration, JupyterLabJobService,
                                  ManagedIdentityConfiguration, QueueSettings, SshJobService, TensorBoardJobService,
                                  UserIdentityConfiguration, VsCodeJobService)
from azure.core.exceptions import HttpResponseError
from flows import IMAGE, completed, ended, fresh, log_of, settled, tree, workspace_id, write_tree

BASE = "azureml:base:1"


def job(text="true", **fields):
    fields.setdefault("environment", BASE)
    return command(command=text, **fields)


def stored(ml, thing):
    return ml.jobs.get(ml.jobs.create_or_update(thing).name)


def test_a_job_with_nothing_but_a_command_runs(ml):
    done = completed(ml, job("echo one line"))
    assert done.type == "command" and settled(ml, done.name) == "Completed"
    assert "one line" in log_of(done.name)


def test_the_answer_of_a_submission_is_a_whole_job(ml):
    made = ml.jobs.create_or_update(job("true", display_name="shown"))
    assert made.name and made.id.endswith("/jobs/" + made.name)
    assert made.status in ("Queued", "NotStarted", "Starting", "Preparing", "Running")
    assert made.creation_context.created_at and made.creation_context.created_by
    assert made.studio_url.startswith("http") and made.services["Studio"].endpoint.startswith("http")
    assert made.services["Tracking"].endpoint.startswith("http")


def test_a_name_that_is_given_is_kept(ml, uniq):
    name = uniq("named")
    assert ml.jobs.create_or_update(job(name=name)).name == name


def test_a_name_is_made_up_by_the_client(ml):
    assert len(ml.jobs.create_or_update(job()).name.split("_")) == 3


def test_the_experiment_is_the_folders_name_unless_it_is_given(ml):
    assert stored(ml, job()).experiment_name == "project"
    assert stored(ml, job(experiment_name="other")).experiment_name == "other"


def test_display_name_description_and_tags(ml):
    got = stored(ml, job(display_name="a b", description="what it is\nfor", tags={"k": "v", "e": ""}))
    assert (got.display_name, got.description, got.tags) == ("a b", "what it is\nfor", {"k": "v", "e": ""})


def test_unicode_survives(ml):
    got = stored(ml, job("echo grün", display_name="Größe 漢字 🚀", tags={"ключ": "значение"}))
    assert got.display_name == "Größe 漢字 🚀" and got.tags == {"ключ": "значение"} and got.command == "echo grün"


def test_the_display_name_defaults_to_something(ml):
    assert stored(ml, job()).display_name


def test_user_properties_are_kept_beside_our_own(ml):
    thing = job()
    thing.properties["mine"] = "1"
    got = stored(ml, thing)
    assert got.properties["mine"] == "1"


def test_environment_variables_reach_the_command(ml):
    done = completed(ml, job("echo [$FOO] [$EMPTY]", environment_variables={"FOO": "b a r", "EMPTY": ""}))
    assert done.environment_variables["FOO"] == "b a r"
    assert "[b a r] []" in log_of(done.name)


def test_environment_variables_that_are_no_strings(ml):
    got = stored(ml, job(environment_variables={"N": 3, "B": True}))
    assert got.environment_variables["N"] == "3" and got.environment_variables["B"] in ("True", "true")


# --- code

def test_code_runs_from_its_folder(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"main.py": fresh("import pkg.util; print(pkg.util.X)"),
                                           "pkg/__init__.py": "", "pkg/util.py": "X = 'from the package'"})
    done = completed(ml, job("python main.py", code=str(source)))
    assert "from the package" in log_of(done.name)
    assert done.code and "/codes/" in done.code


def test_the_same_code_is_uploaded_once(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"main.py": fresh()})
    first = ml.jobs.create_or_update(job(code=str(source)))
    second = ml.jobs.create_or_update(job(code=str(source)))
    assert first.code == second.code


def test_other_code_is_another_asset(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"main.py": fresh()})
    first = ml.jobs.create_or_update(job(code=str(source)))
    write_tree(source, {"main.py": fresh()})
    assert ml.jobs.create_or_update(job(code=str(source))).code != first.code


def test_a_single_file_as_code(ml, tmp_path):
    write_tree(tmp_path, {"only.py": fresh("print('only me')")})
    done = completed(ml, job("python only.py", code=str(tmp_path / "only.py")))
    assert "only me" in log_of(done.name)


def test_a_job_without_code_has_none(ml):
    assert stored(ml, job()).code is None


def test_code_of_an_earlier_job_can_be_named(ml, tmp_path):
    source = write_tree(tmp_path / "src", {"main.py": fresh("print('again')")})
    first = ml.jobs.create_or_update(job("python main.py", code=str(source)))
    done = completed(ml, job("python main.py", code=first.code))
    assert "again" in log_of(done.name)


def test_code_that_is_not_there_is_refused(ml):
    with pytest.raises(HttpResponseError) as refused:
        ml.jobs.create_or_update(job(code=f"{workspace_id()}/codes/00000000-0000-0000-0000-00000000dead/versions/1"))
    assert 400 <= refused.value.status_code < 500


# --- environments

def test_an_environment_by_name_and_version(ml, uniq):
    name = uniq("env")
    made = ml.environments.create_or_update(Environment(name=name, image=IMAGE))
    got = stored(ml, job(environment=f"azureml:{name}:1"))
    assert got.environment in (f"azureml:{name}:1", f"{name}:1")
    completed(ml, job(environment=f"{name}:1"))
    completed(ml, job(environment=made))
    completed(ml, job(environment=made.id))


def test_an_environment_at_a_label(ml, uniq):
    name = uniq("env")
    ml.environments.create_or_update(Environment(name=name, image=IMAGE))
    completed(ml, job(environment=f"{name}@latest"))  # with azureml: in front the SDK itself looks for another name


def test_an_anonymous_environment_is_named_by_its_content(ml):
    first = ml.jobs.create_or_update(job(environment=Environment(image=IMAGE)))
    second = ml.jobs.create_or_update(job(environment=Environment(image=IMAGE)))
    assert "CliV2AnonymousEnvironment" in first.environment and first.environment == second.environment


def test_an_environment_object_with_a_name_is_registered(ml, uniq):
    name = uniq("env")
    ml.jobs.create_or_update(job(environment=Environment(name=name, image=IMAGE)))
    assert ml.environments.get(name, label="latest").image == IMAGE


def test_an_anonymous_environment_with_conda(ml, tmp_path):
    write_tree(tmp_path, {"conda.yml": "name: x\ndependencies:\n- python=3.11\n- pip:\n  - numpy\n"})
    thing = job(environment=Environment(image=IMAGE, conda_file=str(tmp_path / "conda.yml")))
    try:
        made = ml.jobs.create_or_update(thing)
    except HttpResponseError as refused:  # until environments are built here
        assert refused.status_code == 400 and "conda" in str(refused)
        return
    assert made.environment


def test_an_anonymous_environment_with_a_build_context(ml, tmp_path):
    from azure.ai.ml.entities import BuildContext
    context = write_tree(tmp_path / "ctx", {"Dockerfile": fresh("FROM python:3.11-slim")})
    thing = job(environment=Environment(build=BuildContext(path=str(context))))
    try:
        made = ml.jobs.create_or_update(thing)
    except HttpResponseError as refused:  # until environments are built here
        assert refused.status_code == 400 and "build" in str(refused)
        return
    assert made.environment


CURATED = ["AzureML-sklearn-1.5@latest", "azureml:AzureML-sklearn-1.5@latest", "azureml:AzureML-sklearn-1.5:1",
           "azureml://registries/azureml/environments/sklearn-1.5/labels/latest",
           "azureml://registries/azureml/environments/sklearn-1.5/versions/1"]


@pytest.mark.parametrize("name", CURATED)
def test_a_curated_environment(ml, name):
    completed(ml, job("python -c 'print(1)'", environment=name))


def test_an_environment_that_is_not_there_is_refused(ml):
    with pytest.raises(HttpResponseError) as refused:
        ml.jobs.create_or_update(job(environment="azureml:no-such-environment:3"))
    assert 400 <= refused.value.status_code < 500 and "no-such-environment" in str(refused.value)


# --- inputs

LITERALS = {"text": ("hello world", "hello world"), "whole": (3, "3"), "real": (0.5, "0.5"), "yes": (True, "True"),
            "tiny": (1e-05, "1e-05")}


@pytest.mark.parametrize("name", LITERALS)
def test_a_literal_input(ml, name):
    value, text = LITERALS[name]
    done = completed(ml, job('echo "<${{inputs.x}}>"', inputs={"x": value}))
    assert f"<{text}>".lower() in log_of(done.name).lower()
    assert str(done._to_dict()["inputs"]["x"]).lower() == text.lower()


@pytest.fixture
def csv(tmp_path):
    write_tree(tmp_path, {"in/a.csv": fresh("a,b\n1,2")})
    return tmp_path / "in" / "a.csv"


@pytest.mark.parametrize("mode", [None, "ro_mount", "download"])
def test_a_local_file_as_input(ml, csv, mode):
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=str(csv), mode=mode)}))
    assert "1,2" in log_of(done.name)
    assert done.inputs["f"].path.startswith("azureml://datastores/workspaceblobstore/paths/LocalUpload/")
    assert done.inputs["f"].mode == (mode or "ro_mount")


@pytest.mark.parametrize("mode", [None, "ro_mount", "download"])
def test_a_local_folder_as_input(ml, csv, mode):
    done = completed(ml, job("ls ${{inputs.d}} && cat ${{inputs.d}}/a.csv",
                             inputs={"d": Input(type="uri_folder", path=str(csv.parent), mode=mode)}))
    assert "1,2" in log_of(done.name)


def test_direct_mode_gives_the_uri(ml, csv):
    done = completed(ml, job("echo uri=${{inputs.f}}", inputs={"f": Input(type="uri_file", path=str(csv), mode="direct")}))
    assert "uri=azureml://" in log_of(done.name)
    assert done.inputs["f"].mode == "direct"


def test_a_relative_path_of_an_input(ml, csv, monkeypatch):
    monkeypatch.chdir(csv.parent)
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path="./a.csv")}))
    assert "1,2" in log_of(done.name)


@pytest.fixture
def registered(ml, csv, uniq):
    from azure.ai.ml.entities import Data
    name = uniq("data")
    return ml.data.create_or_update(Data(name=name, path=str(csv), type="uri_file"))


def test_data_by_name_and_version(ml, registered):
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=f"azureml:{registered.name}:1")}))
    assert "1,2" in log_of(done.name)


def test_data_at_latest(ml, registered):
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=f"{registered.name}@latest")}))
    assert "1,2" in log_of(done.name)


def test_data_by_its_id(ml, registered):
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=registered.id)}))
    assert "1,2" in log_of(done.name)


def test_data_by_the_path_of_the_asset(ml, registered):
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=registered.path)}))
    assert "1,2" in log_of(done.name)


def test_data_by_a_short_datastore_uri(ml, registered):
    short = "azureml://datastores/" + registered.path.partition("/datastores/")[2]
    done = completed(ml, job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path=short)}))
    assert "1,2" in log_of(done.name)


def test_data_that_is_not_there_is_refused_or_fails(ml):
    try:
        made = ml.jobs.create_or_update(job("cat ${{inputs.f}}", inputs={"f": Input(type="uri_file", path="azureml:no-such-data:1")}))
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500 and "no-such-data" in str(refused)
        return
    assert ended(made.name) == "Failed"


def test_a_path_that_is_not_there_fails_with_a_reason(ml):
    made = ml.jobs.create_or_update(job("cat ${{inputs.f}}", inputs={
        "f": Input(type="uri_file", path="azureml://datastores/workspaceblobstore/paths/no/such/file.csv")}))
    assert ended(made.name) == "Failed"


def test_an_mltable_input(ml, tmp_path):
    folder = write_tree(tmp_path / "table", {"MLTable": "paths:\n  - file: ./t.csv\n", "t.csv": fresh("x,y")})
    done = completed(ml, job("cat ${{inputs.t}}/t.csv", inputs={"t": Input(type="mltable", path=str(folder))}))
    assert "x,y" in log_of(done.name)


@pytest.mark.parametrize("kind", ["custom_model", "mlflow_model"])
def test_a_model_as_input(ml, tmp_path, uniq, kind):
    from azure.ai.ml.entities import Model
    folder = write_tree(tmp_path / "model", {"MLmodel": fresh("flavors: {}"), "weights.bin": "w"})
    name = uniq("model")
    ml.models.create_or_update(Model(name=name, path=str(folder), type=kind))
    done = completed(ml, job("cat ${{inputs.m}}/weights.bin && echo", inputs={"m": Input(type=kind, path=f"azureml:{name}:1")}))
    assert done.inputs["m"].type == kind


def test_an_optional_input_in_brackets(ml):
    done = completed(ml, job("echo a $[[--x ${{inputs.x}}]]", inputs={"x": 3}))
    assert "a --x 3" in log_of(done.name)


# --- outputs

WRITE = "echo bytes > ${{outputs.o}}/f.txt"


@pytest.mark.parametrize("mode", [None, "rw_mount", "upload"])
def test_an_output_folder(ml, tmp_path, mode):
    done = completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder", mode=mode)}))
    settled(ml, done.name)
    ml.jobs.download(done.name, output_name="o", download_path=tmp_path / "got")
    assert tree(tmp_path / "got") == {"named-outputs/o/f.txt": b"bytes\n"}
    assert done.outputs["o"].mode == (mode or "rw_mount") and done.outputs["o"].type == "uri_folder"


def test_an_output_file(ml, tmp_path):
    done = completed(ml, job("echo bytes > ${{outputs.o}}", outputs={"o": Output(type="uri_file")}))
    settled(ml, done.name)
    ml.jobs.download(done.name, output_name="o", download_path=tmp_path / "got")
    assert list(tree(tmp_path / "got").values()) == [b"bytes\n"]


def test_an_output_at_a_path(ml, tmp_path, uniq):
    path = f"azureml://datastores/workspaceblobstore/paths/{uniq('place')}/"
    done = completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder", path=path)}))
    again = completed(ml, job("cat ${{inputs.i}}/f.txt", inputs={"i": Input(type="uri_folder", path=path)}))
    assert "bytes" in log_of(again.name) and done.outputs["o"].path.rstrip("/") == path.rstrip("/")


def test_the_output_of_a_job_is_another_ones_input(ml):
    first = completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder")}))
    path = f"azureml://jobs/{first.name}/outputs/o"
    second = completed(ml, job("cat ${{inputs.i}}/f.txt", inputs={"i": Input(type="uri_folder", path=path)}))
    assert "bytes" in log_of(second.name)


def test_a_file_in_the_output_of_a_job(ml):
    first = completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder")}))
    path = f"azureml://jobs/{first.name}/outputs/o/paths/f.txt"
    second = completed(ml, job("cat ${{inputs.i}}", inputs={"i": Input(type="uri_file", path=path)}))
    assert "bytes" in log_of(second.name)


def test_a_named_output_is_registered_as_data(ml, uniq):
    name = uniq("made")
    done = completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder", name=name, version="3")}))
    assert done.outputs["o"].name == name and done.outputs["o"].version == "3"
    data = ml.data.get(name, version="3")
    assert data.type == "uri_folder" and data.path.endswith("/")
    again = completed(ml, job("cat ${{inputs.i}}/f.txt", inputs={"i": Input(type="uri_folder", path=f"azureml:{name}:3")}))
    assert "bytes" in log_of(again.name)


def test_a_named_output_without_a_version_gets_one(ml, uniq):
    name = uniq("made")
    for expected in ("1", "2"):
        completed(ml, job(WRITE, outputs={"o": Output(type="uri_folder", name=name)}))
        assert ml.data.get(name, label="latest").version == expected


@pytest.mark.parametrize("kind", ["custom_model", "mlflow_model"])
def test_a_named_model_output_is_registered_as_a_model(ml, uniq, tmp_path, kind):
    name = uniq("made")
    completed(ml, job("mkdir -p ${{outputs.o}} && echo 'flavors: {}' > ${{outputs.o}}/MLmodel", outputs={"o": Output(type=kind, name=name)}))
    model = ml.models.get(name, version="1")
    assert model.type == kind
    ml.models.download(name, version="1", download_path=tmp_path / "got")
    assert [data for data in tree(tmp_path / "got").values()] == [b"flavors: {}\n"]


def test_a_failed_jobs_named_output_is_not_registered(ml, uniq):
    from azure.core.exceptions import ResourceNotFoundError
    name = uniq("made")
    made = ml.jobs.create_or_update(job(WRITE + "; exit 1", outputs={"o": Output(type="uri_folder", name=name, version="1")}))
    assert ended(made.name) == "Failed"
    with pytest.raises(ResourceNotFoundError):
        ml.data.get(name, version="1")


# --- resources

@pytest.mark.parametrize("distribution,kind", [
    (PyTorchDistribution(process_count_per_instance=2), "pytorch"), (MpiDistribution(process_count_per_instance=2), "mpi"),
    (TensorFlowDistribution(parameter_server_count=1, worker_count=1), "tensorflow"),
    ({"type": "pytorch", "process_count_per_instance": 2}, "pytorch")])
def test_distribution(ml, distribution, kind):
    got = stored(ml, job(distribution=distribution, instance_count=2))
    assert got.distribution.type.lower() == kind and got.resources.instance_count == 2
    if kind == "tensorflow":
        assert (got.distribution.parameter_server_count, got.distribution.worker_count) == (1, 1)
    else:
        assert got.distribution.process_count_per_instance == 2


@pytest.mark.skipif(sdk_version.OLD, reason="its reader of jobs does not know Ray")
def test_ray_distribution(ml):
    from azure.ai.ml import RayDistribution
    got = stored(ml, job(distribution=RayDistribution(port=6379, include_dashboard=False)))
    assert got.distribution.type.lower() == "ray" and got.distribution.port == 6379


def test_ranks_are_set(ml):
    done = completed(ml, job("echo rank $RANK of $WORLD_SIZE", distribution=PyTorchDistribution(process_count_per_instance=2)))
    assert "of 2" in log_of(done.name)


def test_resources(ml):
    got = stored(ml, job(resources=JobResourceConfiguration(instance_count=1, instance_type="Standard_DS3_v2", shm_size="1g",
                                                            docker_args="--ipc=host", properties={"k": {"a": 1}})))
    assert (got.resources.instance_count, got.resources.instance_type) == (1, "Standard_DS3_v2")
    assert (got.resources.shm_size, got.resources.docker_args) == ("1g", "--ipc=host")


def test_resources_given_flat(ml):
    got = stored(ml, job(instance_count=1, instance_type="Standard_DS3_v2", shm_size="2g", docker_args="--x"))
    assert got.resources.shm_size == "2g" and got.resources.docker_args == "--x"


def test_locations_of_resources(ml):
    thing = job(instance_type="Standard_DS3_v2")
    thing.set_resources(instance_type="Standard_DS3_v2", instance_count=1, locations=["westus", "eastus"])
    got = stored(ml, thing)
    assert got.resources.instance_type == "Standard_DS3_v2"


def test_an_unknown_size_is_refused(ml):
    with pytest.raises(HttpResponseError) as refused:
        ml.jobs.create_or_update(job(instance_type="Standard_NoSuch_v9"))
    assert 400 <= refused.value.status_code < 500 and "Standard_NoSuch_v9" in str(refused.value)


@pytest.mark.parametrize("count", [1, 2])
def test_instances(ml, count):
    assert stored(ml, job(instance_count=count)).resources.instance_count == count


def test_timeout(ml):
    assert stored(ml, job(timeout=90)).limits.timeout == 90


def test_a_job_above_its_timeout_ends(ml):
    made = ml.jobs.create_or_update(job("sleep 600", timeout=1))
    assert ended(made.name) in ("Failed", "Canceled")


@pytest.mark.parametrize("tier", ["spot", "basic", "standard", "premium", "null"])
def test_queue_settings(ml, tier):
    got = stored(ml, job(queue_settings=QueueSettings(job_tier=tier)))
    assert got.queue_settings.job_tier.lower() == tier


@pytest.mark.parametrize("priority", ["low", "medium", "high"])
def test_priority(ml, priority):
    thing = job()
    thing.set_queue_settings(job_tier="standard", priority=priority)
    got = stored(ml, thing)
    assert got.queue_settings.job_tier.lower() == "standard"


@pytest.mark.parametrize("identity,kind", [
    (UserIdentityConfiguration(), "user_identity"), (AmlTokenConfiguration(), "aml_token"),
    (ManagedIdentityConfiguration(), "managed_identity"),
    (ManagedIdentityConfiguration(client_id="00000000-0000-0000-0000-000000000009"), "managed_identity")])
def test_identity(ml, identity, kind):
    got = stored(ml, job(identity=identity))
    assert got.identity.type == kind


SERVICES = {"ssh": SshJobService(ssh_public_keys="ssh-rsa AAA"), "lab": JupyterLabJobService(), "code": VsCodeJobService(),
            "board": TensorBoardJobService(log_dir="outputs/tb")}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_recorded(ml, name):
    got = stored(ml, job(services={name: SERVICES[name]}))
    assert got.services[name].type == SERVICES[name].type, got.services[name]
    if name == "board":
        assert got.services[name].log_dir == "outputs/tb"
    if name == "ssh":
        assert got.services[name].ssh_public_keys == "ssh-rsa AAA"


def test_a_service_of_every_node(ml):
    got = stored(ml, job(services={"lab": JupyterLabJobService(nodes="all", port=8888)}, instance_count=2))
    assert got.services["lab"].nodes == "all"


def test_services_of_a_job_can_be_shown(ml):
    made = ml.jobs.create_or_update(job("sleep 30", services={"lab": JupyterLabJobService()}))
    shown = ml.jobs.show_services(made.name)
    assert shown is None or set(shown) == {"lab"}
    ml.jobs.begin_cancel(made.name).result()


def test_is_deterministic_and_component_of_a_job(ml):
    thing = job("echo ${{inputs.x}}", inputs={"x": 1}, is_deterministic=False)
    got = stored(ml, thing)
    assert got.command == "echo ${{inputs.x}}"


# --- what goes wrong

@pytest.mark.parametrize("compute", ["no-such-cluster", "azureml:no-such-cluster"])
def test_an_unknown_compute_is_refused(ml, compute):
    with pytest.raises(HttpResponseError) as refused:
        ml.jobs.create_or_update(job(compute=compute))
    assert 400 <= refused.value.status_code < 500 and "no-such-cluster" in str(refused.value)


def test_serverless_is_a_compute(ml):
    done = completed(ml, job(compute="serverless"))
    assert done.compute in (None, "serverless")


def test_a_name_with_bad_characters_is_refused(ml):
    with pytest.raises((HttpResponseError, Exception)):
        ml.jobs.create_or_update(job(name="a b/c"))


def test_an_input_that_is_missing_is_refused(ml):
    with pytest.raises(Exception) as refused:
        ml.jobs.create_or_update(job("echo ${{inputs.nope}}"))
    assert "nope" in str(refused.value)


def test_the_job_is_shown_as_yaml(ml, tmp_path):
    import yaml
    made = stored(ml, job("echo ${{inputs.x}}", inputs={"x": 3}, display_name="yaml", tags={"a": "b"}, timeout=60))
    made.dump(str(tmp_path / "job.yml"))
    text = yaml.safe_load((tmp_path / "job.yml").read_text())
    assert text["type"] == "command" and text["limits"]["timeout"] == 60 and str(text["inputs"]["x"]) == "3", text
    assert (text.get("command") or text["component"]["command"]) == "echo ${{inputs.x}}"
    assert "echo ${{inputs.x}}" in str(made) and made._to_dict()["limits"]["timeout"] == 60


def test_a_command_is_called_like_a_function(ml):
    template = job("echo ${{inputs.x}}", inputs={"x": 1})
    done = completed(ml, template(x=7))
    assert "7" in log_of(done.name)
