"""Servers that are gone, not ours, or talk nonsense: one sentence, exit code 4 or 5, and no secret given away."""
import datetime
import http.server
import ipaddress
import json
import re
import socket
import ssl
import threading

import pytest
import requests
from conftest import clean_environment, run

x509 = pytest.importorskip("cryptography.x509", reason="cryptography is not installed")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

TOKEN = "lvk_not_a_real_key"
COMMANDS = [["job", "list"], ["job", "show", "some_job"], ["job", "stream", "some_job"], ["job", "cancel", "some_job"],
            ["job", "download", "some_job"], ["submit", "--code", "none", "--", "true"], ["key", "list"]]


def make_certificate(folder, name):
    """Its own authority, for the loopback address."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
                   .not_valid_after(now + datetime.timedelta(days=2))
                   .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
                   .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
                   .sign(key, hashes.SHA256()))
    path = folder / f"{name}.pem"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                           serialization.NoEncryption()))
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("tls"), "odd")


class OddServer:
    """Takes connections one after the other; what follows the head of a request is up to `answer`."""

    def __init__(self, certificate, answer, tls=True):
        self.answer = answer
        self.heads = []
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER) if tls else None
        if tls:
            self._tls.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._socket.getsockname()[1]}"
        self.certificate = certificate
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection):
        try:
            with connection:
                if self._tls:
                    connection = self._tls.wrap_socket(connection, server_side=True)
                head = b""
                while b"\r\n\r\n" not in head:
                    more = connection.recv(65536)
                    if not more:
                        return
                    head += more
                self.heads.append(head)
                self.answer(connection)
                connection.close()
        except OSError:
            pass  # it left

    def environment(self, **changes):
        ours = {"LAVANT_ENDPOINT": self.url, "LAVANT_CA": self.certificate, "LAVANT_TOKEN": TOKEN}
        return clean_environment(**{**ours, **changes})

    def close(self):
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def odd(certificate):
    started = []

    def start(answer, **options):
        one = OddServer(certificate, answer, **options)
        started.append(one)
        return one

    yield start
    for one in started:
        one.close()


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def check_sentence(result, codes, *words):
    assert result.returncode in codes, (result.returncode, result.stdout, result.stderr)
    assert result.stdout == ""
    assert result.stderr.startswith("lavant: ") and len(result.stderr.splitlines()) <= 2, result.stderr
    assert len(result.stderr) < 1000 and TOKEN not in result.stderr, result.stderr
    assert all(letter == "\n" or letter.isprintable() for letter in result.stderr), repr(result.stderr)
    for word in words:
        assert re.search(word, result.stderr, re.IGNORECASE), (word, result.stderr)


@pytest.mark.parametrize("words", COMMANDS, ids="-".join)
def test_a_server_that_is_gone(words, certificate, tmp_path):
    url = f"https://127.0.0.1:{closed_port()}"
    result = run(*words, env=clean_environment(LAVANT_ENDPOINT=url, LAVANT_CA=certificate, LAVANT_TOKEN=TOKEN, HOME=tmp_path), cwd=tmp_path)
    check_sentence(result, {4}, re.escape(url), "LAVANT_ENDPOINT", "lavant up|lavant env")


def test_a_name_nobody_has(certificate, tmp_path):
    result = run("job", "list", env=clean_environment(LAVANT_ENDPOINT="https://no-such-host.invalid:8443", LAVANT_CA=certificate,
                                                      LAVANT_TOKEN=TOKEN, HOME=tmp_path))
    check_sentence(result, {4}, "no-such-host.invalid")


@pytest.mark.parametrize("endpoint", ["gpu-1", "gpu-1:8443", "ftp://gpu-1", "https://", "https://gpu-1:99999", "https://a b", "https://[::1"])
def test_an_endpoint_that_is_no_address(endpoint, tmp_path):
    result = run("job", "list", env=clean_environment(LAVANT_ENDPOINT=endpoint, LAVANT_TOKEN=TOKEN, HOME=tmp_path))
    check_sentence(result, {2, 4}, re.escape(endpoint))


def test_plain_http_is_refused_before_the_key_is_sent(odd, tmp_path):
    plain = odd(text(200, "{}"), tls=False)
    result = run("job", "list", env=plain.environment(LAVANT_ENDPOINT=plain.url.replace("https", "http"), HOME=tmp_path))
    check_sentence(result, {2, 4}, "https")
    assert not plain.heads


def test_a_server_without_tls(odd, tmp_path):
    def greet(connection):
        connection.sendall(b"220 mail.example ESMTP\r\n")

    class Greeter(OddServer):
        def _talk(self, connection):
            with connection:
                greet(connection)

    greeter = Greeter(None, greet, tls=False)
    try:
        result = run("job", "list", env=clean_environment(LAVANT_ENDPOINT=greeter.url, LAVANT_TOKEN=TOKEN, HOME=tmp_path))
    finally:
        greeter.close()
    check_sentence(result, {4}, re.escape(greeter.url))


@pytest.mark.parametrize("words", COMMANDS[:3], ids="-".join)
def test_another_authority(words, odd, tmp_path):
    other = make_certificate(tmp_path, "other")
    server = odd(text(200, "{}"))
    result = run(*words, env=server.environment(LAVANT_CA=other, HOME=tmp_path), cwd=tmp_path)
    check_sentence(result, {4}, "certificate", "LAVANT_CA|lavant env|lavant login")
    assert not server.heads, "the key was sent to a stranger"


@pytest.mark.parametrize("ca", ["missing", "empty", "no certificate", "folder"])
def test_an_authority_that_cannot_be_read(ca, odd, tmp_path):
    path = tmp_path / "ca.pem"
    {"missing": lambda: None, "empty": path.touch, "no certificate": lambda: path.write_text("hello\n"), "folder": path.mkdir}[ca]()
    server = odd(text(200, "{}"))
    result = run("job", "list", env=server.environment(LAVANT_CA=path, HOME=tmp_path))
    check_sentence(result, {2, 4}, re.escape(str(path)))
    assert not server.heads


def text(status, body, kind="application/json", headers=""):
    def answer(connection):
        bytes_ = body if isinstance(body, bytes) else body.encode()
        connection.sendall(f"HTTP/1.1 {status} Whatever\r\nContent-Type: {kind}\r\nContent-Length: {len(bytes_)}\r\n{headers}\r\n".encode() + bytes_)
    return answer


def raw(data):
    return lambda connection: connection.sendall(data)


def huge(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8589934592\r\n\r\n")
    for _ in range(8192):
        connection.sendall(b" " * (1 << 20))


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(8192):
        connection.sendall(b"100000\r\n" + b" " * (1 << 20) + b"\r\n")


def many_headers(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    for number in range(200_000):
        connection.sendall(b"X-%d: %s\r\n" % (number, b"y" * 100))


PAGE = "<!DOCTYPE html><html><head><title>Router</title></head><body><h1>Welcome</h1></body></html>"
ODD = {
    "garbage": raw(b"\x00\x01\x02 what is this \xff\xfe\r\n\r\n"),
    "a mail server": raw(b"220 mail.example ESMTP ready\r\n"),
    "nothing": raw(b""),
    "half a head": raw(b"HTTP/1.1 200 OK\r\nContent-"),
    "half a body": raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"value\":"),
    "a web page": text(200, PAGE, "text/html"),
    "a web page, 404": text(404, PAGE, "text/html"),
    "a web page, 500": text(500, PAGE, "text/html"),
    "500": text(500, ""),
    "502": text(502, "Bad Gateway", "text/plain"),
    "error with escape codes": text(500, json.dumps({"error": {"code": "X", "message": "red \x1b[31m\x07\nand two lines"}})),
    "error of another shape": text(400, json.dumps({"error": "text"})),
    "huge": huge,
    "endless": endless,
    "many headers": many_headers,
    "a list": text(200, "[1, 2, 3]"),
    "null": text(200, "null"),
    "deep": text(200, "[" * 100_000),
}
# What is no object has no jobs in it; a command may also take it for an empty answer.
MAY_PASS = {"a list", "null"}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("words", [["job", "list"], ["job", "show", "some_job"], ["submit", "--code", "none", "--", "true"]], ids="-".join)
def test_a_server_that_talks_nonsense(words, case, odd, tmp_path):
    server = odd(ODD[case])
    result = run(*words, env=server.environment(HOME=tmp_path), cwd=tmp_path)
    if case in MAY_PASS and result.returncode == 0:
        assert words == ["job", "list"], result.stdout
        return
    check_sentence(result, {4, 5})


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_does_not_take_the_key_elsewhere(status, odd, tmp_path):
    thief = odd(text(200, "{}"))
    server = odd(text(status, "", headers=f"Location: {thief.url}/lavant/v1/jobs\r\n"))
    result = run("job", "list", env=server.environment(HOME=tmp_path))
    check_sentence(result, {4, 5})
    assert server.heads and not thief.heads


def test_one_that_never_shakes_hands(tmp_path):
    """The client gives up by itself; how soon is its own affair."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        result = run("job", "list", env=clean_environment(LAVANT_ENDPOINT=url, LAVANT_TOKEN=TOKEN, HOME=tmp_path))
    check_sentence(result, {4}, re.escape(url))


