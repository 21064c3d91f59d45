#!/usr/bin/env bash
# Write both locks: production, and production plus development. Without --upgrade, versions already locked stay.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() {
    .venv/bin/uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-annotate \
        --no-header --no-emit-index-url --no-emit-find-links --quiet "$@"
}

compile --output-file requirements.lock "$@"
compile --group dev --group bench --constraint requirements.lock --output-file requirements-dev.lock "$@"
