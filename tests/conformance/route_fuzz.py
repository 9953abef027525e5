"""Requests made from protocol/openapi.json and recorded bodies, valid ones and broken ones, by every role.

    route_fuzz.py [--count 10000] [--seed 1]

The same seed gives the same requests in the same order. What may come back: any answer below 500, and 503 or 507 where the
server says that it is busy or full; an error has a code and a sentence, in JSON, or in XML from the storage.
"""
import argparse
import base64
import contextlib
import copy
import http.client
import json
import pathlib
import random
import socket
import sqlite3
import ssl
import sys
import tempfile
import time
import urllib.parse
import xml.etree.ElementTree

import arm
from conftest import ROOT, Server, shared_folder, stop_leftovers

ANSWER_S = 30  # more is a hang
BY_DESIGN = {503, 507}
FOR_PEOPLE = ("/authorize",)  # a browser shows what these say

ODD_PATHS = ["..", "%2e%2e", "%252e%252e%252f", "..%2f..%2f..%2fetc%2fpasswd", "%00", "a%00b", "..%5c..%5c", "%ff%fe", "%c0%ae%c0%ae",
             "x" * 300, "x" * 6000, "%F0%9F%90%8D", "%zz", "%", "%2", "+", "%20", "-1", "0", "a:b", "a@latest", "CON", "~", "%0d%0aX:%20y",
             "';DROP%20TABLE%20job;--", "$%7B%7Bx%7D%7D", "null", "%7B%7D", "a%2Fb", ".", "_", "9223372036854775808", "%E2%80%AE"]
ODD_QUERIES = ["", "-1", "0", "1", "99999999999999999999", "1e999", "NaN", "0x10", "%00", "%ff", "true", "null", "[]", "a,b,c", "=", "&&",
               "x" * 5000, "%F0%9F%90%8D", "..%2f..%2f", "' OR 1=1--", "%", "2147483648", "1.5", "All", "$top", "%0d%0a"]
ODD_VALUES = [None, True, False, 0, -1, 1, 2 ** 31, 2 ** 63, -2 ** 63, 2 ** 64, 1e308, 1.5, "", " ", "\0", "x" * 20000, "../../etc/passwd",
              "\ud800", "\u202e", "🐍" * 50, "${{inputs.x}}", "${{parent.jobs.a.outputs.b}}", "azureml:", "azureml:a:b:c", "azureml://", "file:///etc/passwd",
              "azureml:a@latest", "PT0S", "PT-1S", "P99999999999Y", "{}", "[]", [], {}, [[]], {"": ""}, ["a"] * 300, "azureml://datastores/../paths/..",
              "Infinity", "1e5", "/", "\\", "'", '"', "\n", "%s%n", "host", "local"]
