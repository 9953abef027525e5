"""After `eval "$(lavant env)"` in a shell whose owner trusts an authority of their own, pip still reads that
authority's package index, and the SDK reads our server: both in the same shell."""
import base64
import functools
import hashlib
import http.server
import json
import shlex
import ssl
import subprocess
import sys
import threading
import zipfile

import pytest
from conftest import DEADLINE_S, binary, clean_environment
from test_bad_servers import make_certificate

pytest.importorskip("azure.ai.ml", reason="azure-ai-ml is not installed")

PACKAGE = "lavant_tiny"
WHEEL = f"{PACKAGE}-1.0-py3-none-any.whl"
SDK_CALL = """\
import json, logging, os
logging.disable(logging.CRITICAL)
from azure.ai.ml import MLClient
from azure.identity import DefaultAzureCredential
ml = MLClient(DefaultAzureCredential(), os.environ["LAVANT_SUB"], os.environ["LAVANT_RG"], os.environ["LAVANT_WS"])
print(json.dumps(ml.workspaces.get(os.environ["LAVANT_WS"]).name))
"""


def make_wheel(folder):
    """The smallest wheel that pip takes: a module, and what says so."""
    info = f"{PACKAGE}-1.0.dist-info"
    files = {f"{PACKAGE}.py": "answer = 42\n",
             f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: 1.0\n",
             f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = ""
    for name, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(text)}\n"
    with zipfile.ZipFile(folder / WHEEL, "w") as wheel:
        for name, text in {**files, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            wheel.writestr(name, text)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class PackageIndex:
    """A package index over TLS with an authority of its own; `bundle` is what its users trust."""

    def __init__(self, folder):
        place = folder / "index" / "simple" / PACKAGE.replace("_", "-")
        place.mkdir(parents=True)
        make_wheel(place)
        (place / "index.html").write_text(f'<!DOCTYPE html><a href="{WHEEL}">{WHEEL}</a>')
        self.bundle = make_certificate(folder, "index-authority")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.bundle, self.bundle.with_suffix(".key"))
        handler = functools.partial(QuietHandler, directory=str(folder / "index"))
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server.server_port}/simple"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    one = PackageIndex(tmp_path_factory.mktemp("packages"))
    yield one
    one.close()


def users_shell(folder, **trust):
    """The environment of a user: their own trust, and no settings of pip but the test's."""
    env = {key: value for key, value in clean_environment().items()
           if not key.startswith("PIP_") and key not in ("REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE")}
    env.update(HOME=str(folder), PIP_CONFIG_FILE="/dev/null", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_CACHE_DIR="1",
               PIP_RETRIES="0", PYTHONWARNINGS="ignore", PYTHONDONTWRITEBYTECODE="1")
    env.update({name: str(path) for name, path in trust.items()})
    return env


def run_lines(lines, env, folder):
    return subprocess.run(["bash", "-ec", "\n".join(lines)], env=env, cwd=folder, capture_output=True, text=True,
                          timeout=DEADLINE_S)


def pip_line(index):
    return shlex.join([sys.executable, "-m", "pip", "download", "--no-deps", "--index-url", index.url, "--dest", "got", PACKAGE])


@pytest.mark.parametrize("variable", ["REQUESTS_CA_BUNDLE", "SSL_CERT_FILE", "CURL_CA_BUNDLE", "PIP_CERT"])
def test_pip_and_the_sdk_both_work_after_the_eval(server, index, variable, tmp_path):
    env = users_shell(tmp_path, **{variable: index.bundle})
    done = run_lines([f"eval \"$('{binary()}' env --data '{server.data}')\"",
                      pip_line(index) + " >&2",
                      shlex.join([sys.executable, "-c", SDK_CALL]),
                      "eval \"$('" + binary() + "' env --unset)\""], env, tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert (tmp_path / "got" / WHEEL).is_file(), done.stderr
    assert json.loads(done.stdout.strip().splitlines()[-1])


def test_an_index_that_the_user_does_not_trust_stays_untrusted(server, index, tmp_path):
    done = run_lines([f"eval \"$('{binary()}' env --data '{server.data}')\"", pip_line(index)], users_shell(tmp_path), tmp_path)
    assert done.returncode != 0 and "CERTIFICATE_VERIFY_FAILED" in done.stderr + done.stdout, done.stderr
    assert not (tmp_path / "got" / WHEEL).exists()
