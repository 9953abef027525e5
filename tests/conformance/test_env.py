"""`eval "$(lavant env)"` points every client at the server and breaks none of the others."""
import json
import subprocess

import requests
from conftest import DEADLINE_S, binary, clean_environment, run

NAMES = ["ARM_CLOUD_METADATA_URL", "REQUESTS_CA_BUNDLE", "IDENTITY_ENDPOINT", "IDENTITY_HEADER", "MLFLOW_TRACKING_URI",
         "MLFLOW_TRACKING_TOKEN", "LAVANT_ENDPOINT", "LAVANT_CA", "LAVANT_TOKEN", "LAVANT_SUB", "LAVANT_RG", "LAVANT_WS",
         "LAVANT_ENV"]


def evaluate(data, env, times=1):
    script = f"eval \"$('{binary()}' env --data '{data}')\"; " * times + "env -0"
    shell = subprocess.run(["bash", "-c", script], env=env, capture_output=True, timeout=DEADLINE_S)
    assert shell.returncode == 0, shell.stderr
    return dict(entry.split("=", 1) for entry in shell.stdout.decode().split("\0") if "=" in entry)


def test_every_name_is_exported(server):
    got = evaluate(server.data, clean_environment())
    assert all(got.get(name) for name in NAMES), {name: got.get(name) for name in NAMES}
    assert got["LAVANT_ENDPOINT"] == server.url
    assert got["ARM_CLOUD_METADATA_URL"].startswith(server.url)
    assert got["LAVANT_TOKEN"] == got["IDENTITY_HEADER"] == got["MLFLOW_TRACKING_TOKEN"] == server.key
    only_exports = run("env", "--data", server.data)
    assert only_exports.stderr == ""
    assert [line.split("=")[0].split()[1] for line in only_exports.stdout.splitlines()] == NAMES


def test_the_bundle_in_force_stays_in_force(server, tmp_path):
    mine = tmp_path / "mine.pem"
    mine.write_text("-----BEGIN CERTIFICATE-----\nMINE\n-----END CERTIFICATE-----")
    got = evaluate(server.data, clean_environment(REQUESTS_CA_BUNDLE=mine))
    bundle = open(got["REQUESTS_CA_BUNDLE"]).read()
    ours = open(server.ca).read().strip()
    assert "MINE" in bundle and ours in bundle
    twice = evaluate(server.data, clean_environment(REQUESTS_CA_BUNDLE=mine), times=2)
    bundle = open(twice["REQUESTS_CA_BUNDLE"]).read()
    assert bundle.count("MINE") == 1 and bundle.count(ours) == 1


def test_the_bundle_serves_our_server_and_keeps_the_systems_roots(server):
    got = evaluate(server.data, clean_environment())
    answer = requests.get(server.url + "/health", verify=got["REQUESTS_CA_BUNDLE"], timeout=DEADLINE_S)
    assert answer.status_code == 200
    assert open(got["REQUESTS_CA_BUNDLE"]).read().count("BEGIN CERTIFICATE") > 1


def test_the_command_line_follows_it(server):
    got = evaluate(server.data, clean_environment())
    listed = run("job", "list", "-o", "json", env=got)
    assert listed.returncode == 0, listed.stderr
    json.loads(listed.stdout)


def test_the_token_route_speaks_the_sdks_dialect(server):
    answer = requests.get(server.url + "/msi/token", params={"resource": server.url, "api-version": "2019-08-01"},
                          headers={"X-IDENTITY-HEADER": server.key, "Metadata": "true"}, verify=server.ca, timeout=DEADLINE_S)
    assert answer.status_code == 200
    assert answer.json()["resource"] == server.url and answer.json()["access_token"].count(".") == 2
