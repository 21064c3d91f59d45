"""Reads the published descriptions of schemas and fields; a field's text applies to one schema, or to every schema with that field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from app.contract.published.texts import section
from app.contract.resources import RESOURCES, import_contract

_DERIVED = re.compile(r"^(New|Changed|Each|All|Other|Own)(?=[A-Z])")
"""Prefixes of model names that are derived from a resource's model."""


EVERY = "*"
"""The table of names that mean one thing in every schema."""
_LAST = "Profile"


def texts() -> Mapping[str, Mapping[str, str]]:
    """Return the descriptions by schema and name."""
    return section("fields")


def description_of(schema: str, name: str) -> str:
    """Return the description of a field; "" if there is none. A name of the profile has its text in requests, too.

    Args:
        schema: the name of the schema; `Schema.Field` for a field of an object within another field. Names of classes that two
            modules have begin with the module (`app__contract__registration__ListRecords`).
    """
    model, _, within = schema.partition(".")
    model = model.rpartition("__")[2]
    tables = (f"{EVERY}.{within}", model, _DERIVED.sub("", model), EVERY, _LAST)
    return next((texts()[table][name] for table in tables if name in texts().get(table, {})), "")


def schema_texts() -> Mapping[str, str]:
    """Return the descriptions of schemas whose class has none."""
    return section("schemas")


def description_of_schema(schema: str) -> str:
    """Return the description of a schema; "" if there is none."""
    return (
        schema_texts().get(schema) or schema_texts().get(_DERIVED.sub("", schema)) or _texts_of_lists().get(schema, "")
    )


@cache
def _texts_of_lists() -> Mapping[str, str]:
    """Return the descriptions of resources' lists."""
    import_contract()
    collections = [resource for resource in RESOURCES if not resource.is_singleton]
    return {f"{resource.model.__name__}s": f"The tenant’s {resource.plural}." for resource in collections}
