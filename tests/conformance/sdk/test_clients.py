"""How a client is made, how many there may be, and what it is told when something is wrong."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import pytest
from azure.ai.ml import MLClient, command
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError, HttpResponseError, ResourceNotFoundError
from azure.identity import ClientSecretCredential, DefaultAzureCredential, ManagedIdentityCredential
from flows import raw, workspace_id

QUIET = {"enable_telemetry": False, "show_progress": False}


class Fixed:
    """A credential of ones own."""

    def __init__(self, token):
        self.token, self.asked = token, []

    def get_token(self, *scopes, **options):
        self.asked.append(scopes)
        return AccessToken(self.token, int(time.time()) + 3600)


def token_for(resource, key=None):
    answer = raw("GET", "/msi/token", params={"resource": resource, "api-version": "2019-08-01"},
                 headers={"X-IDENTITY-HEADER": key or os.environ["LAVANT_TOKEN"], "Metadata": "true"})
    return answer.json()["access_token"]


# --- ways to a client

@pytest.mark.parametrize("where", [".azureml/config.json", "config.json"])
def test_from_config(where):
    path = pathlib.Path.cwd() / where
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"subscription_id": os.environ["LAVANT_SUB"], "resource_group": os.environ["LAVANT_RG"],
                                "workspace_name": os.environ["LAVANT_WS"]}))
    client = MLClient.from_config(DefaultAzureCredential(), **QUIET)
    assert client.workspaces.get().name == os.environ["LAVANT_WS"]


def test_from_config_above_the_working_directory():
    path = pathlib.Path.cwd() / ".azureml" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"subscription_id": os.environ["LAVANT_SUB"], "resource_group": os.environ["LAVANT_RG"],
                                "workspace_name": os.environ["LAVANT_WS"]}))
    deeper = pathlib.Path.cwd() / "a" / "b"
    deeper.mkdir(parents=True)
    os.chdir(deeper)
    assert MLClient.from_config(DefaultAzureCredential(), **QUIET).workspace_name == os.environ["LAVANT_WS"]


def test_workspace_config_writes_the_file(server):
    written = server.cli("workspace", "config", cwd=pathlib.Path.cwd())
    assert written.returncode == 0, written.stderr
    client = MLClient.from_config(DefaultAzureCredential(), **QUIET)
    assert client.workspaces.get().name == client.workspace_name


def test_managed_identity(make_client):
    assert make_client(credential=ManagedIdentityCredential()).workspaces.get().name


def test_a_credential_of_ones_own(make_client):
    credential = Fixed(token_for(os.environ["LAVANT_ENDPOINT"]))
    assert make_client(credential=credential).workspaces.get().name
    assert credential.asked[0][0].startswith(os.environ["LAVANT_ENDPOINT"])


def test_the_key_itself_as_a_token(make_client):
    assert make_client(credential=Fixed(os.environ["LAVANT_TOKEN"])).workspaces.get().name


@pytest.mark.slow
def test_cloud_in_code(server):
    """Recipe 1c: the cloud is registered in the process, and no metadata is read."""
    script = f"""
import os
os.environ.pop("ARM_CLOUD_METADATA_URL", None)
from azure.ai.ml import MLClient, command
from azure.identity import DefaultAzureCredential
end = os.environ["LAVANT_ENDPOINT"]
ml = MLClient(DefaultAzureCredential(), os.environ["LAVANT_SUB"], os.environ["LAVANT_RG"], os.environ["LAVANT_WS"], cloud="Lavant",
              enable_telemetry=False, cloud_metadata={{"azure_portal": "https://portal.azure.lavant", "resource_manager": end,
              "active_directory": end, "aml_resource_id": "https://ml.azure.lavant", "storage_endpoint": "core.windows.net",
              "registry_discovery_endpoint": end}})
print("WORKSPACE", ml.workspaces.get().name)
print("COMPUTES", len(list(ml.compute.list())))
print("JOB", ml.jobs.create_or_update(command(command="true", environment="azureml:base:1")).name)
"""
    ran = in_process(script)
    assert f"WORKSPACE {os.environ['LAVANT_WS']}" in ran and "COMPUTES" in ran and "JOB " in ran


@pytest.mark.slow
def test_developer_override(tmp_path):
    """Recipe 1b: AZUREML_DEV_URL_MFE alone; tokens are asked for management.azure.com then."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "m.py").write_text("print('by the override')")
    script = f"""
import os
os.environ.pop("ARM_CLOUD_METADATA_URL", None)
os.environ["AZUREML_DEV_URL_MFE"] = os.environ["LAVANT_ENDPOINT"]
from azure.ai.ml import MLClient, command
from azure.identity import DefaultAzureCredential
ml = MLClient(DefaultAzureCredential(), os.environ["LAVANT_SUB"], os.environ["LAVANT_RG"], os.environ["LAVANT_WS"], enable_telemetry=False)
job = ml.jobs.create_or_update(command(command="python m.py", code={str(tmp_path / 'src')!r}, environment="azureml:base:1"))
ml.jobs.stream(job.name)
print("STATUS", ml.jobs.get(job.name).status)
"""
    ran = in_process(script)
    assert "by the override" in ran and "STATUS" in ran


