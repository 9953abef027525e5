#!/usr/bin/env python3
"""The README's blocks, run on a terminal of 80 columns.

A ```console block has commands after "$ " and what they print; a block that follows a line "`name`:" is a file of
that name. All of them run in one shell, in one empty folder, from the first to the last.

    tools/readme.py --write     puts what the commands print now into README.md
    tools/readme.py --record    types the commands in tmux and keeps the screens in docs/first-quarter-hour.md
"""
import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
RECORDING = ROOT / "docs" / "first-quarter-hour.md"
DONE = "\x01done\x02"
BLOCK = re.compile(r"(?:^`(?P<file>[\w./-]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
COMMAND = re.compile(r"^\$ (.*(?:\n> .*)*)\n?", re.M)
DEADLINE_S = 120
IS_RUNNING = "until lavant job list --query \"[?status=='Running'].name\" -o tsv | grep -q .; do :; done"


class Terminal:
    """A bash whose commands print on a terminal of 80 columns, without colours."""

    def __init__(self, folder, environment):
        self.screen, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=folder, env=environment,
                                      stdin=subprocess.PIPE, stdout=theirs, stderr=theirs)
        os.close(theirs)

    def run(self, command):
        self.shell.stdin.write(f"{command}\nprintf '{DONE}'\n".encode())
        self.shell.stdin.flush()
        text, end = "", time.monotonic() + DEADLINE_S
        while not text.endswith(DONE):
            if not select.select([self.screen], [], [], max(0, end - time.monotonic()))[0]:
                raise TimeoutError(f"'{command}' did not end; so far:\n{text}")
            text += os.read(self.screen, 65536).decode(errors="replace")
        # A line that was shown while nothing else came, and wiped away.
        text = re.sub(r"[^\n]*\r\x1b\[K", "", text.removesuffix(DONE).replace("\r\n", "\n"))
        return text if not text or text.endswith("\n") else text + "\n"

    def close(self):
        self.shell.stdin.close()
        self.shell.wait(timeout=DEADLINE_S)
        os.close(self.screen)


@contextmanager
def fresh_home(program, python):
    """A home folder and a project folder with nothing in them; `lavant` and `python` are found."""
    home = Path(tempfile.mkdtemp(prefix="lavant-readme-"))
    (home / "bin").mkdir()
    (home / "bin" / "lavant").symlink_to(program)
    (home / "project").mkdir()
    (home / "venv").symlink_to(Path(python).parent.parent)
    environment = {"HOME": str(home), "PATH": f"{home}/bin:{home}/venv/bin:/usr/local/bin:/usr/bin:/bin",
                   "VIRTUAL_ENV": f"{home}/venv", "TERM": "xterm", "NO_COLOR": "1",
                   "LANG": "C.UTF-8", "PYTHONWARNINGS": "ignore", "LAVANT_README": str(ROOT)}
    try:
        yield home / "project", environment
    finally:
        subprocess.run([program, "down", "--purge", "-y"], env=environment, capture_output=True, timeout=DEADLINE_S)
        shutil.rmtree(home, ignore_errors=True)


def blocks(text):
    return list(BLOCK.finditer(text))


def split_console(text):
    """[(command, what it prints)]"""
    marks = list(COMMAND.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [(mark.group(1).replace("\n> ", "\n"), text[mark.end():end]) for mark, end in zip(marks, ends)]


def normal(text):
    """Less what differs from one run to the next."""
    text = re.sub(r"\b[a-z]+_[a-z]+_[0-9a-z]{10}\b", "NAME", text)
    text = re.sub(r"python (/\S+|of the system)", "PYTHON", text)
    text = re.sub(r"/\S+/bin/(pip|python3? -m pip)", "PIP", text)
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)
    text = re.sub(r"\b\d+(\.\d+)?( of \d+(\.\d+)?)? ?(ms|s|min|h|GiB|MiB|%|vCPUs|GPUs)", r"N \4", text)
    text = re.sub(r"\b([0-9A-F]{2}:){31}[0-9A-F]{2}\b", "FINGERPRINT", text)
    text = re.sub(r"\d{4}-\d\d-\d\d(T[\d:.]+Z| [\d:]{8})", "TIME", text)
    text = re.sub(r"^(pid|version|nodes|jobs \w+) +\S+", r"\1 N", text, flags=re.M)
    return " ".join(text.split())


def walk(terminal, folder, visit):
    """Runs every block of the README; visit(block, [(command, expected, printed)])."""
    for block in blocks(README.read_text()):
        if block["file"]:
            (folder / block["file"]).parent.mkdir(parents=True, exist_ok=True)
            (folder / block["file"]).write_text(block["text"])
        elif block["kind"] == "console":
            runs = []
            for command, expected in split_console(block["text"]):
                if " explain " in command:  # Somebody who types takes longer than a job to start.
                    terminal.run(IS_RUNNING)
                runs.append((command, expected, terminal.run(command)))
            visit(block, runs)


def tilde(text, environment):
    return text.replace(environment["HOME"], "~")


def write(program, python):
    text, found = README.read_text(), []
    with fresh_home(program, python) as (folder, environment):
        terminal = Terminal(folder, environment)
        walk(terminal, folder, lambda block, runs: found.append((block, runs)))
        terminal.close()
    for block, runs in reversed(found):
        body = "".join(f"$ {command}\n".replace("\n", "\n> ", command.count("\n")) + tilde(printed, environment)
                       for command, _, printed in runs)
        text = text[:block.start("text")] + body + text[block.end("text"):]
    README.write_text(text)


def record(program, python):
    """Screens as tmux has them after each command."""
    out = ["# The first quarter of an hour, on a terminal of 80 columns", "",
           "Made by `tools/readme.py --record`: the README's commands, typed into tmux. Each picture is the screen after",
           "a command; lines that the terminal broke are whole again.", ""]
    with fresh_home(program, python) as (folder, environment):
        socket = str(folder.parent / "tmux")
        (folder.parent / "rc").write_text(f"PS1='$ '\nPROMPT_COMMAND='tmux -S {socket} wait-for -S ready'\n")

        def tmux(*words):
            return subprocess.run(["tmux", "-S", socket, *words], env=environment, capture_output=True, text=True,
                                  check=True, timeout=DEADLINE_S).stdout

        def type_in(command):
            tmux("send-keys", "-l", command)
            tmux("send-keys", "Enter")
            tmux("wait-for", "ready")

        tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "45", "-c", str(folder),
             f"bash --noprofile --rcfile {folder.parent}/rc")
        tmux("wait-for", "ready")
        for block in blocks(README.read_text()):
            if block["file"]:
                (folder / block["file"]).write_text(block["text"])
                continue
            for command, _ in split_console(block["text"]) if block["kind"] == "console" else []:
                if " explain " in command:
                    subprocess.run(["bash", "-c", IS_RUNNING], env=environment, check=True, timeout=DEADLINE_S)
                type_in("clear")
                type_in(command)
                screen = "\n".join(line.rstrip() for line in tmux("capture-pane", "-p", "-J").splitlines()).rstrip()
                out += ["```text", screen.removesuffix("$").rstrip(), "```", ""]
        tmux("kill-server")
        RECORDING.write_text(tilde("\n".join(out), environment) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build" / "release" / "lavant"))
    parser.add_argument("--python", default=str(ROOT / "build" / "venv" / "bin" / "python"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--record", action="store_true")
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.program, arguments.python)
    if arguments.record:
        record(arguments.program, arguments.python)


if __name__ == "__main__":
    main()
