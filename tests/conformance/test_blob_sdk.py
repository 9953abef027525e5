"""azure-storage-blob, unmodified, against the server: keys, signatures, tokens, blocks, ranges, conditions, listings."""
import base64
import concurrent.futures
import datetime
import hashlib
import json
import os
import ssl
import urllib.request

import pytest
import requests

blob = pytest.importorskip("azure.storage.blob", reason="azure-storage-blob is not installed")
from azure.core import MatchConditions  # noqa: E402
from azure.core.credentials import AzureNamedKeyCredential, AzureSasCredential  # noqa: E402
from azure.core.exceptions import (ClientAuthenticationError, HttpResponseError, ResourceExistsError,  # noqa: E402
                                   ResourceModifiedError, ResourceNotFoundError)
from azure.storage.blob import (AccountSasPermissions, BlobBlock, BlobSasPermissions, BlobServiceClient,  # noqa: E402
                                ContainerClient, ContainerSasPermissions, ContentSettings, ResourceTypes,
                                generate_account_sas, generate_blob_sas, generate_container_sas)

WORKSPACE = ("/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/lavant/providers/"
             "Microsoft.MachineLearningServices/workspaces/default")
CONTAINER = "azureml-blobstore"


def ask(server, method, path, body=None, key=None):
    request = urllib.request.Request(server.url + path, method=method, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Authorization": f"Bearer {key or server.key}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request, context=ssl.create_default_context(cafile=server.ca)) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def account_key(server, datastore="workspaceblobstore"):
    return ask(server, "POST", f"{WORKSPACE}/datastores/{datastore}/listSecrets", {"expirableSecret": False})["key"]


@pytest.fixture
def account(server):
    return server.url + "/storage/acct"


@pytest.fixture
def key(server):
    return account_key(server)


@pytest.fixture
def service(server, account, key):
    return BlobServiceClient(account, credential=AzureNamedKeyCredential("acct", key), connection_verify=server.ca,
                             retry_total=0)


@pytest.fixture
def container(service):
    return service.get_container_client(CONTAINER)


def soon(minutes=30):
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)


def signed(server, account, sas):
    return ContainerClient(account, CONTAINER, credential=AzureSasCredential(sas), connection_verify=server.ca, retry_total=0)


@pytest.mark.parametrize("place", ["storage/acct", "storage/acct.blob.core.windows.net"])
@pytest.mark.parametrize("spelling", ["name", "string"])
def test_the_accounts_key_opens_it(server, key, place, spelling):
    # A bare key makes the library take the path for the account's name.
    credential = AzureNamedKeyCredential("acct", key) if spelling == "name" else key
    client = BlobServiceClient(f"{server.url}/{place}", credential=credential, connection_verify=server.ca, retry_total=0)
    one = client.get_blob_client(CONTAINER, f"keys/{place}/{spelling} ä.txt")
    one.upload_blob(b"hello", overwrite=True, metadata={"a_b": "1", "ab": "2", "a1": "3", "B": "4"})
    assert one.download_blob().readall() == b"hello"
    assert one.get_blob_properties().metadata == {"a_b": "1", "ab": "2", "a1": "3", "B": "4"}
    assert list(client.get_container_client(CONTAINER).list_blob_names(name_starts_with=f"keys/{place}/{spelling} "))
    one.delete_blob()


def test_another_key_opens_nothing(server, account, key):
    for wrong in (base64.b64encode(b"x" * 32).decode(), account_key(server, "workspaceartifactstore")):
        client = BlobServiceClient(account, credential=AzureNamedKeyCredential("acct", wrong), connection_verify=server.ca, retry_total=0)
        with pytest.raises(ClientAuthenticationError) as refused:
            client.get_blob_client(CONTAINER, "x").get_blob_properties()
        assert refused.value.error_code == "AuthenticationFailed" and refused.value.status_code == 403


