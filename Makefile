# The few verbs. None needs root.
.PHONY: help run try test bench fmt lint docs
.DEFAULT_GOAL := help

help: ## list the verbs
	@sed -n 's/^\([a-z]*\):.*## /\1	/p' Makefile
run: ## reproduce the quick set of studies
	cargo run --release
try: ## build target/try/cnsim: the same bits as a release build, compiled in seconds after an edit, some 15 % slower
	cargo build --profile try && echo "use it as target/try/cnsim"
test: ## every test, doc test and transcript in profile try (the network's in profile checked: overflows, debug assertions, marks), the gates of speed in a release build; ends with the names of the tests skipped (CNSIM_STRICT=1: a skip fails)
	@mkdir -p target && rm -f target/skipped.txt
	@status=0; cargo test --workspace --exclude cnsim-fabric --profile try --no-fail-fast || status=$$?; \
	cargo test --profile checked -p cnsim-fabric --no-fail-fast || status=$$?; \
	cargo test --release -p cnsim-cli --test gates -- --include-ignored || status=$$?; \
	if [ -s target/skipped.txt ]; then echo; sort -u target/skipped.txt; else echo; echo "No test was skipped."; fi; \
	exit $$status
soak: ## random tests for hours: spoiled and random scenarios, kills, signals, damaged stores (SOAK=N tries of each kind)
	CNSIM_MUTANTS=$${SOAK:-10000} CNSIM_RANDOM=$${SOAK:-10000} cargo test --profile try -p cnsim-studies --test mutated --test random_scenarios --test fuzz
	CNSIM_SOAK=$${SOAK:-100} cargo test --profile try -p cnsim-cli --test faults
bench: ## speed of the simulator, one row per workload
	cargo run --release -- bench
fmt: ## format the code
	cargo fmt
lint: ## what the continuous integration refuses
	cargo fmt --check && cargo clippy --profile try --workspace --all-targets -- -D warnings && cargo run --profile try -q -p cnsim-xtask -- check && cargo run --profile try -q -p cnsim-xtask -- deny
docs: ## generated chapters and the API documentation
	cargo run --profile try -q -p cnsim-xtask -- generate && cargo doc --workspace --no-deps
