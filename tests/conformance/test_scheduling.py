"""What the scheduler does, seen through the real binary: scaling, gangs, quotas at submission, evictions, devices."""
import json
import os
import pathlib
import re
import sqlite3

import pytest
import yaml

from conftest import shared_folder, wait_for


@pytest.fixture
def server(start_server):
    return start_server()


def ok(ran):
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def make_cluster(server, name, *flags):
    return ok(server.cli("compute", "create", "--name", name, "--size", "Standard_DS1_v2", *flags))


def nodes(server, name):
    return json.loads(ok(server.cli("compute", "list-nodes", name, "-o", "json")))


def submit(server, folder, name, command, **more):
    file = pathlib.Path(folder, name + ".yml")
    file.write_text(yaml.safe_dump({"command": command, "environment": "host", **more}))
    return server.cli("job", "create", "-f", file, "--name", name)


def explain(server, name):
    return json.loads(ok(server.cli("job", "explain", name, "-o", "json")))


def node_folders(server):
    folder = server.data / "nodes"
    return [one for one in folder.iterdir()] if folder.is_dir() else []


def test_a_cluster_scales_from_zero_to_two_and_back(server, tmp_path):
    make_cluster(server, "cpu", "--max-instances", "2", "--idle-time-before-scale-down", "2")
    assert nodes(server, "cpu") == []
    gate = tmp_path / "gate"
    for name in ("a", "b", "c"):
        ok(submit(server, tmp_path, name, f"echo {name}; while ! [ -e {gate} ]; do sleep 0.05; done",
                  compute="azureml:cpu", properties={"lavant.sandbox": "off"}))
    wait_for(lambda: {server.status_of(name) for name in ("a", "b")} == {"Running"}, "two nodes at work")
    assert len(nodes(server, "cpu")) == 2 and server.status_of("c") == "Queued"
    why = explain(server, "c")
    assert why["reason"] == "nodes" and why["nodes"]["max"] == 2 and why["nodes"]["busy"] == 2
    gate.touch()
    for name in ("a", "b", "c"):
        assert server.wait_status(name) == "Completed"
    wait_for(lambda: nodes(server, "cpu") == [], "the way back to zero")
    wait_for(lambda: node_folders(server) == [], "nothing left of them")


def test_a_gang_starts_whole_with_a_log_for_each_rank(server, tmp_path):
    make_cluster(server, "cpu", "--max-instances", "2")
    ok(submit(server, tmp_path, "gang", "echo rank $RANK/$WORLD_SIZE node $NODE_RANK local $LOCAL_RANK $MASTER_ADDR:$MASTER_PORT",
              compute="azureml:cpu", resources={"instance_count": 2},
              distribution={"type": "pytorch", "process_count_per_instance": 2}))
    assert server.wait_status("gang") == "Completed"
    ok(server.cli("job", "download", "gang", "--all", "--download-path", tmp_path / "got"))
    logs = sorted((tmp_path / "got").rglob("std_log_process_*.txt"))
    assert [log.name for log in logs] == [f"std_log_process_{rank}.txt" for rank in range(4)]
    said = [re.search(r"rank (\d)/4 node (\d) local (\d) (\S+):(\d+)", log.read_text()) for log in logs]
    assert [one.groups()[:3] for one in said] == [("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0"), ("3", "1", "1")]
    assert {one[4] for one in said} == {"127.0.0.1"} and len({one[5] for one in said}) == 1


def test_one_rank_ends_the_gang_with_its_cause(server, tmp_path):
    make_cluster(server, "cpu", "--max-instances", "2")
    ok(submit(server, tmp_path, "gang", "if [ $RANK = 2 ]; then exit 7; fi; sleep 600", compute="azureml:cpu",
              resources={"instance_count": 2}, distribution={"type": "pytorch", "process_count_per_instance": 2}))
    assert server.wait_status("gang") == "Failed"
    assert "exit code 7" in ok(server.cli("job", "show", "gang"))


def test_a_gang_that_never_fits_its_cluster_is_refused(server, tmp_path):
    make_cluster(server, "cpu", "--max-instances", "2")
    refused = submit(server, tmp_path, "gang", "true", compute="azureml:cpu", resources={"instance_count": 3})
    assert refused.returncode != 0
    assert "has at most 2 nodes" in refused.stderr and "--max-instances 3" in refused.stderr


