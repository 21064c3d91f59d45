"""Responses of an identity provider: a good one, with one change before or after it is signed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lxml import etree

from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.expectations import ExpectedResponse, SignedPart
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.encryption import encrypted
from tests.support.saml.signers import Signer

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"
ISSUER, AUDIENCE, ACS = "https://idp.example/saml", "https://sp.example/saml", "https://sp.example/acs"
REQUEST_ID, ASSERTION_ID = "_request1", "_assertion1"
Change = Callable[[etree._Element], object]
NOTHING: Change = lambda _: None  # noqa: E731 - the default of two parameters

_ASSERTION = f"""<saml:Assertion xmlns:saml="{SAML}" ID="{ASSERTION_ID}" Version="2.0" IssueInstant="2026-06-01T12:00:00Z">\
<saml:Issuer>{ISSUER}</saml:Issuer><saml:Subject>\
<saml:NameID Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent">ada@example.test</saml:NameID>\
<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><saml:SubjectConfirmationData \
InResponseTo="{REQUEST_ID}" NotOnOrAfter="2026-06-01T12:05:00Z" Recipient="{ACS}"/></saml:SubjectConfirmation></saml:Subject>\
<saml:Conditions NotBefore="2026-06-01T11:55:00Z" NotOnOrAfter="2026-06-01T12:10:00Z"><saml:AudienceRestriction>\
<saml:Audience>{AUDIENCE}</saml:Audience></saml:AudienceRestriction></saml:Conditions>\
<saml:AuthnStatement AuthnInstant="2026-06-01T11:59:59Z" SessionIndex="_session1"><saml:AuthnContext>\
<saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext>\
</saml:AuthnStatement><saml:AttributeStatement><saml:Attribute Name="groups" FriendlyName="Groups">\
<saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>admins</saml:AttributeValue></saml:Attribute>\
</saml:AttributeStatement></saml:Assertion>"""
_RESPONSE = f"""<samlp:Response xmlns:samlp="{SAMLP}" xmlns:saml="{SAML}" ID="_response1" Version="2.0" \
IssueInstant="2026-06-01T12:00:00Z" Destination="{ACS}" InResponseTo="{REQUEST_ID}"><saml:Issuer>{ISSUER}</saml:Issuer>\
<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></samlp:Status></samlp:Response>"""


def expected(*certificates: str, **changes: Any) -> ExpectedResponse:
    """Return what the connection of the good response expects."""
    values: dict[str, Any] = {
        "issuer": ISSUER, "audience": AUDIENCE, "acs_url": ACS, "request_id": REQUEST_ID,
        "keys": TrustedKeys(certificates or (signers.rsa_signer().certificate,)),
        "decryption": DecryptionKeys((signers.rsa_key("sp"),)),
    }  # fmt: skip
    return ExpectedResponse(**{**values, **changes})


def response_tree(
    *,
    signed: SignedPart | None = SignedPart.ASSERTION,
    signer: Signer | None = None,
    change: Change = NOTHING,
    after: Change = NOTHING,
    encryption: dict[str, Any] | None = None,
    **form: Any,
) -> etree._Element:
    """Return a response.

    Args:
        signed: which part is signed; EITHER is no choice of a provider.
        change: changes the response before anything of it is signed.
        after: changes the signed response.
        encryption: the arguments of `encrypted`, for an encrypted assertion.
        form: arguments of `signers.sign`.
    """
    signer = signer or signers.rsa_signer()
    response = etree.fromstring(_RESPONSE)
    response.append(etree.fromstring(_ASSERTION))
    change(response)
    assertion = response.find(f"{{{SAML}}}Assertion")
    if assertion is not None and signed in {SignedPart.ASSERTION, SignedPart.BOTH}:
        signers.sign(assertion, signer, **form)
    if assertion is not None and encryption is not None:
        response.replace(assertion, encrypted(assertion, signers.rsa_key("sp"), **encryption))
    if signed in {SignedPart.RESPONSE, SignedPart.BOTH}:
        signers.sign(response, signer, **form)
    after(response)
    return response


def response(**arguments: Any) -> bytes:
    """Return the bytes of `response_tree`."""
    return etree.tostring(response_tree(**arguments))


def find(root: etree._Element, name: str) -> etree._Element:
    """Return the first element of this local name, the root for `*`. Raises StopIteration if there is none."""
    return next(root.iter(f"{{*}}{name}"))


def attribute(element: str, name: str, value: str | None) -> Change:
    """Return the change that sets an attribute, or removes it."""

    def changed(root: etree._Element) -> None:
        found = find(root, element)
        if value is None:
            del found.attrib[name]
        else:
            found.set(name, value)

    return changed


def text(element: str, value: str) -> Change:
    return lambda root: setattr(find(root, element), "text", value)


def removed(element: str) -> Change:
    def changed(root: etree._Element) -> None:
        found = find(root, element)
        parent = found.getparent()
        assert parent is not None
        parent.remove(found)

    return changed


def doubled(element: str) -> Change:
    def changed(root: etree._Element) -> None:
        found = find(root, element)
        found.addnext(etree.fromstring(etree.tostring(found, with_tail=False)))

    return changed


def added(element: str, xml: str, place: int = 0) -> Change:
    return lambda root: find(root, element).insert(place, etree.fromstring(xml))
