# Two commands do everything: `make demo` runs the lab, `make test` proves it.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test test-compose check up down clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 14

demo: $(VENV)/run ## start the lab, seed it, change a row, see it in the lake
	$(BIN)/labctl demo

test: check ## every check and test, on a lab of its own
	$(BIN)/pytest

PROFILE := compose
TESTS := tests/e2e
test-compose: $(VENV)/dev ## the end-to-end tests in containers: PROFILE=compose-local without an image hub
	$(BIN)/pytest $(TESTS) --lab-runtime compose --lab-profile $(PROFILE)

check: $(VENV)/dev ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

up: $(VENV)/run ## start the lab
	$(BIN)/labctl up

down: $(VENV)/run ## stop the lab; its data stays
	$(BIN)/labctl down

clean: ## remove the virtual environment and what tools left; labs and the cache stay
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis *.egg-info

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || \
		{ echo "Python 3.11 is needed; name it with: make PYTHON=/path/to/python3.11"; exit 5; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/run: requirements.lock pyproject.toml | $(VENV)/python
	$(BIN)/pip install --quiet --require-hashes --requirement requirements.lock
	$(BIN)/pip install --quiet --no-deps --editable .
	touch $@

$(VENV)/dev: requirements-dev.lock | $(VENV)/run
	$(BIN)/pip install --quiet --require-hashes --requirement requirements-dev.lock
	touch $@
