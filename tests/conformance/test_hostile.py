"""Hostile requests: the right status, and nothing has changed. A server of their own, with one job, one blob and no work."""
import base64
import contextlib
import hashlib
import hmac
import json
import re
import socket
import sqlite3
import ssl
import time
import urllib.parse

import arm
import pytest
from conftest import DEADLINE_S, ROOT, Server, stop_leftovers

TRAVERSALS = ["..", ".", "%2e%2e", "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd", "..%2f..%2f..%2fetc%2fpasswd", "%252e%252e%252f%252e%252e%252fetc%252fpasswd",
              "..%5c..%5cetc", "%5c%5cserver%5cshare", "x%00.txt", "%00", "..%00/", "%c0%ae%c0%ae%c0%af", "%2fetc%2fpasswd", "....//....//etc"]
SECRET = re.compile(rb"root:[^:]*:0:0:")
# Changing while nobody asks for anything, or by design whoever asks.
VOLATILE_FILES = re.compile(r"(lavant\.db.*|serve\.log.*|spare|endpoint|audit.*|.*\.log)$")
# The node that ran the job leaves when it was idle for long enough.
OF_NODES = re.compile(r"(node|pool|outbox|event|counter)$|data/nodes/")


def snapshot(server):
    """Every row and every file: what must be the same afterwards."""
    state = {}
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/lavant.db?mode=ro", uri=True)) as database:
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            rows = database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            state[table] = hashlib.sha256(repr(rows).encode()).hexdigest(), len(rows)
    for path in sorted(server.data.parent.rglob("*")):
        name = str(path.relative_to(server.data.parent))
        if path.is_file() and not VOLATILE_FILES.search(path.name):
            state[name] = hashlib.sha256(path.read_bytes()).hexdigest() if path.stat().st_size < 1 << 20 else path.stat().st_size
    return state


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("hostile") / "data")
    assert server.ready_line == "ready", server.log()
    status, body = arm.call(server, "PUT", f"{arm.WORKSPACE}/jobs/quiet", {"properties": {
        "jobType": "Command", "command": "echo hello", "environmentId": "azureml:base:1"}})
    assert status == 201, body
    assert server.wait_status("quiet") == "Completed"
    server.reader = arm.key_of(server, "eve", "reader")
    server.contributor = arm.key_of(server, "bob", "contributor")
    server.places = {}
    for name in ("workspaceblobstore", "workspaceartifactstore"):
        store = arm.call(server, "GET", f"{arm.WORKSPACE}/datastores/{name}")[1]["properties"]["containerName"]
        token = arm.call(server, "POST", f"{arm.WORKSPACE}/datastores/{name}/listSecrets", {})[1]["sasToken"]
        server.places[name] = f"/storage/acct/{store}", token.lstrip("?")
    root, sas = server.places["workspaceblobstore"]
    assert ask(server, f"PUT {root}/kept.txt?{sas}", body=b"kept", headers=["x-ms-blob-type: BlockBlob"])[0] == 201
    # Files of a job that are made when somebody looks.
    arm.call(server, "GET", f"/history/v1.0{arm.WORKSPACE}/runs/quiet/details")
    for root, sas in server.places.values():
        ask(server, f"GET {root}?restype=container&comp=list&{sas}")
    yield server
    server.stop()
    stop_leftovers(server.data)


@pytest.fixture(autouse=True)
def nothing_changes(target):
    before = snapshot(target)
    yield
    after = snapshot(target)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert not {name for name in changed if not OF_NODES.match(name)}, changed
    assert ask(target, "GET /health")[0] == 200
    assert target.process.poll() is None


def connect(server):
    parts = urllib.parse.urlsplit(server.url)
    plain = socket.create_connection((parts.hostname, parts.port), timeout=DEADLINE_S)
    return ssl.create_default_context(cafile=server.ca).wrap_socket(plain, server_hostname=parts.hostname)


def exchange(server, raw):
    """Everything the server says to these bytes until it closes."""
    with contextlib.closing(connect(server)) as one:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLError):
            one.sendall(raw)
        heard = b""
        with contextlib.suppress(ConnectionResetError, ssl.SSLError):
            while more := one.recv(65536):
                heard += more
        return heard


