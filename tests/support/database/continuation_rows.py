"""Rows of a table that has each type of column, for tests of statements."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam

from app.identity.platform.continuation_tokens import token_table
from app.identity.platform.store.compiled_statements import insert_row

AT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)


def row(name: str = "one", **values: Any) -> dict[str, Any]:
    """Return a row of the table of continuation tokens, named by its hash."""
    fixed = {
        "tenant_id": "acme",
        "purpose": "push",
        "token_hash": name,
        "uid": "ada",
        "facts": {"é": [1, None]},
        "state": "open",
    }
    return {**fixed, "created_at": AT, "expires_at": AT, **values}


T = token_table.c


ADD = insert_row(token_table)


KEY = (T.tenant_id == bindparam("tenant"), T.token_hash == bindparam("hash"))
