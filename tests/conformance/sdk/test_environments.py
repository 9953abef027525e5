"""ml.environments: image, conda, build context, versions, labels, curated ones."""
import pytest
import yaml
from azure.ai.ml import load_environment
from azure.ai.ml.constants import ListViewType
from azure.ai.ml.entities import BuildContext, Environment
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import IMAGE, fresh, raw, tree, workspace_id, write_tree

CONDA = "name: x\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - pip:\n    - numpy\n"


@pytest.fixture
def make(ml):
    return lambda **fields: ml.environments.create_or_update(Environment(**fields))


def test_an_image(ml, make, uniq):
    name = uniq("env")
    made = make(name=name, image=IMAGE, description="text", tags={"a": "b"})
    assert (made.name, made.version, made.image) == (name, "1", IMAGE)
    got = ml.environments.get(name, version="1")
    assert got.id == f"{workspace_id()}/environments/{name}/versions/1"
    assert got.description == "text" and got.tags == {"a": "b"} and got.os_type.lower() == "linux"
    assert got.creation_context.created_at


def test_versions_grow_when_the_content_differs(ml, make, uniq):
    name = uniq("env")
    assert make(name=name, image=IMAGE).version == "1"
    assert make(name=name, image=IMAGE).version == "1"
    assert make(name=name, image="python:3.12-slim").version == "2"
    assert make(name=name, image="python:3.13-slim").version == "3"
    assert sorted(one.version for one in ml.environments.list(name=name)) == ["1", "2", "3"]


def test_a_version_of_ones_own(ml, make, uniq):
    name = uniq("env")
    assert make(name=name, image=IMAGE, version="2024.1-a").version == "2024.1-a"
    assert ml.environments.get(name, version="2024.1-a").image == IMAGE


def test_a_version_is_immutable(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE, version="1")
    with pytest.raises(HttpResponseError) as refused:
        make(name=name, image="python:3.12-slim", version="1")
    assert refused.value.status_code == 409


def test_description_and_tags_may_change(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE, version="1", tags={"a": "1"})
    make(name=name, image=IMAGE, version="1", tags={"b": "2"}, description="later")
    got = ml.environments.get(name, version="1")
    assert got.tags == {"b": "2"} and got.description == "later"


def test_conda_from_a_file(ml, make, uniq, tmp_path):
    write_tree(tmp_path, {"conda.yml": CONDA})
    name = uniq("env")
    make(name=name, image=IMAGE, conda_file=str(tmp_path / "conda.yml"))
    got = ml.environments.get(name, version="1")
    assert got.conda_file["dependencies"][0] == "python=3.11" and got.conda_file["channels"] == ["conda-forge"]


def test_conda_from_a_dictionary(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE, conda_file={"name": "y", "dependencies": ["python=3.10"]})
    assert ml.environments.get(name, version="1").conda_file["dependencies"] == ["python=3.10"]


def test_another_conda_file_is_another_version(make, uniq):
    name = uniq("env")
    assert make(name=name, image=IMAGE, conda_file={"dependencies": ["python=3.10"]}).version == "1"
    assert make(name=name, image=IMAGE, conda_file={"dependencies": ["python=3.11"]}).version == "2"


def test_a_build_context(ml, make, uniq, tmp_path):
    context = write_tree(tmp_path / "ctx", {"Dockerfile": fresh("FROM python:3.11-slim"), "requirements.txt": "numpy"})
    name = uniq("env")
    made = make(name=name, build=BuildContext(path=str(context)))
    assert made.build.path.startswith("https://") and made.build.dockerfile_path == "Dockerfile"
    assert ml.environments.get(name, version="1").build.path == made.build.path


def test_another_dockerfile(make, uniq, tmp_path):
    context = write_tree(tmp_path / "ctx", {"docker/My.Dockerfile": fresh("FROM python:3.11-slim")})
    made = make(name=uniq("env"), build=BuildContext(path=str(context), dockerfile_path="docker/My.Dockerfile"))
    assert made.build.dockerfile_path == "docker/My.Dockerfile"


def test_the_same_build_context_again(make, uniq, tmp_path):
    context = write_tree(tmp_path / "ctx", {"Dockerfile": fresh("FROM python:3.11-slim")})
    name = uniq("env")
    assert make(name=name, build=BuildContext(path=str(context))).version == "1"
    assert make(name=name, build=BuildContext(path=str(context))).version == "1"


def test_a_changed_build_context(make, uniq, tmp_path):
    context = write_tree(tmp_path / "ctx", {"Dockerfile": fresh("FROM python:3.11-slim")})
    name = uniq("env")
    make(name=name, build=BuildContext(path=str(context)))
    write_tree(context, {"Dockerfile": fresh("FROM python:3.12-slim")})
    assert make(name=name, build=BuildContext(path=str(context))).version == "2"


