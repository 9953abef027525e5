"""Following a job: on a terminal, into a pipe, with Ctrl-C, and when it fails."""
import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time

import pytest
from conftest import DEADLINE_S, binary, streamed_name

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
QUIET = ["--code", "none", "--env", "azureml:base:1"]


class Terminal:
    """The program on a terminal of its own; what it prints is kept."""

    def __init__(self, *arguments, env, cwd, columns=80):
        self.fd, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen([binary(), *arguments], env=env, cwd=cwd, stdin=theirs, stdout=theirs, stderr=theirs,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        self.text = ""

    def read(self, deadline):
        """False when nobody has the terminal open any more."""
        ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
        assert ready, f"nothing more was said: {self.text!r}"
        try:
            more = os.read(self.fd, 65536)
        except OSError:  # EIO
            return False
        self.text += more.decode(errors="replace")
        return bool(more)

    def wait_for(self, pattern, deadline_s=DEADLINE_S):
        deadline = time.monotonic() + deadline_s
        while not (found := re.search(pattern, self.text)):
            assert self.read(deadline), f"{pattern} was not said: {self.text!r}"
        return found

    def press(self, key):
        os.write(self.fd, key)

    def end(self):
        deadline = time.monotonic() + DEADLINE_S
        while self.read(deadline):
            pass
        return self.process.wait(timeout=DEADLINE_S)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.fd)


@pytest.fixture
def terminal(server, tmp_path):
    opened = []

    def start(*arguments, **changes):
        env = server.environment(**{"TERM": "xterm", "HOME": tmp_path / "home", **changes})
        for name in ("NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR"):
            if name not in changes:
                env.pop(name, None)
        opened.append(Terminal(*arguments, env=env, cwd=tmp_path))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def joined(text):
    """Sentences without the ends of lines that a narrow screen asks for."""
    return " ".join(text.split())


def submit(server, tmp_path, *words, **options):
    return server.cli("submit", "--stream", *QUIET, "--", *words, cwd=tmp_path, **options)


def test_ctrl_c_leaves_the_job_and_says_how_to_come_back(server, terminal):
    seen = terminal("submit", "--stream", *QUIET, "--", "echo begun; sleep 3600")
    name = seen.wait_for(r"job (\S+)\r").group(1)
    seen.wait_for("begun")
    seen.press(b"\x03")
    assert seen.end() == 130
    assert f"lavant job stream {name}" in seen.text and f"lavant job cancel {name}" in seen.text
    assert server.status_of(name) == "Running"
    again = terminal("job", "stream", name)
    again.wait_for("begun")
    again.press(b"\x03")
    assert again.end() == 130
    assert server.cli("job", "cancel", name).returncode == 0
    assert server.wait_status(name) == "Canceled"


