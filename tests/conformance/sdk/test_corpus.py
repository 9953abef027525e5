"""The public examples: each job file sent by the SDK and by our own command line gives the same stored job.

The corpus holds the YAML files only (../shared/corpus, or LAVANT_SHARED): code, data and registered assets that the
examples name are made up before. One test function for each file; both clients work in workspaces of their own.
"""
import csv
import difflib
import functools
import json
import pathlib
import re
import shutil

import conformance
import pytest
import sdk_version
import yaml
from azure.ai.ml import load_job
from azure.ai.ml.exceptions import MlException
from azure.core.exceptions import HttpResponseError
from flows import raw

SHARED = conformance.shared_folder()
CORPUS = SHARED / "corpus" if SHARED else None
pytestmark = pytest.mark.skipif(sdk_version.OLD, reason="the bodies are those of the newer release")


def job_files():
    if CORPUS is None or not (CORPUS / "expect.csv").is_file():
        return []
    with open(CORPUS / "expect.csv") as table:
        return [row["path"] for row in csv.DictReader(table) if row["kind"] == "job" and row["accepted"] == "1"]


# Why a file is left out.
SKIPPED = {"cli/jobs/pipelines-with-components/pipeline_job_with_flow_as_component/pipeline.yml":
           "its steps are flows of another tool, which are not in the corpus"}


