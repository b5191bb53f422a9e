# `make` lists what there is.  Everything happens in .venv; nothing is installed elsewhere.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

.PHONY: help demo dev format lint test wire bench eval soak dist check clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/base ## Install, start the demo and tour it (ONCE=1: end after the tour)
	$(BIN)/tidegate demo $(if $(ONCE),--once)

dev: $(VENV)/dev ## Install for development

format: $(VENV)/dev ## Format the code and repair what ruff can repair
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lint: $(VENV)/dev ## Check style, types, layers, file lengths and that each file has its test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tests/lint/limits.py
	$(BIN)/python tests/lint/twins.py

test: $(VENV)/dev ## Run all tests, the real engine's too (ARGS=... goes to pytest)
	$(BIN)/pytest $(ARGS)

wire: $(VENV)/dev ## Run the tests over real sockets against fake engines
	$(BIN)/pytest tests/wire $(ARGS)

bench: $(VENV)/dev native ## Measure the cost next to nginx and a bare aiohttp proxy (ARGS=--quick)
	$(BIN)/python -m tests.bench $(ARGS)

eval: $(VENV)/dev ## Say how good the detectors are (DATA=../shared/data, ARGS='--only injection')
	$(BIN)/python -m tests.bench.eval $(or $(DATA),../shared/data) $(ARGS)

soak: $(VENV)/dev native ## 200 streams of 500 tokens for a minute (ARGS='--seconds 600')
	$(BIN)/python -m tests.bench.soak $(ARGS)

dist: $(VENV)/dev ## Build the wheel, install it into a clean environment and run it there
	rm -rf dist build
	$(BIN)/python -m build
	scratch=$$(mktemp -d); trap 'rm -rf "$$scratch"' EXIT; \
	$(PYTHON) -m venv "$$scratch/venv"; \
	"$$scratch/venv/bin/pip" install --quiet --disable-pip-version-check dist/*.whl; \
	cd "$$scratch"; \
	venv/bin/tidegate --version; \
	venv/bin/tidegate demo --once --audit-dir "$$scratch/audit"

check: lint test dist ## All that CI runs

clean: ## Remove what the other targets have made
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
	$(MAKE) -C tests/bench/native clean

.PHONY: native
native:
	@command -v $(or $(CC),cc) >/dev/null || { \
	  echo "The bench needs a C compiler: apt-get install gcc" >&2; exit 1; }
	$(MAKE) --quiet -C tests/bench/native

# The environment, then what is installed into it.  Installed anew when pyproject.toml changes.

$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Tidegate needs Python 3.11 or newer; give it as: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  v=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	  echo "This Python cannot make an environment. Install what is missing:" >&2; \
	  echo "    apt-get install python$$v-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/base: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# --group came with pip 25.1.
$(VENV)/dev: $(VENV)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet -e . --group dev
	touch $@ $(VENV)/base
