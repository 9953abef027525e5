"""ml.data: files, folders, tables, versions, labels, archive."""
import pytest
import yaml
from azure.ai.ml import load_data
from azure.ai.ml.constants import AssetTypes, ListViewType
from azure.ai.ml.entities import Data
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import fresh, workspace_id, write_tree


@pytest.fixture
def file(tmp_path):
    return write_tree(tmp_path, {"in.csv": fresh("a,b\n1,2")}) / "in.csv"


@pytest.fixture
def folder(tmp_path):
    return write_tree(tmp_path / "fold", {"a.txt": fresh(), "sub/b.txt": "b"})


@pytest.fixture
def make(ml):
    return lambda **fields: ml.data.create_or_update(Data(**fields))


def test_a_file(ml, make, file, uniq):
    name = uniq("data")
    made = make(name=name, path=str(file), type=AssetTypes.URI_FILE, description="text", tags={"a": "b"})
    assert made.version == "1" and made.path.endswith("/in.csv") and made.path.startswith("azureml://")
    got = ml.data.get(name, version="1")
    assert got.id == f"{workspace_id()}/data/{name}/versions/1" and got.type == "uri_file"
    assert got.description == "text" and got.tags == {"a": "b"} and got.creation_context.created_at


def test_a_folder(ml, make, folder, uniq):
    name = uniq("data")
    made = make(name=name, path=str(folder), type="uri_folder")
    assert made.path.endswith("/fold/") and ml.data.get(name, version="1").type == "uri_folder"


def test_a_table(ml, make, tmp_path, uniq):
    table = write_tree(tmp_path / "t", {"MLTable": "paths:\n  - file: ./x.csv\ntransformations:\n  - read_delimited:\n      delimiter: ','\n",
                                        "x.csv": fresh("a")})
    made = make(name=uniq("data"), path=str(table), type="mltable", skip_validation=True)  # else it asks for a schema far away
    assert made.type == "mltable" and made.path.endswith("/")


def test_a_table_without_its_file_is_the_clients_refusal(make, folder, uniq):
    with pytest.raises(Exception):
        make(name=uniq("data"), path=str(folder), type="mltable")


def test_versions_grow(ml, make, file, uniq):
    name = uniq("data")
    assert [make(name=name, path=str(file), type="uri_file").version for _ in range(3)] == ["1", "2", "3"]


def test_a_version_of_ones_own_and_the_next(ml, make, file, uniq):
    name = uniq("data")
    assert make(name=name, path=str(file), type="uri_file", version="7").version == "7"
    assert make(name=name, path=str(file), type="uri_file").version == "8"


