"""Claims of tokens that a workflow may set."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

from app.contract.applications.claims_mapping import RESERVED, Claim

STANDARD: Final = frozenset({
    "name", "given_name", "family_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "email",
    "gender", "birthdate", "zoneinfo", "locale", "phone_number",
})  # fmt: skip
"""Claims of the profile (OpenID Connect Core section 5.1): an application that reads them must not take one person for another."""
PROTECTED: Final = RESERVED | STANDARD
"""Claims that no workflow sets."""


def _unprotected(name: str) -> str:
    if name in PROTECTED:
        raise ValueError("another claim; this one tells who the person is")
    return name


WorkflowClaim = Annotated[Claim, AfterValidator(_unprotected)]
