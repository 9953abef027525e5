"""ARM and our own routes with `requests`, as a client that is no SDK would use them."""
import requests

from conftest import DEADLINE_S

SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000001"
GROUP = SUBSCRIPTION + "/resourceGroups/lavant"
WORKSPACE = GROUP + "/providers/Microsoft.MachineLearningServices/workspaces/default"
LOCATION = SUBSCRIPTION + "/providers/Microsoft.MachineLearningServices/locations/local"
LOCKS = "/providers/Microsoft.Authorization/locks"


def call(server, method, path, body=None, key=None):
    """(status, JSON or None)"""
    answer = requests.request(method, server.url + path, json=body, verify=server.ca, timeout=DEADLINE_S,
                              headers={"Authorization": f"Bearer {key or server.key}"})
    return answer.status_code, answer.json() if answer.content else None


def key_of(server, user, role):
    status, made = call(server, "POST", "/lavant/v1/keys", {"user": user, "role": role})
    assert status == 201, made
    return made["key"]


def put_cluster(server, name, size="Standard_DS3_v2", nodes=2, tier="Dedicated"):
    return call(server, "PUT", f"{WORKSPACE}/computes/{name}", {
        "location": "local",
        "properties": {"computeType": "AmlCompute",
                       "properties": {"vmSize": size, "vmPriority": tier,
                                      "scaleSettings": {"minNodeCount": 0, "maxNodeCount": nodes,
                                                        "nodeIdleTimeBeforeScaleDown": "PT120S"}}}})