def test_a_key_the_server_does_not_know(server):
    result = server.cli("job", "list", env=server.environment(LAVANT_TOKEN="lvk_wrong"))
    assert result.returncode == 5 and "key" in result.stderr, result.stderr
    assert "lvk_wrong" not in result.stderr


class OtherVersion(http.server.ThreadingHTTPServer):
    """In front of a real server, with another version and with fields that nobody knows yet."""

    daemon_threads = True

    def __init__(self, certificate, behind, version):
        self.behind, self.version = behind, version
        super().__init__(("127.0.0.1", 0), Relay)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, certificate.with_suffix(".key"))
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.url = f"https://127.0.0.1:{self.server_address[1]}"
        self.seen = []


class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def relay(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {key: value for key, value in self.headers.items() if key.lower() not in ("host", "content-length", "accept-encoding")}
        answer = requests.request(self.command, self.server.behind.url + self.path, data=body, headers=kept,
                                  verify=self.server.behind.ca, timeout=60)
        self.server.seen.append(self.path)
        sent = answer.content
        if "json" in answer.headers.get("Content-Type", ""):
            sent = json.dumps(self.changed(answer.json())).encode()
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(sent)))
        self.send_header("X-Lavant-Version", self.server.version)
        self.end_headers()
        self.wfile.write(sent)

    do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = relay

    def changed(self, answer):
        if self.path.split("?")[0].endswith("/status"):
            answer["version"] = self.server.version
        if self.server.version > "1":
            for entry in [answer, *answer.get("value", [])]:
                entry["not_yet_known"] = {"a": [1, None]}
                if "jobType" in entry.get("properties", {}):
                    entry["properties"]["notYetKnown"] = {"a": [1, None]}
        return answer

    def log_message(self, *_):
        pass


