"""Every class and option of ml.compute."""
import os

import pytest
import yaml
from azure.ai.ml import load_compute
from azure.ai.ml.entities import (AmlCompute, AmlComputeSshSettings, ComputeInstance, ComputeInstanceSshSettings, IdentityConfiguration,
                                  KubernetesCompute, ManagedIdentityConfiguration, NetworkSettings, SynapseSparkCompute,
                                  VirtualMachineCompute, VirtualMachineSshSettings)
from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from flows import text_of, workspace_id, write_tree

SIZE = "Standard_DS3_v2"


def attribute(thing, *names):
    """1.35 copies the wire names onto nodes, sizes and usages; older releases have Python's."""
    return next((value for name in names if (value := vars(thing).get(name)) is not None), None)


@pytest.fixture
def create(ml):
    """Creates, and removes at the end."""
    made = []

    def one(compute, attach=False):
        result = (ml.compute.begin_attach if attach else ml.compute.begin_create_or_update)(compute).result()
        made.append(result.name)
        return result

    yield one
    for name in made:
        try:
            ml.compute.begin_delete(name, action="Detach")
        except HttpResponseError:
            pass


@pytest.fixture(scope="module")
def cluster(ml):
    import uuid
    name = "cl" + uuid.uuid4().hex[:8]
    ml.compute.begin_create_or_update(AmlCompute(name=name, size=SIZE, min_instances=0, max_instances=2, tags={"a": "b"},
                                                 description="text", idle_time_before_scale_down=300)).result()
    yield name
    ml.compute.begin_delete(name)


# --- clusters

def test_a_cluster_with_nothing_but_a_size(create, uniq):
    got = create(AmlCompute(name=uniq("cl"), size=SIZE))
    assert got.type == "amlcompute" and got.provisioning_state == "Succeeded" and got.size.lower() == SIZE.lower()
    assert got.min_instances == 0 and got.max_instances >= 1 and text_of(got.tier).lower() == "dedicated"


def test_get(ml, cluster):
    got = ml.compute.get(cluster)
    assert got.name == cluster and got.id == f"{workspace_id()}/computes/{cluster}" and got.location
    assert (got.min_instances, got.max_instances, got.idle_time_before_scale_down) == (0, 2, 300)
    assert got.tags == {"a": "b"} and got.description == "text"


@pytest.mark.parametrize("tier", ["low_priority", "dedicated"])
def test_tiers(create, uniq, tier):
    assert create(AmlCompute(name=uniq("cl"), size=SIZE, tier=tier)).tier == tier


@pytest.mark.parametrize("seconds", [60, 120, 1800, 7200])
def test_idle_time(create, uniq, seconds):
    assert create(AmlCompute(name=uniq("cl"), size=SIZE, idle_time_before_scale_down=seconds)).idle_time_before_scale_down == seconds


def test_ssh_settings_without_the_password(ml, create, uniq):
    name = uniq("cl")
    create(AmlCompute(name=name, size=SIZE, ssh_public_access_enabled=True, ssh_settings=AmlComputeSshSettings(
        admin_username="me", admin_password="Passw0rd!x", ssh_key_value="ssh-rsa AAA")))
    got = ml.compute.get(name)
    assert got.ssh_settings.admin_username == "me" and got.ssh_public_access_enabled is True
    assert got.ssh_settings.admin_password is None


def test_system_identity(create, uniq):
    got = create(AmlCompute(name=uniq("cl"), size=SIZE, identity=IdentityConfiguration(type="system_assigned")))
    assert got.identity.type == "system_assigned"


def test_user_identities(create, uniq):
    base = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"
    identity = IdentityConfiguration(type="user_assigned", user_assigned_identities=[
        ManagedIdentityConfiguration(resource_id=base + "one"), ManagedIdentityConfiguration(resource_id=base + "two")])
    got = create(AmlCompute(name=uniq("cl"), size=SIZE, identity=identity))
    assert sorted(one.resource_id for one in got.identity.user_assigned_identities) == [base + "one", base + "two"]


