"""Schedules over REST: kept, switched, triggered by hand, deleted, and what is refused."""
import uuid

import pytest

from arm import WORKSPACE, call, key_of

CRON = {"triggerType": "Cron", "expression": "15 10 * * 1"}
COMMAND = {"jobType": "Command", "command": "echo ${{inputs.when}}", "environmentId": "azureml:base:1",
           "inputs": {"when": {"jobInputType": "literal", "value": "${{creation_context.trigger_time}}"}},
           "outputs": {"o": {"jobOutputType": "uri_folder"}}}


def fresh(start):
    return f"{start}-{uuid.uuid4().hex[:8]}"


def put(server, name, trigger=None, job=None, key=None, **more):
    return call(server, "PUT", f"{WORKSPACE}/schedules/{name}",
                {"properties": {"trigger": trigger or CRON, **more,
                                "action": {"actionType": "CreateJob", "jobDefinition": job or COMMAND}}}, key)


def listed(server, view):
    return [one["name"] for one in call(server, "GET", f"{WORKSPACE}/schedules?listViewType={view}")[1]["value"]]


def test_the_life_of_a_schedule(server):
    name = fresh("s")
    status, made = put(server, name)
    assert status == 201 and made["properties"]["isEnabled"] and made["properties"]["provisioningState"] == "Succeeded"
    assert made["properties"]["action"]["jobDefinition"]["outputs"]["o"]["mode"] == "ReadWriteMount"
    assert name in listed(server, "EnabledOnly") and name not in listed(server, "DisabledOnly")
    status, said = call(server, "DELETE", f"{WORKSPACE}/schedules/{name}")
    assert status == 409 and "Cannot delete an active trigger" in said["error"]["message"]
    status, changed = put(server, name, isEnabled=False)
    assert status == 200 and not changed["properties"]["isEnabled"]
    assert name in listed(server, "DisabledOnly") and name in listed(server, "All") and name not in listed(server, "EnabledOnly")
    assert call(server, "POST", f"{WORKSPACE}/schedules/{name}/trigger", {})[0] == 409
    assert call(server, "DELETE", f"{WORKSPACE}/schedules/{name}")[0] == 204
    status, said = call(server, "GET", f"{WORKSPACE}/schedules/{name}")
    assert status == 404 and "not found" in said["error"]["message"]


def test_its_job_runs_at_once_when_asked(server):
    name = fresh("s")
    assert put(server, name)[0] == 201
    status, said = call(server, "POST", f"{WORKSPACE}/schedules/{name}/trigger", {"scheduleTime": "2026-01-31T10:00:00Z"})
    assert status == 200, said
    job = said["submissionId"]
    assert server.wait_status(job) == "Completed"
    assert "2026-01-31T10:00:00" in server.cli("job", "stream", job).stdout
    status, again = call(server, "POST", f"{WORKSPACE}/schedules/{name}/trigger", {})
    assert status == 200 and again["submissionId"] != job


def test_a_schedule_outlives_the_server(start_server, tmp_path):
    server = start_server(tmp_path / "kept")
    assert put(server, "s", isEnabled=False)[0] == 201
    before = call(server, "GET", f"{WORKSPACE}/schedules/s")
    assert server.stop() == 0
    server = start_server(tmp_path / "kept")
    assert call(server, "GET", f"{WORKSPACE}/schedules/s") == before


def recurrence(**fields):
    return {"triggerType": "Recurrence", "frequency": "week", "interval": 1, **fields}


def test_week_days_are_spelt_with_a_capital(server):
    status, made = put(server, fresh("s"), recurrence(schedule={"hours": [10], "minutes": [0], "weekDays": ["monday"]}))
    assert status == 201 and made["properties"]["trigger"]["schedule"]["weekDays"] == ["Monday"]


