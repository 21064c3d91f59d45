"""Responses that are signed, and refused for what they say (rules 9 and 10)."""

from __future__ import annotations

from typing import Any

from lxml import etree

from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml.cases import Case, case
from tests.support.saml.responses import (
    ACS,
    AUDIENCE,
    SAML,
    SAMLP,
    Change,
    added,
    attribute,
    expected,
    find,
    removed,
    response,
    text,
)

_R = SamlRule
_C = "SubjectConfirmationData"
_PERIOD_START, _PERIOD_END = "NotBefore", "NotOnOrAfter"


def _nested_status(root: etree._Element) -> None:
    find(root, "StatusCode").set("Value", "urn:oasis:names:tc:SAML:2.0:status:Responder")
    find(root, "StatusCode").append(
        etree.fromstring(f'<p:StatusCode xmlns:p="{SAMLP}" Value="urn:oasis:names:tc:SAML:2.0:status:AuthnFailed"/>')
    )


def _failed_without_assertion(root: etree._Element) -> None:
    _nested_status(root)
    removed("Assertion")(root)


def _second_restriction(root: etree._Element) -> None:
    find(root, "Conditions").append(
        etree.fromstring(
            f'<a:AudienceRestriction xmlns:a="{SAML}"><a:Audience>urn:other</a:Audience></a:AudienceRestriction>'
        )
    )


def _assertion_issuer(value: str, **attributes: str) -> Change:
    def changed(root: etree._Element) -> None:
        issuer = find(find(root, "Assertion"), "Issuer")
        issuer.text = value
        for name, own in attributes.items():
            issuer.set(name, own)

    return changed


def _wrong(name: str, change: Change, rule: SamlRule = _R.CONDITIONS, **arguments: Any) -> Case:
    return case(rule, name, change=change, **arguments)


def _wrong_values(element: str, name: str, *values: str | None, **arguments: Any) -> list[Case]:
    return [
        _wrong(f"{element} {name}={value and ascii(value)[:60]}", attribute(element, name, value), **arguments)
        for value in values
    ]


def _wrong_texts(element: str, rule: SamlRule, *values: str) -> list[Case]:
    return [_wrong(f"{element} {value[:40]!r} of {len(value)}", text(element, value), rule) for value in values]


def _without_request(root: etree._Element) -> None:
    del root.attrib["InResponseTo"], find(root, _C).attrib["InResponseTo"]


