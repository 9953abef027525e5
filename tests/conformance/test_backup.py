"""One file that has everything: made while jobs run, restored elsewhere, and refused where it is not what it says."""
import io
import json
import os
import pathlib
import sqlite3
import tarfile
import threading

import pytest
import requests

from conftest import DEADLINE_S, clean_environment, run, wait_for
from test_life import ARM, arm


def blob_call(server, method, headers=None, **options):
    """On one blob of the workspace, with the key of the owner."""
    return requests.request(method, f"{server.url}/storage/acct/azureml-blobstore/folder/a%20page", verify=server.ca,
                            headers={"Authorization": f"Bearer {server.key}", **(headers or {})}, **options)


def test_what_is_known_of_a_blob_besides_its_bytes_is_restored(start_server, tmp_path):
    server = start_server()
    facts = {"x-ms-blob-type": "BlockBlob", "x-ms-blob-content-type": "text/x-python", "x-ms-meta-made_by": "me"}
    assert blob_call(server, "PUT", facts, data=b"print()").status_code == 201
    made = run("backup", tmp_path, "--data", server.data)
    assert run("restore", made.stdout.strip(), "--data", tmp_path / "elsewhere").returncode == 0
    for one in (server, start_server(tmp_path / "elsewhere")):
        found = blob_call(one, "GET")
        assert (found.content, found.headers["content-type"], found.headers["x-ms-meta-made_by"]) == (b"print()", "text/x-python", "me")


def names_of(server):
    answer = arm(server, "GET", f"{ARM}/jobs?listViewType=All")
    return {job["name"]: job["properties"]["status"] for job in answer.json()["value"]}


