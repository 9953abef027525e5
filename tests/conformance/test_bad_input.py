"""Wrong input: one clear sentence with the remedy, the right exit code, nothing started."""
import json
import socket

import pytest
from conftest import clean_environment, run

GOOD = {"command": "true", "environment": "azureml:base:1"}


def aliases(levels=12, width=10):
    text = "a0: &a0 [x, x]\n"
    for level in range(1, levels):
        text += f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * width) + "]\n"
    return text + "command: 'true'\n"


BAD_FILES = {
    "broken YAML": ("command: 'true\nenvironment: [", ["line"]),
    "a list": ("- 1\n- 2\n", []),
    "empty": ("", []),
    "50 MB": ("command: " + "x" * (50 << 20), ["2"]),
    "exploding aliases": (aliases(), []),
    "deep nesting": ("command: 'true'\ninputs: " + "[" * 5000, []),
    "binary": ("\0\1\2\xff", []),
    "unknown key": (json.dumps({**GOOD, "comand": "x"}), ["comand", "command"]),
    "unknown size": (json.dumps({**GOOD, "resources": {"instance_type": "Standard_DS3_v3000"}}), ["instance_type", "Standard_DS3_v3000"]),
    "no instances": (json.dumps({**GOOD, "resources": {"instance_count": 0}}), ["instance_count"]),
    "negative timeout": (json.dumps({**GOOD, "limits": {"timeout": -5}}), ["timeout"]),
    "missing code folder": (json.dumps({**GOOD, "code": "./not-there"}), ["not-there"]),
    "no command": (json.dumps({"environment": "azureml:base:1"}), ["command"]),
    "unknown input": (json.dumps({**GOOD, "command": "echo ${{inputs.x}}"}), ["inputs.x"]),
}


@pytest.mark.parametrize("case", BAD_FILES)
@pytest.mark.parametrize("verb", ["create", "validate"])
def test_a_bad_file_ends_with_2_and_starts_nothing(case, verb, tmp_path):
    text, words = BAD_FILES[case]
    file = tmp_path / "job.yml"
    file.write_bytes(text.encode("latin-1"))
    state = tmp_path / "state"
    result = run("job", verb, "-f", file, env=clean_environment(LAVANT_DATA=state))
    assert result.returncode == 2, (result.stdout, result.stderr)
    assert result.stdout == ""
    assert result.stderr.startswith("lavant: ") and "Traceback" not in result.stderr
    assert len(result.stderr) < 4000
    for word in words:
        assert word in result.stderr, (word, result.stderr)
    assert not state.exists(), "a server was started for a file that is wrong"


def test_all_problems_come_at_once_with_their_places(tmp_path):
    file = tmp_path / "job.yml"
    file.write_text("command: 'true'\nenvironment: azureml:base:1\nlimits:\n  timeout: -1\nresources:\n  instance_count: 0\ncolour: red\n")
    result = run("job", "validate", "-f", file)
    assert result.returncode == 2
    for piece in ("line 4", "line 6", "line 7", "limits.timeout", "resources.instance_count", "colour"):
        assert piece in result.stderr, result.stderr


def test_a_missing_file(tmp_path):
    result = run("job", "create", "-f", tmp_path / "none.yml")
    assert result.returncode == 2
    assert "none.yml" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["job"], ["frobnicate"], ["job", "create"], ["job", "list", "--no-such-flag"],
                                       ["job", "show"], ["job", "list", "-o", "xml"], ["serve", "--port", "99999"],
                                       ["job", "create", "-f", "x.yml", "--set"]])
def test_wrong_usage_ends_with_2(arguments):
    result = run(*arguments)
    assert result.returncode == 2, result.stderr
    assert result.stderr.strip()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["job", "create", "--help"], ["serve", "--help"]])
def test_help_is_no_error(arguments):
    result = run(*arguments)
    assert result.returncode == 0
    assert result.stdout and not result.stderr


def test_a_value_without_a_path_is_refused(tmp_path):
    file = tmp_path / "job.yml"
    file.write_text(json.dumps(GOOD))
    result = run("job", "validate", "-f", file, "--set", "no-equals-sign")
    assert result.returncode == 2
    assert "no-equals-sign" in result.stderr


