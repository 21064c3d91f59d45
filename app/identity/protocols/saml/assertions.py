"""What an assertion says of an account, by the mapping of the SAML client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.contract.saml.saml_operations import SamlAttribute
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document
from app.identity.platform.saml.expectations import AssertionAttribute
from app.identity.protocols.saml.saml_clients import SamlApp


def attributes_of(app: SamlApp, account: Account) -> dict[str, AssertionAttribute]:
    """Return the attributes of an account by name; one without a value is left out."""
    if not app.client.attributes:
        return {}
    profile = profile_document.profile_of(account)
    found = {name: _values(mapped, account, profile) for name, mapped in app.client.attributes.items()}
    return {
        name: AssertionAttribute(values=values, name_format=app.client.attributes[name].format)
        for name, values in found.items()
        if values
    }


def _values(mapped: SamlAttribute, account: Account, profile: Mapping[str, Any]) -> tuple[str, ...]:
    if mapped.is_static:
        return (mapped.value,)
    values = _texts(profile_document.verified_field_of(account, profile, mapped.value))
    if not values and mapped.alternative_mapping_key:
        values = _texts(profile_document.verified_field_of(account, profile, mapped.alternative_mapping_key))
    return values


def _texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a field: several of a list; of an entry with members, its value, name or text."""
    if value is None or value == "":
        return ()
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, list | tuple):
        return tuple(text for item in value for text in _texts(item))
    if isinstance(value, Mapping):
        named = (value.get(name) for name in ("Value", "Name", "Text"))
        return next((_texts(item) for item in named if isinstance(item, str) and item), ())
    return (str(value),)
