# airpath: all commands for building, testing and measuring. `make help` lists the targets.

PYTHON ?= python3
FUZZ_MINUTES ?= 10
VENV   := .venv
BIN    := $(VENV)/bin
# Time stamps: the engine is rebuilt when its sources change, tools are installed again when pyproject.toml changes.
ENGINE    := $(VENV)/engine
INSTALLED := $(VENV)/installed
TOOLS     := $(VENV)/tools
DOCS      := $(VENV)/docs
RUST_SOURCES   := $(shell find crates -path crates/linux -prune -o \( -name '*.rs' -o -name 'Cargo.toml' \) -print) Cargo.toml Cargo.lock
# Distributions of this repository that add commands to airpath.
EXTENSIONS := python/airpath-lint python/airpath-papers
ALGORITHMS := airpath-model airpath-estimate airpath-control airpath-queue airpath-channel airpath-transport

# Build with the profile from `make profile`, but only if this compiler version recorded it.
PROFILED = CARGO_BUILD_RUSTFLAGS="$$($(PYTHON) tools/compiler_profile.py --flags)"

# Property tests use the same examples in every run, so that no run fails by chance. Another seed here, or
# `pytest --hypothesis-profile default`, gives other examples; so does `make fuzz`.
export PROPTEST_RNG_SEED ?= 1

# Folders with data from outside this repository that some tests read (docs/development/tests.md). Absolute, because tests run in other folders.
$(foreach name,VECTORS CAPTURES QLOGS TRACES LINK_LOGS PLANS SCENARIOS LOSSES SETUPS,$(if $(AIRPATH_$(name)),\
  $(eval override export AIRPATH_$(name) := $(abspath $(AIRPATH_$(name))))))

export CARGO_TERM_PROGRESS_WHEN := never
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_QUIET := 1

.DEFAULT_GOAL := help
.PHONY: help run build datapath test test-rust test-python test-realtime prove-tests test-guest \
  test-browser test-memory test-ray test-vectors reproduce lint lint-rust lint-python lint-prose purity format fuzz bench bench-peers \
  bench-instructions valgrind profile bench-emulator bench-worlds bench-commands bench-datapath docs wheel clean prerequisites

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

run: build ## build, then compare schemes over two links of varying rate
	@$(BIN)/python -m airpath._main_job

# Python writes no bytecode if PYTHONDONTWRITEBYTECODE is set, and every command would compile what it imports.
COMPILE = $(BIN)/python -m compileall -q python/airpath $(EXTENSIONS)

build: $(INSTALLED) ## build the engine and install all distributions, with the command as .venv/bin/airpath
	@$(COMPILE)

datapath: prerequisites ## build the daemon of the Linux datapath, target/release/airpathd (as root, installs what is missing)
	@tools/prerequisites-linux && cargo build --release --package airpath-linux

# In this order, because Python tests that run the daemon are skipped until it is built for the Rust tests.
test: test-rust test-python bench-instructions ## all tests whose result does not depend on time, and the gate on instruction counts

test-rust: prerequisites ## Rust tests; those of the Linux datapath are skipped, with the reason, if they cannot run here
	tools/cargo-workspace test --exclude airpath-py

test-guest: prerequisites ## BPF load tests in other kernels under emulation (Debian; fetches packages)
	@tools/prerequisites-linux tools/test-guest

test-memory: prerequisites ## peak memory for a capture of 1 GB, generated while it is read (a minute; not in `make test`)
	cargo test --release -p airpath-replay --test it -- memory:: --include-ignored --nocapture --test-threads 1

test-python: $(TOOLS) valgrind ## Python tests, on all processors
	@$(COMPILE)
	$(BIN)/python -m pytest -n logical --dist worksteal

test-realtime: prerequisites $(TOOLS) ## checks that depend on wall-clock time: passed, failed or inconclusive (not in `make test`)
	$(BIN)/python tools/realtime.py

prove-tests: prerequisites $(TOOLS) ## repeat the tests idle and under load; PROVE="--part emu --condition busy" selects (hours)
	$(BIN)/python tools/prove_tests.py $(PROVE)

