"""Quotas: who holds cores, who may have how many, and what is said when there are too few."""
import json

import pytest

from arm import LOCATION, WORKSPACE, call, key_of, put_cluster
from conftest import run

FAMILY = "standardDSv2Family"


@pytest.fixture
def fresh(start_server):
    return start_server()


def rows(server, *words):
    listed = server.cli("quota", "list", "-o", "json", *words)
    assert listed.returncode == 0, listed.stderr
    return json.loads(listed.stdout)


def row(server, family=FAMILY, tier="dedicated"):
    return next(one for one in rows(server, "--family", family) if one["tier"] == tier)


def test_a_fresh_workspace_has_the_defaults(fresh):
    every = rows(fresh)
    assert {one["tier"] for one in every} == {"dedicated", "low_priority"}
    assert all(one["used"] == 0 and not one["set"] for one in every)
    assert row(fresh)["limit"] == 1000
    assert row(fresh, "total")["limit"] == 10000
    said = fresh.cli("quota", "list").stdout
    assert "total" in said and FAMILY not in said
    assert f"{len(every) - 2} more" in said.splitlines()[-1] and "--all" in said
    assert FAMILY in fresh.cli("quota", "list", "--all").stdout


def test_usages_have_azures_names(fresh):
    status, usages = call(fresh, "GET", LOCATION + "/usages?api-version=2023-08-01-preview")
    assert status == 200
    names = {one["name"]["localizedValue"] for one in usages["value"]}
    assert {"Total Cluster Dedicated Regional vCPUs", "Total Cluster LowPriority Regional vCPUs",
            "Standard DSv2 Family Cluster Dedicated vCPUs", "Standard DSv2 Family Cluster LowPriority vCPUs"} <= names
    listed = fresh.cli("az", "ml", "compute", "list-usage", "--query",
                       f"[?name.value=='{FAMILY}'].[name.localized_value, current_value, limit]")
    assert listed.returncode == 0, listed.stderr
    assert json.loads(listed.stdout)[0] == ["Standard DSv2 Family Cluster Dedicated vCPUs", 0, 1000]


def test_a_limit_is_set_and_kept(start_server, tmp_path):
    server = start_server(tmp_path / "kept")
    said = server.cli("quota", "set", "--family", FAMILY, "--cores", "100")
    assert said.returncode == 0, said.stderr
    assert said.stdout == f"{FAMILY} in local, dedicated: 100 cores for the subscription\n"
    assert server.cli("quota", "set", "--family", "total", "--cores", "50", "--tier", "low_priority").returncode == 0
    assert server.cli("quota", "set", "--family", FAMILY, "--cores", "40", "--level", "workspace").returncode == 0
    assert server.stop() == 0
    server = start_server(tmp_path / "kept")
    assert (row(server)["limit"], row(server)["subscriptionLimit"], row(server)["workspaceLimit"]) == (40, 100, 40)
    assert row(server, "total", "low_priority")["limit"] == 50
    assert server.cli("quota", "set", "--family", FAMILY, "--cores", "unlimited", "--level", "workspace").returncode == 0
    assert row(server)["limit"] == 100


@pytest.mark.parametrize("words, why", [
    (["--family", "standardDSv2Famly", "--cores", "5"], "did you mean standardDSv2Family?"),
    (["--family", FAMILY, "--cores", "-5"], "whole number"),
    (["--family", FAMILY, "--cores", "5.5"], "whole number"),
    (["--family", FAMILY, "--cores", "99999999999999999999"], "whole number"),
    (["--family", FAMILY, "--cores", "unlimited"], "only the workspace"),
    (["--family", FAMILY, "--cores", "5", "--location", "westeurop"], "did you mean 'westeurope'?"),
    (["--family", FAMILY, "--cores", "5", "--tier", "dedicted"], "did you mean 'dedicated'?"),
    (["--family", FAMILY, "--cores", "5", "--level", "workspce"], "did you mean 'workspace'?"),
    (["--family", FAMILY, "--cores", "1001", "--level", "workspace"], "the subscription has 1000 cores"),
    (["--family", "\x1b[31mred", "--cores", "5"], "there is no VM family '?[31mred'"),
])
def test_nonsense_is_refused(server, words, why):
    before = rows(server)
    said = server.cli("quota", "set", *words)
    assert said.returncode == 5 and why in said.stderr, said.stderr
    assert rows(server) == before


