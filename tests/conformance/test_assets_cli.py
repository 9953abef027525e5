"""Data, models, environments, datastores and workspaces from the command line, with the files of `az ml`."""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import DEADLINE_S, clean_environment, run, shared_folder
from test_env import evaluate

CONDA = """\
name: tiny
channels: [conda-forge]
dependencies:
  - python=3.11
  - pip:
      - numpy==1.26 # a comment
      - "odd: one"
"""


@pytest.fixture
def fresh(start_server):
    return start_server()


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def taken(server, *words, **options):
    done = server.cli(*words, **options)
    assert done.returncode == 0, done.stderr
    return done


def document(server, *words, **options):
    return json.loads(taken(server, *words, "-o", "json", **options).stdout)


def sdk(server, folder, script):
    """Runs a script with `ml` and `lavant` there: the unmodified SDK, led by `lavant env`."""
    pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")
    env = evaluate(server.data, clean_environment())
    env.update(PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1", HOME=str(folder))
    head = ("import json, logging\nlogging.disable(logging.CRITICAL)\nfrom azure.ai.ml import MLClient\n"
            "from azure.identity import DefaultAzureCredential\n")
    done = subprocess.run([sys.executable, "-c", head + script], env=env, cwd=folder, capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.strip().splitlines()[-1]


FILES = {
    "data": ("name: d\ntype: uri_file\npath: https://example.com/a.csv\n", "name: d\ntype: uri_fil\n"),
    "model": ("name: m\npath: azureml://datastores/workspaceblobstore/paths/m\n", "nam: m\npath: nowhere\n"),
    "environment": ("name: e\nimage: python:3.12\n", "name: e\n"),
    "component": ("name: c\ntype: command\ncommand: echo\nenvironment: azureml:base:1\n", "name: c\ntype: command\n"),
    "datastore": ("name: s\ntype: azure_blob\naccount_name: a\ncontainer_name: c\n", "name: s\ntype: azure_blob\n"),
    "schedule": ("name: s\ntrigger: {type: cron, expression: '0 3 * * *'}\ncreate_job: azureml:old\n",
                 "name: s\ntrigger: {type: cron, expression: '0 3 * *'}\ncreate_job: azureml:old\n"),
    "workspace": ("name: w\ndescription: ours\n", "name: w\ndescripton: ours\n"),
}


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_file_is_checked_without_a_server(kind, tmp_path):
    good, bad = (write(tmp_path, name, text) for name, text in zip(("good.yml", "bad.yml"), FILES[kind]))
    env = clean_environment(LAVANT_DATA=tmp_path / "state")
    valid = run(kind, "validate", "-f", good, env=env)
    assert valid.returncode == 0, valid.stderr
    assert "is valid" in valid.stdout
    refused = run(kind, "validate", "-f", bad, env=env)
    assert refused.returncode == 2 and "bad.yml" in refused.stderr, refused.stderr
    assert not (tmp_path / "state").exists()
    through_az = run("az", "ml", kind, "validate", "--file", good, env=env)
    assert through_az.returncode == 0 and json.loads(through_az.stdout)["valid"], through_az.stderr


def test_the_public_examples_are_valid(tmp_path):
    shared = shared_folder()
    if shared is None or not (shared / "corpus" / "expect.csv").is_file():
        pytest.skip("the corpus is absent (LAVANT_SHARED)")
    folder = shared / "corpus" / "examples" / "cli"
    env = clean_environment(LAVANT_DATA=tmp_path / "state")
    for file in sorted((folder / "resources" / "datastore").glob("*.yml")):
        done = run("datastore", "validate", "-f", file, env=env)
        assert done.returncode == 0, done.stderr
    for file in sorted((folder / "assets" / "data").glob("cloud-*.yml")):
        done = run("data", "validate", "-f", file, env=env)
        assert done.returncode == 0, done.stderr


def test_data_from_file_to_job(fresh, tmp_path):
    write(tmp_path, "data/titanic.csv", "survived\n1\n")
    file = write(tmp_path, "titanic.yml", "name: titanic\ntype: uri_file\npath: data/titanic.csv\ntags: {source: local}\n")
    made = taken(fresh, "data", "create", "-f", file)
    assert re.fullmatch(r"titanic:1  uri_file  LocalUpload/\w{8}…/titanic.csv\n", made.stdout), made.stdout
    assert made.stderr.strip() == "use it as azureml:titanic:1"
    assert document(fresh, "data", "create", "-f", file)["version"] == "2"
    shown = document(fresh, "data", "show", "titanic:1")
    assert shown["tags"] == {"source": "local"} and shown["type"] == "uri_file"
    assert document(fresh, "data", "show", "titanic")["version"] == "2"
    job = write(tmp_path, "job.yml", json.dumps({
        "command": "cat ${{inputs.t}}", "environment": "azureml:base:1",
        "inputs": {"t": {"type": "uri_file", "path": "azureml:titanic:1"}}}))
    assert "survived" in taken(fresh, "job", "create", "-f", job, "--stream").stdout


def test_tables_fit_eighty_columns(fresh, tmp_path):
    for number in range(3):
        taken(fresh, "data", "create", "--name", f"a-rather-long-name-of-a-data-asset-{number}", "--type", "uri_folder",
              "--description", "words " * 30, "--path", "azureml://datastores/workspaceblobstore/paths/" + "deep/" * 20)
    for words in (["list"], ["list", "-n", "a-rather-long-name-of-a-data-asset-0"], ["show", "a-rather-long-name-of-a-data-asset-0"]):
        for line in taken(fresh, "data", *words).stdout.splitlines():
            assert len(line) <= 80, line
    for line in taken(fresh, "datastore", "list").stdout.splitlines():
        assert len(line) <= 80, line


def test_an_environment_is_the_same_for_both_clients(fresh, tmp_path):
    write(tmp_path, "conda.yml", CONDA)
    file = write(tmp_path, "env.yml", "name: tiny\nimage: python:3.11\nconda_file: conda.yml\ndescription: x\n")
    assert document(fresh, "environment", "create", "-f", file)["version"] == "1"
    by_sdk = sdk(fresh, tmp_path,
                 "from azure.ai.ml import load_environment\n"
                 "ml = MLClient(DefaultAzureCredential(), '00000000-0000-0000-0000-000000000001', 'lavant', 'default')\n"
                 f"print(ml.environments.create_or_update(load_environment({os.fspath(file)!r})).version)\n")
    assert by_sdk == "1"
    write(tmp_path, "conda.yml", CONDA + "  - scipy\n")
    assert document(fresh, "environment", "create", "-f", file)["version"] == "2"
    refused = fresh.cli("environment", "create", "-f", file, "--version", "1")
    assert refused.returncode == 5 and "tiny" in refused.stderr, refused.stderr


def test_what_the_command_line_makes_the_sdk_reads(fresh, tmp_path):
    write(tmp_path, "net/weights.bin", "w" * 100)
    taken(fresh, "model", "create", "--name", "net", "--path", "net", cwd=tmp_path)
    taken(fresh, "data", "create", "--name", "net-data", "--path", "net", cwd=tmp_path)
    read = sdk(fresh, tmp_path,
               "ml = MLClient(DefaultAzureCredential(), '00000000-0000-0000-0000-000000000001', 'lavant', 'default')\n"
               "ml.models.download(name='net', version='1', download_path='by-sdk')\n"
               "data = ml.data.get('net-data', label='latest')\n"
               "print(json.dumps([data.type, data.version, [m.name for m in ml.models.list()]]))\n")
    assert json.loads(read) == ["uri_folder", "1", ["net"]]
    by_sdk = (tmp_path / "by-sdk/net/net/weights.bin").read_text()
    taken(fresh, "model", "download", "net:1", "-p", "by-cli", cwd=tmp_path)
    assert (tmp_path / "by-cli/net/net/weights.bin").read_text() == by_sdk == "w" * 100


def test_versions_are_deleted_one_by_one_or_all_at_once(fresh):
    for _ in range(3):
        taken(fresh, "data", "create", "--name", "d", "--path", "azureml://datastores/workspaceblobstore/paths/x/")
    assert fresh.cli("data", "delete", "d:1").returncode == 2  # there is nobody to ask
    taken(fresh, "data", "delete", "d:1", "--yes")
    assert [one["version"] for one in document(fresh, "data", "list", "-n", "d")] == ["3", "2"]
    assert fresh.cli("data", "show", "d:1").returncode == 5
    taken(fresh, "data", "delete", "d", "--yes")
    assert document(fresh, "data", "list") == []
    gone = fresh.cli("data", "delete", "d", "--yes")
    assert gone.returncode == 5 and "d" in gone.stderr


def test_from_config_finds_the_workspace(fresh, tmp_path):
    taken(fresh, "workspace", "create", "--name", "vision", "-g", "research")
    written = taken(fresh, "workspace", "config", "-g", "research", "-w", "vision", cwd=tmp_path).stdout.strip()
    assert json.loads(pathlib.Path(tmp_path, written).read_text())["workspace_name"] == "vision"
    (tmp_path / "below").mkdir()
    read = sdk(fresh, tmp_path / "below",
               "ml = MLClient.from_config(DefaultAzureCredential())\n"
               "print(ml.workspace_name, ml.resource_group_name, ml.workspaces.get('vision').name)\n")
    assert read == "vision research vision"


def test_a_folder_becomes_a_datastore(fresh, tmp_path):
    folder = tmp_path / "team"
    folder.mkdir()
    write(folder, "in/a.txt", "from the folder")
    made = fresh.cli("datastore", "create", "--name", "team", "--path", folder)
    assert made.returncode == 0, made.stderr
    assert made.stdout == f"team  local  {folder}\n"
    job = write(tmp_path, "job.yml", json.dumps({
        "command": "cat ${{inputs.t}}", "environment": "azureml:base:1",
        "inputs": {"t": {"type": "uri_file", "path": "azureml://datastores/team/paths/in/a.txt"}}}))
    assert "from the folder" in taken(fresh, "job", "create", "-f", job, "--stream").stdout
    taken(fresh, "datastore", "delete", "team", "--yes")
    assert (folder / "in/a.txt").read_text() == "from the folder"


def test_names_are_completed(fresh):
    taken(fresh, "data", "create", "--name", "titanic", "--path", "azureml://datastores/workspaceblobstore/paths/x/")
    found = taken(fresh, "__complete", "--", "data", "show", "ti")
    assert found.stdout.split() == ["titanic"]
    assert taken(fresh, "__complete", "--", "data", "create", "ti").stdout.split() == []
    assert "workspaceblobstore" in taken(fresh, "__complete", "--", "datastore", "show", "").stdout.split()
    assert "archive" in taken(fresh, "__complete", "--", "az", "ml", "model", "").stdout.split()
