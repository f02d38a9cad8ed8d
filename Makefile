# Everything a contributor runs. `fix` changes, `check` looks, `test` runs.
PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup run test contract check fix generate golden bench docs lock clean

help: ## List these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Create .venv from the lock file (does nothing when it is up to date)
	@command -v $(PYTHON) >/dev/null || { echo "error: there is no $(PYTHON)"; echo "fix: install Python 3.11 or newer"; exit 2; } >&2
	@$(PYTHON) scripts/setup.py

run: setup ## Serve on the mocks and SQLite, with its data in ./data
	@$(BIN)/gateway serve --data data

test: setup ## Run the tests; more arguments for pytest: make test ARGS="-k keys"
	@$(BIN)/pytest $(ARGS)

contract: setup ## Run the property-based contract tests with many more examples
	@$(BIN)/pytest tests/contract --hypothesis-profile=thorough $(ARGS)

check: setup ## Look at everything and change nothing
	@$(BIN)/python scripts/check.py

fix: setup ## Mend what can be mended by itself
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

clean: ## Remove what can be made again: environment, caches, built documentation
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .gateway-cache docs/_build
