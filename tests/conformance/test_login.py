"""Logging in to a server: the authority is shown, compared and pinned; the key is kept for its owner; another authority
later is refused in one sentence."""
import json
import os
import pty
import re
import shutil
import select
import subprocess

import pytest
from conftest import DEADLINE_S, binary, run
from test_config import Home

FINGERPRINT = re.compile(r"(?:[0-9A-F]{2}:){31}[0-9A-F]{2}")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.fixture
def key_file(server, tmp_path):
    path = tmp_path / "key"
    path.write_text(server.key + "\n")
    return path


def fingerprint(server):
    shown = run("status", "--data", server.data, "-o", "json")
    assert shown.returncode == 0, shown.stderr
    return json.loads(shown.stdout)["caFingerprint"]


def folder(home, name="127.0.0.1"):
    return home.home / ".config/lavant/contexts" / name


def test_the_fingerprint_is_that_of_the_file(server):
    if not shutil.which("openssl"):
        pytest.skip("no openssl here")
    said = subprocess.run(["openssl", "x509", "-in", server.ca, "-noout", "-fingerprint", "-sha256"],
                          capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert said.stdout.strip().split("=")[1] == fingerprint(server)
    for command in ("status", "up"):
        assert re.search(r"^ca fingerprint +" + fingerprint(server) + "$", run(command, "--data", server.data).stdout, re.MULTILINE)


def test_login_with_a_key_file_and_a_fingerprint(home, server, key_file):
    result = home.cli("login", server.url, "--key-file", key_file, "--fingerprint", fingerprint(server))
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"you are \S+ \(owner\) on " + re.escape(server.url) + r", as context '127\.0\.0\.1'\n",
                        result.stdout.lower()), result.stdout
    for name in ("context.yml", "ca.pem", "token"):
        assert (folder(home) / name).stat().st_mode & 0o777 == 0o600
    assert (folder(home) / "ca.pem").read_text().strip() == open(server.ca).read().strip()
    listed = home.cli("job", "list", "-o", "json")
    assert listed.returncode == 0, listed.stderr
    json.loads(listed.stdout)
    status = json.loads(home.cli("status", "-o", "json").stdout)
    assert status["context"] == "127.0.0.1" and status["url"] == server.url
    assert server.key not in home.cli("context", "list").stdout + home.cli("context", "show", "-o", "json").stdout


def test_a_wrong_fingerprint_or_nobody_to_ask_sends_nothing(home, server, key_file):
    wrong = home.cli("login", server.url, "--key-file", key_file, "--fingerprint", "ab" * 32)
    assert wrong.returncode == 4 and fingerprint(server) in wrong.stderr, wrong.stderr
    nobody = home.cli("login", server.url, "--key-file", key_file, stdin="")
    assert nobody.returncode == 2 and "--fingerprint" in nobody.stderr
    assert not folder(home).exists()


def test_a_wrong_key_is_refused_and_not_kept_or_shown(home, server, key_file):
    key_file.write_text("not-a-key-at-all")
    result = home.cli("login", server.url, "--key-file", key_file, "-y")
    assert result.returncode == 5 and "does not know this key" in result.stderr
    assert "not-a-key-at-all" not in result.stderr + result.stdout
    assert not (folder(home) / "token").exists()
    assert "--key-file" in home.cli("login", server.url, "-y", stdin="").stderr


def test_the_key_comes_from_standard_input(home, server):
    result = home.cli("login", server.url, "--name", "team", "--key-file", "-", "-y", stdin=server.key)
    assert result.returncode == 0, result.stderr
    assert (folder(home, "team") / "token").read_text().strip() == server.key


def test_two_servers_two_authorities(home, start_server):
    one, two = start_server(), start_server()
    for name, server in (("one", one), ("two", two)):
        result = home.cli("login", server.url, "--name", name, "--key-file", server.data / "owner.key", "-y")
        assert result.returncode == 0, result.stderr
    used = json.loads(home.cli("context", "show", "-o", "json").stdout)
    assert used["name"] == "two" and used["caFingerprint"] == fingerprint(two) != fingerprint(one)
    assert home.cli("context", "use", "one").returncode == 0
    assert json.loads(home.cli("status", "-o", "json").stdout)["url"] == one.url
    for changes, flags in (({"LAVANT_CONTEXT": "two"}, []), ({}, ["--context", "two"]),
                           ({"LAVANT_CONTEXT": "one"}, ["--context", "two"])):
        assert json.loads(home.cli("status", "-o", "json", *flags, **changes).stdout)["url"] == two.url
    home.write_project("context: two\n")
    assert json.loads(home.cli("status", "-o", "json").stdout)["url"] == two.url
    # The key of one is not sent to the other, and its authority is not trusted there.
    (folder(home, "one") / "context.yml").write_text(f'url: "{two.url}"\nuser: x\n')
    crossed = home.cli("job", "list", "--context", "one")
    assert crossed.returncode == 4 and fingerprint(one) in crossed.stderr and fingerprint(two) in crossed.stderr
    assert f"lavant login {two.url} --name one" in crossed.stderr


