"""What is done with a job after it was submitted: get, list, stream, download, cancel, archive, update, services."""
import pathlib

import pytest
import sdk_version
from azure.ai.ml import Input, Output, command, load_job
from azure.ai.ml.constants import ListViewType
from azure.ai.ml.exceptions import JobException
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import completed, ended, fresh, raw, settled, streamed, text_of, tree, workspace_id, write_tree

BASE = "azureml:base:1"
new_only = pytest.mark.skipif(sdk_version.OLD, reason="not in this release")


def job(text="true", **fields):
    fields.setdefault("environment", BASE)
    return command(command=text, **fields)


@pytest.fixture(scope="module")
def done(ml):
    """One job that wrote a log, artifacts and named outputs."""
    text = ("echo first line; echo second line >&2; mkdir -p outputs/deep logs; echo artifact > outputs/deep/a.txt; echo l > logs/l.txt;"
            "echo named > ${{outputs.o}}/n.txt; echo single > ${{outputs.f}}")
    made = completed(ml, job(text, outputs={"o": Output(type="uri_folder"), "f": Output(type="uri_file")}, experiment_name="life",
                             display_name="life of a job", tags={"suite": "life"}))
    settled(ml, made.name)
    return ml.jobs.get(made.name)


@pytest.fixture(scope="module")
def failed(ml):
    made = ml.jobs.create_or_update(job("echo before; exit 3"))
    settled(ml, made.name)
    return made.name


# --- get

def test_get(ml, done):
    got = ml.jobs.get(done.name)
    assert got.name == done.name and got.status == "Completed" and got.experiment_name == "life"
    assert got.creation_context.created_at and got.id == f"{workspace_id()}/jobs/{done.name}"


def test_get_of_an_unknown_job(ml):
    with pytest.raises(ResourceNotFoundError) as missing:
        ml.jobs.get("no-such-job")
    assert missing.value.status_code == 404 and "no-such-job" in str(missing.value)
    assert missing.value.error.code


@pytest.mark.parametrize("action", ["stream", "download", "begin_cancel", "archive", "restore", "show_services"])
def test_an_unknown_job_is_not_found_by_anything(ml, action, tmp_path):
    with pytest.raises(ResourceNotFoundError):
        answer = getattr(ml.jobs, action)("no-such-job")
        if action == "begin_cancel":
            answer.result()


def test_get_without_a_name_is_the_clients_refusal(ml):
    with pytest.raises(Exception):
        ml.jobs.get(None)


def test_outputs_of_a_finished_job(ml, done):
    assert set(done.outputs) >= {"o", "f"} and done.outputs["o"].type == "uri_folder" and done.outputs["f"].type == "uri_file"


def test_create_or_update_of_a_job_that_was_fetched(ml, done):
    """Editing what was fetched and sending it back changes the record; the job does not run again."""
    got = ml.jobs.get(done.name)
    got.display_name = "another name"
    got.tags["more"] = "1"
    back = ml.jobs.create_or_update(got)
    assert back.name == done.name and back.display_name == "another name" and back.tags["more"] == "1"
    assert back.status == "Completed"


# --- list

def names(listed):
    listed = list(listed)
    assert None not in listed, "a job was listed that the SDK cannot read"
    return [one.name for one in listed]


def test_list_has_the_newest_first(ml):
    first = ml.jobs.create_or_update(job())
    second = ml.jobs.create_or_update(job())
    listed = names(ml.jobs.list())
    assert listed.index(second.name) < listed.index(first.name)


def test_list_entries_are_whole_jobs(ml, done):
    one = next(one for one in ml.jobs.list() if one.name == done.name)
    assert one.status == "Completed" and one.experiment_name == "life" and one.creation_context.created_at


def test_list_pages_through_many(ml):
    made = {ml.jobs.create_or_update(job(display_name=f"page {i}")).name for i in range(3)}
    assert made <= set(names(ml.jobs.list()))
    pages = list(ml.jobs.list().by_page())
    assert pages


@pytest.mark.parametrize("count", [1, 3])
def test_list_with_max_results(ml, done, count):
    assert len(list(ml.jobs.list(max_results=count))) >= count


def test_archived_jobs_are_listed_when_asked_for(ml):
    made = ml.jobs.create_or_update(job())
    ended(made.name)
    ml.jobs.archive(made.name)
    assert made.name not in names(ml.jobs.list())
    assert made.name not in names(ml.jobs.list(list_view_type=ListViewType.ACTIVE_ONLY))
    assert made.name in names(ml.jobs.list(list_view_type=ListViewType.ARCHIVED_ONLY))
    assert made.name in names(ml.jobs.list(list_view_type=ListViewType.ALL))
    ml.jobs.restore(made.name)
    assert made.name in names(ml.jobs.list())
    assert made.name not in names(ml.jobs.list(list_view_type=ListViewType.ARCHIVED_ONLY))


def test_list_of_a_job_without_children(ml, done):
    assert list(ml.jobs.list(parent_job_name=done.name)) == []


