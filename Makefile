# The few verbs. None needs root.
.PHONY: help run try test soak python dist bench fmt lint docs site site-versions
.DEFAULT_GOAL := help

help: ## list the verbs
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile
run: ## reproduce the quick set of studies
	cargo run --release
try: ## build target/try/cnsim: the same bits as a release build, compiled in seconds after an edit, some 15 % slower
	cargo build --profile try && echo "use it as target/try/cnsim"
test: ## every test, or with PART=schemes, quick, fabric, scenario, runs, papers, report, cli, fingerprints, docs, speed or python one part; names each step, failure and skipped test (CNSIM_STRICT=1: a skipped test fails)
	@.ci/test $(PART)
soak: ## random tests for hours: networks by both engines, spoiled files and random scenarios, kills, signals, damaged stores (SOAK=N tries of each kind, CNSIM_SEED=N from where)
	CNSIM_NETWORKS=$${SOAK:-10000} cargo test --profile checked -p cnsim-fabric --test engines --test textbook --test second --test reuse
	CNSIM_MUTANTS=$${SOAK:-10000} CNSIM_RANDOM=$${SOAK:-10000} cargo test --profile try -p cnsim-scenario -p cnsim-runs -p cnsim-papers --test mutated --test random_scenarios --test fuzz
	CNSIM_NETWORKS=$${SOAK:-10000} cargo test --profile try -p cnsim-runs --test graphs
	CNSIM_SOAK=$${SOAK:-100} cargo test --profile try -p cnsim-cli --test faults
python: ## the Python package: build it in target/venv, run its tests, check its types
	@mkdir -p target && python3 python/check.py
dist: ## what installs without a compiler, in target/dist: a wheel (abi3, manylinux2014) and a static program, both tried where there is no Rust
	@python3 python/dist.py
bench: ## speed of the simulator, one row per workload
	cargo run --release -- bench
	@if [ -x target/venv/bin/python ]; then target/venv/bin/python python/bench.py; else echo "schemes in Python: make python first"; fi
fmt: ## format the code; a macro declares the scenario's tables, so cargo does not find their files
	cargo fmt && rustfmt crates/scenario/src/tables/*.rs
lint: ## what the continuous integration refuses
	cargo fmt --check && rustfmt --check crates/scenario/src/tables/*.rs && cargo clippy --profile try --workspace --all-targets -- -D warnings && cargo xtask check && cargo xtask deny
docs: ## generated chapters and the API documentation
	cargo xtask generate && cargo doc --workspace --no-deps
site: ## the documentation site, every link checked: target/site/html/index.html (needs Python with venv; no network after the first call)
	python3 site/build.py
site-versions: ## the site of this checkout and of each tag v*, a folder each: target/site-versions/html/index.html
	python3 site/versions.py
