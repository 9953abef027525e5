"""`lavant submit`, the names of jobs, and what can be done with a job that exists."""
import json
import os
import re
import shutil
import subprocess

import pytest
import yaml
from conftest import binary, clean_environment, run, streamed_name, submitted_name, wait_for

BASE = ["--env", "azureml:base:1"]
needs_git = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


@pytest.fixture
def place(tmp_path):
    """A folder with a script, which is nobody's home."""
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "train.py").write_text("import sys; print('trained', sys.argv[1:])\n")
    return folder


def submit(server, place, *words, **options):
    return server.cli("submit", *BASE, *words, cwd=place, **options)


def shown(server, name):
    result = server.cli("job", "show", name, "-o", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


# --- what travels


def test_the_folder_one_is_in_travels(server, place):
    result = submit(server, place, "--stream", "--", "python3", "train.py", "--lr", "0.1")
    assert result.returncode == 0, result.stderr
    assert "trained ['--lr', '0.1']" in result.stdout


def test_a_folder_that_is_named_travels(server, place, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    for given in [place, "../work"]:
        result = server.cli("submit", *BASE, "--code", given, "--stream", "--", "python3 train.py", cwd=tmp_path / "elsewhere")
        assert result.returncode == 0 and "trained" in result.stdout, result.stderr


def test_nothing_travels_if_none_is_wanted(server, place):
    result = submit(server, place, "--code", "none", "--stream", "--", "ls -A")
    assert result.returncode == 0, result.stderr
    assert "train.py" not in result.stdout
    assert not shown(server, streamed_name(result)).get("code")


def test_an_empty_folder_is_no_obstacle(server, tmp_path):
    (tmp_path / "empty").mkdir()
    result = submit(server, tmp_path / "empty", "--stream", "--", "echo hello")
    assert result.returncode == 0 and "hello" in result.stdout, result.stderr


def test_a_folder_that_is_not_there(place, tmp_path):
    result = run("submit", "--code", "not-there", "--", "true", cwd=place, env=clean_environment(LAVANT_DATA=tmp_path / "state"))
    assert result.returncode == 2 and "not-there" in result.stderr, result.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("given", [[], ["--code", "."], ["--code", "HOME"], ["--code", "link"]], ids=["left out", "dot", "named", "link"])
def test_the_home_folder_does_not_travel(given, place, tmp_path):
    (tmp_path / "link").symlink_to(place)
    words = [{"HOME": str(place), "link": str(tmp_path / "link")}.get(word, word) for word in given]
    result = run("submit", *words, "--", "true", cwd=place, env=clean_environment(HOME=place, LAVANT_DATA=tmp_path / "state"))
    assert result.returncode == 2 and "home folder" in result.stderr and "--code none" in result.stderr, result.stderr
    assert not (tmp_path / "state").exists()


def test_nor_does_the_whole_machine(tmp_path):
    result = run("submit", "--", "true", cwd="/", env=clean_environment(LAVANT_DATA=tmp_path / "state"))
    assert result.returncode == 2 and "--code" in result.stderr, result.stderr


def test_a_command_is_needed(place):
    for words in [[], ["--"], ["--", ""]]:
        result = run("submit", *words, cwd=place)
        assert result.returncode == 2 and "command" in result.stderr.lower(), (words, result.stderr)
        assert "line 2" not in result.stderr, result.stderr  # there is no file to look into


# --- words arrive as they were written

HOSTILE = ["a b", "$HOME", "it's", '"', "\\", "`id`", "$(id)", "*", "", "new\nline", "tab\t", "; exit 9", "&", "|", "~", "#no", "!!",
           "-n", "ümlaut", "{a,b}", "%s", "'\"'\"'", "a=b", "{}", "${HOME}", "trailing\\", "<x>"]
CONTROL = ["\x01", "\x1b[31m", "\x7f", "\r\n", "\x85", "\u2028", "\ufeff"]


@pytest.mark.parametrize("given", [HOSTILE, *([word] for word in CONTROL)], ids=lambda given: "hostile" if len(given) > 1 else repr(given[0]))
def test_hostile_words_arrive_intact(given, server, place):
    result = submit(server, place, "--stream", "--", "python3", "-c", "import json, sys; print(json.dumps(sys.argv[1:]))", *given)
    assert result.returncode == 0, result.stderr
    printed = [line for line in result.stdout.splitlines() if line.startswith("[")]
    assert json.loads(printed[-1]) == given


def test_one_word_is_a_line_for_the_shell(server, place):
    result = submit(server, place, "--stream", "--", "echo one | tr o 0 && echo $((1 + 1))")
    assert result.returncode == 0, result.stderr
    assert "0ne\n2\n" in result.stdout


def test_options_of_the_command_are_its_own(server, place):
    result = submit(server, place, "--stream", "--", "python3", "train.py", "--name", "x", "--", "--stream", "-o", "json")
    assert result.returncode == 0, result.stderr
    assert "trained ['--name', 'x', '--', '--stream', '-o', 'json']" in result.stdout


def test_variables_tags_and_names_are_taken(server, place):
    result = submit(server, place, "--stream", "--env-var", "GREETING=a = b 'c'", "--tag", "team=vision", "--tag", "empty=", "--display-name",
                    "My job", "--experiment-name", "tests", "--timeout", "100", "--", 'echo "got $GREETING"')
    assert result.returncode == 0, result.stderr
    assert "got a = b 'c'" in result.stdout
    job = shown(server, streamed_name(result))
    assert job["tags"] == {"team": "vision", "empty": ""}
    assert job["display_name"] == "My job" and job["experiment_name"] == "tests"
    assert job["limits"]["timeout"] == 100


@pytest.mark.parametrize("words", [["--env-var", "NOVALUE"], ["--tag", "=x"], ["--timeout", "soon"], ["--timeout", "-5"], ["--instances", "0"],
                                   ["--size", "Standard_Nothing"], ["--env", "no-such.yml"]], ids=" ".join)
def test_a_wrong_value_is_named_and_nothing_started(words, place, data):
    result = run("submit", *words, "--", "true", cwd=place, env=clean_environment(LAVANT_DATA=data))
    assert result.returncode == 2, (result.returncode, result.stderr)
    assert words[1].lstrip("=") in result.stderr, result.stderr
    assert not data.exists()


# --- the same job as a file


def comparable(job):
    """Less what differs between any two jobs."""
    kept = {key: value for key, value in job.items() if key not in ("name", "id", "creation_context", "services", "lavant", "status", "error")}
    if kept.get("display_name") == job["name"]:
        del kept["display_name"]
    return kept


@pytest.mark.parametrize("saved", ["job.yml", "../saved/job.yml"], ids=["beside", "elsewhere"])
def test_the_saved_file_is_the_same_job(saved, server, place, tmp_path):
    (tmp_path / "saved").mkdir()
    (place / ".amlignore").write_text("job.yml\n")
    words = ["--tag", "a=1", "--env-var", "B=two words", "--display-name", "it's", "--experiment-name", "tests", "--timeout", "60",
             "--size", "Standard_DS1_v2", "--save-as", saved]
    first = submitted_name(submit(server, place, *words, "--", "python3", "train.py", "a b", "$HOME", "it's"))
    assert yaml.safe_load((place / saved).read_text())["command"]
    second = server.cli("job", "create", "-f", saved, "--stream", cwd=place)
    assert second.returncode == 0, second.stderr
    assert "trained ['a b', '$HOME', \"it's\"]" in second.stdout
    assert comparable(shown(server, first)) == comparable(shown(server, streamed_name(second)))


def test_the_saved_file_of_a_job_file_is_the_same_job(server, write_job, tmp_path):
    given = write_job("cat hello.txt ${{inputs.n}} || true", code={"hello.txt": "hello\n"}, inputs={"n": 3}, tags={"x": "1"})
    first = server.cli("job", "create", "-f", given, "--save-as", tmp_path / "saved.yml", cwd=tmp_path)
    name = submitted_name(first)
    second = server.cli("job", "create", "-f", tmp_path / "saved.yml", cwd=tmp_path)
    assert comparable(shown(server, name)) == comparable(shown(server, submitted_name(second)))


def test_an_environment_file(server, place):
    (place / "env.yml").write_text("image: mcr.microsoft.com/azureml/openmpi4.1.0-ubuntu22.04\n")
    result = server.cli("submit", "--env", "env.yml", "--stream", "--", "echo hello", cwd=place)
    assert result.returncode == 0 and "hello" in result.stdout, result.stderr


def test_a_conda_file_gets_an_image(place, server):
    (place / "conda.yml").write_text("dependencies:\n  - python=3.11\n  - pip:\n      - requests\n")
    result = server.cli("submit", "--env", "conda.yml", "--save-as", "job.yml", "--", "true", cwd=place)
    environment = yaml.safe_load((place / "job.yml").read_text())["environment"]
    assert environment["conda_file"] == "conda.yml" and environment["image"].startswith("mcr.microsoft.com/")
    if result.returncode != 0:  # a server that builds no environments says so, with a way out
        assert result.returncode == 5 and "environment: host" in result.stderr, result.stderr


def test_a_file_that_is_no_environment(place, data):
    (place / "env.yml").write_text("name: x\n")
    result = run("submit", "--env", "env.yml", "--", "true", cwd=place, env=clean_environment(LAVANT_DATA=data))
    assert result.returncode == 2 and "env.yml" in result.stderr and "conda" in result.stderr, result.stderr
    assert not data.exists()


# --- git


def git(folder, *words):
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false", "-c", "init.defaultBranch=trunk"]
    env = clean_environment(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_SYSTEM="/dev/null")
    return subprocess.run(["git", *identity, *words], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(place):
    git(place, "init")
    git(place, "add", "-A")
    git(place, "commit", "-m", "first")
    git(place, "remote", "add", "origin", "https://somebody:s3cr3t-t0ken@git.example.com/team/repo.git")
    return place


def downloaded(server, name, tmp_path):
    server.wait_status(name)
    result = server.cli("job", "download", name, "-p", tmp_path / "got")
    assert result.returncode == 0, result.stderr
    return tmp_path / "got/artifacts"


@needs_git
def test_the_commit_is_recorded_without_the_secret(server, repository, tmp_path):
    name = submitted_name(submit(server, repository, "--", "true"))
    properties = shown(server, name)["properties"]
    assert properties["mlflow.source.git.commit"] == git(repository, "rev-parse", "HEAD")
    assert properties["mlflow.source.git.branch"] == git(repository, "symbolic-ref", "--short", "HEAD")
    assert properties["mlflow.source.git.repoURL"] == "https://git.example.com/team/repo.git"
    assert properties.get("azureml.git.dirty") in (None, "False")
    files = downloaded(server, name, tmp_path)
    assert not (files / "system_logs/git.diff").exists()
    assert "s3cr3t" not in json.dumps(shown(server, name))


@needs_git
def test_the_diff_of_a_dirty_tree_is_kept(server, repository, tmp_path):
    (repository / "train.py").write_text("print('changed')\n")
    name = submitted_name(submit(server, repository, "--", "true"))
    assert shown(server, name)["properties"]["azureml.git.dirty"] == "True"
    diff = (downloaded(server, name, tmp_path) / "system_logs/git.diff").read_text()
    assert "+print('changed')" in diff and "s3cr3t" not in diff


@needs_git
@pytest.mark.parametrize("how", ["flag", "setting"])
def test_the_diff_is_not_kept_if_not_wanted(how, server, repository, tmp_path):
    (repository / "train.py").write_text("print('changed')\n")
    env = server.environment(HOME=tmp_path / "home", **({"LAVANT_GIT_DIFF": "false"} if how == "setting" else {}))
    name = submitted_name(submit(server, repository, *(["--no-git-diff"] if how == "flag" else []), "--", "true", env=env))
    assert shown(server, name)["properties"]["azureml.git.dirty"] == "True"
    assert not (downloaded(server, name, tmp_path) / "system_logs/git.diff").exists()


@needs_git
def test_a_repository_cannot_run_programs(server, repository, tmp_path):
    """It may have come from anybody, with its configuration."""
    mark = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\ncat \"$@\" 2>/dev/null\n")
    program.chmod(0o755)
    for key in ["core.fsmonitor", "diff.external", "core.pager", "diff.mine.textconv", "diff.mine.command"]:
        git(repository, "config", key, str(program))
    (repository / ".gitattributes").write_text("*.py diff=mine\n")
    (repository / "train.py").write_text("print('changed')\n")
    mark.unlink(missing_ok=True)
    submitted_name(submit(server, repository, "--", "true"))
    assert not mark.exists()


# --- names


def test_last_is_the_newest_of_mine(server, place):
    submitted_name(submit(server, place, "--", "true"))
    newest = submitted_name(submit(server, place, "--", "true"))
    assert shown(server, "@last")["name"] == newest


def test_the_beginning_of_a_name_will_do(server, place):
    for name in ["prefix_one", "prefix_two", "prefix"]:
        submitted_name(submit(server, place, "--name", name, "--", "true"))
    assert shown(server, "prefix_o")["name"] == "prefix_one"
    assert shown(server, "prefix")["name"] == "prefix"  # the whole name counts for more
    result = server.cli("job", "show", "prefix_")
    assert result.returncode == 5 and result.stdout == ""
    assert "prefix_one" in result.stderr and "prefix_two" in result.stderr and "more of the name" in result.stderr, result.stderr
    result = server.cli("job", "show", "no_such_prefix")
    assert result.returncode == 5 and "no_such_prefix" in result.stderr and "lavant job list" in result.stderr, result.stderr


@pytest.mark.parametrize("name", ["%", "_", "a/../b", "", " ", "x" * 300, "a\nb"], ids=repr)
def test_odd_names_are_not_found(name, server):
    result = server.cli("job", "show", name)
    assert result.returncode in (2, 5) and result.stdout == "", (result.returncode, result.stdout, result.stderr)
    assert result.stderr.startswith("lavant: ") and len(result.stderr) < 600, result.stderr


def test_a_name_that_exists_is_refused_with_its_state(server, place):
    name = submitted_name(submit(server, place, "--name", "taken_ended", "--", "true"))
    server.wait_status(name)
    result = submit(server, place, "--name", name, "--", "true")
    assert result.returncode == 5
    assert "Completed" in result.stderr and f"lavant job delete {name}" in result.stderr, result.stderr

    name = submitted_name(submit(server, place, "--name", "taken_running", "--", "sleep 3600"))
    result = submit(server, place, "--name", name, "--", "true")
    assert result.returncode == 5
    assert re.search("Queued|Preparing|Running", result.stderr) and f"lavant job show {name}" in result.stderr, result.stderr
    assert server.cli("job", "cancel", name).returncode == 0


# --- jobs that exist


def test_rerun_is_the_same_job_once_more(server, write_job, tmp_path):
    given = write_job("cat data.txt && echo ${{inputs.lr}}", code={"data.txt": "from the code\n"}, inputs={"lr": 0.1}, tags={"team": "vision"},
                      environment_variables={"A": "b"})
    first = submitted_name(server.cli("job", "create", "-f", given, cwd=tmp_path))
    server.wait_status(first)
    again = server.cli("job", "rerun", first, "--stream", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "from the code\n0.1\n" in again.stdout
    name = streamed_name(again)
    assert name != first
    job = shown(server, name)
    assert job["properties"].pop("lavant.rerun_of") == first
    assert comparable(shown(server, first)) == comparable(job)
    changed = server.cli("job", "rerun", first, "--set", "inputs.lr=0.2", "--name", first + "_b", "--stream", cwd=tmp_path)
    assert changed.returncode == 0 and "from the code\n0.2\n" in changed.stdout, changed.stderr


def test_update_changes_what_may_change(server, place):
    name = submitted_name(submit(server, place, "--tag", "team=vision", "--", "true"))
    result = server.cli("job", "update", name, "--set", "display_name=a new name", "--set", "description=why", "--set", "tags.team=speech",
                        "--set", "tags.more=1", "--set", "properties.mine=yes")
    assert result.returncode == 0, result.stderr
    job = shown(server, name)
    assert (job["display_name"], job["description"], job["tags"]) == ("a new name", "why", {"team": "speech", "more": "1"})
    assert job["properties"]["mine"] == "yes"
    result = server.cli("job", "update", name, "--set", "command=rm")
    assert result.returncode == 2 and "command" in result.stderr and "rerun" in result.stderr, result.stderr
    assert shown(server, name)["command"] == "true"


def test_delete_asks_and_takes_everything(server, place):
    name = submitted_name(submit(server, place, "--", "true"))
    server.wait_status(name)
    result = server.cli("job", "delete", name, stdin="")
    assert result.returncode == 2 and "--yes" in result.stderr, result.stderr
    assert shown(server, name)["name"] == name
    assert server.cli("job", "delete", name, "--yes").returncode == 0
    assert server.cli("job", "show", name).returncode == 5
    assert name not in server.cli("job", "list", "-o", "json").stdout
    assert submitted_name(submit(server, place, "--name", name, "--", "true")) == name  # the name is free again


def test_a_job_that_runs_is_not_deleted(server, place):
    name = submitted_name(submit(server, place, "--", "sleep 3600"))
    result = server.cli("job", "delete", name, "--yes")
    assert result.returncode == 5 and f"lavant job cancel {name}" in result.stderr, result.stderr
    assert server.cli("job", "cancel", name).returncode == 0


def test_a_queued_job_is_explained(start_server, place):
    server = start_server()
    cores = os.cpu_count()
    names = [submitted_name(submit(server, place, "--", "sleep 3600")) for _ in range(cores + 1)]  # four CPUs each, twice the machine's
    waiting = names[-1]
    result = server.cli("job", "explain", waiting)
    assert result.returncode == 0, result.stderr
    assert "Queued" in result.stdout and "It needs 1 node" in " ".join(result.stdout.split()), result.stdout
    assert all(len(line) <= 80 for line in result.stdout.splitlines()), result.stdout

    def explained():
        answer = json.loads(server.cli("job", "explain", waiting, "-o", "json").stdout)
        assert answer["name"] == waiting and answer["status"] == "Queued"
        return answer["explanation"]

    wait_for(lambda: any(name in explained() for name in names[:-1]), "an explanation that names who is in the way")
    assert names[0] in explained()  # whose end makes room
    for name in reversed(names):
        assert server.cli("job", "cancel", name).returncode == 0
    result = server.cli("job", "explain", waiting)
    assert result.returncode == 0 and "Canceled" in result.stdout, result.stdout


# --- what others may have prepared


@needs_git
def test_programs_that_a_repository_names_are_not_run(server, place, tmp_path):
    def git(*words):
        subprocess.run(["git", "-c", "user.email=a@b", "-c", "user.name=n", *words], cwd=place, check=True, capture_output=True)

    git("init", "-q")
    (place / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    git("add", ".")
    git("commit", "-qm", "first")
    for key in ("filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "core.fsmonitor", "diff.external"):
        git("config", key, f"sh -c 'touch {tmp_path}/ran; cat'")
    with open(place / "train.py", "a") as script:
        script.write("# changed\n")
    result = submit(server, place, "--", "true")
    assert result.returncode == 0, result.stderr
    assert not (tmp_path / "ran").exists()
    assert shown(server, submitted_name(result))["properties"]["azureml.git.dirty"] == "True"


def test_a_rerun_takes_nothing_from_this_machine(server, place, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("mine\n")
    import requests
    base = ("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
            "Microsoft.MachineLearningServices/workspaces/default/jobs/")
    for number, uri in enumerate([str(secret), f"file://{secret}"]):
        name = f"lure_{number}"
        body = {"properties": {"jobType": "Command", "command": "cat ${{inputs.x}}", "environmentId": "azureml:base:1",
                               "inputs": {"x": {"jobInputType": "uri_file", "uri": uri}}}}
        made = requests.put(server.url + base + name, params={"api-version": "2025-01-01-preview"}, json=body,
                            headers={"Authorization": f"Bearer {server.key}"}, verify=server.ca, timeout=60)
        if made.status_code >= 400:
            continue  # Refused by the server already.
        result = server.cli("job", "rerun", name)
        assert result.returncode == 2, result.stderr
        assert "machine" in result.stderr or "there is no file" in result.stderr


def test_of_several_who_take_one_name_at_once_one_gets_it(server, place):
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda n: submit(server, place, "--code", "none", "-n", "wanted_by_six", "--", f"echo {n}"), range(6)))
    assert sorted(result.returncode for result in results) == [0, 5, 5, 5, 5, 5], [r.stderr for r in results]
    assert all("exists" in result.stderr for result in results if result.returncode)


# --- names


def test_a_whole_name_is_found_however_many_newer_ones_begin_with_it(server, place):
    for name in ["lap"] + [f"lap{n}" for n in range(8)]:
        assert submit(server, place, "--code", "none", "-n", name, "--", "true").returncode == 0
    assert shown(server, "lap")["name"] == "lap"
    server.wait_status("lap")
    assert server.cli("job", "delete", "lap", "--yes").returncode == 0
    assert server.cli("job", "delete", "lap", "--yes").returncode == 5  # not one of the others


def test_an_empty_name_means_no_job(server, place):
    assert submit(server, place, "--code", "none", "--", "true").returncode == 0
    for words in (["job", "cancel", "-n", ""], ["job", "delete", "-n", "", "--yes"], ["az", "ml", "job", "show", "-n", ""]):
        result = server.cli(*words)
        assert result.returncode == 2 and "empty" in result.stderr, result.stderr


def test_az_takes_whole_names_only(server, place):
    assert submit(server, place, "--code", "none", "-n", "precisely_this", "--", "true").returncode == 0
    assert server.cli("az", "ml", "job", "show", "-n", "precisely").returncode == 5
    assert server.cli("job", "show", "precisely").returncode == 0


def test_what_cannot_be_written_is_no_success(server, place):
    with open("/dev/full", "w") as full:
        done = subprocess.run([binary(), "submit", *BASE, "--stream", "--code", "none", "--", "echo hi"], env=server.environment(),
                              cwd=place, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
    assert done.returncode == 1 and "cannot write" in done.stderr, done.stderr