def test_a_bearer_token_opens_it_too(server, account):
    class Token:
        def get_token(self, *scopes, **options):
            from azure.core.credentials import AccessToken
            return AccessToken(server.key, 2**33)
    client = ContainerClient(account, CONTAINER, credential=Token(), connection_verify=server.ca, retry_total=0)
    client.upload_blob("bearer.txt", b"x", overwrite=True)
    assert client.download_blob("bearer.txt").readall() == b"x"


def test_signatures_made_by_the_library(server, account, key, container):
    container.upload_blob("sas/a.txt", b"hello", overwrite=True)
    container.upload_blob("sas/b.txt", b"other", overwrite=True)
    whole = generate_container_sas("acct", CONTAINER, account_key=key, permission=ContainerSasPermissions(read=True, list=True),
                                   expiry=soon(), start=soon(-5), ip="127.0.0.1", protocol="https")
    client = signed(server, account, whole)
    assert client.download_blob("sas/a.txt").readall() == b"hello"
    assert "sas/a.txt" in list(client.list_blob_names(name_starts_with="sas/"))
    with pytest.raises(HttpResponseError) as refused:
        client.upload_blob("sas/new.txt", b"x")
    assert (refused.value.status_code, refused.value.error_code) == (403, "AuthorizationPermissionMismatch")

    one = generate_blob_sas("acct", CONTAINER, "sas/a.txt", account_key=key, permission=BlobSasPermissions(read=True), expiry=soon(),
                            content_disposition="attachment; filename=x.txt", content_type="text/x-odd")
    client = signed(server, account, one)
    got = client.download_blob("sas/a.txt")
    assert got.readall() == b"hello"
    assert got.properties.content_settings.content_type == "text/x-odd"
    assert got.properties.content_settings.content_disposition == "attachment; filename=x.txt"
    with pytest.raises(ClientAuthenticationError):
        client.download_blob("sas/b.txt")

    folder = generate_blob_sas("acct", CONTAINER, "sas", account_key=key, permission=BlobSasPermissions(read=True), expiry=soon(),
                               is_directory=True)
    assert signed(server, account, folder).download_blob("sas/b.txt").readall() == b"other"
    with pytest.raises(ClientAuthenticationError):
        signed(server, account, folder).download_blob("keys/x")

    whole_account = generate_account_sas("acct", account_key=key, resource_types=ResourceTypes(container=True, object=True),
                                         permission=AccountSasPermissions(read=True, write=True, list=True), expiry=soon())
    client = signed(server, account, whole_account)
    client.upload_blob("sas/c.txt", b"c", overwrite=True)
    assert "sas/c.txt" in list(client.list_blob_names(name_starts_with="sas/"))


@pytest.mark.parametrize("change, code", [
    (dict(expiry=soon(-60)), "AuthenticationFailed"),
    (dict(start=soon(60)), "AuthenticationFailed"),
    (dict(ip="10.1.2.3"), "AuthorizationSourceIPMismatch"),
    (dict(permission="w"), "AuthorizationPermissionMismatch"),
    (dict(container_name="azureml"), "AuthenticationFailed"),
    (dict(account_key=base64.b64encode(b"x" * 32).decode()), "AuthenticationFailed"),
])
def test_signatures_that_do_not_fit(server, account, key, container, change, code):
    container.upload_blob("sas/a.txt", b"hello", overwrite=True)
    sas = generate_container_sas(**{**dict(account_name="acct", container_name=CONTAINER, account_key=key, permission="r",
                                           expiry=soon()), **change})
    with pytest.raises(HttpResponseError) as refused:
        signed(server, account, sas).download_blob("sas/a.txt")
    assert (refused.value.status_code, refused.value.error_code) == (403, code)


def test_a_signature_for_new_blobs_replaces_none(server, account, key):
    sas = generate_container_sas("acct", CONTAINER, account_key=key, permission="c", expiry=soon())
    client = signed(server, account, sas)
    name = "create/" + os.urandom(8).hex()
    client.upload_blob(name, b"1")
    with pytest.raises(HttpResponseError) as refused:
        client.upload_blob(name, b"2", overwrite=True)
    assert refused.value.error_code == "AuthorizationPermissionMismatch"


