"""Descriptions of fields in the published document, by schema or for every schema that has a field of the name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent
_DERIVED = re.compile(r"^(New|Changed|Each|All|Other|Own)(?=[A-Z])")
"""What names of models begin with that are derived from a resource's."""


@cache
def texts() -> tuple[Mapping[str, str], Mapping[str, Mapping[str, str]]]:
    """Return the descriptions by name of the field, and by schema and name."""
    everywhere: dict[str, str] = {}
    by_schema: dict[str, dict[str, str]] = {}
    for file in sorted(_FOLDER.glob("field_texts*.toml")):
        for name, text in tomllib.loads(file.read_text(encoding="utf-8")).items():
            if isinstance(text, str):
                everywhere[name] = text
            else:
                by_schema.setdefault(name, {}).update(text)
    return everywhere, by_schema


def description_of(schema: str, name: str) -> str:
    """Return the description of a field; "" if there is none."""
    everywhere, by_schema = texts()
    for one in (schema, _DERIVED.sub("", schema)):
        if name in by_schema.get(one, {}):
            return by_schema[one][name]
    return everywhere.get(name, "")
