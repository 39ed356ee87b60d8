# Short names for what people do here; the work is in scripts/ and in the CMake presets.
JOBS ?= $(shell nproc)
export JOBS

.DEFAULT_GOAL := help
.PHONY: help build demo quick test bench fuzz soak oracle format tidy golden reference package transcripts pictures clean setup setup-build

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup-build:
	@scripts/setup build

setup:  ## install the packages that building and testing need (Debian)
	@scripts/setup

build: setup-build  ## the program, at build/reprieve
	@mkdir -p build
	@cmake --preset release > build/configure-release.log 2>&1 || { cat build/configure-release.log; exit 1; }
	@cmake --build --preset release --target reprieve -j $(JOBS)
	@scripts/link-program release

demo: build  ## plan one decision on examples/mixed-cluster, then run the embedded cluster of examples/run
	@scripts/demo

quick: setup  ## the tests of the folders that changed since the last commit
	@scripts/quick

test: setup  ## everything that must hold: two compilers, sanitizers, fuzzing, formatting, a real API server
	@scripts/check

bench: setup  ## benchmarks (ARGS=--benchmark_filter=...)
	@cmake --preset bench > /dev/null
	@cmake --build --preset bench -j $(JOBS)
	@scripts/bench $(ARGS)

fuzz: setup  ## every fuzz target for ten minutes (SECONDS_EACH=...)
	@mkdir -p build
	@cmake --preset asan-ubsan > /dev/null
	@cmake --build --preset asan-ubsan --target reprieve_fuzzers -j $(JOBS)
	@scripts/fuzz --seconds $(or $(SECONDS_EACH),600) --seed $$(date +%s)

soak: setup  ## property tests on many new random worlds (WORLDS=...)
	@cmake --preset release -DREPRIEVE_TESTS=ON > /dev/null
	@cmake --build --preset release -j $(JOBS)
	@RC_PARAMS="max_success=$(or $(WORLDS),2000)" ctest --test-dir build/release -L property -j $(JOBS) --output-on-failure --timeout 7200

oracle: setup  ## the engine against an exhaustive search and an integer program, at length (TIMES=...)
	@cmake --preset release -DREPRIEVE_TESTS=ON > /dev/null
	@cmake --build --preset release --target oracle_test worlds_oracle -j $(JOBS)
	@REPRIEVE_ORACLE=$(or $(TIMES),20) build/release/tests/oracle/oracle_test
	@REPRIEVE_ORACLE=$(or $(TIMES),20) build/release/tests/oracle/worlds/worlds_oracle

format: setup  ## format the C++ sources in place
	@scripts/format

tidy: setup  ## clang-tidy on every file (slow; a second run looks only at what changed)
	@cmake --preset tidy > /dev/null
	@cmake --build --preset tidy -j $(JOBS)

golden: setup  ## rewrite the expected output of the scenarios; review it as a diff
	@cmake --preset release -DREPRIEVE_TESTS=ON > /dev/null
	@cmake --build --preset release -j $(JOBS)
	@REPRIEVE_UPDATE_GOLDEN=1 ctest --test-dir build/release -L scenario -j $(JOBS) --output-on-failure
	@git status --short tests

reference: build  ## rewrite docs/reference from what the program knows
	@scripts/reference

package: setup-build  ## .deb, tarball, container image and SBOM, in build/package
	@scripts/setup package
	@scripts/package

pictures: build  ## take the pictures of the documents from the demo, by a real browser
	@scripts/setup window
	@scripts/pictures

transcripts: build  ## rewrite the program output quoted in the documents
	@scripts/readme-transcripts

clean:  ## remove everything that was built
	rm -rf build
