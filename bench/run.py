#!/usr/bin/env python3
"""Measures Lavant beside the bare limit in the same run; prints a table and writes build/bench.json.

Usage: bench/run.py --bin build/release [--jobs 10000] [--only NAME ...] [--peers build/peers]
With --peers (tools/bench_peers.sh makes them) only what is measured beside others: bench/beside.py.
CPU is user + system time of the server, its agents and everything they started, read from /proc.
"""
import argparse
import http.client
import json
import os
import pathlib
import signal
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

import beside

ROOT = pathlib.Path(__file__).resolve().parent.parent
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of the process and of its children that it has waited for."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(int(fields[i]) for i in (11, 12, 13, 14)) / TICKS


def memory_mib(pid):
    """Private and shared pages, the shared ones divided among those who share them."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return 0.0


class CpuMeter:
    """CPU of a process tree, detached processes included: by a cpuacct cgroup where we may make one."""

    def __init__(self):
        self.folder = None
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "cpuacct" in controllers.split(","):
                folder = pathlib.Path("/sys/fs/cgroup/cpuacct" + path, f"lavant-bench-{os.getpid()}-{time.monotonic_ns()}")
                try:
                    folder.mkdir()
                    self.folder = folder
                except OSError:
                    pass

    def enter(self):
        if self.folder:
            (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def seconds(self):
        return int((self.folder / "cpuacct.usage").read_text()) / 1e9

    def close(self):
        if self.folder:
            try:
                self.folder.rmdir()
            except OSError:
                pass


class Server:
    def __init__(self, binary, data):
        self.meter = CpuMeter()
        self.connection = None
        self.binary, self.data = binary, pathlib.Path(data)
        ours, theirs = os.pipe()
        self.process = subprocess.Popen([binary, "serve", "--port", "0", "--data", data, "--ready-fd", str(theirs)],
                                        pass_fds=(theirs,), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                        preexec_fn=self.meter.enter)
        os.close(theirs)
        with os.fdopen(ours) as ready:
            line = ready.readline().strip()
        if line != "ready":
            raise SystemExit(f"the server did not start: {line}")
        endpoint = json.loads((self.data / "endpoint").read_text())
        self.environment = dict(os.environ, LAVANT_ENDPOINT=endpoint["url"].rstrip("/"), LAVANT_CA=endpoint["ca"],
                                LAVANT_TOKEN=(self.data / "owner.key").read_text().strip(),
                                LAVANT_SUB="s", LAVANT_RG="g", LAVANT_WS="w")

    def agents(self):
        return [int(path.read_text().split()[0]) for path in (self.data / "nodes").glob("*/agent.pid")]

    def cpu(self):
        if self.meter.folder:
            return self.meter.seconds()
        return cpu_seconds(self.process.pid) + sum(cpu_seconds(pid) for pid in self.agents())

    def load(self, loader, *arguments, **variables):
        made = subprocess.run([loader, *map(str, arguments)], env=dict(self.environment, **variables),
                              capture_output=True, text=True)
        if made.returncode != 0:
            raise SystemExit(f"load failed: {made.stderr[-2000:]}")
        return json.loads(made.stdout)

    def wait_for(self, name):
        """Over one connection that stays: a handshake for each would be a part of what is measured."""
        if self.connection is None:
            endpoint = urllib.parse.urlsplit(self.environment["LAVANT_ENDPOINT"])
            context = ssl.create_default_context(cafile=self.environment["LAVANT_CA"])
            self.connection = http.client.HTTPSConnection(endpoint.hostname, endpoint.port, context=context)
        while True:
            self.connection.request("GET", f"/lavant/v1/jobs/{name}/wait?timeout_s=60",
                                    headers={"Authorization": f"Bearer {self.environment['LAVANT_TOKEN']}"})
            if json.loads(self.connection.getresponse().read())["status"] == "Completed":
                return

    def wait_until_done(self, prefix, count):
        """The queue is served in order and far fewer than a hundred run at once."""
        for number in range(max(0, count - 100), count):
            self.wait_for(f"{prefix}{number}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        for pid in self.agents():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.meter.close()


def with_server(binary, work):
    with tempfile.TemporaryDirectory(prefix="lavant-bench-", dir=os.environ.get("LAVANT_BENCH_DIR")) as data:
        server = Server(binary, data)
        try:
            return work(server)
        finally:
            server.stop()


def bare(folder, count):
    return json.loads(subprocess.check_output([folder / "bench/bench_spawn", str(count), "2"]))


def xargs(count):
    before = os.times()
    start = time.monotonic()
    subprocess.run("seq %d | xargs -P2 -n1 /bin/true" % count, shell=True, check=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"cpu_ms_each": cpu * 1000 / count, "per_s": count / (time.monotonic() - start)}


def throughput(server, loader, count, sandbox):
    server.load(loader, "latency", 20)  # nodes are there, caches are warm
    cpu = server.cpu()
    start = time.monotonic()
    submitted = server.load(loader, "submit", count, 16, "Standard_DS1_v2", "b" + sandbox, LAVANT_BENCH_SANDBOX=sandbox)
    server.wait_until_done("b" + sandbox, count)
    wall = time.monotonic() - start
    return {"jobs": count, "per_s": count / wall, "submitted_per_s": submitted["per_s"],
            "cpu_ms_each": (server.cpu() - cpu) * 1000 / count}


def idle(server, loader):
    server.load(loader, "latency", 20)
    time.sleep(2)
    cpu, agent_cpu = cpu_seconds(server.process.pid), sum(map(cpu_seconds, server.agents()))
    time.sleep(20)
    return {"server_mib": resident_mib(server.process.pid), "server_pss_mib": memory_mib(server.process.pid),
            "agent_mib": max(map(resident_mib, server.agents())), "agent_pss_mib": max(map(memory_mib, server.agents())),
            "server_cpu_percent": (cpu_seconds(server.process.pid) - cpu) * 100 / 20,
            "agents_cpu_percent": (sum(map(cpu_seconds, server.agents())) - agent_cpu) * 100 / 20}


def queued(server, loader, count):
    """Cost of a submission with `count` jobs in the queue: they wait behind one that never ends."""
    server.load(loader, "submit", count, 16, "Standard_DS3_v2", "filler")
    cpu = cpu_seconds(server.process.pid)
    server.load(loader, "submit", 2000, 16, "Standard_DS3_v2", "probe")
    return {"queued": count, "cpu_ms_each": (cpu_seconds(server.process.pid) - cpu) * 1000 / 2000,
            "server_mib": resident_mib(server.process.pid)}


def nodes_from_zero(server, binary, count):
    """A cluster of so many nodes, from the command to the last of them that is ready for work."""
    env = server.environment
    begin = time.monotonic()
    subprocess.run([binary, "compute", "create", "--name", "many", "--size", "Standard_DS1_v2", "--min-instances", str(count),
                    "--max-instances", str(count)], env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        nodes = json.loads(subprocess.check_output([binary, "compute", "list-nodes", "many", "-o", "json"], env=env))
        if sum(node["node_state"] == "idle" for node in nodes) == count:
            return {"seconds": time.monotonic() - begin}


def start_ms(*command):
    start = time.monotonic()
    silent = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (1, 2)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=silent)
    if os.waitpid(pid, 0)[1] != 0:
        raise SystemExit(f"failed: {' '.join(command)}")
    return (time.monotonic() - start) * 1000


def starts(folder, binary, server):
    """Wall time of whole commands: medians of 50, of 10 for the first command, which also starts a server."""
    def first():
        with tempfile.TemporaryDirectory(prefix="lavant-bench-", dir=os.environ.get("LAVANT_BENCH_DIR")) as data:
            took = start_ms(binary, "job", "list", "--data", data + "/new")
            start_ms(binary, "down", "--data", data + "/new")
        return took
    commands = {"bare_ms": [str(folder / "bench/bench_no_op")], "help_ms": [binary, "--help"],
                "job_list_ms": [binary, "job", "list", "--data", str(server.data)]}
    rounds = [{name: start_ms(*command) for name, command in commands.items()} for _ in range(50)]
    figures = {name: statistics.median(one[name] for one in rounds) for name in commands}
    figures["first_ms"] = statistics.median(first() for _ in range(10))
    return figures | {name.replace("_ms", "_times_bare"): ms / figures["bare_ms"] for name, ms in figures.items() if name != "bare_ms"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/release", type=pathlib.Path)
    parser.add_argument("--jobs", default=10000, type=int)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--peers", type=pathlib.Path)
    options = parser.parse_args()
    folder = options.bin.resolve()
    binary, loader = str(folder / "lavant"), str(folder / "bench/bench_load")
    figures = {}

    def measure(name, work):
        if options.only and name not in options.only:
            return
        figures[name] = work()
        print(f"{name:24}", json.dumps({k: round(v, 3) for k, v in figures[name].items()}), flush=True)

    if options.peers:
        for part in (beside.jobs, beside.files):
            if options.only and part.__name__ not in options.only:
                continue
            arguments = (options.jobs // 2,) if part is beside.jobs else ()
            for name, found in with_server(binary, lambda s: part(s, loader, options.peers.resolve(), *arguments)).items():
                figures[name] = found
                print(f"{name:24}", json.dumps({k: round(v, 4) for k, v in found.items()}), flush=True)
        if not options.only or "streams" in options.only:
            measure_streams = [sys.executable, ROOT / "tests/conformance/many_streams.py"]
            figures["1,000 log streams"] = json.loads(subprocess.check_output(measure_streams, env=dict(os.environ, LAVANT_BIN=binary)))
            print(f"{'1,000 log streams':24}", json.dumps(figures["1,000 log streams"]), flush=True)
        pathlib.Path("build/bench-peers.json").write_text(json.dumps(figures, indent=2))
        return 0
    measure("bare spawn", lambda: bare(folder, 5000))
    measure("xargs -P2", lambda: xargs(5000))
    measure("jobs, sandbox off", lambda: with_server(binary, lambda s: throughput(s, loader, options.jobs, "off")))
    measure("jobs, sandbox on", lambda: with_server(binary, lambda s: throughput(s, loader, options.jobs, "on")))
    measure("bare spawn again", lambda: bare(folder, 5000))
    measure("latency, warm", lambda: with_server(binary, lambda s: (s.load(loader, "latency", 20), s.load(loader, "latency", 500))[1]))
    measure("first job from zero", lambda: with_server(binary, lambda s: s.load(loader, "latency", 1)))
    measure("start of a command", lambda: with_server(binary, lambda s: starts(folder, binary, s)))
    measure("idle", lambda: with_server(binary, lambda s: idle(s, loader)))
    measure("1,000 queued", lambda: with_server(binary, lambda s: queued(s, loader, 1000)))
    measure("100,000 queued", lambda: with_server(binary, lambda s: queued(s, loader, 100000)))
    measure("50 nodes from zero", lambda: with_server(binary, lambda s: nodes_from_zero(s, binary, 50)))
    measure("plane, 1,000,000 queued", lambda: json.loads(subprocess.check_output([folder / "bench/bench_plane"])))
    if "bare spawn" in figures:
        limit = figures["bare spawn"]["cpu_ms_each"]
        for name in ("xargs -P2", "jobs, sandbox off", "jobs, sandbox on"):
            if name in figures:
                figures[name]["times_bare"] = figures[name]["cpu_ms_each"] / limit
                print(f"{name:24} {figures[name]['times_bare']:.2f} x the bare spawn's CPU")
    pathlib.Path("build").mkdir(exist_ok=True)
    pathlib.Path("build/bench.json").write_text(json.dumps(figures, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
