"""ml.components: every kind, version defaults, anonymous ones, download."""
import pytest
import yaml
from azure.ai.ml import Input, Output, command, dsl, load_component
from azure.ai.ml.constants import ListViewType
from azure.ai.ml.entities import CommandComponent, Environment
from azure.ai.ml.exceptions import ValidationException
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import IMAGE, completed, fresh, log_of, raw, tree, workspace_id, write_tree

COMMAND = """
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
type: command
name: {name}
{version}
display_name: Train
description: text
tags: {{k: v}}
inputs:
  data: {{type: uri_folder}}
  n: {{type: integer, default: 3, min: 1, max: 10}}
  rate: {{type: number, default: 0.5}}
  flag: {{type: boolean, default: true}}
  word: {{type: string, optional: true}}
  choice: {{type: string, enum: [a, b], default: a}}
outputs:
  o: {{type: uri_folder}}
  m: {{type: mlflow_model}}
code: src
command: >-
  python main.py ${{{{inputs.data}}}} ${{{{inputs.n}}}} ${{{{inputs.rate}}}} $[[--word ${{{{inputs.word}}}}]] ${{{{outputs.o}}}} ${{{{outputs.m}}}}
environment:
  image: python:3.11-slim
resources:
  instance_count: 2
distribution:
  type: pytorch
  process_count_per_instance: 2
"""
PARALLEL = """
$schema: https://azuremlschemas.azureedge.net/latest/parallelComponent.schema.json
type: parallel
name: {name}
{version}
inputs:
  files: {{type: uri_folder}}
outputs:
  res: {{type: uri_file}}
input_data: ${{{{inputs.files}}}}
mini_batch_size: "2"
mini_batch_error_threshold: 3
logging_level: DEBUG
max_concurrency_per_instance: 2
retry_settings: {{max_retries: 2, timeout: 60}}
task:
  type: run_function
  code: src
  entry_script: score.py
  append_row_to: ${{{{outputs.res}}}}
  environment:
    image: python:3.11-slim
"""
SPARK = """
$schema: https://azuremlschemas.azureedge.net/latest/sparkComponent.schema.json
type: spark
name: {name}
{version}
inputs:
  p: {{type: integer, default: 1}}
outputs:
  o: {{type: uri_folder}}
code: src
entry:
  file: entry.py
args: --p ${{{{inputs.p}}}} --o ${{{{outputs.o}}}}
conf:
  spark.driver.cores: 1
  spark.driver.memory: 2g
  spark.executor.cores: 2
  spark.executor.memory: 2g
  spark.executor.instances: 2
"""
PIPELINE = """
$schema: https://azuremlschemas.azureedge.net/latest/pipelineComponent.schema.json
type: pipeline
name: {name}
{version}
inputs:
  n: {{type: integer, default: 2}}
outputs:
  final: {{type: uri_folder}}
jobs:
  one:
    type: command
    command: echo ${{{{inputs.n}}}} > ${{{{outputs.o}}}}/x
    environment:
      image: python:3.11-slim
    inputs:
      n: ${{{{parent.inputs.n}}}}
    outputs:
      o: ${{{{parent.outputs.final}}}}
"""
KINDS = {"command": COMMAND, "parallel": PARALLEL, "spark": SPARK, "pipeline": PIPELINE}


@pytest.fixture
def write(tmp_path, uniq):
    def one(kind="command", name=None, version='version: "1"'):
        name = name or uniq(kind)
        write_tree(tmp_path, {"src/main.py": fresh("print(1)"), "src/score.py": "def init(): pass\ndef run(b): return b\n",
                              "src/entry.py": "print('spark')", f"{name}.yml": KINDS[kind].format(name=name, version=version)})
        return tmp_path / f"{name}.yml"
    return one


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(ml, write, kind):
    path = write(kind)
    made = ml.components.create_or_update(load_component(path))
    assert made.type == kind and made.name == path.stem and made.version == "1"
    got = ml.components.get(path.stem, version="1")
    assert got.type == kind and got.id == f"{workspace_id()}/components/{path.stem}/versions/1"
    assert got.creation_context.created_at
    got.dump(str(path.parent / "dump.yml"))
    text = yaml.safe_load((path.parent / "dump.yml").read_text())
    assert text["type"] == kind and text["name"] == path.stem
    assert str(got)


