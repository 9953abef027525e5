"""Outputs with a name become assets when the job is Completed, and only then; data under every URI; lineage."""
import json

import pytest
from arm import WORKSPACE, call
from conftest import submitted_name

BLOBS = "azureml://datastores/workspaceblobstore/paths"


def run_job(server, file, wanted="Completed"):
    name = submitted_name(server.cli("job", "create", "-f", file))
    assert server.wait_status(name) == wanted, server.cli("job", "show", name).stdout
    return name


def versions(server, kind, name):
    return call(server, "GET", f"{WORKSPACE}/{kind}/{name}/versions")[1]["value"]


def test_named_outputs_are_registered_on_completion(server, write_job):
    outputs = {"d": {"type": "uri_folder", "name": "made-data"}, "m": {"type": "custom_model", "name": "made-model", "version": "7"}}
    file = write_job("echo 1 > ${{outputs.d}}/x; echo 2 > ${{outputs.m}}/y", outputs=outputs)
    name = run_job(server, file)
    data = versions(server, "data", "made-data")
    assert [one["name"] for one in data] == ["1"]
    assert data[0]["properties"]["dataUri"].endswith(f"/paths/azureml/{name}/d/")
    model = versions(server, "models", "made-model")
    assert [one["name"] for one in model] == ["7"] and model[0]["properties"]["jobName"] == name
    again = server.cli("job", "create", "-f", file)
    assert again.returncode == 5 and "made-model:7" in again.stderr, again.stderr
    made = call(server, "GET", f"/lavant/v1/lineage?job={name}")[1]["value"]
    assert [(e["role"], e["port"], e["kind"], e["name"], e["version"]) for e in made] == [
        ("output", "d", "data", "made-data", "1"), ("output", "m", "models", "made-model", "7")]


def test_a_job_that_failed_registers_nothing(server, write_job):
    outputs = {"d": {"type": "uri_folder", "name": "never-made"}}
    run_job(server, write_job("echo 1 > ${{outputs.d}}/x; exit 3", outputs=outputs), "Failed")
    assert call(server, "GET", f"{WORKSPACE}/data/never-made")[0] == 404


def test_data_is_found_under_every_name(server, write_job, tmp_path):
    made = run_job(server, write_job("echo pear > ${{outputs.d}}/x; mkdir -p outputs; echo fig > outputs/y",
                                     outputs={"d": {"type": "uri_folder", "name": "fruit"}}))
    inputs = {
        "a": {"type": "uri_folder", "path": "azureml:fruit:1"},
        "b": {"type": "uri_folder", "path": "azureml:fruit@latest"},
        "c": {"type": "uri_folder", "path": f"azureml://jobs/{made}/outputs/d"},
        "d": {"type": "uri_file", "path": f"azureml://jobs/{made}/outputs/d/paths/x"},
        "e": {"type": "uri_file", "path": f"azureml://jobs/{made}/outputs/artifacts/paths/outputs/y"},
        "f": {"type": "uri_folder", "path": f"{BLOBS}/azureml/{made}/d/"},
        "g": {"type": "uri_file", "path": "azureml://subscriptions/00000000-0000-0000-0000-000000000001/resourcegroups/lavant/workspaces/default/datastores/"
                                          f"workspaceblobstore/paths/azureml/{made}/d/x"},
    }
    command = ("cat ${{inputs.a}}/x ${{inputs.b}}/x ${{inputs.c}}/x ${{inputs.d}} ${{inputs.e}} ${{inputs.f}}/x ${{inputs.g}}")
    name = run_job(server, write_job(command, inputs=inputs))
    log = server.cli("job", "stream", name).stdout
    assert log.split().count("pear") == 6 and log.split().count("fig") == 1, log
    users = call(server, "GET", "/lavant/v1/lineage?kind=data&name=fruit&version=1")[1]["value"]
    assert {(edge["job"], edge["role"]) for edge in users} == {(name, "input"), (made, "output")}


@pytest.mark.parametrize("path, said", [
    ("azureml://jobs/nobody/outputs/d", "nobody"),
    ("azureml://datastores/workspaceblobstor/paths/x", "workspaceblobstore"),
    ("wasbs://cont@acc.blob.core.windows.net/x", "mirrors"),
    ("abfss://cont@acc.dfs.core.windows.net/x", "mirrors"),
    ("azureml:nothing:3", "nothing"),
])
def test_what_is_not_there_is_refused_with_the_remedy(server, write_job, path, said):
    refused = server.cli("job", "create", "-f", write_job("true", inputs={"a": {"type": "uri_file", "path": path}}))
    assert refused.returncode == 5 and said in refused.stderr, refused.stderr


def test_azure_storage_is_read_from_its_mirror(tmp_path, write_job):
    from conftest import Server, stop_leftovers
    (tmp_path / "mirror/cont/sub").mkdir(parents=True)
    (tmp_path / "mirror/cont/sub/x.csv").write_text("plum\n")
    config = tmp_path / "config"
    (config / "lavant").mkdir(parents=True)
    (config / "lavant/config.yml").write_text(f"mirrors: acc/cont={tmp_path}/mirror/cont\n")
    import conftest
    before = conftest.NO_SETTINGS
    conftest.NO_SETTINGS = str(config)
    try:
        server = Server(tmp_path / "data")
    finally:
        conftest.NO_SETTINGS = before
    try:
        inputs = {"a": {"type": "uri_file", "path": "wasbs://cont@acc.blob.core.windows.net/sub/x.csv"},
                  "b": {"type": "uri_file", "path": "https://acc.blob.core.windows.net/cont/sub/x.csv"}}
        name = run_job(server, write_job("cat ${{inputs.a}} ${{inputs.b}}", inputs=inputs))
        assert server.cli("job", "stream", name).stdout.split().count("plum") == 2
    finally:
        server.stop()
        stop_leftovers(server.data)


def test_a_kind_without_an_engine_is_kept_and_says_so(server):
    body = {"properties": {"jobType": "Sweep", "trial": {"command": "true", "environmentId": "azureml:base:1"}, "searchSpace": {"x": ["choice", [[1, 2]]]},
                           "objective": {"goal": "Minimize", "primaryMetric": "loss"}, "samplingAlgorithm": {"samplingAlgorithmType": "Random"}, "limits": None}}
    status, made = call(server, "PUT", f"{WORKSPACE}/jobs/sweep-without-engine", body)
    assert status == 201 and made["properties"]["status"] == "Failed", made
    assert "not supported yet" in made["properties"]["lavant"]["warning"]
    status, shown = call(server, "GET", f"{WORKSPACE}/jobs/sweep-without-engine")
    assert shown["properties"]["error"]["code"] == "NotSupported"
    assert shown["properties"]["trial"]["environmentId"].endswith("/environments/base/versions/1")
    assert "limits" not in shown["properties"], "no nulls"
    listed = call(server, "GET", f"{WORKSPACE}/jobs?jobType=Sweep")[1]["value"]
    assert [job["name"] for job in listed] == ["sweep-without-engine"]
    assert json.dumps(shown["properties"]["searchSpace"]) == '{"x": ["choice", [[1, 2]]]}'
