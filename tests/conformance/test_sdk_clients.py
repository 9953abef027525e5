"""azure-ai-ml, unmodified, against the server: the client scripts of the shared folder that belong here."""
import os
import subprocess
import sys

import pytest
from conftest import clean_environment, shared_folder
from test_env import evaluate

CLIENTS = ["a_compute", "b_command_job", "g_failures", "h_blob_edge"]


@pytest.mark.parametrize("client", CLIENTS)
def test_client(client, server, tmp_path):
    shared = shared_folder()
    if shared is None:
        pytest.skip("the folder with the client scripts is absent (LAVANT_SHARED)")
    pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")
    env = evaluate(server.data, clean_environment())
    env.update(LAVANT_CA=env["REQUESTS_CA_BUNDLE"], LAVANT_TIMEOUT="120", PYTHONDONTWRITEBYTECODE="1", PYTHONWARNINGS="ignore",
               HOME=str(tmp_path))
    env.pop("LAVANT_STUB", None)
    result = subprocess.run([sys.executable, os.fspath(shared / "clients" / f"{client}.py")], env=env, cwd=tmp_path,
                            capture_output=True, text=True, timeout=400)
    assert result.returncode == 0, (result.stdout + result.stderr)[-4000:]
    assert "OK" in result.stdout
