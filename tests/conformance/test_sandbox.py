"""`lavant sandbox`: a server for one command, and nothing left of it, however it ends."""
import os
import signal
import subprocess

import pytest
from conftest import DEADLINE_S, binary, clean_environment, run, wait_for


def environment(tmp_path):
    return clean_environment(HOME=tmp_path, TMPDIR=tmp_path)


def test_the_exit_code_is_passed_on_and_all_is_removed(tmp_path):
    result = run("sandbox", "--", "sh", "-c", "lavant submit --code none --stream -- echo in a job; exit 7", env=environment(tmp_path))
    assert result.returncode == 7, result.stderr
    assert "in a job\n" in result.stdout
    assert list(tmp_path.iterdir()) == []


def test_lavant_is_this_very_program_there(tmp_path):
    empty = {**environment(tmp_path), "PATH": ""}
    result = run("sandbox", "--", "lavant", "version", env=empty)
    assert result.returncode == 0, result.stderr
    assert result.stdout == run("version").stdout


def test_a_command_that_is_not_there_is_127(tmp_path):
    result = run("sandbox", "--", "no-such-command", env=environment(tmp_path))
    assert result.returncode == 127 and "no-such-command" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_it_early_leaves_nothing_behind(tmp_path, number):
    mark = tmp_path / "child"
    sandbox = subprocess.Popen([binary(), "sandbox", "--", "sh", "-c", f"echo $$ > {mark}; exec sleep 3600"],
                               env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: mark.exists() and mark.read_text().strip(), "the command to run")
    child = int(mark.read_text())
    sandbox.send_signal(number)
    assert sandbox.wait(timeout=DEADLINE_S) == 128 + number, sandbox.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert list(tmp_path.iterdir()) == [mark]