def test_network_settings(create, uniq):
    subnet = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/v/subnets/s"
    got = create(AmlCompute(name=uniq("cl"), size=SIZE, network_settings=NetworkSettings(subnet=subnet), enable_node_public_ip=False))
    assert got.network_settings.subnet == subnet and got.enable_node_public_ip is False


def test_location(create, uniq, ml):
    got = create(AmlCompute(name=uniq("cl"), size=SIZE, location=ml.workspaces.get().location))
    assert got.location


def test_update_of_a_fetched_cluster(ml, create, uniq):
    name = uniq("cl")
    create(AmlCompute(name=name, size=SIZE, max_instances=2, tags={"a": "1"}))
    got = ml.compute.get(name)
    got.max_instances, got.idle_time_before_scale_down, got.tags = 5, 240, {"b": "2"}
    changed = ml.compute.begin_update(got).result()
    assert (changed.max_instances, changed.idle_time_before_scale_down) == (5, 240)
    again = ml.compute.get(name)
    assert again.max_instances == 5 and again.tags == {"b": "2"} and again.size.lower() == SIZE.lower()


def test_create_or_update_twice_is_an_update(ml, create, uniq):
    name = uniq("cl")
    create(AmlCompute(name=name, size=SIZE, max_instances=2))
    assert create(AmlCompute(name=name, size=SIZE, max_instances=3)).max_instances == 3


def test_the_size_cannot_change(ml, create, uniq):
    name = uniq("cl")
    create(AmlCompute(name=name, size=SIZE))
    with pytest.raises(HttpResponseError) as refused:
        ml.compute.begin_create_or_update(AmlCompute(name=name, size="Standard_DS1_v2")).result()
    assert 400 <= refused.value.status_code < 500


def test_an_unknown_size(ml, uniq):
    with pytest.raises(HttpResponseError) as refused:
        ml.compute.begin_create_or_update(AmlCompute(name=uniq("cl"), size="Standard_NoSuch_v1")).result()
    assert 400 <= refused.value.status_code < 500 and "Standard_NoSuch_v1" in str(refused.value)


def test_minimum_above_maximum(ml, uniq):
    with pytest.raises(HttpResponseError) as refused:
        ml.compute.begin_create_or_update(AmlCompute(name=uniq("cl"), size=SIZE, min_instances=3, max_instances=1)).result()
    assert 400 <= refused.value.status_code < 500


@pytest.mark.parametrize("name", ["a", "1abc", "x" * 40, "under_score!", "trailing-"])
def test_names_azure_refuses(ml, name):
    with pytest.raises(HttpResponseError) as refused:
        ml.compute.begin_create_or_update(AmlCompute(name=name, size=SIZE)).result()
    assert 400 <= refused.value.status_code < 500


def test_list(ml, cluster):
    assert cluster in [one.name for one in ml.compute.list()]
    assert cluster in [one.name for one in ml.compute.list(compute_type="amlcompute")]
    assert cluster not in [one.name for one in ml.compute.list(compute_type="computeinstance")]


def test_nodes_of_a_cluster_that_worked(ml, cluster):
    from azure.ai.ml import command
    from flows import completed
    done = completed(ml, command(command="true", environment="azureml:base:1", compute=cluster))
    assert done.compute == cluster
    nodes = list(ml.compute.list_nodes(cluster))
    assert len(nodes) == 1 and attribute(nodes[0], "node_id", "nodeId")
    assert attribute(nodes[0], "node_state", "nodeState").lower() in ("idle", "leaving", "preparing", "running")


def test_nodes_of_an_unknown_compute(ml):
    with pytest.raises(HttpResponseError):
        list(ml.compute.list_nodes("no-such-compute"))


def test_yaml_of_a_cluster(ml, cluster, tmp_path):
    ml.compute.get(cluster).dump(str(tmp_path / "c.yml"))
    text = yaml.safe_load((tmp_path / "c.yml").read_text())
    assert text["type"] == "amlcompute" and text["name"] == cluster and text["max_instances"] == 2
    assert load_compute(tmp_path / "c.yml").max_instances == 2