def test_a_silent_job_is_spoken_of_on_standard_error(server, tmp_path):
    following = subprocess.Popen([binary(), "submit", "--stream", *QUIET, "--", "sleep 3600"], env=server.environment(), cwd=tmp_path,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        name = following.stderr.readline().split()[1]
        ready, _, _ = select.select([following.stderr], [], [], DEADLINE_S)  # within 5 s, on a machine with nothing else to do
        assert ready
        assert re.match(r"lavant: (Queued|Preparing|Running): ", following.stderr.readline())
        assert server.cli("job", "cancel", name).returncode == 0
        out, err = following.communicate(timeout=DEADLINE_S)
        assert following.returncode == 3, err
        assert "Running" not in out
    finally:
        following.kill()
        following.communicate()


def test_a_silent_job_has_one_line_on_a_terminal_that_goes_away(server, terminal):
    seen = terminal("submit", "--stream", *QUIET, "--", "sleep 3; echo at last")
    seen.wait_for(r"(Queued|Preparing|Running): ")
    assert seen.end() == 0
    before, after = seen.text.split("at last", 1)
    assert before.endswith("\r\x1b[K"), repr(before)
    assert "Running: " not in after


def test_a_failing_job_into_a_pipe(server, tmp_path):
    result = submit(server, tmp_path, "for i in $(seq 30); do echo line $i; done; exit 3")
    assert result.returncode == 1
    name = streamed_name(result)
    assert [line for line in result.stdout.splitlines() if line.startswith("line ")] == [f"line {i}" for i in range(1, 31)]
    assert re.findall(r"^ +(line \d+)$", result.stderr, re.MULTILINE) == [f"line {i}" for i in range(11, 31)]
    assert "exit code 3" in result.stderr
    assert "user_logs/std_log.txt" in result.stderr and f"lavant job download {name}" in result.stderr


def test_a_failing_job_on_a_terminal_does_not_say_its_log_twice(terminal):
    seen = terminal("submit", "--stream", *QUIET, "--", "echo only once; exit 3")
    assert seen.end() == 1
    assert seen.text.count("only once") == 1
    assert "exit code 3" in seen.text and "user_logs/std_log.txt" in seen.text


def test_a_program_that_is_not_there_is_named(server, tmp_path):
    result = submit(server, tmp_path, "no-such-program", "--fast")
    assert result.returncode == 1
    assert re.search("'no-such-program' in environment (azureml:)?base:1: .*(spelling|install)", joined(result.stderr)), result.stderr


def test_a_file_that_is_not_executable_is_named(server, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/train.sh").write_text("echo hello\n")
    result = server.cli("submit", "--stream", "--code", "src", "--env", "azureml:base:1", "--", "./train.sh", cwd=tmp_path)
    assert result.returncode == 1
    assert "chmod +x ./train.sh" in joined(result.stderr), result.stderr


@pytest.mark.parametrize("module, package", [("sklearn.svm_not_there", "scikit-learn"), ("no_such_module", "no_such_module")])
def test_a_module_that_is_missing_gets_the_line_to_add(module, package, server, tmp_path):
    raising = f"raise ModuleNotFoundError(\"No module named '{module}'\")"
    result = submit(server, tmp_path, "python3", "-c", raising)
    assert result.returncode == 1
    assert f"environment azureml:base:1 has no module '{module}'" in joined(result.stderr), result.stderr
    assert re.search(rf"^ *- {package}$", result.stderr, re.MULTILINE), result.stderr  # on a line of its own, to be copied


def test_a_module_that_is_missing_in_this_machines_python(server, tmp_path):
    env = server.environment(PATH=f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}")
    result = server.cli("submit", "--stream", "--code", "none", "--env", "host", "--", "python3", "-c", "import no_such_module",
                        cwd=tmp_path, env=env)
    assert result.returncode == 1
    assert re.search(r"pip install no_such_module$", result.stderr, re.MULTILINE), result.stderr  # in one piece, to be copied


def test_only_the_last_missing_module_and_only_when_it_failed(server, tmp_path):
    result = submit(server, tmp_path, "echo \"ModuleNotFoundError: No module named 'optional'\"")
    assert result.returncode == 0
    assert "optional" not in result.stderr


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_no_colour_where_none_is_wanted(changes, terminal):
    seen = terminal("submit", "--stream", *QUIET, "--", "sleep 2; exit 3", **changes)
    assert seen.end() == 1
    assert "Failed" in seen.text and not COLOUR.search(seen.text), repr(seen.text)


def test_colour_on_a_terminal(terminal):
    seen = terminal("submit", "--stream", *QUIET, "--", "exit 3")
    assert seen.end() == 1
    assert COLOUR.search(seen.text), repr(seen.text)


def test_no_escape_codes_into_a_pipe(server, tmp_path):
    result = submit(server, tmp_path, "sleep 2; exit 3", env=server.environment(TERM="xterm-256color"))
    assert result.returncode == 1
    assert "\x1b" not in result.stdout + result.stderr and "\r" not in result.stdout + result.stderr
    for words in [["job", "list"], ["job", "show", streamed_name(result)], ["--help"], ["status"], ["doctor"]]:
        listed = server.cli(*words)
        assert "\x1b" not in listed.stdout + listed.stderr, words


def test_what_a_job_prints_cannot_dress_up_as_ours(server, tmp_path):
    """The log itself is the user's; the lines repeated on standard error are made harmless."""
    result = submit(server, tmp_path, r"printf '\033]0;title\007red \033[31mtext\n'; exit 3")
    assert result.returncode == 1
    assert "\x1b" not in result.stderr and "\x07" not in result.stderr, repr(result.stderr)


def test_a_reader_that_leaves_is_no_error(server, tmp_path):
    script = f"'{binary()}' submit --stream --code none --env azureml:base:1 -- 'seq 100000' | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], env=server.environment(), cwd=tmp_path, capture_output=True,
                          text=True, timeout=DEADLINE_S)
    assert len(done.stdout.splitlines()) == 1
    assert done.returncode in (0, 141), done.stderr


def test_a_finished_job_can_be_followed_again(server, tmp_path):
    result = submit(server, tmp_path, "echo kept")
    name = streamed_name(result)
    again = server.cli("job", "stream", name)
    assert again.returncode == 0 and again.stdout == result.stdout
