"""The agent that nodes run: a static program that travels inside `lavant`."""
import os
import pathlib
import re
import subprocess

import pytest
from conftest import binary, clean_environment, run, wait_for


def dynamic_section(program):
    return subprocess.run(["readelf", "--program-headers", "--dynamic", program], capture_output=True, text=True,
                          check=True).stdout


@pytest.fixture(autouse=True)
def has_one():
    if re.search(r"NEEDED.*lib[at]san", dynamic_section(binary())):
        pytest.skip("a build with sanitizers has no static agent")


def agents_of(data):
    return [int(path.read_text().split()[0]) for path in (data / "nodes").glob("*/agent.pid")]


@pytest.fixture
def idle(data, write_job):
    """A data folder with a server and a node that has run a job."""
    env = clean_environment(LAVANT_DATA=data)
    result = run("job", "create", "-f", write_job("echo ran"), "--stream", env=env)
    assert result.returncode == 0 and "ran\n" in result.stdout, result.stderr
    return data


def test_it_needs_no_library_and_no_loader(idle):
    program = idle / "bin/lavant-agent"
    assert oct(program.stat().st_mode & 0o777) == "0o755"
    read = dynamic_section(program)
    assert "LOAD" in read and "INTERP" not in read and "NEEDED" not in read, read


def test_it_tells_its_version(idle):
    alone = subprocess.run([idle / "bin/lavant-agent", "--version"], env={}, capture_output=True, text=True)
    assert alone.returncode == 0 and re.fullmatch(r"lavant-agent \d+\.\d+\.\d+\n", alone.stdout), alone
    assert run("agent", "--version").stdout == alone.stdout


def test_nodes_run_it_and_it_stays_small(idle):
    (agent,) = agents_of(idle)
    assert os.readlink(f"/proc/{agent}/exe") == str(idle / "bin/lavant-agent")
    status = pathlib.Path(f"/proc/{agent}/status").read_text()
    assert int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) < 15 * 1024, status


def test_its_launcher_lives_on_after_a_job(idle):
    """It gives back most of its memory; had it given back too much, it would be dead and jobs slower."""
    (agent,) = agents_of(idle)
    children = pathlib.Path(f"/proc/{agent}/task/{agent}/children").read_text().split()
    names = [pathlib.Path(f"/proc/{child}/comm").read_text().strip() for child in children]
    assert "lavant-launcher" in names


def test_a_spoilt_one_is_replaced_at_the_next_start(idle, write_job):
    program = idle / "bin/lavant-agent"
    good = program.read_bytes()
    assert run("down", "--data", idle).returncode == 0
    program.write_bytes(good[:1000])
    (idle / "bin/lavant-agent.new").write_bytes(b"half")
    result = run("job", "create", "-f", write_job("echo again"), "--stream", env=clean_environment(LAVANT_DATA=idle))
    assert result.returncode == 0 and "again\n" in result.stdout, result.stderr
    assert program.read_bytes() == good
    assert [entry.name for entry in (idle / "bin").iterdir()] == ["lavant-agent"]


def test_where_programs_may_not_run_lavant_is_its_own_agent(tmp_path, write_job):
    """A data folder on a file system without permission to execute."""
    folder = tmp_path / "noexec"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", folder], capture_output=True).returncode != 0:
        pytest.skip("may not mount")
    data = folder / "state"
    try:
        env = clean_environment(LAVANT_DATA=data)
        result = run("job", "create", "-f", write_job("echo here too"), "--stream", env=env)
        assert result.returncode == 0 and "here too\n" in result.stdout, result.stderr
        (agent,) = agents_of(data)
        assert os.readlink(f"/proc/{agent}/exe") == os.path.realpath(binary())
        assert "agent_not_installed" in (data / "serve.log").read_text()
    finally:
        run("down", "--data", data)
        wait_for(lambda: subprocess.run(["umount", folder], capture_output=True).returncode == 0, "the end of the mount")
