#!/usr/bin/env bash
# Each parser for LAVANT_FUZZ_SECONDS (60) with libFuzzer. Needs clang-16, which `make test` does not.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v clang++-16 >/dev/null; then
    if [ "$(id -u)" -ne 0 ]; then
        echo "fuzz: clang++-16 is missing; run as root: apt-get install -y clang-16 libclang-rt-16-dev" >&2
        exit 1
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends clang-16 libclang-rt-16-dev
fi
cmake --preset fuzz
cmake --build build/fuzz --target lavant_all_fuzzers

status=0
for program in build/fuzz/tests/fuzz/fuzz_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    name=$(basename "$program")
    corpus=build/fuzz-corpus/$name
    mkdir -p "$corpus"
    seeds=()
    [ -d "tests/fuzz/corpus/${name#fuzz_}" ] && seeds=("tests/fuzz/corpus/${name#fuzz_}")
    echo "== $name"
    "$program" -max_total_time="${LAVANT_FUZZ_SECONDS:-60}" -print_final_stats=1 -artifact_prefix="build/fuzz/" \
        "$corpus" "${seeds[@]}" || status=1
done
exit $status
