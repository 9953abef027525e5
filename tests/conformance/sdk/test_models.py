"""ml.models: kinds, versions, job outputs, download."""
import pytest
import yaml
from azure.ai.ml import Output, command, load_model
from azure.ai.ml.constants import AssetTypes, ListViewType
from azure.ai.ml.entities import Model
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import completed, fresh, tree, workspace_id, write_tree


@pytest.fixture
def file(tmp_path):
    return write_tree(tmp_path, {"m.pkl": fresh("model")}) / "m.pkl"


@pytest.fixture
def folder(tmp_path):
    return write_tree(tmp_path / "mod", {"MLmodel": fresh("flavors:\n  sklearn: {}"), "data/w.bin": b"\0\1"})


@pytest.fixture
def make(ml):
    return lambda **fields: ml.models.create_or_update(Model(**fields))


@pytest.fixture(scope="module")
def trained(ml):
    text = "mkdir -p outputs/model; echo art > outputs/model/a.bin; echo named > ${{outputs.m}}/n.bin"
    return completed(ml, command(command=text, environment="azureml:base:1", outputs={"m": Output(type="custom_model")}))


def test_a_file(ml, make, file, uniq):
    name = uniq("model")
    made = make(name=name, path=str(file), type=AssetTypes.CUSTOM_MODEL, description="text", tags={"a": "b"}, properties={"p": "q"})
    assert made.version == "1" and made.path.endswith("/m.pkl")
    got = ml.models.get(name, version="1")
    assert got.id == f"{workspace_id()}/models/{name}/versions/1" and got.type == "custom_model"
    assert got.description == "text" and got.tags == {"a": "b"} and got.properties["p"] == "q" and got.creation_context.created_at


@pytest.mark.parametrize("kind", ["custom_model", "mlflow_model", "triton_model"])
def test_a_folder_of_every_kind(ml, make, folder, uniq, kind):
    name = uniq("model")
    made = make(name=name, path=str(folder), type=kind)
    assert made.type == kind and ml.models.get(name, version="1").type == kind


def test_the_kind_defaults_to_custom(make, file, uniq):
    assert make(name=uniq("model"), path=str(file)).type == "custom_model"


def test_versions_grow(make, file, uniq):
    name = uniq("model")
    assert [make(name=name, path=str(file)).version for _ in range(3)] == ["1", "2", "3"]


def test_versions_of_ones_own(ml, make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file), version="10")
    assert make(name=name, path=str(file)).version == "11"
    assert ml.models.get(name, label="latest").version == "11"


def test_flavors(ml, make, folder, uniq):
    name = uniq("model")
    made = make(name=name, path=str(folder), type="mlflow_model", flavors={"python_function": {"loader_module": "mlflow.sklearn"}})
    got = ml.models.get(name, version="1")
    assert got.flavors["python_function"]["loader_module"] == "mlflow.sklearn"


def test_a_version_is_immutable(make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file), version="1")
    write_tree(file.parent, {"m.pkl": fresh()})
    with pytest.raises(HttpResponseError) as refused:
        make(name=name, path=str(file), version="1")
    assert refused.value.status_code in (400, 409)


def test_tags_may_change(ml, make, file, uniq):
    name = uniq("model")
    made = make(name=name, path=str(file), version="1", tags={"a": "1"})
    made.tags["b"] = "2"
    made.description = "later"
    ml.models.create_or_update(made)
    got = ml.models.get(name, version="1")
    assert got.tags == {"a": "1", "b": "2"} and got.description == "later"


def test_labels(ml, make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file), version="3")
    make(name=name, path=str(file), version="2")
    assert ml.models.get(name, label="latest").version == "2"
    with pytest.raises(Exception):
        ml.models.get(name)


def test_list(ml, make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file))
    make(name=name, path=str(file))
    one = next(one for one in ml.models.list() if one.name == name)
    assert one.latest_version == "2"
    assert sorted(one.version for one in ml.models.list(name=name)) == ["1", "2"]
    assert all(one.type == "custom_model" and one.path for one in ml.models.list(name=name))


