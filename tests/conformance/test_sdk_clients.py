"""azure-ai-ml, unmodified, against the server: the client scripts of the shared folder that belong here, with both releases.

Each script is a process of its own, and most of its time is spent importing the SDK: a few run side by side.
c comes with sweeps and pipelines, f with tracking.
"""
import concurrent.futures
import os
import subprocess
import sys

import pytest
from conftest import clean_environment, shared_folder
from test_env import evaluate

CLIENTS = ["a_compute", "b_command_job", "d_assets", "e_workspace", "g_failures", "h_blob_edge"]
# The environment that runs these tests, and the one beside it (tools/python_env.sh).
RELEASES = {"1.35": sys.executable, "1.27": os.path.join(os.path.dirname(sys.prefix), "venv-1.27", "bin", "python")}
SIDE_BY_SIDE = 4
DEADLINE_S = 400


@pytest.fixture(scope="module")
def results(server, tmp_path_factory):
    shared = shared_folder()
    if shared is None:
        pytest.skip("the folder with the client scripts is absent (LAVANT_SHARED)")
    env = evaluate(server.data, clean_environment())
    env.update(LAVANT_CA=env["REQUESTS_CA_BUNDLE"], LAVANT_TIMEOUT="120", PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore")
    env.pop("LAVANT_STUB", None)

    def run(client, release):
        home = tmp_path_factory.mktemp(client)
        # The 70 MiB of d_assets once: the blob protocol is the same in both releases.
        own = dict(env, HOME=str(home), LAVANT_BIG="1" if release == "1.35" else "0")
        return subprocess.run([RELEASES[release], os.fspath(shared / "clients" / f"{client}.py")], env=own, cwd=home,
                              capture_output=True, text=True, timeout=DEADLINE_S)

    with concurrent.futures.ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        yield {(client, release): pool.submit(run, client, release) for release in RELEASES for client in CLIENTS
               if os.path.exists(RELEASES[release])}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("client", CLIENTS)
def test_client(client, release, results):
    if (client, release) not in results:
        pytest.skip(f"{RELEASES[release]} is not there; make it with: make venv")
    result = results[client, release].result()
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert "OK" in result.stdout
