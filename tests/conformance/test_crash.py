"""kill -9 of the server, again and again, while jobs run: none lost, none run twice, no log line missing.

LAVANT_CRASH_KILLS and LAVANT_CRASH_JOBS make it longer (`make crash`: 100 kills, 200 jobs).
"""
import json
import os
import random
import signal
import threading

import pytest

from conftest import TERMINAL, Server, is_alive, run, stop_leftovers, wait_for

KILLS = int(os.environ.get("LAVANT_CRASH_KILLS", "12"))
JOBS = int(os.environ.get("LAVANT_CRASH_JOBS", "40"))
LINES = 40

JOB = f"""\
command: >-
  for i in $(seq {LINES}); do echo "line $i of ${{LAVANT_ATTEMPT}}"; sleep 0.01; done
environment: azureml:base:1
resources:
  instance_type: Standard_DS1_v2
"""


def submit_all(data, job_file, done):
    """A client that gets no answer asks again under the same name."""
    for number in range(JOBS):
        name = f"crash{number}"

        def submitted():
            made = run("job", "create", "-f", str(job_file), "-n", name, env=data["environment"]())
            return made.returncode == 0 or "exists" in made.stderr

        wait_for(submitted, f"submission of {name}")
        done.append(name)


def test_server_killed_while_jobs_run(tmp_path):
    job_file = tmp_path / "job.yml"
    job_file.write_text(JOB)
    server = Server(tmp_path / "data")
    state = {"environment": server.environment}
    done = []
    client = threading.Thread(target=submit_all, args=(state, job_file, done))
    client.start()
    seed = random.randrange(1 << 30)
    print("seed", seed)
    chance = random.Random(seed)
    try:
        for _ in range(KILLS):
            wait_for(lambda: False or chance.random() < 0.05, "a random moment")
            server.stop(signal.SIGKILL)
            server = Server(tmp_path / "data")
            assert server.ready_line == "ready", server.log()
            state["environment"] = server.environment
        client.join()
        for name in done:
            assert server.wait_status(name) == "Completed", server.cli("job", "show", name).stdout
        for name in done:
            check_one(server, name, tmp_path)
    finally:
        server.stop()
        stop_leftovers(tmp_path / "data")


def check_one(server, name, tmp_path):
    target = tmp_path / "got"
    got = server.cli("job", "download", name, "--download-path", str(target))
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


def test_agent_killed_while_its_job_runs(tmp_path):
    """The agent is started again, the task goes on, no line is lost."""
    job_file = tmp_path / "job.yml"
    job_file.write_text(JOB.replace("sleep 0.01", "sleep 0.1"))
    server = Server(tmp_path / "data")
    try:
        assert server.cli("job", "create", "-f", str(job_file), "-n", "tough").returncode == 0
        server.wait_status("tough", {"Running"})
        for pid in agent_pids(tmp_path / "data").values():
            os.kill(pid, signal.SIGKILL)
            wait_for(lambda: not is_alive(pid), "the agent's death")
        assert server.wait_status("tough") == "Completed"
        check_one(server, "tough", tmp_path)
    finally:
        server.stop()
        stop_leftovers(tmp_path / "data")