ODD_NAMES = ["with blank", "a+b", "p%41ercent", "100%", "hash#1", "question?x=1", "q&a=b", "semi;colon", "ünïcødé/日本語", "quote'\"",
             "<angle>", "back\\slash", "tab\tin", "dot.", ".hidden", "a/.b/..c", "emoji 😀", "[brackets]", "com,ma", "@at:colon", "~tilde^",
             "trailing blank "]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_names_with_odd_characters(container, name):
    one = container.get_blob_client("odd/" + name)
    one.upload_blob(name.encode(), overwrite=True)
    assert one.download_blob().readall() == name.encode()
    assert "odd/" + name in list(container.list_blob_names(name_starts_with="odd/"))
    one.delete_blob()
    assert not one.exists()


def test_properties_and_metadata_are_kept(container):
    one = container.get_blob_client("props.txt")
    settings = ContentSettings(content_type="text/plain", content_encoding="identity", content_language="de", cache_control="no-store",
                               content_disposition="inline")
    one.upload_blob(b"hello", overwrite=True, content_settings=settings, metadata={"k": "v"})
    before = one.get_blob_properties()
    assert before.content_settings.content_type == "text/plain" and before.content_settings.content_language == "de"
    assert before.content_settings.cache_control == "no-store" and before.content_settings.content_disposition == "inline"
    assert bytes(before.content_settings.content_md5) == hashlib.md5(b"hello").digest()
    assert before.metadata == {"k": "v"} and before.size == 5 and before.blob_type == "BlockBlob"
    one.set_http_headers(ContentSettings(content_type="text/html"))
    one.set_blob_metadata({"n": "1"})
    after = one.get_blob_properties()
    assert after.content_settings.content_type == "text/html" and after.content_settings.content_language is None
    assert after.metadata == {"n": "1"} and after.etag != before.etag and after.last_modified >= before.last_modified
    listed = next(item for item in container.list_blobs(name_starts_with="props.txt", include=["metadata"]))
    assert listed.metadata == {"n": "1"} and listed.etag == after.etag.strip('"') and listed.content_settings.content_type == "text/html"
    with pytest.raises(HttpResponseError) as refused:
        one.set_blob_metadata({f"k{i}": "v" * 900 for i in range(10)})
    assert refused.value.error_code == "MetadataTooLarge"


def test_ranges_and_checksums(container):
    bytes_ = os.urandom(5 * 1024 * 1024)
    one = container.get_blob_client("ranges.bin")
    one.upload_blob(bytes_, overwrite=True, validate_content=True)
    assert one.download_blob(offset=10, length=100).readall() == bytes_[10:110]
    assert one.download_blob(offset=len(bytes_) - 7).readall() == bytes_[-7:]
    assert one.download_blob(offset=0, length=1000, validate_content=True).readall() == bytes_[:1000]
    assert one.download_blob(max_concurrency=4).readall() == bytes_
    with pytest.raises(HttpResponseError) as refused:
        one.download_blob(offset=len(bytes_), length=1)
    assert (refused.value.status_code, refused.value.error_code) == (416, "InvalidRange")
    empty = container.get_blob_client("empty.bin")
    empty.upload_blob(b"", overwrite=True)
    assert empty.download_blob().readall() == b""