def files_below(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_backup_under_load_restores_elsewhere(start_server, tmp_path, write_job):
    server = start_server()
    job = write_job("echo line of ${{inputs.n}}; echo made > ${{outputs.made}}/file", inputs={"n": 7},
                    outputs={"made": {"type": "uri_folder"}})
    for number in range(3):
        done = server.cli("job", "create", "-f", job, "-n", f"done{number}", "--stream")
        assert done.returncode == 0, done.stderr
    before = names_of(server)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    gate.chmod(0o666)
    waiting = write_job(f"cat {gate}", properties={"lavant.sandbox": "off", "lavant.max_retries": "0"})
    assert server.cli("job", "create", "-f", waiting, "-n", "running").returncode == 0
    wait_for(lambda: names_of(server)["running"] == "Running", "the job running")

    ended = threading.Event()

    def load():
        number = 0
        while not ended.is_set():
            server.cli("job", "create", "-f", job, "-n", f"load{number}")
            number += 1

    loader = threading.Thread(target=load)
    loader.start()
    try:
        made = run("backup", tmp_path, "--data", server.data)
    finally:
        ended.set()
        loader.join()
    assert made.returncode == 0, made.stderr
    archive = pathlib.Path(made.stdout.strip())
    assert archive.parent == tmp_path and oct(archive.stat().st_mode & 0o777) == "0o600"
    assert not list(server.data.glob("backup/*")) and server.key not in made.stderr

    other = tmp_path / "elsewhere"
    restored = run("restore", archive, "--data", other)
    assert restored.returncode == 0, restored.stderr
    assert oct(other.stat().st_mode & 0o777) == "0o700"
    assert all(path.stat().st_mode & 0o077 == 0 for path in other.rglob("*"))
    assert sqlite3.connect(other / "lavant.db").execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    second = start_server(other)
    assert second.ready_line == "ready", second.log()
    assert second.key == server.key
    after = names_of(second)
    assert {name: after[name] for name in before} == before
    for name in before:
        assert "line of 7\n" in second.cli("job", "stream", name).stdout
        assert second.cli("job", "download", name, "--all", "-p", tmp_path / f"got-{name}").returncode == 0
        assert (tmp_path / f"got-{name}" / "named-outputs/made/file").read_text() == "made\n"
    # The one that ran cannot go on there: its node is the first server's. It goes on here.
    wait_for(lambda: names_of(second)["running"] == "Failed", "the end of what ran on a node that is not ours")
    assert names_of(server)["running"] == "Running"
    with open(gate, "w") as writer:
        writer.write("through\n")
    wait_for(lambda: names_of(server)["running"] == "Completed", "the end of the first server's own job")
    assert names_of(second)["running"] == "Failed"
    assert second.cli("job", "create", "-f", job, "-n", "fresh", "--stream").returncode == 0


def test_a_backup_without_a_server(data, tmp_path, write_job):
    env = clean_environment(LAVANT_DATA=data)
    assert run("job", "create", "-f", write_job("echo kept"), "-n", "kept", "--stream", env=env).returncode == 0
    assert run("down", "--data", data).returncode == 0
    archive = tmp_path / "one.tar"
    assert run("backup", archive, "--data", data).returncode == 0
    again = run("backup", archive, "--data", data)
    assert again.returncode == 2 and "already" in again.stderr
    full = run("restore", archive, "--data", data)
    assert full.returncode == 2 and "not empty" in full.stderr
    before = files_below(data)
    put_aside = run("restore", archive, "--data", data, "--yes")
    assert put_aside.returncode == 0, put_aside.stderr
    aside = pathlib.Path(put_aside.stdout.splitlines()[1].rsplit(" ", 1)[1])
    assert files_below(aside) == before
    assert "kept\n" in run("job", "stream", "kept", env=env).stdout


def test_nothing_to_back_up(tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "none"):
        refused = run("backup", tmp_path / "x.tar", "--data", folder)
        assert refused.returncode == 2 and "nothing to back up" in refused.stderr
    assert not (tmp_path / "x.tar").exists()


def test_a_running_server_is_not_replaced(start_server, tmp_path):
    server = start_server()
    archive = tmp_path / "one.tar"
    assert run("backup", archive, "--data", server.data).returncode == 0
    refused = run("restore", archive, "--data", server.data, "--yes")
    assert refused.returncode == 1 and "lavant down" in refused.stderr
    assert server.process.poll() is None
    assert not list(tmp_path.glob("*restoring*"))


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    env = clean_environment(LAVANT_DATA=folder / "data")
    assert run("up", env=env).returncode == 0
    assert run("down", env=env).returncode == 0
    assert run("backup", folder / "good.tar", env=env).returncode == 0
    return folder / "good.tar"


def rewritten(good, path, change):
    """The archive with its entries as `change` wants them: a list of (TarInfo, bytes)."""
    with tarfile.open(good) as old:
        entries = [(info, old.extractfile(info).read()) for info in old.getmembers()]
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as new:
        for info, content in change(entries):
            info.size = len(content)
            new.addfile(info, io.BytesIO(content))
    return path


def entry(name, content=b"x", kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, content


HOSTILE = {
    "traversal": lambda entries: entries[:1] + [entry("../../escaped")] + entries[1:],
    "absolute": lambda entries: entries[:1] + [entry("/tmp/lavant-escaped")] + entries[1:],
    "through blobs": lambda entries: entries[:1] + [entry("blobs/../../escaped")] + entries[1:],
    "symlink": lambda entries: entries[:1] + [entry("blobs/link", b"", tarfile.SYMTYPE, "/etc")] + entries[1:],
    "hard link": lambda entries: entries[:1] + [entry("blobs/link", b"", tarfile.LNKTYPE, "secret.key")] + entries[1:],
    "device": lambda entries: entries[:1] + [entry("blobs/device", b"", tarfile.CHRTYPE)] + entries[1:],
    "stranger": lambda entries: entries[:1] + [entry("bin/lavant-agent")] + entries[1:],
    "added": lambda entries: entries[:1] + [entry("blobs/added")] + entries[1:],
    "left out": lambda entries: entries[:1] + entries[2:],
    "changed": lambda entries: [(info, content[:-1] + b"?" if info.name == "owner.key" else content) for info, content in entries],
    "twice": lambda entries: entries[:2] + [entries[1]] + entries[2:],
    "no note": lambda entries: entries[1:],
    "no manifest": lambda entries: entries[:-1],
    "other format": lambda entries: [(entries[0][0], json.dumps({"format": 99, "version": "9.9"}).encode())] + entries[1:],
}


@pytest.mark.parametrize("how", list(HOSTILE))
def test_a_hostile_archive_is_refused(good, tmp_path, how):
    archive = rewritten(good, tmp_path / "bad.tar", HOSTILE[how])
    refused = run("restore", archive, "--data", tmp_path / "into/data")
    assert refused.returncode != 0 and "cannot restore" in refused.stderr, refused.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [archive]
    assert not pathlib.Path("/tmp/lavant-escaped").exists()


def test_a_cut_or_huge_archive_is_refused(good, tmp_path):
    whole = good.read_bytes()
    for size in (0, 100, 512, 5000, len(whole) // 2, len(whole) - 2000):
        cut = tmp_path / f"cut{size}.tar"
        cut.write_bytes(whole[:size])
        refused = run("restore", cut, "--data", tmp_path / "data")
        assert refused.returncode != 0 and not (tmp_path / "data").exists(), refused.stderr
    header = tarfile.TarInfo("blobs/huge")
    header.size = 1 << 50
    with tarfile.open(good) as old:
        first = old.getmembers()[1].offset
    huge = tmp_path / "huge.tar"
    huge.write_bytes(whole[:first] + header.tobuf(tarfile.PAX_FORMAT) + whole[first:])
    refused = run("restore", huge, "--data", tmp_path / "data")
    assert refused.returncode != 0 and "larger than the archive" in refused.stderr, refused.stderr
