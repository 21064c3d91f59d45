"""What the mapping of an organization's connection makes of claims or attributes: groups, and fields of the profile."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from app.contract.organizations.models import Attributes
from app.contract.profile import FIELDS, Kind, Write
from app.contract.registration.form import CUSTOM
from app.identity.directory.accounts.profile import profile_edits
from app.identity.directory.identity_provider import find_claim, text_of

_MAX_GROUPS: Final = 1_000
_MAX_LENGTH: Final = 500
_DISTRIBUTED: Final = "_claim_names"
"""The names of distributed claims (OpenID Connect Core section 5.6.2), which the provider has at another address, such as many groups."""


def custom_profile(attributes: Attributes, custom_fields: Collection[str], claims: Mapping[str, Any]) -> dict[str, str]:
    """Return the text fields that the connection's `CustomMapping` fills."""
    mapping = attributes.custom_mapping.items()
    fields = [(_field_of(name, custom_fields), attribute) for name, attribute in mapping]
    found = {field: text_of(find_claim(claims, attribute))[:_MAX_LENGTH] for field, attribute in fields}
    return {field: text for field, text in found.items() if field and text}


def groups(attributes: Attributes, claims: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the groups, of one text or a list of them; None where the provider has them at another address."""
    found = find_claim(claims, attributes.groups)
    distributed = claims.get(_DISTRIBUTED)
    if found is None and isinstance(distributed, dict) and attributes.groups in distributed:
        return None
    items = found if isinstance(found, list) else [found]
    return tuple(dict.fromkeys(text for item in items[:_MAX_GROUPS] if (text := text_of(item))))


def _field_of(name: str, custom_fields: Collection[str]) -> str | None:
    """Return the field that a name of `CustomMapping` stands for, a custom field with `cf_`; None for one that no provider fills.

    These are fields that their owner may edit, so neither identifiers nor what says that they are verified.
    """
    if (field := FIELDS.get(name)) is not None:
        return name if field.kind is Kind.TEXT and field.write is Write.ANYONE else None
    custom = profile_edits.custom_field_name(name, custom_fields)
    return f"{CUSTOM}{custom}" if custom is not None else None