def test_blocks(server, key, container):
    one = container.get_blob_client("blocks.bin")
    if one.exists():
        one.delete_blob()
    for number, piece in (("0002", b"two,"), ("0001", b"one,")):
        one.stage_block(number, piece, validate_content=True)
    assert not one.exists()
    committed, uncommitted = one.get_block_list("all")
    assert committed == [] and sorted((b.id, b.size) for b in uncommitted) == [("0001", 4), ("0002", 4)]
    one.commit_block_list([BlobBlock("0001"), BlobBlock("0002")], metadata={"k": "v"}, content_settings=ContentSettings(content_type="text/plain"))
    assert one.download_blob().readall() == b"one,two,"
    one.stage_block("0002", b"TWO,")
    # The library sends every block as the latest one, so which of two is meant is said by hand.
    ids = [base64.b64encode(name.encode()).decode() for name in ("0001", "0002")]
    sas = generate_container_sas("acct", CONTAINER, account_key=key, permission="w", expiry=soon())
    answer = requests.put(f"{one.url}?comp=blocklist&{sas}", verify=server.ca, timeout=60, data=(
        f"<BlockList><Committed>{ids[1]}</Committed><Uncommitted>{ids[1]}</Uncommitted><Latest>{ids[0]}</Latest></BlockList>"))
    assert answer.status_code == 201, answer.text
    assert one.download_blob().readall() == b"two,TWO,one,"
    committed, uncommitted = one.get_block_list("all")
    assert [b.id for b in committed] == ["0002", "0002", "0001"] and uncommitted == []
    with pytest.raises(HttpResponseError) as refused:
        one.commit_block_list([BlobBlock("9999")])
    assert (refused.value.status_code, refused.value.error_code) == (400, "InvalidBlockList")


def test_conditions(container):
    one = container.get_blob_client("conditions.txt")
    one.upload_blob(b"1", overwrite=True)
    first = one.get_blob_properties()
    with pytest.raises(ResourceExistsError) as refused:
        one.upload_blob(b"2")
    assert refused.value.error_code == "BlobAlreadyExists"
    assert one.download_blob(etag=first.etag, match_condition=MatchConditions.IfNotModified).readall() == b"1"
    with pytest.raises(HttpResponseError) as refused:
        one.download_blob(etag=first.etag, match_condition=MatchConditions.IfModified)
    assert refused.value.status_code == 304
    later = first.last_modified + datetime.timedelta(hours=1)
    earlier = first.last_modified - datetime.timedelta(hours=1)
    with pytest.raises(HttpResponseError) as refused:
        one.get_blob_properties(if_modified_since=later)
    assert refused.value.status_code == 304
    with pytest.raises(ResourceModifiedError) as refused:
        one.get_blob_properties(if_unmodified_since=earlier)
    assert refused.value.status_code == 412
    one.upload_blob(b"3", overwrite=True, etag=first.etag, match_condition=MatchConditions.IfNotModified)
    for write in (lambda **how: one.upload_blob(b"4", overwrite=True, **how), lambda **how: one.set_blob_metadata({"k": "v"}, **how),
                  lambda **how: one.delete_blob(**how),
                  lambda **how: one.set_http_headers(ContentSettings(content_type="a/b"), **how)):
        with pytest.raises(ResourceModifiedError) as refused:
            write(etag=first.etag, match_condition=MatchConditions.IfNotModified)
        assert (refused.value.status_code, refused.value.error_code) == (412, "ConditionNotMet")
    assert one.download_blob().readall() == b"3"


def test_one_of_many_makes_a_blob(container):
    name = "race/" + os.urandom(8).hex()

    def put(i):
        try:
            container.upload_blob(name, str(i).encode())
            return 1
        except ResourceExistsError:
            return 0
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(put, range(16))) == 1


def test_listing_in_pages(container):
    for i in range(7):
        container.upload_blob(f"pages/{i}/x", b"1", overwrite=True)
    container.upload_blob("pages/top", b"1", overwrite=True)
    pages = list(container.list_blobs(name_starts_with="pages/", results_per_page=3).by_page())
    assert [len(list(page)) for page in pages] == [3, 3, 2]
    walked = [item.name for item in container.walk_blobs(name_starts_with="pages/", delimiter="/")]
    assert walked == [f"pages/{i}/" for i in range(7)] + ["pages/top"]


