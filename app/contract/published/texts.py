"""Reads the texts of the published documents from the areas: `texts.toml` (OpenAPI), `file_texts.toml` (the configuration file)."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

_CONTRACT: Final = Path(__file__).parent.parent


@cache
def section(name: str) -> dict[str, Any]:
    """Return one section of all files; tables of one name are merged. Do not change what you get."""
    found: dict[str, Any] = {}
    for file in _files():
        for table, content in file.get(name, {}).items():
            found[table] = {**found.get(table, {}), **content} if isinstance(content, dict) else content
    return found


@cache
def _files() -> tuple[dict[str, Any], ...]:
    paths = sorted(_CONTRACT.rglob("*texts.toml"))
    return tuple(tomllib.loads(path.read_text(encoding="utf-8")) for path in paths)
