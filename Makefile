# `make help` lists what there is. Everything sets itself up first.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

PYTHON := .venv/bin/python
# Tests wait for processes half of the time.
TEST_JOBS ?= $(shell echo $$((($$(nproc) * 3 + 1) / 2)))
# Temporary files stay in the checkout too.
# A test that never ends would hide what failed: its worker says where it is, and ends.
UNENDING := -o faulthandler_timeout=600 -o faulthandler_exit_on_timeout=true
PYTEST := TMPDIR=$(CURDIR)/build/tmp $(PYTHON) -m pytest --basetemp=build/tmp/pytest

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS=$$'\t' read -r name text; \
	    do printf '  make %-16s %s\n' "$$name" "$$text"; done

.PHONY: setup
setup: ## install what running takes, build the launcher, leave .venv/bin/steelyard
	@tools/setup.sh

.PHONY: setup-dev
setup-dev: ## the same, with what the tests and checks take
	@tools/setup.sh --dev

.PHONY: native
native: setup ## build the native parts alone
	@tools/native.sh build/native src/steelyard/_native

.PHONY: serve
serve: setup ## the page on which experiments are sent and answered; SERVE='--port 0' adds options
	@.venv/bin/steelyard serve $(SERVE)

.PHONY: demo
demo: setup ## weigh real compressors on real data; the report is demo-output/report.html
	@tools/demo.sh

.PHONY: test
test: setup-dev ## all tests but the slow ones; with COVERAGE=yes how much of the package they run
	@mkdir -p build/tmp
ifdef COVERAGE
	@tools/coverage.sh
else
	@STEELYARD_NEEDLESS_SKIPS=refused $(PYTEST) -n $(TEST_JOBS) --dist worksteal $(UNENDING) --ignore=tests/slow
endif

.PHONY: coverage
coverage: ## all tests but the slow ones, and how much of the package they run
	@$(MAKE) --no-print-directory test COVERAGE=yes

.PHONY: coverage-native
coverage-native: setup-dev ## what tests run of the native parts, by llvm-cov; 10 minutes
	@tools/coverage_native.sh

.PHONY: test-slow
test-slow: setup-dev ## the slow ones: faults, kills, full disks
	@mkdir -p build/tmp
	@$(PYTEST) tests/slow

.PHONY: test-machines
test-machines: setup-dev ## workers in virtual machines that boot before each trial, and after a kernel panic; 10 minutes
	@mkdir -p build/tmp
	@. tools/system_packages.sh; command -v qemu-system-x86_64 busybox >/dev/null || install_packages qemu-system-x86 busybox-static
	@tools/fetch_test_kernel.sh build/test-kernel
	@$(PYTEST) tests/slow/test_service_machines.py

.PHONY: fuzz
fuzz: setup-dev ## every reader of foreign files with inputs made by coverage; a minute each
	@tools/fuzz.sh
	@tools/fuzz_native.sh

.PHONY: check-sanitizers
check-sanitizers: setup-dev ## the runtime of layout under ASan, UBSan and TSan
	@mkdir -p build/tmp
	@$(PYTEST) tests/slow/test_layout_sanitizers.py

.PHONY: test-generated
test-generated: setup-dev ## a hundred programs each of Csmith and YARPGen, built to move: the same output at 1 ms
	@mkdir -p build/tmp
	@. tools/system_packages.sh; command -v csmith >/dev/null || install_packages csmith libcsmith-dev
	@tools/yarpgen.sh
	@$(PYTEST) -n $(TEST_JOBS) tests/slow/test_layout_generated.py

.PHONY: test-packages
test-packages: setup-dev ## own tests of Debian's packages, built to move, beside plain clang; hours
	@mkdir -p build/packages
	@. tools/system_packages.sh; install_packages cmake libgtest-dev libgmock-dev libpcre2-dev zlib1g-dev libbz2-dev tcl-dev
	@$(PYTHON) -m benchmarks.layout_projects build/packages

.PHONY: check
check: setup-dev ## style, types, layers, docs, schemas, C++
	@tools/check.sh

.PHONY: prove
prove: setup-dev ## how often every interval holds, by simulation with a known truth; takes long
	@$(PYTHON) -m benchmarks.prove
	@$(PYTHON) -m benchmarks.prove.prices
	@$(PYTHON) -m benchmarks.prove.dependent
	@$(PYTHON) -m benchmarks.prove.hidden_memory
	@$(PYTHON) -m benchmarks.prove.decided
	@$(PYTHON) -m benchmarks.prove.dimensioned
	@$(PYTHON) -m benchmarks.prove.analysed
	@$(PYTHON) -m benchmarks.prove.correlated
	@$(PYTHON) -m benchmarks.states --only synthetic
	@$(PYTHON) -m benchmarks.prove.humps
	@$(PYTHON) -m benchmarks.prove.ordered

.PHONY: states
states: setup-dev ## how well states of iterations are told, on made and on real executions
	@$(PYTHON) -m benchmarks.states
	@$(PYTHON) -m benchmarks.states.states_speed

.PHONY: bench
bench: setup-dev ## the numbers of docs/PERFORMANCE.md that take minutes; wants a quiet machine
	@. tools/system_packages.sh; command -v hyperfine >/dev/null || install_packages hyperfine
	@$(PYTHON) -m benchmarks.speed
	@$(PYTHON) -m benchmarks.first_answer
	@$(PYTHON) -m benchmarks.million_measurements
	@$(PYTHON) -m benchmarks.million_trials
	@$(PYTHON) -m benchmarks.analyses
	@$(PYTHON) -m benchmarks.states.states_speed
	@$(PYTHON) -m benchmarks.soundness