def test_archive_and_restore(ml, make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file))
    make(name=name, path=str(file))
    ml.models.archive(name, version="1")
    assert [one.version for one in ml.models.list(name=name)] == ["2"]
    assert len(list(ml.models.list(name=name, list_view_type=ListViewType.ALL))) == 2
    ml.models.restore(name, version="1")
    ml.models.archive(name)
    assert name not in [one.name for one in ml.models.list()]
    ml.models.restore(name)
    assert name in [one.name for one in ml.models.list()]
    ml.models.archive(name, label="latest")
    assert [one.version for one in ml.models.list(name=name)] == ["1"]


def test_download_of_a_file(ml, make, file, uniq, tmp_path):
    name = uniq("model")
    make(name=name, path=str(file))
    ml.models.download(name, version="1", download_path=tmp_path / "got")
    assert list(tree(tmp_path / "got").values()) == [file.read_bytes()]


def test_download_of_a_folder(ml, make, folder, uniq, tmp_path):
    name = uniq("model")
    make(name=name, path=str(folder), type="mlflow_model")
    ml.models.download(name, version="1", download_path=tmp_path / "got")
    assert sorted(tree(tmp_path / "got").values()) == sorted(tree(folder).values())
    assert [n.rpartition("mod/")[2] for n in sorted(tree(tmp_path / "got"))] == sorted(tree(folder))


def test_download_of_an_unknown_model(ml, tmp_path):
    with pytest.raises(ResourceNotFoundError):
        ml.models.download("no-such-model", version="1", download_path=tmp_path)


@pytest.mark.parametrize("path", ["azureml://jobs/{name}/outputs/artifacts/paths/outputs/model/", "azureml://jobs/{name}/outputs/m/paths/",
                                  "azureml://jobs/{name}/outputs/m", "runs:/{name}/outputs/model/"])
def test_from_the_outputs_of_a_job(ml, make, uniq, trained, tmp_path, path):
    name = uniq("model")
    made = make(name=name, path=path.format(name=trained.name), type="custom_model")
    assert made.version == "1" and made.path
    got = ml.models.get(name, version="1")
    assert got.job_name in (trained.name, None)
    ml.models.download(name, version="1", download_path=tmp_path / "got")
    assert list(tree(tmp_path / "got").values()) in ([b"art\n"], [b"named\n"])


def test_from_a_datastore(ml, make, uniq):
    name = uniq("model")
    made = make(name=name, path="azureml://datastores/workspaceblobstore/paths/models/m.bin")
    assert made.path.endswith("/datastores/workspaceblobstore/paths/models/m.bin")


def test_unknown(ml):
    with pytest.raises(ResourceNotFoundError):
        ml.models.get("no-such-model", version="1")
    with pytest.raises(Exception) as missing:
        ml.models.get("no-such-model", label="latest")
    assert "no-such-model" in str(missing.value)


def test_stage(ml, make, file, uniq):
    name = uniq("model")
    make(name=name, path=str(file), stage="Production")
    assert ml.models.get(name, version="1").stage == "Production"
    assert [one.version for one in ml.models.list(name=name, stage="Production")] == ["1"]
    assert list(ml.models.list(name=name, stage="Archived")) == []


def test_yaml(ml, make, file, uniq, tmp_path):
    name = uniq("model")
    make(name=name, path=str(file))
    got = ml.models.get(name, version="1")
    got.dump(str(tmp_path / "m.yml"))
    text = yaml.safe_load((tmp_path / "m.yml").read_text())
    assert text["name"] == name and text["version"] == "1" and text["type"] == "custom_model"
    assert name in str(got)


def test_load_model(ml, tmp_path, uniq):
    name = uniq("model")
    write_tree(tmp_path, {"x.bin": fresh(), "m.yml": f"name: {name}\nversion: 4\npath: x.bin\ntype: custom_model\n"})
    assert ml.create_or_update(load_model(tmp_path / "m.yml")).version == "4"


def test_a_model_as_another_datastores(make, file, uniq):
    assert "/workspaceartifactstore/" in make(name=uniq("model"), path=str(file), datastore="workspaceartifactstore").path


def test_package_is_refused_clearly(ml, make, file, uniq):
    from azure.ai.ml.entities import ModelPackage
    name = uniq("model")
    make(name=name, path=str(file))
    with pytest.raises(Exception):
        ml.models.package(name, "1", ModelPackage(target_environment="env", inferencing_server=None))
