# Everything a contributor runs. `fix` changes, `check` looks, `test` runs.
PYTHON ?= python3
BIN := .venv/bin
# Each file of tests as a whole, slow files first. A variable that images of containers set would make
# each process compile the tests and the gateway anew.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest --dist loadfile --no-loadscope-reorder
# One process more than there are cores, since some tests wait: for a file to be synchronised, for a retry.
WORKERS := $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$((cores < 8 ? cores + 1 : 8)))
# Tests that wait for programs leave time for others; no more than four, since each starts several.
WAITING := 4
# What has the same promises without a server is run without one.
ALONE := -m "not postgres and not redis"

.DEFAULT_GOAL := help
.PHONY: help setup run test coverage chaos contract check fix generate golden bench docs lock audit sbom clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Create .venv from the lock file (does nothing when it is up to date)
	@command -v $(PYTHON) >/dev/null || { echo "error: there is no $(PYTHON)"; echo "fix: install Python 3.11 or newer"; exit 2; } >&2
	@$(PYTHON) scripts/setup.py

run: setup ## Serve on the mocks and SQLite, with its data in ./data
	@$(BIN)/gateway serve --data data

test: setup ## Run the tests that need nothing else; one of them: make test ARGS="-k keys"
	@$(PYTEST) -n $(WORKERS) $(ALONE) --durations=10 $(ARGS)

test-all: setup ## Run all others: programs, databases, clients, a browser; it skips what is not there
	@$(PYTEST) -n $(WAITING) $(if $(findstring tests/,$(ARGS)),,tests) --rest --durations=10 $(ARGS)

coverage: setup ## Run `make test`, and measure which branches it takes
	@$(PYTEST) -n $(WORKERS) $(ALONE) --cov --cov-report=term:skip-covered --cov-report=xml $(ARGS)

chaos: setup ## Run the trials with kills and crashes in the sizes at which they were tried
	@GATEWAY_TESTS_FULL=1 $(BIN)/pytest tests/functional/test_chaos.py tests/functional/test_chaos_kills.py tests/functional/test_chaos_writing.py $(ARGS)

contract: setup ## Run the property-based contract tests with many more examples
	@$(BIN)/pytest tests/contract --hypothesis-profile=thorough $(ARGS)

check: setup ## Look at everything and change nothing
	@$(BIN)/python scripts/check.py

fix: setup ## Fix what can be fixed automatically
	@$(BIN)/ruff check --fix --quiet
	@$(BIN)/ruff format --quiet

generate: setup ## Write generated/ from schemas/
	@$(BIN)/gateway generate

golden: setup ## Accept new golden output; read the diff before committing it
	@$(BIN)/pytest tests/golden --update-golden -q
	@git --no-pager diff --stat -- tests/golden

bench: setup ## Measure the generator and a call; needs a quiet machine
	@$(BIN)/python scripts/bench/generate.py
	@$(BIN)/python scripts/bench/calls.py

docs: setup ## Build the documentation into docs/_build
	@$(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

lock: setup ## Resolve the dependencies of pyproject.toml into scripts/requirements.lock
	@$(BIN)/python scripts/lock.py

audit: setup ## Look up known advisories of the locked packages; ARGS=--strict wants an answer
	@$(BIN)/python scripts/advisories.py $(ARGS)

sbom: setup ## Write the bill of materials of .venv into dist/sbom.cdx.json
	@$(BIN)/python scripts/sbom.py

clean: ## Remove what can be made again: environment, caches, built documentation
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .gateway-cache docs/_build