def test_quotas_answer_a_job(server, tmp_path):
    family = ["--family", "standardDSv2Family"]
    ok(server.cli("quota", "set", *family, "--cores", "8"))
    few = submit(server, tmp_path, "few", "true", resources={"instance_count": 3})
    assert few.returncode != 0 and "at most 2 fit" in few.stderr
    proposed = re.search(r"This would run: (resources: \{.*?\})", few.stderr.replace("\n", " "))[1]
    assert yaml.safe_load(proposed) == {"resources": {"instance_type": "Standard_DS3_v2", "instance_count": 2}}
    ok(submit(server, tmp_path, "fits", "true", **yaml.safe_load(proposed)))
    assert server.wait_status("fits") == "Completed"
    ok(server.cli("compute", "create", "--name", "gone", "--type", "amlcompute", "--size", "Standard_E4s_v3"))
    ok(server.cli("quota", "set", "--family", "standardNCSv3Family", "--cores", "0"))
    none = submit(server, tmp_path, "none", "true", resources={"instance_type": "Standard_NC6s_v3"})
    assert none.returncode != 0 and "there is no quota for Standard_NC6s_v3" in none.stderr
    sizes = re.search(r"Sizes that fit: (.*?)\. Or ask", none.stderr.replace("\n", " "))[1]
    assert re.findall(r"Standard_\w+", sizes) and "1 GPU" in sizes


def test_a_job_that_has_to_wait_for_quota_says_so_until_it_starts(server, tmp_path):
    ok(server.cli("quota", "set", "--family", "standardDSv2Family", "--cores", "4"))
    gate = tmp_path / "gate"
    wait = f"while ! [ -e {gate} ]; do sleep 0.05; done"
    ok(submit(server, tmp_path, "first", wait, properties={"lavant.sandbox": "off"}))
    wait_for(lambda: server.status_of("first") == "Running", "the first job at work")
    second = submit(server, tmp_path, "second", "true")
    ok(second)
    assert "warning: the job waits in a queue" in second.stderr and "4 of 4 are in use" in second.stderr
    assert "waits in a queue" in json.dumps(json.loads(ok(server.cli("job", "show", "second", "-o", "json"))))
    why = explain(server, "second")
    assert why["reason"] == "quota" and why["quota"]["used"] == 4 and why["quota"]["limit"] == 4
    gate.touch()
    assert server.wait_status("second") == "Completed"
    assert "waits in a queue" not in ok(server.cli("job", "show", "second"))


def test_a_script_that_counts_in_a_file_counts_on_after_three_evictions(server, tmp_path):
    make_cluster(server, "spot", "--max-instances", "1", "--tier", "low_priority")
    marks = tmp_path / "marks"
    marks.mkdir()
    count = """
    mkdir -p outputs; n=$(cat outputs/count 2>/dev/null || echo 0); m=$(cat ${{outputs.kept}}/count 2>/dev/null || echo 0)
    echo attempt $LAVANT_ATTEMPT begins at $n and $m
    trap 'exit 75' TERM
    echo $((n + 1)) > outputs/count; echo $((m + 1)) > ${{outputs.kept}}/count
    if [ $n = 3 ]; then exit 0; fi
    touch MARKS/$LAVANT_ATTEMPT
    while true; do sleep 0.1; done
    """.replace("MARKS", str(marks))
    ok(submit(server, tmp_path, "counts", count, compute="azureml:spot",
              outputs={"kept": {"type": "uri_folder"}}, properties={"lavant.max_retries": "1", "lavant.sandbox": "off"}))
    for attempt in range(1, 4):
        wait_for((marks / str(attempt)).exists, f"attempt {attempt} at work")
        wait_for(lambda: server.status_of("counts") == "Running", "the report of it")
        assert "node-" in ok(server.cli("compute", "evict", "spot"))
    assert server.wait_status("counts") == "Completed"
    ok(server.cli("job", "download", "counts", "--all", "--download-path", tmp_path / "got"))
    got = tmp_path / "got"
    assert {file.read_text().strip() for file in got.rglob("count")} == {"4"}
    logs = {file.parent.name: file.read_text() for file in got.rglob("std_log.txt")}
    assert set(logs) == {"attempt_1", "attempt_2", "attempt_3", "user_logs"}
    for n, folder in enumerate(("attempt_1", "attempt_2", "attempt_3", "user_logs")):
        assert f"attempt {n + 1} begins at {n} and {n}" in logs[folder]