def in_process(script):
    """The cloud is a property of the process."""
    env = {key: value for key, value in os.environ.items() if key != "AZUREML_CURRENT_CLOUD"}  # which the SDK sets
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, env=env, timeout=100)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def test_names_that_are_no_guids(make_client):
    client = make_client(workspace="My Workspace", group="rg (1)", subscription="sub")
    assert client.workspaces.get("My Workspace").name == "My Workspace"
    assert list(client.jobs.list()) == []


# --- many at once

def test_eight_threads(make_client):
    def one(number):
        client = make_client()
        made = client.jobs.create_or_update(command(command="true", environment="azureml:base:1", display_name=f"thread {number}"))
        return client.jobs.get(made.name).display_name

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(8))) == sorted(f"thread {number}" for number in range(8))


def test_one_client_in_eight_threads(ml):
    names = list(concurrent.futures.ThreadPoolExecutor(8).map(
        lambda _: ml.jobs.create_or_update(command(command="true", environment="azureml:base:1")).name, range(16)))
    assert len(set(names)) == 16 and set(names) <= {one.name for one in ml.jobs.list()}


def test_the_same_environment_at_once(ml, uniq):
    from azure.ai.ml.entities import Environment
    name = uniq("env")
    made = list(concurrent.futures.ThreadPoolExecutor(8).map(
        lambda _: ml.environments.create_or_update(Environment(name=name, image="python:3.11-slim", version="1")).version, range(8)))
    assert set(made) == {"1"} and [one.version for one in ml.environments.list(name=name)] == ["1"]


def test_the_same_data_at_once(ml, uniq, tmp_path):
    from azure.ai.ml.entities import Data
    name = uniq("data")
    (tmp_path / "x.csv").write_text(name)

    def one(number):
        ml.data.create_or_update(Data(name=name, path=str(tmp_path / "x.csv"), type="uri_file", version=str(number)))

    one(1)  # two uploads of the same bytes at once are a conflict on Azure, too
    list(concurrent.futures.ThreadPoolExecutor(8).map(one, range(2, 9)))
    assert {entry.version for entry in ml.data.list(name=name)} == {str(number) for number in range(1, 9)}


# --- what is refused

def test_no_key(make_client):
    with pytest.raises(ClientAuthenticationError) as refused:
        make_client(credential=Fixed("not a token")).workspaces.get()
    assert refused.value.status_code == 401


def test_a_forged_token(make_client):
    good = token_for(os.environ["LAVANT_ENDPOINT"])
    forged = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    with pytest.raises(ClientAuthenticationError):
        make_client(credential=Fixed(forged)).jobs.get("x")


def test_a_token_without_a_signature(make_client):
    import base64
    part = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    unsigned = part({"alg": "none"}) + "." + part({"aud": os.environ["LAVANT_ENDPOINT"], "exp": 4e9}) + "."
    with pytest.raises(ClientAuthenticationError):
        make_client(credential=Fixed(unsigned)).jobs.get("x")


def test_a_wrong_key_gets_no_token():
    answer = raw("GET", "/msi/token", expect=None, params={"resource": "x"}, headers={"X-IDENTITY-HEADER": "wrong", "Metadata": "true"})
    assert 400 <= answer.status_code < 500


def test_the_default_credential_with_a_wrong_key():
    before = os.environ["IDENTITY_HEADER"]
    os.environ["IDENTITY_HEADER"] = "wrong"
    try:
        client = MLClient(ManagedIdentityCredential(), os.environ["LAVANT_SUB"], os.environ["LAVANT_RG"], os.environ["LAVANT_WS"], **QUIET)
        with pytest.raises(ClientAuthenticationError):
            client.workspaces.get()
    finally:
        os.environ["IDENTITY_HEADER"] = before


def key_of(server, user, role):
    """A new key: what the command prints."""
    made = server.cli("key", "create", user, "--role", role)
    assert made.returncode == 0, made.stderr
    return made.stdout.split()[-1]


