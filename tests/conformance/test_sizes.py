"""Sizes: what there is, what a site adds, and what a job that names a retired one gets."""
import json
import subprocess
import sys

import pytest
from conftest import DEADLINE_S, clean_environment, run, streamed_name
from test_env import evaluate


def sizes(server, *arguments):
    listed = server.cli("size", "list", *arguments, "-o", "json")
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)


@pytest.fixture
def own_size(server):
    made = server.cli("size", "create", "--name", "Rtx4090", "--vcpus", "16", "--memory", "64", "--gpus", "1", "--price", "0.3")
    assert made.returncode == 0, made.stderr
    yield "rtx4090"
    server.cli("size", "delete", "rtx4090")


def test_there_are_many_and_the_cheapest_come_first(server):
    all_of_them = sizes(server, "--include-retired")
    assert len(all_of_them) >= 120
    assert len({size["name"].lower() for size in all_of_them}) == len(all_of_them)
    prices = [size["price"] for size in all_of_them]
    assert prices == sorted(prices)
    for size in all_of_them:
        if size["origin"] == "azure":
            assert 0 < size["lowPriorityPrice"] < size["price"], size


def test_filters_leave_what_fits(server):
    found = sizes(server, "--gpus", "1", "--location", "West US", "--max-price", "2")
    assert any(size["name"] == "Standard_NC4as_T4_v3" for size in found)
    for size in found:
        assert size["gpus"] >= 1 and size["price"] <= 2 and "retiredOn" not in size
        assert "westus" in size["regions"] or size["regions"] == ["all"]


def test_the_table_fits_and_a_query_works(server):
    table = server.cli("size", "list", "--include-retired")
    assert table.returncode == 0 and max(map(len, table.stdout.splitlines())) <= 80
    name = server.cli("size", "list", "--query", "[?gpus==`8`].name | [0]", "-o", "tsv")
    assert name.stdout == "Standard_ND40rs_v2\n", name.stderr


def test_one_is_shown_whatever_its_case(server):
    shown = server.cli("size", "show", "standard_nc24")
    assert shown.returncode == 0
    for part in ("Standard_NC24\n", "standardNCFamily", "224 GiB", "2023-08-31", "Standard_NC24s_v3"):
        assert part in shown.stdout, shown.stdout
    local = json.loads(server.cli("size", "show", "local", "-o", "json").stdout)
    assert local["vcpus"] >= 1 and local["price"] == 0


def test_what_is_no_size_or_region_is_answered_with_the_nearest(server):
    missing = server.cli("size", "show", "Standard_DS3v2")
    assert missing.returncode == 5 and "did you mean 'Standard_DS3_v2'?" in missing.stderr
    region = server.cli("size", "list", "--location", "wetus")
    assert region.returncode == 2 and "did you mean 'westus'?" in region.stderr


def test_a_site_defines_its_own(server, own_size):
    assert own_size.capitalize() in [size["name"] for size in sizes(server)]
    again = server.cli("size", "create", own_size, "--vcpus", "1", "--memory", "1")
    assert again.returncode == 5 and "already" in again.stderr
    done = server.cli("submit", "--size", own_size, "--code", "none", "--stream", "--", "echo", "on my own")
    assert done.returncode == 0 and "on my own" in done.stdout, done.stderr
    assert server.cli("size", "delete", own_size).returncode == 0
    assert server.cli("size", "show", own_size).returncode == 5
    refused = server.cli("submit", "--size", own_size, "--code", "none", "--", "true")
    assert refused.returncode == 5 and own_size in refused.stderr


