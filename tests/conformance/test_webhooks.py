"""`lavant.notify`: a job's statuses reach a URL, signed, also when the receiver is not there at first."""
import hashlib
import hmac
import http.server
import json
import socket
import threading
import time

import pytest
from arm import call, key_of
from conftest import submitted_name, wait_for


class Receiver:
    """Answers with the statuses it is given, the last one for ever, and keeps what it got. Its port is its own from the
    start; until listen() nobody gets through."""

    def __init__(self, statuses):
        self.got = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.server_bind()
        self.port = self.server.server_port
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def listen(self):
        self.server.server_activate()
        self.thread.start()
        return self

    def said(self):
        return [json.loads(body)["status"] for _, body in self.got]

    def close(self):
        if self.thread.is_alive():
            self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver():
    started = []

    def start(*statuses, listening=True):
        started.append(Receiver(list(statuses)))
        return started[-1].listen() if listening else started[-1]

    yield start
    for one in started:
        one.close()


def submit(server, write_job, port, command="true"):
    file = write_job(command, properties={"lavant.notify": f"http://127.0.0.1:{port}/hook"})
    return submitted_name(server.cli("job", "create", "-f", file))


def test_every_status_is_told_and_signed(server, write_job, receiver):
    hook = receiver(200)
    name = submit(server, write_job, hook.port)
    server.wait_status(name)
    wait_for(lambda: {"Queued", "Preparing", "Running", "Completed"} <= set(hook.said()), "every status is told")
    status, secret = call(server, "GET", "/lavant/v1/webhooks/secret")
    assert status == 200
    for headers, body in hook.got:
        said = json.loads(body)
        assert said["job"] == name and said["sequence"] == int(headers["Lavant-Delivery"])
        at, signature = headers["Lavant-Signature"].removeprefix("t=").split(",v1=")
        assert hmac.new(secret["secret"].encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest() == signature


def test_a_receiver_that_is_not_well_is_asked_again(server, write_job, receiver):
    hook = receiver(503, 500, 200)
    name = submit(server, write_job, hook.port)
    server.wait_status(name)
    wait_for(lambda: len(hook.got) > len(set(hook.said())) and "Completed" in hook.said(), "they are told again")


def test_a_delivery_outlives_the_server(start_server, write_job, receiver, tmp_path):
    hook = receiver(200, listening=False)
    server = start_server(tmp_path / "data")
    name = submit(server, write_job, hook.port)
    server.wait_status(name)
    server.stop()
    hook.listen()
    start_server(tmp_path / "data")
    wait_for(lambda: "Completed" in hook.said(), "the end is told by the next server")


def test_a_refusal_is_final(server, write_job, receiver):
    hook = receiver(410)
    name = submit(server, write_job, hook.port)
    server.wait_status(name)
    wait_for(lambda: "Completed" in hook.said(), "the end is told")
    assert len(hook.got) == len(set(hook.said()))


@pytest.mark.parametrize("url", ["ftp://x/", "http://", "https://user:pass@host/", "http://a b/", "x" * 3000])
def test_what_is_no_url_is_refused(server, write_job, url):
    refused = server.cli("job", "create", "-f", write_job("true", properties={"lavant.notify": url}))
    assert refused.returncode == 2 and "lavant.notify" in refused.stderr, refused.stderr


def test_the_secret_is_not_for_readers(server):
    assert call(server, "GET", "/lavant/v1/webhooks/secret", key=key_of(server, "rea", "reader"))[0] == 403


class HangingReceiver:
    """Takes connections and never says a word."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.socket.getsockname()[1]
        self.taken = []
        self.thread = threading.Thread(target=self._take, daemon=True)
        self.thread.start()

    def _take(self):
        while True:
            try:
                self.taken.append(self.socket.accept()[0])
            except OSError:
                return

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()
        self.thread.join()
        for one in self.taken:
            one.close()


@pytest.fixture
def hanging():
    one = HangingReceiver()
    yield one
    one.close()


def test_a_receiver_that_hangs_holds_up_no_other_and_no_stop(start_server, write_job, receiver, hanging):
    server = start_server()
    for _ in range(8):
        submit(server, write_job, hanging.port)
    wait_for(lambda: hanging.taken, "the dead receiver is asked")
    hook = receiver(200)
    name = submit(server, write_job, hook.port)
    server.wait_status(name)
    wait_for(lambda: "Completed" in hook.said(), "the other receiver is told")
    # More than thirty notices wait for the dead one, ten seconds each; it has been asked for one or two.
    assert len(hanging.taken) <= 2
    began = time.monotonic()
    assert server.stop() == 0
    assert time.monotonic() - began < 30, "nobody waits for a receiver that does not answer"