def test_list_of_an_unknown_parent(ml):
    try:
        assert list(ml.jobs.list(parent_job_name="no-such-parent")) == []
    except ResourceNotFoundError:
        pass


def test_list_by_schedule_of_nothing(ml):
    assert list(ml.jobs.list(scheduled_job_name="no-such-schedule")) == []


# --- stream

def test_stream_prints_the_log_and_a_summary(ml):
    made = ml.jobs.create_or_update(job("echo streamed line; echo again"))
    text = streamed(ml, made.name)
    assert f"RunId: {made.name}" in text and "Web View: http" in text
    assert "Streaming user_logs/std_log.txt" in text and "streamed line" in text and "again" in text
    assert "Execution Summary" in text


def test_stream_follows_a_job_that_runs(ml):
    made = ml.jobs.create_or_update(job("for i in 1 2 3; do echo tick $i; sleep 0.3; done"))
    text = streamed(ml, made.name)
    assert [f"tick {i}" in text for i in (1, 2, 3)] == [True] * 3
    assert text.count("tick 1\n") == 1


def test_stream_of_a_finished_job_has_the_summary(ml, done):
    assert "Execution Summary" in streamed(ml, done.name)


def test_stream_of_a_failed_job_raises_with_the_reason(ml, failed):
    with pytest.raises(JobException) as wrong:
        streamed(ml, failed)
    assert "exit code 3" in str(wrong.value) and "UserError" in str(wrong.value)


def test_stream_of_a_long_log(ml):
    made = ml.jobs.create_or_update(job("seq 1 20000"))
    lines = set(streamed(ml, made.name).splitlines())
    assert {"1", "10000", "20000"} <= lines


def test_stream_of_unicode(ml):
    made = ml.jobs.create_or_update(job("echo 'grün 漢字'"))
    assert "grün 漢字" in streamed(ml, made.name)


# --- download

def test_download_has_the_artifacts(ml, done, tmp_path):
    ml.jobs.download(done.name, download_path=tmp_path)
    got = tree(tmp_path)
    assert got["artifacts/outputs/deep/a.txt"] == b"artifact\n" and got["artifacts/logs/l.txt"] == b"l\n"
    assert b"first line" in got["artifacts/user_logs/std_log.txt"] and b"second line" in got["artifacts/user_logs/std_log.txt"]
    assert not any(name.startswith("named-outputs") for name in got)


def test_download_of_everything(ml, done, tmp_path):
    ml.jobs.download(done.name, download_path=tmp_path, all=True)
    got = tree(tmp_path)
    assert got["named-outputs/o/n.txt"] == b"named\n" and b"single\n" in got.values()
    assert "artifacts/outputs/deep/a.txt" in got


def test_download_of_one_output(ml, done, tmp_path):
    ml.jobs.download(done.name, download_path=tmp_path, output_name="o")
    assert tree(tmp_path) == {"named-outputs/o/n.txt": b"named\n"}


def test_download_into_the_working_directory(ml, done):
    ml.jobs.download(done.name)
    assert (pathlib.Path.cwd() / "artifacts").is_dir()


def test_download_of_an_output_that_is_not_there(ml, done, tmp_path):
    try:
        ml.jobs.download(done.name, download_path=tmp_path, output_name="nope")
    except Exception as wrong:
        assert "nope" in str(wrong)
    assert tree(tmp_path) == {}


def test_download_of_a_failed_job_has_its_log(ml, failed, tmp_path):
    ml.jobs.download(failed, download_path=tmp_path)
    assert b"before" in tree(tmp_path)["artifacts/user_logs/std_log.txt"]


def test_download_of_a_running_job_is_refused(ml, tmp_path):
    made = ml.jobs.create_or_update(job("sleep 60"))
    with pytest.raises(JobException):
        ml.jobs.download(made.name, download_path=tmp_path)
    ml.jobs.begin_cancel(made.name).result()


def test_download_of_many_files(ml, tmp_path):
    made = completed(ml, job("for i in $(seq 1 60); do mkdir -p ${{outputs.o}}/d$i; echo $i > ${{outputs.o}}/d$i/f; done; : > ${{outputs.o}}/empty",
                             outputs={"o": Output(type="uri_folder")}))
    settled(ml, made.name)
    ml.jobs.download(made.name, download_path=tmp_path, output_name="o")
    got = tree(tmp_path / "named-outputs" / "o")
    assert len(got) == 61 and got["d60/f"] == b"60\n" and got["empty"] == b""


def test_jobs_with_similar_names_do_not_mix(ml, tmp_path, uniq):
    name = uniq("twin")
    for one in (name, name + "1"):
        completed(ml, job(f"mkdir -p outputs; echo {one} > outputs/who.txt", name=one))
    settled(ml, name + "1")
    settled(ml, name)
    ml.jobs.download(name, download_path=tmp_path)
    assert tree(tmp_path)["artifacts/outputs/who.txt"] == name.encode() + b"\n"


