"""The entrance of responses of identity providers: form parameters in, an accepted assertion out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from app.identity.platform.saml import bindings
from app.identity.platform.saml.assertion_reader import (
    check_equal,
    check_issuer,
    check_not_in_future,
    check_version,
    read_assertion,
    wrong,
)
from app.identity.platform.saml.encrypted_assertions import decrypted
from app.identity.platform.saml.expectations import AcceptedAssertion, ExpectedResponse, SignedPart
from app.identity.platform.saml.saml_names import SUCCESS, ds, saml, samlp
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.xml_documents import read_xml
from app.identity.platform.saml.xml_elements import instant, local_name, only_child
from app.identity.platform.saml.xml_signatures import check_places, signature_of, verified_element

if TYPE_CHECKING:
    from lxml.etree import _Element

_ASSERTIONS: Final = frozenset({saml("Assertion"), saml("EncryptedAssertion")})
_PARTS: Final = frozenset({saml("Issuer"), ds("Signature"), samlp("Extensions"), samlp("Status"), *_ASSERTIONS})


@dataclass(frozen=True)
class _Found:
    """An assertion of which the signatures, if it has any, are not verified yet."""

    root: _Element
    assertion: _Element
    certificate: str = ""
    """The certificate whose key signed the response around it; without one, nothing is verified."""
    was_encrypted: bool = False


def accept_response(messages: Sequence[str], expected: ExpectedResponse, now: datetime) -> AcceptedAssertion:
    """Return the assertion of a posted response. Raises SamlRefusal.

    The caller then spends the pending request and the assertion's ID, in the transaction that signs in.

    Args:
        messages: all values of the form's SAMLResponse.
    """
    return read_response(bindings.posted("SAMLResponse", messages).content, expected, now)


def read_response(content: bytes, expected: ExpectedResponse, now: datetime) -> AcceptedAssertion:
    """Return the assertion of a response. Raises SamlRefusal."""
    root = read_xml(content)
    if root.tag != samlp("Response"):
        raise SamlRefusal(
            SamlRule.STRUCTURE, "The message isn’t a response.", expected="Response", received=local_name(root.tag)
        )
    _check_status(root)
    assertion = _only_assertion(root)
    check_places(root, root, *([assertion] if assertion.tag == saml("Assertion") else []))
    found = _of_response(root, assertion, expected, now)
    if found.assertion.tag == saml("EncryptedAssertion"):
        found = _decrypted(found, expected)
    elif expected.must_be_encrypted:
        raise SamlRefusal(SamlRule.ENCRYPTION, "The assertion isn’t encrypted.", expected="EncryptedAssertion")
    verified, certificate = _verified_assertion(found, expected, now)
    return read_assertion(verified, expected, now, certificate=certificate, was_encrypted=found.was_encrypted)


def _check_status(response: _Element) -> None:
    status = only_child(only_child(response, samlp("Status")), samlp("StatusCode"))
    nested = [str(code.get("Value", "")).rpartition(":")[2] for code in status.iter(samlp("StatusCode"))]
    if status.get("Value") != SUCCESS:
        raise wrong("The provider didn’t sign the person in.", "Success", nested)


def _only_assertion(response: _Element) -> _Element:
    """Return the assertion, and demand that no element anywhere else could be taken for one, or for the response."""
    for child in response:
        if child.tag not in _PARTS:
            raise SamlRefusal(SamlRule.STRUCTURE, "The response has an unknown part.", received=local_name(child.tag))
    found = [child for child in response if child.tag in _ASSERTIONS]
    if len(found) != 1:
        raise SamlRefusal(
            SamlRule.STRUCTURE,
            "The response must have one assertion.",
            expected="one Assertion or EncryptedAssertion",
            received=str(len(found)),
        )
    _check_alone(response, {response, found[0]})
    return found[0]


def _check_alone(root: _Element, known: set[_Element]) -> None:
    for element in root.iter("{*}Assertion", "{*}EncryptedAssertion", "{*}Response"):
        if element not in known:
            raise SamlRefusal(
                SamlRule.STRUCTURE,
                "A second assertion or response is inside the message.",
                expected="one, as a child of the response",
                received=local_name(element.tag),
            )


def _of_response(root: _Element, assertion: _Element, expected: ExpectedResponse, now: datetime) -> _Found:
    """Return the assertion of the signed copy of the response if it is signed; otherwise the one of the message."""
    if signature_of(root) is not None:
        response, certificate = verified_element(root, root, expected.keys, now)
        _check_status(response)
        _check_envelope(response, expected, now)
        return _Found(response, only_child(response, str(assertion.tag)), certificate)
    if expected.signed_part in {SignedPart.RESPONSE, SignedPart.BOTH}:
        raise SamlRefusal(SamlRule.VERIFIED, "The response isn’t signed.", expected="a signature of the response")
    _check_envelope(root, expected, now)
    return _Found(root, assertion)


def _check_envelope(response: _Element, expected: ExpectedResponse, now: datetime) -> None:
    """Check what the response says of itself: a reason to refuse, and never what is returned."""
    check_version(response)
    if response.find(saml("Issuer")) is not None:
        check_issuer(response, expected.issuer)
    check_equal("Destination", response.get("Destination"), expected.acs_url)
    check_equal("InResponseTo", response.get("InResponseTo"), expected.request_id)
    check_not_in_future(instant(response, "IssueInstant"), now, "IssueInstant")


def _decrypted(found: _Found, expected: ExpectedResponse) -> _Found:
    """Read what was encrypted as a document of its own, by all rules again."""
    content = decrypted(found.assertion, expected.decryption, is_verified=bool(found.certificate))
    root = read_xml(content)
    if root.tag != saml("Assertion"):
        raise SamlRefusal(
            SamlRule.STRUCTURE,
            "What was encrypted isn’t an assertion.",
            expected="Assertion",
            received=local_name(root.tag),
        )
    _check_alone(root, {root})
    check_places(root, root)
    return _Found(root, root, found.certificate, was_encrypted=True)


def _verified_assertion(found: _Found, expected: ExpectedResponse, now: datetime) -> tuple[_Element, str]:
    if signature_of(found.assertion) is not None:
        return verified_element(found.root, found.assertion, expected.keys, now)
    if not found.certificate:
        raise SamlRefusal(
            SamlRule.VERIFIED, "Neither the response nor its assertion is signed.", expected="a signature of either"
        )
    if expected.signed_part in {SignedPart.ASSERTION, SignedPart.BOTH}:
        raise SamlRefusal(SamlRule.VERIFIED, "The assertion isn’t signed.", expected="a signature of the assertion")
    return found.assertion, found.certificate
