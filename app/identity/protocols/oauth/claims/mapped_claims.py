"""Claims by the tenant's mapping, which each application has of its own."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document

MAX_TOKEN_BYTES: Final = 2_000
"""JSON bytes of these claims in one token, beside roles and organizations: servers accept 8 KiB of headers."""


def read(account: Account | None, mapping: Mapping[str, str], withheld: Collection[str]) -> dict[str, Any]:
    """Return the mapped claims that the profile has; nothing is read for an empty mapping.

    Args:
        withheld: claims of scopes that were not granted.
    """
    if account is None or not mapping:
        return {}
    profile = profile_document.profile_of(account)
    found = {
        claim: profile_document.field_of(profile, field) for claim, field in mapping.items() if claim not in withheld
    }
    return {claim: value for claim, value in found.items() if value not in (None, "", [])}


def of_token(account: Account | None, mapping: Mapping[str, str], withheld: Collection[str]) -> dict[str, Any]:
    """Return the mapped claims of a token: as many as fit, in their order, each complete or absent."""
    claims: dict[str, Any] = {}
    size = 0
    for claim, value in read(account, mapping, withheld).items():
        size += len(json.dumps({claim: value}, separators=(",", ":")))
        if size <= MAX_TOKEN_BYTES:
            claims[claim] = value
    return claims
