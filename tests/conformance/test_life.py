"""The life of the local server: newer programs take over, status tells, down and its purge, deleted jobs."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import urllib.parse

import pytest
import requests

import levels
from conftest import DEADLINE_S, binary, clean_environment, is_alive, job_writer, run, stop_leftovers, wait_for
from test_embedded import endpoint, processes_of, servers_of
from test_levels import processes_with

ARM = ("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
       "Microsoft.MachineLearningServices/workspaces/default")


def arm(server, method, path, **options):
    return requests.request(method, server.url + path, headers={"Authorization": f"Bearer {server.key}"}, verify=server.ca,
                            timeout=DEADLINE_S, **options)


def later_build(into, data):
    """The same program with another build id, written later."""
    old = bytes.fromhex(endpoint(data)["build"])
    assert len(old) >= 8
    text = pathlib.Path(binary()).read_bytes()
    assert text.count(old) == 1
    path = into / "newer" / "lavant"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.replace(old, bytes(byte ^ 0xFF for byte in old)))
    path.chmod(0o755)
    return path


def test_a_newer_program_takes_over_and_jobs_go_on(data, tmp_path, write_job):
    env = clean_environment(LAVANT_DATA=data)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    gate.chmod(0o666)
    job = write_job(f"echo begun; cat {gate}; echo ended", properties={"lavant.sandbox": "off"})
    assert run("job", "create", "-f", job, "-n", "long", env=env).returncode == 0
    wait_for(lambda: "Running" in run("job", "show", "long", env=env).stdout, "the job running")
    old = endpoint(data)
    newer = later_build(tmp_path, data)
    running = [subprocess.Popen([newer, "job", "list"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
               for _ in range(4)]
    said = [one.communicate(timeout=DEADLINE_S)[1] for one in running]
    assert [one.returncode for one in running] == [0] * 4, said
    # One of them says so; where it came when the old one had left already, it has only started one.
    assert sum("started" in text for text in said) == 1, said
    now = endpoint(data)
    assert now["pid"] != old["pid"] and now["build"] != old["build"] and now["url"] == old["url"]
    assert servers_of(data) == [now["pid"]] and not is_alive(old["pid"])
    # The older program goes on with the newer server, and says nothing.
    shown = run("job", "show", "long", env=env)
    assert shown.returncode == 0 and "Running" in shown.stdout and "restarted" not in shown.stderr, shown.stderr
    assert endpoint(data)["pid"] == now["pid"]
    with open(gate, "w") as writer:
        writer.write("through\n")
    streamed = run("job", "stream", "long", env=env)
    assert streamed.stdout.count("begun\n") == 1 and streamed.stdout.endswith("through\nended\n"), streamed.stdout


def test_what_was_to_stay_stays_after_a_restart(data, tmp_path):
    assert run("up", "--data", data).returncode == 0
    assert endpoint(data)["idleExit"] == 0
    newer = later_build(tmp_path, data)
    env = clean_environment(LAVANT_DATA=data)
    said = subprocess.run([newer, "job", "list"], env=env, capture_output=True, text=True, timeout=DEADLINE_S).stderr
    assert "restarted the local server: 0.1.0, build " in said and "running jobs go on" in said
    assert endpoint(data)["idleExit"] == 0 and endpoint(data)["embedded"] is True


def test_a_server_in_the_foreground_is_never_restarted(start_server, tmp_path):
    server = start_server()
    newer = later_build(tmp_path, server.data)
    listed = subprocess.run([newer, "job", "list", "--data", server.data], env=clean_environment(), capture_output=True, text=True,
                            timeout=DEADLINE_S)
    assert listed.returncode == 0 and "restarted" not in listed.stderr
    assert server.process.poll() is None and endpoint(server.data)["pid"] == server.process.pid


def test_status_tells_what_there_is(data, write_job):
    nothing = run("status", "--data", data)
    assert nothing.returncode == 4 and "starts with the next command" in nothing.stdout
    env = clean_environment(LAVANT_DATA=data)
    assert run("job", "create", "-f", write_job("true"), "--stream", env=env).returncode == 0
    status = json.loads(run("status", "--data", data, "-o", "json").stdout)
    assert status["pid"] == endpoint(data)["pid"] and status["data"] == str(data)
    assert status["version"] == "0.1.0" and status["since"].endswith("Z") and status["mode"] == "leaves when idle"
    assert status["jobsRunning"] == 0 and status["jobsQueued"] == 0 and status["nodes"] == 1
    assert status["dataBytes"] > 100_000


def test_an_idle_server_leaves_and_comes_back_with_all_history(data, write_job):
    ours, theirs = os.pipe()
    data.mkdir(mode=0o700)
    # No node outlives the job long enough to keep it: what is left is killed below.
    process = subprocess.Popen([binary(), "serve", "--data", data, "--port", "0", "--embedded", "--idle-exit", "1", "--ready-fd",
                                str(theirs)], env=clean_environment(), pass_fds=(theirs,), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    os.close(theirs)
    with os.fdopen(ours) as ready:
        assert ready.readline() == "ready\n"
    assert process.wait(timeout=DEADLINE_S) == 0
    assert not (data / "endpoint").exists()
    env = clean_environment(LAVANT_DATA=data)
    assert run("job", "create", "-f", write_job("true"), "-n", "kept", "--stream", env=env).returncode == 0
    os.kill(endpoint(data)["pid"], signal.SIGTERM)
    wait_for(lambda: not servers_of(data), "the end of the server")
    assert "Completed" in run("job", "show", "kept", env=env).stdout


def test_down_says_what_goes_on(data, tmp_path, write_job):
    env = clean_environment(LAVANT_DATA=data)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    job = write_job(f"cat {gate}; echo ended", properties={"lavant.sandbox": "off"})
    assert run("job", "create", "-f", job, "-n", "long", env=env).returncode == 0
    wait_for(lambda: "Running" in run("job", "show", "long", env=env).stdout, "the job running")
    down = run("down", "--data", data)
    assert "stopped the server" in down.stdout and "1 job goes on without it for 10 minutes" in down.stdout, down.stdout
    with open(gate, "w") as writer:
        writer.write("through\n")
    streamed = run("job", "stream", "long", env=env)
    assert streamed.returncode == 0 and streamed.stdout.endswith("ended\n"), streamed.stderr


@pytest.mark.parametrize("level", levels.NAMES, indirect=True)
def test_purge_leaves_nothing(level):
    data = level.make_folder("data")
    write = job_writer(level.folder)
    seconds = f"{200_000 + os.getpid()}.{levels.NAMES.index(level.name)}"  # no other process sleeps so long
    try:
        job = write(f"(setsid sleep {seconds} &); sleep {seconds}")
        made = run("job", "create", "-f", job, "--data", data, level=level, cwd=level.folder)
        assert made.returncode == 0, made.stderr
        wait_for(lambda: len(processes_with(seconds)) == 2, "the processes of the job")
        groups = [path for note in data.glob("nodes/*/cgroup") for path in note.read_text().split() if path.startswith("/")]
        refused = run("down", "--purge", "--data", data, level=level, stdin="")
        assert refused.returncode == 2 and "--yes" in refused.stderr and data.exists()
        done = run("down", "--purge", "-y", "--data", data, level=level)
        assert done.returncode == 0 or "Permission denied" in done.stderr, done.stderr  # the folder above is not the user's
        assert processes_with(seconds) == [] and processes_of(data) == []
        assert not data.exists() or list(data.iterdir()) == [], list(data.iterdir())
        assert [group for group in groups if pathlib.Path(group).exists()] == []
        assert run("down", "--purge", "-y", "--data", data / "none", level=level).returncode == 0
    finally:
        stop_leftovers(data)


def test_purge_removes_nothing_it_does_not_know(data, tmp_path):
    assert run("up", "--data", data).returncode == 0
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (data / "thesis.txt").write_text("y")
    shutil.rmtree(data / "bin")
    (data / "bin").symlink_to(outside)
    done = run("down", "--purge", "-y", "--data", data)
    assert done.returncode == 1 and "thesis.txt" in done.stderr, done.stderr
    assert [entry.name for entry in data.iterdir()] == ["thesis.txt"]
    assert (outside / "precious").read_text() == "x"


def test_purge_refuses_what_is_no_data_folder(tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lavant.db").write_bytes(b"SQLite format 3\0" + bytes(200))
    (other / "lock").write_text("")
    for folder in (other, tmp_path):
        refused = run("down", "--purge", "-y", "--data", folder)
        assert refused.returncode == 2 and "no data folder" in refused.stderr, refused.stderr
    assert (other / "lavant.db").exists()
    link = tmp_path / "link"
    link.symlink_to(other)
    assert run("down", "--purge", "-y", "--data", link).returncode == 2


def test_a_deleted_job_is_gone_with_its_files_and_its_name_is_free(server, write_job):
    job = write_job("echo first; echo x > ${{outputs.made}}/file; mkdir -p outputs; echo y > outputs/y",
                    outputs={"made": {"type": "uri_folder"}})
    blobs = server.data / "blobs"
    for name in ("gone", "gone2"):
        done = server.cli("job", "create", "-f", job, "-n", name, "--stream")
        assert done.returncode == 0, done.stderr
    kept = [path for path in blobs.rglob("*") if path.is_file() and "gone2" in str(path)]
    assert any(path.name == "file" for path in kept) and any(path.name == "y" for path in kept)
    assert arm(server, "DELETE", f"{ARM}/jobs/gone").status_code == 204
    assert arm(server, "GET", f"{ARM}/jobs/gone").status_code == 404
    assert arm(server, "DELETE", f"{ARM}/jobs/gone").status_code == 404

    def again():
        result = server.cli("job", "create", "-f", write_job("echo second"), "-n", "gone", "--stream")
        assert result.returncode in (0, 5), result.stderr
        return result.returncode == 0 and result

    assert wait_for(again, "the name is free").stdout.endswith("second\n")
    mine = {path.name for path in blobs.rglob("*") if path.is_file() and "gone/" in str(path)}
    assert "y" not in mine and "file" not in mine, mine
    assert all(path.exists() for path in kept)
    assert arm(server, "DELETE", f"{ARM}/jobs/gone").status_code == 204


def test_a_job_that_has_not_ended_is_not_deleted(server, write_job, tmp_path):
    assert server.cli("job", "create", "-f", write_job("sleep 600"), "-n", "busy").returncode == 0
    refused = arm(server, "DELETE", f"{ARM}/jobs/busy")
    assert refused.status_code == 409 and "lavant job cancel busy" in refused.json()["error"]["message"]
    server.cli("job", "cancel", "busy")
    wait_for(lambda: arm(server, "GET", f"{ARM}/jobs/busy").json()["properties"]["status"] == "Canceled", "the end")
    assert arm(server, "DELETE", f"{ARM}/jobs/busy").status_code == 204


def test_names_by_their_beginning_and_ones_own(server, write_job):
    for name in ("pre-a", "pre-b"):
        assert server.cli("job", "create", "-f", write_job("true"), "-n", name, "--stream").returncode == 0

    def names(**query):
        answer = arm(server, "GET", "/lavant/v1/jobs?" + urllib.parse.urlencode(query))
        return [job["name"] for job in answer.json()["value"]]

    assert names(prefix="pre-", limit=6) == ["pre-b", "pre-a"]
    assert names(prefix="pre%") == []
    assert names(mine=1, limit=1) == ["pre-b"]


def test_a_folder_with_somebody_elses_files_becomes_no_data_folder(tmp_path):
    for kept in ("bin/mytool", "backup/thesis.tar", "tls/site.key", "notes.txt"):
        folder = tmp_path / kept.replace("/", "_")
        (folder / kept).parent.mkdir(parents=True)
        (folder / kept).write_text("mine")
        result = run("job", "list", "--data", folder)
        assert result.returncode == 4 and "neither empty nor a data folder" in result.stderr, result.stderr
        run("down", "--purge", "-y", "--data", folder)
        assert (folder / kept).read_text() == "mine"
