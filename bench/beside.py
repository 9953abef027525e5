"""The server beside others that do the same work, in the same run and by the same load generator: bench/peers, nginx.

Servers take turns, and the figure of each is its median round, so that a noisy moment hits no side alone. CPU is that of
the server's process and its workers; ratios are ours to theirs.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import sqlite3
import ssl
import statistics
import subprocess
import tempfile
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")
GROUP = "/subscriptions/s/resourceGroups/g"
WORKSPACE = GROUP + "/providers/Microsoft.MachineLearningServices/workspaces/w"
CONNECTIONS = 16
JOB = {"properties": {"jobType": "Command", "command": "python train.py --epochs 10 --rate 0.1", "environmentId": "azureml:base:1",
                      "computeId": WORKSPACE + "/computes/one", "experimentName": "bench", "displayName": "one of many",
                      "description": "A job as a client would send it", "tags": {"team": "vision", "purpose": "bench"},
                      "properties": {"note": "x"}, "environmentVariables": {"MODE": "fast"}, "resources": {"instanceCount": 1}}}

NGINX = """
daemon off; worker_processes 2; pid nginx.pid; error_log stderr error;
events {{ worker_connections 1024; }}
http {{
    access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000; client_max_body_size 0; server_tokens off;
    client_body_temp_path body; proxy_temp_path p; fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s;
    ssl_certificate {certificate}; ssl_certificate_key {key}; ssl_protocols TLSv1.2 TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384; ssl_session_tickets on;
    server {{ listen 127.0.0.1:{port} ssl; root files; dav_methods PUT DELETE; create_full_put_path on; }}
}}
"""


def process_tree(pid):
    yield pid
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from process_tree(int(child))


def cpu_of(pids):
    total = 0
    for pid in pids:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


class Ours:
    """The server: a queue that nothing leaves, so that what is measured is the submission alone."""

    def __init__(self, server):
        self.server, self.environment = server, server.environment
        self.key = self.environment["LAVANT_TOKEN"]

    def pids(self):
        return [self.server.process.pid]

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.environment["LAVANT_ENDPOINT"] + path, method=method,
                                         data=None if body is None else json.dumps(body).encode(),
                                         headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"})
        context = ssl.create_default_context(cafile=self.environment["LAVANT_CA"])
        with urllib.request.urlopen(request, context=context) as answer:
            return json.loads(answer.read() or b"null")

    def fill(self):
        self.call("PUT", f"{WORKSPACE}/computes/one", {"location": "local", "properties": {"computeType": "AmlCompute", "properties": {
            "vmSize": "Standard_DS1_v2", "scaleSettings": {"minNodeCount": 0, "maxNodeCount": 1}}}})
        hold = json.loads(json.dumps(JOB))
        hold["properties"]["command"] = "sleep 100000"
        self.call("PUT", f"{WORKSPACE}/jobs/hold", hold)
        while self.call("GET", f"{WORKSPACE}/jobs/hold")["properties"]["status"] != "Running":
            time.sleep(0.05)

    def sas(self):
        store = self.call("GET", f"{WORKSPACE}/datastores/workspaceblobstore")["properties"]
        token = self.call("POST", f"{WORKSPACE}/datastores/workspaceblobstore/listSecrets", {})["sasToken"]
        return f"/storage/acct/{store['containerName']}", "?" + token.lstrip("?")

    def stop(self):
        """The job that holds the node goes, with its process."""
        self.call("POST", f"{WORKSPACE}/jobs/hold/cancel")
        while self.call("GET", f"{WORKSPACE}/jobs/hold")["properties"]["status"] != "Canceled":
            time.sleep(0.05)


class Peer:
    """A program that prints its address."""

    def __init__(self, command, environment, folder=None, endpoint=None):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE if endpoint is None else subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, text=True, cwd=folder)
        self.environment = dict(environment, LAVANT_ENDPOINT=endpoint or self.process.stdout.readline().strip())

    def pids(self):
        return list(process_tree(self.process.pid))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def certificates(server):
    tls = server.data / "tls"
    found = {path.name: path for path in tls.iterdir()}
    return str(next(path for name, path in found.items() if name.startswith("server") and name.endswith(("crt", "pem")) and "key" not in name)), \
        str(next(path for name, path in found.items() if "key" in name and name.startswith("server")))


def nginx(peers, folder, server):
    certificate, key = certificates(server)
    for name in ("files", "body"):
        (folder / name).mkdir(parents=True)
    port = free_port()
    (folder / "nginx.conf").write_text(NGINX.format(certificate=certificate, key=key, port=port))
    # Its workers would be nobody, who may not write here.
    words = "user root; " if os.getuid() == 0 else ""
    one = Peer([str(peers / "nginx/usr/sbin/nginx"), "-p", str(folder), "-c", "nginx.conf", "-g", words], server.environment, folder,
               f"https://127.0.0.1:{port}")
    one.environment["LAVANT_TOKEN"] = ""
    wait_for_port(port)
    return one


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for_port(port):
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.02)


def load(loader, side, *arguments):
    cpu = cpu_of(side.pids())
    made = subprocess.run([loader, "send", *map(str, arguments)], env=side.environment, capture_output=True, text=True)
    if made.returncode != 0:
        raise SystemExit(f"load failed: {made.stderr[-2000:]}")
    figures = json.loads(made.stdout)
    figures["cpu_ms"] = (cpu_of(side.pids()) - cpu) * 1000 / figures["count"]
    return figures


def in_turns(sides, rounds, work):
    """Median of each figure of each side: {side: {figure: value}}."""
    seen = {name: [] for name in sides}
    for number in range(rounds):
        for name, side in sides.items():
            seen[name].append(work(name, side, number))
    return {name: {key: statistics.median(one[key] for one in every) for key in every[0]} for name, every in seen.items()}


def ratios(measured, figure, ours="lavant"):
    return {f"{figure}_to_{name}": measured[ours][figure] / every[figure] for name, every in measured.items() if name != ours}


def flat(measured):
    return {f"{name}_{figure}": value for name, every in measured.items() for figure, value in every.items() if figure in ("cpu_ms", "per_s")}


def jobs(server, loader, peers, count, rounds=3):
    """PUT job and GET job: {section: figures}."""
    ours = Ours(server)
    ours.fill()
    certificate, key = certificates(server)
    with tempfile.TemporaryDirectory(prefix="lavant-peers-", dir=os.environ.get("LAVANT_BENCH_DIR")) as folder:
        folder = pathlib.Path(folder)
        body = folder / "job.json"
        body.write_text(json.dumps(JOB))
        sides = {"lavant": ours}
        for name, program in (("go", [str(peers / "go-peer")]),
                              ("fastapi", [str(peers / "venv/bin/python"), str(pathlib.Path(__file__).parent / "peers/fastapi/peer.py")])):
            if not pathlib.Path(program[0]).exists():
                continue
            database = folder / f"{name}.db"
            copy_database(server.data / "lavant.db", database)
            sides[name] = Peer([*program, str(database), certificate, key], server.environment)
        try:
            def put(name, side, number):
                scale = 1 if name != "fastapi" else 4
                return load(loader, side, "PUT", count // scale, CONNECTIONS, f"{WORKSPACE}/jobs/r{number}n%", body)

            def get(name, side, number):
                scale = 1 if name != "fastapi" else 4
                return load(loader, side, "GET", count // scale, CONNECTIONS, f"{WORKSPACE}/jobs/r{number}n%")
            puts = in_turns(sides, rounds, put)
            gets = in_turns(sides, rounds, get)
        finally:
            for side in sides.values():
                side.stop()
    return {"PUT job beside peers": {**flat(puts), **ratios(puts, "cpu_ms")},
            "GET job beside peers": {**flat(gets), **ratios(gets, "cpu_ms")}}


def copy_database(source, target):
    """Whole, whatever lies in the write-ahead log; the jobs in it go."""
    with sqlite3.connect(source) as old, sqlite3.connect(target) as new:
        old.backup(new)
        for table in ("job_tag", "job_body", "task", "job", "event"):
            new.execute(f"DELETE FROM {table}")


def curl(side, method, target, file):
    words = ["-T", str(file), "-w", "%{http_code} %{speed_upload}"] if method == "PUT" else ["-o", str(file), "-w", "%{http_code} %{speed_download}"]
    cpu = cpu_of(side.pids())
    made = subprocess.run(["curl", "-sS", "--http1.1", "--cacert", side.environment["LAVANT_CA"], "-H", "x-ms-blob-type: BlockBlob", "-H", "Expect:",
                           *words, side.environment["LAVANT_ENDPOINT"] + target], capture_output=True, text=True, check=True)
    status, speed = made.stdout.split()[-2:]
    if status not in ("200", "201", "204"):
        raise SystemExit(f"{method} {target}: {made.stdout[:500]}")
    return {"mb_per_s": float(speed) / 1e6, "cpu_s": cpu_of(side.pids()) - cpu}


def files(server, loader, peers, megabytes=1024, small=10000, rounds=3):
    """One large blob and many small ones, up and down, beside nginx with TLS."""
    ours = Ours(server)
    root, sas = ours.sas()
    with tempfile.TemporaryDirectory(prefix="lavant-peers-", dir=os.environ.get("LAVANT_BENCH_DIR")) as folder:
        folder = pathlib.Path(folder)
        sides = {"lavant": ours, "nginx": nginx(peers, folder / "nginx", server)}
        where = {"lavant": (root, sas), "nginx": ("", "")}
        large, little = folder / "large", folder / "little"
        with open(large, "wb") as out:
            for _ in range(megabytes):
                out.write(os.urandom(1 << 20))
        little.write_bytes(os.urandom(4096))
        try:
            up = in_turns(sides, rounds, lambda n, s, i: curl(s, "PUT", f"{where[n][0]}/large{where[n][1]}", large))
            down = in_turns(sides, rounds, lambda n, s, i: curl(s, "GET", f"{where[n][0]}/large{where[n][1]}", "/dev/null"))
            put = in_turns(sides, rounds, lambda n, s, i: load(loader, s, "PUT", small, CONNECTIONS, f"{where[n][0]}/r{i}/b%{where[n][1]}", little))
            get = in_turns(sides, rounds, lambda n, s, i: load(loader, s, "GET", small, CONNECTIONS, f"{where[n][0]}/r{i}/b%{where[n][1]}"))
        finally:
            sides["nginx"].stop()
            shutil.rmtree(folder / "nginx", ignore_errors=True)

    def section(measured, figure):
        return {**{f"{name}_{key}": value for name, every in measured.items() for key, value in every.items() if key not in ("count", "failed", "wall_s")},
                **ratios(measured, figure)}
    return {"1 GiB up beside nginx": section(up, "mb_per_s"), "1 GiB down beside nginx": section(down, "mb_per_s"),
            "4 KiB up beside nginx": section(put, "per_s"), "4 KiB down beside nginx": section(get, "per_s")}