ODD_HEADERS = [("Content-Type", "text/plain"), ("Content-Type", "application/json; charset=utf-16"), ("Content-Type", "\xff\xfe"),
               ("Content-Type", "multipart/form-data"), ("Accept", "application/xml"), ("Accept-Encoding", "gzip, br"), ("Range", "bytes=5-2"),
               ("Range", "bytes=0-99999999999999999999"), ("Range", "bytes=-5"), ("Range", "x=1"), ("Range", "bytes=1-2,5-9,0-0"), ("If-Match", "*"),
               ("If-None-Match", "*"), ("If-Match", '"a", W/"b"'), ("If-Modified-Since", "yesterday"), ("If-Unmodified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
               ("x-ms-version", "1999-01-01"), ("x-ms-blob-type", "PageBlob"), ("x-ms-meta-a b", "c"), ("x-ms-meta-", "x"), ("x-ms-meta-k", "\xff"),
               ("x-ms-copy-source", "https://127.0.0.1:1/x"), ("x-ms-range", "bytes=3-"), ("Content-MD5", "not base64"), ("Origin", "https://127.0.0.1:1"),
               ("X-Forwarded-For", "1.2.3.4"), ("X-HTTP-Method-Override", "DELETE"), ("X-Long", "y" * 20000), ("Cookie", "a=b" * 500), ("X-Empty", ""),
               ("x-ms-client-request-id", "z" * 3000), ("Last-Event-ID", "-5"), ("X-IDENTITY-HEADER", "\xfe"), ("Host-Alias", "::"), ("TE", "trailers")]
ODD_BODIES = [b"", b"{", b"null", b"[]", b'"x"', b"0", b"{}" * 3, b"\xff\xfe{\0}\0", b"\xef\xbb\xbf{}", b"[" * 20000, b'{"a":' * 5000, b"<xml/>", b"\0" * 64,
              b'{"properties":null}', b'{"properties":[]}', b'{"properties":{"properties":{"properties":{}}}}', b"{'a':1}", b'{"a":1,"a":2}', b'{"a":1e9999}',
              b'{"\\ud800":1}', b"grant_type=client_credentials&client_id=%00&client_secret=x", b"<BlockList><Latest>AAAA</Latest></BlockList>",
              b"<BlockList><Latest>" + b"A" * 5000 + b"</Latest></BlockList>", b'<!DOCTYPE x [<!ENTITY y SYSTEM "file:///etc/passwd">]><BlockList><Latest>&y;</Latest></BlockList>']

POOLS = {"subscription": [arm.SUBSCRIPTION.rsplit("/", 1)[1], "s2"], "group": ["lavant", "g2"], "workspace": ["default", "w2"],
         "name": ["f0", "f1", "f2", "f3", "workspaceblobstore", "workspaceartifactstore", "base", "Standard_DS3_v2"],
         "version": ["1", "2", "3", "latest"], "lock": ["l0", "l1"], "location": ["local", "westeurope"], "network": ["n0"],
         "experiment": ["Default", "e1"], "node": ["0", "1"], "id": ["i0", "key-000000000000"], "token": ["t0"],
         "container": ["azureml-blobstore-x"], "blob": ["a/b.txt", "a/c", "d", "ExperimentRun/dcid.f0/user_logs/std_log.txt"]}


class Answer:
    def __init__(self, status, headers, body, seconds):
        self.status, self.headers, self.body, self.seconds = status, headers, body, seconds


class Wire:
    """One connection that stays, and the bytes exactly as given."""

    def __init__(self, server):
        parts = urllib.parse.urlsplit(server.url)
        self.address = (parts.hostname, parts.port)
        self.context = ssl.create_default_context(cafile=server.ca)
        self.socket = None

    def close(self):
        if self.socket:
            self.socket.close()
        self.socket = None

    def ask(self, raw, method, patience_s=ANSWER_S, head_only=False):
        """None: no answer within the patience."""
        begin = time.monotonic()
        for attempt in (1, 2):
            if self.socket is None:
                self.socket = self.context.wrap_socket(socket.create_connection(self.address, timeout=ANSWER_S), server_hostname=self.address[0])
            self.socket.settimeout(patience_s)
            try:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused before it was all sent: read why
                    self.socket.sendall(raw)
                response = http.client.HTTPResponse(self.socket, method=method)
                response.begin()
                body = b"" if head_only else response.read()
                answer = Answer(response.status, dict((k.lower(), v) for k, v in response.getheaders()), body, time.monotonic() - begin)
                if head_only or response.will_close:
                    self.close()
                return answer
            except TimeoutError:
                self.close()
                return None
            except (http.client.RemoteDisconnected, ConnectionResetError, ssl.SSLError):
                self.close()  # an idle connection that the server had ended; once
                if attempt == 2:
                    raise
        return None


def recorded_bodies():
    """By the schema of the route they were sent to."""
    kinds = {}
    shared = shared_folder()
    for path in sorted((shared / "corpus/rest").rglob("*.json")) if shared else []:
        try:
            body = json.loads(path.read_text())
        except ValueError:
            continue
        properties = body.get("properties", {}) if isinstance(body, dict) else {}
        for sign, kind in (("jobType", "Job"), ("computeType", "Compute"), ("componentSpec", "ComponentVersion"), ("dataType", "DataVersion"),
                           ("modelUri", "ModelVersion"), ("image", "EnvironmentVersion"), ("build", "EnvironmentVersion"), ("trigger", "Schedule")):
            if sign in properties:
                kinds.setdefault(kind, []).append(path.read_text().replace("https://", "https://127.0.0.1:1/"))
                break
    kinds.setdefault("Job", []).extend(
        [json.dumps({"properties": {"jobType": "Command", "command": "true", "environmentId": "azureml:base:1", "tags": {"a": "b"},
                                    "resources": {"instanceCount": 1, "instanceType": "Standard_DS1_v2"}}})] * 20)
    return kinds


def kind_of(operation):
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema", {}).get("$ref", "").rsplit("/", 1)[-1]


class Maker:
    """Request number n of a seed is always the same, whatever came back before."""

    def __init__(self, seed, description, sas):
        self.seed, self.sas = seed, sas
        self.schemas = description["components"]["schemas"]
        self.recorded = recorded_bodies()
        self.parts = {}
        for path, methods in description["paths"].items():
            for method, operation in methods.items():
                self.parts.setdefault(operation["tags"][0], []).append((path, method.upper(), operation))
        self.parts["agents"] = [("/lavant/v1/nodes/{node}/" + verb, method, {"parameters": []})
                                for verb in ("control", "bulk", "enrol", "blobs/c/a", "outputs/1/a") for method in ("GET", "PUT", "POST")]

    def make(self, number):
        self.random = random.Random(f"{self.seed}:{number}")
        part = self.random.choices(["arm", "storage", "own", "history", "bootstrap", "agents"], [8, 4, 4, 2, 1, 0.5])[0]
        # What takes a body that was recorded comes three times as often.
        weights = [3 if kind_of(operation) in self.recorded else 1 for _, _, operation in self.parts[part]]
        path, method, operation = self.random.choices(self.parts[part], weights)[0]
        if self.chance(0.02):
            method = self.random.choice(["GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "FROB", "get"])
        target = self.fill(path)
        target += self.query(operation, part, target)
        headers = [("Host", "127.0.0.1")] + self.authority(part)
        body = b""
        if method in ("PUT", "POST", "PATCH") or self.chance(0.02):
            body = self.body(operation)
            kind = next(iter(operation.get("requestBody", {}).get("content", {"application/json": 0})))
            headers.append(("Content-Type", kind))
        if part == "storage" and method == "PUT" and self.chance(0.8):
            headers.append(("x-ms-blob-type", "BlockBlob"))
        while self.chance(0.25):
            headers.append(self.random.choice(ODD_HEADERS))
        return method, path, self.raw(method, target, headers, body), bool(operation.get("x-lavant-stream"))

    def chance(self, share):
        return self.random.random() < share

    def fill(self, path):
        odd = self.chance(0.25)
        spots = path.count("{")
        chosen = self.random.randrange(spots) if odd and spots else -1
        out, index = "", 0
        for piece in path.replace("}", "{").split("{"):
            if index % 2 == 0:
                out += piece
            elif index // 2 == chosen:
                out += self.random.choice(ODD_PATHS)
            else:
                pool = POOLS.get(piece, ["f0"])
                out += pool[0] if piece in ("subscription", "group", "workspace", "location") and self.chance(0.9) else self.random.choice(pool)
            index += 1
        return out + ("/" if self.chance(0.02) else "")

    def query(self, operation, part, target):
        pairs = []
        for parameter in operation["parameters"]:
            if parameter["in"] != "query" or not self.chance(0.35):
                continue
            schema = parameter["schema"]
            value = self.random.choice(ODD_QUERIES)
            if self.chance(0.6):
                value = str(self.random.choice(schema.get("enum") or {"integer": [0, 1, 2, 5, 100], "boolean": ["true", "false"]}.get(schema["type"], ["f0", "a"])))
            if parameter["name"] == "timeout_s":
                value = self.random.choice(["0", "1", "-1", "x", "", "1e9"])
            pairs.append(f"{parameter['name']}={value}")
        if part == "storage":
            fitting = [tokens for container, tokens in self.sas.items() if container and f"/{container}" in target and self.chance(0.85)]
            pairs.append(self.random.choice(fitting[0] if fitting else self.random.choice(list(self.sas.values()))))
        if self.chance(0.05):
            pairs.append(self.random.choice(ODD_QUERIES))
        if pairs and self.chance(0.05):
            pairs.append(self.random.choice(pairs))
        return "?" + "&".join(pairs).replace(" ", "%20") if pairs or self.chance(0.02) else ""

    def authority(self, part):
        # The keys are put in when it is sent: they differ from server to server.
        who = self.random.choices(["@owner@", "@contributor@", "@reader@", "", "Bearer", "Bearer x.y.z", "Basic b3duZXI6eA==", "Bearer " + "a" * 9000,
                                   "Bearer \xff\xfe", "SharedKey acct:" + base64.b64encode(b"x" * 32).decode(), "SharedKey :", "Bearer @owner@x"],
                                  [60, 15, 8, 3, 1, 2, 1, 1, 1, 2, 1, 1])[0]
        if part == "storage" and self.chance(0.8) or not who:
            return []
        return [("Authorization", "Bearer " + who if who.startswith("@") else who)]

    def body(self, operation):
        content = operation.get("requestBody", {}).get("content", {})
        if self.chance(0.1):
            return self.random.choice(ODD_BODIES)
        if "application/octet-stream" in content:
            return self.random.choice([self.random.randbytes(self.random.choice([0, 1, 100, 70000])), *ODD_BODIES])
        schema = content.get("application/json", {}).get("schema", {"type": "object"})
        kind = kind_of(operation)
        if self.recorded.get(kind) and self.chance(0.7):
            value = json.loads(self.random.choice(self.recorded[kind]))
        else:
            value = self.from_schema(schema)
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 4, 8])):
            value = self.mutate(value)
        text = json.dumps(value, ensure_ascii=self.chance(0.5)).encode("utf-8", "surrogatepass")
        if self.chance(0.06) and text:
            at = self.random.randrange(len(text))
            text = self.random.choice([text[:at], text[:at] + bytes([self.random.randrange(256)]) + text[at + 1:], text[at:],
                                       text[:at] + text[at:] * 2, text.decode("utf-8", "replace").encode("utf-16")])
        return text

    def from_schema(self, schema):
        if "$ref" in schema:
            schema = self.schemas[schema["$ref"].rsplit("/", 1)[-1]]
        if "enum" in schema:
            return self.random.choice(schema["enum"])
        kind = schema.get("type", "object")
        if kind == "object":
            wanted = schema.get("required", [])
            return {name: self.from_schema(one) for name, one in schema.get("properties", {}).items() if name in wanted or self.chance(0.5)}
        if kind == "array":
            return [self.from_schema(schema["items"]) for _ in range(self.random.randrange(3))]
        return {"string": "f0", "integer": 1, "number": 1.5, "boolean": True}[kind]

    def mutate(self, value):
        """One node of the tree becomes another, goes, or is called otherwise."""
        places = []

        def walk(node):
            items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
            for key, inner in items:
                places.append((node, key))
                walk(inner)
        walk(value)
        if not places:
            return copy.deepcopy(self.random.choice(ODD_VALUES))
        node, key = self.random.choice(places)
        how = self.random.random()
        if how < 0.7:
            node[key] = copy.deepcopy(self.random.choice(ODD_VALUES))
        elif how < 0.8 and isinstance(node, dict):
            node[self.random.choice(["", "x", "properties", "jobType", str(key).upper(), str(key) + "\0"])] = node.pop(key)
        elif how < 0.9:
            node[key] = copy.deepcopy(self.random.choice(places)[0])
        else:
            del node[key]
        return value

    def raw(self, method, target, headers, body):
        if body and self.chance(0.05):
            headers.append(("Transfer-Encoding", "chunked"))
            cut = self.random.randrange(len(body)) or len(body)
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (body[:cut], body[cut:]) if piece) + b"0\r\n\r\n"
        elif body or method in ("PUT", "POST", "PATCH"):
            headers.append(("Content-Length", str(len(body))))
        head = f"{method} {target} HTTP/1.1\r\n".encode("latin-1", "replace")
        return head + b"".join(f"{name}: {value}\r\n".encode("latin-1", "replace") for name, value in headers) + b"\r\n" + body


