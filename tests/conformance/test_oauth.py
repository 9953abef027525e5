"""Tokens as Azure's own libraries get them: azure-identity unmodified, and PyJWT to check what came."""
import base64
import hashlib
import hmac
import json
import threading
import time

import jwt
import pytest
import requests

from arm import WORKSPACE, call, key_of
from conftest import DEADLINE_S

identity = pytest.importorskip("azure.identity")
from azure.core.exceptions import ClientAuthenticationError  # noqa: E402

GUID = "00000000-0000-0000-0000-000000000000"


@pytest.fixture
def trusting(server, monkeypatch):
    """The server, trusted by this very process and known to it as the authority."""
    for name in ("AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_TENANT_ID", "IDENTITY_ENDPOINT", "IDENTITY_HEADER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", server.ca)
    monkeypatch.setenv("AZURE_AUTHORITY_HOST", server.url)
    return server


def checked(server, token, audience):
    """The claims, checked with nothing but the public key that the server shows."""
    about = requests.get(f"{server.url}/{GUID}/v2.0/.well-known/openid-configuration", verify=server.ca,
                         timeout=DEADLINE_S).json()
    keys = requests.get(about["jwks_uri"], verify=server.ca, timeout=DEADLINE_S).json()
    header = jwt.get_unverified_header(token)
    key = next(one for one in keys["keys"] if one["kid"] == header["kid"])
    return jwt.decode(token, jwt.PyJWK(key).key, algorithms=["ES256"], audience=audience, issuer=about["issuer"])


def status_with(server, token, path=WORKSPACE + "/jobs"):
    return call(server, "GET", path, key=token)[0]


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


@pytest.mark.parametrize("tenant, options", [("adfs", {}), (GUID, {"disable_instance_discovery": True})])
def test_a_client_secret(trusting, tenant, options):
    made = call(trusting, "POST", "/lavant/v1/keys", {"user": "robot", "role": "reader"})[1]
    credential = identity.ClientSecretCredential(tenant, made["id"], made["key"], **options)
    token = credential.get_token(trusting.url + "/.default")
    claims = checked(trusting, token.token, trusting.url)
    assert claims["sub"] == "robot" and claims["exp"] == pytest.approx(token.expires_on, abs=5)
    assert status_with(trusting, token.token) == 200
    assert call(trusting, "DELETE", WORKSPACE + "/jobs/nothing", key=token.token)[0] == 403
    other = credential.get_token("https://ml.azure.lavant/.default")
    assert checked(trusting, other.token, "https://ml.azure.lavant")["aud"] == "https://ml.azure.lavant"
    assert call(trusting, "DELETE", f"/lavant/v1/keys/{made['id']}")[0] == 204
    assert status_with(trusting, token.token) == 401, "a revoked key's tokens are dead at once"


def test_a_wrong_client_secret(trusting):
    wrong = identity.ClientSecretCredential("adfs", "robot", "lvk_" + "A" * 43)
    with pytest.raises(ClientAuthenticationError, match="invalid_client|not known"):
        wrong.get_token(trusting.url + "/.default")


def test_a_service_principal_by_the_environment(trusting, monkeypatch):
    made = trusting.cli("service-principal", "create", "ci", "-o", "json", "--expires", "30d")
    assert made.returncode == 0, made.stderr
    shown = json.loads(made.stdout)
    assert trusting.cli("role", "assign", "contributor", "ci").returncode == 0
    monkeypatch.setenv("AZURE_TENANT_ID", shown["tenantId"])
    monkeypatch.setenv("AZURE_CLIENT_ID", shown["clientId"])
    monkeypatch.setenv("AZURE_CLIENT_SECRET", shown["clientSecret"])
    assert shown["authority"] == trusting.url
    with identity.DefaultAzureCredential() as credential:
        token = credential.get_token(trusting.url + "/.default")
    assert checked(trusting, token.token, trusting.url)["sub"] == "ci"
    assert status_with(trusting, token.token) == 200
    assert status_with(trusting, token.token, "/lavant/v1/keys") == 403
    assert trusting.cli("service-principal", "delete", "ci").returncode == 0
    assert status_with(trusting, token.token) == 401


def test_the_managed_identity(trusting, monkeypatch):
    monkeypatch.setenv("IDENTITY_ENDPOINT", trusting.url + "/msi/token")
    monkeypatch.setenv("IDENTITY_HEADER", key_of(trusting, "msi", "reader"))
    with identity.DefaultAzureCredential() as credential:
        token = credential.get_token("https://ml.azure.lavant/.default")
    assert checked(trusting, token.token, "https://ml.azure.lavant")["sub"] == "msi"
    assert status_with(trusting, token.token) == 200


