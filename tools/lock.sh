#!/usr/bin/env bash
# Write the locks: production, production plus development, and what the extra `ldap` adds. Without --upgrade, versions already locked stay.
set -euo pipefail
cd "$(dirname "$0")/.."

compile() {
    .venv/bin/uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate \
        --no-header --no-emit-index-url --no-emit-find-links --quiet "$@"
}

compile pyproject.toml --output-file requirements.lock "$@"
compile pyproject.toml --group dev --group bench --constraint requirements.lock --output-file requirements-dev.lock "$@"
# python-ldap is compiled against OpenLDAP's headers, which not every machine of a developer has: tools/test-parts.sh installs it.
compile --constraint requirements-dev.lock --output-file requirements-ldap.lock "$@" - <<<'python-ldap>=3.4'