def problem_with(answer, method, path):
    """None, or what is wrong with this answer."""
    if answer.status >= 500 and answer.status not in BY_DESIGN:
        return "a status that blames the server"
    kind = answer.headers.get("content-type", "")
    if kind.startswith("application/json") and answer.body:
        try:
            decoded = json.loads(answer.body.decode("utf-8"))
        except ValueError as why:
            return f"JSON that is none: {why}"
        if answer.status >= 400 and not isinstance(decoded, list):
            # The OAuth endpoints have an error form of their own.
            error = decoded.get("error") if isinstance(decoded, dict) else None
            if isinstance(error, str) and decoded.get("error_description"):
                return None
            if not isinstance(error, dict) or not error.get("code") or not error.get("message"):
                return "an error without a code and a message"
    elif answer.status >= 400 and method != "HEAD":
        if path.endswith(FOR_PEOPLE) and kind.startswith("text/plain") and answer.body:
            return None
        if not path.startswith("/storage/"):
            return f"an error that is no JSON: {kind}"
        try:
            error = xml.etree.ElementTree.fromstring(answer.body.decode("utf-8-sig"))
        except (ValueError, xml.etree.ElementTree.ParseError) as why:
            return f"XML that is none: {why}"
        if error.tag != "Error" or not error.findtext("Code") or not error.findtext("Message"):
            return "an XML error without Code and Message"
    if answer.status >= 400 and path.startswith("/storage/") and not answer.headers.get("x-ms-error-code"):
        return None if answer.status in (401, 405, 413, 431) or kind.startswith("application/json") else "a storage error without x-ms-error-code"
    return None


