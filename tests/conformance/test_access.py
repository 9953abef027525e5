"""Users, groups, roles, data rights, the audit, and the limits of keys, by the command line."""
import concurrent.futures
import json

import requests

from arm import WORKSPACE, call
from conftest import DEADLINE_S, run, wait_for


def ok(result):
    assert result.returncode == 0, result.stderr
    return result.stdout


def key_for(server, user, *words):
    return ok(server.cli("key", "create", user, *words)).strip()


def as_user(server, key, *words):
    return server.cli(*words, env=server.environment(LAVANT_TOKEN=key))


def test_a_team(start_server, write_job):
    server = start_server()
    job = write_job("true", name="anns")
    ok(server.cli("user", "create", "ann"))
    ok(server.cli("user", "create", "bob", "--display-name", "Bob B."))
    ok(server.cli("group", "create", "research"))
    assert ok(server.cli("group", "add", "research", "ann", "bob")) == "added ann to group research\nadded bob to group research\n"
    ann = key_for(server, "ann", "--label", "laptop", "--expires", "30d")
    assert as_user(server, ann, "job", "list").returncode == 5
    assert ok(server.cli("role", "assign", "reader", "group:research")) == "group:research is reader on workspace\n"
    ok(as_user(server, ann, "job", "list"))
    refused = as_user(server, ann, "job", "create", "-f", job)
    assert refused.returncode == 5 and "contributor" in refused.stderr, refused.stderr
    assert call(server, "GET", WORKSPACE + "/jobs/anns")[0] == 404
    ok(server.cli("role", "assign", "contributor", "ann"))
    ok(as_user(server, ann, "job", "create", "-f", job))
    me = json.loads(ok(as_user(server, ann, "whoami", "-o", "json")))
    assert (me["user"], me["role"], me["serverRole"], me["groups"]) == ("ann", "contributor", "none", ["research"])
    assert "ann" in ok(as_user(server, ann, "whoami"))
    listed = json.loads(ok(server.cli("role", "list", "-o", "json")))
    assert {(one["principal"], one["role"]) for one in listed} == {("group:research", "reader"), ("ann", "contributor")}
    assert "laptop" in ok(server.cli("key", "list", "--user", "ann"))
    assert as_user(server, ann, "user", "create", "eve").returncode == 5
    assert as_user(server, ann, "key", "list").returncode == 5
    ok(server.cli("role", "revoke", "contributor", "ann"))
    assert json.loads(ok(as_user(server, ann, "whoami", "-o", "json")))["role"] == "reader"
    ok(server.cli("group", "remove", "research", "ann"))
    assert as_user(server, ann, "job", "list").returncode == 5
    ok(server.cli("user", "delete", "ann"))
    assert as_user(server, ann, "whoami").returncode == 5


def test_keys(start_server):
    server = start_server()
    made = json.loads(ok(server.cli("key", "list", "-o", "json")))
    key = key_for(server, "kim", "--role", "reader")
    ident = next(one["id"] for one in json.loads(ok(server.cli("key", "list", "-o", "json"))) if one not in made)
    rotated = ok(server.cli("key", "rotate", ident)).strip()
    assert as_user(server, key, "whoami").returncode == 5
    ok(as_user(server, rotated, "whoami"))
    ok(server.cli("key", "update", ident, "--role", "contributor", "--label", "new"))
    assert json.loads(ok(as_user(server, rotated, "whoami", "-o", "json")))["serverRole"] == "contributor"
    assert server.cli("key", "update", ident).returncode == 2
    assert server.cli("key", "create", "kim", "--expires", "yesterday").returncode == 2
    ok(server.cli("key", "revoke", ident))
    assert as_user(server, rotated, "whoami").returncode == 5
    assert server.cli("key", "revoke", "key-first").returncode == 5


