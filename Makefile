# The commands that developers and the build share. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help install setup run test test-http test-citus lint check bench shots quickstarts lock translations clean

BIN := .venv/bin
CODE := app tests tools examples

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

install: ## create .venv with the locked packages that running needs
	@tools/setup.sh run

setup: ## create .venv with the locked packages for development; does nothing if the lock is unchanged
	@tools/setup.sh

run: install ## serve the demo: http://localhost:8000
	@$(BIN)/gatehouse demo

test: setup ## run every test with real services; as root, install missing ones
	@tools/test-parts.sh
	@$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

test-http: setup ## run all page tests over HTTP between hub and identity service, not a third of them
	@tools/test-parts.sh
	@$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal --over-http $(PYTEST_ARGS) tests/pages

test-citus: setup ## run API and page tests on a Citus cluster: URL=postgresql://superuser@coordinator/postgres
	@test -n "$(URL)" || { echo "URL=postgresql://... names the coordinator, with a database that knows the nodes"; exit 2; }
	@$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal --databases postgres --citus "$(URL)" $(PYTEST_ARGS) tests/citus tests/api tests/pages

lint: setup ## check style, types, import contracts, templates, translations, words
	$(BIN)/ruff check $(wildcard $(CODE))
	$(BIN)/ruff format --check $(wildcard $(CODE))
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/python -m tools.translations check
	$(BIN)/python -m tools.words

check: lint test ## run everything that the build runs

bench: setup ## measure the budgets, as ratios to a bare Flask view
	@$(BIN)/python -m tools.bench

shots: setup ## take a screenshot of every page and state
	@tools/test-parts.sh
	@$(BIN)/python -m tools.shots

quickstarts: setup ## run each page of docs/quickstarts, with packages from the registries
	@tools/test-parts.sh
	@$(BIN)/python -m tools.quickstarts

translations: setup ## refresh translations/ from the sources
	@$(BIN)/python -m tools.translations update

lock: setup ## resolve the locks again (UPGRADE=--upgrade raises versions)
	@tools/lock.sh $(UPGRADE)

clean: ## remove files made by setup and tests
	rm -rf .venv node_modules build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