CONDITION_CASES = [
    *_wrong_texts("NameID", _R.TEXT, "a" * 300, "", " ada", "ada\n", "ada\tb", "ada\u202egro", "ada\u200b", "ada\u00a0b"),
    _wrong("element in NameID", added("NameID", "<x>.evil.example</x>"), _R.TEXT),
    _wrong("element in Audience", added("Audience", "<x/>"), _R.TEXT),
    _wrong("element in Issuer", added("Issuer", "<x/>"), _R.TEXT),
    *_wrong_values("NameID", "Format", "urn:" + "x" * 3_000, rule=_R.TEXT),
    *_wrong_values("AuthnStatement", "SessionIndex", "s" * 3_000, "s\r\nx", rule=_R.TEXT),
    *_wrong_values("Attribute", "Name", "n" * 3_000, "n\u202e", rule=_R.TEXT),
    _wrong("value of 5,000 characters", text("AttributeValue", "a" * 5_000), _R.TEXT),
    _wrong("issuer of the assertion", _assertion_issuer("https://evil.example")),
    _wrong("issuer with a slash more", _assertion_issuer("https://idp.example/saml/")),
    _wrong("issuer in other case", _assertion_issuer("https://IDP.example/saml")),
    _wrong("issuer of another format", _assertion_issuer("https://idp.example/saml", Format="urn:x")),
    _wrong("issuer of the response", text("Issuer", "https://evil.example")),
    _wrong("issuer of a signed response", text("Issuer", "https://evil.example"), signed=SignedPart.RESPONSE),
    *_wrong_texts("Audience", _R.CONDITIONS, "https://other.example", AUDIENCE + "/", AUDIENCE.upper()),
    _wrong("no AudienceRestriction", removed("AudienceRestriction")),
    _wrong("no Audience", removed("Audience")),
    _wrong("a second restriction for others", _second_restriction),
    _wrong("an unknown condition", added("Conditions", f'<a:Condition xmlns:a="{SAML}"/>')),
    _wrong("a condition of another namespace", added("Conditions", '<a:OneTimeUse xmlns:a="urn:x"/>')),
    _wrong("no Conditions", removed("Conditions"), _R.STRUCTURE),
    *_wrong_values(_C, "Recipient", None, "", "https://evil.example/acs", ACS + "/", ACS + "?x=1", "http://sp.example/acs"),
    *_wrong_values("Response", "Destination", None, "", "https://evil.example/acs", ACS + "/"),
    *_wrong_values("Response", "Destination", "https://evil.example", signed=SignedPart.BOTH),
    *_wrong_values("Response", "InResponseTo", None, "", "_request2"),
    *_wrong_values(_C, "InResponseTo", None, "", "_request2"),
    *_wrong_values(_C, _PERIOD_END, None, "", "2026-06-01T11:59:00Z", "2026-06-01T11:00:00Z", "2026-06-03T12:00:00Z"),
    *_wrong_values(_C, _PERIOD_START, "2026-06-01T12:01:01Z"),
    *_wrong_values("Conditions", _PERIOD_START, "2026-06-01T12:01:01Z", "2027-06-01T12:00:00Z", ""),
    *_wrong_values("Conditions", _PERIOD_END, None, "2026-06-01T11:59:00Z", "9999-12-31T23:59:59Z", "2026-06-01T12:10:00"),
    *_wrong_values("Conditions", _PERIOD_END, "2026-06-01T12:10:00+02:00", "2026-06-31T12:10:00Z", "1780315800", "now"),
    *_wrong_values("Conditions", _PERIOD_END, "2026-06-01T24:10:00Z", "٢٠٢٦-06-01T12:10:00Z", " 2026-06-01T12:10:00Z"),
    *_wrong_values("Assertion", "IssueInstant", None, "2026-06-01T12:02:00Z"),
    *_wrong_values("Response", "IssueInstant", None, "2026-06-01T12:02:00Z"),
    *_wrong_values("AuthnStatement", "AuthnInstant", None, "2026-06-01T12:02:00Z"),
    *_wrong_values("AuthnStatement", "SessionNotOnOrAfter", "2026-06-01T11:59:00Z"),
    *_wrong_values("SubjectConfirmation", "Method", None, "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"),
    *_wrong_values("SubjectConfirmation", "Method", "urn:oasis:names:tc:SAML:2.0:cm:sender-vouches"),
    *_wrong_values("StatusCode", "Value", None, "", "Success", "urn:oasis:names:tc:SAML:1.0:status:Success"),
    _wrong("failed at the provider", _nested_status),
    _wrong("failed, without assertion", _failed_without_assertion),
    _wrong("no SubjectConfirmation", removed("SubjectConfirmation"), _R.STRUCTURE),
    _wrong("no SubjectConfirmationData", removed(_C), _R.STRUCTURE),
    Case(_R.CONDITIONS, "answers a request, none expected", response, lambda: expected(request_id=None)),
    Case(_R.CONDITIONS, "answers no request, one expected", lambda: response(change=_without_request)),
    Case(_R.CONDITIONS, "Recipient of a request, none expected",
         lambda: response(change=attribute("Response", "InResponseTo", None)), lambda: expected(request_id=None)),
    Case(_R.CONDITIONS, "another connection’s issuer", response, lambda: expected(issuer="https://other.example")),
    Case(_R.CONDITIONS, "another connection’s address", response, lambda: expected(acs_url="https://sp.example/acs2")),
    Case(_R.CONDITIONS, "another connection’s audience", response, lambda: expected(audience="https://sp.example/2")),
]  # fmt: skip
