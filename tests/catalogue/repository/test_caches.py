"""Tests that every cache has a bound, or keys that no caller and no tenant chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tools import syntax

ROOT = Path(__file__).resolve().parents[3]
FEW_KEYS = {
    "app/contract/published/texts.py": "sections of the texts",
    "app/contract/tenants/file.py": "resources of the code",
    "app/hub/locale.py": "languages",
    "app/hub/rendering/formatting.py": "languages",
    "app/identity/directory/accounts/login_attempts/login_records.py": "forms of a statement",
    "app/identity/directory/accounts/account_search_rows.py": "databases",
    "app/identity/directory/accounts/account_store.py": "columns, and as many identifiers as an account may have",
    "app/identity/directory/accounts/login_attempts/unknown_identifiers.py": "databases, and secrets of the settings",
    "app/identity/directory/tenants/keys/signing_algorithms.py": "algorithms",
    "app/identity/platform/continuation_tokens.py": "databases",
    "app/identity/platform/outbox/claims.py": "lanes",
    "app/identity/platform/store/compiled_statements.py": "tables and columns",
    "app/kit/operations/errors.py": "classes of errors and status codes",
    "app/kit/observability/health.py": "databases of the settings",
    "app/kit/text/languages.py": "languages",
    "app/kit/observability/metrics.py": "surfaces, methods and status codes",
    "app/kit/resources/resource_models.py": "resources of the code",
}
"""What the keys are of the caches without a bound."""


def test_cache_without_bound_has_few_keys() -> None:
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "app").rglob("*.py") for _ in unbounded(path)}
    assert sorted(found - FEW_KEYS.keys()) == [], "give it a maxsize, or state what its few keys are"
    assert sorted(FEW_KEYS.keys() - found) == [], "no longer needed"


def unbounded(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the functions with arguments whose results are all kept."""
    for node in syntax.nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and any(map(keeps_all, node.decorator_list)):
            values = node.args
            if values.args or values.kwonlyargs or values.vararg or values.kwarg:
                yield node


def keeps_all(decorator: ast.expr) -> bool:
    text = ast.unparse(decorator).removeprefix("functools.")
    return text == "cache" or (text.startswith("lru_cache(") and "None" in text)
