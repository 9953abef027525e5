"""What many flows do."""
import contextlib
import io
import os
import pathlib
import uuid

import conformance
import requests

TERMINAL = {"Completed", "Failed", "Canceled"}
IMAGE = "python:3.11-slim"


def raw(method, path, expect=200, **options):
    """A request of our own, past the SDK: cheaper, and what the SDK would hide."""
    headers = {"Authorization": "Bearer " + os.environ["LAVANT_TOKEN"], **options.pop("headers", {})}
    answer = requests.request(method, os.environ["LAVANT_ENDPOINT"] + path, headers=headers, timeout=conformance.DEADLINE_S,
                              verify=os.environ["REQUESTS_CA_BUNDLE"], **options)
    assert expect is None or answer.status_code == expect, (answer.status_code, answer.text)
    return answer


def ended(name):
    """Waits for the job's end and gives its status."""
    return raw("GET", f"/lavant/v1/jobs/{name}/wait?timeout_s=60").json()["status"]


def settled(ml, name):
    """Waits until the SDK sees the end too: a job stays Finalizing for it a moment longer, so that streams print it all."""
    ended(name)
    return conformance.wait_for(lambda: (s := text_of(ml.jobs.get(name).status)) in TERMINAL and s, f"the end of {name}")


def completed(ml, job):
    """Submits, waits, and gives the job as it is after its end."""
    created = ml.jobs.create_or_update(job)
    status = ended(created.name)
    assert status == "Completed", (status, log_of(created.name))
    return ml.jobs.get(created.name)


def log_of(name):
    return raw("GET", f"/lavant/v1/jobs/{name}/logs", expect=None).text


def text_of(value):
    """The SDK gives an enumeration in some releases and a string in others."""
    return getattr(value, "value", value)


def streamed(ml, name):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        ml.jobs.stream(name)
    return text.getvalue()


def tree(folder):
    folder = pathlib.Path(folder)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_tree(folder, files):
    for name, content in files.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return pathlib.Path(folder)


def fresh(text=""):
    """Content nobody has uploaded yet."""
    return text + "\n# " + uuid.uuid4().hex + "\n"


def workspace_id():
    return (f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/{os.environ['LAVANT_RG']}"
            f"/providers/Microsoft.MachineLearningServices/workspaces/{os.environ['LAVANT_WS']}")