def test_labels(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE)
    make(name=name, image="python:3.12-slim")
    assert ml.environments.get(name, label="latest").version == "2"
    with pytest.raises(Exception):
        ml.environments.get(name, label="no-such-label")
    with pytest.raises(Exception):
        ml.environments.get(name, version="1", label="latest")
    with pytest.raises(Exception):
        ml.environments.get(name)


def test_latest_is_the_newest_not_the_highest(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE, version="9")
    make(name=name, image="python:3.12-slim", version="3")
    assert ml.environments.get(name, label="latest").version == "3"


def test_list(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE)
    make(name=name, image="python:3.12-slim")
    one = next(one for one in ml.environments.list() if one.name == name)
    assert one.latest_version == "2"


def test_list_of_an_unknown_name(ml):
    try:
        assert list(ml.environments.list(name="no-such-environment")) == []
    except ResourceNotFoundError:
        pass


def test_archive_and_restore_a_version(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE)
    make(name=name, image="python:3.12-slim")
    ml.environments.archive(name, version="1")
    assert [one.version for one in ml.environments.list(name=name)] == ["2"]
    assert [one.version for one in ml.environments.list(name=name, list_view_type=ListViewType.ARCHIVED_ONLY)] == ["1"]
    assert len(list(ml.environments.list(name=name, list_view_type=ListViewType.ALL))) == 2
    assert ml.environments.get(name, version="1").image == IMAGE
    ml.environments.restore(name, version="1")
    assert len(list(ml.environments.list(name=name))) == 2


def test_archive_and_restore_by_label(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE)
    ml.environments.archive(name, label="latest")
    assert list(ml.environments.list(name=name)) == []


def test_archive_and_restore_all_of_a_name(ml, make, uniq):
    name = uniq("env")
    make(name=name, image=IMAGE)
    ml.environments.archive(name)
    assert name not in [one.name for one in ml.environments.list()]
    assert name in [one.name for one in ml.environments.list(list_view_type=ListViewType.ARCHIVED_ONLY)]
    ml.environments.restore(name)
    assert name in [one.name for one in ml.environments.list()]


@pytest.mark.parametrize("call", [lambda o: o.get("no-such-env", version="1"), lambda o: o.archive("no-such-env", version="1")])
def test_unknown(ml, call):
    with pytest.raises(ResourceNotFoundError):
        call(ml.environments)


def test_an_unknown_label(ml):
    with pytest.raises(Exception) as missing:
        ml.environments.get("no-such-env", label="latest")
    assert "no-such-env" in str(missing.value)


@pytest.mark.parametrize("name", ["AzureML-sklearn-1.5", "AzureML-pytorch-1.10-ubuntu18.04-py38-cuda11-gpu"])
def test_curated_environments(ml, name):
    got = ml.environments.get(name, label="latest")
    assert got.name == name and got.image


def test_yaml(ml, make, uniq, tmp_path):
    name = uniq("env")
    make(name=name, image=IMAGE, conda_file={"dependencies": ["python=3.10"]}, tags={"k": "v"})
    got = ml.environments.get(name, version="1")
    got.dump(str(tmp_path / "e.yml"))
    text = yaml.safe_load((tmp_path / "e.yml").read_text())
    assert text["name"] == name and text["version"] == "1" and text["image"] == IMAGE
    assert ml.environments.create_or_update(load_environment(tmp_path / "e.yml")).version == "1"
    assert name in str(got)


def test_load_environment(ml, tmp_path, uniq):
    name = uniq("env")
    write_tree(tmp_path, {"conda.yml": CONDA, "env.yml": f"name: {name}\nimage: {IMAGE}\nconda_file: conda.yml\ndescription: d\n"})
    made = ml.create_or_update(load_environment(tmp_path / "env.yml"))
    assert made.name == name and made.description == "d" and "numpy" in str(made.conda_file)


def test_inference_config(ml, make, uniq):
    config = {"liveness_route": {"port": 80, "path": "/"}, "readiness_route": {"port": 80, "path": "/"},
              "scoring_route": {"port": 80, "path": "/score"}}
    name = uniq("env")
    make(name=name, image=IMAGE, inference_config=config)
    got = ml.environments.get(name, version="1")
    assert got.inference_config["scoring_route"]["path"] == "/score" if isinstance(got.inference_config, dict) else \
        got.inference_config.scoring_route.path == "/score"


def test_names_with_dots_and_dashes(make, uniq):
    name = uniq("my.env-1_")
    assert make(name=name, image=IMAGE).name == name


def test_a_bad_name_is_refused(make):
    with pytest.raises(Exception):
        make(name="bad name/with slash", image=IMAGE)
