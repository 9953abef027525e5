"""ml.schedules: triggers, enabling, disabling, triggering, deleting."""
import datetime

import pytest
import yaml
from azure.ai.ml import load_job
from azure.ai.ml.constants import TimeZone
from azure.ai.ml.entities._load_functions import load_schedule
from azure.ai.ml.entities import CronTrigger, JobSchedule, RecurrencePattern, RecurrenceTrigger
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import text_of, write_tree

PIPELINE = """
$schema: https://azuremlschemas.azureedge.net/latest/pipelineJob.schema.json
type: pipeline
experiment_name: scheduled
display_name: a pipeline
settings: {default_compute: serverless}
inputs: {n: 3}
jobs:
  a:
    type: command
    command: echo ${{inputs.n}}
    environment: {image: "python:3.11-slim"}
    inputs: {n: "${{parent.inputs.n}}"}
"""


@pytest.fixture
def pipeline(tmp_path):
    return write_tree(tmp_path, {"p.yml": PIPELINE}) / "p.yml"


@pytest.fixture
def create(ml, pipeline, uniq):
    made = []

    def one(trigger=None, **fields):
        name = fields.pop("name", None) or uniq("sched")
        job = fields.pop("create_job", None) or load_job(pipeline)
        result = ml.schedules.begin_create_or_update(JobSchedule(
            name=name, trigger=trigger or CronTrigger(expression="15 10 * * 1", time_zone="UTC"), create_job=job, **fields)).result()
        made.append(result.name)
        return result

    yield one
    for name in made:
        try:
            ml.schedules.begin_disable(name).result()
            ml.schedules.begin_delete(name).result()
        except HttpResponseError:
            pass


def test_cron(ml, create):
    made = create(display_name="shown", description="text", tags={"a": "b"})
    got = ml.schedules.get(made.name)
    assert got.trigger.expression == "15 10 * * 1" and got.trigger.time_zone == "UTC" and text_of(got.trigger.type).lower() == "cron"
    assert got.is_enabled is True and got.display_name == "shown" and got.description == "text" and got.tags == {"a": "b"}
    assert got.provisioning_state == "Succeeded" and got.create_job.type == "pipeline" and got.create_job.experiment_name == "scheduled"


@pytest.mark.parametrize("zone", ["Pacific Standard Time", "W. Europe Standard Time", "Europe/Berlin", TimeZone.UTC])
def test_time_zones(create, zone):
    try:
        made = create(CronTrigger(expression="0 0 * * *", time_zone=zone))
    except HttpResponseError as refused:
        assert zone == "Europe/Berlin" and refused.status_code == 400  # Azure knows Windows names only
        return
    assert text_of(made.trigger.time_zone) == text_of(zone)


@pytest.mark.parametrize("frequency,interval", [("minute", 5), ("hour", 4), ("day", 1), ("week", 2), ("month", 1)])
def test_recurrences(create, frequency, interval):
    made = create(RecurrenceTrigger(frequency=frequency, interval=interval))
    assert text_of(made.trigger.frequency).lower() == frequency and made.trigger.interval == interval


def test_a_pattern(ml, create):
    pattern = RecurrencePattern(hours=[8, 20], minutes=[0, 30], week_days=["monday", "friday"])
    made = create(RecurrenceTrigger(frequency="week", interval=1, schedule=pattern))
    got = ml.schedules.get(made.name).trigger.schedule
    assert got.hours == [8, 20] and got.minutes == [0, 30] and [text_of(day).lower() for day in got.week_days] == ["monday", "friday"]


def test_month_days(create):
    made = create(RecurrenceTrigger(frequency="month", interval=1, schedule=RecurrencePattern(hours=1, minutes=0, month_days=[1, 15])))
    assert made.trigger.schedule.month_days == [1, 15]


def test_start_and_end(create):
    start, end = datetime.datetime(2030, 1, 1, 8), datetime.datetime(2031, 1, 1)
    made = create(CronTrigger(expression="0 0 * * *", start_time=start, end_time=end, time_zone="UTC"))
    assert str(made.trigger.start_time).replace(" ", "T").startswith("2030-01-01T08:00:00")
    assert str(made.trigger.end_time).replace(" ", "T").startswith("2031-01-01T00:00:00")


@pytest.mark.parametrize("expression", ["not a cron", "61 * * * *", "* * *"])
def test_a_bad_expression_is_refused(create, expression):
    with pytest.raises(Exception):
        create(CronTrigger(expression=expression))


