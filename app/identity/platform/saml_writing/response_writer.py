"""Writes responses of the identity provider (SAML V2.0 Profiles, section 4.1.4.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml.expectations import AssertionAttribute, SamlNameId
from app.identity.platform.saml.saml_names import BEARER, SUCCESS, saml, samlp
from app.identity.platform.saml_writing.encrypting import encrypted
from app.identity.platform.saml_writing.xml_builder import element, instant_text, issuer, new_id, to_bytes
from app.identity.platform.saml_writing.xml_signing import SigningKey, signed

if TYPE_CHECKING:
    from lxml.etree import _Element

_SKEW: Final = timedelta(minutes=1)
"""An assertion is valid a minute before it is issued: the clock of a service provider may be behind."""


@dataclass(frozen=True, kw_only=True)
class AssertionContents:
    """What an assertion says of a subject and of the session."""

    name_id: SamlNameId
    audiences: tuple[str, ...]
    authenticated_at: datetime
    context_class: str
    session_index: str
    lifetime: timedelta
    """How long the assertion may be used; the session at the service provider may last longer."""
    session_expires_at: datetime | None = None
    attributes: Mapping[str, AssertionAttribute] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ResponseForm:
    """Where a response goes and how it is protected."""

    issuer: str
    acs_url: str
    request_id: str | None
    """None for a response without request."""
    signs_assertion: bool = True
    signs_response: bool = False
    encryption_certificate: str | None = None

    def __post_init__(self) -> None:
        if not (self.signs_assertion or self.signs_response):
            raise ValueError("a response has at least one signature")


def written_response(contents: AssertionContents, form: ResponseForm, key: SigningKey, now: datetime) -> bytes:
    """Return a response with one assertion. Raises ValueError for a text that XML cannot have."""
    assertion = _assertion(contents, form, now)
    if form.signs_assertion:
        assertion = signed(assertion, key)
    if form.encryption_certificate is not None:
        assertion = encrypted(assertion, form.encryption_certificate)
    response = _response(form, now, element(samlp("StatusCode"), Value=SUCCESS))
    response.append(assertion)
    return to_bytes(signed(response, key) if form.signs_response else response)


def written_refusal(form: ResponseForm, key: SigningKey, now: datetime, *, status: str, detail: str = "") -> bytes:
    """Return a signed response without assertion: the request was understood and cannot be satisfied.

    Args:
        status: the top-level status, such as Responder, and `detail` the one below it, such as NoPassive, both as URIs.
    """
    nested = [element(samlp("StatusCode"), Value=detail)] if detail else []
    return to_bytes(signed(_response(form, now, element(samlp("StatusCode"), *nested, Value=status)), key))


def _response(form: ResponseForm, now: datetime, status: _Element) -> _Element:
    return element(
        samlp("Response"),
        issuer(form.issuer),
        element(samlp("Status"), status),
        ID=new_id(),
        Version="2.0",
        IssueInstant=instant_text(now),
        Destination=form.acs_url,
        InResponseTo=form.request_id,
    )


def _assertion(contents: AssertionContents, form: ResponseForm, now: datetime) -> _Element:
    end = instant_text(now + contents.lifetime)
    confirmed = element(
        saml("SubjectConfirmationData"), InResponseTo=form.request_id, NotOnOrAfter=end, Recipient=form.acs_url
    )
    audiences = [element(saml("Audience"), text=audience) for audience in contents.audiences]
    return element(
        saml("Assertion"),
        issuer(form.issuer),
        element(
            saml("Subject"),
            name_id_element(contents.name_id),
            element(saml("SubjectConfirmation"), confirmed, Method=BEARER),
        ),
        element(
            saml("Conditions"),
            element(saml("AudienceRestriction"), *audiences),
            NotBefore=instant_text(now - _SKEW),
            NotOnOrAfter=end,
        ),
        _authn_statement(contents),
        *_attribute_statement(contents.attributes),
        ID=new_id(),
        Version="2.0",
        IssueInstant=instant_text(now),
    )


def name_id_element(name_id: SamlNameId) -> _Element:
    return element(
        saml("NameID"),
        text=name_id.value,
        Format=name_id.name_format or None,
        NameQualifier=name_id.name_qualifier or None,
        SPNameQualifier=name_id.sp_name_qualifier or None,
    )


def _authn_statement(contents: AssertionContents) -> _Element:
    context = element(saml("AuthnContext"), element(saml("AuthnContextClassRef"), text=contents.context_class))
    ends = contents.session_expires_at
    return element(
        saml("AuthnStatement"),
        context,
        AuthnInstant=instant_text(contents.authenticated_at),
        SessionIndex=contents.session_index,
        SessionNotOnOrAfter=instant_text(ends) if ends is not None else None,
    )


def _attribute_statement(attributes: Mapping[str, AssertionAttribute]) -> list[_Element]:
    """Return the statement, or nothing: the schema has no statement without attributes."""
    elements = [
        element(
            saml("Attribute"),
            *(element(saml("AttributeValue"), text=value) for value in attribute.values),
            Name=name,
            NameFormat=attribute.name_format or None,
            FriendlyName=attribute.friendly_name or None,
        )
        for name, attribute in attributes.items()
    ]
    return [element(saml("AttributeStatement"), *elements)] if elements else []
