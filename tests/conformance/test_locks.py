"""Resource locks: where they can be put, who may, and what they keep from happening."""
import json

import pytest

from arm import GROUP, LOCKS, SUBSCRIPTION, WORKSPACE, call, key_of, put_cluster
from conftest import run

READ_ONLY = {"properties": {"level": "ReadOnly", "notes": "month end"}}
KEEP = {"properties": {"level": "CanNotDelete"}}


@pytest.fixture
def fresh(start_server):
    return start_server()


def locks(server, *words):
    listed = server.cli("lock", "list", "-o", "json", *words)
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)


def test_locks_of_every_scope(fresh):
    assert put_cluster(fresh, "cpu-nodes")[0] in (200, 201)
    for words, where in [(["--compute", "cpu-nodes"], "compute cpu-nodes"), (["--network", "net"], "virtual network net"),
                         (["--workspace"], "workspace default"), (["-g", "lavant"], "resource group lavant")]:
        made = fresh.cli("lock", "create", "-n", "keep", "--level", "CanNotDelete", "--notes", "hands off", *words)
        assert made.returncode == 0, made.stderr
        assert made.stdout == f"keep (CanNotDelete) on {where}\n"
    assert len(locks(fresh)) == 4
    assert len(locks(fresh, "--workspace")) == 2
    assert {one["notes"] for one in locks(fresh)} == {"hands off"}
    two = fresh.cli("lock", "delete", "-n", "keep")
    assert two.returncode == 5 and "there are 4 locks 'keep'" in two.stderr
    assert fresh.cli("lock", "delete", "-n", "keep", "--compute", "cpu-nodes").returncode == 0
    assert fresh.cli("lock", "delete", "-n", "keep", "--network", "net").returncode == 0
    assert len(locks(fresh)) == 2


def test_arm_routes(server):
    path = GROUP + LOCKS + "/by-arm"
    status, made = call(server, "PUT", path + "?api-version=2020-05-01", READ_ONLY)
    assert status == 201, made
    assert (made["id"], made["name"], made["type"]) == (path, "by-arm", "Microsoft.Authorization/locks")
    assert made["properties"] == {"level": "ReadOnly", "notes": "month end"}
    assert call(server, "PUT", path.lower(), KEEP)[0] == 200
    status, shown = call(server, "GET", path)
    assert status == 200 and shown["properties"]["level"] == "CanNotDelete"
    status, listed = call(server, "GET", SUBSCRIPTION + LOCKS)
    assert status == 200 and [one["name"] for one in listed["value"]] == ["by-arm"]
    assert call(server, "DELETE", path)[0] == 204
    assert call(server, "GET", path)[0] == 404


@pytest.mark.parametrize("words, why", [
    (["--level", "ReadOnli", "--workspace"], "did you mean 'ReadOnly'?"),
    (["--level", "Never", "--workspace"], "CanNotDelete or ReadOnly"),
    (["--level", "ReadOnly"], "say what to lock"),
    (["--level", "ReadOnly", "--workspace", "--network", "net"], "one thing at a time"),
    (["--level", "ReadOnly", "--scope", "/subscriptions/s"], "a resource group, a virtual network"),
    (["--level", "ReadOnly", "--scope", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Web/sites/x"],
     "a resource group, a virtual network"),
    (["--level", "ReadOnly", "--compute", "no-such"], "there is no compute 'no-such'"),
    (["--level", "ReadOnly", "--workspace", "--notes", "n" * 513], "more than 512"),
])
def test_nonsense_is_refused(server, words, why):
    said = server.cli("lock", "create", "-n", "odd", *words)
    assert said.returncode in (2, 5) and why in said.stderr, said.stderr
    assert locks(server) == []


@pytest.mark.parametrize("path, body, status", [
    (SUBSCRIPTION + LOCKS + "/x", READ_ONLY, 400),
    (WORKSPACE + "/jobs/j" + LOCKS + "/x", READ_ONLY, 404),
    (GROUP + LOCKS + "/x", {"properties": {"level": "Sometimes"}}, 400),
    (GROUP + LOCKS + "/x", {}, 400),
    (GROUP + LOCKS + "/" + "x" * 261, READ_ONLY, 400),
    (GROUP + LOCKS + "/a%00b", READ_ONLY, 400),
])
def test_hostile_requests_are_refused(server, path, body, status):
    assert call(server, "PUT", path, body)[0] == status
    assert locks(server) == []


def test_only_owners_lock(fresh):
    key = key_of(fresh, "cy", "contributor")
    env = fresh.environment(LAVANT_TOKEN=key)
    said = run("lock", "create", "-n", "mine", "--level", "ReadOnly", "--workspace", env=env)
    assert said.returncode == 5 and "owner" in said.stderr
    assert run("lock", "list", env=env).returncode == 0


@pytest.mark.parametrize("words", [["--compute", "cpu-nodes"], ["--workspace"], ["-g", "lavant"]])
@pytest.mark.parametrize("level", ["CanNotDelete", "ReadOnly"])
def test_what_is_locked_is_not_deleted(fresh, level, words):
    assert put_cluster(fresh, "cpu-nodes")[0] in (200, 201)
    assert fresh.cli("lock", "create", "-n", "keep", "--level", level, *words).returncode == 0
    status, refused = call(fresh, "DELETE", f"{WORKSPACE}/computes/cpu-nodes")
    assert status == 409, refused
    assert "'keep'" in refused["error"]["message"]
    assert call(fresh, "GET", f"{WORKSPACE}/computes/cpu-nodes")[0] == 200
    assert fresh.cli("lock", "delete", "-n", "keep").returncode == 0
    assert call(fresh, "DELETE", f"{WORKSPACE}/computes/cpu-nodes")[0] in (200, 202, 204)


def test_a_lock_keeps_a_job_from_getting_nodes(fresh, write_job):
    assert fresh.cli("lock", "create", "-n", "frozen", "--level", "ReadOnly", "--workspace").returncode == 0
    job = write_job("true")
    made = fresh.cli("job", "create", "-f", job, "-n", "waits")
    assert made.returncode == 0, made.stderr
    assert fresh.status_of("waits") == "Queued"
    assert "frozen" in fresh.cli("job", "explain", "waits").stdout
    assert fresh.cli("lock", "delete", "-n", "frozen").returncode == 0
    assert fresh.wait_status("waits") == "Completed"


def test_locks_outlive_a_restart(start_server, tmp_path):
    server = start_server(tmp_path / "kept")
    assert server.cli("lock", "create", "-n", "keep", "--level", "ReadOnly", "--workspace").returncode == 0
    assert server.stop() == 0
    server = start_server(tmp_path / "kept")
    assert [one["name"] for one in locks(server)] == ["keep"]


def test_az_lock(fresh):
    made = fresh.cli("az", "lock", "create", "-n", "keep", "--lock-type", "CanNotDelete", "-g", "research", "--notes", "x")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["resourceGroup"] == "research"
    network = fresh.cli("az", "lock", "create", "-n", "net", "--lock-type", "ReadOnly", "-g", "research", "--resource", "v",
                        "--resource-type", "Microsoft.Network/virtualNetworks")
    assert network.returncode == 0, network.stderr
    listed = json.loads(fresh.cli("az", "lock", "list", "-g", "research").stdout)
    assert {one["name"] for one in listed} == {"keep", "net"}
    assert fresh.cli("az", "lock", "delete", "-n", "keep", "-g", "research").returncode == 0
    slip = fresh.cli("az", "lock", "delete", "-n", "nte", "-g", "research")
    assert slip.returncode == 5 and "did you mean 'net'?" in slip.stderr
