"""Workspaces as a user of ml.workspaces finds them."""
import os

import pytest
import yaml
from azure.ai.ml.entities import Workspace
from azure.core.credentials import AzureNamedKeyCredential
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.storage.blob import BlobServiceClient
from flows import raw, workspace_id


@pytest.fixture(scope="module")
def ws(ml):
    return ml.workspaces.get(os.environ["LAVANT_WS"])


def test_get(ws):
    assert ws.name == os.environ["LAVANT_WS"] and ws.resource_group == os.environ["LAVANT_RG"]
    assert ws.id == workspace_id() and ws.location
    assert ws.discovery_url.startswith(os.environ["LAVANT_ENDPOINT"])
    assert ws.mlflow_tracking_uri.startswith(os.environ["LAVANT_ENDPOINT"])


def test_get_without_a_name_is_the_clients_own(ml, ws):
    assert ml.workspaces.get().name == ws.name


def test_the_client_knows_its_names(ml):
    assert (ml.workspace_name, ml.resource_group_name, ml.subscription_id) == (
        os.environ["LAVANT_WS"], os.environ["LAVANT_RG"], os.environ["LAVANT_SUB"])


def test_what_azure_would_answer(ws):
    assert ws.storage_account and ws.key_vault and ws.application_insights, (ws.storage_account, ws.key_vault)
    assert ws.provision_network_now in (None, False) and ws.public_network_access in ("Enabled", "Disabled")
    assert ws.tags is not None


def test_yaml_of_a_workspace(ws, tmp_path):
    ws.dump(str(tmp_path / "w.yml"))
    text = yaml.safe_load((tmp_path / "w.yml").read_text())
    assert text["name"] == ws.name and text["location"] == ws.location
    assert ws.name in str(ws)


def test_list(ml, ws):
    listed = list(ml.workspaces.list())
    assert ws.name in [one.name for one in listed]
    assert all(one.resource_group == os.environ["LAVANT_RG"] for one in listed)


def test_list_of_the_subscription(ml, ws):
    assert ws.name in [one.name for one in ml.workspaces.list(scope="subscription")]


@pytest.mark.parametrize("kinds,found", [("default", True), (["default", "hub"], True), ("hub", False), (["project"], False)])
def test_list_by_kind(ml, ws, kinds, found):
    assert (ws.name in [one.name for one in ml.workspaces.list(filtered_kinds=kinds)]) is found


def test_get_keys(ml):
    keys = ml.workspaces.get_keys()
    assert keys.user_storage_key and keys.user_storage_resource_id
    assert ml.workspaces.get_keys(os.environ["LAVANT_WS"]).user_storage_key == keys.user_storage_key
    container = ml.datastores.get_default().container_name
    account = keys.user_storage_resource_id.rpartition("/")[2]
    blobs = BlobServiceClient(f"{os.environ['LAVANT_ENDPOINT']}/storage/{account}.blob.core.windows.net", retry_total=0,
                              credential=AzureNamedKeyCredential(account, keys.user_storage_key))
    one = blobs.get_blob_client(container, "keys/one.txt")
    one.upload_blob(b"by the key of the account", overwrite=True)
    assert one.download_blob().readall() == b"by the key of the account"
    assert "keys/one.txt" in list(blobs.get_container_client(container).list_blob_names(name_starts_with="keys/"))
    wrong = BlobServiceClient(blobs.url, credential=AzureNamedKeyCredential(account, "d3Jvbmc="), retry_total=0)
    with pytest.raises(HttpResponseError) as refused:
        wrong.get_blob_client(container, "keys/one.txt").download_blob()
    assert refused.value.status_code == 403


def test_sync_keys(ml):
    assert ml.workspaces.begin_sync_keys().result() is None


def test_diagnose(ml, ws):
    result = ml.workspaces.begin_diagnose(ws.name).result()
    assert result is not None and not result.storage_account_results and not result.other_results


def test_provision_network(ml):
    """Azure answers Active or Inactive; here there is no managed network to provision."""
    try:
        status = ml.workspaces.begin_provision_network(workspace_name=os.environ["LAVANT_WS"]).result()
        assert status.status
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500


