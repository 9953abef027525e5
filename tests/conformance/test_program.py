"""`lavant` is one file that needs nothing of the machine it runs on."""
import json
import os
import shutil
import struct
import subprocess
import tempfile

import pytest
from conftest import DEADLINE_S, binary, clean_environment

NOBODY = 54321  # in no passwd file
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else or to change the root")


def test_no_loader_and_no_library():
    with open(binary(), "rb") as program:
        head = program.read(64)
        assert head[:5] == b"\x7fELF\x02"
        offset, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        program.seek(offset)
        kinds = [struct.unpack_from("<I", program.read(size))[0] for _ in range(count)]
    assert 3 not in kinds, "the program asks for a loader (PT_INTERP): it is not static"


@needs_root
def test_runs_where_nothing_else_is(tmp_path):
    shutil.copy(binary(), tmp_path / "lavant")
    (tmp_path / "job.yml").write_text("command: echo hi\nenvironment: {image: library/python:latest}\n")
    for arguments in (["--version"], ["--help"], ["job", "validate", "-f", "/job.yml"]):
        done = subprocess.run(["/lavant", *arguments], preexec_fn=lambda: (os.chroot(tmp_path), os.chdir("/")), env={},
                              capture_output=True, text=True, timeout=DEADLINE_S)
        assert done.returncode == 0, (arguments, done.stdout, done.stderr)


@needs_root
def test_an_owner_who_is_in_no_file_has_the_name_of_the_shell():
    with tempfile.TemporaryDirectory(prefix="lavant-owner-") as home:  # pytest's own folders are closed to others
        program = shutil.copy(binary(), home)
        os.chown(home, NOBODY, NOBODY)

        def cli(*arguments):
            return subprocess.run([program, *arguments, "--data", home + "/data"], cwd="/", user=NOBODY, group=NOBODY,
                                  extra_groups=[], env=clean_environment(HOME=home, USER="somebody"),
                                  capture_output=True, text=True, timeout=DEADLINE_S)
        try:
            listed = cli("key", "list", "-o", "json")
            assert listed.returncode == 0, listed.stderr
            assert [key["user"] for key in json.loads(listed.stdout)] == ["somebody"]
        finally:
            cli("down")
