#!/usr/bin/env bash
# Runs one job on a server of its own, with a data folder that is thrown away: hello.sh BINARY JOB_FILE
set -euo pipefail
binary=$1 job=$2

data=$(mktemp -d "${TMPDIR:-/tmp}/lavant-hello.XXXXXX")
leave() {
    "$binary" down --data "$data" >/dev/null 2>&1 || true
    rm -rf "$data"
}
trap leave EXIT
# A server that the shell points at would get the job instead.
unset LAVANT_ENDPOINT LAVANT_CA LAVANT_TOKEN LAVANT_SUB LAVANT_RG LAVANT_WS LAVANT_ENV
LAVANT_DATA=$data "$binary" job create -f "$job" --stream