def test_create_update_delete(ml, make_client, uniq):
    name = uniq("ws")
    made = ml.workspaces.begin_create(Workspace(name=name, location="local", display_name="Mine", description="text",
                                                tags={"a": "b"})).result()
    assert made.name == name and made.tags["a"] == "b"
    got = ml.workspaces.get(name)
    assert got.display_name == "Mine" and got.description == "text" and got.tags["a"] == "b"
    assert name in [one.name for one in ml.workspaces.list()]
    got.tags = {"c": "d"}
    got.description = "other"
    changed = ml.workspaces.begin_update(got).result()
    assert changed.tags == {"c": "d"} and changed.description == "other"
    assert ml.workspaces.get(name).display_name == "Mine"
    assert ml.workspaces.begin_delete(name, delete_dependent_resources=False).result() is None
    assert name not in [one.name for one in ml.workspaces.list()]


def test_create_of_one_that_is_there_updates_it(ml, uniq):
    name = uniq("ws")
    ml.workspaces.begin_create(Workspace(name=name, tags={"a": "1"})).result()
    again = ml.workspaces.begin_create(Workspace(name=name, tags={"b": "2"}, description="second")).result()
    assert again.description == "second" and again.tags["a"] == "1" and again.tags["b"] == "2"
    ml.workspaces.begin_delete(name, delete_dependent_resources=True, permanently_delete=True).result()


def test_delete_of_an_unknown_workspace(ml, uniq):
    try:
        ml.workspaces.begin_delete(uniq("nows"), delete_dependent_resources=False).result()
    except HttpResponseError as refused:
        assert refused.status_code == 404


def test_update_with_keywords(ml, uniq):
    name = uniq("ws")
    made = ml.workspaces.begin_create(Workspace(name=name)).result()
    changed = ml.workspaces.begin_update(made, description="by keyword", display_name="K").result()
    assert changed.description == "by keyword" and changed.display_name == "K"
    ml.workspaces.begin_delete(name, delete_dependent_resources=False).result()


def test_workspaces_do_not_share_jobs_and_assets(ml, make_client, uniq):
    from azure.ai.ml import command
    from azure.ai.ml.entities import Environment
    other = make_client(workspace=uniq("other"))
    made = ml.jobs.create_or_update(command(command="true", environment="azureml:base:1"))
    with pytest.raises(ResourceNotFoundError):
        other.jobs.get(made.name)
    assert list(other.jobs.list()) == []
    name = uniq("env")
    ml.environments.create_or_update(Environment(name=name, image="python:3.11-slim"))
    assert name not in [one.name for one in other.environments.list()]


def test_a_job_runs_in_another_workspace(make_client, uniq):
    from azure.ai.ml import command
    other = make_client(workspace=uniq("w"), group="another group", subscription="not a guid")
    made = other.jobs.create_or_update(command(command="true", environment="azureml:base:1"))
    assert made.id.endswith("/jobs/" + made.name) and "/resourceGroups/another group/" in made.id
    assert [one.name for one in other.jobs.list()] == [made.name]


def test_the_workspace_id_is_a_guid_of_its_own(ml, make_client, uniq):
    import uuid
    first = ml.workspaces.get()._workspace_id
    other = make_client(workspace=uniq("w"))
    second = other.workspaces.get()._workspace_id
    uuid.UUID(first), uuid.UUID(second)
    assert first != second


def test_the_case_of_resource_groups_does_not_matter(ml):
    lower = workspace_id().replace("/resourceGroups/", "/resourcegroups/")
    assert raw("GET", lower).json()["name"] == os.environ["LAVANT_WS"]


@pytest.mark.parametrize("version", ["2020-01-01", "2025-12-01", "2099-01-01-preview", "nonsense"])
def test_any_api_version(version):
    raw("GET", f"{workspace_id()}?api-version={version}")


def test_hub_and_project_are_answered_or_refused_clearly(ml, uniq):
    from azure.ai.ml.entities import Hub
    try:
        made = ml.workspaces.begin_create(Hub(name=uniq("hub"), location="local")).result()
        assert made.name
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500
