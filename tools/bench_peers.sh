#!/usr/bin/env bash
# Builds what `make bench-peers` measures beside the server, into build/peers: the Go and FastAPI stand-ins of bench/peers
# and Debian's nginx, unpacked there and never installed.
set -euo pipefail
cd "$(dirname "$0")/.."
peers=$PWD/build/peers
mkdir -p "$peers"

if [ ! -x "$peers/nginx/usr/sbin/nginx" ]; then
    (cd "$peers" && apt-get download -q nginx && mkdir -p nginx && dpkg -x nginx_*.deb nginx && rm nginx_*.deb)
fi

go=$(command -v go || echo /usr/local/go/bin/go)
if [ -x "$go" ]; then
    (cd bench/peers/go && GOFLAGS=-mod=mod CGO_ENABLED=1 "$go" build -trimpath -ldflags=-s -o "$peers/go-peer" .)
else
    echo "bench_peers: go is missing, so that peer is left out" >&2
fi

if [ ! -x "$peers/venv/bin/uvicorn" ]; then
    python3 -m venv "$peers/venv"
    "$peers/venv/bin/pip" install -q -r bench/peers/fastapi/requirements.txt
fi
