"""Computes: clusters, instances and records of attached machines, by the command line and by REST."""
import csv
import json
import re
import uuid

import pytest
import requests
import yaml
from conftest import DEADLINE_S, run, shared_folder, submitted_name, wait_for

WORKSPACE = ("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
             "Microsoft.MachineLearningServices/workspaces/default")


def unique(prefix="c"):
    return f"{prefix}{uuid.uuid4().hex[:8]}x"


def shown(server, name):
    answer = server.cli("compute", "show", name, "-o", "json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def names(server):
    return [one["name"] for one in json.loads(server.cli("compute", "list", "-o", "json").stdout)]


def nodes(server, name):
    answer = server.cli("compute", "list-nodes", name, "-o", "json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def arm(server, method, path, body=None, **headers):
    return requests.request(method, server.url + WORKSPACE + path, json=body, verify=server.ca, timeout=DEADLINE_S,
                            headers={"Authorization": f"Bearer {server.key}", **headers})


@pytest.fixture
def cluster(server):
    """Makes clusters from flags; they are gone when the test ends."""
    made = []

    def make(*flags, name=None):
        name = name or unique()
        answer = server.cli("compute", "create", "--name", name, *flags)
        assert answer.returncode == 0, answer.stderr
        made.append(name)
        return name

    yield make
    for name in made:
        server.cli("compute", "delete", name, "--yes")


@pytest.fixture
def from_file(server, tmp_path):
    made = []

    def make(text, *flags):
        path = tmp_path / "create-cluster.yml"
        path.write_text(text)
        answer = server.cli("compute", "create", "-f", path, *flags)
        if answer.returncode == 0:
            made.append(yaml.safe_load(text)["name"])
        return answer

    yield make
    for name in made:
        server.cli("compute", "delete", name, "--yes")


# --- files ---

def corpus():
    shared = shared_folder()
    if shared is None:
        return []
    with open(shared / "corpus/expect.csv", newline="") as table:
        return [(row["path"], row["accepted"] == "1") for row in csv.DictReader(table) if row["kind"] == "compute"]


@pytest.mark.parametrize("path, accepted", corpus(), ids=lambda value: str(value).rsplit("/", 1)[-1])
def test_public_examples_are_taken_or_refused_as_on_azure(path, accepted, server):
    file = shared_folder() / "corpus/examples" / path
    assert (run("compute", "validate", "-f", file).returncode == 0) == accepted
    made = server.cli("compute", "create", "-f", file)
    assert (made.returncode == 0) == accepted, made.stderr
    name = yaml.safe_load(file.read_text())["name"]
    assert shown(server, name)["name"] == name
    assert server.cli("compute", "delete", name, "--yes").returncode == 0


def seed_files():
    """Every create-cluster.yml of the document, as it stands there."""
    shared = shared_folder()
    found = []
    for document in sorted((shared / "seeds").glob("002*")) if shared else []:
        lines = document.read_text().splitlines()
        for at, line in enumerate(lines):
            if not line.startswith("$schema:"):
                continue
            end = at
            while end < len(lines) and re.match(r"^\$?\w+: ", lines[end] + " ") and (end == at or not lines[end].startswith("$")):
                end += 1
            text = "\n".join(lines[at:end]) + "\n"
            if text not in found:
                found.append(text)
    return found


@pytest.mark.parametrize("text", seed_files(), ids=lambda text: yaml.safe_load(text)["name"])
def test_the_documents_own_files_work(text, server, from_file):
    wanted = yaml.safe_load(text)
    made = from_file(text)
    assert made.returncode == 0, made.stderr
    compute = shown(server, wanted["name"])
    assert compute["type"] == "amlcompute" and compute["size"].lower() == wanted["size"].lower()
    for key in ("min_instances", "max_instances", "idle_time_before_scale_down"):
        assert compute[key] == wanted[key]
    assert compute["tier"] == wanted.get("tier", "dedicated")
    assert compute["location"] == wanted.get("location", "local")
    assert ("latency" in made.stderr and "cost" in made.stderr) == ("location" in wanted)


def test_there_are_two_files_in_the_document():
    if shared_folder() is None:
        pytest.skip("the folder with the documents is absent (LAVANT_SHARED)")
    assert {yaml.safe_load(text)["name"] for text in seed_files()} == {"location-example", "low-pri-example"}


# --- clusters ---

def test_defaults(server, cluster):
    compute = shown(server, cluster())
    assert compute["size"] == "Standard_DS3_v2" and compute["tier"] == "dedicated"
    assert (compute["min_instances"], compute["max_instances"], compute["idle_time_before_scale_down"]) == (0, 4, 120)
    assert compute["ssh_public_access_enabled"] is False and compute["location"] == "local"


def test_what_is_shown_makes_the_same_cluster_again(server, cluster, from_file):
    first = cluster("--max-instances", "3", "--tier", "low_priority", "--tags", "team=vision", "a=b", "--identity-type", "system_assigned",
                    "--vnet-name", "net", "--subnet", "inner", "--enable-node-public-ip", "false")
    file = yaml.safe_load(server.cli("compute", "show", first, "-o", "yaml").stdout)
    second = file["name"] = unique()
    again = from_file(yaml.safe_dump(file))
    assert again.returncode == 0, again.stderr
    one, two = shown(server, first), shown(server, second)
    for key in ("name", "id", "created_on"):
        one.pop(key), two.pop(key)
    assert one == two
    assert one["network_settings"]["subnet"].endswith("/virtualNetworks/net/subnets/inner")
    assert one["tags"] == {"team": "vision", "a": "b"}


def test_jobs_run_there_and_the_cluster_goes_back_to_zero(server, cluster, write_job):
    name = cluster("--max-instances", "1", "--idle-time-before-scale-down", "1")
    assert nodes(server, name) == []
    job = submitted_name(server.cli("job", "create", "-f", write_job("true", compute=f"azureml:{name}")))
    assert server.wait_status(job) == "Completed"
    wait_for(lambda: nodes(server, name) == [], "the cluster at zero nodes")
    job = submitted_name(server.cli("job", "create", "-f", write_job("true", compute=name)))  # it is kept between runs
    assert server.wait_status(job) == "Completed"


def test_a_cluster_of_fixed_size_keeps_its_nodes(server, cluster):
    name = cluster("--min-instances", "1", "--max-instances", "1", "--idle-time-before-scale-down", "0")
    (node,) = wait_for(lambda: [one for one in nodes(server, name) if one["node_state"] == "idle"], "an idle node")
    assert node["node_id"].startswith("node-") and node["private_ip_address"] == "127.0.0.1"
    assert "always 1: 1 idle, 0 busy, 0 starting" in server.cli("compute", "show", name).stdout


def test_a_cluster_is_shared_by_all_users(server, cluster, write_job):
    name = cluster("--max-instances", "1")
    key = server.cli("key", "create", unique("user")).stdout.split()[-1]
    other = server.environment(LAVANT_TOKEN=key)
    job = submitted_name(server.cli("job", "create", "-f", write_job("true", compute=name), env=other))
    assert server.wait_status(job) == "Completed"


def test_nodes_tell_their_job_and_a_cluster_in_use_cannot_be_deleted(server, cluster, write_job):
    name = cluster("--max-instances", "1")
    job = submitted_name(server.cli("job", "create", "-f", write_job("sleep 600", compute=name)))
    server.wait_status(job, {"Running"})
    assert [(one["node_state"], one["current_job_name"]) for one in nodes(server, name)] == [("running", job)]
    refused = server.cli("compute", "delete", name, "--yes")
    assert refused.returncode == 5 and job in refused.stderr and "in use" in refused.stderr
    assert name in names(server) and server.status_of(job) == "Running"
    assert server.cli("job", "cancel", job).returncode == 0
    assert server.cli("compute", "delete", name, "--yes").returncode == 0
    assert name not in names(server)


def test_what_may_change_changes(server, cluster):
    name = cluster()
    changed = server.cli("compute", "update", name, "--min-instances", "0", "--max-instances", "7", "--idle-time-before-scale-down",
                         "60", "--identity-type", "system_assigned", "--tags", "a=b", "-o", "json")
    assert changed.returncode == 0, changed.stderr
    compute = shown(server, name)
    assert (compute["max_instances"], compute["idle_time_before_scale_down"]) == (7, 60)
    assert compute["identity"] == {"type": "system_assigned"} and compute["tags"] == {"a": "b"}
    assert server.cli("compute", "update", name, "--set", "tags.c=d").returncode == 0
    assert shown(server, name)["tags"] == {"a": "b", "c": "d"}


def test_a_dry_run_sends_nothing(server):
    name = unique()
    result = server.cli("compute", "create", "--name", name, "--dry-run", "-o", "json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["properties"]["computeType"] == "AmlCompute"
    assert name not in names(server)


def test_an_evicted_node_is_replaced_and_its_job_goes_on(server, cluster, write_job):
    name = cluster("--max-instances", "1", "--tier", "low_priority")
    job = submitted_name(server.cli("job", "create", "-f", write_job("sleep 600", compute=name)))
    server.wait_status(job, {"Running"})
    (before,) = nodes(server, name)
    evicted = server.cli("compute", "evict", name, "-o", "json")
    assert evicted.returncode == 0, evicted.stderr
    assert json.loads(evicted.stdout)["node"] == before["node_id"]
    wait_for(lambda: [one for one in nodes(server, name)
                      if one["node_id"] != before["node_id"] and one.get("current_job_name") == job], "the job on another node")
    assert server.cli("job", "cancel", job).returncode == 0


# --- bad input: one clear error each, and nothing is different ---

NAMES = {
    "ab": "too short", "a" * 25: "too long", "a_b": "only letters, digits and '-'", "1abc": "begin with a letter",
    "cpu-1": "a letter somewhere behind its last '-'", "serverless": "cannot be 'serverless'",
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["amlcompute", "computeinstance"])
def test_each_naming_rule_has_its_own_message(name, kind, server):
    before = names(server)
    refused = server.cli("compute", "create", "--name", name, "--type", kind)
    assert refused.returncode == 2 and NAMES[name] in refused.stderr, refused.stderr
    assert sum(text in refused.stderr for text in NAMES.values()) == 1, refused.stderr
    body = {"properties": {"computeType": "AmlCompute" if kind == "amlcompute" else "ComputeInstance"}}
    answer = arm(server, "PUT", f"/computes/{name}", body)
    assert answer.status_code == 400 and NAMES[name] in answer.json()["error"]["message"]
    assert names(server) == before


BAD_FLAGS = [
    (["--min-instances", "3", "--max-instances", "2"], "is 3, above the maximum of 2"),
    (["--min-instances", "9"], "is 9, above the maximum of 4"),
    (["--max-instances", "0"], "must be at least 1"),
    (["--max-instances", "-1"], "must not be negative"),
    (["--max-instances", "many"], "must be an integer"),
    (["--max-instances", "100000"], "must be at most 1000"),
    (["--idle-time-before-scale-down", "-1"], "must not be negative"),
    (["--idle-time-before-scale-down", "99999999999"], "must be at most"),
    (["--size", "Standard_DS3_v22"], "there is no size 'Standard_DS3_v22'; did you mean"),
    (["--size", "no-such-size"], "there is no size 'no-such-size'"),
    (["--location", "westsu"], "there is no region 'westsu'; did you mean 'westus'?"),
    (["--tier", "cheap"], "cannot be 'cheap'"),
    (["--type", "toaster"], "cannot be 'toaster'"),
    (["--vnet-name", "v"], "network_settings.subnet: is missing"),
    (["--identity-type", "user_assigned"], "user_assigned_identities: is missing"),
    (["--ssh-public-access-enabled", "perhaps"], "must be true or false"),
    (["--tags", "novalue"], "KEY=VALUE"),
    (["--set", "max_instence=3"], "did you mean 'max_instances'?"),
]


@pytest.mark.parametrize("flags, said", BAD_FLAGS, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_bad_values_are_refused_one_by_one(flags, said, server):
    before = names(server)
    refused = server.cli("compute", "create", "--name", unique(), *flags)
    assert refused.returncode in (2, 5) and said in refused.stderr, refused.stderr
    assert names(server) == before


def test_a_name_that_is_taken_says_by_whom(server, cluster):
    name = cluster("--max-instances", "2")
    before = shown(server, name)
    for other in (name, name.upper()):
        refused = server.cli("compute", "create", "--name", other, "--max-instances", "3")
        assert refused.returncode == 5, refused.stderr
        assert f"is taken in this region by amlcompute '{name}' of " in refused.stderr
    box = arm(server, "PUT", f"/computes/{name}", {"properties": {"computeType": "ComputeInstance"}})
    assert box.status_code == 409 and "is taken" in box.json()["error"]["message"]
    assert shown(server, name) == before


FIXED = ["size=Standard_NC6s_v3", "tier=low_priority", "location=westus", "ssh_public_access_enabled=true", "node_sharing=packed",
         "network_settings={vnet_name: v, subnet: s}"]


@pytest.mark.parametrize("setting", FIXED)
def test_what_is_fixed_stays(setting, server, cluster):
    name = cluster()
    before = shown(server, name)
    refused = server.cli("compute", "update", name, "--set", setting)
    assert refused.returncode == 5 and "cannot be changed" in refused.stderr, refused.stderr
    assert setting.split("=")[0] in refused.stderr.replace("network_settings.subnet", "network_settings")
    assert shown(server, name) == before


def test_updates_of_what_is_not_there_or_says_nothing(server, cluster, tmp_path):
    assert "there is no compute 'nobody'" in server.cli("compute", "update", "nobody", "--max-instances", "3").stderr
    assert "say what to change" in server.cli("compute", "update", cluster()).stderr
    file = tmp_path / "c.yml"
    file.write_text("name: nobody-here\ntype: amlcompute\n")
    refused = server.cli("compute", "update", "-f", file)
    assert refused.returncode == 5 and "there is no compute 'nobody-here'" in refused.stderr


def test_jobs_that_cannot_run_there_are_refused(server, cluster, write_job):
    name = cluster("--max-instances", "2")

    def refusal(**fields):
        answer = server.cli("job", "create", "-f", write_job("true", **fields))
        assert answer.returncode == 5, answer.stderr
        return " ".join(answer.stderr.split())

    assert f"did you mean '{name}'? There are " in refusal(compute=name[:-1] + "y")
    assert "has at most 2 nodes" in refusal(compute=name, resources={"instance_count": 3})
    kube = unique("k")
    attached = server.cli("compute", "attach", "--name", kube, "--type", "kubernetes", "--resource-id", "/subscriptions/x/y")
    assert attached.returncode == 0, attached.stderr
    assert "jobs cannot run there yet" in refusal(compute=kube)
    wrong = server.cli("compute", "detach", name, "--yes")
    assert wrong.returncode == 2 and "delete it" in wrong.stderr
    assert server.cli("compute", "detach", kube, "--yes").returncode == 0
    warned = server.cli("job", "create", "-f", write_job("true", compute=name, resources={"instance_type": "Standard_DS2_v2"}))
    assert warned.returncode == 0 and "has no effect" in warned.stderr


def test_a_reader_looks_and_does_not_touch(server, cluster):
    name = cluster()
    made = requests.post(server.url + "/lavant/v1/keys", json={"user": unique("reader"), "role": "reader"}, verify=server.ca,
                         headers={"Authorization": f"Bearer {server.key}"}, timeout=DEADLINE_S)
    env = server.environment(LAVANT_TOKEN=made.json()["key"])
    assert server.cli("compute", "show", name, env=env).returncode == 0
    for words in (["create", "--name", unique()], ["update", name, "--max-instances", "2"], ["delete", name, "--yes"], ["evict", name]):
        refused = server.cli("compute", *words, env=env)
        assert refused.returncode == 5 and "needs the role" in refused.stderr, refused.stderr


# --- instances ---

def test_an_instance_is_started_and_stopped(server, cluster, write_job):
    name = cluster("--type", "computeinstance", "--idle-time-before-shutdown-minutes", "30", name=unique("box"))
    assert shown(server, name)["state"] == "Running"
    assert server.cli("compute", "stop", name).returncode == 0
    assert shown(server, name)["state"] == "Stopped"
    wait_for(lambda: nodes(server, name) == [], "the stopped instance without a node")
    refused = server.cli("job", "create", "-f", write_job("true", compute=name))
    assert refused.returncode == 5 and f"lavant compute start {name}" in refused.stderr
    assert server.cli("compute", "start", name).returncode == 0
    job = submitted_name(server.cli("job", "create", "-f", write_job("true", compute=name)))
    assert server.wait_status(job) == "Completed"
    assert server.cli("compute", "restart", name).returncode == 0
    assert shown(server, name)["state"] == "Running"
    other = cluster()
    assert "only a computeinstance" in server.cli("compute", "stop", other).stderr


def test_a_job_on_an_instance_outlives_its_stop(server, cluster, write_job):
    name = cluster("--type", "computeinstance", name=unique("box"))
    job = submitted_name(server.cli("job", "create", "-f", write_job("sleep 600", compute=name)))
    server.wait_status(job, {"Running"})
    assert server.cli("compute", "stop", name).returncode == 0
    assert shown(server, name)["state"] == "Stopped" and server.status_of(job) == "Running"
    assert server.cli("job", "cancel", job).returncode == 0
    wait_for(lambda: nodes(server, name) == [], "the stopped instance without a node")


# --- secrets, tables, az ---

def test_no_password_is_kept(server, cluster, tmp_path):
    name = unique()
    file = tmp_path / "c.yml"
    file.write_text(json.dumps({"name": name, "type": "amlcompute", "ssh_public_access_enabled": True, "ssh_settings": {
        "admin_username": "ann", "admin_password": "s3cret-passw0rd", "ssh_key_value": "ssh-rsa AAA"}}))
    made = server.cli("compute", "create", "-f", file)
    assert made.returncode == 0 and "not kept" in made.stderr
    body = {"properties": {"computeType": "AmlCompute", "properties": {"userAccountCredentials": {
        "adminUserName": "ann", "adminUserPassword": "s3cret-passw0rd", "adminUserSshPublicKey": "ssh-rsa AAA"}}}}
    assert "s3cret" not in arm(server, "PUT", f"/computes/{name}", body).text
    assert "s3cret" not in json.dumps(shown(server, name))
    for stored in server.data.glob("lavant.db*"):
        assert b"s3cret-passw0rd" not in stored.read_bytes()
    assert server.cli("compute", "delete", name, "--yes").returncode == 0


def test_tables_fit_eighty_columns(server, cluster):
    name = cluster("--max-instances", "1000", "--size", "Standard_NC24ads_A100_v4", "--set", "max_instances=2",
                   name="a" + uuid.uuid4().hex[:22] + "x")
    for words in (["list"], ["show", name], ["list-nodes", name]):
        result = server.cli("compute", *words)
        assert result.returncode == 0
        assert max(map(len, result.stdout.splitlines()), default=0) <= 80, result.stdout


def test_az_has_the_same_commands(server):
    name = unique()
    made = server.cli("az", "ml", "compute", "create", "-n", name, "--type", "AmlCompute", "--size", "STANDARD_DS3_v2",
                      "--min-instances", "0", "--max-instances", "2", "--query", "provisioning_state", "-o", "tsv")
    assert made.stdout == "Succeeded\n", made.stderr
    again = server.cli("az", "ml", "compute", "create", "-n", name, "--type", "AmlCompute", "--max-instances", "5")
    assert again.returncode == 0, again.stderr  # as there: what is there is changed
    assert json.loads(again.stdout)["max_instances"] == 5
    assert name in server.cli("az", "ml", "compute", "list", "--query", "[].name", "-o", "tsv").stdout.split()
    updated = server.cli("az", "ml", "compute", "update", "--name", name, "--max-instances", "6", "--query", "max_instances")
    assert updated.stdout.strip() == "6", updated.stderr
    assert json.loads(server.cli("az", "ml", "compute", "list-nodes", "-n", name).stdout) == []
    assert server.cli("az", "ml", "compute", "delete", "--name", name, "-y").returncode == 0
    assert server.cli("az", "ml", "compute", "show", "--name", name).returncode == 5


def test_names_are_completed(server, cluster):
    name = cluster()
    for words in (["compute", "show", name[:6]], ["compute", "delete", "--name", name[:6]], ["submit", "--compute", name[:6]]):
        assert name in server.cli("__complete", "--", *words).stdout.split(), words


def test_computes_outlive_the_server(start_server, tmp_path):
    one = start_server(tmp_path / "kept")
    assert one.cli("compute", "create", "--name", "kept-cluster", "--max-instances", "2").returncode == 0
    assert one.cli("compute", "create", "--name", "kept-box", "--type", "computeinstance").returncode == 0
    assert one.cli("compute", "stop", "kept-box").returncode == 0
    one.stop()
    two = start_server(tmp_path / "kept")
    assert shown(two, "kept-cluster")["max_instances"] == 2
    assert shown(two, "kept-box")["state"] == "Stopped"
    assert two.cli("compute", "create", "--name", "kept-cluster").returncode == 5
