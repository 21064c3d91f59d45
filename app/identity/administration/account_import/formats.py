"""The formats of import files: what reads a record of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
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


_MARKS = {
    Format.KEYCLOAK: frozenset({"createdTimestamp", "emailVerified", "credentials", "requiredActions", "federatedIdentities"}),
    Format.AUTH0: frozenset({"user_id", "passwordHash", "identifiers", "user_metadata", "app_metadata", "_id"}),
}  # fmt: skip
"""Keys that only one format's records have, never our own."""
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, OverflowError)
"""What a record raises whose values have other types than its format says."""


def read(files: Sequence[Path], form: Format, mapped: Mapped) -> Iterator[Read]:
    """Yield every record of the files as an account, or with the sentence that refuses it.

    Raises Refused for a broken file, and for one that is the export of another system.
    """
    translate = _translator(files, form, mapped)
    for unnamed, record in sources.records(files):
        place = replace(unnamed, name=_name_of(record))
        try:
            if isinstance(record, Refused):
                raise record
            read = checked(place, translate(record))
        except Refused as refusal:
            read = Read(place, None, str(refusal))
        except _MALFORMED:
            read = Read(place, None, f"expected an account in the format {form}")
        if read.account is None and form is Format.GATEHOUSE and (other := _other_format(record)):
            raise Refused(f"{place.file} looks like an export of {other.name.title()}; add --format {other}")
        yield read


def _name_of(record: Any) -> str:
    if not isinstance(record, dict):
        return ""
    names = (record.get(key) for key in ("username", "email", "phone", "user_id", "id"))
    return next((name[:100] for name in names if isinstance(name, str) and name), "")


def _other_format(record: Any) -> Format | None:
    """Return the format whose keys the record has, if it is not our own."""
    keys = record.keys() if isinstance(record, dict) else ()
    return next((form for form, marks in _MARKS.items() if not marks.isdisjoint(keys)), None)


def _translator(files: Sequence[Path], form: Format, mapped: Mapped) -> Callable[[Any], Draft]:
    if form is Format.AUTH0:
        return partial(auth0.draft, mapped=mapped)
    if form is Format.GATEHOUSE:
        return partial(own_format.draft, mapped=mapped)
    realms = [path for path in files if sources.is_object(path)]
    members = keycloak.members_of(one for path in realms for one in sources.elements(path, "organizations"))
    return partial(keycloak.draft, mapped=mapped, members=members)
