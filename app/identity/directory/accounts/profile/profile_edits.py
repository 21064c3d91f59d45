"""Parses edits of the free profile fields from a request and applies them to a stored profile.

Parsing needs no store, so that malformed requests fail before anything is locked; edits apply to the locked row, so that
concurrent edits do not overwrite one another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from app.contract import errors
from app.contract.profile import FIELDS, Field, Kind, Write
from app.contract.registration.form import CUSTOM
from app.identity.directory.accounts.profile import profile_lists, profile_values
from app.identity.directory.accounts.profile.profile_document import parse_birth_date
from app.kit.web.urls import is_web_url

_NAMES = profile_values.folded(FIELDS)
_GENDERS = frozenset({"male", "female", "other", "unknown", "m", "f", "o", "u", "1", "0"})
_PICTURES = frozenset({"ImageUrl", "ThumbnailImageUrl", "HttpsImageUrl", "GravatarImageUrl"})
"""Picture URLs, which hosted pages and relying parties load."""
_MAX_CUSTOM_LENGTH = 1000


@dataclass
class Edits:
    """Fields to set, lists to patch and fields to clear."""

    assigned: dict[str, Any] = field(default_factory=dict)
    patched: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.assigned or self.patched or self.cleared)

    def apply(self, profile: Mapping[str, Any]) -> dict[str, Any]:
        """Return the profile after the edits; raises AddressTypeTwice and PhoneTypeTwice for a duplicate type in a patched list."""
        after = {name: value for name, value in profile.items() if name not in self.cleared}
        after.update(self.assigned)
        if "CustomFields" in self.assigned:
            after["CustomFields"] = _merged(profile.get("CustomFields"), self.assigned["CustomFields"])
        for name, item in self.patched.items():
            after[name] = profile_lists.patched(FIELDS[name], profile.get(name) or [], item)
            profile_lists.refuse_duplicates(name, after[name])
        return after


def read(
    members: Mapping[str, Any],
    writers: Collection[Write],
    *,
    clears: bool,
    custom_fields: Collection[str],
    today: date,
) -> Edits:
    """Parse the edits in a request body. Unknown members, and those that `writers` may not write, are ignored.

    Raises:
        BadParameter: a value is malformed; names the member.
        MalformedDate: BirthDate is malformed or in the future.
        UnknownCustomField: the tenant did not configure the custom field.
        AddressTypeMissing, AddressTypeTwice, PhoneTypeMissing, PhoneTypeTwice: an address or phone number lacks a type, or two
            have the same one.
    """
    edits = Edits()
    for name, value in canonical_members(members).items():
        definition = FIELDS[name]
        if value is None:
            if clears and definition.is_cleared:
                edits.cleared.add(name)
        elif definition.write in writers:
            _read(edits, definition, value, custom_fields, today)
    return edits


def canonical_members(members_sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the known members under their canonical names; the exact spelling wins over other letter cases.

    Checks that run before the write must use this too, so that they check the value to be stored.
    """
    members = {name: value for name, value in members_sent.items() if name in FIELDS}
    for name, value in members_sent.items():
        known = _NAMES.get(name.lower())
        if known is not None:
            members.setdefault(known, value)
    return members


def _read(edits: Edits, definition: Field, value: Any, custom_fields: Collection[str], today: date) -> None:
    stored = profile_values.read(definition, value)
    if definition.name == "BirthDate":
        _refuse_date(stored, today)
    elif definition.name == "Gender" and stored and stored.lower() not in _GENDERS:
        raise profile_values.refused("Gender")
    elif definition.name in _PICTURES and stored and not is_web_url(stored):
        raise profile_values.refused(definition.name)
    elif definition.name == "CustomFields":
        stored = _by_configured_name(stored, custom_fields)
    if definition.kind is Kind.LIST:
        profile_lists.refuse_untyped(definition.name, stored)
    if definition.key and any(profile_lists.is_deletion(element) for element in stored):
        edits.patched[definition.name] = stored
    else:
        edits.assigned[definition.name] = stored


def _refuse_date(text: str, today: date) -> None:
    if not text:
        return
    born = parse_birth_date(text)
    if born is None or born > today:
        raise errors.MalformedDate


def _by_configured_name(values_by_name: Mapping[str, str | None], configured: Collection[str]) -> dict[str, str | None]:
    """Return custom fields by their configured names; the registration schema shows these with `cf_`.

    Raises UnknownCustomField, BadParameter for a value that is too long or a field that is given by both names.
    """
    stored: dict[str, str | None] = {}
    for given_name, value in values_by_name.items():
        name = custom_field_name(given_name, configured)
        if name is None:
            raise errors.UnknownCustomField(f"The custom field {given_name[:100]} is not configured.")
        if name in stored or (value is not None and len(value) > _MAX_CUSTOM_LENGTH):
            raise profile_values.refused(f"CustomFields.{given_name}")
        stored[name] = value
    return stored


def custom_field_name(name: str, configured: Collection[str]) -> str | None:
    """Return the configured name of a custom field that a request names so, or as the schema does; None for no field."""
    return next((item for item in (name, name.removeprefix(CUSTOM)) if item in configured), None)


def _merged(current: Mapping[str, str] | None, changes: Mapping[str, str | None]) -> dict[str, str] | None:
    """Merge custom fields one by one; null removes a field."""
    merged = {**(current or {}), **changes}
    return {name: value for name, value in merged.items() if value is not None} or None