def test_the_fields_of_a_command(ml, write):
    path = write()
    ml.components.create_or_update(load_component(path))
    got = ml.components.get(path.stem, version="1")
    assert (got.display_name, got.description, got.tags) == ("Train", "text", {"k": "v"})
    assert set(got.inputs) == {"data", "n", "rate", "flag", "word", "choice"} and set(got.outputs) == {"o", "m"}
    assert got.inputs["n"].type == "integer" and int(got.inputs["n"].default) == 3
    assert (int(got.inputs["n"].min), int(got.inputs["n"].max)) == (1, 10)
    assert got.inputs["word"].optional is True and not got.inputs["data"].optional
    assert got.inputs["choice"].enum == ["a", "b"] and got.outputs["m"].type == "mlflow_model"
    assert got.command.startswith("python main.py") and "/codes/" in got.code and got.environment
    assert got.resources.instance_count == 2 and int(got.distribution.process_count_per_instance) == 2


def test_a_component_without_a_version(ml, write):
    path = write(version="")
    first = ml.components.create_or_update(load_component(path))
    assert first.version
    assert ml.components.get(path.stem).version == first.version


def test_versions(ml, write, uniq):
    name = uniq("comp")
    for version in ("1", "2"):
        ml.components.create_or_update(load_component(write(name=name, version=f'version: "{version}"')))
    assert sorted(one.version for one in ml.components.list(name=name)) == ["1", "2"]
    assert ml.components.get(name).version == "2" and ml.components.get(name, label="latest").version == "2"
    assert ml.components.get(name, label="default").version == "2"


def test_the_version_as_an_argument(ml, write):
    made = ml.components.create_or_update(load_component(write(version="")), version="8")
    assert made.version == "8"


def test_the_same_again_is_no_error(ml, write):
    path = write()
    first = ml.components.create_or_update(load_component(path))
    assert ml.components.create_or_update(load_component(path)).id == first.id


def test_another_command_under_the_same_version_is_refused(ml, write):
    path = write("pipeline")
    path = write()
    ml.components.create_or_update(load_component(path))
    path.write_text(path.read_text().replace("python main.py", "python other.py"))
    with pytest.raises(HttpResponseError) as refused:
        ml.components.create_or_update(load_component(path))
    assert 400 <= refused.value.status_code < 500


def test_the_description_may_change(ml, write):
    path = write()
    ml.components.create_or_update(load_component(path))
    path.write_text(path.read_text().replace("description: text", "description: other"))
    assert ml.components.create_or_update(load_component(path)).description == "other"


def test_list(ml, write):
    path = write()
    ml.components.create_or_update(load_component(path))
    one = next(one for one in ml.components.list() if one.name == path.stem)
    assert one.latest_version == "1" if hasattr(one, "latest_version") else one.version in ("1", None)


def test_anonymous_components_are_not_listed(ml):
    assert "azureml_anonymous" not in [one.name for one in ml.components.list()]


def test_archive_and_restore(ml, write, uniq):
    name = uniq("comp")
    for version in ("1", "2"):
        ml.components.create_or_update(load_component(write(name=name, version=f'version: "{version}"')))
    ml.components.archive(name, version="1")
    assert [one.version for one in ml.components.list(name=name)] == ["2"]
    assert len(list(ml.components.list(name=name, list_view_type=ListViewType.ALL))) == 2
    ml.components.restore(name, version="1")
    ml.components.archive(name)
    assert name not in [one.name for one in ml.components.list()]
    ml.components.restore(name)
    assert name in [one.name for one in ml.components.list()]
    ml.components.archive(name, label="latest")
    assert [one.version for one in ml.components.list(name=name)] == ["1"]


def test_unknown(ml):
    for call in (lambda: ml.components.get("nosuchcomponent", version="1"), lambda: ml.components.get("nosuchcomponent"),
                 lambda: ml.components.archive("nosuchcomponent", version="1")):
        with pytest.raises(ResourceNotFoundError) as missing:
            call()
        assert "nosuchcomponent" in str(missing.value)


def test_download(ml, write, tmp_path):
    path = write()
    ml.components.create_or_update(load_component(path))
    ml.components.download(path.stem, download_path=tmp_path / "got", version="1")
    got = tree(tmp_path / "got")
    assert any(name.endswith((".yml", ".yaml")) for name in got) and any(name.endswith("main.py") for name in got), list(got)


def test_validate(ml, write):
    result = ml.components.validate(load_component(write()))
    assert result.passed, result.error_messages


def test_from_python(ml, uniq):
    made = ml.components.create_or_update(CommandComponent(
        name=uniq("comp"), version="1", command="echo ${{inputs.x}}", environment=Environment(image=IMAGE),
        inputs={"x": Input(type="string", default="hi")}, outputs={"o": Output(type="uri_folder")}))
    assert made.inputs["x"].default == "hi"


