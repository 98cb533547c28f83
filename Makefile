# airpath: one entry point for everything. `make help` lists the targets.

PYTHON ?= python3
FUZZ_MINUTES ?= 10
VENV   := .venv
BIN    := $(VENV)/bin
# Built once, used by every target below; rebuilt when the sources change.
INSTALLED := $(VENV)/installed
TOOLS     := $(VENV)/tools
DOCS      := $(VENV)/docs
RUST_SOURCES   := $(shell find crates -path crates/linux -prune -o \( -name '*.rs' -o -name 'Cargo.toml' \) -print) Cargo.toml Cargo.lock
ALGORITHMS := airpath-model airpath-estimate airpath-control airpath-queue airpath-channel airpath-transport

# The compiler is told of runs that were measured (`make profile`), where it is the one that was there then.
PROFILED = CARGO_BUILD_RUSTFLAGS="$$($(PYTHON) tools/compiler_profile.py --flags)"

# Property tests draw the same examples each time, so that what passed does not fail by chance elsewhere. Another seed here, and
# `pytest --hypothesis-profile default`, draw others; so does `make fuzz`.
export PROPTEST_RNG_SEED ?= 1

# Folders that the user names: tests run in other folders than this one.
$(foreach name,VECTORS CAPTURES QLOGS TRACES LINK_LOGS PLANS SCENARIOS LOSSES SETUPS,$(if $(AIRPATH_$(name)),\
  $(eval override export AIRPATH_$(name) := $(abspath $(AIRPATH_$(name))))))

export CARGO_TERM_PROGRESS_WHEN := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help run build test test-rust test-python test-linux list-tests test-vectors reproduce fuzz lint lint-rust lint-linux lint-python purity format bench bench-peers bench-instructions profile docs clean prerequisites bench-emulator bench-worlds test-ray test-guest test-memory bench-datapath datapath

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

run: build ## build what is needed and compare the schemes over two moving links
	@$(BIN)/python -m airpath.main_job

build: $(INSTALLED) ## build the engine and install the command as .venv/bin/airpath

datapath: prerequisites ## build the Linux datapath: the daemon target/release/airpathd (installs what is missing, as root)
	@tools/prerequisites-linux && cargo build --release --package airpath-linux

TESTS := test-rust test-linux bench-instructions test-python
test: $(TESTS) ## all tests, and the gate against slow growth

list-tests: # for .ci/run, which times each
	@echo $(TESTS)

test-rust: prerequisites ## Rust tests
	cargo test --workspace --exclude airpath-py --exclude airpath-linux

test-linux: prerequisites ## tests of the Linux datapath, none in real time (skipped, with the reason, where they cannot run)
	@tools/prerequisites-linux cargo test --package airpath-linux

test-guest: prerequisites ## BPF load tests in other kernels under emulation (Debian; fetches packages)
	@tools/prerequisites-linux tools/test-guest

test-memory: prerequisites ## memory over a capture of 1 GB, made while it is read (a minute; not part of `make test`)
	cargo test --release -p airpath-replay --test it -- memory:: --include-ignored --nocapture --test-threads 1

test-python: $(TOOLS) ## Python tests
	$(BIN)/python -m pytest

test-ray: $(TOOLS) ## sweeps on Ray, here and on a cluster of two nodes (installs Ray; not part of `make test`)
	$(BIN)/python -m pip install --quiet --group ray
	$(BIN)/python -m pytest python/tests/sweeps/test_clusters.py -k ray

test-vectors: prerequisites $(TOOLS) ## formulas against reference vectors (folder: AIRPATH_VECTORS)
	cargo test --package airpath-estimate --package airpath-channel --test it -- vectors:: --nocapture
	$(BIN)/python -m pytest --quiet -s python/tests/statistics/test_vectors.py

reproduce: build ## replay the figures and tables of the papers (15 to 25 minutes on two processors)
	$(BIN)/airpath reproduce --out out/reproduce

lint: lint-rust lint-linux lint-python purity ## formatting, lints (warnings denied), types, layering

lint-rust: prerequisites
	cargo fmt --all --check
	cargo clippy --workspace --exclude airpath-linux --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude airpath-linux --no-deps --quiet

lint-linux: prerequisites
	@tools/prerequisites-linux sh -c 'cargo clippy --package airpath-linux --all-targets --test realtime -- -D warnings && \
	  RUSTDOCFLAGS="-D warnings" cargo doc --package airpath-linux --no-deps --quiet'

lint-python: $(TOOLS)
	$(BIN)/ruff check python tools
	$(BIN)/ruff format --check python tools
	$(BIN)/mypy

purity: prerequisites ## the algorithm crates build for a target without an operating system
	@tools/purity $(ALGORITHMS)

format: $(TOOLS) ## rewrite sources in the house style
	cargo fmt --all
	$(BIN)/ruff check --fix python tools
	$(BIN)/ruff format python tools

fuzz: $(INSTALLED) ## damaged input for all that reads foreign bytes, FUZZ_MINUTES (10) in all (docs/fuzzing.md)
	$(BIN)/python tools/fuzz.py $(FUZZ_MINUTES)

bench: $(INSTALLED) ## parts alone, whole runs beside ns-2 where it is installed (bench.json), draws of channels, captures in MB/s
	$(PROFILED) cargo bench -p airpath-sim --bench parts
	$(PROFILED) cargo bench -p airpath-channel
	$(PROFILED) cargo bench -p airpath-replay
	$(BIN)/python tools/bench.py $(BENCH)

bench-peers: $(INSTALLED) ## install ns-2 (Debian and Ubuntu, as root), then whole runs beside it
	command -v ns >/dev/null || (apt-get update --quiet && apt-get install --yes --quiet ns2)
	$(BIN)/python tools/bench.py $(BENCH)

bench-instructions: prerequisites ## instructions of short runs against the stored figures (valgrind; installed where possible)
	$(PYTHON) tools/bench_instructions.py --install

profile: $(INSTALLED) ## measure runs for the compiler anew (rustup component add llvm-tools), and store the new instructions
	$(BIN)/python tools/compiler_profile.py
	$(PYTHON) tools/bench_instructions.py --store

bench-emulator: prerequisites ## how exact emulated rates and delays are (Linux with root, three minutes)
	cargo test --release -p airpath-emu --test accuracy --test routers --test traces -- --include-ignored --nocapture --test-threads 1

bench-worlds: build ## the kernel's CUBIC and Reno against the simulator's (Linux with root, ten minutes)
	$(BIN)/python tools/bench_worlds.py $(BENCH)

bench-datapath: prerequisites ## what the BPF programs of hosts cost (as root)
	@tools/prerequisites-linux sh -c 'cargo build --release --package airpath-linux && $(PYTHON) tools/bench_datapath.py $(BENCH)'

docs: $(DOCS) ## build the documentation site into site/
	$(BIN)/python tools/make_docs.py
	$(BIN)/python tools/peer_windows.py
	$(BIN)/mkdocs build --strict --quiet
	@echo "open site/index.html"

clean: ## remove what was built (results in out/ stay)
	rm -rf target $(VENV) site

prerequisites:
	@PYTHON="$(PYTHON)" tools/prerequisites

$(VENV)/bin/maturin: | prerequisites
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip 'maturin>=1.16,<2'

$(INSTALLED): $(RUST_SOURCES) pyproject.toml $(wildcard tools/compiler_profile/*) | $(VENV)/bin/maturin
	$(PROFILED) $(BIN)/maturin develop --release --quiet
	@touch $@

$(TOOLS): $(INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --group test --group lint
	@touch $@

$(DOCS): $(INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
