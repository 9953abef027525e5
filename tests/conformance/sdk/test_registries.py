"""What can be answered of registries and of the nouns outside the job plane: a clear refusal, never a 5xx and never a hang."""
import pytest
from azure.core.exceptions import HttpResponseError


def test_list_of_registries(ml):
    try:
        assert isinstance(list(ml.registries.list()), list)
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500


def test_an_unknown_registry(ml):
    with pytest.raises(HttpResponseError) as missing:
        ml.registries.get("no-such-registry")
    assert missing.value.status_code == 404


LISTS = {"online endpoints": lambda ml: list(ml.online_endpoints.list()), "batch endpoints": lambda ml: list(ml.batch_endpoints.list()),
         "connections": lambda ml: list(ml.connections.list()), "feature stores": lambda ml: list(ml.feature_stores.list()),
         "serverless endpoints": lambda ml: list(ml.serverless_endpoints.list()),
         "outbound rules": lambda ml: list(ml.workspace_outbound_rules.list(ml.workspace_name))}
GETS = {"online endpoint": lambda ml: ml.online_endpoints.get("nosuch"), "batch endpoint": lambda ml: ml.batch_endpoints.get("nosuch"),
        "connection": lambda ml: ml.connections.get("nosuch"),
        "serverless endpoint": lambda ml: ml.serverless_endpoints.get("nosuch"),
        "feature set": lambda ml: ml.feature_sets.get("nosuch", "1"), "evaluator": lambda ml: ml.evaluators.get("nosuch", version="1")}


@pytest.mark.parametrize("noun", LISTS)
def test_a_list_of_what_is_not_here(ml, noun):
    """An empty list, or a refusal that names the route."""
    try:
        LISTS[noun](ml)
    except HttpResponseError as refused:
        assert 400 <= refused.status_code < 500


@pytest.mark.parametrize("noun", GETS)
def test_one_of_what_is_not_here(ml, noun):
    with pytest.raises(Exception) as missing:
        GETS[noun](ml)
    if isinstance(missing.value, HttpResponseError) and missing.value.status_code:
        assert 400 <= missing.value.status_code < 500


def test_an_online_endpoint_is_refused_clearly(ml, uniq):
    from azure.ai.ml.entities import ManagedOnlineEndpoint
    with pytest.raises(HttpResponseError) as refused:
        ml.online_endpoints.begin_create_or_update(ManagedOnlineEndpoint(name=uniq("ep"), auth_mode="key")).result()
    assert 400 <= refused.value.status_code < 500
