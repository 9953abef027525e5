"""Completion as the shells ask for it, and the manual as `man` reads it."""
import os
import shutil
import subprocess

import pytest
from conftest import DEADLINE_S, binary, clean_environment, run, submitted_name

SHELLS = ["bash", "zsh", "fish"]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """A folder for PATH with `lavant` in it."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "lavant").symlink_to(binary())
    return folder


def shell(name, script, programs, env, *arguments):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    env = {**env, "PATH": f"{programs}:{os.environ['PATH']}"}
    options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run([name, *options, "-c", script, *arguments], env=env, capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0, done.stderr
    return done


# Sourced as in somebody's .bashrc; the last word is the one at the cursor.
ASK_BASH = """
source <(lavant completion bash)
COMP_WORDS=("$0" "$@")
COMP_CWORD=$#
complete -p lavant > /dev/null && _lavant
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def ask(programs, server, tmp_path):
    def ask_bash(*words, env=None):
        done = shell("bash", ASK_BASH, programs, env or server.environment(HOME=tmp_path), "lavant", *words)
        assert done.stderr == ""
        return [line for line in done.stdout.splitlines() if line]
    return ask_bash


def test_commands(ask):
    assert {"job", "submit", "up", "down", "az"} <= set(ask(""))
    assert ask("jo") == ["job"]
    assert ask("job", "cr") == ["create"]
    assert {"create", "show", "list", "stream"} <= set(ask("job", ""))
    assert ask("zzz") == []


def test_options(ask):
    assert ask("job", "create", "--str") == ["--stream"]
    assert {"--stream", "--set", "--save-as"} <= set(ask("job", "create", "--s"))
    assert set(ask("job", "list", "--")) >= {"--status", "--tag", "--output", "--help"}
    assert "--stream" not in ask("job", "show", "--")


def test_values(ask):
    assert {"json", "yaml", "table", "tsv"} <= set(ask("job", "list", "-o", ""))
    assert ask("job", "list", "--output", "ya") == ["yaml"]
    assert {"bash", "zsh", "fish"} <= set(ask("completion", ""))


def test_statuses(ask):
    assert "Failed" in ask("job", "list", "--status", "F")


def test_a_value_after_an_equals_sign(ask):
    """bash takes the word apart there."""
    assert ask("job", "list", "--output", "=", "ya") == ["yaml"]


def test_names_of_jobs(ask, server, tmp_path):
    name = submitted_name(server.cli("submit", "--code", "none", "--env", "azureml:base:1", "--name", "completed_me", "--", "true", cwd=tmp_path))
    for words in [["job", "show"], ["job", "stream"], ["job", "cancel"], ["job", "rerun"], ["job", "show", "-n"], ["job", "show", "--name"],
                  ["job", "download"], ["job", "explain"]]:
        assert name in ask(*words, "complet"), words
        assert name in ask(*words, ""), words
    assert "@last" in ask("job", "show", "@")
    assert name not in ask("job", "create", "-f", "complet"), "files are meant there"
    assert name not in ask("job", "show", "zzz")


def test_the_words_of_az(ask, server, tmp_path):
    name = submitted_name(server.cli("submit", "--code", "none", "--env", "azureml:base:1", "--name", "az_named", "--", "true", cwd=tmp_path))
    assert ask("az", "ml", "job", "cre") == ["create"]
    assert "--stream" in ask("az", "ml", "job", "create", "--str")
    assert ask("az", "ml", "job", "show", "-n", "az_na") == [name]


def test_no_server_is_started_for_it(ask, tmp_path):
    env = clean_environment(HOME=tmp_path, LAVANT_DATA=tmp_path / "state")
    assert [word for word in ask("job", "show", "", env=env) if not word.startswith(("-", "@"))] == []
    assert not (tmp_path / "state").exists()


def test_a_server_that_is_gone_is_no_reason_to_talk(ask, tmp_path):
    env = clean_environment(HOME=tmp_path, LAVANT_ENDPOINT="https://127.0.0.1:1", LAVANT_TOKEN="lvk_none")
    assert [word for word in ask("job", "show", "", env=env) if not word.startswith(("-", "@"))] == []


@pytest.mark.parametrize("words", [["--nonsense", ""], ["job", "nonsense", ""], ["job", "show", "$(touch x)"], ["job", "list", "--query", "[?"],
                                   ["'"], ["job", "show", "\\"], ["x" * 10_000], ["submit", "--", "python", ""]], ids=lambda words: " ".join(words)[:30])
def test_odd_words_do_no_harm(words, ask, tmp_path):
    ask(*words)
    assert not os.path.exists("x") and not (tmp_path / "x").exists()


@pytest.mark.parametrize("name", SHELLS)
def test_the_script_is_well_formed(name, programs, tmp_path):
    script = run("completion", name)
    assert script.returncode == 0 and script.stdout and not script.stderr
    path = tmp_path / "script"
    path.write_text(script.stdout)
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    checked = subprocess.run([name, "-n", path], capture_output=True, text=True, timeout=DEADLINE_S)
    assert checked.returncode == 0 and not checked.stderr, checked.stderr


def test_fish_completes(programs, server, tmp_path):
    env = server.environment(HOME=tmp_path)
    script = 'lavant completion fish | source; complete -C "lavant jo"; complete -C "lavant job crea"; complete -C "lavant job create --str"'
    done = shell("fish", script, programs, env)
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["job", "create", "--stream"], done.stdout


def test_another_shell_is_refused():
    result = run("completion", "tcsh")
    assert result.returncode == 2 and "bash" in result.stderr and "fish" in result.stderr, result.stderr


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    page = run("man")
    assert page.returncode == 0 and page.stdout.startswith(".TH LAVANT 1") and not page.stderr
    path = tmp_path_factory.mktemp("man") / "lavant.1"
    path.write_text(page.stdout)
    return path


def test_the_manual_has_no_warnings(manual):
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", manual], capture_output=True, text=True, timeout=DEADLINE_S)
    assert done.returncode == 0 and done.stderr == "", done.stderr


def test_the_manual_can_be_read(manual):
    if not shutil.which("man"):
        pytest.skip("man is not installed")
    done = subprocess.run(["man", "-l", "-"], input=manual.read_text(), env=clean_environment(MANWIDTH=80, LC_ALL="C.UTF-8", MANPAGER="cat"),
                          capture_output=True, text=True, timeout=DEADLINE_S)
    if "minimized" in done.stdout or done.returncode != 0 and "not found" in done.stderr:
        pytest.skip("this machine has no manual reader")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    for word in ["LAVANT(1)", "lavant submit", "lavant job create", "--stream", "lavant job create -f job.yml --stream"]:
        assert word in done.stdout, word


def test_the_manual_knows_every_command(manual):
    text = manual.read_text().replace("\\-", "-")
    listed = run("job", "--help").stdout.split("Example:")[0]
    for line in listed.splitlines():
        if line.startswith("  ") and not line.startswith("  -"):
            assert f".SS lavant job {line.split()[0]}" in text, line
