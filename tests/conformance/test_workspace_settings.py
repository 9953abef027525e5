"""What an owner sets for the workspace: serverless on or off, where its nodes are, how it is described."""
import json
import subprocess
import sys

import pytest

from arm import WORKSPACE, call, key_of, put_cluster
from conftest import DEADLINE_S, clean_environment, run
from test_env import evaluate

SUBNET = ("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/Microsoft.Network/"
          "virtualNetworks/net/subnets/jobs")


@pytest.fixture
def fresh(start_server):
    return start_server()


def show(server, *words):
    shown = server.cli("workspace", "show", "-o", "json", *words)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def test_serverless_is_on_at_first(fresh):
    shown = show(fresh)
    assert shown["lavant"]["serverless"] == "on"
    assert shown["serverless_compute"] == {"custom_subnet": None, "no_public_ip": False}
    assert "serverless      on" in fresh.cli("workspace", "show").stdout


def test_without_serverless_a_job_needs_a_compute(start_server, tmp_path, write_job):
    server = start_server(tmp_path / "kept")
    job = write_job("true")
    assert server.cli("workspace", "update", "--serverless", "off").returncode == 0
    refused = server.cli("job", "create", "-f", job)
    assert refused.returncode == 5 and "serverless compute is off" in refused.stderr, refused.stderr
    assert "lavant compute create" in refused.stderr
    for name in ("gpu-nodes", "cpu-nodes"):
        assert put_cluster(server, name)[0] in (200, 201)
    assert "give the job a compute: cpu-nodes or gpu-nodes" in server.cli("job", "create", "-f", job).stderr
    server.stop()
    server = start_server(tmp_path / "kept")
    assert show(server)["lavant"]["serverless"] == "off"
    named = write_job("true", compute="azureml:cpu-nodes")
    assert server.cli("job", "create", "-f", named, "--stream").returncode == 0
    assert server.cli("workspace", "update", "--serverless", "on").returncode == 0
    assert server.cli("job", "create", "-f", job, "--stream").returncode == 0


def test_a_workspace_file(fresh, tmp_path, write_job):
    file = tmp_path / "workspace.yml"
    file.write_text("$schema: https://azuremlschemas.azureedge.net/latest/workspace.schema.json\n"
                    "name: default\nlocation: westeurope\ndescription: ours\ntags:\n  team: vision\n"
                    f"serverless_compute:\n  custom_subnet: {SUBNET}\n  no_public_ip: true\n")
    said = fresh.cli("workspace", "update", "-f", file)
    assert said.returncode == 0, said.stderr
    assert "'location' has no meaning here" in said.stderr
    shown = show(fresh)
    assert shown["description"] == "ours" and shown["tags"] == {"team": "vision"}
    assert shown["serverless_compute"] == {"custom_subnet": SUBNET, "no_public_ip": True}
    assert fresh.cli("job", "create", "-f", write_job("true"), "--stream").returncode == 0
    assert fresh.cli("lock", "create", "-n", "frozen", "--level", "ReadOnly", "--network", "net").returncode == 0
    again = fresh.cli("job", "create", "-f", write_job("true"), "-n", "locked")
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("text, why", [
    ("descripton: ours\n", "did you mean 'description'?"),
    ("serverless_compute:\n  custom_subent: null\n", "did you mean 'custom_subnet'?"),
    ("serverless_compute:\n  custom_subnet: default\n", "id of a subnet"),
    ("serverless_compute: on\n", "must be a mapping"),
    ("name: other\ndescription: x\n", "add: -w 'other'"),
    ("", ""),
    ("- a\n", "mapping"),
    ("tags: [a]\n", "tags"),
])
def test_a_broken_file_changes_nothing(server, tmp_path, text, why):
    file = tmp_path / "workspace.yml"
    file.write_text(text)
    before = show(server)
    said = server.cli("workspace", "update", "-f", file)
    assert said.returncode == 2 and why in said.stderr, said.stderr
    assert show(server) == before


def test_nothing_to_change_and_words_that_are_none(server):
    said = server.cli("workspace", "update")
    assert said.returncode == 2 and "nothing to change" in said.stderr
    assert server.cli("workspace", "update", "--serverless", "maybe").returncode == 2


def test_only_owners_change_it(fresh):
    key = key_of(fresh, "cy", "contributor")
    said = run("workspace", "update", "--serverless", "off", env=fresh.environment(LAVANT_TOKEN=key))
    assert said.returncode == 5 and "owner" in said.stderr
    assert call(fresh, "PATCH", WORKSPACE, {"tags": {}}, key=key)[0] == 403


def test_a_read_only_lock_holds_for_it(fresh):
    assert fresh.cli("lock", "create", "-n", "frozen", "--level", "ReadOnly", "--workspace").returncode == 0
    said = fresh.cli("workspace", "update", "--serverless", "off")
    assert said.returncode == 5 and "'frozen'" in said.stderr
    assert show(fresh)["lavant"]["serverless"] == "on"


def test_az_ml_workspace(fresh):
    shown = fresh.cli("az", "ml", "workspace", "show", "-n", "vision", "-g", "research", "--query", "name", "-o", "tsv")
    assert shown.returncode == 0 and shown.stdout == "vision\n", shown.stderr
    changed = fresh.cli("az", "ml", "workspace", "update", "-n", "vision", "-g", "research", "--description", "ours")
    assert changed.returncode == 0 and json.loads(changed.stdout)["description"] == "ours", changed.stderr


SDK = """
import os
from azure.ai.ml import MLClient
from azure.ai.ml.entities import ServerlessComputeSettings
from azure.identity import DefaultAzureCredential
ml = MLClient(DefaultAzureCredential(), os.environ["LAVANT_SUB"], os.environ["LAVANT_RG"], os.environ["LAVANT_WS"],
              enable_telemetry=False, show_progress=False)
workspace = ml.workspaces.get()
assert workspace.serverless_compute is not None
workspace.serverless_compute = ServerlessComputeSettings(custom_subnet=os.environ["SUBNET"], no_public_ip=True)
workspace.description = "by the SDK"
changed = ml.workspaces.begin_update(workspace).result()
assert changed.description == "by the SDK", changed.description
assert changed.serverless_compute.no_public_ip is True
assert str(changed.serverless_compute.custom_subnet) == os.environ["SUBNET"], changed.serverless_compute.custom_subnet
usages = list(ml.compute.list_usage())
assert any("Total Cluster Dedicated Regional vCPUs" in str(one.__dict__) for one in usages), usages[0].__dict__
print("OK")
"""


def test_the_sdk_reads_and_changes_it(fresh, tmp_path):
    pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")
    env = evaluate(fresh.data, clean_environment(SUBNET=SUBNET, PYTHONWARNINGS="ignore", HOME=tmp_path))
    done = subprocess.run([sys.executable, "-c", SDK], env=env, cwd=tmp_path, capture_output=True, text=True,
                          timeout=DEADLINE_S)
    assert done.returncode == 0 and "OK" in done.stdout, done.stdout + done.stderr
    assert show(fresh)["serverless_compute"] == {"custom_subnet": SUBNET, "no_public_ip": True}