def ask(server, line, headers=(), body=b"", key=None):
    """(status, answer) of one request, spelled exactly as given; without a key: nobody's."""
    lines = [f"{line} HTTP/1.1", "Host: 127.0.0.1", "Connection: close", f"Content-Length: {len(body)}", *headers]
    if key:
        lines.append(f"Authorization: Bearer {key}")
    heard = exchange(server, "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)
    return status_of(heard), heard


def status_of(heard):
    match = re.match(rb"HTTP/1\.1 (\d{3}) ", heard)
    return int(match.group(1)) if match else 0


def spots():
    """Each parameter of each route: (method, path with the others filled, the parameter)."""
    filled = {"subscription": arm.SUBSCRIPTION.rsplit("/", 1)[1], "group": "lavant", "workspace": "default", "location": "local",
              "container": "azureml-blobstore", "version": "1"}
    for path, methods in json.loads((ROOT / "protocol/openapi.json").read_text())["paths"].items():
        for method, operation in methods.items():
            if operation.get("x-lavant-stream"):
                continue
            for name in re.findall(r"{(\w+)}", path):
                others = re.sub(r"{(\w+)}", lambda found: "@HERE@" if found.group(1) == name else filled.get(found.group(1), "quiet"), path)
                yield method.upper(), others, name


def test_no_parameter_leads_out_of_its_place(target):
    _, sas = target.places["workspaceblobstore"]
    root = target.places["workspaceblobstore"][0].rsplit("/", 1)[1]
    parts = urllib.parse.urlsplit(target.url)
    with contextlib.closing(connect(target)) as one:
        answers = one.makefile("rb")
        for number, (method, path, name) in enumerate(spots()):
            for value in (TRAVERSALS[number % len(TRAVERSALS)], TRAVERSALS[(number * 5 + 3) % len(TRAVERSALS)]):
                line = path.replace("azureml-blobstore", root).replace("@HERE@", value)
                if path.startswith("/storage/"):
                    line += f"?{sas}"
                body = b'{"properties":{}}' if method in ("PUT", "POST", "PATCH") else b""
                try:
                    one.sendall(f"{method} {line} HTTP/1.1\r\nHost: {parts.netloc}\r\nContent-Type: application/json\r\n"
                                f"Content-Length: {len(body)}\r\nAuthorization: Bearer {target.key}\r\n\r\n".encode() + body)
                    status, text = read_answer(answers, method)
                except OSError as why:
                    raise AssertionError(f"no answer to {method} {line}") from why
                assert 0 < status < 500, (method, line, status, text)
                if path.startswith("/storage/") and status == 201:  # a name like any other: inside, and gone again
                    assert ask(target, f"DELETE {line}")[0] == 202, line
                assert not SECRET.search(text), (method, line)


def read_answer(stream, method):
    """(status, body) of one answer on a connection that stays."""
    status, length, chunked = 0, 0, False
    while line := stream.readline().strip():
        if line.startswith(b"HTTP/1.1 "):
            status = int(line.split()[1])
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
        chunked = chunked or line.lower() == b"transfer-encoding: chunked"
    assert not chunked, "a stream"
    return status, b"" if method == "HEAD" else stream.read(length)


@pytest.mark.parametrize("name", TRAVERSALS)
def test_no_blob_lies_outside_its_container(target, name):
    for root, sas in target.places.values():
        for way in (f"{root}/{name}", f"{root}/a/{name}/b", f"{root}/{name}/{name}/{name}/lavant.db"):
            for method in ("GET", "HEAD", "PUT", "DELETE"):
                status, heard = ask(target, f"{method} {way}?{sas}", body=b"x" if method == "PUT" else b"", headers=["x-ms-blob-type: BlockBlob"])
                if status == 201:  # a name like any other: inside, and gone again
                    assert ask(target, f"DELETE {way}?{sas}")[0] == 202
                    continue
                assert 400 <= status < 500, (method, way, heard)
                assert not SECRET.search(heard)


GOOD = b"GET /lavant/v1/status HTTP/1.1\r\nHost: h\r\n\r\n"
SMUGGLES = {
    "two lengths": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello" + GOOD,
    "length and chunked": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GOOD,
    "chunked and length": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n" + GOOD,
    "chunked twice": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n" + GOOD,
    "identity and chunked": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + GOOD,
    "nearly chunked": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + GOOD,
    "a tab in it": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n" + GOOD,
    "space before the colon": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + GOOD,
    "a folded line": b"POST /health HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    "a folded length": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length:\r\n 5\r\n\r\nhello" + GOOD,
    "bare line feeds": b"GET /health HTTP/1.1\nHost: h\n\n",
    "one bare line feed": b"GET /health HTTP/1.1\r\nHost: h\nX-Smuggled: y\r\n\r\n",
    "a bare carriage return": b"GET /health HTTP/1.1\r\nHost: h\r\nX: a\rY: b\r\n\r\n",
    "a zero byte": b"GET /health HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n",
    "a zero byte in the path": b"GET /health\0 HTTP/1.1\r\nHost: h\r\n\r\n",
    "a signed length": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: +5\r\n\r\nhello" + GOOD,
    "a negative length": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n" + GOOD,
    "a hexadecimal length": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: 0x5\r\n\r\nhello" + GOOD,
    "a length too long": b"POST /health HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999999\r\n\r\n" + GOOD,
    "a negative chunk": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n" + GOOD,
    "a chunk too long": b"POST /health HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n\r\n" + GOOD,
    "two hosts": b"GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n" + GOOD,
    "no host": b"GET /health HTTP/1.1\r\n\r\n" + GOOD,
    "no version": b"GET /health\r\n\r\n",
    "another version": b"GET /health HTTP/3.7\r\nHost: h\r\n\r\n" + GOOD,
    "the second version": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "spaces in the line": b"GET /health extra HTTP/1.1\r\nHost: h\r\n\r\n" + GOOD,
    "a header without a name": b"GET /health HTTP/1.1\r\nHost: h\r\n: x\r\n\r\n" + GOOD,
    "a long head": b"GET /health HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 70_000 + b"\r\n\r\n" + GOOD,
    "a long path": b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: h\r\n\r\n" + GOOD,
    "many headers": b"GET /health HTTP/1.1\r\nHost: h\r\n" + b"".join(b"X-%d: y\r\n" % i for i in range(300)) + b"\r\n" + GOOD,
}


@pytest.mark.parametrize("case", SMUGGLES)
def test_an_ambiguous_request_is_refused_and_ends_the_connection(target, case):
    heard = exchange(target, SMUGGLES[case])
    assert status_of(heard) in (400, 413, 431, 501, 505), heard[:300]
    assert heard.count(b"HTTP/1.1 ") == 1, "something was served behind it"
    assert b"Connection: close" in heard
    error = json.loads(heard.partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] and error["message"]


def test_a_body_too_large_is_refused_before_it_is_read(target):
    for line, key in ((f"PUT {arm.WORKSPACE}/jobs/large", target.key), (f"PUT {target.places['workspaceblobstore'][0]}/large", None)):
        heard = exchange(target, f"{line} HTTP/1.1\r\nHost: h\r\nContent-Length: 90000000\r\n".encode() +
                         (f"Authorization: Bearer {key}\r\n".encode() if key else b"") + b"\r\n")
        assert status_of(heard) == 413, heard
        heard = exchange(target, f"{line} HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n".encode() +
                         (f"Authorization: Bearer {key}\r\n".encode() if key else b"") + b"\r\n" + (b"100000\r\n" + b"x" * 0x100000 + b"\r\n") * 10 + b"0\r\n\r\n")
        assert status_of(heard) == 413, heard[:300]


def is_open(connection):
    """Neither answered nor ended by the server."""
    connection.setblocking(False)
    try:
        connection.recv(1)
        return False
    except ssl.SSLWantReadError:
        return True
    except OSError:
        return False
    finally:
        connection.settimeout(DEADLINE_S)


def test_slow_clients_hold_nobody_up(target):
    """Two hundred that have begun a head or a body and go on byte by byte. When they are ended: bad_input_test.cpp."""
    slow = []
    try:
        for number in range(200):
            one = connect(target)
            one.sendall(b"GET /health HTTP/1.1\r\nX-Slow: " if number % 2 else
                        f"PUT {arm.WORKSPACE}/jobs/slow HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {target.key}\r\nContent-Length: 1000\r\n\r\n{{".encode())
            slow.append(one)
        for _ in range(5):
            for one in slow:
                one.sendall(b" ")
            assert ask(target, "GET /lavant/v1/status", key=target.key)[0] == 200
            # Answered beside them, not after the last of them was ended.
            assert any(is_open(one) for one in slow)
    finally:
        for one in slow:
            one.close()


def test_what_was_refused_is_on_record(target):
    """Writes in the audit, malformed requests in the log."""
    root, _ = target.places["workspaceblobstore"]
    theirs = target.places["workspaceartifactstore"][1]
    assert ask(target, f"DELETE {arm.WORKSPACE}/jobs/quiet", key=target.reader)[0] == 403
    assert ask(target, f"DELETE {arm.WORKSPACE}/jobs/quiet", key="lvk_" + "A" * 43)[0] == 401
    assert ask(target, f"DELETE {root}/kept.txt?{theirs}")[0] == 403
    records = arm.call(target, "GET", "/lavant/v1/audit?method=DELETE&status=4")[1]["value"]
    seen = {(one["path"], one["status"], one.get("user", "")) for one in records}
    assert (f"{arm.WORKSPACE}/jobs/quiet", 403, "eve") in seen, seen
    assert (f"{arm.WORKSPACE}/jobs/quiet", 401, "") in seen, seen
    assert any(path == f"{root}/kept.txt" and status == 403 for path, status, _ in seen), seen
    exchange(target, SMUGGLES["two lengths"])
    assert "request_refused" in target.log()


def encoded(value):
    return base64.urlsafe_b64encode(value if isinstance(value, bytes) else json.dumps(value).encode()).decode().rstrip("=")


def forged(server):
    """Tokens that look like ours."""
    claims = {"aud": "https://management.azure.com", "iss": "lavant", "sub": "root", "name": "root", "role": "owner", "key": "owner", "kid": "0" * 64,
              "iat": int(time.time()), "exp": int(time.time()) + 3600}
    made = ask(server, "GET /msi/token?resource=https://x", headers=[f"X-IDENTITY-HEADER: {server.reader}"])[1]
    real = json.loads(made.partition(b"\r\n\r\n")[2])["access_token"]
    head, payload, signature = real.split(".")
    theirs = json.loads(base64.urlsafe_b64decode(payload + "==="))
    yield "no algorithm", encoded({"alg": "none", "typ": "JWT"}) + "." + encoded(claims) + "."
    for secret in (b"", b"secret", b"lavant"):
        text = encoded({"alg": "HS256", "typ": "JWT"}) + "." + encoded(claims)
        yield f"a guessed secret {secret}", text + "." + encoded(hmac.new(secret, text.encode(), hashlib.sha256).digest())
    yield "another role", head + "." + encoded({**theirs, "role": "owner"}) + "." + signature
    yield "a later end", head + "." + encoded({**theirs, "exp": theirs["exp"] + 10 ** 6}) + "." + signature
    yield "no signature", head + "." + payload + "."
    yield "half a signature", real[:-len(signature) // 2]
    yield "the algorithm changed", encoded({"alg": "none"}) + "." + payload + "." + signature
    yield "a key cut short", server.key[:-1]
    yield "a key with more", server.key + "A"
    yield "a key of others", "lvk_" + "A" * 43
    yield "nothing", ""
    yield "far too long", "a" * 20_000


def test_forged_and_broken_credentials_open_nothing(target):
    for what, token in forged(target):
        for line in (f"GET {arm.WORKSPACE}/jobs/quiet", "GET /lavant/v1/keys", f"DELETE {arm.WORKSPACE}/jobs/quiet", f"PUT {arm.WORKSPACE}/jobs/forged"):
            status, heard = ask(target, line, headers=[f"Authorization: Bearer {token}"], body=b"{}")
            assert status == 401, (what, line, heard[:300])
    status, heard = ask(target, "GET /msi/token?resource=x", headers=["X-IDENTITY-HEADER: lvk_" + "A" * 43])
    assert status == 401, heard


def test_a_reader_changes_nothing(target):
    """Whatever the description says needs more than a reader."""
    words = {"subscription": arm.SUBSCRIPTION.rsplit("/", 1)[1], "group": "lavant", "workspace": "default", "location": "local"}
    tried = 0
    for path, methods in json.loads((ROOT / "protocol/openapi.json").read_text())["paths"].items():
        for method, operation in methods.items():
            if operation["x-lavant-need"] not in ("contributor", "owner"):
                continue
            line = method.upper() + " " + re.sub(r"{(\w+)}", lambda found: words.get(found.group(1), "quiet"), path)
            status, heard = ask(target, line, key=target.reader, headers=["Content-Type: application/json"], body=b'{"properties":{}}')
            assert status == 403, (line, heard[:300])
            assert b"Forbidden" in heard, heard[:300]
            tried += 1
            if operation["x-lavant-need"] == "owner":
                assert ask(target, line, key=target.contributor, headers=["Content-Type: application/json"], body=b"{}")[0] == 403, line
    assert tried > 30
    for path in (f"{arm.WORKSPACE}/jobs/quiet", "/lavant/v1/keys"):
        assert ask(target, f"DELETE {path}", key=target.reader)[0] in (403, 405)


def test_a_signature_opens_its_container_only(target):
    (blobs, ours), (artifacts, theirs) = target.places["workspaceblobstore"], target.places["workspaceartifactstore"]
    reader = arm.call(target, "POST", f"{arm.WORKSPACE}/datastores/workspaceblobstore/listSecrets", {}, target.reader)[1]["sasToken"].lstrip("?")
    fields = dict(urllib.parse.parse_qsl(ours))
    far = urllib.parse.urlencode({**fields, "se": "2099-01-01T00:00:00Z"})
    more = urllib.parse.urlencode({**dict(urllib.parse.parse_qsl(reader)), "sp": "racwdl"})
    cases = {
        "another container's": (f"GET {blobs}/kept.txt?{theirs}", f"PUT {blobs}/new?{theirs}", f"DELETE {blobs}/kept.txt?{theirs}", f"GET {artifacts}/x?{ours}"),
        "a longer life": (f"GET {blobs}/kept.txt?{far}", f"PUT {blobs}/new?{far}"),
        "more rights": (f"PUT {blobs}/new?{more}", f"DELETE {blobs}/kept.txt?{more}"),
        "a reader's": (f"PUT {blobs}/new?{reader}", f"DELETE {blobs}/kept.txt?{reader}"),
        "ended": (f"GET {blobs}/kept.txt?{urllib.parse.urlencode({**fields, 'se': '2000-01-01T00:00:00Z'})}",),
        "without a signature": (f"GET {blobs}/kept.txt?{urllib.parse.urlencode({k: v for k, v in fields.items() if k != 'sig'})}",),
        "out by its name": (f"GET {blobs}/..%2f{artifacts.rsplit('/', 1)[1]}/x?{ours}",),
    }
    for what, lines in cases.items():
        for line in lines:
            status, heard = ask(target, line, body=b"x" if line.startswith("PUT") else b"", headers=["x-ms-blob-type: BlockBlob"])
            assert status in (401, 403) or (what == "out by its name" and status in (400, 404)), (what, line, heard[:300])
            assert b"<Code>" in heard, heard
    assert ask(target, f"GET {blobs}/kept.txt?{reader}")[0] == 200


def test_a_job_that_is_over_has_no_say(target):
    """A log link with a changed token, and one of another run."""
    details = arm.call(target, "GET", f"/history/v1.0{arm.WORKSPACE}/runs/quiet/details")[1]
    link = urllib.parse.urlsplit(next(iter(details["logFiles"].values())))
    name = link.path + (f"?{link.query}" if link.query else "")
    assert ask(target, f"GET {name}")[0] == 200
    for broken in (name[:-2] + "AA", name.replace("/logs/", "/logs/x"), name[:20], "/logs/" + encoded({"job": "quiet"}) + ".AAAA"):
        assert ask(target, f"GET {broken}")[0] in (400, 401, 403, 404), broken