@pytest.mark.parametrize("trigger, place", [
    ({"triggerType": "Cron", "expression": "61 * * * *"}, "properties.trigger.expression"),
    ({"triggerType": "Cron", "expression": "* * *"}, "properties.trigger.expression"),
    ({"triggerType": "Cron", "expression": "*" * 5000}, "properties.trigger.expression"),
    ({"triggerType": "Moon"}, "properties.trigger.triggerType"),
    (recurrence(frequency="year"), "properties.trigger.frequency"),
    (recurrence(interval=0), "properties.trigger.interval"),
    (recurrence(interval=10**9), "properties.trigger.interval"),
    (recurrence(schedule={"hours": [24], "minutes": [0]}), "properties.trigger.schedule.hours"),
    (recurrence(schedule={"hours": [0] * 1000, "minutes": [0]}), "properties.trigger.schedule.hours"),
    (recurrence(schedule={"weekDays": ["Someday"]}), "properties.trigger.schedule.weekDays"),
    (recurrence(startTime="tomorrow"), "properties.trigger.startTime"),
    (recurrence(startTime="2026-02-01T00:00:00", endTime="2026-01-01T00:00:00"), "properties.trigger.endTime"),
])
def test_nonsense_is_refused_with_the_place(server, trigger, place):
    name = fresh("s")
    status, said = put(server, name, trigger)
    assert status == 400 and [one["target"] for one in said["error"]["details"]] == [place], said
    assert call(server, "GET", f"{WORKSPACE}/schedules/{name}")[0] == 404


def test_a_reader_changes_nothing(server):
    key, name = key_of(server, fresh("rob"), "reader"), fresh("s")
    assert put(server, name)[0] == 201
    assert put(server, name, key=key, isEnabled=False)[0] == 403
    assert call(server, "POST", f"{WORKSPACE}/schedules/{name}/trigger", {}, key)[0] == 403
    assert call(server, "DELETE", f"{WORKSPACE}/schedules/{name}", key=key)[0] == 403
    assert call(server, "GET", f"{WORKSPACE}/schedules/{name}", key=key)[1]["properties"]["isEnabled"]


def test_update_on_the_command_line_changes_only_what_is_there_and_only_when_meant(server, tmp_path):
    name = fresh("s")
    assert put(server, name)[0] == 201
    before = call(server, "GET", f"{WORKSPACE}/schedules/{name}")
    dry = server.cli("schedule", "update", name, "--set", "trigger.expression=0 4 * * *", "--tags", "a=b", "--dry-run")
    assert dry.returncode == 0 and "0 4 * * *" in dry.stdout and "nothing was sent" in dry.stderr
    assert call(server, "GET", f"{WORKSPACE}/schedules/{name}") == before
    done = server.cli("schedule", "update", name, "--set", "trigger.expression=0 4 * * *", "--tags", "a=b")
    assert done.returncode == 0, done.stderr
    assert f"nothing fires it by the clock yet: lavant schedule trigger {name}" in done.stderr
    now = call(server, "GET", f"{WORKSPACE}/schedules/{name}")[1]["properties"]
    assert now["trigger"]["expression"] == "0 4 * * *" and now["tags"] == {"a": "b"}

    absent = fresh("s")
    file = tmp_path / "s.yml"
    file.write_text(f"name: {absent}\ntrigger: {{type: cron, expression: '0 3 * * *'}}\ncreate_job: azureml:old\n")
    refused = server.cli("schedule", "update", "-f", file)
    assert refused.returncode == 5, refused.stderr
    assert call(server, "GET", f"{WORKSPACE}/schedules/{absent}")[0] == 404


@pytest.mark.parametrize("family", ["schedule", "datastore", "data", "model", "environment", "component", "compute", "job"])
def test_deleting_what_is_not_there_is_refused(server, family):
    removed = server.cli(family, "delete", fresh("nosuch"), "-y")
    assert removed.returncode == 5 and "deleted" not in removed.stderr + removed.stdout, removed.stderr
