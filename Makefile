# Two commands do everything: `make demo` runs the lab, `make test` proves it.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Hundreds of processes would compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo demo-api test test-long test-compose soak conformance compose bench-check fuzz trino-oracle check compiled docs wheel dist up down clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/run ## start the lab, seed it, change a row, see it in the lake
	$(BIN)/labctl demo

demo-api: $(VENV)/run ## switch the lake API on in the lab that runs, see a sale's change arrive there
	$(BIN)/labctl tools api demo

# Tests that fail run again, alone: in a new process, on a new lab (tests/running/second_try.py).
suite = $(BIN)/pytest $(2) --write-failures=build/$(1) --write-durations=build/$(1)/durations.json || \
	{ [ $$? = 1 ] && [ -e build/$(1)/failed.txt ] && \
	$(BIN)/pytest -n 0 -m "" $(3) --time-limit=10 --second-try=build/$(1) @build/$(1)/failed.txt; }

# The end-to-end tests mostly wait for their lab. Beside them, others use the cores.
WORKERS := 2
test: $(VENV)/dev ## checks and the tests of every change, on labs of their own; WORKERS=0 for one process
	@$(MAKE) --no-print-directory -j 2 check docs compiled
	$(call suite,test,-n $(WORKERS))

TIME_LIMIT :=
test-long: $(VENV)/dev ## all other tests; TIME_LIMIT=20 begins none after 20 minutes
	$(call suite,test-long,-n $(WORKERS) -m "long and not soak" $(addprefix --time-limit=,$(TIME_LIMIT)))

PROFILE := compose
TESTS := tests/e2e
test-compose: $(VENV)/dev ## the end-to-end tests in containers: PROFILE=compose-local without an image hub
	$(call suite,test-compose,$(TESTS) -m "not soak" $(containers),$(containers))
containers = --lab-runtime compose --lab-profile $(PROFILE)

MINUTES := 30
soak: $(VENV)/dev ## on the lab that runs, 30 minutes each (MINUTES=5) of random faults and tables; the long tests
	$(BIN)/labctl test soak run --minutes $(MINUTES) --write build/soak.json --html build/soak.html \
		--history build/soak.jsonl
	$(BIN)/labctl test conformance --minutes $$(($(MINUTES) - $(MINUTES) / 3)) \
		--start $$(shuf -i 0-2000000000 -n 1) --json build/conformance.json
	$(BIN)/labctl test conformance --minutes $$((($(MINUTES) + 2) / 3)) --faults \
		--start $$(shuf -i 0-2000000000 -n 1) --json build/conformance-faults.json
	$(BIN)/pytest -m soak

SEEDS := 60
conformance: $(VENV)/run ## tables at random on the lab that runs (SEEDS=300), into docs/conformance.md
	$(BIN)/labctl test conformance --seeds $(SEEDS) --json docs/benchmarks/conformance.json || [ $$? = 4 ]
	$(BIN)/python -m labctl.conformance.document > docs/conformance.md

compose: $(VENV)/dev ## the files in compose/, after a change of a service's record
	$(BIN)/python -m labctl.runtimes.compose.compose_file

bench-check: $(VENV)/run ## the ratios of `labctl test bench floor` beside the committed ones: which are worse
	$(BIN)/labctl test bench floor --write build/floor.json --compare docs/benchmarks/floor.json

# Else each of the workers would compile every test and all that tests import.
compiled: $(VENV)/dev
	@$(BIN)/pytest --collect-only --quiet >/dev/null || true # the run says what is wrong

check: $(VENV)/dev ## format, lint, types, English
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m docsite.prose

docs: $(VENV)/dev ## the documentation as a site, in build/site; a broken link or anchor fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

wheel: $(VENV)/dev ## labctl as one file, in dist/: what it needs is in it
	rm -f dist/*.whl
	$(BIN)/python -m build --wheel --no-isolation

AUDIT := osv
dist: $(VENV)/dev ## what a release has, in dist/, audited for known vulnerabilities; AUDIT=skip asks nobody
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/twine check --strict dist/*
	$(BIN)/python -m release.sbom dist
	$(BIN)/python -m release.audit dist $(addprefix --,$(filter skip,$(AUDIT)))

SEED := 1
fuzz: $(VENV)/dev ## 100,000 statements each of Athena's SQL and T-SQL, 10,000 malformed packets, files, AWS requests
	$(BIN)/python -m tests.unit.sqlapi.fuzz --count 100000 --seed $(SEED) \
		--out docs/benchmarks/fuzz/athena.json
	$(BIN)/python -m tests.unit.sqlserver.fuzz tsql --count 100000 --seed $(SEED) \
		--out docs/benchmarks/fuzz/tsql.json
	$(BIN)/python -m tests.unit.sqlserver.fuzz tds --count 10000 --seed $(SEED) \
		--out docs/benchmarks/fuzz/tds.json
	LABCTL_FUZZ_EXAMPLES=10000 LABCTL_FUZZ_SEED=$(SEED) \
		LABCTL_FUZZ_WRITE=docs/benchmarks/fuzz/inputs.json \
		$(BIN)/pytest -n 0 $(addprefix tests/unit/test_,inputs_fuzz.py snapshot_fuzz.py foreign.py)
	$(BIN)/python -m tests.integration.sqlapi.fuzz --count 10000 --seed $(SEED) \
		--out docs/benchmarks/fuzz/aws-requests.json

trino-oracle: $(VENV)/dev ## ask Trino for the answer to every SQL case (800 MB the first time, minutes)
	$(BIN)/python -m tests.unit.sqlapi.oracle

up: $(VENV)/run ## start the lab
	$(BIN)/labctl up

down: $(VENV)/run ## stop the lab; its data stays
	$(BIN)/labctl down

clean: ## remove the virtual environment and what tools left; labs and the cache stay
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || \
		{ echo "Python 3.11 is needed; name it with: make PYTHON=/path/to/python3.11"; exit 5; }
	$(PYTHON) -m venv $(VENV)
	touch $@

# uv installs in seconds what takes pip minutes. It does not read pip's configuration, so that where
# it reaches no packages pip is asked: the versions and hashes are the same.
ifdef PIP_INDEX_URL
export UV_DEFAULT_INDEX := $(PIP_INDEX_URL)
endif
# In a terminal uv shows what it downloads; elsewhere a line for each package would only be in the way.
quiet := $(shell test -t 2 || echo --quiet)
install = $(BIN)/uv pip install --python $(BIN)/python $(1) || $(BIN)/pip install $(1)

$(VENV)/uv: requirements-uv.lock | $(VENV)/python
	$(BIN)/pip install --quiet --require-hashes --requirement $<
	touch $@

$(VENV)/run: requirements-extras.lock pyproject.toml | $(VENV)/uv
	@echo "installing the packages of requirements-extras.lock"
	@$(call install,$(quiet) --require-hashes --requirement requirements-extras.lock)
	@$(call install,$(quiet) --no-deps --editable .)
	touch $@

$(VENV)/dev: requirements-dev.lock | $(VENV)/run
	@echo "installing the packages of requirements-dev.lock"
	@$(call install,$(quiet) --require-hashes --requirement requirements-dev.lock)
	touch $@
