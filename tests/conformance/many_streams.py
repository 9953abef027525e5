"""Many clients that follow one job's log at once, and what each of them got.

    many_streams.py [--streams 1000] [--rounds 20] [--lines 50]      against a server of its own; prints a JSON line
"""
import argparse
import hashlib
import json
import os
import pathlib
import resource
import selectors
import socket
import ssl
import sys
import tempfile
import time
import urllib.parse

import arm
import requests
from conftest import DEADLINE_S, Server, stop_leftovers, wait_for

LINE_CHARS = 100


def resident_mib(pid, field="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    return 0.0


def line_of(number):
    return f"{number:08d} ".ljust(LINE_CHARS - 1, "x") + "\n"


def expected(count):
    return "".join(line_of(number) for number in range(count)).encode()


def submit_writer(server, name, go, rounds, lines):
    """A job that waits for the file `go` and then writes its lines in rounds, a moment apart."""
    program = ("import os, sys, time\n"
               f"while not os.path.exists({str(go)!r}): time.sleep(0.02)\n"
               f"for r in range({rounds}):\n"
               f"    for n in range(r * {lines}, (r + 1) * {lines}): sys.stdout.write(f'{{n:08d}} '.ljust({LINE_CHARS - 1}, 'x') + '\\n')\n"
               "    sys.stdout.flush(); time.sleep(0.1)\n")
    status, body = arm.call(server, "PUT", f"{arm.WORKSPACE}/jobs/{name}", {"properties": {
        "jobType": "Command", "command": f"{sys.executable} -c \"$PROGRAM\"", "environmentId": "azureml:base:1",
        "environmentVariables": {"PROGRAM": program}, "properties": {"lavant.sandbox": "off"}}})
    assert status == 201, body
    wait_for(lambda: arm.call(server, "GET", f"{arm.WORKSPACE}/jobs/{name}")[1]["properties"]["status"] == "Running", "a running job")


class Follower:
    """One connection. HTTP/1.0, so that the body is what comes until the end."""

    def __init__(self, server, context, name):
        parts = urllib.parse.urlsplit(server.url)
        plain = socket.create_connection((parts.hostname, parts.port), timeout=DEADLINE_S)
        self.socket = context.wrap_socket(plain, server_hostname=parts.hostname)
        self.socket.sendall(f"GET /lavant/v1/jobs/{name}/logs?follow=1 HTTP/1.0\r\nHost: h\r\nAuthorization: Bearer {server.key}\r\n\r\n".encode())
        self.socket.setblocking(False)
        self.head, self.digest, self.bytes, self.ended = b"", hashlib.sha256(), 0, False

    def read(self):
        try:
            while True:
                got = self.socket.recv(65536)
                if not got:
                    self.ended = True
                    return
                self.take(got)
        except (ssl.SSLWantReadError, BlockingIOError):
            pass
        except (ConnectionResetError, ssl.SSLError):
            self.ended = True

    def take(self, got):
        if b"\r\n\r\n" not in self.head:
            self.head += got
            if b"\r\n\r\n" not in self.head:
                return
            self.head, _, got = self.head.partition(b"\r\n\r\n")
            self.head += b"\r\n\r\n"
            assert b" 200 " in self.head.split(b"\r\n")[0], self.head
        self.bytes += len(got)
        self.digest.update(got)


def follow_all(server, streams, rounds, lines, folder, name="talks"):
    """Figures, after every client got the whole log."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit[0], min(limit[1], streams + 200)), limit[1]))
    go = pathlib.Path(folder) / "go"
    submit_writer(server, name, go, rounds, lines)
    pid = server.process.pid
    before = resident_mib(pid)
    context = ssl.create_default_context(cafile=server.ca)
    followers = [Follower(server, context, name) for _ in range(streams)]
    chooser = selectors.DefaultSelector()
    for one in followers:
        chooser.register(one.socket, selectors.EVENT_READ, one)
    wait_for(lambda: heads_are_there(chooser, followers), "an answer to everybody")
    idle = resident_mib(pid)
    begin = time.monotonic()
    go.touch()
    peak, left = idle, streams
    while left:
        assert time.monotonic() - begin < DEADLINE_S, f"{left} streams did not end"
        for key, _ in chooser.select(timeout=1):
            key.data.read()
            if key.data.ended:
                chooser.unregister(key.fileobj)
                key.data.socket.close()
                left -= 1
        peak = max(peak, resident_mib(pid))
    # What the server has of it now; the agent's own lines come first.
    answer = requests.get(f"{server.url}/lavant/v1/jobs/{name}/logs", verify=server.ca, timeout=DEADLINE_S, headers={"Authorization": f"Bearer {server.key}"})
    whole = answer.content
    assert whole.endswith(expected(rounds * lines)), "lines are lost before anybody follows them"
    right = sum(one.bytes == len(whole) and one.digest.digest() == hashlib.sha256(whole).digest() for one in followers)
    return {"streams": streams, "whole": right, "log_bytes": len(whole), "seconds": time.monotonic() - begin, "before_mib": before,
            "idle_mib": idle, "peak_mib": max(peak, resident_mib(pid, "VmHWM"))}


def heads_are_there(chooser, followers):
    for key, _ in chooser.select(timeout=0.05):
        key.data.read()
    return all(b"\r\n\r\n" in one.head for one in followers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--lines", type=int, default=50)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lavant-streams-", dir=os.environ.get("LAVANT_BENCH_DIR")) as folder:
        server = Server(pathlib.Path(folder) / "data")
        assert server.ready_line == "ready", server.log()
        try:
            figures = follow_all(server, options.streams, options.rounds, options.lines, folder)
        finally:
            server.stop()
            stop_leftovers(server.data)
    print(json.dumps({key: round(value, 1) for key, value in figures.items()}))
    return 0 if figures["whole"] == figures["streams"] else 1


if __name__ == "__main__":
    sys.exit(main())
