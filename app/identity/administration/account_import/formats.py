"""The formats of import files: what reads a record of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from app.identity.administration.account_import import auth0, keycloak, own_format, sources
from app.identity.administration.account_import.records import Draft, Mapped, Read, Refused, checked


class Format(StrEnum):
    """Whose export a file is."""

    GATEHOUSE = "gatehouse"
    AUTH0 = "auth0"
    KEYCLOAK = "keycloak"


_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, OverflowError)
"""What a record raises whose values have other types than its format says."""


def read(files: Sequence[Path], form: Format, mapped: Mapped) -> Iterator[Read]:
    """Yield every record of the files as an account, or with the sentence that refuses it. Raises Refused for a broken file."""
    translate = _translator(files, form, mapped)
    for place, record in sources.records(files):
        try:
            if isinstance(record, Refused):
                raise record
            yield checked(place, translate(record))
        except Refused as refusal:
            yield Read(place, None, str(refusal))
        except _MALFORMED:
            yield Read(place, None, f"expected an account in the format {form}")


def _translator(files: Sequence[Path], form: Format, mapped: Mapped) -> Callable[[Any], Draft]:
    if form is Format.AUTH0:
        return partial(auth0.draft, mapped=mapped)
    if form is Format.GATEHOUSE:
        return partial(own_format.draft, mapped=mapped)
    realms = [path for path in files if sources.is_object(path)]
    members = keycloak.members_of(one for path in realms for one in sources.elements(path, "organizations"))
    return partial(keycloak.draft, mapped=mapped, members=members)
