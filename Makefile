# Everything a contributor runs. `fix` changes, `check` looks, `test` runs.
PYTHON ?= python3
BIN := .venv/bin
# Slow files first, and each file of tests as a whole.
PARALLEL := pytest --dist loadfile --no-loadscope-reorder
# One more process than there are cores, since tests wait for what they start; at most four.
ONE_MORE = -n $(shell cores=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); [ "$$cores" -lt 3 ] && echo $$((cores + 1)) || echo 4)
# The tests whose branches are counted: those of units, and those that take the most branches of the
# transports. The tracer makes them about three times as slow. The others take the same branches or
# start programs, and are those that `make test UNMEASURED=1` runs.
TRANSPORTS := bridge cancelling entities long_calls mcp mcp_paths offered rest stdio tasks webhooks
MEASURED := tests/unit $(TRANSPORTS:%=tests/interaction/test_%.py)
# Those that `make check` runs.
CHECKED := tests/architecture

.DEFAULT_GOAL := help
.PHONY: help setup run test coverage chaos contract check fix generate golden bench docs lock audit sbom clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Create .venv from the lock file (does nothing when it is up to date)
	@command -v $(PYTHON) >/dev/null || { echo "error: there is no $(PYTHON)"; echo "fix: install Python 3.11 or newer"; exit 2; } >&2
	@$(PYTHON) scripts/setup.py

run: setup ## Serve on the mocks and SQLite, with its data in ./data
	@$(BIN)/gateway serve --data data

test: setup ## Run the tests; more arguments for pytest: make test ARGS="-k keys"
	@$(BIN)/$(PARALLEL) $(ONE_MORE) $(if $(UNMEASURED),$(patsubst %,--ignore=%,$(MEASURED) $(CHECKED))) $(ARGS)

coverage: setup ## Run the tests that work inside one process, and measure which branches they take
	@$(BIN)/$(PARALLEL) $(ONE_MORE) $(MEASURED) --cov --cov-report=term:skip-covered --cov-report=xml $(ARGS)

chaos: setup ## Run the trials with kills and crashes in the sizes at which they were tried
	@GATEWAY_TESTS_FULL=1 $(BIN)/pytest tests/functional/test_chaos.py tests/functional/test_chaos_kills.py $(ARGS)

contract: setup ## Run the property-based contract tests with many more examples
	@$(BIN)/pytest tests/contract --hypothesis-profile=thorough $(ARGS)

check: setup ## Look at everything and change nothing
	@$(BIN)/python scripts/check.py

fix: setup ## Fix what can be fixed automatically
	@$(BIN)/ruff check --fix --quiet
	@$(BIN)/ruff format --quiet

generate: setup ## Write generated/ and the reference pages from schemas/
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