.PHONY: fuzz-profiles
fuzz-profiles: setup-dev ## a million damaged profiles for every reader of profiles; some 10 minutes
	@$(PYTHON) -m benchmarks.profile_fuzz

.PHONY: profile-viewers
profile-viewers: setup-dev ## what opens exported profiles (pprof, speedscope, inferno), for the tests of that
	@tools/profile_viewers.sh

.PHONY: bench-layout
bench-layout: setup-dev ## that programs move, at random and without bias; wants a quiet machine
	@$(PYTHON) -m benchmarks.layout_bias
	@$(PYTHON) -m benchmarks.layout_moves --long 60 suite:lua suite:bzip2 suite:zstd suite:sqlite
	@$(PYTHON) -m benchmarks.layout_random

.PHONY: bench-layout-cost
bench-layout-cost: setup-dev ## what moving costs in time, memory, size and start; wants a quiet machine
	@$(PYTHON) -m benchmarks.layout_driver
	@$(PYTHON) -m benchmarks.layout_cost --runs 12 --size train build/code_layout-cost

.PHONY: bench-suite
bench-suite: setup-dev ## dimension real programs and run both designs side by side; wants a quiet machine
	@$(PYTHON) -m benchmarks.dimension_programs

.PHONY: bench-predict
bench-predict: setup-dev ## times on other hosts: errors, refusals, choices, speed beside R's leaps; takes 10 min
	@$(PYTHON) -m benchmarks.predict_platforms

.PHONY: newcomer
newcomer: setup-dev ## clone, one command, a page, an experiment, its answer, by a real Chromium: how long it takes
	@$(PYTHON) -m benchmarks.newcomer

.PHONY: pictures
pictures: setup-dev ## pictures of the service's pages in docs/images, by a real Chromium
	@$(PYTHON) -m benchmarks.newcomer --pictures docs/images

.PHONY: bench-service
bench-service: setup-dev ## how long it takes to choose workers of a fleet, and how often a gate fails for nothing
	@$(PYTHON) -m benchmarks.service_planning
	@$(PYTHON) -m benchmarks.service_false_alarms

.PHONY: bench-paths
bench-paths: setup-dev ## what learning call paths costs over the suite; fetches and builds it
	@$(PYTHON) -m benchmarks.path_learning

.PHONY: bench-path-keys
bench-path-keys: setup-dev ## how many call paths keys resolve: Tables 5.1-5.3, Figures 5.2, 5.6-5.12 of Mytkowicz 2010; half an hour
	@. tools/system_packages.sh; command -v valgrind >/dev/null || install_packages valgrind
	@$(PYTHON) -m benchmarks.keys_of_paths --folder build/keys-of-paths

.PHONY: bench-commits
bench-commits: setup-dev ## which benchmarks a commit needs: made pairs, speed; 5 min; with LZ4=, LIBDEFLATE=, PUGIXML=, CJSON=, TINYXML2=CLONE histories; three hours
	@$(PYTHON) -m benchmarks.commit_pairs $(if $(LZ4),--repository lz4=$(LZ4)) \
	    $(if $(LIBDEFLATE),--repository libdeflate=$(LIBDEFLATE)) $(if $(PUGIXML),--repository pugixml=$(PUGIXML)) \
	    $(if $(CJSON),--repository cjson=$(CJSON)) $(if $(TINYXML2),--repository tinyxml2=$(TINYXML2))

.PHONY: bench-names
bench-names: setup-dev ## functions of generated programs in six languages: names and shares, with perf beside
	@$(PYTHON) -m benchmarks.names --part known

.PHONY: bench-kills
bench-kills: setup-dev ## 1,000 kills of Steelyard and its parts: what is lost, doubled, left; takes hours, wants root
	@$(PYTHON) -m benchmarks.kills --kills 1000 --seed 1

.PHONY: bench-history
bench-history: setup-dev ## changes along revisions: marked tracks, planted kinds, false alarms, searches; CLONE of a repository
	@$(PYTHON) -m benchmarks.history.marked_tracks
	@$(PYTHON) -m benchmarks.history.planted_kinds
	@$(PYTHON) -m benchmarks.history.false_alarms
	@$(PYTHON) -m benchmarks.history.suite_alarms
	@$(PYTHON) -m benchmarks.history.reached_people
	@$(PYTHON) -m benchmarks.history.detector_speed
	@$(PYTHON) -m benchmarks.history.bisection --repository "$(CLONE)"
	@$(PYTHON) -m benchmarks.history.planted

.PHONY: wheel
wheel: ## dist/*.whl with the launcher inside
	@tools/setup.sh --wheel
	@tools/wheel.sh

PREFIX ?= $(if $(filter 0,$(shell id -u)),/usr/local,$(HOME)/.local)
.PHONY: install
install: wheel ## the command, its completions and manual pages below PREFIX (~/.local; root: /usr/local)
	@tools/install.sh "$(PREFIX)"

.PHONY: uninstall
uninstall: ## remove what install put below PREFIX
	@tools/install.sh --remove "$(PREFIX)"

.PHONY: release
release: wheel ## the wheel with its bill of materials (CycloneDX) and the licences of all of it
	@$(PYTHON) tools/bill_of_materials.py dist/*.whl

.PHONY: bare-proof
bare-proof: ## prove demo, test and wheel in a bare Debian 12 root (needs root)
	@tools/bare_root_proof.sh

.PHONY: lock
lock: ## resolve pyproject.toml into requirements/*.lock (needs uv)
	@tools/lock.sh

.PHONY: clean
clean: ## remove everything that was made here
	@rm -rf build dist demo-output .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache \
	    src/steelyard/_native
	@find src tests tools benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
