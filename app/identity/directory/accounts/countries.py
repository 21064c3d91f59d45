"""Country names and their ISO 3166 codes, as Unicode's CLDR has them."""

from __future__ import annotations

from functools import cache
from typing import Any

from babel import Locale


def as_country(value: Any) -> Any:
    """Return the country with its code told from its name, or its name from a bare code; a text is a name."""
    if isinstance(value, str):
        value = {"Name": value}
    if not isinstance(value, dict):
        return value
    given = {name.lower(): held for name, held in value.items() if isinstance(name, str)}
    name, code = given.get("name"), given.get("code")
    if isinstance(name, str) and name:
        return {"Name": name, "Code": _codes().get(name.casefold().strip())}
    if isinstance(code, str) and code:
        return {"Name": _names().get(code.upper()), "Code": code.upper()[:3]}
    return {"Name": name, "Code": code}


@cache
def _names() -> dict[str, str]:
    return {code: name for code, name in Locale("en").territories.items() if len(code) == 2 and code.isalpha()}


@cache
def _codes() -> dict[str, str]:
    return {name.casefold(): code for code, name in _names().items()}
