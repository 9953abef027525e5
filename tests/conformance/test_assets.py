"""Assets over REST: races between clients, lists, labels, archiving, deleting, and what is refused."""
import concurrent.futures
import uuid

import pytest

from arm import WORKSPACE, call, key_of
from conftest import wait_for

STORE = "azureml://datastores/workspaceblobstore/paths/"
CLIENTS = 8


def fresh(start):
    return f"{start}-{uuid.uuid4().hex[:8]}"


def put(server, path, properties, key=None):
    return call(server, "PUT", f"{WORKSPACE}/{path}", {"properties": properties}, key)


def get(server, path):
    status, body = call(server, "GET", f"{WORKSPACE}/{path}")
    assert status == 200, body
    return body


def at_once(work, many=CLIENTS):
    with concurrent.futures.ThreadPoolExecutor(many) as pool:
        return list(pool.map(work, range(many)))


def test_equal_requests_at_once_all_succeed(server):
    name = fresh("env")
    for _ in range(5):
        answers = at_once(lambda _: put(server, f"environments/{name}/versions/1", {"image": "python:3.11-slim"}))
        assert {status for status, _ in answers} <= {200, 201}, answers
        assert len({str(body["properties"]) for _, body in answers}) == 1


def test_one_of_many_gets_a_version_and_the_others_hear_of_it(server):
    name = fresh("data")
    answers = at_once(lambda i: put(server, f"data/{name}/versions/1", {"dataType": "uri_file", "dataUri": f"{STORE}{i}"}))
    assert sorted(status for status, _ in answers) == [201] + [409] * (CLIENTS - 1)
    kept = next(body for status, body in answers if status == 201)["properties"]["dataUri"]
    assert get(server, f"data/{name}/versions/1")["properties"]["dataUri"] == kept


def test_no_version_is_lost_from_the_count(server):
    name = fresh("model")
    answers = at_once(lambda i: put(server, f"models/{name}/versions/{i + 1}", {"modelUri": f"{STORE}{i}"}), 16)
    assert {status for status, _ in answers} == {201}
    assert get(server, f"models/{name}")["properties"]["nextVersion"] == "17"
    assert len(get(server, f"models/{name}/versions")["value"]) == 16


def test_clients_without_a_version_end_up_with_one_each(server):
    """What azure-ai-ml does: ask for the next version, write it, and where another was faster begin again."""
    name = fresh("data")

    def create(number):
        while True:
            status, container = call(server, "GET", f"{WORKSPACE}/data/{name}")
            version = container["properties"]["nextVersion"] if status == 200 else "1"
            status, _ = put(server, f"data/{name}/versions/{version}", {"dataType": "uri_file", "dataUri": f"{STORE}{number}"})
            assert status in (200, 201, 409)
            if status == 201:
                return version

    assert len(set(at_once(create))) == CLIENTS
    uris = {one["properties"]["dataUri"] for one in get(server, f"data/{name}/versions")["value"]}
    assert len(uris) == CLIENTS


def test_latest_follows_what_is_archived_and_deleted(server):
    name = fresh("model")
    for version in ("1", "two", "3"):
        assert put(server, f"models/{name}/versions/{version}", {"modelUri": STORE + version})[0] == 201
    latest = lambda: get(server, f"models/{name}")["properties"]["latestVersion"]
    assert latest() == "3" and get(server, f"models/{name}/labels/latest")["name"] == "3"
    assert put(server, f"models/{name}/versions/3", {"modelUri": STORE + "3", "isArchived": True})[0] == 200
    assert latest() == "two"
    assert [one["name"] for one in get(server, f"models/{name}/versions")["value"]] == ["two", "1"]
    assert [one["name"] for one in get(server, f"models/{name}/versions?listViewType=ArchivedOnly")["value"]] == ["3"]
    assert call(server, "DELETE", f"{WORKSPACE}/models/{name}/versions/two")[0] == 204
    assert latest() == "1"
    assert get(server, f"models/{name}")["properties"]["nextVersion"] == "4"
    assert put(server, f"models/{name}/versions/3", {"modelUri": STORE + "3"})[0] == 200, "restored"
    assert latest() == "3"
    assert call(server, "DELETE", f"{WORKSPACE}/models/{name}")[0] == 204
    assert call(server, "GET", f"{WORKSPACE}/models/{name}")[0] == 404


