#!/usr/bin/env python3
"""Writes a wheel with the program as its script: wheel.py VERSION STAGED OUT, where STAGED is what stage.sh laid out."""
import base64
import hashlib
import os
import pathlib
import platform
import sys
import time
import zipfile

DATA = ("bin/lavant", "share/man", "share/bash-completion", "share/zsh", "share/fish")


def main():
    version, staged, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    tag = f"py3-none-manylinux_2_17_{platform.machine()}"
    info = f"lavant-{version}.dist-info"
    files = {}
    for path in sorted(p for p in staged.rglob("*") if p.is_file()):
        name = path.relative_to(staged).as_posix()
        if name == "bin/lavant":
            files[f"lavant-{version}.data/scripts/lavant"] = path.read_bytes()
        elif name.startswith(DATA):
            files[f"lavant-{version}.data/data/{name}"] = path.read_bytes()
    files[f"{info}/licenses/LICENSE"] = (staged / "share/doc/lavant/LICENSE").read_bytes()
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: lavant\nVersion: {version}\nSummary: Azure ML jobs on your own machines, as one program\n"
        "License: Apache-2.0\nDescription-Content-Type: text/markdown\n\n").encode() + (staged / "share/doc/lavant/README.md").read_bytes()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lavant\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()

    def digest(content):
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = ("\n".join([*lines, f"{info}/RECORD,,"]) + "\n").encode()

    when = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())), 315619200))[:6]  # zip begins in 1980
    with zipfile.ZipFile(out / f"lavant-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
            wheel.writestr(entry, content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
