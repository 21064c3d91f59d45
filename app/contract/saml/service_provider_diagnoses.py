"""What each refusal of a service provider's message means, and what to change there. Operators and programs read them.

The checks are the rules of the gate, with the prefix `saml_sp_`, and those of the configuration here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from app.contract.federation.connection_checks import Diagnosis

PREFIX: Final = "saml_sp_"
"""Before the name of the check: identity providers break rules of the same names."""


class ServiceProviderCheck(StrEnum):
    """The checks beside the rules of the gate."""

    CLIENT = "client"
    ACS = "acs"
    UNSOLICITED = "unsolicited"
    CLAIMS = "claims"


_METADATA: Final = "`/service/saml/idp/metadata?appName=` with the client’s name"
_CLOCKS: Final = (
    "Set the clocks of the service provider and of this server by NTP. Up to 60 seconds of difference are accepted."
)
_LIBRARY: Final = (
    "Update the service provider’s SAML library, or send its request to its maker: it isn’t what SAML 2.0 allows."
)

_TEXTS: Final[Mapping[str, Diagnosis]] = MappingProxyType({
    ServiceProviderCheck.CLIENT: Diagnosis(
        "The address names no active SAML client, or the client is incomplete.",
        "Use the addresses in the client’s metadata, with the client’s name in `appname`. The client needs `IssuerUrl`, the service "
        "provider’s entity ID, and must be active.",
    ),
    ServiceProviderCheck.ACS: Diagnosis(
        "The SAML client has no address that can get responses.",
        "Store `AssertionConsumerService.Location`, with the binding HTTP-POST. Artifacts aren’t supported.",
    ),
    ServiceProviderCheck.UNSOLICITED: Diagnosis(
        "There is no request, and sign-ins of this client can’t start here.",
        "Start at the service provider, with the binding in `DefaultRequestBinding`; or turn `IsIdpInitiated` on.",
    ),
    ServiceProviderCheck.CLAIMS: Diagnosis(
        "The account doesn’t have what the assertion needs, or has a text that XML can’t have.",
        "Verify the account’s email address, or let the client use another `NameIdFormat`. Check the fields in `Attributes`.",
    ),
    "size": Diagnosis("The message can’t be decoded, or is too long, or a parameter is missing or doubled.", _LIBRARY),
    "parser": Diagnosis("The message isn’t XML that is accepted: it has a document type, an entity or another encoding.", _LIBRARY),
    "nodes": Diagnosis("The message has a comment, a processing instruction or a CDATA section.", _LIBRARY),
    "structure": Diagnosis("The message isn’t built as SAML 2.0 demands.", _LIBRARY),
    "signature_form": Diagnosis(
        "The signature isn’t of the accepted form, or stands elsewhere.",
        "Sign a posted message as its direct child, enveloped, with exclusive canonicalization; a redirected one in its query alone.",
    ),
    "algorithm": Diagnosis(
        "The signature has an algorithm that isn’t accepted.", "Sign with RSA-SHA256 or ECDSA-SHA256, or a stronger hash. SHA-1 never is."
    ),
    "key": Diagnosis(
        "The key of `SpCertificate` didn’t sign the message, or the certificate can’t be used.",
        "Store the service provider’s present certificate as `SpCertificate`. It must be valid now.",
    ),
    "verified": Diagnosis(
        "The message isn’t signed, or was changed after it was signed.",
        "The client has `SpCertificate`: let the service provider sign its requests, or remove the certificate. Logout messages are "
        "always signed.",
    ),
    "text": Diagnosis("A text is empty, too long, or has other nodes or control characters.", _LIBRARY),
    "conditions": Diagnosis(
        "The issuer, the destination or the time of the message isn’t the expected one.",
        f"Copy the addresses from {_METADATA}; `IssuerUrl` must be the service provider’s entity ID exactly. {_CLOCKS}",
    ),
    "replay": Diagnosis("The message was used before.", "Nothing, if the person went back. Otherwise each request needs a new ID."),
    "request": Diagnosis(
        "The request demands what isn’t registered or supported.",
        "Register the address of the request as `AssertionConsumerService.Location` or `ReplyUrl`, exactly as it is sent, and the issuer "
        "as `IssuerUrl`. Responses can only be posted, and a request names no subject.",
    ),
})  # fmt: skip


def diagnosis_of(check: str) -> Diagnosis | None:
    """Return what a failed check of a service provider's message means; None for a check of another kind."""
    return _TEXTS.get(check.removeprefix(PREFIX)) if check.startswith(PREFIX) else None