@pytest.fixture(scope="session")
def examples(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "examples"
    shutil.copytree(CORPUS / "examples", folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
        if path.is_file():  # what a reader is to fill in
            path.write_text(re.sub(r"<([A-Z_]+)>", lambda found: found.group(1).lower().replace("_", "-")[:24].strip("-"), path.read_text()))
    return folder


def walk(node, keys=()):
    """Every scalar with the keys that lead to it."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from walk(value, keys + (str(key),))
    elif isinstance(node, list):
        for value in node:
            yield from walk(value, keys)
    elif isinstance(node, str):
        yield keys, node


def is_local(text):
    return not re.match(r"^(?!file:)[a-z0-9+]+:|^\$\{\{|^git\+|^<|^/", text)


PATHS = {"code", "path", "conda_file", "local_path"}
FILES = {"conda_file": "dependencies: [python=3.10]\n", "environment": "name: made-up\nversion: 1\nimage: python:3.11-slim\n"}


def make_local(base, node, seen):
    """Code and data that a file names, and those of the files it names, which are gathered in `seen`."""
    for keys, text in walk(node):
        if not is_local(text) or "\n" in text or len(text) > 200:
            continue
        target = base / text.removeprefix("file:")
        is_file = text.startswith("file:") and keys and keys[-1] == "environment"
        if keys and (keys[-1] in PATHS or is_file) and not target.exists():
            if target.suffix and keys[-1] != "code":
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(FILES.get(keys[-1], "a,b\n"))
            else:
                target.mkdir(parents=True, exist_ok=True)
                (target / "main.py").write_text("print(1)\n")
                (target / "MLTable").write_text("paths:\n  - file: ./main.py\n")
                (target / "Dockerfile").write_text("FROM python\n")
        if target.suffix in (".yml", ".yaml") and target.is_file() and target not in seen:
            seen[target] = yaml.safe_load(target.read_text())
            make_local(target.parent, seen[target], seen)
    entries(base, node)


def entries(base, node):
    """Entry scripts that the SDK looks for in the code folder."""
    if isinstance(node, dict):
        code = node.get("code")
        if isinstance(code, str) and is_local(code):
            folder = base / code
            names = [node.get("entry_script")] + [node["entry"].get("file")] if isinstance(node.get("entry"), dict) else [node.get("entry_script")]
            for name in list(names) + list(node.get("py_files") or []) + list(node.get("jars") or []) + list(node.get("files") or []):
                if isinstance(name, str) and folder.is_dir() and is_local(name):
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    (folder / name).touch()
        for value in node.values():
            entries(base, value)
    elif isinstance(node, list):
        for value in node:
            entries(base, value)


def workspace(name):
    return f"/subscriptions/corpus/resourceGroups/corpus/providers/Microsoft.MachineLearningServices/workspaces/{name}"


REFERENCE = re.compile(r"^azureml:([A-Za-z0-9_.-]+)(?:[:@]([A-Za-z0-9_.-]+))?$")


@functools.lru_cache(None)
def make_registered(ws, kind, name, version):
    base = f"{workspace(ws)}/{kind}/{name}"
    if kind == "computes":
        return raw("PUT", base, expect=None, json={"location": "local", "properties": {"computeType": "AmlCompute", "properties": {
            "vmSize": "Standard_DS3_v2", "vmPriority": "Dedicated", "scaleSettings": {"minNodeCount": 0, "maxNodeCount": 4}}}})
    body = {"environments": {"image": "python:3.11-slim"},
            "data": {"dataType": "uri_folder", "dataUri": f"azureml://datastores/workspaceblobstore/paths/{name}/"},
            "models": {"modelType": "custom_model", "modelUri": f"azureml://datastores/workspaceblobstore/paths/{name}"},
            "components": {"componentSpec": {"name": name, "version": version, "type": "command", "command": "echo",
                                             "environment": "azureml:base:1", "inputs": {}, "outputs": {}}}}[kind]
    return raw("PUT", f"{base}/versions/{version}", expect=None, json={"properties": body})


def register(ws, node):
    for keys, text in walk(node):
        if not keys:
            continue
        bare = "compute" in keys[-1] and re.fullmatch(r"[A-Za-z][A-Za-z0-9-]+", text)
        match = REFERENCE.match("azureml:" + text if bare else text)
        if not match:
            continue
        name, version = match.group(1), match.group(2) or "1"
        version = "1" if version == "latest" else version
        if "compute" in keys[-1]:
            name != "serverless" and make_registered(ws, "computes", name, "")
        elif keys[-1] == "environment":
            make_registered(ws, "environments", name, version)
        elif keys[-1] == "component":
            make_registered(ws, "components", name, version)
        else:
            make_registered(ws, "data", name, version)
            make_registered(ws, "models", name, version)


NOISE = {"status", "error", "services", "startTimeUtc", "endTimeUtc", "lavant", "warnings", "parentJobName"}
GUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{64}|[0-9a-f]{32}")


def normal(value, ws):
    """Without what must differ: names of workspaces, hashes, made-up names, and the state."""
    if isinstance(value, dict):
        return {key: normal(one, ws) for key, one in value.items()
                if key not in NOISE and one not in (None, {}, [], "") and not key.startswith(("lavant.", "azureml.git", "mlflow.source"))}
    if isinstance(value, list):
        return [normal(one, ws) for one in value]
    if isinstance(value, str):
        return GUID.sub("GUID", value.replace(f"/workspaces/{ws}", "/workspaces/WS"))
    return value


def with_components(value):
    """With the specification of every anonymous component in the place of its id, which is a hash."""
    if isinstance(value, dict):
        return {key: with_components(one) for key, one in value.items()}
    if isinstance(value, list):
        return [with_components(one) for one in value]
    if isinstance(value, str) and "/components/azureml_anonymous/versions/" in value:
        return with_components(raw("GET", value.removeprefix("azureml:")).json()["properties"]["componentSpec"])
    return value


def stored(ws, name):
    return normal(with_components(raw("GET", f"{workspace(ws)}/jobs/{name}").json()["properties"]), ws)


@pytest.fixture(scope="session")
def by_sdk(make_client):
    return make_client(subscription="corpus", group="corpus", workspace="sdk")


@pytest.mark.parametrize("path", job_files(), ids=lambda path: "-".join(path.split("/")[-2:]))
def test_both_clients_store_the_same(path, examples, by_sdk, server, uniq, monkeypatch):
    if path in SKIPPED:
        pytest.skip(SKIPPED[path])
    file = examples / path
    node = yaml.safe_load(file.read_text())
    nodes = {file: node}
    make_local(file.parent, node, nodes)
    for ws in ("sdk", "cli"):
        for one in nodes.values():
            register(ws, one)
    name = uniq("corpus")
    monkeypatch.chdir(file.parent)
    try:
        compare(file, name, by_sdk, server)
    finally:  # what they would do is not asked here, and they must not be in the way of others
        for ws in ("sdk", "cli"):
            raw("POST", f"{workspace(ws)}/jobs/{name}/cancel", expect=None)


def compare(file, name, by_sdk, server):
    job = load_job(file)
    job.name = name
    refused = None
    try:
        by_sdk.jobs.create_or_update(job)
    except (HttpResponseError, MlException) as wrong:
        refused = wrong
    except AttributeError as wrong:  # how the SDK meets an input without a path
        assert "_is_inferred_optional" in str(wrong)
        refused = wrong
    ran = server.cli("job", "create", "-f", file.name, "--name", name, "-w", "cli", "-g", "corpus", "--subscription", "corpus", cwd=file.parent)
    if "there is no kind of job" in ran.stderr:
        pytest.xfail("the command line reads jobs of this kind later")
    if refused:  # images, conda files and storage accounts that are not here: for both
        assert getattr(refused, "status_code", 400) in (400, 404) and ran.returncode != 0, (str(refused), ran.stderr)
        return
    assert ran.returncode == 0, ran.stderr
    ours, theirs = (json.dumps(stored(ws, name), indent=1, sort_keys=True).splitlines() for ws in ("cli", "sdk"))
    differing = list(difflib.unified_diff(theirs, ours, "sdk", "cli", n=0, lineterm=""))
    assert not differing, "\n".join(differing)
