"""Jobs through the command line: how they run, end and are looked at."""
import json
import subprocess

import pytest
import yaml
from conftest import DEADLINE_S, binary, run, streamed_name, submitted_name, wait_for


def test_hello_prints_its_log_and_completed(server, write_job):
    job = write_job("python3 hello.py --name '${{inputs.who}}'", inputs={"who": "world"},
                    code={"hello.py": "import sys\nprint('Hello,', sys.argv[2])\n"})
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 0, result.stderr
    assert "Hello, world\n" in result.stdout
    assert result.stderr.rstrip().endswith("Completed")


def test_the_example_in_the_repository_runs(server):
    from conftest import ROOT
    result = server.cli("job", "create", "-f", ROOT / "examples/hello/job.yml", "--stream")
    assert result.returncode == 0, result.stderr
    assert "Hello, world!" in result.stdout


def test_lines_arrive_while_the_job_runs(server, write_job):
    job = write_job("echo first; sleep 600")
    name = submitted_name(server.cli("job", "create", "-f", job))
    stream = subprocess.Popen([binary(), "job", "stream", name], env=server.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
    try:
        for line in stream.stdout:
            if line == "first\n":
                break
        assert server.status_of(name) == "Running"
        assert server.cli("job", "cancel", name).returncode == 0
        _, said = stream.communicate(timeout=DEADLINE_S)
        assert stream.returncode == 3, said
        assert "Canceled" in said
    finally:
        stream.kill()
        stream.wait()


def test_cancel_twice_is_fine_and_ends_with_3(server, write_job):
    name = submitted_name(server.cli("job", "create", "-f", write_job("sleep 600")))
    assert server.cli("job", "cancel", name).returncode == 0
    assert server.cli("job", "cancel", "--name", name).returncode == 0
    result = server.cli("job", "stream", name)
    assert result.returncode == 3, result.stderr
    assert server.cli("job", "cancel", name).returncode == 0
    assert server.status_of(name) == "Canceled"


def test_a_failed_job_ends_with_1_and_says_why(server, write_job):
    result = server.cli("job", "create", "-f", write_job("echo before; exit 3"), "--stream")
    assert result.returncode == 1
    assert "before\n" in result.stdout
    assert "Failed" in result.stderr and "UserError" in result.stderr and "3" in result.stderr
    shown = server.cli("job", "show", streamed_name(result))
    assert "UserError: the command ended with exit code 3" in shown.stdout


def test_a_traceback_is_quoted(server, write_job):
    job = write_job("python3 x.py", code={"x.py": "raise ValueError('no such luck')\n"})
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 1
    name = streamed_name(result)
    shown = server.cli("job", "show", name)
    assert "ValueError: no such luck" in shown.stdout + result.stderr


def test_a_command_that_does_not_exist(server, write_job):
    result = server.cli("job", "create", "-f", write_job("no-such-program-anywhere"), "--stream")
    assert result.returncode == 1
    assert "127" in result.stderr
    assert "no-such-program-anywhere" in result.stdout


def test_a_timeout_is_told_apart(server, write_job):
    result = server.cli("job", "create", "-f", write_job("sleep 600", limits={"timeout": 1}), "--stream")
    assert result.returncode == 1
    assert "Timeout" in result.stderr


def test_streaming_an_ended_job_prints_its_log_again(server, write_job):
    first = server.cli("job", "create", "-f", write_job("echo once"), "--stream")
    again = server.cli("job", "stream", streamed_name(first))
    assert again.returncode == 0
    assert "once\n" in again.stdout


def test_a_log_without_a_last_line_end_stays_whole(server, write_job):
    result = server.cli("job", "create", "-f", write_job("printf 'no end'"), "--stream")
    assert "no end\n" in result.stdout


def test_set_changes_the_file(server, write_job):
    job = write_job("echo ${{inputs.word}}", inputs={"word": "old"}, tags={"a": "b"})
    result = server.cli("job", "create", "-f", job, "--set", "inputs.word=new", "--set", "tags.team=red", "--stream")
    assert "new\n" in result.stdout, result.stderr
    shown = json.loads(server.cli("job", "show", streamed_name(result), "-o", "json").stdout)
    assert shown["tags"] == {"a": "b", "team": "red"}


def test_names_can_be_given_once(server, write_job):
    job = write_job("true")
    first = server.cli("job", "create", "-f", job, "-n", "only_once", "--stream")
    assert first.returncode == 0, first.stderr
    second = server.cli("job", "create", "-f", job, "--name", "only_once")
    assert second.returncode == 5
    assert "exists" in second.stderr


def test_made_up_names_have_three_parts(server, write_job):
    name = submitted_name(server.cli("job", "create", "-f", write_job("true")))
    parts = name.split("_")
    assert len(parts) == 3 and len(parts[2]) == 10, name


def test_list_and_show_fit_80_columns(server, write_job):
    job = write_job("echo " + "a-rather-long-word " * 20, display_name="d" * 100, experiment_name="e" * 60,
                    description="words " * 40)
    name = submitted_name(server.cli("job", "create", "-f", job))
    server.wait_status(name)
    for arguments in (("job", "list"), ("job", "show", name)):
        result = server.cli(*arguments)
        assert result.returncode == 0, result.stderr
        assert all(len(line) <= 80 for line in result.stdout.splitlines()), result.stdout
        assert "\x1b" not in result.stdout
    assert server.cli("job", "list").stdout.splitlines()[0].split()[:2] == ["NAME", "STATUS"]


def test_list_filters(server, write_job):
    mark = submitted_name(server.cli("job", "create", "-f", write_job("exit 1", experiment_name="filtered")))
    server.wait_status(mark)
    listed = server.cli("job", "list", "--experiment", "filtered", "--status", "failed", "-o", "json")
    assert [job["name"] for job in json.loads(listed.stdout)] == [mark]
    listed = server.cli("job", "list", "--experiment", "filtered", "--status", "Completed", "-o", "json")
    assert json.loads(listed.stdout) == []
    assert len(json.loads(server.cli("job", "list", "-r", "2", "-o", "json").stdout)) <= 2


def test_json_and_yaml_say_the_same(server, write_job):
    name = submitted_name(server.cli("job", "create", "-f", write_job("true", tags={"on": "yes", "n": "1"})))
    server.wait_status(name)
    as_json = json.loads(server.cli("job", "show", name, "-o", "json").stdout)
    as_yaml = yaml.safe_load(server.cli("job", "show", name, "-o", "yaml").stdout)
    assert as_json["tags"] == {"on": "yes", "n": "1"} == as_yaml["tags"]
    assert as_json["name"] == as_yaml["name"] == name


def test_download_lays_files_out_as_the_sdk_does(server, write_job, tmp_path):
    job = write_job("echo said; mkdir -p outputs/deep; echo kept > outputs/deep/a.txt; "
                    "echo named > '${{outputs.model}}/m b#1%.txt'; : > '${{outputs.model}}/empty'",
                    outputs={"model": {"type": "uri_folder"}})
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 0, result.stderr
    name = streamed_name(result)
    got = server.cli("job", "download", name, "--all", cwd=tmp_path)
    assert got.returncode == 0, got.stderr
    folder = tmp_path / name
    assert (folder / "artifacts/user_logs/std_log.txt").read_text().endswith("said\n")
    assert (folder / "artifacts/outputs/deep/a.txt").read_text() == "kept\n"
    assert (folder / "named-outputs/model/m b#1%.txt").read_text() == "named\n"
    assert (folder / "named-outputs/model/empty").read_text() == ""
    states = [line.split()[1] for line in (folder / "artifacts/system_logs/lifecycle.txt").read_text().splitlines()]
    assert states == ["Queued", "Preparing", "Running", "Finalizing", "Completed"]
    only = server.cli("job", "download", name, "--output-name", "model", "-p", tmp_path / "only")
    assert only.returncode == 0, only.stderr
    assert not (tmp_path / "only/artifacts").exists()
    assert server.cli("job", "download", name, "--output-name", "nope").returncode == 2


def test_stream_shows_every_attempt_however_short(server, write_job):
    job = write_job("echo this is attempt $LAVANT_ATTEMPT; test $LAVANT_ATTEMPT = 3 || exit 5",
                    properties={"lavant.max_retries": "2", "lavant.retry_on": "exit:5"})
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 0, result.stderr
    said = [line for line in result.stdout.splitlines() if line.startswith("this is")]
    assert said == ["this is attempt 1", "this is attempt 2", "this is attempt 3"]
    again = server.cli("job", "stream", streamed_name(result))
    assert again.stdout == result.stdout


def test_download_of_a_running_job_is_refused(server, write_job):
    name = submitted_name(server.cli("job", "create", "-f", write_job("sleep 600")))
    result = server.cli("job", "download", name)
    assert result.returncode == 5
    assert "job stream" in result.stderr
    server.cli("job", "cancel", name)


def test_local_inputs_travel(server, write_job):
    job = write_job("cat '${{inputs.file}}'; cat '${{inputs.folder}}/b/c.txt'",
                    inputs={"file": {"type": "uri_file", "path": "in.csv"}, "folder": {"type": "uri_folder", "path": "tree"}})
    (job.parent / "in.csv").write_text("from a file\n")
    (job.parent / "tree/b").mkdir(parents=True)
    (job.parent / "tree/b/c.txt").write_text("from a folder\n")
    result = server.cli("job", "create", "-f", job, "--stream")
    assert result.returncode == 0, result.stderr
    assert "from a file\nfrom a folder\n" in result.stdout


def test_a_job_cannot_change_the_code_of_the_next(server, write_job):
    job = write_job("bash run.sh", code={"run.sh": "echo original; echo 'echo spoilt' > run.sh; chmod 777 run.sh\n"})
    for _ in range(2):
        result = server.cli("job", "create", "-f", job, "--stream")
        assert result.returncode == 0, result.stderr
        assert "original\n" in result.stdout and "spoilt" not in result.stdout


def test_code_that_did_not_change_is_sent_once(server, write_job):
    job = write_job("true", code={"a.py": "unique to this test\n"})
    names = [submitted_name(server.cli("job", "create", "-f", job)) for _ in range(2)]
    codes = {json.loads(server.cli("job", "show", n, "-o", "json").stdout)["code"] for n in names}
    assert len(codes) == 1


EXPECTED_VARIABLES = [
    "AZUREML_RUN_ID", "AZUREML_ROOT_RUN_ID", "AZUREML_EXPERIMENT_ID", "AZUREML_ARM_SUBSCRIPTION",
    "AZUREML_ARM_RESOURCEGROUP", "AZUREML_ARM_WORKSPACE_NAME", "AZUREML_ARM_PROJECT_NAME", "AZURE_ML_INPUT_lr",
    "AZURE_ML_OUTPUT_model", "MLFLOW_TRACKING_URI", "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME", "LAVANT_ATTEMPT",
    "PYTHONUNBUFFERED",
]


def test_every_documented_variable_is_there(server, write_job):
    from conftest import ROOT
    table = (ROOT / "docs/environment-variables.md").read_text()
    job = write_job("env", inputs={"lr": 0.1}, outputs={"model": {"type": "uri_folder"}},
                    environment_variables={"MINE": "1", "PYTHONUNBUFFERED": "0"})
    result = server.cli("job", "create", "-f", job, "--stream")
    seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
    missing = [name for name in EXPECTED_VARIABLES if name not in seen]
    assert not missing, (missing, sorted(seen))
    assert seen["MINE"] == "1" and seen["PYTHONUNBUFFERED"] == "0" and seen["LAVANT_ATTEMPT"] == "1"
    for name in EXPECTED_VARIABLES:
        documented = name.replace("_lr", "_<name>").replace("_model", "_<name>")
        assert f"`{documented}`" in table, f"{documented} is not in docs/environment-variables.md"
    made_by_the_shell = {"PWD", "OLDPWD", "SHLVL", "_"}
    ours = set(seen) - made_by_the_shell - {"MINE", "AZURE_ML_INPUT_lr", "AZURE_ML_OUTPUT_model"}
    undocumented = [name for name in sorted(ours) if name.isidentifier() and f"`{name}`" not in table]
    assert not undocumented


def test_host_uses_the_active_interpreter(server, write_job, tmp_path):
    import sys
    home = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    job = write_job("python3 -c 'import sys; print(sys.prefix)'", environment="host")
    result = server.cli("job", "create", "-f", job, "--stream", env=server.environment(VIRTUAL_ENV=home))
    assert result.returncode == 0, result.stderr + result.stdout
    assert str(home) in result.stdout


@pytest.mark.parametrize("arguments", [["job", "show", "nobody"], ["job", "stream", "nobody"], ["job", "cancel", "nobody"],
                                       ["job", "download", "nobody"]])
def test_an_unknown_job_is_refused(server, arguments):
    result = server.cli(*arguments)
    assert result.returncode == 5
    assert "nobody" in result.stderr and len(result.stderr.strip().splitlines()) == 1


def test_a_wrong_key_is_refused_with_the_remedy(server):
    result = run("job", "list", env=server.environment(LAVANT_TOKEN="wrong"))
    assert result.returncode == 5
    assert "LAVANT_TOKEN" in result.stderr


def test_no_server_there_ends_with_4(server):
    result = run("job", "list", env=server.environment(LAVANT_ENDPOINT="https://127.0.0.1:1"))
    assert result.returncode == 4
    assert "127.0.0.1:1" in result.stderr


def test_a_server_with_another_certificate_is_not_trusted(server):
    result = run("job", "list", env=server.environment(LAVANT_CA="/etc/ssl/certs/ca-certificates.crt"))
    assert result.returncode == 4


def test_keys_are_made_listed_and_revoked(server):
    made = server.cli("key", "create", "--user", "ada")
    assert made.returncode == 0, made.stderr
    key = made.stdout.strip()
    as_ada = server.environment(LAVANT_TOKEN=key)
    assert run("job", "list", env=as_ada).returncode == 0
    listed = json.loads(server.cli("key", "list", "-o", "json").stdout)
    [ours] = [entry for entry in listed if entry["user"] == "ada"]
    assert key not in json.dumps(listed)
    assert server.cli("key", "revoke", ours["id"]).returncode == 0
    assert run("job", "list", env=as_ada).returncode == 5


def test_many_jobs_at_once_all_complete(server, write_job):
    job = write_job("echo ok")
    running = [subprocess.Popen([binary(), "job", "create", "-f", str(job), "--stream"], env=server.environment(),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(8)]
    for one in running:
        out, err = one.communicate(timeout=DEADLINE_S)
        assert one.returncode == 0, err
        assert "ok\n" in out


def test_stream_goes_on_after_the_server_restarts(start_server, write_job, tmp_path):
    first = start_server(tmp_path / "kept")
    name = submitted_name(first.cli("job", "create", "-f", write_job("for i in $(seq 1 40); do echo line $i; sleep 0.1; done")))
    wait_for(lambda: "line 3\n" in log_of(first, name), "the third line")
    first.stop()
    second = start_server(tmp_path / "kept")
    result = second.cli("job", "stream", name)
    assert result.returncode == 0, result.stderr
    assert [line for line in result.stdout.splitlines() if line.startswith("line ")] == [f"line {i}" for i in range(1, 41)]


def log_of(server, name):
    import requests
    answer = requests.get(f"{server.url}/lavant/v1/jobs/{name}/logs", verify=server.ca,
                          headers={"Authorization": f"Bearer {server.key}"}, timeout=DEADLINE_S)
    return answer.text if answer.ok else ""


def test_python_without_a_number_is_there(server, write_job):
    result = server.cli("job", "create", "-f", write_job("python -c 'print(6 * 7)'", environment={"image": "python:3.11-slim"}),
                        "--stream")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "42\n" in result.stdout