def test_disable_enable(ml, create):
    name = create().name
    assert ml.schedules.begin_disable(name).result().is_enabled is False
    assert ml.schedules.get(name).is_enabled is False
    assert ml.schedules.begin_enable(name).result().is_enabled is True


def test_create_disabled(ml, create):
    made = create()
    job = ml.schedules.get(made.name)
    job._is_enabled = False
    assert ml.schedules.begin_create_or_update(job).result().is_enabled is False


def test_list(ml, create):
    on, off = create().name, create().name
    ml.schedules.begin_disable(off).result()
    names = lambda view: [one.name for one in ml.schedules.list(list_view_type=view)]
    assert on in [one.name for one in ml.schedules.list()] and off not in [one.name for one in ml.schedules.list()]
    assert off in names("DisabledOnly") and on not in names("DisabledOnly")
    assert {on, off} <= set(names("All"))


def test_update(ml, create):
    made = create()
    got = ml.schedules.get(made.name)
    got.trigger = CronTrigger(expression="0 6 * * *", time_zone="UTC")
    changed = ml.schedules.begin_create_or_update(got).result()
    assert changed.trigger.expression == "0 6 * * *" and changed.name == made.name


def test_trigger(ml, create):
    made = create()
    result = ml.schedules.trigger(made.name)
    assert result.job_name and ml.jobs.get(result.job_name).type == "pipeline"


def test_delete(ml, create):
    name = create().name
    with pytest.raises(HttpResponseError) as refused:
        ml.schedules.begin_delete(name).result()
    assert "Cannot delete an active trigger" in str(refused.value)
    ml.schedules.begin_disable(name).result()
    assert ml.schedules.begin_delete(name).result() is None
    with pytest.raises(ResourceNotFoundError):
        ml.schedules.get(name)


@pytest.mark.parametrize("action", ["get", "begin_enable", "begin_disable", "trigger"])
def test_unknown(ml, action):
    with pytest.raises(HttpResponseError) as missing:
        answer = getattr(ml.schedules, action)("no-such-schedule")
        if action.startswith("begin"):
            answer.result()
    assert missing.value.status_code == 404 and "not found" in str(missing.value).lower()


def test_a_job_that_was_submitted_before(ml, create, pipeline):
    job = ml.jobs.create_or_update(load_job(pipeline))
    made = create(create_job=job)
    assert made.create_job


def test_yaml(ml, create, tmp_path):
    made = ml.schedules.get(create().name)
    made.dump(str(tmp_path / "s.yml"))
    text = yaml.safe_load((tmp_path / "s.yml").read_text())
    assert text["name"] == made.name and text["trigger"]["expression"] == "15 10 * * 1"
    assert str(made)


def test_load_schedule(ml, create, tmp_path, uniq):
    name = uniq("sched")
    write_tree(tmp_path, {"p.yml": PIPELINE, "s.yml": f"""
$schema: https://azuremlschemas.azureedge.net/latest/schedule.schema.json
name: {name}
display_name: from a file
trigger:
  type: recurrence
  frequency: day
  interval: 1
  schedule: {{hours: [4, 5], minutes: [0, 10]}}
  time_zone: Pacific Standard Time
create_job: p.yml
"""})
    made = ml.schedules.begin_create_or_update(load_schedule(tmp_path / "s.yml")).result()
    assert made.display_name == "from a file" and made.trigger.schedule.hours == [4, 5]
    ml.schedules.begin_disable(name).result()
    ml.schedules.begin_delete(name).result()


def test_load_schedule_with_job_settings(ml, tmp_path, uniq):
    name = uniq("sched")
    write_tree(tmp_path, {"p.yml": PIPELINE, "s.yml": f"""
name: {name}
trigger: {{type: cron, expression: "0 * * * *"}}
create_job:
  type: pipeline
  job: ./p.yml
  experiment_name: another
  inputs: {{n: 9}}
  settings: {{default_compute: serverless}}
"""})
    made = ml.schedules.begin_create_or_update(load_schedule(tmp_path / "s.yml")).result()
    assert made.create_job.experiment_name == "another"
    assert str(made.create_job._to_dict()["inputs"]["n"]) == "9"
    ml.schedules.begin_disable(name).result()
    ml.schedules.begin_delete(name).result()
