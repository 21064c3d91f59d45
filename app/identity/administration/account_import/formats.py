"""The formats of import files, and the reader of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from app.identity.administration.account_import import auth0, gatehouse_format, keycloak, sources
from app.identity.administration.account_import.import_record import (
    ImportDraft,
    MappedRecord,
    RecordReader,
    RecordRefused,
    checked,
)


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
_MASTER = "master"
"""Keycloak's own realm, which has its administrators."""


def read(files: Sequence[Path], form: Format, mapped: MappedRecord, realm: str | None = None) -> Iterator[RecordReader]:
    """Yield every record of the files as an account, or with the sentence that refuses it.

    Args:
        realm: of Keycloak, whose users are read.

    Raises RecordRefused for a broken file, for the export of another system, and for files of several realms where none
    is chosen.
    """
    translate, left_out = _translator(files, form, mapped, realm)
    for unnamed, record in sources.records(files, left_out):
        place = replace(unnamed, name=_name_of(record))
        try:
            if isinstance(record, RecordRefused):
                raise record
            read = checked(place, translate(record))
        except RecordRefused as refusal:
            read = RecordReader(place, None, str(refusal))
        if read.account is None and form is Format.GATEHOUSE and (other := _other_format(record)):
            raise RecordRefused(f"{place.file} looks like an export of {other.name.title()}; add --format {other}")
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


def _translator(
    files: Sequence[Path], form: Format, mapped: MappedRecord, realm: str | None
) -> tuple[Callable[[Any], ImportDraft], set[tuple[Path, int]]]:
    """Return the reader of a record, and the omitted realms."""
    if form is Format.AUTH0:
        return partial(auth0.draft, mapped=mapped), set()
    if form is Format.GATEHOUSE:
        return partial(gatehouse_format.draft, mapped=mapped), set()
    realms = {(path, number): item for path in files for number, item in sources.realms(path).items()}
    chosen = _chosen({item.name for item in realms.values() if item.name}, realm)
    members = keycloak.members_of(
        organization for item in realms.values() if item.name in chosen for organization in item.organizations
    )
    left_out = {place for place, item in realms.items() if item.name not in chosen}
    return partial(keycloak.draft, mapped=mapped, members=members), left_out


def _chosen(names: set[str], realm: str | None) -> set[str]:
    """Return the name of the realm to read, and that of files which name none. Raises RecordRefused."""
    known = ", ".join(sorted(names)) or "none with a name"
    if realm is not None:
        if realm not in names:
            raise RecordRefused(f"Expected a realm of the files; found {realm!r}. They have {known}")
        return {realm}
    several = names - {_MASTER} if len(names) > 1 else names
    if len(several) > 1:
        raise RecordRefused(f"The files have several realms: {known}. Choose one with --realm NAME")
    return {*several, ""}
