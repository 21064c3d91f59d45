"""What the caller expects of a response, and what the gate returns of one: typed values that were read from signed elements alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.trusted_keys import TrustedKeys

CLOCK_SKEW: Final = timedelta(seconds=60)
MAX_ASSERTION_LIFETIME: Final = timedelta(days=1)
"""The ID of an assertion is remembered for so long: a provider cannot fill the store with assertions that never expire."""


class SignedPart(StrEnum):
    """What a connection demands to be signed. Whatever else has a signature is verified too."""

    EITHER = "either"
    RESPONSE = "response"
    ASSERTION = "assertion"
    BOTH = "both"


@dataclass(frozen=True, kw_only=True)
class ExpectedResponse:
    """What the connection and the pending request say of the response. No part of it may come from the message.

    Where no request is pending, the connection is that of the address at which the response arrived.
    """

    issuer: str
    """The entity ID of the provider."""
    keys: TrustedKeys
    audience: str
    """The entity ID of this service for the connection."""
    acs_url: str
    """The assertion consumer service at which the response arrived, as it is registered."""
    request_id: str | None
    """The ID of the pending AuthnRequest. None accepts only a response without request; the caller must have that switched on."""
    signed_part: SignedPart = SignedPart.EITHER
    must_be_encrypted: bool = False
    decryption: DecryptionKeys = field(default_factory=DecryptionKeys, repr=False)

    def __post_init__(self) -> None:
        if not (self.issuer and self.audience and self.acs_url) or self.request_id == "":
            raise ValueError("an expected value is empty: a message could have it by leaving it out")


@dataclass(frozen=True, kw_only=True)
class SamlNameId:
    """The identifier of a subject (saml-core-2.0 section 2.2.2)."""

    value: str
    name_format: str
    name_qualifier: str = ""
    sp_name_qualifier: str = ""


@dataclass(frozen=True, kw_only=True)
class AssertionAttribute:
    """The values of an attribute that are text, in the order of the assertion."""

    values: tuple[str, ...]
    friendly_name: str = ""
    name_format: str = ""


@dataclass(frozen=True, kw_only=True)
class AcceptedAssertion:
    """A signed assertion that kept all rules but one: the caller spends `request_id` and `assertion_id` in its transaction."""

    assertion_id: str
    issuer: str
    name_id: SamlNameId
    request_id: str | None
    expires_at: datetime
    """When the assertion is refused for its age; until then, its ID must be remembered."""
    authenticated_at: datetime
    context_class: str
    session_index: str
    session_expires_at: datetime | None
    attributes: Mapping[str, AssertionAttribute]
    certificate: str
    """The certificate, in PEM, whose key signed."""
    was_encrypted: bool