@pytest.mark.parametrize("version", ["0.0.1", "99.0.0"])
def test_an_older_or_newer_server(version, server, certificate, tmp_path):
    relay = OtherVersion(certificate, server, version)
    thread = threading.Thread(target=relay.serve_forever, daemon=True)
    thread.start()
    both = tmp_path / "both.pem"
    both.write_text(certificate.read_text() + open(server.ca).read())
    env = server.environment(LAVANT_ENDPOINT=relay.url, LAVANT_CA=both, HOME=tmp_path)
    try:
        made = run("submit", "--code", "none", "--env", "azureml:base:1", "--stream", "--", "echo hello", env=env, cwd=tmp_path)
        assert made.returncode == 0 and "hello" in made.stdout, made.stderr
        shown = run("job", "show", "@last", "-o", "json", env=env)
        assert shown.returncode == 0, shown.stderr
        name = json.loads(shown.stdout)["name"]
        for words in [["job", "list"], ["job", "show", name], ["job", "explain", name], ["job", "cancel", name], ["status"],
                      ["job", "archive", name], ["job", "restore", name], ["key", "list"], ["env"],
                      ["job", "download", name, "-p", tmp_path / "got"], ["job", "delete", name, "--yes"]]:
            result = run(*words, env=env, cwd=tmp_path)
            assert result.returncode == 0, (words, result.stderr)
        assert len(relay.seen) > 10
    finally:
        relay.shutdown()
        thread.join()
        relay.server_close()
