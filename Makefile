# Two commands on a fresh Debian 12: `make hello` and `make test`. Both install what is missing when run as root.

SHELL := /bin/bash
BIN := build/release/lavant

.PHONY: help hello test lavant bootstrap asan-tests venv flows tsan fuzz sim-long planted crash guest bench bench-peers openapi fuzz-routes large-blobs \
        dist install uninstall packages-test format clean

help:
	@echo 'make hello     build and run the first job'
	@echo 'make test      every test'
	@echo 'make lavant    build $(BIN)'
	@echo 'make flows | tsan | fuzz | fuzz-routes | sim-long | planted | crash | guest | bench    longer checks and figures'
	@echo 'make install   PREFIX=/usr/local DESTDIR='
	@echo 'make dist      packages, in build/dist'
	@echo 'make packages-test    the packages on a Debian 12 without a compiler (root)'
	@echo 'make clean     remove build/'

bootstrap:
	@tools/bootstrap.sh

lavant: bootstrap
	cmake --preset release
	cmake --build build/release --target lavant

hello: lavant
	@tools/hello.sh $(BIN) examples/hello/job.yml

asan-tests: bootstrap
	cmake --preset asan
	cmake --build build/asan --target lavant_all_tests

test: asan-tests lavant venv
	tools/test.sh

venv:
	@tools/python_env.sh

# Every flow with every release of the SDK; `make test` leaves out the slow ones and those that say the same twice.
flows: lavant venv
	tools/flows.sh

tsan: bootstrap
	cmake --preset tsan
	cmake --build build/tsan --target lavant_all_tests
	ctest --test-dir build/tsan --output-on-failure -j 2 -E simulation  # which has one thread

fuzz: bootstrap
	tools/fuzz.sh

# Requests made from protocol/openapi.json against a real server: no answer may blame the server.
ROUTE_REQUESTS := 20000
ROUTE_SEEDS := 1 2 3
fuzz-routes: lavant venv
	for seed in $(ROUTE_SEEDS); do \
	    LAVANT_BIN=$(BIN) build/venv/bin/python tests/conformance/route_fuzz.py --count $(ROUTE_REQUESTS) --seed $$seed \
	    || exit 1; done

SEEDS := 100000
sim-long: bootstrap
	cmake --preset release
	cmake --build build/release --target lavant-sim
	printf '%s\n' 1 $$(($(SEEDS) / 2 + 1)) | \
	    xargs -P 2 -I{} build/release/tests/simulation/lavant-sim --seed {} --count $$(($(SEEDS) / 2))

# After a change of the routes: their description in protocol/.
openapi: bootstrap
	cmake --preset dev
	cmake --build build/dev --target test_api
	python3 tools/openapi.py --tests build/dev/src/api/test_api

# Bugs that the simulation must find, planted one at a time in a copy of the tree.
planted: bootstrap
	python3 tools/planted_bugs.py

# kill -9 of the server, a hundred times, while two hundred jobs run: as root, as a user, without namespaces.
crash: lavant venv
	LAVANT_CRASH_KILLS=100 LAVANT_CRASH_JOBS=200 LAVANT_TEST_DEADLINE=600 LAVANT_BIN=$(BIN) \
	    build/venv/bin/python -m pytest tests/conformance/test_crash.py -q -p no:cacheprovider

# The suites that depend on cgroups, on a kernel that has v2 alone (QEMU, no KVM needed).
guest: bootstrap
	cmake --preset dev
	cmake --build build/dev --target test_host test_sandbox_linux test_nodes_local
	tools/guest.sh build/dev

bench: lavant
	cmake --build build/release --target bench_spawn bench_load bench_no_op bench_plane
	python3 bench/run.py --bin build/release

# Beside Go, FastAPI and nginx doing the same work; a thousand log streams.
bench-peers: lavant venv
	cmake --build build/release --target bench_load
	tools/bench_peers.sh
	build/venv/bin/python bench/run.py --bin build/release --peers build/peers

# A blob of 10 GiB and ten thousand small ones, through azure-storage-blob.
large-blobs: lavant venv
	LAVANT_LARGE_MIB=10240 LAVANT_MANY_BLOBS=10000 LAVANT_BIN=$(BIN) build/venv/bin/python -m pytest -q tests/conformance/test_blob_sdk.py -k "large or many"

dist: lavant
	rm -rf build/dist
	packaging/dist.sh $(BIN) build/dist

PREFIX := /usr/local
install: lavant
	DESTDIR=$(DESTDIR) packaging/install.sh install $(BIN) $(PREFIX)
uninstall: lavant
	DESTDIR=$(DESTDIR) packaging/install.sh uninstall $(BIN) $(PREFIX)

# The packages on a Debian without compiler and network, and a newer one over an older one (the previous commit's) with
# jobs running.
PREVIOUS = $(shell git log -1 --format=%h -- src)~1  # before the last change of the program
packages-test: dist
	rm -rf build/previous build/dist-older build/clean-root
	git worktree prune
	git worktree add --detach build/previous $(PREVIOUS)
	cd build/previous && cmake --preset release && cmake --build build/release --target lavant
	cd build/previous && packaging/dist.sh build/release/lavant ../dist-older
	git worktree remove --force build/previous
	tools/clean_root.sh build/clean-root build/dist build/dist-older

format:
	clang-format-16 -i $$(git ls-files '*.cpp' '*.h')

clean:
	rm -rf build
