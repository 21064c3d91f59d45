# One place for the commands that people and the build share. `make help` lists them.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help setup run test lint check bench shots lock translations clean

BIN := .venv/bin
CODE := app tests tools examples

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 14

setup: ## make .venv with the locked parts; nothing to do when the lock is unchanged
	@tools/setup.sh

run: setup ## serve the demo on http://acme.localhost:8000
	@$(BIN)/gatehouse demo

test: setup ## run every test against real parts; installs what is missing when root
	@tools/test-parts.sh
	@$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(PYTEST_ARGS)

lint: setup ## style, types, import contracts, templates, translations
	$(BIN)/ruff check $(wildcard $(CODE))
	$(BIN)/ruff format --check $(wildcard $(CODE))
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/djlint --lint --quiet templates
	$(BIN)/python -m tools.translations check

check: lint test ## what the build runs

bench: setup ## the budgets as ratios against a bare view
	@$(BIN)/python -m tools.bench

shots: setup ## a picture of every page and state
	@tools/test-parts.sh
	@$(BIN)/python -m tools.shots

translations: setup ## refresh translations/ from the sources
	@$(BIN)/python -m tools.translations update

lock: setup ## resolve the locks anew (UPGRADE=--upgrade moves versions)
	@tools/lock.sh $(UPGRADE)

clean: ## remove what setup and tests made
	rm -rf .venv node_modules build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
