"""Curated environments: in the workspace, in their registry, in components and in jobs."""
import pytest
from azure.ai.ml import MLClient, command
from azure.ai.ml.entities import CommandComponent
from azure.core.exceptions import ResourceNotFoundError
from azure.identity import DefaultAzureCredential
from flows import completed

NAME = "AzureML-sklearn-1.0-ubuntu20.04-py38-cpu"
REGISTRY = "azureml://registries/azureml/environments/"


@pytest.fixture(scope="module")
def registry():
    return MLClient(DefaultAzureCredential(), registry_name="azureml", enable_telemetry=False)


def test_by_version_and_by_label(ml):
    found = ml.environments.get(NAME, version="33")
    assert (found.name, found.version) == (NAME, "33") and found.id == f"{REGISTRY}{NAME}/versions/33"
    assert ml.environments.get(NAME, label="latest").version
    with pytest.raises(ResourceNotFoundError):
        ml.environments.get(NAME, version="100000")


def test_in_their_registry(registry):
    found = registry.environments.get("sklearn-1.5", version="3")
    assert (found.name, found.version) == ("sklearn-1.5", "3") and found.id == f"{REGISTRY}sklearn-1.5/versions/3"
    latest = registry.environments.get("sklearn-1.5", label="latest")
    assert int(latest.version) >= 3
    assert {"sklearn-1.5", NAME} <= {one.name for one in registry.environments.list()}
    with pytest.raises(ResourceNotFoundError):
        registry.environments.get("no-such-environment", version="1")


@pytest.mark.parametrize("environment", [f"{NAME}:33", f"azureml:{NAME}:33", f"{REGISTRY}{NAME}/versions/33"])
def test_in_a_component(ml, uniq, environment):
    made = ml.components.create_or_update(
        CommandComponent(name=uniq("comp").replace("-", "_"), version="1", command="echo x", environment=environment))
    assert made.environment == f"{REGISTRY}{NAME}/versions/33"


@pytest.mark.parametrize("environment", [f"{NAME}@latest", f"azureml:{NAME}:33", f"{REGISTRY}sklearn-1.5/labels/latest",
                                         f"{REGISTRY}sklearn-1.5/versions/3"])
def test_in_a_job(ml, environment):
    done = completed(ml, command(command="echo it runs", environment=environment))
    assert done.status in ("Completed", "Finalizing")