def test_copying_inside_the_account(server, account, key, container):
    source = container.get_blob_client("copy/source.txt")
    source.upload_blob(b"hello", overwrite=True, metadata={"k": "v"}, content_settings=ContentSettings(content_type="text/x"))
    target = container.get_blob_client("copy/target.txt")
    assert target.start_copy_from_url(source.url)["copy_status"] == "success"
    assert target.download_blob().readall() == b"hello"
    assert target.get_blob_properties().metadata == {"k": "v"}
    for foreign in ("https://example.invalid/c/x", source.url.replace(CONTAINER, "azureml")):
        with pytest.raises(HttpResponseError):
            target.start_copy_from_url(foreign)


def test_containers_belong_to_datastores(server, service, container):
    assert container.exists() and container.get_container_properties().name == CONTAINER
    assert [one.name for one in service.list_containers()] == [CONTAINER], "a key sees its own alone"
    with pytest.raises(ResourceExistsError):
        container.create_container()
    with pytest.raises(HttpResponseError) as refused:
        container.delete_container()
    assert refused.value.status_code == 403 and "datastore" in str(refused.value)
    assert container.exists()
    assert service.get_account_information()["account_kind"] == "BlobStorage"


def test_what_is_not_supported_says_so(container):
    with pytest.raises(HttpResponseError) as refused:
        container.get_blob_client("append").create_append_blob()
    assert (refused.value.status_code, refused.value.error_code) == (400, "UnsupportedHeader")
    with pytest.raises(HttpResponseError) as refused:
        container.get_blob_client("page").create_page_blob(512)
    assert refused.value.error_code == "UnsupportedHeader"
    container.upload_blob("leased", b"x", overwrite=True)
    with pytest.raises(HttpResponseError):
        container.get_blob_client("leased").acquire_lease()
    with pytest.raises(ResourceNotFoundError) as refused:
        container.get_blob_client("none").download_blob()
    assert refused.value.error_code == "BlobNotFound"


def test_ids_are_echoed(container):
    seen = {}

    def look(response):
        seen.update({name.lower(): value for name, value in response.http_response.headers.items()})
    container.get_blob_client("none").exists(raw_response_hook=look)
    container.upload_blob("ids", b"x", overwrite=True, client_request_id="my-own-id", raw_response_hook=look)
    assert seen["x-ms-client-request-id"] == "my-own-id" and seen["x-ms-request-id"] and seen["x-ms-version"]


def test_a_large_blob_streams(server, container, tmp_path):
    """300 MiB up and down, or as much as LAVANT_LARGE_MIB says; the server's memory does not grow with it."""
    size = int(os.environ.get("LAVANT_LARGE_MIB", "300")) << 20
    path = tmp_path / "large.bin"
    with open(path, "wb") as file:
        file.truncate(size)
        for at in range(0, size, 50 << 20):
            file.seek(at)
            file.write(os.urandom(4096))
    digest, got = hashlib.md5(), hashlib.md5()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
        file.seek(0)
        container.upload_blob("large.bin", file, overwrite=True, max_concurrency=2, length=size)
    for piece in container.download_blob("large.bin", max_concurrency=2).chunks():
        got.update(piece)
    assert got.hexdigest() == digest.hexdigest()
    peak = next(int(line.split()[1]) for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmHWM"))
    assert peak < 300 << 10, f"{peak} KiB"
    container.delete_blob("large.bin")


def test_many_small_blobs(container):
    """300 at once, or as many as LAVANT_MANY_BLOBS says."""
    count = int(os.environ.get("LAVANT_MANY_BLOBS", "300"))
    folder = "many/" + os.urandom(4).hex() + "/"
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda i: container.upload_blob(f"{folder}{i % 100}/{i}", str(i).encode() * 100), range(count)))
        names = list(container.list_blob_names(name_starts_with=folder))
        assert len(names) == count
        list(pool.map(container.delete_blob, names))
    assert list(container.list_blob_names(name_starts_with=folder)) == []
