# `make help` lists what there is.

# All of them build the whole workspace: what is selected decides which features dependencies have, and another choice
# would build them again.
CARGO ?= cargo
# Folder with the real rows of the benchmarks; where it is missing, a generated stand-in is loaded.
DATA ?= ../shared/data
# Where `make install` puts command and library; DESTDIR is put before it, for packages.
PREFIX ?= /usr/local
# Where `make run` keeps its store.
STORE ?= immuxdb-data

BUILT := $(or $(CARGO_TARGET_DIR),target)/release
DATA_FLAG := $(if $(wildcard $(DATA)/berka99),--data $(DATA))
HEADING = @printf '\n== %s\n'

.PHONY: help run test packages cobol format lint docs unit bench load-test build install clean
.DEFAULT_GOAL := help

help: ## list what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: packages ## build, and take a tour: load a bank's tables, scan, look into the past
	$(HEADING) 'Building with optimization (the first time this takes some minutes)'
	$(CARGO) build --release --workspace --exclude immuxdb_interleavings --bin immuxdb --example tour
	@if [ -e '$(STORE)' ]; then printf '\n(%s is there from an earlier run: the rows become new versions. "make clean" removes it.)\n' '$(STORE)'; fi
	@'$(BUILT)/examples/tour' $(DATA_FLAG) --store '$(STORE)'

test: packages cobol format lint docs unit ## check formatting, lints and documentation; run all tests
	$(HEADING) 'All is well'

packages:
	@./scripts/packages

cobol:
	@./scripts/cobol

format:
	$(HEADING) 'Formatting'
	$(CARGO) fmt --all --check
	@if [ -f benches/peers/Cargo.toml ]; then $(CARGO) fmt --manifest-path benches/peers/Cargo.toml --check; fi

lint:
	$(HEADING) 'Lints (a warning is an error)'
	$(CARGO) clippy --workspace --all-targets -- -D warnings

docs:
	$(HEADING) 'Documentation (a link that leads nowhere is an error)'
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc --workspace --exclude immuxdb_benches --exclude xtask --no-deps --quiet

unit:
	$(HEADING) 'Tests'
	$(CARGO) test --workspace
	$(HEADING) 'Faults that are planted in the engine must be found'
	$(CARGO) test --workspace --features immuxdb_simulator/planted --test planted

build: packages ## build the command line and the file handler: target/release/immuxdb, libimmuxfh.so
	$(CARGO) build --release --workspace --exclude immuxdb_interleavings --bin immuxdb --lib

install: build ## install them, with what compilers need to know: make install PREFIX=/usr/local
	@./scripts/install '$(BUILT)' '$(PREFIX)' '$(DESTDIR)'

bench: packages ## run the realistic benchmarks (benches/README.md lists all of them)
	$(HEADING) 'census90: one wide table'
	$(CARGO) bench --workspace --bench census90 -- $(DATA_FLAG)
	$(HEADING) 'berka99: eight tables with twelve indexes'
	$(CARGO) bench --workspace --bench berka99 -- $(DATA_FLAG)

load-test: build ## mixed reads, writes and scans against a server for 60 s, by wrk
	@./scripts/load-test

clean: ## remove what was built, and the store of `make run`
	$(CARGO) clean
	rm -rf '$(STORE)'
