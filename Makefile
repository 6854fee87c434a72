# `make start` runs a broker, `make test` checks everything. Both need only Python 3.11 or newer on the PATH
# (or PYTHON=/path/to/python) and make their own virtual environment on the first call.

VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
PYTEST_ARGS ?=
# Tests that wait for clients and clusters more than they compute: two files at a time.
JOBS ?= 2

.DEFAULT_GOAL := help
.PHONY: help start test lint format bench chaos mixed clean

help:
	@echo "make start   start a broker on localhost:9092, data in ./data   (options: make start ARGS='--port 9093')"
	@echo "make test    lint, types, architecture, generated code, all tests (make test PYTEST_ARGS='-k kcat' JOBS=0)"
	@echo "make lint    all of that without the tests"
	@echo "make bench   kbroker and Apache Kafka side by side               (make bench ARGS=--quick)"
	@echo "make chaos   twenty clusters, 300 s of faults each               (make chaos ARGS='--seed 7 --runs 1')"
	@echo "make mixed   every mixture of kbroker and Apache Kafka in one cluster, half an hour"
	@echo "make clean   remove the virtual environment and all caches, never ./data"

# The first interpreter that is new enough: PYTHON if given, python3, then the versioned names.
$(BIN)/python:
	@for python in $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python); do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "making $(VENV) with $$("$$python" --version)"; exec "$$python" -m venv $(VENV); \
	  fi; \
	done; echo "kbroker needs Python 3.11 or newer; name one with PYTHON=/path/to/python" >&2; exit 1

# Stamps: an installation is repeated only when the packaging changed.
$(VENV)/.kbroker-run: pyproject.toml | $(BIN)/python
	@echo "installing kbroker into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m compileall -q kbroker # an editable installation does not: the first start would
	@touch $@

$(VENV)/.kbroker-dev: pyproject.toml | $(BIN)/python
	@echo "installing kbroker and the development tools into $(VENV)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.kbroker-run

start: $(VENV)/.kbroker-run
	@exec $(BIN)/kbroker start --data ./data $(ARGS)

lint: $(VENV)/.kbroker-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/generate_codecs.py --check

format: $(VENV)/.kbroker-dev
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format --quiet .

test: lint
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

bench: $(VENV)/.kbroker-dev
	$(BIN)/python -m tools.bench $(ARGS)

chaos: $(VENV)/.kbroker-dev
	$(BIN)/python -m tests.chaos.cluster --runs 20 --seconds 300 $(ARGS)

mixed: $(VENV)/.kbroker-dev
	KBROKER_MIXED=all $(BIN)/python -m pytest tests/compat/mixed $(PYTEST_ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