def test_a_version_that_is_a_word(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file", version="initial")
    assert ml.data.get(name, version="initial").version == "initial"
    assert make(name=name, path=str(file), type="uri_file").version


def test_the_path_of_a_version_cannot_change(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file", version="1")
    write_tree(file.parent, {"in.csv": fresh()})
    with pytest.raises(HttpResponseError) as refused:
        make(name=name, path=str(file), type="uri_file", version="1")
    assert refused.value.status_code in (400, 409)


def test_tags_may_change(ml, make, file, uniq):
    name = uniq("data")
    made = make(name=name, path=str(file), type="uri_file", version="1")
    made.tags = {"new": "1"}
    made.description = "later"
    back = ml.data.create_or_update(made)
    assert back.tags == {"new": "1"} and ml.data.get(name, version="1").description == "later"


def test_labels(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file", version="1")
    make(name=name, path=str(file), type="uri_file", version="2")
    assert ml.data.get(name, label="latest").version == "2"
    with pytest.raises(Exception):
        ml.data.get(name)


URIS = ["azureml://datastores/workspaceblobstore/paths/some/where/x.csv", "https://example.blob.core.windows.net/c/x.csv",
        "wasbs://c@example.blob.core.windows.net/x.csv", "abfss://c@example.dfs.core.windows.net/x.csv",
        "https://raw.githubusercontent.com/a/b/main/x.csv"]


@pytest.mark.parametrize("uri", URIS)
def test_a_remote_file(ml, make, uniq, uri):
    name = uniq("data")
    make(name=name, path=uri, type="uri_file")
    got = ml.data.get(name, version="1").path
    assert got == uri or got.endswith("/datastores/workspaceblobstore/paths/some/where/x.csv")


def test_a_remote_folder(ml, make, uniq):
    name = uniq("data")
    make(name=name, path="azureml://datastores/workspaceblobstore/paths/some/folder", type="uri_folder")
    assert ml.data.get(name, version="1").path.endswith("/some/folder/")


def test_the_output_of_a_job_as_data(ml, make, uniq):
    from azure.ai.ml import Output, command
    from flows import completed
    done = completed(ml, command(command="echo x > ${{outputs.o}}/x", environment="azureml:base:1", outputs={"o": Output(type="uri_folder")}))
    name = uniq("data")
    make(name=name, path=f"azureml://jobs/{done.name}/outputs/o/paths/", type="uri_folder")
    assert ml.data.get(name, version="1").path


def test_list(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file")
    make(name=name, path=str(file), type="uri_file")
    one = next(one for one in ml.data.list() if one.name == name)
    assert one.latest_version == "2" and one.type == "uri_file"
    assert sorted(one.version for one in ml.data.list(name=name)) == ["1", "2"]


def test_archive_and_restore(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file")
    make(name=name, path=str(file), type="uri_file")
    ml.data.archive(name, version="1")
    assert [one.version for one in ml.data.list(name=name)] == ["2"]
    assert [one.version for one in ml.data.list(name=name, list_view_type=ListViewType.ARCHIVED_ONLY)] == ["1"]
    ml.data.restore(name, version="1")
    ml.data.archive(name)
    assert name not in [one.name for one in ml.data.list()]
    assert name in [one.name for one in ml.data.list(list_view_type=ListViewType.ALL)]
    ml.data.restore(name)
    assert name in [one.name for one in ml.data.list()]


def test_archive_by_label(ml, make, file, uniq):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file")
    ml.data.archive(name, label="latest")
    assert list(ml.data.list(name=name)) == []


def test_unknown(ml):
    with pytest.raises(ResourceNotFoundError):
        ml.data.get("no-such-data", version="1")
    with pytest.raises(Exception) as missing:
        ml.data.get("no-such-data", label="latest")
    assert "no-such-data" in str(missing.value)
    with pytest.raises(ResourceNotFoundError):
        ml.data.archive("no-such-data", version="1")


def test_the_same_content_is_uploaded_once(make, file, uniq):
    first = make(name=uniq("data"), path=str(file), type="uri_file")
    second = make(name=uniq("data"), path=str(file), type="uri_file")
    assert first.path == second.path


def test_another_datastore(make, file, uniq):
    made = make(name=uniq("data"), path=str(file), type="uri_file", datastore="workspaceartifactstore")
    assert "/datastores/workspaceartifactstore/" in made.path


def test_yaml(ml, make, file, uniq, tmp_path):
    name = uniq("data")
    make(name=name, path=str(file), type="uri_file", description="d")
    got = ml.data.get(name, version="1")
    got.dump(str(tmp_path / "d.yml"))
    text = yaml.safe_load((tmp_path / "d.yml").read_text())
    assert text["name"] == name and text["type"] == "uri_file" and text["path"] == got.path
    assert name in str(got)


def test_load_data(ml, tmp_path, uniq):
    name = uniq("data")
    write_tree(tmp_path, {"x.csv": fresh(), "d.yml": f"name: {name}\nversion: '5'\ntype: uri_file\npath: x.csv\ntags: {{k: v}}\n"})
    made = ml.data.create_or_update(load_data(tmp_path / "d.yml"))
    assert made.version == "5" and made.tags == {"k": "v"}


def test_a_local_path_that_is_not_there(make, uniq):
    with pytest.raises(Exception):
        make(name=uniq("data"), path="./no/such/file.csv", type="uri_file")


def test_mount_needs_another_package(ml):
    with pytest.raises(Exception):
        ml.data.mount("azureml:x:1")


def test_auto_delete_setting(ml, make, file, uniq):
    from azure.ai.ml.entities._assets.auto_delete_setting import AutoDeleteSetting
    name = uniq("data")
    made = make(name=name, path=str(file), type="uri_file", auto_delete_setting=AutoDeleteSetting(condition="created_greater_than", value="30d"))
    assert made.name == name


def test_import_data_is_answered_or_refused_clearly(ml, uniq):
    from azure.ai.ml.data_transfer import Database
    from azure.ai.ml.entities import DataImport
    thing = DataImport(name=uniq("imp"), source=Database(connection="azureml:conn", query="select 1"),
                       path="azureml://datastores/workspaceblobstore/paths/snow/")
    try:
        made = ml.data.import_data(thing)
        assert made.name
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500