@pytest.mark.parametrize("words, said", [
    (["local", "--vcpus", "1", "--memory", "1"], "--name"),
    (["Standard_Mine", "--vcpus", "1", "--memory", "1"], "Azure"),
    (["9x", "--vcpus", "1", "--memory", "1"], "--name"),
    (["x", "--vcpus", "0", "--memory", "1"], "--vcpus"),
    (["x", "--vcpus", "1025", "--memory", "1"], "--vcpus"),
    (["x", "--vcpus", "1", "--memory", "0.1"], "--memory"),
    (["x", "--vcpus", "1", "--memory", "nan"], "--memory"),
    (["x", "--vcpus", "1", "--memory", "1", "--gpus", "65"], "--gpus"),
    (["x", "--vcpus", "1", "--memory", "1", "--price", "-1"], "--price"),
    (["x", "--vcpus", "1"], "--memory"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_what_cannot_be_a_size_is_not_sent(server, words, said):
    result = server.cli("size", "create", *words)
    assert result.returncode == 2 and said in result.stderr, result.stderr


def test_only_azures_and_the_machine_stay(server):
    for name in ("Standard_DS3_v2", "local"):
        result = server.cli("size", "delete", name)
        assert result.returncode == 5 and "lavant size create" in result.stderr


def test_a_retired_size_is_substituted_with_a_warning(server):
    done = server.cli("submit", "--size", "Standard_NC24", "--code", "none", "--stream", "--", "echo", "hello")
    assert done.returncode == 0, done.stderr
    warning = " ".join(done.stderr.split())
    assert "Standard_NC24 was retired on 2023-08-31; its successor Standard_NC24s_v3 is used" in warning
    shown = server.cli("job", "show", streamed_name(done))
    assert "Standard_NC24s_v3" in shown.stdout


def test_a_retired_size_is_refused_where_the_server_is_set_so(start_server):
    server = start_server(None, "--retired-sizes", "refuse")
    refused = server.cli("submit", "--size", "Standard_NC24", "--code", "none", "--", "true")
    assert refused.returncode == 5, refused.stderr
    assert "retired on 2023-08-31; use its successor Standard_NC24s_v3" in " ".join(refused.stderr.split())
    assert server.cli("submit", "--size", "Standard_NC24s_v3", "--code", "none", "--", "true").returncode == 0


def test_the_servers_gpus_can_be_named(start_server):
    server = start_server(None, "--gpus", "fake0,fake1")
    assert json.loads(server.cli("size", "show", "local", "-o", "json").stdout)["gpus"] == 2
    none = start_server(None, "--gpus", "none")
    assert json.loads(none.cli("size", "show", "local", "-o", "json").stdout)["gpus"] == 0


@pytest.mark.parametrize("words", [["--gpus", "a b"], ["--gpus", "0,0"], ["--retired-sizes", "replace"]], ids=" ".join)
def test_a_setting_that_cannot_be_is_refused_before_anything_starts(tmp_path, words):
    result = run("serve", "--port", "0", "--data", tmp_path / "data", *words)
    assert result.returncode == 2 and not (tmp_path / "data").exists(), result.stderr
    variable = "LAVANT_" + words[0].lstrip("-").replace("-", "_").upper()
    by_variable = run("serve", "--port", "0", "--data", tmp_path / "data", env=clean_environment(**{variable: words[1]}))
    assert by_variable.returncode == 2 and variable in by_variable.stderr


def test_az_lists_the_sizes_of_a_region(server):
    listed = server.cli("az", "ml", "compute", "list-sizes", "--type", "amlcompute")
    assert listed.returncode == 0, listed.stderr
    found = {size["name"]: size for size in json.loads(listed.stdout)}
    assert found["Standard_DS3_v2"]["v_cp_us"] == 4 and "Standard_NC24" not in found
    far = server.cli("az", "ml", "compute", "list-sizes", "-l", "westindia", "--query", "[].name", "-o", "tsv")
    assert "Standard_DS3_v2" in far.stdout and "Standard_NC24s_v3" not in far.stdout


SDK = """
import os
from azure.ai.ml import MLClient
from azure.identity import DefaultAzureCredential
names = (os.environ[key] for key in ("LAVANT_SUB", "LAVANT_RG", "LAVANT_WS"))
client = MLClient(DefaultAzureCredential(), *names, enable_telemetry=False, show_progress=False)
sizes = {size.name: size for size in client.compute.list_sizes()}
figures = vars(sizes["Standard_DS3_v2"])  # named as on the wire in some versions
disk = figures["max_resource_volume_mb"] or figures["maxResourceVolumeMB"]
print(len(sizes), sizes["Standard_NC4as_T4_v3"].gpus, disk, "local" in sizes)
"""


def test_the_sdk_lists_them_too(server, tmp_path):
    pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")
    env = {**evaluate(server.data, clean_environment()), "HOME": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", SDK], env=env, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr[-4000:]
    count, gpus, disk, has_local = done.stdout.split()
    assert int(count) >= 120 and (gpus, disk, has_local) == ("1", str(28 * 1024), "True")