def test_from_a_command_node(ml, uniq):
    node = command(name=uniq("comp"), display_name="node", command="echo ${{inputs.x}}", environment="azureml:base:1",
                   inputs={"x": Input(type="integer", default=1)})
    made = ml.components.create_or_update(node.component)
    assert made.type == "command" and made.command == "echo ${{inputs.x}}"


def test_a_dsl_pipeline_as_a_component(ml, write, uniq):
    inner = load_component(write())

    @dsl.pipeline(name=uniq("pipe"), display_name="as a component", version="1")
    def pipe(n: int, data: Input(type="uri_folder")):
        node = inner(data=data, n=n)
        return {"out": node.outputs.o}

    made = ml.components.create_or_update(pipe)
    assert made.type == "pipeline" and set(made.inputs) == {"n", "data"} and set(made.outputs) == {"out"}
    assert len(ml.components.get(made.name, version=made.version).jobs) == 1


def test_an_environment_by_name(ml, write, uniq):
    path = write()
    env = uniq("env")
    ml.environments.create_or_update(Environment(name=env, image=IMAGE))
    path.write_text(path.read_text().replace("environment:\n  image: python:3.11-slim", f"environment: azureml:{env}:1"))
    got = ml.components.create_or_update(load_component(path))
    assert env in str(got.environment)


def test_a_registered_component_runs_as_a_job(ml, write):
    """A component is called and its node submitted by itself."""
    made = ml.components.create_or_update(CommandComponent(name=write().stem, version="1", command="echo ${{inputs.x}}",
                                                           environment="azureml:base:1", inputs={"x": Input(type="integer", default=5)}))
    node = made(x=6)
    node.environment = "azureml:base:1"
    try:
        done = completed(ml, node)
    except ValidationException:  # some releases want the environment in the node's own component
        return
    assert "6" in log_of(done.name)


def test_a_distribution_in_a_component_is_read_back(ml, write):
    path = write()
    path.write_text(path.read_text().replace("type: pytorch\n  process_count_per_instance: 2", "type: mpi\n  process_count_per_instance: 4"))
    got = ml.components.create_or_update(load_component(path))
    assert got.distribution.type.lower() == "mpi" and int(got.distribution.process_count_per_instance) == 4


INCLUDING = """
$schema: https://azuremlschemas.azureedge.net/latest/commandComponent.schema.json
type: command
name: {name}
version: "1"
command: ls
environment: {{image: "python:3.11-slim"}}
"""


@pytest.mark.parametrize("more", ["code: src\n", "code: src\nadditional_includes: [lib, one.txt]\n", "additional_includes: [./lib/]\n",
                                  "code: src/main.py\nadditional_includes: [lib]\n"])
def test_additional_includes_by_both_clients(ml, server, tmp_path, uniq, more):
    """The same code, found by its hash."""
    write_tree(tmp_path, {"src/main.py": "print(1)\n", "src/__pycache__/x.pyc": "x", "src/.amlignore": "*.log\n", "src/a.log": "x",
                          "lib/l.py": "l\n", "lib/b.log": "x", "lib/sub/.amlignore": "*.tmp\n", "lib/sub/c.tmp": "x",
                          "lib/sub/d.txt": "x", "one.txt": more})
    codes = []
    for send in ("sdk", "cli"):
        name = uniq("inc")
        file = tmp_path / f"{name}.yml"
        file.write_text(INCLUDING.format(name=name) + more)
        if send == "sdk":
            ml.components.create_or_update(load_component(file))
        else:
            ran = server.cli("component", "create", "-f", file.name, cwd=tmp_path)
            assert ran.returncode == 0, ran.stderr
        spec = raw("GET", f"{workspace_id()}/components/{name}/versions/1").json()["properties"]["componentSpec"]
        codes.append((spec["code"], spec.get("additional_includes")))
    assert codes[0] == codes[1]


def test_an_include_that_the_code_has_already(ml, server, tmp_path, uniq):
    write_tree(tmp_path, {"src/one.txt": "a", "one.txt": "b"})
    file = tmp_path / "c.yml"
    file.write_text(INCLUDING.format(name=uniq("inc")) + "code: src\nadditional_includes: [one.txt]\n")
    with pytest.raises(ValidationException):
        ml.components.create_or_update(load_component(file))
    assert server.cli("component", "create", "-f", file.name, cwd=tmp_path).returncode == 2
