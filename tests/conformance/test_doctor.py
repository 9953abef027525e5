"""`lavant doctor` tells what the machine offers, quickly, and changes nothing."""
import json

import pytest
from conftest import run
from levels import NAMES
from test_config import Home

WANTED = {"configuration", "kernel", "cgroups", "user namespaces", "overlayfs", "protections", "machine", "data folder", "shell",
          "podman", "docker", "python", "uv", "conda", "gpus", "git", "ssh", "slurm", "kubectl", "network", "proxy",
          "certificates", "clock", "time zones"}


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def checks(result):
    assert result.returncode == 0, result.stderr + result.stdout
    return {check["name"]: check for check in json.loads(result.stdout)}


def test_everything_is_looked_at(home):
    found = checks(home.cli("doctor", "-o", "json"))
    assert set(found) == WANTED
    for check in found.values():
        assert check["mark"] in ("ok", "off") and check["found"], check
        if check["mark"] == "off":
            assert check["effect"], check
    assert not (home.home / ".local").exists(), "it leaves no folder behind"
    table = home.cli("doctor").stdout
    assert "\x1b" not in table and all(name in table for name in WANTED)


def test_a_program_that_hangs_is_not_waited_for(home, tmp_path):
    slow = tmp_path / "bin"
    slow.mkdir()
    for name in ("podman", "docker", "git"):
        (slow / name).write_text("#!/bin/sh\nexec sleep 600\n")
        (slow / name).chmod(0o755)
    found = checks(home.cli("doctor", "-o", "json", PATH=f"{slow}:/usr/bin:/bin"))
    assert found["podman"]["mark"] == "off" and "within 2 s" in found["podman"]["found"]
    assert "within 2 s" in found["git"]["found"]


def test_what_stops_every_job_is_bad(home):
    home.write_user("outptu: json\n")
    result = home.cli("doctor", "-o", "json")
    assert result.returncode == 1
    assert {check["name"] for check in json.loads(result.stdout) if check["mark"] == "bad"} == {"configuration"}


@pytest.mark.parametrize("level", NAMES, indirect=True)
def test_each_level_of_rights(level):
    result = run("doctor", "-o", "json", level=level, cwd="/")
    found = checks(result)
    protections = found["protections"]
    if level.name == "root":
        assert "a user per task" in protections["found"]
    elif level.name == "user":
        assert "user namespaces" in protections["found"], protections
    else:
        assert protections["mark"] == "off" and "namespaces" in protections["effect"], protections
        assert "max_user_namespaces" in found["user namespaces"]["remedy"]
    assert not list((level.folder / "home").rglob(".doctor*"))


def test_a_data_folder_that_cannot_be_written_is_bad():
    result = run("doctor", "-o", "json", "--data", "/etc/passwd/x")
    assert result.returncode == 1
    assert {c["name"]: c["mark"] for c in json.loads(result.stdout)}["data folder"] == "bad"
