"""ml.datastores: every kind, every kind of credential."""
import pytest
import sdk_version
import yaml
from azure.ai.ml import load_datastore
from azure.ai.ml.entities import (AccountKeyConfiguration, AzureBlobDatastore, AzureDataLakeGen1Datastore, AzureDataLakeGen2Datastore,
                                  AzureFileDatastore, CertificateConfiguration, NoneCredentialConfiguration, OneLakeDatastore,
                                  SasTokenConfiguration, ServicePrincipalConfiguration)
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import text_of, write_tree

TENANT, CLIENT = "00000000-0000-0000-0000-0000000000aa", "00000000-0000-0000-0000-0000000000bb"
PRINCIPAL = ServicePrincipalConfiguration(tenant_id=TENANT, client_id=CLIENT, client_secret="secret")
CREDENTIALS = {"key": AccountKeyConfiguration(account_key="a2V5"), "sas": SasTokenConfiguration(sas_token="?sv=2022-11-02&sig=x"),
               "principal": PRINCIPAL, "none": NoneCredentialConfiguration()}


@pytest.fixture
def create(ml):
    made = []

    def one(store):
        result = ml.datastores.create_or_update(store)
        made.append(result.name)
        return result

    yield one
    for name in made:
        try:
            ml.datastores.delete(name)
        except HttpResponseError:
            pass


def test_the_built_in_ones(ml):
    names = {one.name for one in ml.datastores.list()}
    assert {"workspaceblobstore", "workspaceartifactstore"} <= names
    assert text_of(ml.datastores.get("workspaceblobstore").type).lower().replace("_", "") == "azureblob"


def test_default(ml):
    got = ml.datastores.get_default()
    assert got.name == "workspaceblobstore" and got.container_name


def test_default_with_secrets(ml):
    got = ml.datastores.get_default(include_secrets=True)
    assert getattr(got.credentials, "account_key", None) or getattr(got.credentials, "sas_token", None)


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_blob(ml, create, uniq, credential):
    name = uniq("ds")
    made = create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont", description="text", tags={"a": "b"},
                                     credentials=CREDENTIALS[credential]))
    assert made.name == name and made.account_name == "acc"
    got = ml.datastores.get(name)
    assert (got.account_name, got.container_name, got.protocol, got.endpoint) == ("acc", "cont", "https", "core.windows.net")
    assert got.description == "text" and got.tags == {"a": "b"} and got.id.endswith("/datastores/" + name)
    assert type(got.credentials).__name__ == type(CREDENTIALS[credential]).__name__
    assert not getattr(got.credentials, "account_key", None) and not getattr(got.credentials, "sas_token", None)


def test_secrets_are_given_when_asked_for(ml, create, uniq):
    name = uniq("ds")
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont", credentials=CREDENTIALS["key"]))
    assert ml.datastores.get(name, include_secrets=True).credentials.account_key == "a2V5"
    one = next(one for one in ml.datastores.list(include_secrets=True) if one.name == name)
    assert one.credentials.account_key == "a2V5"


def test_sas_secret(ml, create, uniq):
    name = uniq("ds")
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont", credentials=CREDENTIALS["sas"]))
    assert "sig=x" in ml.datastores.get(name, include_secrets=True).credentials.sas_token


def test_principal_secret(ml, create, uniq):
    name = uniq("ds")
    create(AzureDataLakeGen2Datastore(name=name, account_name="acc", filesystem="fs", credentials=PRINCIPAL))
    got = ml.datastores.get(name)
    assert got.credentials.client_id == CLIENT and got.credentials.tenant_id == TENANT and not got.credentials.client_secret
    assert ml.datastores.get(name, include_secrets=True).credentials.client_secret == "secret"


def test_file_share(ml, create, uniq):
    name = uniq("ds")
    create(AzureFileDatastore(name=name, account_name="acc", file_share_name="share", credentials=CREDENTIALS["key"]))
    got = ml.datastores.get(name)
    assert got.file_share_name == "share" and text_of(got.type).lower().replace("_", "") == "azurefile"


