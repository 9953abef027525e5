#!/usr/bin/env bash
# Every test: the unit, contract and simulation suites under the sanitizers, then the flows with
# the SDK and the conformance suite with the release binary. The last line has the totals; the exit status is that of the worst part.
set -uo pipefail
cd "$(dirname "$0")/.."

mkdir -p build/results
rm -f build/results/*
failed=0

ctest --test-dir build/asan --output-on-failure --no-tests=error \
    --output-log "$PWD/build/results/ctest.txt" -j 2 || failed=1

LAVANT_BIN="${LAVANT_BIN:-$PWD/build/release/lavant}" tools/flows.sh --short || failed=1

LAVANT_BIN="${LAVANT_BIN:-$PWD/build/release/lavant}" LAVANT_TEST_TOOLS="$PWD/build/asan/tests/support" \
    build/venv/bin/python -m pytest tests/conformance -q -p no:cacheprovider \
    --junitxml=build/results/conformance.xml || failed=1

build/venv/bin/python tools/count_tests.py build/asan/Testing/Temporary/LastTest.log build/results/conformance.xml \
    build/results/flows-*.xml || failed=1
exit $failed
