"""The real binary, on a port of its own, with a data folder that is thrown away.

LAVANT_BIN names the binary (build/release/lavant). LAVANT_SHARED names the folder with the SDK client scripts
(../shared); tests that need it are skipped where it is absent.
"""
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEADLINE_S = float(os.environ.get("LAVANT_TEST_DEADLINE", "120"))
TERMINAL = {"Completed", "Failed", "Canceled"}
NO_SETTINGS = "/dev/null/settings"  # nobody can make that folder
collect_ignore = ["sdk"]  # flows with the SDK: a process for each release (tools/flows.sh)


def binary():
    path = pathlib.Path(os.environ.get("LAVANT_BIN", ROOT / "build/release/lavant"))
    if not path.is_file():
        pytest.exit(f"{path} is not there; build it with: make lavant", returncode=3)
    return str(path.absolute())


def shared_folder():
    candidates = [os.environ.get("LAVANT_SHARED"), ROOT.parent / "shared", ROOT.parent.parent / "shared"]
    for candidate in candidates:
        if candidate and pathlib.Path(candidate, "clients").is_dir():
            return pathlib.Path(candidate)
    return None


def clean_environment(**changes):
    """The caller's, less what would point the command line somewhere else."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("LAVANT_", "MLFLOW_", "ARM_", "IDENTITY_")) and key not in ("COLUMNS",)}
    kept["XDG_CONFIG_HOME"] = NO_SETTINGS  # not those of whoever runs the tests
    kept.update({key: str(value) for key, value in changes.items()})
    return kept


def run(*arguments, env=None, cwd=None, timeout=DEADLINE_S, stdin=None, level=None):
    """As the user who runs the tests, or as a level of levels.py."""
    program = level.command() if level else [binary()]
    env = env or (level.environment() if level else clean_environment())
    return subprocess.run([*program, *map(str, arguments)], env=env, cwd=cwd, input=stdin, capture_output=True,
                          text=True, timeout=timeout, errors="replace")


def wait_for(condition, what, deadline_s=DEADLINE_S):
    """Asks again, soon, until the condition holds."""
    end = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"{what} did not happen within {deadline_s} s"
        select.select([], [], [], 0.02)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


class Server:
    """`lavant serve` in the foreground, ready when the constructor returns."""

    def __init__(self, data, *arguments, level=None):
        self.data = pathlib.Path(data)
        self.level = level
        if level is None:  # else the user of the level makes it, or has it already
            self.data.mkdir(parents=True, exist_ok=True)
        program = level.command() if level else [binary()]
        self.log_path = self.data.parent / (self.data.name + ".serve.log")
        ours, theirs = os.pipe()
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*program, "serve", "--port", "0", "--data", str(self.data), "--ready-fd", str(theirs), *arguments],
                env=level.environment() if level else clean_environment(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, pass_fds=(theirs,),
                start_new_session=True)
        os.close(theirs)
        self.ready_line = read_line(ours)
        os.close(ours)
        if self.ready_line != "ready":
            self.process.wait(timeout=DEADLINE_S)
            return
        seen = level.seen(self.data) if level else self.data
        self.endpoint = json.loads((seen / "endpoint").read_text())
        self.url = self.endpoint["url"].rstrip("/")
        self.ca = self.endpoint.get("ca") or str(self.data / "tls/ca.pem")
        self.key = (seen / "owner.key").read_text().strip()

    def environment(self, **changes):
        ours = {"LAVANT_ENDPOINT": self.url, "LAVANT_CA": self.ca, "LAVANT_TOKEN": self.key, **changes}
        return self.level.environment(**ours) if self.level else clean_environment(**ours)

    def cli(self, *arguments, **options):
        options.setdefault("env", self.environment())
        return run(*arguments, level=self.level, **options)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(timeout=DEADLINE_S)
        return self.process.returncode

    def status_of(self, name):
        shown = self.cli("job", "show", name, "-o", "json")
        assert shown.returncode == 0, shown.stderr
        return json.loads(shown.stdout)["status"]

    def wait_status(self, name, wanted=TERMINAL):
        return wait_for(lambda: (s := self.status_of(name)) in wanted and s, f"job {name} in {wanted}")


def read_line(fd, deadline_s=DEADLINE_S):
    text = b""
    end = time.monotonic() + deadline_s
    while not text.endswith(b"\n"):
        ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
        assert ready, "the server did not say within the deadline whether it is ready"
        more = os.read(fd, 4096)
        if not more:
            break
        text += more
    return text.decode(errors="replace").strip()


def stop_leftovers(data):
    """Ends the agents of a data folder whose server is gone, so that no test leaves a process behind."""
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.startswith(os.fsencode(str(data))) for word in words) and int(entry.name) != os.getpid():
            try:
                os.kill(int(entry.name), signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass


@pytest.fixture
def level(request):
    """With indirect parameters: the names of levels.py."""
    from levels import Level
    one = Level(request.param)
    yield one
    one.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    one = Server(tmp_path_factory.mktemp("server") / "data")
    assert one.ready_line == "ready", one.log()
    yield one
    one.stop()
    stop_leftovers(one.data)


@pytest.fixture
def data(tmp_path):
    """A data folder; whatever server runs for it is gone when the test ends."""
    folder = tmp_path / "state"
    yield folder
    run("down", "--data", folder)
    stop_leftovers(folder)


@pytest.fixture
def start_server(tmp_path):
    started = []

    def start(folder=None, *arguments):
        one = Server(folder or tmp_path / f"data{len(started)}", *arguments)
        started.append(one)
        return one

    yield start
    for one in started:
        one.stop(signal.SIGKILL)
        stop_leftovers(one.data)


@pytest.fixture
def write_job(tmp_path):
    return job_writer(tmp_path)


def job_writer(into):
    """Writes job files; JSON is YAML. Files of the code folder are given by name."""
    count = 0

    def write(command=None, code=None, **fields):
        nonlocal count
        count += 1
        folder = into / f"job{count}"
        folder.mkdir()
        job = {"environment": "azureml:base:1", **fields}
        if command is not None:
            job["command"] = command
        if code is not None:
            job.setdefault("code", "src")
            for name, text in code.items():
                path = folder / "src" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path = folder / "job.yml"
        path.write_text(json.dumps(job))
        return path

    return write


def submitted_name(result):
    assert result.returncode == 0, result.stderr
    return result.stdout.split()[0]


def streamed_name(result):
    match = re.search(r"^job (\S+)$", result.stderr, re.MULTILINE)
    assert match, result.stderr
    return match.group(1)