def sas_tokens(server):
    """By container: of both datastores, a reader's too; and broken ones."""
    tokens = {"": ["", "sv=x&sig=%00", "sig=AAAA&se=2000-01-01&sp=racwdl&sr=c&sv=2021-01-01"]}
    reader = arm.key_of(server, "fuzz-sas-reader", "reader")
    for name in ("workspaceblobstore", "workspaceartifactstore"):
        status, store = arm.call(server, "GET", f"{arm.WORKSPACE}/datastores/{name}")
        assert status == 200, store
        container = store["properties"]["containerName"]
        if container not in POOLS["container"]:
            POOLS["container"] += [container] * 4
        for key in (None, None, None, reader):
            status, secrets = arm.call(server, "POST", f"{arm.WORKSPACE}/datastores/{name}/listSecrets", {}, key)
            if status == 200 and "sasToken" in secrets:
                tokens.setdefault(container, []).append(secrets["sasToken"].lstrip("?"))
    return tokens


def furnish(server):
    """A job that has ended and one that goes on, with a link to a log; a cluster; versions of assets."""
    for name, command in (("f0", "echo hello"), ("f1", "sleep 1000")):
        status, body = arm.call(server, "PUT", f"{arm.WORKSPACE}/jobs/{name}", {"properties": {
            "jobType": "Command", "command": command, "environmentId": "azureml:base:1"}})
        assert status in (200, 201), body
    arm.put_cluster(server, "f2", nodes=1)
    arm.call(server, "PUT", f"{arm.WORKSPACE}/data/f0/versions/1", {"properties": {
        "dataType": "uri_file", "dataUri": "azureml://datastores/workspaceblobstore/paths/a/b.txt"}})
    arm.call(server, "GET", "/lavant/v1/jobs/f0/wait?timeout_s=60")
    status, details = arm.call(server, "GET", f"/history/v1.0{arm.WORKSPACE}/runs/f0/details")
    assert status == 200, details
    POOLS["token"] = [url.rsplit("/", 1)[1].split("?")[0] for url in details.get("logFiles", {}).values()] + ["t0"]


