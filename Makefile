# A fresh machine needs Python 3.11 or newer and make; everything else is set up here, in .venv.
PYTHON ?= python3
BIN := .venv/bin
DEMO := examples/digits
.DEFAULT_GOAL := help
.PHONY: help demo test check unit bare test-heavy bench contest experiments clean

help: ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.venv/created:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	touch $@

.venv/installed: pyproject.toml .venv/created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

.venv/test-installed: .venv/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group test --group check
	touch $@

.venv/bench-installed: .venv/test-installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench --group heavy --group contest
	touch $@

# A browser for the tests of the report; where it is not there, it comes from Debian.
.venv/browser-installed: .venv/created
	(command -v chromium && command -v chromedriver) || (apt-get update --quiet && apt-get install --quiet --yes chromium chromium-driver)
	touch $@

# A database server for the tests of the ledger; the package's own cluster is not used.
.venv/postgresql-installed: .venv/created
	ls /usr/lib/postgresql/*/bin/initdb || command -v initdb || (apt-get update --quiet && apt-get install --quiet --yes postgresql)
	touch $@

# A second environment with nothing but the package: it must import without any extra.
.venv-bare/installed: pyproject.toml
	$(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python -m pip install --quiet --disable-pip-version-check .
	touch $@

demo: .venv/installed ## set up, then tune 39 options of a digit classifier among 20 that do nothing
	rm -rf $(DEMO)/tune.db*
	$(BIN)/overtone run $(DEMO)/tune.toml
	$(BIN)/overtone report $(DEMO)/tune.toml --output $(DEMO)/report.html
	$(BIN)/overtone report $(DEMO)/tune.toml --text
	$(BIN)/python $(DEMO)/compare.py

test: check unit bare ## set up, then every check and test

check: .venv/test-installed ## lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: .venv/test-installed ## the tests
	$(BIN)/python -m pytest -n auto

bare: .venv-bare/installed ## import the package with no optional part installed
	.venv-bare/bin/python -W error -c "from overtone import *; import overtone.spectral.estimators, overtone.cli.app"
	.venv-bare/bin/overtone --version

test-heavy: .venv/bench-installed .venv/browser-installed .venv/postgresql-installed ## tests that need heavy or system parts; a missing part is a failure
	$(BIN)/python -m pytest -n auto --heavy -m heavy

bench: .venv/bench-installed ## the benchmarks against peers (several hours)
	$(BIN)/python -m benchmarks

contest: .venv/bench-installed ## the contest of optimizers (about an hour; run again to go on)
	$(BIN)/python -m benchmarks.search --docs

experiments: .venv/bench-installed ## the paper's experiments (about an hour; run again to go on), and docs/paper.md from them
	$(BIN)/python -m experiments
	$(BIN)/python -m experiments --docs

clean: ## remove the environments and caches
	rm -rf .venv .venv-bare .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
