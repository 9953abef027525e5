"""The ledger: node-seconds and their price, by whom, for which job, on which compute."""
import json

import pytest

from arm import call, key_of
from conftest import run


@pytest.fixture
def fresh(start_server):
    return start_server()


def usage(server, *words):
    shown = server.cli("usage", "-o", "json", *words)
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)


def test_nothing_at_first(fresh):
    said = fresh.cli("usage")
    assert said.returncode == 0 and said.stdout == "" and "nothing was used" in said.stderr
    assert usage(fresh)["value"] == []


def test_a_job_is_written_down_when_it_ends(start_server, tmp_path, write_job):
    server = start_server(tmp_path / "kept")
    bob = server.environment(LAVANT_TOKEN=key_of(server, "bob", "contributor"))
    job = write_job("true")
    assert server.cli("job", "create", "-f", job, "-n", "first", "--stream").returncode == 0
    assert run("job", "create", "-f", job, "-n", "second", "--stream", env=bob).returncode == 0
    by_user = {one["user"]: one for one in usage(server)["value"]}
    assert set(by_user) >= {"bob"} and len(by_user) == 2
    assert all(one["tasks"] == 1 and one["nodeSeconds"] > 0 for one in by_user.values())
    by_job = {one["job"]: one for one in usage(server, "--by", "job")["value"]}
    assert set(by_job) == {"first", "second"}
    assert by_job["second"]["user"] == "bob" and by_job["second"]["compute"] == "serverless"
    hour = json.loads(server.cli("size", "show", "Standard_DS3_v2", "-o", "json").stdout)["price"]
    for one in by_job.values():  # kept in millionths of a dollar
        assert abs(one["price"] - one["nodeSeconds"] * hour / 3600) <= 1e-6, one
    total = usage(server)["total"]
    assert total["tasks"] == 2
    assert abs(total["nodeSeconds"] - sum(one["nodeSeconds"] for one in by_job.values())) < 1e-3
    by_compute = usage(server, "--by", "compute")["value"]
    assert [one["compute"] for one in by_compute] == ["serverless"] and by_compute[0]["taskSeconds"] > 0
    table = server.cli("usage").stdout.splitlines()
    assert table[0].split() == ["USER", "TASKS", "NODE-HOURS", "PRICE", "(USD)"] and table[-1].startswith("(all)")

    assert usage(server, "--since", "1h")["total"]["tasks"] == 2
    assert usage(server, "--since", "2000-01-01", "--until", "1h")["total"]["tasks"] == 0
    server.stop()
    server = start_server(tmp_path / "kept")
    assert usage(server)["total"]["tasks"] == 2


def test_everybody_may_look(fresh):
    assert call(fresh, "GET", "/lavant/v1/usage", key=key_of(fresh, "bob", "reader"))[0] == 200


@pytest.mark.parametrize("words, why", [
    (["--by", "jbo"], "did you mean 'job'?"),
    (["--since", "yesterday"], "cannot use --since yesterday"),
    (["--until", "2026-13-01"], "cannot use --until"),
    (["--since", "1h", "--until", "2h"], "since must be before until"),
    (["-r", "0"], "-r"),
])
def test_nonsense_is_refused(server, words, why):
    said = server.cli("usage", *words)
    assert said.returncode in (2, 5) and why in said.stderr, said.stderr
