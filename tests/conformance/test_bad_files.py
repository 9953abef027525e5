"""A job file that is none: one sentence that a person understands, and exit code 2."""
import re
import shutil
import subprocess

import pytest
from conftest import DEADLINE_S, binary, clean_environment, run, submitted_name

JARGON = re.compile(r"yaml-cpp|exception|std::|errno|parser|token|bad_|EISDIR|ENOENT|EACCES|node type|illegal|Traceback", re.IGNORECASE)
GOOD = "command: echo hello\nenvironment: azureml:base:1\n"


def not_yaml(path):
    path.write_text("def train():\n    return {\n  'a': [1, 2\n")


def folder(path):
    path.mkdir()


def program(path):
    shutil.copy("/bin/true", path)


def empty(path):
    path.touch()


def only_comments(path):
    path.write_text("# nothing here yet\n")


def large(path):
    with open(path, "wb") as file:
        file.truncate(100 << 20)


def large_text(path):
    with open(path, "w") as file:
        for _ in range(100):
            file.write("# comment\n" * (1 << 17))


def missing(path):
    pass


def folder_missing(path):
    path.symlink_to("no/such/folder/job.yml")


def not_utf8(path):
    path.write_bytes(b"command: echo \xff\xfe\xfa\nenvironment: azureml:base:1\n")


def with_nul(path):
    path.write_bytes(b"command: echo a\0b\nenvironment: azureml:base:1\n")


CASES = [not_yaml, folder, program, empty, only_comments, large, large_text, missing, folder_missing, not_utf8, with_nul]


def check_refusal(result, file):
    assert result.returncode == 2, (result.returncode, result.stdout, result.stderr)
    assert result.stdout == ""
    first, *rest = result.stderr.splitlines()
    assert first.startswith("lavant: ") and str(file) in first, result.stderr
    assert len(rest) <= 3, result.stderr  # the place and the line itself, at most
    assert not JARGON.search(result.stderr.replace(str(file), "")), result.stderr
    assert all(32 <= ord(letter) < 127 or letter == "\n" for letter in result.stderr), repr(result.stderr)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
@pytest.mark.parametrize("words", [["job", "create"], ["job", "validate"], ["az", "ml", "job", "create"]], ids="-".join)
def test_what_is_no_job_file_is_one_sentence(words, make, tmp_path, data):
    file = tmp_path / "job.yml"
    make(file)
    result = run(*words, "-f", file, env=clean_environment(LAVANT_DATA=data))
    check_refusal(result, file)
    assert not data.exists(), "a server was started for a file that is wrong"


@pytest.mark.parametrize("level", ["user"], indirect=True)
@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_file_that_may_not_be_read(level, closed):
    place = level.make_folder("jobs")
    file = place / "job.yml"
    file.write_text(GOOD)
    (file if closed == "file" else place).chmod(0)
    try:
        result = run("job", "create", "-f", file, level=level)
    finally:
        place.chmod(0o700)
    check_refusal(result, file)
    assert "permission" in result.stderr.lower() or "may not" in result.stderr


def test_the_sentences_tell_what_it_is(tmp_path):
    """Not the same sentence for everything."""
    said = {}
    for make in [folder, empty, large, missing]:
        file = tmp_path / make.__name__
        make(file)
        said[make.__name__] = run("job", "validate", "-f", file).stderr
    assert "folder" in said["folder"] or "directory" in said["folder"], said
    assert "empty" in said["empty"], said
    assert re.search(r"large|above|at most|MiB|MB", said["large"]), said
    assert re.search(r"no such file|not there|does not exist|no file", said["missing"], re.IGNORECASE), said


def test_a_job_on_standard_input(server, tmp_path):
    name = submitted_name(server.cli("job", "create", "-f", "-", stdin=GOOD, cwd=tmp_path))
    assert server.wait_status(name) == "Completed"


def test_code_of_a_job_on_standard_input_is_beside_the_caller(server, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/main.sh").write_text("echo from the folder one is in\n")
    result = server.cli("job", "create", "-f", "-", "--stream", stdin="command: sh main.sh\ncode: src\nenvironment: azureml:base:1\n",
                        cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "from the folder one is in" in result.stdout


@pytest.mark.parametrize("text", ["", "a: [", "- 1\n", "\0\1\2", "x" * (11 << 20)], ids=["empty", "broken", "list", "binary", "large"])
def test_what_is_no_job_on_standard_input(text, data):
    result = run("job", "create", "-f", "-", stdin=text, env=clean_environment(LAVANT_DATA=data))
    check_refusal(result, "standard input")
    assert not data.exists()


def test_a_device_is_empty(data):
    check_refusal(run("job", "create", "-f", "/dev/null", env=clean_environment(LAVANT_DATA=data)), "/dev/null")


def test_a_pipe_of_the_shell(server, tmp_path):
    """`-f <(make-job)` is a pipe with a name."""
    script = f"'{binary()}' job create -f <(printf 'command: echo hello\\nenvironment: azureml:base:1\\n')"
    result = subprocess.run(["bash", "-c", script], env=server.environment(), cwd=tmp_path, capture_output=True, text=True,
                            timeout=DEADLINE_S)
    assert server.wait_status(submitted_name(result)) == "Completed"