@pytest.mark.parametrize("credential", ["principal", "none"])
def test_data_lake_2(ml, create, uniq, credential):
    name = uniq("ds")
    create(AzureDataLakeGen2Datastore(name=name, account_name="acc", filesystem="fs", credentials=CREDENTIALS[credential]))
    got = ml.datastores.get(name)
    assert got.filesystem == "fs" and got.account_name == "acc"


def test_data_lake_1(ml, create, uniq):
    name = uniq("ds")
    create(AzureDataLakeGen1Datastore(name=name, store_name="lake", credentials=PRINCIPAL))
    assert ml.datastores.get(name).store_name == "lake"


@pytest.mark.skipif(sdk_version.OLD, reason="the release reads a field that its own answers have not, and then cannot list them")
def test_certificate(ml, create, uniq):
    name = uniq("ds")
    create(AzureDataLakeGen2Datastore(name=name, account_name="acc", filesystem="fs", credentials=CertificateConfiguration(
        tenant_id=TENANT, client_id=CLIENT, certificate="-----BEGIN CERTIFICATE-----", thumbprint="ab")))
    assert ml.datastores.get(name).credentials.thumbprint == "ab"


def test_one_lake(ml, create, uniq):
    from azure.ai.ml.entities import OneLakeArtifact
    name = uniq("ds")
    create(OneLakeDatastore(name=name, one_lake_workspace_name="w", endpoint="onelake.dfs.fabric.microsoft.com",
                            artifact=OneLakeArtifact(name="lake.Lakehouse", type="lake_house")))
    assert ml.datastores.get(name).one_lake_workspace_name == "w"


def test_update(ml, create, uniq):
    name = uniq("ds")
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont", description="one"))
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="other", description="two"))
    got = ml.datastores.get(name)
    assert got.container_name == "other" and got.description == "two"


def test_delete(ml, uniq):
    name = uniq("ds")
    ml.create_or_update(AzureBlobDatastore(name=name, account_name="acc", container_name="cont"))
    ml.datastores.delete(name)
    with pytest.raises(ResourceNotFoundError):
        ml.datastores.get(name)
    assert name not in [one.name for one in ml.datastores.list()]


def test_unknown(ml):
    with pytest.raises(ResourceNotFoundError) as missing:
        ml.datastores.get("nosuchstore")
    assert "nosuchstore" in str(missing.value)


def test_a_built_in_one_cannot_be_deleted(ml):
    with pytest.raises(HttpResponseError) as refused:
        ml.datastores.delete("workspaceblobstore")
    assert 400 <= refused.value.status_code < 500
    assert ml.datastores.get("workspaceblobstore").name


@pytest.mark.parametrize("name", ["has-dash", "has space", "UPPER"])
def test_names(ml, create, name):
    """Azure: lower-case letters, digits and underscores."""
    try:
        create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont"))
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500


def test_yaml(ml, create, uniq, tmp_path):
    name = uniq("ds")
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont"))
    got = ml.datastores.get(name)
    got.dump(str(tmp_path / "d.yml"))
    text = yaml.safe_load((tmp_path / "d.yml").read_text())
    assert text["name"] == name and text["container_name"] == "cont" and "azure_blob" in text["type"].lower()
    assert name in str(got)


def test_load_datastore(ml, create, uniq, tmp_path):
    name = uniq("ds")
    write_tree(tmp_path, {"d.yml": f"name: {name}\ntype: azure_blob\ndescription: d\naccount_name: acc\ncontainer_name: cont\n"
                                   "credentials:\n  account_key: a2V5\n"})
    assert create(load_datastore(tmp_path / "d.yml")).description == "d"


def test_mount_needs_another_package(ml):
    with pytest.raises(Exception):
        ml.datastores.mount("workspaceblobstore")


def test_data_on_a_datastore_of_ones_own(ml, create, uniq):
    from azure.ai.ml.entities import Data
    name = uniq("ds")
    create(AzureBlobDatastore(name=name, account_name="acc", container_name="cont", credentials=CREDENTIALS["key"]))
    data = uniq("data")
    ml.data.create_or_update(Data(name=data, path=f"azureml://datastores/{name}/paths/a/b.csv", type="uri_file"))
    assert ml.data.get(data, version="1").path.endswith(f"/datastores/{name}/paths/a/b.csv")
