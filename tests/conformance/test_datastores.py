"""Datastores: folders of the user's own, what jobs do with them, what the SDK and the command line see."""
import json
import os
import pathlib

import pytest
from arm import WORKSPACE, call, key_of
from conftest import run, submitted_name


def put_folder(server, name, folder, key=None):
    return call(server, "PUT", f"{WORKSPACE}/datastores/{name}",
                {"properties": {"datastoreType": "AzureBlob", "lavant": {"path": str(folder)}}}, key)


@pytest.fixture
def team(tmp_path):
    folder = tmp_path / "team"
    (folder / "raw").mkdir(parents=True)
    (folder / "raw/a.csv").write_text("a,b\n1,2\n")
    return folder


@pytest.fixture
def store(server, team, request):
    name = "team_" + os.urandom(4).hex()
    status, made = put_folder(server, name, team)
    assert status == 201, made
    yield name
    call(server, "DELETE", f"{WORKSPACE}/datastores/{name}")


def test_files_travel_both_ways(server, team, store, tmp_path):
    listed = server.cli("datastore", "ls", store, "raw")
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.split()[0] == "8" and listed.stdout.rstrip().endswith("raw/a.csv")
    source = tmp_path / "images"
    (source / "deep").mkdir(parents=True)
    for i in range(30):
        (source / "deep" / f"{i} ä.bin").write_bytes(os.urandom(i * 100))
    up = server.cli("datastore", "upload", store, source, "datasets/images")
    assert up.returncode == 0 and up.stdout.startswith("uploaded 30 files"), up.stdout + up.stderr
    assert sorted(p.name for p in (team / "datasets/images/deep").iterdir()) == sorted(p.name for p in (source / "deep").iterdir())
    again = server.cli("datastore", "upload", store, source, "datasets/images")
    assert "uploaded 0 files" in again.stdout and "30 were there already" in again.stdout
    (team / "datasets/images/deep/7 ä.bin").write_bytes(b"changed by hand")
    assert "uploaded 1 file" in server.cli("datastore", "upload", store, source, "datasets/images").stdout
    down = server.cli("datastore", "download", store, "datasets", tmp_path / "back")
    assert down.returncode == 0, down.stderr
    for path in (source / "deep").iterdir():
        assert (tmp_path / "back/images/deep" / path.name).read_bytes() == path.read_bytes()
    assert "downloaded 0 files" in server.cli("datastore", "download", store, "datasets", tmp_path / "back").stdout
    one = server.cli("datastore", "download", store, "raw/a.csv", tmp_path / "one")
    assert one.returncode == 0 and (tmp_path / "one/a.csv").read_text() == "a,b\n1,2\n"
    assert server.cli("datastore", "download", store, "none").returncode == 5


def test_jobs_read_and_write_there(server, team, store, write_job):
    job = write_job("cp ${{inputs.raw}}/a.csv ${{outputs.out}}/copy.csv && echo more > ${{outputs.out}}/more.txt",
                    inputs={"raw": {"type": "uri_folder", "path": f"azureml://datastores/{store}/paths/raw"}},
                    outputs={"out": {"type": "uri_folder", "path": f"azureml://datastores/{store}/paths/results/1"}})
    name = submitted_name(server.cli("job", "create", "-f", job))
    assert server.wait_status(name) == "Completed", server.cli("job", "show", name).stdout
    assert (team / "results/1/copy.csv").read_text() == "a,b\n1,2\n"
    assert (team / "results/1/more.txt").read_text() == "more\n"
    staged = team / ".lavant-staging"
    assert not staged.exists() or not [p for p in staged.rglob("*") if p.is_file()]


def test_an_input_that_is_not_there_says_so(server, store, write_job):
    for path in ("nowhere/", "nowhere/at/all"):
        job = write_job("true", inputs={"raw": {"type": "uri_folder", "path": f"azureml://datastores/{store}/paths/{path}"}})
        name = submitted_name(server.cli("job", "create", "-f", job))
        assert server.wait_status(name) == "Failed"
        shown = " ".join(server.cli("job", "show", name).stdout.split())
        assert "input 'raw'" in shown and "does not exist" in shown and "/nodes/" not in shown, shown


def test_words_that_are_commands_too_are_arguments(server, team, store, tmp_path):
    (tmp_path / "one.txt").write_text("1")
    for word in ("up", "down", "status", "data", "version"):
        done = server.cli("datastore", "upload", store, tmp_path / "one.txt", word)
        assert done.returncode == 0, done.stderr
        assert (team / word).exists(), word
    assert server.cli("status").returncode == 0


