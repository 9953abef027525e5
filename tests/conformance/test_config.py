"""Settings: which source wins, what a project may set, and files that are changed without being spoilt."""
import json
import os
import pathlib

import pytest
from conftest import clean_environment, run


class Home:
    """A user's folders, apart from those of whoever runs the tests."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.home = self.root / "person"
        self.project = self.home / "project/deep"
        self.project.mkdir(parents=True)
        self.user_file = self.home / ".config/lavant/config.yml"

    def environment(self, **changes):
        kept = clean_environment(HOME=self.home, **changes)
        kept.pop("XDG_CONFIG_HOME", None)
        kept.pop("XDG_STATE_HOME", None)
        return kept

    def cli(self, *arguments, cwd=None, stdin=None, **changes):
        return run(*arguments, env=self.environment(**changes), cwd=cwd or self.project, stdin=stdin)

    def write_user(self, text):
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(text)

    def write_project(self, text, mode=0o644):
        path = self.home / "project/.lavant.yml"
        path.write_text(text)
        path.chmod(mode)
        return path

    def shown(self, *arguments, **options):
        result = self.cli("config", "show", "--origin", "-o", "json", *arguments, **options)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_flags_over_variables_over_project_over_user(home):
    assert home.shown()["workspace"] == {"value": "default", "origin": "default"}
    home.write_user("# mine\nworkspace: user\n")
    assert home.shown()["workspace"] == {"value": "user", "origin": f"{home.user_file}:2"}
    project = home.write_project("workspace: project\n")
    assert home.shown()["workspace"] == {"value": "project", "origin": f"{project}:1"}
    assert home.shown(LAVANT_WS="variable")["workspace"] == {"value": "variable", "origin": "LAVANT_WS"}
    flag = home.shown("--workspace-name", "flag", LAVANT_WS="variable")["workspace"]
    assert flag == {"value": "flag", "origin": "--workspace-name"}
    assert home.cli("config", "get", "workspace").stdout == "project\n"


def test_the_output_of_every_command_follows(home):
    home.write_user("output: json\n")
    assert json.loads(home.cli("config", "show").stdout)["output"] == "json"
    assert home.cli("config", "show", "-o", "table").stdout.startswith("KEY")


def test_mistakes_come_with_file_line_and_suggestion(home):
    home.write_user("workspace: w\noutptu: json\n")
    result = home.cli("job", "list")
    assert result.returncode == 2
    assert str(home.user_file) in result.stderr and "line 2, column 1" in result.stderr
    assert "did you mean 'output'?" in result.stderr
    # The commands that repair it work.
    assert home.cli("config", "path").returncode == 0
    assert home.cli("config", "unset", "outptu").returncode == 0
    assert home.user_file.read_text() == "workspace: w\n"
    assert home.shown()["workspace"]["value"] == "w"


@pytest.mark.parametrize("key", ["token", "ca", "endpoint", "data", "idle_exit_s", "retired_sizes", "gpus"])
def test_a_project_may_not_send_anything_elsewhere(home, key):
    home.write_project(f"{key}: 1\n")
    result = home.cli("config", "show")
    assert result.returncode == 2 and "may not set" in result.stderr, result.stderr
    assert home.cli("config", "set", "--project", key, "/x").returncode == 2


def test_a_project_file_that_others_may_write_is_not_read(home):
    home.write_project("workspace: theirs\n", 0o666)
    result = home.cli("config", "get", "workspace")
    assert result.stdout == "default\n" and "not reading" in result.stderr and "chmod o-w" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_project_file_of_another_user_is_not_read(home):
    os.chown(home.write_project("workspace: theirs\n"), 4711, 4711)
    result = home.cli("config", "get", "workspace")
    assert result.stdout == "default\n" and "another user" in result.stderr


def test_set_keeps_comments_and_is_for_the_owner_only(home):
    home.write_user("# why\nworkspace: a  # the first\n\ncolor: auto\n")
    home.user_file.chmod(0o644)
    assert home.cli("config", "set", "workspace", "b").returncode == 0
    assert home.user_file.read_text() == "# why\nworkspace: b  # the first\n\ncolor: auto\n"
    assert home.user_file.stat().st_mode & 0o777 == 0o600
    assert home.cli("config", "set", "experiment_name", "it's: #1").returncode == 0
    assert home.shown()["experiment_name"]["value"] == "it's: #1"
    assert home.cli("config", "unset", "workspace").returncode == 0
    assert home.user_file.read_text().startswith("# why\n\ncolor: auto\n")
    assert home.cli("config", "unset", "workspace").returncode == 2


def test_set_says_when_it_cannot(home):
    home.write_user("{workspace: a}\n")
    result = home.cli("config", "set", "color", "never")
    assert result.returncode == 2 and "by hand" in result.stderr
    assert home.user_file.read_text() == "{workspace: a}\n"
    for words in (["wrokspace", "x"], ["output", "xml"], ["token", "secret"], ["idle_exit_s", "-3"]):
        result = home.cli("config", "set", "--", *words)
        assert result.returncode == 2, words
        assert "secret" not in result.stderr.replace("'secret'", "") or words[0] != "token"


def test_paths_tell_what_is_read(home):
    home.write_project("workspace: p\n")
    shown = json.loads(home.cli("config", "path", "-o", "json").stdout)
    assert shown == {"project": str(home.home / "project/.lavant.yml"), "user": str(home.user_file),
                     "system": "/etc/lavant/config.yml"}
    assert "(not there)" in home.cli("config", "path").stdout


def test_the_experiment_of_a_job_comes_from_it(home, server, write_job):
    job = write_job("echo hi")
    home.write_project("experiment_name: from-project\n")
    result = run("job", "create", "-f", job, "-o", "json", cwd=home.project,
                 env=home.environment(**{key: value for key, value in server.environment().items()
                                         if key.startswith("LAVANT_")}))
    assert result.returncode == 0, result.stderr
    assert "from-project" in result.stdout


def test_two_who_set_at_once_both_get_their_way(tmp_path):
    from concurrent.futures import ThreadPoolExecutor
    env = clean_environment(HOME=tmp_path, XDG_CONFIG_HOME=tmp_path / "config")
    for round_ in range(5):
        with ThreadPoolExecutor(2) as pool:
            for result in pool.map(lambda key: run("config", "set", key, f"v{round_}", env=env), ["workspace", "experiment_name"]):
                assert result.returncode == 0, result.stderr
        for key in ("workspace", "experiment_name"):
            assert run("config", "get", key, env=env).stdout == f"v{round_}\n"
