"""Writes requests for sign-in and the messages of single logout (saml-core-2.0 sections 3.4 and 3.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml.expectations import SamlNameId
from app.identity.platform.saml.saml_names import POST, SUCCESS, saml, samlp
from app.identity.platform.saml_writing.response_writer import name_id_element
from app.identity.platform.saml_writing.xml_builder import element, instant_text, issuer, new_id

if TYPE_CHECKING:
    from lxml.etree import _Element

RESPONDER: Final = "urn:oasis:names:tc:SAML:2.0:status:Responder"
PARTIAL_LOGOUT: Final = "urn:oasis:names:tc:SAML:2.0:status:PartialLogout"
_LOGOUT_LIFETIME: Final = timedelta(minutes=5)


@dataclass(frozen=True, kw_only=True)
class AuthnRequestContents:
    """What this service asks of an identity provider."""

    issuer: str
    """The entity ID of this service for the connection."""
    destination: str
    acs_url: str
    name_id_format: str = ""
    name_id_hint: str = ""
    """Names the person to sign in, for providers that fill in their form with it."""
    must_reauthenticate: bool = False
    is_passive: bool = False
    context_classes: Sequence[str] = ()


def authn_request(contents: AuthnRequestContents, now: datetime) -> _Element:
    """Return a request, unsigned; its ID is an attribute, which the answer must repeat."""
    parts = [issuer(contents.issuer)]
    if contents.name_id_hint:
        parts.append(element(saml("Subject"), element(saml("NameID"), text=contents.name_id_hint)))
    parts.append(element(samlp("NameIDPolicy"), Format=contents.name_id_format or None, AllowCreate="true"))
    if contents.context_classes:
        references = [element(saml("AuthnContextClassRef"), text=one) for one in contents.context_classes]
        parts.append(element(samlp("RequestedAuthnContext"), *references, Comparison="exact"))
    return element(
        samlp("AuthnRequest"),
        *parts,
        ID=new_id(),
        Version="2.0",
        IssueInstant=instant_text(now),
        Destination=contents.destination,
        ForceAuthn="true" if contents.must_reauthenticate else None,
        IsPassive="true" if contents.is_passive else None,
        ProtocolBinding=POST,
        AssertionConsumerServiceURL=contents.acs_url,
    )


def logout_request(
    *, entity_id: str, destination: str, name_id: SamlNameId, session_indexes: Sequence[str], now: datetime
) -> _Element:
    """Return a request of `entity_id`, ours, to end sessions of a subject, unsigned; without indexes, all of them."""
    return element(
        samlp("LogoutRequest"),
        issuer(entity_id),
        name_id_element(name_id),
        *(element(samlp("SessionIndex"), text=index) for index in session_indexes),
        ID=new_id(),
        Version="2.0",
        IssueInstant=instant_text(now),
        Destination=destination,
        NotOnOrAfter=instant_text(now + _LOGOUT_LIFETIME),
    )


def logout_response(
    *, entity_id: str, destination: str, request_id: str, now: datetime, is_complete: bool = True
) -> _Element:
    """Return the answer to a request, unsigned. If some sessions may live on, the status says so (section 3.7.3.2)."""
    code = (
        element(samlp("StatusCode"), Value=SUCCESS)
        if is_complete
        else element(samlp("StatusCode"), element(samlp("StatusCode"), Value=PARTIAL_LOGOUT), Value=RESPONDER)
    )
    return element(
        samlp("LogoutResponse"),
        issuer(entity_id),
        element(samlp("Status"), code),
        ID=new_id(),
        Version="2.0",
        IssueInstant=instant_text(now),
        Destination=destination,
        InResponseTo=request_id,
    )