test-browser: $(TOOLS) docs ## reports, `airpath view` and the site in headless Chromium (installs Playwright; not in `make test`)
	$(BIN)/python -m pip install --quiet --group browser
	AIRPATH_SITE=$(CURDIR)/site $(BIN)/python -m pytest $(wildcard python/tests/*/test_*_in_browser.py)

test-ray: $(TOOLS) ## sweeps on Ray, local and on a cluster of two nodes (installs Ray; not in `make test`)
	$(BIN)/python -m pip install --quiet --group ray
	$(BIN)/python -m pytest python/tests/sweeps/test_clusters.py -k ray

test-vectors: prerequisites $(TOOLS) ## compare formulas with reference vectors (folder: AIRPATH_VECTORS)
	cargo test --package airpath-estimate --package airpath-channel --test it -- vectors:: --nocapture
	$(BIN)/python -m pytest --quiet -s python/tests/statistics/test_vectors.py

reproduce: build ## reproduce the figures and tables of the papers (15 to 25 minutes on two processors)
	$(BIN)/airpath reproduce --out out/reproduce

lint: lint-python lint-rust purity ## formatting, lints (warnings denied), types, layering

# `--all-targets` leaves out the test targets that are not part of `make test`.
lint-rust: prerequisites
	cargo fmt --all --check
	tools/cargo-workspace clippy --all-targets -- -D warnings
	tools/cargo-workspace clippy --test realtime -- -D warnings
	RUSTDOCFLAGS="-D warnings" tools/cargo-workspace doc --no-deps --quiet
	@# Alone, as users build them, without features that other crates of the workspace enable.
	cargo check --quiet --package own-controller --all-targets
	@tools/prerequisites-linux cargo check --quiet --package airpath-linux

lint-prose: ## check pages, help and messages against the word list of docs/development/style.md
	$(PYTHON) tools/prose.py

lint-python: $(TOOLS) lint-prose
	$(BIN)/ruff check python tools
	$(BIN)/ruff format --check python tools
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

purity: prerequisites ## check the algorithm crates for a target without an operating system
	@tools/purity $(ALGORITHMS)

format: $(TOOLS) ## format all sources
	cargo fmt --all
	$(BIN)/ruff check --fix python tools
	$(BIN)/ruff format python tools

fuzz: $(INSTALLED) ## fuzz all that parses foreign input with libFuzzer, FUZZ_MINUTES (10) in all (docs/development/fuzzing.md)
	$(BIN)/python -m pip install --quiet --group fuzz
	$(BIN)/python tools/fuzz.py $(FUZZ_MINUTES)

bench: $(INSTALLED) ## benchmarks of components, captures and whole runs, compared with ns-2 if installed (bench.json)
	$(PROFILED) cargo bench -p airpath-sim --bench parts
	$(PROFILED) cargo bench -p airpath-channel
	$(PROFILED) cargo bench -p airpath-replay
	$(PROFILED) cargo bench -p airpath-plugin-host
	$(BIN)/python tools/bench.py $(BENCH)

bench-peers: $(INSTALLED) ## install ns-2 (Debian and Ubuntu, as root), then compare whole runs with it
	command -v ns >/dev/null || (apt-get update --quiet && apt-get install --yes --quiet ns2)
	$(BIN)/python tools/bench.py $(BENCH)

bench-instructions: $(INSTALLED) valgrind ## compare instruction counts of short runs with stored ones
	$(BIN)/python tools/bench_instructions.py

# A target of its own, because Python tests use valgrind, too, perhaps at the same time as the instruction counts.
valgrind:
	@$(PYTHON) tools/bench_instructions.py --install

profile: $(INSTALLED) ## record a new PGO profile (rustup component add llvm-tools) and store new instruction counts
	$(BIN)/python tools/compiler_profile.py
	$(BIN)/python tools/bench_instructions.py --store

bench-emulator: prerequisites ## measure the accuracy of emulated rates and delays (Linux with root, three minutes)
	cargo test --release -p airpath-emu --test realtime -- accuracy routers traces --include-ignored --nocapture

bench-worlds: build ## compare the kernel's CUBIC and Reno with the simulator's (Linux with root, ten minutes)
	$(BIN)/python tools/bench_worlds.py $(BENCH)

bench-commands: build ## time short commands: seconds to the table and to the end
	$(BIN)/python tools/bench_commands.py $(BENCH)

bench-datapath: prerequisites ## measure the cost of the BPF programs of hosts (as root)
	@tools/prerequisites-linux sh -c 'cargo build --release --package airpath-linux && $(PYTHON) tools/bench_datapath.py $(BENCH)'

# In an environment of its own, with nothing else on the PATH: no Rust, no C compiler.
wheel: $(INSTALLED) ## build the wheels in dist/, install airpath alone into an empty environment, compare two schemes, add the others
	rm -rf dist && $(PROFILED) $(BIN)/maturin build --release --strip --quiet --out dist
	$(PYTHON) -m venv dist/environment
	PATH=$(CURDIR)/dist/environment/bin pip install --only-binary :all: dist/*.whl
	cd dist && PATH=$(CURDIR)/dist/environment/bin airpath compare cubic bbr --link 12mbps --out compare
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist $(addprefix ./,$(EXTENSIONS))
	PATH=$(CURDIR)/dist/environment/bin pip install --only-binary :all: dist/airpath_*.whl
	PATH=$(CURDIR)/dist/environment/bin airpath lint --help >/dev/null
	PATH=$(CURDIR)/dist/environment/bin airpath reproduce --list >/dev/null

docs: $(DOCS) ## build the documentation site into site/, and check its HTML and links
	$(BIN)/python tools/make_docs.py
	$(BIN)/python tools/peer_windows.py
	$(BIN)/python tools/scheme_figures.py
	# Without the notice of Material for MkDocs about MkDocs 2.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	$(BIN)/python tools/check_site.py site
	@echo "open site/index.html"

clean: ## remove everything that was built; results in out/ stay
	rm -rf target $(VENV) site dist

prerequisites:
	@PYTHON="$(PYTHON)" tools/prerequisites

$(ENGINE): $(RUST_SOURCES) pyproject.toml $(wildcard tools/compiler_profile/*) | prerequisites
	@echo "building the engine, which takes three to seven minutes on two processors"
	@# The environment is not a target of its own, so that `make --jobs=2` begins with the engine, which takes longest.
	@test -x $(BIN)/maturin || { $(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip install --quiet --upgrade pip 'maturin>=1.16,<2'; }
	$(PROFILED) $(BIN)/maturin develop --release --quiet
	@touch $@

$(INSTALLED): $(ENGINE) $(EXTENSIONS:=/pyproject.toml)
	$(BIN)/python -m pip install --quiet $(addprefix --editable=,$(EXTENSIONS))
	@touch $@

$(TOOLS): $(INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --group test --group lint
	@touch $@

$(DOCS): $(INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
