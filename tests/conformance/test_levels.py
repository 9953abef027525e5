"""hello, stream and cancel as root, as an ordinary user, and where user namespaces are refused; the log says what is off.

The crash tests at these levels are in test_crash.py, the sandbox's own suite in src/adapters/sandbox_linux.
"""
import os
import pathlib
import subprocess

import pytest

import levels
from conftest import DEADLINE_S, Server, is_alive, job_writer, run, stop_leftovers, submitted_name, wait_for

pytestmark = pytest.mark.parametrize("level", levels.NAMES, indirect=True)


def processes_with(word):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            pass  # It ended meanwhile.
    return [pid for pid in found if is_alive(pid)]


def test_hello_with_nothing_configured(level):
    home = level.folder / "home"
    try:
        job = level.copy_example("hello") / "job.yml"
        hello = run("job", "create", "-f", job, "--stream", level=level, cwd=level.folder)
        assert hello.returncode == 0, hello.stderr + hello.stdout
        assert "Hello, world!\n" in hello.stdout
        assert hello.stderr.rstrip().endswith("Completed")
        assert str(home / ".local/state/lavant") in hello.stderr
        level.check_what_is_off(hello.stdout)
        assert run("down", level=level, cwd=level.folder).returncode == 0
    finally:
        stop_leftovers(home)


def test_stream_and_cancel(level):
    data = level.make_folder("data")
    write_job = job_writer(level.folder)
    seconds = f"{100_000 + os.getpid()}.{levels.NAMES.index(level.name)}"  # no other process sleeps so long
    server = Server(data, level=level)
    try:
        assert server.ready_line == "ready", server.log()
        # One process of it has left its session, and nobody waits for it.
        job = write_job(f"(setsid sleep {seconds} &); echo first; sleep {seconds}; echo never")
        name = submitted_name(server.cli("job", "create", "-f", job))
        stream = subprocess.Popen([*level.command(), "job", "stream", name], env=server.environment(), text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            said = ""
            for line in stream.stdout:
                said += line
                if line == "first\n":
                    break
            level.check_what_is_off(said)
            assert server.status_of(name) == "Running"
            wait_for(lambda: len(processes_with(seconds)) == 2, "the start of the job's processes")
            assert server.cli("job", "cancel", name).returncode == 0
            _, told = stream.communicate(timeout=DEADLINE_S)
            assert stream.returncode == 3, told
            assert "Canceled" in told
        finally:
            stream.kill()
            stream.wait()
        assert processes_with(seconds) == []
        assert server.cli("job", "create", "-f", write_job("exit 3"), "--stream").returncode == 1
        assert server.stop() == 0
    finally:
        server.stop()
        stop_leftovers(data)
