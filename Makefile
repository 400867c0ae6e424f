# What a developer types. Each command first sees to what it needs (scripts/require.sh). What is built is in .build/ and build/, and in
# those of packages of their own, such as Benchmarks/.build.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test bench release-check check check-quick check-format check-docs check-documents docs fuzz mutate stress \
  install-tools format clean

# Passed on: make demo ARGS="--json", make bench ARGS="…".
ARGS ?=
# Where make install-tools installs.
PREFIX ?= /usr/local

# Packages in folders of their own are built in the folder of this one, so that swift-syntax is compiled once.
tools = --package-path Tools --scratch-path .build --disable-build-manifest-caching
monitor = --package-path Examples/Monitor --scratch-path .build --disable-build-manifest-caching

c_tools = libffi-dev cmake ninja-build gcc g++ pkg-config
# What the benchmarks are held against.
peers = libglib2.0-dev qt6-base-dev libgnustep-base-dev gobjc

swift_sources = $(wildcard Package.swift Sources Tests Tools/Package.swift Tools/Sources Tools/Tests \
  Examples/Monitor/Package.swift Examples/Monitor/Sources Examples/Monitor/Tests \
  Examples/Desktop/Package.swift Examples/Desktop/Sources/desktop Examples/Desktop/Sources/editor \
  bindings/glib/Package.swift bindings/glib/swift \
  Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Sources)
c_sources = $(filter-out CShim/abi/%,$(wildcard $(shell git ls-files -co --exclude-standard '*.c' '*.h' '*.hpp' '*.cpp' '*.m')))

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## Watch this machine through observers for five seconds (ARGS="--seconds 2 --json")
	@scripts/require.sh swift git libffi-dev
	@echo "Building hostwatch; the first time takes some minutes …" >&2
	@scripts/quietly.sh demo swift build $(monitor) --product hostwatch
	@swift run $(monitor) --skip-build hostwatch --seconds 5 $(ARGS)

test: ## Run the tests: the C suite, the Swift suites, the crash catalogue
	@scripts/require.sh swift git $(c_tools) libncurses-dev
	@echo "== The C suite"
	scripts/check-c.sh --quick
	@echo "== The Swift suites of the tools" # with more memory: all run at once, and each ends thousands of observations
	KVO_ZOMBIES=65536 swift test $(tools)
	scripts/check-crashes.sh --quick
	@echo "== The Swift suites of the examples"
	swift test $(monitor)
	@echo "== The macro"
	KVO_MACRO_TESTS=1 swift test
	@echo "== The Swift suites of the library"
	KVO_ZOMBIES=65536 swift test

release-check: ## Run everything that a release must pass, from a fresh clone; takes about three hours (ARGS="--list")
	scripts/release-check.sh $(ARGS)

docs: ## Make the site of the library in build/docs (ARGS=--serve serves it)
	scripts/docs.sh $(ARGS)

bench: ## Measure, optimised, against other systems (ARGS="--filter 'observed set.*'")
	@scripts/require.sh swift git python3 gnuplot-nox $(c_tools) valgrind $(peers)
	@scripts/bench.sh $(ARGS)

check: check-quick fuzz stress ## What to run before you land something risky: the quick checks, packages, sanitizers; half an hour
	scripts/check-editor.sh
	scripts/check-examples.sh --quick
	scripts/check-bindings.sh --quick
	scripts/check-packages.sh --quick
	scripts/check-clients.sh --quick
	scripts/docs.sh --check
	scripts/check-c.sh --sanitizers
	scripts/check-sanitizers.sh thread

check-quick: check-format check-api ## The quick checks besides the tests: format, rooms, API baseline, fuzzer inputs, documents
	@scripts/require.sh swift $(c_tools) python3
	scripts/version.sh --check
	scripts/promises.py
	scripts/check-rooms.sh
	scripts/fuzz.sh --seconds 0
	scripts/check-scaling.sh --quick
	scripts/check-snippets.sh
	scripts/check-documents.sh

check-format: ## Fail if a source is not formatted as by 'make format'
	@scripts/require.sh swift git clang-format
	swift format lint --strict --recursive $(swift_sources)
	@scripts/check-c-format.sh $(c_sources)

check-docs: ## Make the reference of libkvo and the site, check links and pages, and look at it in headless Chromium
	scripts/manual.sh --check
	scripts/docs.sh --check
	scripts/site/look.sh

check-documents: ## Build and run the code and the commands of README and the guides
	scripts/check-snippets.sh --package
	scripts/check-documents.sh --slow

check-%: ## One check, as scripts/check-%.sh describes it: make check-costs, make check-ports ARGS="i386 aarch64"
	scripts/check-$*.sh $(ARGS)

fuzz: ## Fuzz the C runtime for a minute (ARGS="--minutes 30 --seed 7")
	@scripts/require.sh swift $(c_tools)
	scripts/fuzz.sh $(ARGS)

stress: ## Run random operations on several threads, and check each round, for 30 seconds (ARGS="--minutes 10 --seed 7")
	@scripts/require.sh $(c_tools)
	scripts/stress.sh $(ARGS)

mutate: ## Change the C runtime at random places; tests have to fail (ARGS="--count 150 --seed 7")
	@scripts/require.sh swift $(c_tools) python3
	scripts/mutate.sh $(ARGS)

install-tools: ## Install the command kvo, its manual page and those of libkvo's functions (PREFIX=$HOME/.local)
	@scripts/require.sh swift git libffi-dev
	scripts/install-tools.sh "$(PREFIX)"

format: ## Format the Swift and C sources in place
	@scripts/require.sh swift git clang-format
	swift format --in-place --recursive $(swift_sources)
	clang-format -i $(c_sources)

clean: ## Remove all build products
	rm -rf .build build Benchmarks/.build Benchmarks/results.* Tools/.build Examples/Monitor/.build Examples/Desktop/.build \
	  bindings/glib/.build
