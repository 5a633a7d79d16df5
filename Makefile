.DEFAULT_GOAL := help
.PHONY: help install run servers lint types test suite test-all test-long chaos simulate bench sizes pictures \
	screenshots browser clean

# The environment of the default interpreter, or of the one that PYTHON=python3.13 chooses.
VENV := .venv
ifneq ($(PYTHON),)
VERSION := $(shell sh tools/python.sh version "$(PYTHON)")
ifeq ($(VERSION),)
$(error PYTHON=$(PYTHON) is no Python 3.11 or newer with its venv module)
endif
VENV := .cache/venvs/$(VERSION)
endif
BIN := $(VENV)/bin
STAMP := $(VENV)/installed
# Twice the cores: most tests wait for a server. An idle process steals tests: tests that take long
# stand together, and one process would run them all at the end.
JOBS := $(shell expr 2 \* $$(nproc 2>/dev/null || echo 2))
# The time limit, in seconds, of a test that takes minutes.
PATIENT := -o faulthandler_timeout=3600
export PYTHON VENV

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt tools/setup.sh
	@sh tools/setup.sh
	@touch $@

install: $(STAMP) ## create .venv and install everything for development; PYTHON=python3.13

run: $(STAMP) ## run the example jobs on one SQLite file: worker and watchdog, no server needed
	@$(BIN)/python -m sempre dev examples/quickstart.py

servers: $(STAMP) ## make the database and queue servers of the tests available
	@$(BIN)/python tools/servers.py

lint: $(STAMP) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy, strict
	$(BIN)/mypy $(wildcard src tests tools bench examples)

test: servers lint types ## everything that must pass: servers, lint, types, tests
	$(BIN)/pytest -n $(JOBS) --dist worksteal

suite: servers ## the tests alone, without lint and types
	$(BIN)/pytest -n $(JOBS) --dist worksteal

test-all: servers lint types ## the tests on each supported Python that the machine has
	@failed=; for python in $$(sh tools/python.sh all); do \
		echo "== $$("$$python" --version)"; \
		$(MAKE) --no-print-directory suite PYTHON="$$python" || failed="$$failed $$python"; \
	done; test -z "$$failed" || { echo "failed on:$$failed" >&2; exit 1; }

test-long: servers ## the tests that take minutes, with what they counted
	SEMPRE_HYPOTHESIS_PROFILE=long $(BIN)/pytest -n auto -m long -rP $(PATIENT)

chaos: servers ## fleets of real workers on every store and broker, harmed in every way; tables
	$(BIN)/pytest -n 4 -m "" $(PATIENT) tests/integration/fleet tests/integration/pairs/test_drill.py

simulate: $(STAMP) ## worlds of faults, then every kept bug; SEEDS=1000 or SECONDS=600, FIRST=1000
	$(BIN)/python -m sempre.testing.simulation --seconds $(or $(SECONDS),60) \
		--first $(or $(FIRST),0) $(if $(SEEDS),--seeds $(SEEDS))
	$(BIN)/python -m tests.simulation.gate

bench: servers ## time it beside its peers, ratios; FULL=1, ONLY=redis,sqlite, SCALE=0.1, BENCH=stores
	$(BIN)/python -m bench$(if $(BENCH),.$(BENCH)) $(if $(FULL),--full) \
		$(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE))

sizes: $(STAMP) ## how long files and functions are
	@$(BIN)/python tools/sizes.py

pictures: $(STAMP) ## draw what commands print on terminals of 80 and 140 columns, as docs/images
	@$(BIN)/python -m tools.pictures

screenshots: servers ## draw the pages of the dashboard in a browser, as docs/images/dashboard; ALL=1
	@$(BIN)/python -m tools.screenshots $(if $(ALL),--all --into .cache/screenshots)

browser: servers ## the dashboard in a browser: each page, theme and width, on SQLite and PostgreSQL
	$(BIN)/pytest -n 2 -m "" $(PATIENT) tests/integration/web/browser

clean: ## remove everything that make made
	rm -rf .venv .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests tools bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
