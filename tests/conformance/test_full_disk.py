"""A disk that is really full, to the last byte: new work is refused with the remedy, the rest goes on.

The data folder lies on a small file system in a mount namespace of its own, which goes with its last process.
"""
import errno
import os
import pathlib
import subprocess

import pytest
import requests
from conftest import (DEADLINE_S, TERMINAL, Server, binary, clean_environment, job_writer, read_line, stop_leftovers,
                      submitted_name, wait_for)

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to mount a small disk")

MEGABYTES = 400  # the server keeps 256 in reserve
SMALL = {"resources": {"instance_type": "Standard_DS1_v2"}}


class SmallDisk:
    """Stands for a level of levels.py: whatever is started through it sees the disk."""

    def __init__(self, folder):
        self.point = folder / "disk"
        self.point.mkdir()
        mount = f"mount -t tmpfs -o size={MEGABYTES}m,mode=700 tmpfs '{self.point}' && echo ready && read -r end"
        self._holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", mount],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert read_line(self._holder.stdout.fileno()) == "ready"
        self._ballast = self.seen(self.point / "ballast")

    def seen(self, path):
        return pathlib.Path(f"/proc/{self._holder.pid}/root{path}")

    def command(self):
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "--", binary()]

    def environment(self, **changes):
        return clean_environment(**changes)

    def fill(self):
        with open(self._ballast, "ab", buffering=0) as file:
            for size in (1 << 20, 4096):
                try:
                    while True:
                        file.write(bytes(size))
                except OSError as error:
                    assert error.errno == errno.ENOSPC
        return self

    def free(self):
        self._ballast.unlink()

    def free_bytes(self):
        about = os.statvfs(self.seen(self.point))
        return about.f_bavail * about.f_frsize

    def close(self):
        self._holder.stdin.close()
        self._holder.wait()
        self._holder.stdout.close()


@pytest.fixture
def disk(tmp_path):
    one = SmallDisk(tmp_path)
    yield one
    one.close()


@pytest.fixture
def start_on(disk):
    started = []

    def start(name):
        started.append(Server(disk.point / name, level=disk))
        return started[-1]

    yield start
    for one in started:
        one.stop()
    stop_leftovers(disk.point)


@pytest.fixture
def server(start_on):
    one = start_on("data")
    assert one.ready_line == "ready", one.log()
    return one


def get(server, disk, path, method="GET"):
    return requests.request(method, server.url + path, verify=str(disk.seen(pathlib.Path(server.ca))),
                            headers={"Authorization": f"Bearer {server.key}"}, timeout=DEADLINE_S)


def artifact(job, name):
    return f"/storage/acct/azureml/ExperimentRun/dcid.{job}/{name}"


def check_refused(server, job):
    refused = server.cli("job", "create", "-f", job)
    assert refused.returncode == 5, refused.stdout + refused.stderr
    [sentence] = refused.stderr.strip().splitlines()
    assert "disk is nearly full" in sentence and "delete old jobs" in sentence, sentence


def test_what_runs_ends_and_what_is_new_waits_for_room(server, disk, tmp_path):
    write_job = job_writer(tmp_path)
    old = server.cli("job", "create", "-f", write_job("echo kept > outputs/old.txt", **SMALL), "-n", "old", "--stream")
    assert old.returncode == 0, old.stderr
    waits = write_job("echo waiting; until [ $(stat -f -c %a .) = 0 ]; do sleep 0.05; done; echo no room; exit 7", **SMALL)
    for name, job in (("waits", waits), ("sleeps", write_job("echo sleeping; sleep 600", **SMALL))):
        submitted_name(server.cli("job", "create", "-f", job, "-n", name))
    for name in ("waits", "sleeps"):
        server.wait_status(name, {"Running"})

    disk.fill()
    assert disk.free_bytes() == 0
    assert server.wait_status("waits") == "Failed"
    shown = server.cli("job", "show", "waits")
    assert "exit code 7" in shown.stdout, shown.stdout
    disk.fill()
    # The disk is looked at once a second: what slips through has to end, too.
    accepted = []

    def refused():
        one = server.cli("job", "create", "-f", late)
        accepted.extend([one.stdout.split()[0]] if one.returncode == 0 else [])
        return one.returncode != 0

    late = write_job("echo late", **SMALL)
    wait_for(refused, "the first refusal")
    check_refused(server, late)
    for name in accepted:
        disk.fill()
        assert server.wait_status(name) in TERMINAL
    disk.fill()
    canceled = server.cli("job", "cancel", "sleeps")
    assert canceled.returncode == 0, canceled.stderr
    disk.fill()
    assert server.wait_status("sleeps") == "Canceled"
    blob = artifact("old", "outputs/old.txt")
    disk.fill()
    assert get(server, disk, blob, "DELETE").status_code == 202
    assert get(server, disk, blob).status_code == 404
    check_refused(server, write_job("echo new", code={"a.py": "print(1)\n"}))
    assert server.cli("job", "list").returncode == 0

    disk.free()
    new = write_job("echo new", **SMALL)
    wait_for(lambda: server.cli("job", "create", "-f", new, "-n", "new").returncode == 0, "a submission with room again")
    assert server.wait_status("new") == "Completed"
    assert server.process.poll() is None
    for name, line in (("waits", "no room\n"), ("sleeps", "sleeping\n"), ("new", "new\n")):
        assert line in get(server, disk, f"/lavant/v1/jobs/{name}/logs").text
        life = artifact(name, "system_logs/lifecycle.txt")
        wait_for(lambda: server.status_of(name) in get(server, disk, life).text, f"the lifecycle of {name}")


def test_a_job_that_fills_the_disk_fails_and_leaves_room(server, disk, tmp_path):
    write_job = job_writer(tmp_path)
    greedy = server.cli("job", "create", "-f", write_job("head -c 1G /dev/zero > big", **SMALL), "--stream")
    assert greedy.returncode == 1, greedy.stderr
    assert "No space left on device" in greedy.stdout
    again = write_job("echo again", **SMALL)
    made = wait_for(lambda: (one := server.cli("job", "create", "-f", again, "--stream")).returncode == 0 and one, "a new job")
    assert "again\n" in made.stdout


def test_a_server_starts_again_on_a_full_disk_and_a_first_one_says_why_not(disk, start_on, tmp_path):
    write_job = job_writer(tmp_path)
    disk.fill()
    fresh = start_on("fresh")
    assert fresh.ready_line != "ready"
    [sentence] = [line for line in fresh.log().splitlines() if line.startswith("lavant: ")]
    assert "No space left on device" in sentence and "free some space" in sentence, sentence
    disk.free()
    first = start_on("data")
    assert first.cli("job", "create", "-f", write_job("true", **SMALL), "-n", "kept", "--stream").returncode == 0
    first.stop()
    disk.fill()
    second = start_on("data")
    assert second.ready_line == "ready", second.log()
    assert second.status_of("kept") == "Completed"
    check_refused(second, write_job("true"))
