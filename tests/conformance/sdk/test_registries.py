"""What can be answered of registries and of the nouns outside the job plane: a clear refusal, never a 5xx and never a hang."""
import pytest
from azure.core.exceptions import HttpResponseError


def test_list_of_registries(ml):
    with pytest.raises(HttpResponseError) as missing:
        list(ml.registries.list())
    assert missing.value.status_code == 404 and "/registries" in str(missing.value)


def test_an_unknown_registry(ml):
    with pytest.raises(HttpResponseError) as missing:
        ml.registries.get("no-such-registry")
    assert missing.value.status_code == 404


LISTS = {"online endpoints": lambda ml: list(ml.online_endpoints.list()), "batch endpoints": lambda ml: list(ml.batch_endpoints.list()),
         "connections": lambda ml: list(ml.connections.list()),
         "serverless endpoints": lambda ml: list(ml.serverless_endpoints.list()),
         "outbound rules": lambda ml: list(ml.workspace_outbound_rules.list(ml.workspace_name))}
GETS = {"online endpoint": lambda ml: ml.online_endpoints.get("nosuch"), "batch endpoint": lambda ml: ml.batch_endpoints.get("nosuch"),
        "connection": lambda ml: ml.connections.get("nosuch"),
        "serverless endpoint": lambda ml: ml.serverless_endpoints.get("nosuch"),
        "feature set": lambda ml: ml.feature_sets.get("nosuch", "1"), "evaluator": lambda ml: ml.evaluators.get("nosuch", version="1")}


@pytest.mark.parametrize("noun", [*LISTS, *GETS])
def test_what_is_not_here_is_not_found(ml, noun):
    """A refusal that names the route, or what was looked for."""
    with pytest.raises(HttpResponseError) as missing:
        {**LISTS, **GETS}[noun](ml)
    assert missing.value.status_code == 404, missing.value
    assert "GET /subscriptions/" in str(missing.value) or "nosuch" in str(missing.value)


def test_there_are_no_feature_stores(ml):
    """They are workspaces of another kind."""
    assert list(ml.feature_stores.list()) == []


def test_an_online_endpoint_is_refused_clearly(ml, uniq):
    from azure.ai.ml.entities import ManagedOnlineEndpoint
    with pytest.raises(HttpResponseError) as refused:
        ml.online_endpoints.begin_create_or_update(ManagedOnlineEndpoint(name=uniq("ep"), auth_mode="key")).result()
    assert 400 <= refused.value.status_code < 500
