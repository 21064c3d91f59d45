"""Reads a verified assertion, and demands all conditions of the Web Browser SSO profile (SAML V2.0 Profiles, section 4.1.4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from app.identity.platform.saml.expectations import (
    CLOCK_SKEW,
    MAX_ASSERTION_LIFETIME,
    AcceptedAssertion,
    AssertionAttribute,
    ExpectedResponse,
    SamlNameId,
)
from app.identity.platform.saml.saml_names import BEARER, ENTITY_FORMAT, UNSPECIFIED_FORMAT, ds, saml
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.xml_elements import (
    attribute,
    children,
    instant,
    local_name,
    only_child,
    optional_attribute,
    optional_child,
    optional_instant,
    whole_text,
)

if TYPE_CHECKING:
    from lxml.etree import _Element

_PARTS: Final = frozenset(
    saml(name) for name in ("Issuer", "Subject", "Conditions", "Advice", "AuthnStatement", "AttributeStatement")
)
_CONDITIONS: Final = frozenset(saml(name) for name in ("AudienceRestriction", "OneTimeUse", "ProxyRestriction"))
_MAX_NAME_ID_LENGTH: Final = 256
_MAX_VALUE_LENGTH: Final = 4_096
_MAX_ATTRIBUTES: Final = 500
_MAX_VALUES: Final = 2_000


def read_assertion(
    assertion: _Element, expected: ExpectedResponse, now: datetime, *, certificate: str, was_encrypted: bool
) -> AcceptedAssertion:
    """Return what a verified assertion says. Raises SamlRefusal.

    Args:
        assertion: the copy that `verified_element` returned, or a part of it.
    """
    unknown = [local_name(child.tag) for child in assertion if child.tag not in _PARTS and child.tag != ds("Signature")]
    if unknown:
        raise SamlRefusal(SamlRule.STRUCTURE, "The assertion has an unknown part.", received=unknown[0])
    check_version(assertion)
    check_issuer(assertion, expected.issuer)
    check_not_in_future(instant(assertion, "IssueInstant"), now, "IssueInstant")
    subject = only_child(assertion, saml("Subject"))
    ends = (
        _check_conditions(only_child(assertion, saml("Conditions")), expected, now),
        _check_confirmation(only_child(subject, saml("SubjectConfirmation")), expected, now),
    )
    statement = only_child(assertion, saml("AuthnStatement"))
    session_end = optional_instant(statement, "SessionNotOnOrAfter")
    if session_end is not None:
        _check_not_over(session_end, now, "SessionNotOnOrAfter")
    authenticated_at = instant(statement, "AuthnInstant")
    check_not_in_future(authenticated_at, now, "AuthnInstant")
    return AcceptedAssertion(
        assertion_id=attribute(assertion, "ID"),
        issuer=expected.issuer,
        name_id=read_name_id(only_child(subject, saml("NameID"))),
        request_id=expected.request_id,
        expires_at=min(ends) + CLOCK_SKEW,
        authenticated_at=authenticated_at,
        context_class=_context_class(statement),
        session_index=optional_attribute(statement, "SessionIndex"),
        session_expires_at=session_end,
        attributes=_attributes(assertion),
        certificate=certificate,
        was_encrypted=was_encrypted,
    )


def check_version(element: _Element) -> None:
    if element.get("Version") != "2.0":
        raise SamlRefusal(SamlRule.STRUCTURE, "The version isn’t SAML 2.0.", received=str(element.get("Version")))


def check_issuer(element: _Element, expected: str) -> None:
    """Demand that the issuer of an element is the expected entity, character by character."""
    issuer = only_child(element, saml("Issuer"))
    if issuer.get("Format", ENTITY_FORMAT) not in {ENTITY_FORMAT, UNSPECIFIED_FORMAT}:
        raise wrong("The issuer isn’t an entity ID.", ENTITY_FORMAT, issuer.get("Format"))
    check_equal("Issuer", whole_text(issuer), expected)


def check_equal(name: str, received: Any, expected: str | None) -> None:
    if received != expected:
        raise wrong(
            f"{name} isn’t the expected one." if received is not None else f"{name} is missing.",
            "no value" if expected is None else expected,
            received,
        )


def check_not_in_future(at: datetime, now: datetime, name: str) -> None:
    if at > now + CLOCK_SKEW:
        raise wrong(f"{name} is in the future.", f"at most {now.isoformat()}", at.isoformat())


def wrong(text: str, expected: str, received: Any) -> SamlRefusal:
    return SamlRefusal(SamlRule.CONDITIONS, text, expected=expected, received=received)


def read_name_id(element: _Element) -> SamlNameId:
    return SamlNameId(
        value=whole_text(element, _MAX_NAME_ID_LENGTH),
        name_format=optional_attribute(element, "Format", UNSPECIFIED_FORMAT),
        name_qualifier=optional_attribute(element, "NameQualifier"),
        sp_name_qualifier=optional_attribute(element, "SPNameQualifier"),
    )


def _check_conditions(conditions: _Element, expected: ExpectedResponse, now: datetime) -> datetime:
    """Return when the conditions end. An unknown condition makes an assertion indeterminate (saml-core-2.0 section 2.5.1.1)."""
    for condition in conditions:
        if condition.tag not in _CONDITIONS:
            raise wrong("The assertion has an unknown condition.", "AudienceRestriction", local_name(condition.tag))
    restrictions = children(conditions, saml("AudienceRestriction"))
    if not restrictions:
        raise wrong("The assertion isn’t restricted to an audience.", expected.audience, None)
    for restriction in restrictions:
        audiences = [whole_text(audience) for audience in children(restriction, saml("Audience"))]
        if expected.audience not in audiences:
            raise wrong("The assertion is for another audience.", expected.audience, audiences)
    return _check_period(conditions, now)


def _check_confirmation(confirmation: _Element, expected: ExpectedResponse, now: datetime) -> datetime:
    """Return when the confirmation ends: that of a bearer, for this address and this request."""
    check_equal("The method of SubjectConfirmation", confirmation.get("Method"), BEARER)
    confirmed = only_child(confirmation, saml("SubjectConfirmationData"))
    check_equal("Recipient", confirmed.get("Recipient"), expected.acs_url)
    check_equal("InResponseTo of the confirmation", confirmed.get("InResponseTo"), expected.request_id)
    return _check_period(confirmed, now)


def _check_period(element: _Element, now: datetime) -> datetime:
    start, end = optional_instant(element, "NotBefore"), instant(element, "NotOnOrAfter")
    if start is not None:
        check_not_in_future(start, now, "NotBefore")
    _check_not_over(end, now, "NotOnOrAfter")
    if end > now + MAX_ASSERTION_LIFETIME:
        raise wrong("The assertion is valid for too long.", "at most a day", end.isoformat())
    return end


def _check_not_over(end: datetime, now: datetime, name: str) -> None:
    if end <= now - CLOCK_SKEW:
        raise wrong(f"{name} is over.", f"after {now.isoformat()}", end.isoformat())


def _context_class(statement: _Element) -> str:
    context = only_child(statement, saml("AuthnContext"))
    reference = optional_child(context, saml("AuthnContextClassRef"))
    return "" if reference is None else whole_text(reference)


def _attributes(assertion: _Element) -> Mapping[str, AssertionAttribute]:
    """Return the attributes by name. Some providers send one of several values as several attributes of one name."""
    found: dict[str, AssertionAttribute] = {}
    count = 0
    for statement in children(assertion, saml("AttributeStatement")):
        for element in children(statement, saml("Attribute")):
            name = attribute(element, "Name")
            values = tuple(_values(element))
            count += len(values)
            earlier = found[name].values if name in found else ()
            found[name] = AssertionAttribute(
                values=(*earlier, *values),
                friendly_name=optional_attribute(element, "FriendlyName"),
                name_format=optional_attribute(element, "NameFormat"),
            )
    if len(found) > _MAX_ATTRIBUTES or count > _MAX_VALUES:
        raise SamlRefusal(SamlRule.SIZE, "The assertion has too many attributes.", expected=f"{_MAX_ATTRIBUTES}")
    return MappingProxyType(found)


def _values(element: _Element) -> list[str]:
    """Return the values that are text. A value of elements, such as a NameID, is no text and left out, never joined."""
    values = [value.text or "" for value in children(element, saml("AttributeValue")) if len(value) == 0]
    if any(len(value) > _MAX_VALUE_LENGTH for value in values):
        raise SamlRefusal(
            SamlRule.TEXT, "The value of an attribute is too long.", expected=f"{_MAX_VALUE_LENGTH} characters"
        )
    return values