def test_a_device_code_that_is_approved(trusting):
    shown = {}
    begun = threading.Event()

    def prompt(uri, code, expires):
        shown.update(uri=uri, code=code)
        begun.set()

    credential = identity.DeviceCodeCredential(tenant_id="adfs", client_id="notebook", prompt_callback=prompt, timeout=60)
    result = {}
    thread = threading.Thread(target=lambda: result.update(token=credential.get_token(trusting.url + "/.default")))
    thread.start()
    assert begun.wait(DEADLINE_S)
    assert requests.get(shown["uri"], verify=trusting.ca, timeout=DEADLINE_S).status_code == 200
    unasked = trusting.cli("login", "--approve", shown["code"])
    assert unasked.returncode == 2 and "--yes" in unasked.stderr
    approved = trusting.cli("login", "--approve", shown["code"].lower(), "--yes")
    assert approved.returncode == 0, approved.stderr
    assert "notebook" in approved.stderr
    thread.join(DEADLINE_S)
    assert status_with(trusting, result["token"].token) == 200
    # The library asks for another resource without asking anybody: by its refresh token.
    other = credential.get_token("https://ml.azure.lavant/.default")
    assert checked(trusting, other.token, "https://ml.azure.lavant")
    again = trusting.cli("login", "--approve", shown["code"], "--yes")
    assert again.returncode == 5 and "no login waits" in again.stderr


def test_a_device_code_that_is_declined(trusting):
    begun = requests.post(f"{trusting.url}/adfs/oauth2/devicecode", data={"client_id": "x"}, verify=trusting.ca,
                          timeout=DEADLINE_S).json()
    assert trusting.cli("login", "--deny", begun["user_code"]).returncode == 0
    answer = requests.post(f"{trusting.url}/adfs/oauth2/token", verify=trusting.ca, timeout=DEADLINE_S, data={
        "client_id": "x", "device_code": begun["device_code"], "scope": "https://x/.default",
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code"})
    assert (answer.status_code, answer.json()["error"]) == (400, "authorization_declined")


def test_forged_tokens(trusting):
    key = key_of(trusting, "victim", "owner")
    good = requests.get(trusting.url + "/msi/token", params={"resource": "https://x"}, verify=trusting.ca,
                        headers={"X-IDENTITY-HEADER": key}, timeout=DEADLINE_S).json()["access_token"]
    assert status_with(trusting, good) == 200
    header, body, signature = good.split(".")
    claims = jwt.decode(good, options={"verify_signature": False})
    public = requests.get(f"{trusting.url}/x/discovery/v2.0/keys", verify=trusting.ca, timeout=DEADLINE_S)
    forged = [f"{part({'alg': 'none', 'typ': 'JWT'})}.{body}.", f"{part({'alg': 'none'})}.{body}.{signature}",
              f"{header}.{part({**claims, 'sub': 'root'})}.{signature}", f"{header}.{body}.", f"{header}.{body}",
              f"{header}.{body}.{'A' * 86}"]
    for secret in (public.content, json.dumps(public.json()["keys"][0]).encode(), b""):
        text = f"{part({'alg': 'HS256', 'typ': 'JWT'})}.{body}"
        mac = base64.urlsafe_b64encode(hmac.new(secret, text.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
        forged.append(f"{text}.{mac}")
    from cryptography.hazmat.primitives.asymmetric import ec
    own = ec.generate_private_key(ec.SECP256R1())
    forged.append(jwt.encode(claims, own, algorithm="ES256", headers={"kid": public.json()["keys"][0]["kid"]}))
    old = {**claims, "exp": int(time.time()) - 3600}
    forged.append(jwt.encode(old, own, algorithm="ES256"))
    for token in forged:
        assert status_with(trusting, token) == 401, token
    assert status_with(trusting, good) == 200


def test_wrong_credentials_are_slowed_down(start_server):
    server = start_server(None, "--failed-logins-per-minute", "30")
    key = key_of(server, "ann", "reader")
    assert status_with(server, key) == 200
    seen = [status_with(server, f"wrong-{i}") for i in range(40)]
    assert seen[:10] == [401] * 10 and seen[-1] == 429, seen
    assert status_with(server, key) == 200, "who is known goes on"