def test_a_server_set_up_anew_shows_another_authority(home, start_server, tmp_path):
    first = start_server(tmp_path / "first")
    port = first.url.rsplit(":", 1)[1]
    assert home.cli("login", first.url, "--name", "x", "--key-file", first.data / "owner.key", "-y").returncode == 0
    first.stop()
    gone = home.cli("job", "list")
    assert gone.returncode == 4 and "nothing answers" in gone.stderr, gone.stderr
    (tmp_path / "second").mkdir()
    (tmp_path / "second/port").write_text(port)  # the port of the last time is taken again
    second = start_server(tmp_path / "second")
    assert second.url == first.url
    result = home.cli("job", "list")
    assert result.returncode == 4, result.stderr
    assert result.stderr.count("\n") == 1 and "pinned" in result.stderr and "lavant login" in result.stderr
    again = home.cli("login", second.url, "--name", "x", "--key-file", second.data / "owner.key", stdin="")
    assert again.returncode == 2 and "NOT the one" in again.stderr
    accepted = home.cli("login", second.url, "--name", "x", "--key-file", second.data / "owner.key",
                        "--fingerprint", fingerprint(second))
    assert accepted.returncode == 0, accepted.stderr
    assert home.cli("job", "list").returncode == 0


def test_a_server_that_is_not_there(home):
    result = home.cli("login", "https://127.0.0.1:9", "--key-file", "-", "-y", stdin="k")
    assert result.returncode == 4 and "nothing answers" in result.stderr
    assert home.cli("login", "http://127.0.0.1:9").returncode == 2


def test_logout_use_and_delete(home, server, key_file):
    assert home.cli("login", server.url, "--name", "team", "--key-file", key_file, "-y").returncode == 0
    assert home.cli("logout").returncode == 0
    out = home.cli("job", "list")
    assert out.returncode == 2 and "lavant login" in out.stderr
    assert (folder(home, "team") / "ca.pem").exists()
    # The authority is pinned still: nobody is asked about it again.
    assert home.cli("login", server.url, "--name", "team", "--key-file", key_file, stdin="").returncode == 0
    assert home.cli("context", "use", "tame").returncode == 2
    assert home.cli("context", "use", "local").returncode == 0
    assert json.loads(home.cli("context", "show", "-o", "json").stdout)["name"] == "local"
    assert home.cli("context", "delete", "team").returncode == 0
    assert not folder(home, "team").exists()
    assert home.cli("context", "delete", "local").returncode == 2


def test_a_person_is_asked_and_the_key_is_not_shown(home, server):
    person, terminal = pty.openpty()
    process = subprocess.Popen([binary(), "login", server.url], stdin=terminal, stdout=terminal, stderr=terminal,
                               env=home.environment(), cwd=home.project, start_new_session=True)
    os.close(terminal)
    seen = ""

    def read_until(words):
        nonlocal seen
        while words not in seen:
            ready, _, _ = select.select([person], [], [], DEADLINE_S)
            assert ready, seen
            try:
                more = os.read(person, 4096)
            except OSError:
                more = b""
            assert more, seen
            seen += more.decode()

    read_until("[y/N] ")
    assert FINGERPRINT.search(seen).group(0) == fingerprint(server)
    os.write(person, b"yes\n")
    read_until("(not shown): ")
    os.write(person, server.key.encode() + b"\n")
    read_until("you are ")
    assert process.wait(timeout=DEADLINE_S) == 0
    os.close(person)
    assert server.key not in seen


def test_the_authority_is_public_and_nothing_else_is(server):
    import requests
    answer = requests.get(server.url + "/lavant/v1/ca", verify=server.ca, timeout=DEADLINE_S)
    assert answer.status_code == 200 and answer.text.strip() == open(server.ca).read().strip()
    assert "PRIVATE" not in answer.text
    assert requests.get(server.url + "/lavant/v1/status", verify=server.ca, timeout=DEADLINE_S).status_code == 401
