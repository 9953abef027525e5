"""Flows of azure-ai-ml, unmodified, against the real binary: one server and one Python process for every flow.

The process is that of the release under test (build/venv or build/venv-1.27). Its environment is what
`eval "$(lavant env)"` gives a user, and nothing else is told to the SDK.
"""
import importlib.util
import os
import pathlib
import signal
import sys
import uuid

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def _conformance():
    """The conftest of the folder above, under a name of its own."""
    spec = importlib.util.spec_from_file_location("conformance", HERE.parent / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["conformance"] = module
    spec.loader.exec_module(module)
    return module


conformance = _conformance()
FLOW_DEADLINE_S = int(os.environ.get("LAVANT_FLOW_DEADLINE", "120"))


def pytest_configure(config):
    import sdk_version
    print(f"azure-ai-ml {sdk_version.TEXT}")


@pytest.fixture(scope="session", autouse=True)
def server(tmp_path_factory):
    """The server, and this process pointed at it as `lavant env` says."""
    import subprocess
    one = conformance.Server(tmp_path_factory.mktemp("server") / "data")
    assert one.ready_line == "ready", one.log()
    before = dict(os.environ)
    shell = subprocess.run(["bash", "-c", f"eval \"$('{conformance.binary()}' env --data '{one.data}')\"; env -0"],
                           env=conformance.clean_environment(), capture_output=True, check=True)
    os.environ.clear()
    os.environ.update(entry.split("=", 1) for entry in shell.stdout.decode().split("\0") if "=" in entry)
    os.environ.update({name: before[name] for name in ("LAVANT_BIN", "LAVANT_SHARED") if name in before})  # which the tests read
    os.environ.update(HOME=str(tmp_path_factory.mktemp("home")), AZUREML_RUN_POLLING_INTERVAL_MIN="1",
                      AZUREML_RUN_POLLING_INTERVAL_MAX="1")
    yield one
    os.environ.clear()
    os.environ.update(before)
    one.stop()
    conformance.stop_leftovers(one.data)


@pytest.fixture(autouse=True)
def deadline():
    """A flow that hangs (azure-core tries some answers again for minutes) fails by itself."""
    def late(number, frame):
        raise TimeoutError(f"the flow took more than {FLOW_DEADLINE_S} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(FLOW_DEADLINE_S)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def a_folder_of_its_own(tmp_path, monkeypatch):
    """The SDK names the experiment after the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)


@pytest.fixture(scope="session")
def make_client(server):
    from azure.ai.ml import MLClient
    from azure.identity import DefaultAzureCredential
    credential = DefaultAzureCredential()

    def make(workspace=None, group=None, subscription=None, credential=credential, **options):
        options = {"enable_telemetry": False, "show_progress": False, **options}
        return MLClient(credential, subscription or os.environ["LAVANT_SUB"], group or os.environ["LAVANT_RG"],
                        workspace or os.environ["LAVANT_WS"], **options)

    return make


@pytest.fixture(scope="session")
def ml(make_client):
    return make_client()


@pytest.fixture
def uniq():
    return lambda prefix: f"{prefix}{uuid.uuid4().hex[:8]}"