def test_it_is_there_after_a_restart(start_server, team, tmp_path):
    server = start_server(tmp_path / "state")
    assert put_folder(server, "team", team)[0] == 201
    server.stop()
    server = start_server(tmp_path / "state")
    listed = server.cli("datastore", "ls", "team", "--recursive")
    assert "raw/a.csv" in listed.stdout, listed.stderr
    assert put_folder(server, "other", team)[0] == 400, "one folder, one datastore"


def test_what_cannot_become_one(server, team, store):
    for path in (server.data, server.data.parent, "/", server.data / "blobs", team / "raw", team / "raw/a.csv", "/nowhere", "team"):
        status, why = put_folder(server, "wrong", path)
        assert status == 400, (path, why)
    contributor = key_of(server, "cory-" + os.urandom(3).hex(), "contributor")
    assert put_folder(server, "wrong", "/usr", contributor)[0] == 403


def test_links_lead_nowhere(server, team, store, tmp_path):
    (tmp_path / "secret").write_text("secret")
    (team / "link").symlink_to(tmp_path / "secret")
    (team / "away").symlink_to(tmp_path)
    assert "link" not in server.cli("datastore", "ls", store, "-r").stdout
    for path in ("link", "away/secret"):
        assert server.cli("datastore", "download", store, path, tmp_path / "got").returncode != 0
    assert not (tmp_path / "got/secret").exists()


def test_the_sdk_makes_lists_and_deletes_them(server, tmp_path):
    pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")
    import subprocess
    import sys
    from conftest import clean_environment
    from test_env import evaluate
    script = tmp_path / "flow.py"
    script.write_text("""
from azure.ai.ml import MLClient
from azure.ai.ml.entities import (AccountKeyConfiguration, AzureBlobDatastore, AzureDataLakeGen1Datastore, AzureDataLakeGen2Datastore,
                                  AzureFileDatastore, ServicePrincipalConfiguration)
from azure.core.exceptions import ResourceNotFoundError
from azure.identity import DefaultAzureCredential
ml = MLClient(DefaultAzureCredential(), "00000000-0000-0000-0000-000000000001", "lavant", "default", enable_telemetry=False)
principal = ServicePrincipalConfiguration(tenant_id="t", client_id="c", client_secret="hidden-2")
made = [AzureBlobDatastore(name="sdk_blob", account_name="a", container_name="c", description="d", tags={"k": "v"},
                           credentials=AccountKeyConfiguration(account_key="hidden-1")),
        AzureFileDatastore(name="sdk_file", account_name="a", file_share_name="s", credentials=AccountKeyConfiguration(account_key="k")),
        AzureDataLakeGen1Datastore(name="sdk_gen1", store_name="s", credentials=principal),
        AzureDataLakeGen2Datastore(name="sdk_gen2", account_name="a", filesystem="f", credentials=principal)]
for one in made:
    got = ml.datastores.create_or_update(one)
    assert got.name == one.name and type(got) is type(one), got
blob = ml.datastores.get("sdk_blob")
assert blob.tags == {"k": "v"} and blob.description == "d" and blob.container_name == "c"
assert "hidden-1" not in str(blob)
assert ml.datastores.get("sdk_blob", include_secrets=True).credentials.account_key == "hidden-1"
assert ml.datastores.get("sdk_gen2", include_secrets=True).credentials.client_secret == "hidden-2"
names = [one.name for one in ml.datastores.list()]
assert {"workspaceblobstore", "workspaceartifactstore", "sdk_blob", "sdk_file", "sdk_gen1", "sdk_gen2"} <= set(names), names
assert ml.datastores.get_default().name == "workspaceblobstore"
for one in made:
    ml.datastores.delete(one.name)
try:
    ml.datastores.get("sdk_blob")
    raise AssertionError("still there")
except ResourceNotFoundError:
    pass
print("OK")
""")
    env = evaluate(server.data, clean_environment())
    env.update(HOME=str(tmp_path), PYTHONWARNINGS="ignore")
    result = subprocess.run([sys.executable, script], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0 and "OK" in result.stdout, (result.stdout + result.stderr)[-4000:]
    assert "hidden-1" not in (pathlib.Path(server.data) / "lavant.db").read_bytes().decode(errors="replace")
