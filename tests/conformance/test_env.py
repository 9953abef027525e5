"""`eval "$(lavant env)"` points every client at the server and breaks none of the others."""
import json
import subprocess

import requests
from conftest import DEADLINE_S, binary, clean_environment, run

NAMES = ["ARM_CLOUD_METADATA_URL", "REQUESTS_CA_BUNDLE", "IDENTITY_ENDPOINT", "IDENTITY_HEADER",
         "REGISTRY_DISCOVERY_ENDPOINT_URL", "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN", "LAVANT_ENDPOINT", "LAVANT_CA", "LAVANT_TOKEN",
         "LAVANT_SUB", "LAVANT_RG", "LAVANT_WS", "LAVANT_ENV", "LAVANT_DATA"]


def evaluate(data, env, times=1):
    script = f"eval \"$('{binary()}' env --data '{data}')\"; " * times + "env -0"
    shell = subprocess.run(["bash", "-c", script], env=env, capture_output=True, timeout=DEADLINE_S)
    assert shell.returncode == 0, shell.stderr
    return dict(entry.split("=", 1) for entry in shell.stdout.decode().split("\0") if "=" in entry)


def shell(script, env, check=True):
    """What a program sees that bash runs after the script."""
    ran = subprocess.run(["bash", "-c", script + "\nenv -0"], env=env, capture_output=True, timeout=DEADLINE_S)
    assert not check or ran.returncode == 0, ran.stderr
    return dict(entry.split("=", 1) for entry in ran.stdout.decode().split("\0") if "=" in entry)


def test_every_name_is_exported(server):
    env = clean_environment()
    env.pop("REQUESTS_CA_BUNDLE", None)
    got = evaluate(server.data, env)
    assert all(got.get(name) for name in NAMES), {name: got.get(name) for name in NAMES}
    assert got["LAVANT_ENDPOINT"] == server.url
    assert got["ARM_CLOUD_METADATA_URL"].startswith(server.url)
    assert got["LAVANT_TOKEN"] == got["IDENTITY_HEADER"] == got["MLFLOW_TRACKING_TOKEN"] == server.key
    only_exports = run("env", "--data", server.data, env=env)
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


def test_unset_undoes_it(server, tmp_path):
    mine = tmp_path / "mine.pem"
    mine.write_text("-----BEGIN CERTIFICATE-----\nMINE\n-----END CERTIFICATE-----")
    before = clean_environment(REQUESTS_CA_BUNDLE=mine)
    lines = f"eval \"$('{binary()}' env --data '{server.data}')\"; eval \"$('{binary()}' env --unset)\""
    after = shell(lines, before)
    ignored = ("_", "SHLVL", "PWD", "OLDPWD")
    assert {k: v for k, v in after.items() if k not in ignored} == {k: v for k, v in before.items() if k not in ignored}
    assert run("env", "--unset", "--format", "dotenv").returncode == 2


def test_credentials_of_azure_that_come_first_are_told(server):
    azure = {"AZURE_CLIENT_ID": "a", "AZURE_TENANT_ID": "b", "AZURE_CLIENT_SECRET": "c"}
    told = run("env", "--data", server.data, env=clean_environment(**azure))
    assert told.returncode == 0 and "unset AZURE_CLIENT_ID AZURE_TENANT_ID AZURE_CLIENT_SECRET" in told.stderr
    ours = run("env", "--data", server.data, env=clean_environment(**azure, AZURE_AUTHORITY_HOST=server.url))
    assert ours.returncode == 0 and ours.stderr == ""


def test_a_shell_that_points_to_what_was_purged_is_told(data):
    assert run("up", "--data", data).returncode == 0
    got = evaluate(data, clean_environment())
    gone = run("down", "--purge", "-y", "--data", data, env=got)
    assert gone.returncode == 0 and 'eval "$(lavant env --unset)"' in gone.stderr, gone.stderr


def test_a_dotenv_file_says_the_same(server, tmp_path):
    result = run("env", "--data", server.data, "--format", "dotenv")
    assert result.returncode == 0, result.stderr
    path = tmp_path / ".env"
    path.write_text(result.stdout)
    sourced = shell(f"set -a; . '{path}'; set +a", clean_environment())
    exported = evaluate(server.data, clean_environment())
    assert {name: sourced[name] for name in NAMES} == {name: exported[name] for name in NAMES}


def test_other_shells(server):
    fish = run("env", "--data", server.data, "--format", "fish").stdout
    assert f"set -gx LAVANT_ENDPOINT '{server.url}'\n" in fish
    power = run("env", "--data", server.data, "--format", "powershell").stdout
    assert f"$env:LAVANT_ENDPOINT = '{server.url}'\n" in power
    assert run("env", "--data", server.data, "--format", "csh").returncode == 2


def test_a_shell_goes_on_after_its_server_has_left(data):
    got = evaluate(data, clean_environment())
    assert got["LAVANT_DATA"] == str(data)
    assert run("job", "list", env=got).returncode == 0
    assert run("down", "--data", data).returncode == 0
    stopped = run("status", "-o", "json", env=got)
    assert stopped.returncode == 4 and json.loads(stopped.stdout)["server"] == "not running"
    again = run("job", "list", "-o", "json", env=got)
    assert again.returncode == 0 and "started a local server" in again.stderr, again.stderr
    assert evaluate(data, clean_environment())["LAVANT_ENDPOINT"] == got["LAVANT_ENDPOINT"]
    # Other clients go on too: the same port, authority and key.
    answer = requests.get(got["LAVANT_ENDPOINT"] + "/lavant/v1/status", verify=got["REQUESTS_CA_BUNDLE"],
                          headers={"Authorization": "Bearer " + got["LAVANT_TOKEN"]}, timeout=DEADLINE_S)
    assert answer.status_code == 200


def test_another_server_that_is_gone_is_explained(data):
    result = run("job", "list", env=clean_environment(LAVANT_ENDPOINT="https://127.0.0.1:9", LAVANT_DATA=data))
    assert result.returncode == 4 and "lavant env --unset" in result.stderr, result.stderr
