"""kill -9 of the server, again and again, while jobs run: none lost, none run twice, no log line missing.

LAVANT_CRASH_KILLS and LAVANT_CRASH_JOBS make it longer (`make crash`: 100 kills, 200 jobs, at every level).
"""
import os
import random
import signal
import threading

import pytest

import levels
from conftest import Server, is_alive, run, stop_leftovers, wait_for

# Fewer where only the rights differ.
KILLS = {name: int(os.environ.get("LAVANT_CRASH_KILLS", "12" if name == "root" else "4")) for name in levels.NAMES}
JOBS = {name: int(os.environ.get("LAVANT_CRASH_JOBS", "40" if name == "root" else "12")) for name in levels.NAMES}
LINES = 40
at_every_level = pytest.mark.parametrize("level", levels.NAMES, indirect=True)

JOB = f"""\
command: >-
  for i in $(seq {LINES}); do echo "line $i of ${{LAVANT_ATTEMPT}}"; sleep 0.01; done
environment: azureml:base:1
resources:
  instance_type: Standard_DS1_v2
"""


def submit_all(count, job_file, current, done):
    """A client that gets no answer asks again under the same name."""
    for number in range(count):
        name = f"crash{number}"

        def submitted():
            made = current["server"].cli("job", "create", "-f", str(job_file), "-n", name)
            return made.returncode == 0 or "exists" in made.stderr

        wait_for(submitted, f"submission of {name}")
        done.append(name)


@pytest.fixture
def place(level):
    """The job's file and the data folder; no process of theirs is left afterwards."""
    job_file = level.folder / "job.yml"
    job_file.write_text(JOB)
    data = level.make_folder("data")
    yield job_file, data
    stop_leftovers(data)


@at_every_level
def test_server_killed_while_jobs_run(level, place, tmp_path):
    job_file, data = place
    server = Server(data, level=level)
    current = {"server": server}
    done = []
    client = threading.Thread(target=submit_all, args=(JOBS[level.name], job_file, current, done))
    client.start()
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    try:
        for _ in range(KILLS[level.name]):
            wait_for(lambda: chance.random() < 0.05, "a random moment")
            server.stop(signal.SIGKILL)
            server = Server(data, level=level)
            assert server.ready_line == "ready", server.log()
            current["server"] = server
        client.join()
        assert len(done) == JOBS[level.name]
        for name in done:
            assert server.wait_status(name) == "Completed", server.cli("job", "show", name).stdout
        for name in done:
            check_one(server, name, tmp_path)
    finally:
        server.stop()


def check_one(server, name, tmp_path):
    target = tmp_path / "got"
    got = run("job", "download", name, "--download-path", str(target), env=server.environment())
    assert got.returncode == 0, got.stderr
    folder = next(target.rglob(f"*{name}*"), target)
    log = next(path for path in target.rglob("std_log.txt") if f"/{name}/" in str(path) or folder == target)
    lines = [line for line in log.read_text().splitlines() if line.startswith("line ")]
    assert lines == [f"line {i} of 1" for i in range(1, LINES + 1)], (name, lines[:3], len(lines))
    life = next(path for path in log.parent.parent.rglob("lifecycle.txt"))
    states = [line.split()[1] for line in life.read_text().splitlines()]
    assert states.count("Running") == 1 and states.count("Completed") == 1, (name, states)
    assert states[-1] == "Completed"


def agent_pids(data):
    return {path.parent.name: int(path.read_text().split()[0]) for path in (data / "nodes").glob("*/agent.pid")}


@at_every_level
def test_agent_killed_while_its_job_runs(level, place, tmp_path):
    """The agent is started again, the task goes on, no line is lost."""
    job_file, data = place
    job_file.write_text(JOB.replace("sleep 0.01", "sleep 0.05"))
    server = Server(data, level=level)
    try:
        assert server.cli("job", "create", "-f", str(job_file), "-n", "tough").returncode == 0
        server.wait_status("tough", {"Running"})
        for pid in agent_pids(data).values():
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: not is_alive(pid), "the agent's death")
        assert server.wait_status("tough") == "Completed"
        check_one(server, "tough", tmp_path)
    finally:
        server.stop()