# --- cancel

def test_cancel_of_a_running_job(ml):
    made = ml.jobs.create_or_update(job("sleep 600"))
    assert ml.jobs.begin_cancel(made.name).result() is None
    assert settled(ml, made.name) == "Canceled"


def test_cancel_of_a_finished_job_changes_nothing(ml, done):
    try:
        ml.jobs.begin_cancel(done.name).result()
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500
    assert ml.jobs.get(done.name).status == "Completed"


def test_a_canceled_job_can_be_archived(ml):
    made = ml.jobs.create_or_update(job("sleep 600"))
    ml.jobs.begin_cancel(made.name).result()
    ml.jobs.archive(made.name)
    assert made.name not in names(ml.jobs.list())


# --- edit

@new_only
def test_update_merges(ml):
    made = ml.jobs.create_or_update(job(display_name="old", description="text", tags={"a": "1", "b": "2"}))
    got = ml.jobs.update(made.name, display_name="new", tags={"b": "3", "c": "4"}, properties={"p": "q"})
    assert (got.display_name, got.description, got.tags) == ("new", "text", {"a": "1", "b": "3", "c": "4"})
    again = ml.jobs.get(made.name)
    assert again.display_name == "new" and again.properties["p"] == "q"
    assert ml.jobs.update(made.name, description="other").description == "other"


@new_only
def test_update_of_an_unknown_job(ml):
    with pytest.raises(ResourceNotFoundError):
        ml.jobs.update("no-such-job", display_name="x")


@new_only
def test_delete(ml):
    made = ml.jobs.create_or_update(job())
    ended(made.name)
    ml.jobs.begin_delete(made.name).result()
    with pytest.raises(ResourceNotFoundError):
        ml.jobs.get(made.name)


def test_a_put_of_the_same_name_does_not_start_it_again(ml, uniq):
    name = uniq("once")
    first = completed(ml, job("echo once", name=name))
    again = ml.jobs.create_or_update(job("echo once", name=name, tags={"new": "tag"}))
    assert again.name == name and text_of(again.status) in ("Completed", "Finalizing")
    assert again.creation_context.created_at == first.creation_context.created_at


# --- services

def test_services_of_a_job_without_any(ml, done):
    shown = ml.jobs.show_services(done.name)
    assert not shown


def test_services_of_a_node(ml, done):
    assert not ml.jobs.show_services(done.name, 0)


# --- validate

def test_validate_a_good_job(ml):
    result = ml.jobs.validate(job())
    assert result.passed, result.error_messages


def test_validate_a_bad_pipeline(ml, tmp_path):
    write_tree(tmp_path, {"p.yml": "type: pipeline\njobs:\n  a:\n    type: command\n    command: echo\n    environment: {image: x}\n"
                                   "    compute: azureml:no-such-cluster\n"})
    result = ml.jobs.validate(load_job(tmp_path / "p.yml"))
    assert not result.passed and "no-such-cluster" in str(result.error_messages)


# --- from files

def test_load_job(ml, tmp_path):
    write_tree(tmp_path, {"src/main.py": fresh("print('from a file')"), "job.yml": """
$schema: https://azuremlschemas.azureedge.net/latest/commandJob.schema.json
command: python main.py ${{inputs.n}}
code: src
environment:
  image: python:3.11-slim
inputs:
  n: 4
display_name: filed
experiment_name: files
description: |
  two
  lines
"""})
    got = completed(ml, load_job(tmp_path / "job.yml"))
    assert got.display_name == "filed" and got.experiment_name == "files" and got.description == "two\nlines\n"


def test_load_job_with_overrides(ml, tmp_path):
    write_tree(tmp_path, {"job.yml": "command: echo ${{inputs.n}}\nenvironment: azureml:base:1\ninputs:\n  n: 4\n"})
    loaded = load_job(tmp_path / "job.yml", params_override=[{"inputs.n": 9}, {"display_name": "over"}, {"tags.k": "v"}])
    got = completed(ml, loaded)
    assert got.display_name == "over" and got.tags == {"k": "v"} and str(got._to_dict()["inputs"]["n"]) == "9"


def test_mlclient_create_or_update_takes_a_job(ml):
    made = ml.create_or_update(job())
    assert made.type == "command" and made.name


def test_options_of_create_or_update_override_the_job(ml):
    made = ml.jobs.create_or_update(job(), description="over", experiment_name="overexp", tags={"k": "v"})
    assert (made.description, made.experiment_name, made.tags["k"]) == ("over", "overexp", "v")


def test_compute_option_of_create_or_update(ml):
    with pytest.raises(HttpResponseError):
        ml.jobs.create_or_update(job(), compute="no-such-cluster")


def test_the_raw_history_record_agrees(ml, done):
    record = raw("GET", f"/history/v1.0{workspace_id()}/runs/{done.name}").json()
    assert record["status"] == "Completed" and record["runId"] == done.name