@pytest.fixture
def reader(server, make_client, uniq):
    """The client of a key that may read only."""
    return make_client(credential=Fixed(key_of(server, uniq("reader"), "reader")))


def test_a_reader_reads(reader):
    assert reader.workspaces.get().name
    list(reader.jobs.list())


def test_a_reader_writes_nothing(reader, uniq):
    from azure.ai.ml.entities import AmlCompute, Environment
    for write in (lambda: reader.jobs.create_or_update(command(command="true", environment="azureml:base:1")),
                  lambda: reader.compute.begin_create_or_update(AmlCompute(name=uniq("cl"), size="Standard_DS3_v2")),
                  lambda: reader.environments.create_or_update(Environment(name=uniq("env"), image="python:3.11-slim"))):
        with pytest.raises(HttpResponseError) as refused:
            write()
        assert refused.value.status_code == 403, refused.value


def test_error_bodies_have_code_and_message(ml):
    with pytest.raises(ResourceNotFoundError) as missing:
        ml.compute.get("no-such")
    error = missing.value
    assert error.error.code and error.error.message and "no-such" in error.message and error.reason


def test_a_conflict(ml, uniq):
    from azure.ai.ml.entities import Environment
    from azure.core.exceptions import ResourceExistsError
    name = uniq("env")
    ml.environments.create_or_update(Environment(name=name, image="python:3.11-slim", version="1"))
    with pytest.raises(ResourceExistsError) as refused:
        ml.environments.create_or_update(Environment(name=name, image="python:3.12-slim", version="1"))
    assert refused.value.status_code == 409 and name in str(refused.value)


def test_a_bad_request_names_the_field(ml):
    with pytest.raises(HttpResponseError) as refused:
        ml.jobs.create_or_update(command(command="true", environment="azureml:base:1", instance_type="Standard_NoSuch"))
    assert refused.value.status_code == 400 and "instanceType" in str(refused.value)


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"properties": 3}', '{"properties": {}}', '{"properties": {"jobType": "Nonsense"}}'])
def test_a_body_that_is_nonsense(body, uniq):
    answer = raw("PUT", f"{workspace_id()}/jobs/{uniq('bad')}", expect=None, data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["error"]["code"] and answer.json()["error"]["message"]


def test_an_unknown_route():
    answer = raw("GET", f"{workspace_id()}/nonsense", expect=404)
    assert answer.json()["error"]["code"] == "ResourceNotFound"


def test_an_expired_token_is_renewed(make_client):
    """azure-core asks its credential again when the server says 401 with a challenge or the token is about to end."""
    class Renewing(Fixed):
        def get_token(self, *scopes, **options):
            self.asked.append(scopes)
            return AccessToken(token_for(os.environ["LAVANT_ENDPOINT"]), int(time.time()) + 1)  # ends soon

    credential = Renewing("")
    client = make_client(credential=credential)
    client.workspaces.get()
    before = len(credential.asked)
    list(client.jobs.list())
    assert len(credential.asked) > before


def test_client_secret(server, uniq):
    """OAuth's client credentials, as a service principal's library asks for them."""
    user = uniq("robot")
    answer = raw("POST", "/any-tenant/oauth2/v2.0/token", expect=None, data={
        "grant_type": "client_credentials", "client_id": user, "client_secret": key_of(server, user, "contributor"),
        "scope": os.environ["LAVANT_ENDPOINT"] + "/.default"})
    assert answer.status_code == 200 and answer.json()["access_token"] and answer.json()["token_type"] == "Bearer", answer.text
    assert int(answer.json()["expires_in"]) > 60


def test_client_secret_credential(server, make_client, uniq):
    user = uniq("robot")
    credential = ClientSecretCredential("tenant", user, key_of(server, user, "contributor"), disable_instance_discovery=True,
                                        authority=os.environ["LAVANT_ENDPOINT"])
    assert make_client(credential=credential).workspaces.get().name


def test_the_mlflow_uri_is_our_own(ml):
    assert ml.workspaces.get().mlflow_tracking_uri.startswith("https://")


def test_telemetry_stays_off_by_itself(make_client):
    """With telemetry on, outside notebooks the SDK sends nothing."""
    assert make_client(enable_telemetry=True).workspaces.get().name


def test_progress_output(make_client, tmp_path, capfd, uniq):
    from azure.ai.ml.entities import Data
    (tmp_path / "p.csv").write_text(uniq("x"))
    client = make_client(show_progress=True)
    client.data.create_or_update(Data(name=uniq("data"), path=str(tmp_path / "p.csv"), type="uri_file"))
    assert "Uploading" in capfd.readouterr().err