def test_devices_are_counted_named_and_never_shared(start_server, tmp_path):
    server = start_server(tmp_path / "data", "--gpus", "fake0,fake1")
    ok(server.cli("size", "create", "--name", "one-gpu", "--vcpus", "1", "--memory", "1", "--gpus", "1"))
    gate = tmp_path / "gate"
    for name in ("a", "b", "c"):
        ok(submit(server, tmp_path, name, f"echo sees $CUDA_VISIBLE_DEVICES; while ! [ -e {gate} ]; do sleep 0.05; done",
                  resources={"instance_type": "one-gpu"}, properties={"lavant.sandbox": "off"}))
    wait_for(lambda: sum(server.status_of(name) == "Running" for name in ("a", "b", "c")) == 2, "two of three at work")
    waits = next(name for name in ("a", "b", "c") if server.status_of(name) == "Queued")
    assert "GPUs are taken" in explain(server, waits)["explanation"]
    gate.touch()
    seen = {}
    for name in ("a", "b", "c"):
        assert server.wait_status(name) == "Completed"
        seen[name] = re.search("sees (.*)", ok(server.cli("job", "stream", name)))[1]
    assert {seen[name] for name in seen if name != waits} == {"fake0", "fake1"}
    assert seen[waits] in {"fake0", "fake1"}


def test_work_far_above_the_machine_queues(server, tmp_path):
    file = tmp_path / "many.yml"
    file.write_text("command: sleep 0.2\nenvironment: host\n")
    names = [f"many{i}" for i in range(60)]
    for name in names:
        ok(server.cli("job", "create", "-f", file, "--name", name))
    most = 0
    for name in names:
        most = max(most, len(node_folders(server)))
        assert server.wait_status(name) == "Completed"
    # Four vCPUs each, of which the machine promises two for every core that it has.
    assert 1 <= most <= max(1, os.cpu_count() * 2 // 4), "no more nodes than the machine has room for"


def test_a_thousand_clusters_leave_nothing_behind(server):
    make_cluster(server, "keep", "--max-instances", "1")
    cgroups = set()
    for i in range(1000):
        if i % 20 == 0:  # some of them with a node
            make_cluster(server, f"c{i}x", "--min-instances", "1", "--max-instances", "1")
            wait_for(lambda: any(node["node_state"] == "idle" for node in nodes(server, f"c{i}x")), "its node")
            cgroups |= {(folder / "cgroup").read_text().splitlines()[0] for folder in node_folders(server)
                        if (folder / "cgroup").is_file()}
        else:
            make_cluster(server, f"c{i}x", "--max-instances", "1")
        ok(server.cli("compute", "delete", f"c{i}x", "--yes"))
    wait_for(lambda: node_folders(server) == [], "the end of the last node")
    assert processes_of(server) == []
    assert [place for place in cgroups if os.path.exists(place)] == []
    wait_for(lambda: counts(server) == {"pool": 1, "node": 0, "outbox": 0, "computes": 1}, "no row too many")


def processes_of(server):
    """Agents and what they started have their node's folder among their arguments."""
    folder = str(server.data / "nodes").encode()
    found = []
    for line in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found += [line.parent.name] if folder in line.read_bytes() else []
        except OSError:
            pass  # It has just ended.
    return found


def counts(server):
    with sqlite3.connect(f"file:{server.data}/lavant.db?mode=ro", uri=True) as database:
        rows = {table: database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("pool", "node", "outbox")}
        rows["computes"] = database.execute("SELECT count(*) FROM asset WHERE kind = 'computes'").fetchone()[0]
        return rows


def seed_blocks():
    """Every command job of the seed about serverless compute, as it stands there."""
    if shared_folder() is None:
        return []
    text = next((shared_folder() / "seeds").glob("000_*")).read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.S)
    return [block for block in blocks if "commandJob.schema.json" in block]


@pytest.mark.parametrize("number", range(len(seed_blocks())))
def test_the_seeds_command_jobs_are_accepted(server, tmp_path, number):
    block = seed_blocks()[number]
    job = yaml.safe_load(block)
    file = tmp_path / "job.yml"
    file.write_text(block)
    (tmp_path / "src").mkdir()
    for name in ("train.py", "hello-interactive.py"):
        (tmp_path / "src" / name).write_text("print('hello')\n")
    (tmp_path / "train.yml").write_text(
        "$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json\n"
        "name: train\ntype: command\ncommand: echo trained\nenvironment: {image: library/python:latest}\n")
    made = server.cli("job", "create", "-f", file, "--name", f"seed{number}")
    ok(made)
    if "NC" in str(job.get("resources", {})):
        asked = job["resources"]["instance_type"]
        assert f"{asked} was retired on 2023-08-31" in made.stderr