def test_load_compute(ml, tmp_path, uniq):
    name = uniq("cl")
    write_tree(tmp_path, {"c.yml": f"""
$schema: https://azuremlschemas.azureedge.net/latest/amlCompute.schema.json
name: {name}
type: amlcompute
size: STANDARD_DS3_v2
min_instances: 0
max_instances: 2
idle_time_before_scale_down: 120
tier: low_priority
"""})
    got = ml.compute.begin_create_or_update(load_compute(tmp_path / "c.yml")).result()
    assert got.name == name and got.tier == "low_priority"
    ml.compute.begin_delete(name).result()


def test_delete(ml, uniq):
    name = uniq("cl")
    ml.begin_create_or_update(AmlCompute(name=name, size=SIZE)).result()
    assert ml.compute.begin_delete(name).result() is None
    with pytest.raises(ResourceNotFoundError):
        ml.compute.get(name)
    assert name not in [one.name for one in ml.compute.list()]


def test_get_of_an_unknown_compute(ml):
    with pytest.raises(ResourceNotFoundError) as missing:
        ml.compute.get("no-such-compute")
    assert missing.value.status_code == 404 and "no-such-compute" in str(missing.value)


@pytest.mark.parametrize("action", ["begin_delete", "begin_start", "begin_stop", "begin_restart"])
def test_an_unknown_compute_is_not_found_by_anything(ml, action):
    with pytest.raises(HttpResponseError) as missing:
        getattr(ml.compute, action)("no-such-compute").result()
    assert missing.value.status_code == 404


def test_start_of_a_cluster_is_refused(ml, cluster):
    with pytest.raises(HttpResponseError) as refused:
        ml.compute.begin_start(cluster).result()
    assert 400 <= refused.value.status_code < 500


# --- instances

@pytest.fixture(scope="module")
def instance(ml):
    import uuid
    name = "ci" + uuid.uuid4().hex[:8]
    ml.compute.begin_create_or_update(ComputeInstance(name=name, size=SIZE, description="mine", tags={"x": "y"})).result()
    yield name
    ml.compute.begin_delete(name)


def test_an_instance(ml, instance):
    got = ml.compute.get(instance)
    assert got.type == "computeinstance" and got.state == "Running" and got.provisioning_state == "Succeeded"
    assert got.description == "mine" and got.tags == {"x": "y"} and got.size.lower() == SIZE.lower()


def test_stop_start_restart(ml, instance):
    ml.compute.begin_stop(instance).result()
    assert ml.compute.get(instance).state == "Stopped"
    ml.compute.begin_start(instance).result()
    assert ml.compute.get(instance).state == "Running"
    ml.compute.begin_restart(instance).result()
    assert ml.compute.get(instance).state == "Running"


def test_options_of_an_instance(ml, create, uniq):
    got = create(ComputeInstance(name=uniq("ci"), size=SIZE, idle_time_before_shutdown_minutes=30, ssh_public_access_enabled=True,
                                 ssh_settings=ComputeInstanceSshSettings(ssh_key_value="ssh-rsa AAA")))
    assert got.idle_time_before_shutdown_minutes == 30 or got.idle_time_before_shutdown == "PT30M"
    assert got.ssh_public_access_enabled is True and got.ssh_settings.ssh_key_value == "ssh-rsa AAA"


def test_the_idle_time_as_a_duration(create, uniq):
    got = create(ComputeInstance(name=uniq("ci"), size=SIZE, idle_time_before_shutdown="PT45M"))
    assert got.idle_time_before_shutdown in ("PT45M", 45)


def test_schedules_of_an_instance(create, uniq):
    from azure.ai.ml.constants import TimeZone
    from azure.ai.ml.entities import ComputePowerAction, ComputeSchedules, ComputeStartStopSchedule, CronTrigger, RecurrencePattern, RecurrenceTrigger
    schedules = ComputeSchedules(compute_start_stop=[
        ComputeStartStopSchedule(trigger=CronTrigger(expression="0 18 * * *", time_zone="UTC"), action="stop"),
        ComputeStartStopSchedule(trigger=RecurrenceTrigger(frequency="day", interval=1, schedule=RecurrencePattern(hours=[8], minutes=[0])),
                                 action="start")])
    got = create(ComputeInstance(name=uniq("ci"), size=SIZE, schedules=schedules))
    assert len(got.schedules.compute_start_stop) == 2
    assert {text_of(one.action).lower() for one in got.schedules.compute_start_stop} == {"stop", "start"}