def test_a_cluster_holds_what_it_may_grow_to(fresh):
    status, made = put_cluster(fresh, "four-nodes", nodes=4)
    assert status in (200, 201), made
    assert row(fresh)["used"] == 16 and row(fresh, "total")["used"] == 16
    assert row(fresh, tier="low_priority")["used"] == 0
    assert put_cluster(fresh, "spot-nodes", nodes=2, tier="LowPriority")[0] in (200, 201)
    assert row(fresh, tier="low_priority")["used"] == 8 and row(fresh)["used"] == 16

    below = fresh.cli("quota", "set", "--family", FAMILY, "--cores", "15")
    assert below.returncode == 5 and "16 vCPUs are in use" in below.stderr and "four-nodes" in below.stderr, below.stderr
    assert row(fresh)["limit"] == 1000
    assert fresh.cli("quota", "set", "--family", FAMILY, "--cores", "16").returncode == 0
    status, refused = put_cluster(fresh, "one-more", nodes=1)
    assert status in (400, 409), refused
    assert FAMILY in json.dumps(refused)

    assert call(fresh, "DELETE", f"{WORKSPACE}/computes/four-nodes")[0] in (200, 202, 204)
    assert row(fresh)["used"] == 0
    assert put_cluster(fresh, "one-more", nodes=1)[0] in (200, 201)


def test_a_job_beyond_its_quota_is_refused_with_what_would_run(fresh, write_job):
    assert fresh.cli("quota", "set", "--family", FAMILY, "--cores", "8").returncode == 0
    job = write_job("true", resources={"instance_type": "Standard_DS3_v2", "instance_count": 3})
    said = fresh.cli("job", "create", "-f", job)
    assert said.returncode == 5 and FAMILY in said.stderr and "lavant quota request" in said.stderr, said.stderr


def test_asking_granting_and_denying(fresh):
    key = key_of(fresh, "bob", "reader")
    bob = fresh.environment(LAVANT_TOKEN=key)
    asked = run("quota", "request", "--family", FAMILY, "--cores", "2000", "--reason", "the big sweep", env=bob)
    assert asked.returncode == 0, asked.stderr
    request = asked.stdout.strip()
    assert f"lavant quota grant {request}" in asked.stderr
    listed = fresh.cli("quota", "requests")
    assert request in listed.stdout and "bob" in listed.stdout and "the big sweep" in listed.stdout
    refused = run("quota", "grant", request, env=bob)
    assert refused.returncode == 5 and "owner" in refused.stderr
    assert fresh.cli("quota", "grant", request, "--cores", "1500").returncode == 0
    assert row(fresh)["limit"] == 1500
    again = fresh.cli("quota", "grant", request)
    assert again.returncode == 5 and "already" in again.stderr
    second = run("quota", "request", "--family", "total", "--cores", "20000", env=bob).stdout.strip()
    assert fresh.cli("quota", "deny", second).returncode == 0
    assert row(fresh, "total")["limit"] == 10000
    assert fresh.cli("quota", "requests").stderr == "no requests wait for an answer\n"
    every = json.loads(fresh.cli("quota", "requests", "--all", "-o", "json").stdout)
    assert {one["id"]: one["status"] for one in every} == {request: "granted", second: "denied"}
    small = run("quota", "request", "--family", FAMILY, "--cores", "10", env=bob)
    assert small.returncode == 5 and "1500 cores already" in small.stderr
    assert fresh.cli("quota", "deny", "nobody").returncode == 5


def test_only_owners_set(fresh):
    key = key_of(fresh, "cy", "contributor")
    said = run("quota", "set", "--family", FAMILY, "--cores", "1", env=fresh.environment(LAVANT_TOKEN=key))
    assert said.returncode == 5 and "owner" in said.stderr
    assert call(fresh, "GET", "/lavant/v1/quotas", key=key)[0] == 200


def test_azures_update_has_a_status_per_limit(fresh):
    status, answer = call(fresh, "POST", LOCATION + "/updateQuotas", {"value": [
        {"id": f"{WORKSPACE}/quotas/{FAMILY}", "type": "Microsoft.MachineLearningServices/workspaces/dedicatedCores/quotas",
         "limit": 40, "unit": "Count"},
        {"id": f"{WORKSPACE}/quotas/nonsense", "limit": 40, "unit": "Count"},
        {"id": f"{WORKSPACE}/quotas/standardNCFamily", "limit": 4000, "unit": "Count"}]})
    assert status == 200, answer
    assert [one["status"] for one in answer["value"]] == ["Success", "InvalidVMFamilyName",
                                                          "InvalidQuotaExceedsSubscriptionLimit"]
    assert row(fresh)["workspaceLimit"] == 40
    status, own = call(fresh, "GET", WORKSPACE + "/usages")
    assert status == 200
    assert {one["limit"] for one in own["value"] if one["name"]["value"] == FAMILY} == {40, 1000}
