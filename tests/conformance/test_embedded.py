"""The server that the command line starts for itself."""
import json
import os
import pathlib
import signal
import subprocess

import pytest
from conftest import DEADLINE_S, binary, clean_environment, is_alive, run, wait_for


def endpoint(data):
    return json.loads((data / "endpoint").read_text())


def test_a_job_with_nothing_configured(data, write_job):
    env = clean_environment(LAVANT_DATA=data)
    first = run("job", "create", "-f", write_job("echo here"), "--stream", env=env)
    assert first.returncode == 0, first.stderr
    assert "here\n" in first.stdout
    started = [line for line in first.stderr.splitlines() if "started" in line]
    assert len(started) == 1 and str(data) in started[0]
    second = run("job", "list", env=env)
    assert second.returncode == 0 and "started" not in second.stderr
    assert oct(data.stat().st_mode & 0o777) == "0o700"
    assert oct((data / "owner.key").stat().st_mode & 0o777) == "0o600"


def test_the_data_folder_follows_the_state_directory(data, tmp_path):
    env = clean_environment(XDG_STATE_HOME=tmp_path / "xdg", HOME=tmp_path / "home")
    assert str(tmp_path / "xdg/lavant") in run("status", env=env).stdout
    env.pop("XDG_STATE_HOME")
    assert str(tmp_path / "home/.local/state/lavant") in run("status", env=env).stdout


def test_up_status_down(data):
    assert run("status", "--data", data).returncode == 4
    up = run("up", "--data", data)
    assert up.returncode == 0, up.stderr
    url = endpoint(data)["url"]
    assert url in up.stdout
    again = run("up", "--data", data)
    assert again.returncode == 0 and "already" in again.stdout and url in again.stdout
    status = json.loads(run("status", "--data", data, "-o", "json").stdout)
    assert status["server"] == "running" and status["url"] == url
    pid = endpoint(data)["pid"]
    assert run("down", "--data", data).returncode == 0
    assert not is_alive(pid)
    assert run("status", "--data", data).returncode == 4
    assert run("down", "--data", data).returncode == 0


def test_down_leaves_no_process_behind(data, write_job):
    env = clean_environment(LAVANT_DATA=data)
    assert run("job", "create", "-f", write_job("true"), "--stream", env=env).returncode == 0
    assert run("down", "--data", data).returncode == 0
    assert processes_of(data) == []
    again = run("job", "create", "-f", write_job("echo again"), "--stream", env=env)
    assert again.returncode == 0 and "again\n" in again.stdout, again.stderr


def test_many_at_once_give_one_server(data):
    env = clean_environment(LAVANT_DATA=data)
    running = [subprocess.Popen([binary(), "job", "list"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True) for _ in range(6)]
    said = [one.communicate(timeout=DEADLINE_S)[1] for one in running]
    assert [one.returncode for one in running] == [0] * 6, said
    assert sum("started" in text for text in said) == 1, said
    assert servers_of(data) == [endpoint(data)["pid"]]


def test_a_killed_server_is_replaced_and_nothing_is_lost(data, write_job):
    env = clean_environment(LAVANT_DATA=data)
    assert run("job", "create", "-f", write_job("true"), "-n", "kept", "--stream", env=env).returncode == 0
    os.kill(endpoint(data)["pid"], signal.SIGKILL)
    wait_for(lambda: not servers_of(data), "the end of the server")
    assert (data / "endpoint").exists() and (data / "lock").exists()
    shown = run("job", "show", "kept", env=env)
    assert shown.returncode == 0, shown.stderr
    assert "Completed" in shown.stdout


def test_an_endpoint_that_means_somebody_else_is_not_trusted(data):
    """After a power cut the old process number may belong to another program."""
    data.mkdir(mode=0o700)
    bystander = subprocess.Popen(["sleep", "600"])
    try:
        (data / "endpoint").write_text(json.dumps({"url": "https://127.0.0.1:1", "pid": bystander.pid, "ca": "/none"}))
        (data / "lock").write_text("")
        assert run("down", "--data", data).returncode == 0
        assert bystander.poll() is None
        assert run("job", "list", env=clean_environment(LAVANT_DATA=data)).returncode == 0
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.parametrize("content", ["", "not json", "{}", '{"url": 5}', '{"url": "https://127.0.0.1:1"}', "[]"])
def test_a_spoilt_endpoint_file_is_taken_over(data, content):
    data.mkdir(mode=0o700)
    (data / "endpoint").write_text(content)
    result = run("job", "list", env=clean_environment(LAVANT_DATA=data))
    assert result.returncode == 0, result.stderr


def test_a_data_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("job", "list", env=clean_environment(LAVANT_DATA=tmp_path / "file/state"))
    assert result.returncode in (2, 4)
    assert str(tmp_path / "file") in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_broken_database_is_told(data):
    data.mkdir(mode=0o700)
    (data / "lavant.db").write_bytes(b"this is no database" * 100)
    result = run("job", "list", env=clean_environment(LAVANT_DATA=data))
    assert result.returncode == 4
    assert "lavant.db" in result.stderr or "serve.log" in result.stderr


def test_the_server_outlives_the_command_that_started_it(data):
    env = clean_environment(LAVANT_DATA=data)
    shell = subprocess.run(["bash", "-c", f"'{binary()}' job list; echo done"], env=env, capture_output=True, text=True,
                           timeout=DEADLINE_S)
    assert "done" in shell.stdout
    assert is_alive(endpoint(data)["pid"])
    assert os.getsid(endpoint(data)["pid"]) == endpoint(data)["pid"]


def processes_of(data):
    """Process numbers with their command lines: those that name the data folder or something in it."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if any(word.startswith(os.fsencode(str(data))) for word in words) and is_alive(int(entry.name)):
                found.append((int(entry.name), words))
    return found


def servers_of(data):
    return [pid for pid, words in processes_of(data) if b"serve" in words]