def test_data_rights(start_server):
    server = start_server()
    ok(server.cli("user", "create", "ann"))
    ann = key_for(server, "ann")
    secrets = WORKSPACE + "/datastores/workspaceblobstore/listSecrets"
    ok(server.cli("role", "assign", "contributor", "ann"))
    assert "sp=racwdl" in call(server, "POST", secrets, {}, ann)[1]["sasToken"]
    said = ok(server.cli("role", "assign", "none", "everyone", "--datastore", "workspaceblobstore"))
    assert said == "everyone has no access to the files of datastores/workspaceblobstore\n"
    for place in (("--datastore", "nosuch"), ("--compute", "nosuch"), ("--resource", "models/nosuch")):
        refused = server.cli("role", "assign", "reader", "ann", *place)
        assert refused.returncode == 5 and "nosuch" in refused.stderr, refused.stderr
    status, refused = call(server, "POST", secrets, {}, ann)
    assert status == 403 and "lavant role assign read ann --datastore" in refused["error"]["message"]
    ok(server.cli("role", "assign", "read", "ann", "--datastore", "workspaceblobstore"))
    token = call(server, "POST", secrets, {}, ann)[1]["sasToken"]
    assert "sp=rl" in token and "w" not in token.split("sp=")[1].split("&")[0]
    assert server.cli("role", "assign", "write", "ann").returncode == 2


def test_the_audit_survives_and_tells_no_secret(start_server, tmp_path):
    server = start_server(tmp_path / "kept")
    reader = key_for(server, "rita", "--role", "reader")
    assert call(server, "DELETE", WORKSPACE + "/jobs/nothing", key=reader)[0] == 403
    sas = call(server, "POST", WORKSPACE + "/datastores/workspaceblobstore/listSecrets", {})[1]["sasToken"]
    put = requests.put(f"{server.url}/storage/acct/azureml-blobstore/a.txt?{sas}", data=b"x", verify=server.ca,
                       headers={"x-ms-blob-type": "BlockBlob"}, timeout=DEADLINE_S)
    assert put.status_code == 201
    shown = json.loads(ok(server.cli("audit", "-o", "json")))
    assert [(one.get("user"), one["method"], one["status"]) for one in shown[:4]] == [
        (None, "PUT", 201), (shown[1]["user"], "POST", 200), ("rita", "DELETE", 403), (shown[3]["user"], "POST", 201)]
    assert shown[0]["key"] == "sas" and shown[0]["path"].endswith("/a.txt")
    assert len(json.loads(ok(server.cli("audit", "--status", "403", "--since", "1h", "-o", "json")))) == 1
    server.stop()
    files = list((tmp_path / "kept/audit").iterdir())
    text = "".join(one.read_text() for one in files)
    assert "sig=" not in text and reader not in text and server.key not in text
    assert files[0].stat().st_mode & 0o077 == 0
    again = start_server(tmp_path / "kept")
    assert len(json.loads(ok(again.cli("audit", "-o", "json")))) == len(shown)
    assert as_user(again, reader, "audit").returncode == 5


def test_limits_of_a_key(server):
    slow = key_for(server, "slow", "--role", "reader", "--requests-per-s", "1")

    def ask(_=None):
        return requests.get(server.url + WORKSPACE + "/jobs", headers={"Authorization": f"Bearer {slow}"},
                            verify=server.ca, timeout=DEADLINE_S)

    assert ask().status_code == 200
    with concurrent.futures.ThreadPoolExecutor(16) as many:  # at once, and again where the machine is slow
        late = wait_for(lambda: [one for one in many.map(ask, range(32)) if one.status_code == 429], "a request too many")
    assert int(late[0].headers["Retry-After"]) >= 1
    small = key_for(server, "small", "--role", "contributor", "--body-mib", "1")
    large = requests.put(f"{server.url}/storage/acct/azureml-blobstore/big", data=b"x" * (2 << 20), verify=server.ca,
                         headers={"Authorization": f"Bearer {small}", "x-ms-blob-type": "BlockBlob"}, timeout=DEADLINE_S)
    assert large.status_code == 413


def test_help_names_the_families():
    shown = run("--help")
    for word in ("user", "group", "role", "service-principal", "whoami", "audit", "key"):
        assert word in shown.stdout
