"""The person's name in the callback of Apple, which is there only after the first consent.

The browser posts it unsigned: it fills what the signed claims leave empty in a new account, as what a person enters, and never names
an account or an address.
See developer.apple.com/documentation/signinwithapple/incorporating-sign-in-with-apple-into-other-platforms.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pydantic_core import from_json

from app.identity.directory.identity_provider import ProviderIdentity

_MEMBERS: Final = {"firstName": "FirstName", "lastName": "LastName"}
_MAX_LENGTH: Final = 100


def with_posted_name(identity: ProviderIdentity, posted: str) -> ProviderIdentity:
    """Return an identity with the posted name; a malformed one is left out."""
    try:
        user = from_json(posted) if posted else {}
    except ValueError:
        return identity
    name = user.get("name") if isinstance(user, dict) else None
    texts = {member: name.get(key) for key, member in _MEMBERS.items()} if isinstance(name, dict) else {}
    given = {
        member: text.strip()[:_MAX_LENGTH]
        for member, text in texts.items()
        if isinstance(text, str) and text.isprintable() and text.strip()
    }
    given = {member: text for member, text in given.items() if not identity.profile.get(member)}
    return replace(identity, profile={**identity.profile, **given}, unsigned=tuple(given))