def test_setup_scripts(create, uniq):
    from azure.ai.ml.entities import ScriptReference, SetupScripts
    scripts = SetupScripts(creation_script=ScriptReference(path="Users/me/create.sh", command="bash", timeout_minutes=10))
    got = create(ComputeInstance(name=uniq("ci"), size=SIZE, setup_scripts=scripts))
    assert str(got.setup_scripts.creation_script.timeout_minutes).rstrip("m") == "10"


def test_assigned_user(create, uniq):
    from azure.ai.ml.entities import AssignedUserConfiguration
    user = AssignedUserConfiguration(user_tenant_id="00000000-0000-0000-0000-0000000000aa", user_object_id="00000000-0000-0000-0000-0000000000bb")
    got = create(ComputeInstance(name=uniq("ci"), size=SIZE, create_on_behalf_of=user))
    assert got.create_on_behalf_of.user_object_id.endswith("bb")


def test_enable_sso(ml, instance):
    try:
        ml.compute.enable_sso(name=instance, enable_sso=True)
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500


# --- attached

def test_a_virtual_machine(ml, create, uniq):
    arm = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.Compute/virtualMachines/vm"
    got = create(VirtualMachineCompute(name=uniq("vm"), resource_id=arm, ssh_settings=VirtualMachineSshSettings(
        admin_username="me", admin_password="secret", ssh_port=2222)), attach=True)
    assert got.type == "virtualmachine" and got.resource_id == arm
    assert got.ssh_settings.admin_username == "me" and got.ssh_settings.ssh_port == 2222 and got.ssh_settings.admin_password is None


def test_a_kubernetes_cluster(ml, create, uniq):
    arm = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.Kubernetes/connectedClusters/k"
    got = create(KubernetesCompute(name=uniq("k"), resource_id=arm, namespace="ml",
                                   identity=IdentityConfiguration(type="system_assigned")), attach=True)
    assert got.type == "kubernetes" and got.namespace == "ml" and got.resource_id == arm


def test_a_spark_pool(ml, create, uniq):
    arm = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.Synapse/workspaces/w/bigDataPools/p"
    got = create(SynapseSparkCompute(name=uniq("sp"), resource_id=arm, identity=IdentityConfiguration(type="system_assigned")), attach=True)
    assert got.type == "synapsespark" and got.resource_id == arm


def test_detach(ml, uniq):
    name = uniq("k")
    arm = f"/subscriptions/{os.environ['LAVANT_SUB']}/resourceGroups/rg/providers/Microsoft.Kubernetes/connectedClusters/k"
    ml.compute.begin_attach(KubernetesCompute(name=name, resource_id=arm, namespace="ml")).result()
    ml.compute.begin_delete(name, action="Detach").result()
    with pytest.raises(ResourceNotFoundError):
        ml.compute.get(name)


# --- sizes and usage

def test_sizes(ml):
    sizes = list(ml.compute.list_sizes())
    one = next(size for size in sizes if size.name == SIZE)
    assert attribute(one, "v_cp_us", "vCPUs") == 4 and one.family and attribute(one, "memory_gb", "memoryGB") == 14


def test_sizes_of_a_location_and_a_type(ml):
    here = ml.workspaces.get().location
    assert list(ml.compute.list_sizes(location=here))
    assert list(ml.compute.list_sizes(compute_type="AMLCompute"))
    assert list(ml.compute.list_sizes(compute_type="ComputeInstance"))


def test_usage(ml):
    usages = list(ml.compute.list_usage())
    assert usages and all(one.name and one.limit is not None for one in usages)
    assert list(ml.compute.list_usage(location=ml.workspaces.get().location))


def test_serverless_is_a_compute_name(ml):
    """The SDK looks a compute up before it submits a pipeline; `serverless` need not exist, and cannot be made."""
    with pytest.raises(HttpResponseError):
        ml.compute.begin_create_or_update(AmlCompute(name="serverless", size=SIZE)).result()
