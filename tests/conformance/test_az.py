"""Scripts written for the Azure CLI run as they are: `az` is two lines that call `lavant az`."""
import os
import pathlib
import shutil
import subprocess

import pytest
from conftest import DEADLINE_S, binary, clean_environment, run, stop_leftovers

SCRIPTS = sorted((pathlib.Path(__file__).parent / "az_scripts").glob("*.sh"))


@pytest.fixture
def machine(tmp_path):
    """A home, a data folder and a PATH with `az` and `lavant`, all of them new."""
    programs, home, work = (tmp_path / name for name in ("bin", "home", "work"))
    for folder in (programs, home, work):
        folder.mkdir()
    (programs / "lavant").symlink_to(binary())
    (programs / "az").write_text(f"#!/bin/sh\nexec '{binary()}' az \"$@\"\n")
    (programs / "az").chmod(0o755)
    env = clean_environment(HOME=home, LAVANT_DATA=tmp_path / "state", PATH=f"{programs}:{os.environ['PATH']}")
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "REQUESTS_CA_BUNDLE"):
        env.pop(name, None)
    yield work, env
    run("down", "--data", tmp_path / "state", env=env)
    stop_leftovers(tmp_path / "state")


def test_there_are_scripts_for_jobs_computes_and_assets():
    names = {path.stem for path in SCRIPTS}
    assert {"submit_and_wait", "computes", "data_assets", "models", "environments", "datastores", "workspaces"} <= names
    assert len(names) >= 16


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script(script, machine):
    work, env = machine
    if "curl " in script.read_text() and not shutil.which("curl"):
        pytest.skip("curl is not installed")
    done = subprocess.run(["bash", "-x", str(script)], cwd=work, env=env, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
