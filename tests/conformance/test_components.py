"""Components over REST: what is completed, what may change, which one is the default."""
import re
import uuid

from arm import WORKSPACE, call


def fresh(start):
    return f"{start}_{uuid.uuid4().hex[:8]}"


def put(server, name, version, spec, **more):
    return call(server, "PUT", f"{WORKSPACE}/components/{name}/versions/{version}",
                {"properties": {"componentSpec": spec, **more}})


def get(server, path):
    status, body = call(server, "GET", f"{WORKSPACE}/components/{path}")
    assert status == 200, body
    return body


def test_a_spec_is_completed(server):
    name = fresh("c")
    status, made = put(server, name, "1", {
        "name": name, "type": "command", "command": "echo ${{inputs.n}}", "environment": "azureml:AzureML-x:3",
        "inputs": {"n": {"type": "integer", "default": "3"}, "d": {"type": "uri_folder", "optional": True}},
        "distribution": {"type": "mpi", "process_count_per_instance": 2}, "code": None})
    assert status == 201, made
    spec = made["properties"]["componentSpec"]
    assert spec["version"] == "1" and spec["resources"] == {"instance_count": 1} and spec["is_deterministic"] is True
    assert spec["inputs"]["n"]["optional"] is False and spec["inputs"]["d"]["optional"] is True
    assert spec["distribution"]["process_count_per_instance"] == "2"
    assert spec["environment"] == "azureml://registries/azureml/environments/AzureML-x/versions/3"
    assert "code" not in spec
    assert get(server, f"{name}/versions/1")["properties"]["componentSpec"] == spec


def test_a_pipeline_takes_from_its_steps(server):
    step = fresh("step")
    assert put(server, step, "1", {"type": "command", "command": "x",
                                   "outputs": {"o": {"type": "boolean", "early_available": True}}})[0] == 201
    name = fresh("pipe")
    status, made = put(server, name, "1", {
        "type": "pipeline", "inputs": {"where": {"type": "string", "default": "azureml:cpu-cluster"}},
        "outputs": {"result": {"type": "boolean"}},
        "jobs": {"a": {"componentId": f"{WORKSPACE}/components/{step}/versions/1", "computeId": "${{parent.inputs.where}}",
                       "outputs": {"o": {"value": "${{parent.outputs.result}}", "type": "literal"}}}}})
    assert status == 201, made
    spec = made["properties"]["componentSpec"]
    assert spec["is_deterministic"] is False
    assert spec["inputs"]["where"] == {"type": "string", "default": "cpu-cluster", "optional": False}
    assert spec["outputs"]["result"]["early_available"] is True


def test_the_program_of_a_version_stays(server):
    name = fresh("c")
    assert put(server, name, "1", {"type": "command", "command": "x", "description": "a"})[0] == 201
    status, changed = put(server, name, "1", {"type": "command", "command": "x", "description": "b"})
    assert status == 200 and changed["properties"]["componentSpec"]["description"] == "b"
    for spec in ({"type": "command", "command": "y"}, {"type": "spark", "command": "x"}):
        status, said = put(server, name, "1", spec)
        assert status == 400 and "immutable" in said["error"]["message"] and "another version" in said["error"]["message"]
    status, said = put(server, name, "2", {"type": "command", "command": "x",
                                           "code": f"azureml:{WORKSPACE}/codes/none/versions/1"})
    assert status == 400 and "upload it again" in said["error"]["message"]


def test_the_default_version_and_the_next(server):
    name = fresh("c")
    assert call(server, "GET", f"{WORKSPACE}/components/{name}/versions/azureml_default")[0] == 404
    for version in ("1", "foo"):
        assert put(server, name, version, {"type": "command", "command": version})[0] == 201
    default = get(server, f"{name}/versions/azureml_default")
    assert default["id"] == f"{WORKSPACE}/components/{name}/labels/default"
    assert default["properties"]["componentSpec"]["version"] == "foo"
    container = get(server, name)["properties"]
    assert container["latestVersion"] == "foo"
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d-\d{7}", container["nextVersion"])
    assert put(server, name, container["nextVersion"], {"type": "command", "command": "z"})[0] == 201


def test_the_last_of_two_anonymous_ones_is_answered(server):
    guid = str(uuid.uuid4())
    for name in ("first", "second"):
        status, made = put(server, "azureml_anonymous", guid, {"type": "command", "command": "x", "name": name}, isAnonymous=True)
        assert status in (200, 201) and made["properties"]["componentSpec"]["name"] == name
    assert get(server, f"azureml_anonymous/versions/{guid}")["properties"]["componentSpec"]["name"] == "second"
    assert "azureml_anonymous" not in [one["name"] for one in get(server, "?listViewType=All")["value"]]