def test_validate_for_azure_lists_what_is_ours(tmp_path):
    file = tmp_path / "job.yml"
    file.write_text(json.dumps({**GOOD, "environment": "host", "properties": {"lavant.max_retries": "2"}}))
    result = run("job", "validate", "-f", file, "--target", "azure")
    assert result.returncode == 2, result.stderr
    assert "azure: environment: refused" in result.stdout and "azure: properties" in result.stdout
    file.write_text(json.dumps({**GOOD, "environment": "azureml:base:1", "properties": {"lavant.max_retries": "2"}}))
    assert run("job", "validate", "-f", file, "--target", "azure").returncode == 0  # ignored is not refused
    file.write_text(json.dumps({**GOOD, "environment": "azureml:base:1", "inputs": {"n": {"type": "number", "value": 1}}}))
    assert run("job", "validate", "-f", file, "--target", "azure").returncode == 2


FILES = {
    "job": GOOD,
    "compute": {"name": "cpu-cluster", "type": "amlcompute"},
    "data": {"name": "d", "type": "uri_file", "path": "https://example.com/a.csv"},
    "model": {"name": "m", "path": "azureml://datastores/workspaceblobstore/paths/m"},
    "environment": {"name": "e", "image": "python"},
    "component": {"name": "c", "type": "command", "command": "echo", "environment": "azureml:base:1"},
    "datastore": {"name": "team", "type": "local", "path": "/data"},
    "schedule": {"name": "s", "trigger": {"type": "cron", "expression": "0 3 * * *"}, "create_job": "azureml:old"},
    "workspace": {"name": "w"},
}


@pytest.mark.parametrize("kind", FILES)
def test_every_family_says_in_one_shape_that_a_file_is_valid(kind, tmp_path):
    file = tmp_path / "file.yml"
    file.write_text(json.dumps({**FILES[kind], "name": FILES[kind].get("name", "j")}))
    said = run(kind, "validate", "-f", file, "-o", "json")
    assert said.returncode == 0, said.stderr
    document = json.loads(said.stdout)
    assert document["valid"] is True and document["file"] == str(file) and document["kind"] == kind
    assert document["name"] == FILES[kind].get("name", "j") and document["findings"] == []


def test_a_datastore_of_ones_own_is_not_for_azure(tmp_path):
    file = tmp_path / "file.yml"
    file.write_text(json.dumps(FILES["datastore"]))
    said = run("datastore", "validate", "-f", file, "--target", "azure", "-o", "json")
    assert said.returncode == 2, said.stderr
    assert [one["refused"] for one in json.loads(said.stdout)["findings"]] == [True]


def test_a_compute_that_does_not_exist_is_refused(server, write_job):
    result = server.cli("job", "create", "-f", write_job("true", compute="azureml:no-such-cluster"))
    assert result.returncode == 5
    assert "no-such-cluster" in result.stderr


def test_an_image_nobody_knows_is_refused_with_the_remedy(server, write_job):
    result = server.cli("job", "create", "-f", write_job("true", environment={"image": "example.com/who/knows:1"}))
    assert result.returncode == 5
    assert "example.com/who/knows:1" in result.stderr


def test_a_port_in_use_is_one_sentence(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = run("serve", "--port", port, "--data", tmp_path / "data")
    assert result.returncode == 1
    assert str(port) in result.stderr and "in use" in result.stderr.lower()


def test_a_second_server_on_the_same_data_is_one_sentence(start_server):
    first = start_server()
    result = run("serve", "--port", "0", "--data", first.data)
    assert result.returncode == 1
    assert str(first.data) in result.stderr
    assert first.cli("job", "list").returncode == 0


def test_a_broken_link_in_the_code_is_named(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/gone").symlink_to("nowhere")
    file = tmp_path / "job.yml"
    file.write_text(json.dumps({**GOOD, "code": "src"}))
    result = run("job", "create", "-f", file, env=clean_environment(LAVANT_DATA=tmp_path / "state"))
    assert result.returncode == 2
    assert "gone" in result.stderr and ".amlignore" in result.stderr


def test_a_large_code_folder_is_warned_about(tmp_path):
    (tmp_path / "src/data").mkdir(parents=True)
    with open(tmp_path / "src/data/big.bin", "wb") as big:
        big.truncate(101_000_000)
    (tmp_path / "src/main.py").write_text("pass\n")
    file = tmp_path / "job.yml"
    file.write_text(json.dumps({**GOOD, "code": "src"}))
    result = run("job", "validate", "-f", file)
    assert result.returncode == 0
    assert "data/ (101.0 MB), main.py" in result.stderr