def test_a_list_comes_page_by_page(server):
    import requests
    name = fresh("data")
    for i in range(120):
        assert put(server, f"data/{name}/versions/{i}", {"dataType": "uri_file", "dataUri": STORE + str(i)})[0] == 201
    seen, link, pages = [], f"{server.url}{WORKSPACE}/data/{name}/versions?listViewType=All&$orderBy=version%20asc", 0
    while link:
        page = requests.get(link, verify=server.ca, headers={"Authorization": f"Bearer {server.key}"}, timeout=60).json()
        seen += [one["name"] for one in page["value"]]
        link, pages = page.get("nextLink"), pages + 1
    assert seen == [str(i) for i in range(120)] and pages == 2


def test_a_changed_environment_is_refused_and_an_equal_build_context_is_not(server):
    name = fresh("env")
    where = "https://h:1/storage/azureml-blobstore/LocalUpload/abc/ctx"
    assert put(server, f"environments/{name}/versions/1", {"build": {"contextUri": where}})[0] == 201
    status, kept = put(server, f"environments/{name}/versions/1",
                       {"build": {"contextUri": where.replace("h:1", "other:2"), "dockerfilePath": "Dockerfile"}})
    assert (status, kept["properties"]["build"]["contextUri"]) == (200, where)
    status, said = put(server, f"environments/{name}/versions/1", {"image": "python:3.11"})
    assert status == 409 and "use another version" in said["error"]["message"]


def test_what_a_live_job_uses_stays(server):
    name = fresh("env")
    assert put(server, f"environments/{name}/versions/1", {"image": "python:3.11-slim"})[0] == 201
    job = fresh("job")
    status, made = put(server, f"jobs/{job}", {"jobType": "Command", "command": "sleep 300",
                                               "environmentId": f"azureml:{name}:1"})
    assert status == 201, made
    status, said = call(server, "DELETE", f"{WORKSPACE}/environments/{name}")
    assert status == 409 and job in said["error"]["message"] and "archive" in said["error"]["message"]
    assert call(server, "POST", f"{WORKSPACE}/jobs/{job}/cancel")[0] == 202
    wait_for(lambda: get(server, f"jobs/{job}")["properties"]["status"] == "Canceled", "the end of the job")
    assert call(server, "DELETE", f"{WORKSPACE}/environments/{name}")[0] == 204
    status, said = put(server, f"jobs/{fresh('job')}", {"jobType": "Command", "command": "true",
                                                        "environmentId": f"azureml:{name}:1"})
    assert status in (400, 404), said


@pytest.mark.parametrize("path, properties, why", [
    ("data/d/versions/1", {"dataType": "uri_file"}, "dataUri is missing"),
    ("data/d/versions/1", {"dataType": "blob", "dataUri": "x"}, "uri_file, uri_folder or mltable"),
    ("models/m/versions/1", {}, "modelUri is missing"),
    ("environments/e/versions/1", {"image": "x", "build": {"contextUri": "y"}}, "not both"),
    ("environments/AzureML-x/versions/1", {"image": "x"}, "curated"),
    ("codes/c/versions/1", {"codeUri": "https://elsewhere/x"}, "startPendingUpload"),
    ("models/-m/versions/1", {"modelUri": "x"}, "begins with a letter or a digit"),
    ("models/m/versions/..%2f..", {"modelUri": "x"}, "letters, digits"),
    ("models/" + "m" * 256 + "/versions/1", {"modelUri": "x"}, "255"),
])
def test_what_is_no_asset_is_refused_with_the_remedy(server, path, properties, why):
    status, said = put(server, path, properties)
    assert status == 400 and why in said["error"]["message"], said


def test_a_reader_writes_nothing(server):
    key = key_of(server, fresh("rob"), "reader")
    name = fresh("model")
    assert put(server, f"models/{name}/versions/1", {"modelUri": STORE}, key)[0] == 403
    assert call(server, "DELETE", f"{WORKSPACE}/environments/base", key=key)[0] == 403
    assert call(server, "POST", f"{WORKSPACE}/data/d/versions/1/startPendingUpload", {}, key)[0] == 403
    assert call(server, "GET", f"{WORKSPACE}/models/{name}")[0] == 404


def test_curated_environments_are_found_and_run(server):
    name = "AzureML-sklearn-1.0-ubuntu20.04-py38-cpu"
    found = get(server, f"environments/{name}/versions/33")
    assert found["id"] == f"azureml://registries/azureml/environments/{name}/versions/33"
    job = fresh("job")
    status, made = put(server, f"jobs/{job}", {
        "jobType": "Command", "command": "echo it runs",
        "environmentId": "azureml://registries/azureml/environments/sklearn-1.5/labels/latest"})
    assert status == 201, made
    assert server.wait_status(job) == "Completed"