def remove_locks(server):
    """Else one that was made early refuses everything after it."""
    for scope in (arm.WORKSPACE, arm.GROUP, arm.WORKSPACE + "/computes/f0"):
        for lock in POOLS["lock"]:
            arm.call(server, "DELETE", f"{scope}{arm.LOCKS}/{lock}")


def fuzz(server, seed, count, first=0):
    """Runs the requests; returns what was wrong, and how often each status came."""
    furnish(server)
    tokens = sas_tokens(server)
    maker = Maker(seed, json.loads((ROOT / "protocol/openapi.json").read_text()), tokens)
    keys = {b"@owner@": server.key.encode(), b"@contributor@": arm.key_of(server, "fuzz-contributor", "contributor").encode(),
            b"@reader@": arm.key_of(server, "fuzz-reader", "reader").encode()}
    wire, problems, statuses = Wire(server), [], {}
    for number in range(first, first + count):
        if number % 200 == 199:
            remove_locks(server)
        method, path, raw, streams = maker.make(number)
        for name, key in keys.items():
            raw = raw.replace(name, key)
        try:
            answer = wire.ask(raw, method, patience_s=1.5 if streams else ANSWER_S, head_only=streams)
        except (OSError, http.client.HTTPException) as why:
            problems.append((number, f"no answer: {why!r}", raw[:3000], b""))
            if server.process.poll() is not None:
                problems.append((number, f"the server is gone: {server.process.returncode}", b"", server.log()[-3000:].encode()))
                break
            continue
        if answer is None:
            if not streams:
                problems.append((number, f"no answer within {ANSWER_S} s", raw[:3000], b""))
            continue
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        wrong = None if streams and answer.status < 300 else problem_with(answer, method, path) if not streams else (
            "a status that blames the server" if answer.status >= 500 and answer.status not in BY_DESIGN else None)
        if wrong:
            problems.append((number, f"{answer.status}: {wrong}", raw[:3000], answer.body[:600]))
    wire.close()
    return problems, statuses


def check_database(path):
    """Whole, and every JSON in it can be read."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for column in set(columns) & {"properties", "body", "tags", "metadata"}:
                for (text,) in database.execute(f"SELECT {column} FROM {table} WHERE {column} LIKE '{{%'"):
                    json.loads(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lavant-fuzz-") as folder:
        server = Server(pathlib.Path(folder) / "data")
        assert server.ready_line == "ready", server.log()
        try:
            begin = time.monotonic()
            problems, statuses = fuzz(server, options.seed, options.count, options.first)
            for number, what, raw, body in problems[:40]:
                print(f"--- request {number} of seed {options.seed}: {what}\n{raw[:1200]!r}\n=> {body!r}")
            print(f"{sum(statuses.values())} answers in {time.monotonic() - begin:.1f} s, {len(problems)} problems,",
                  ", ".join(f"{status}: {times}" for status, times in sorted(statuses.items())))
        finally:
            server.stop()
            stop_leftovers(server.data)
        check_database(server.data / "lavant.db")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
