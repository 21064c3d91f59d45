"""The gate accepts responses of all forms that providers use."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from signxml.algorithms import CanonicalizationMethod
from signxml.signer import XMLSigner

from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.expectations import ExpectedResponse, SignedPart
from app.identity.platform.saml.response_gate import accept_response, read_response
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.encryption import DS, XENC, XENC11
from tests.support.saml.encryption_cases import with_cbc
from tests.support.saml.responses import (
    ASSERTION_ID,
    REQUEST_ID,
    SAML,
    Change,
    added,
    attribute,
    doubled,
    expected,
    find,
    response,
    text,
)
from tests.support.saml.signers import MORE, NOW

OAEP_SHA256 = f'<d:DigestMethod xmlns:d="{DS}" Algorithm="{XENC}sha256"/><m:MGF xmlns:m="{XENC11}" Algorithm="{XENC11}mgf1sha256"/>'


@pytest.mark.parametrize("signed", [SignedPart.ASSERTION, SignedPart.RESPONSE, SignedPart.BOTH])
@pytest.mark.parametrize("encryption", [None, {}], ids=["plain", "encrypted"])
def test_signed_response_is_read(signed: SignedPart, encryption: dict[str, Any] | None) -> None:
    accepted = read_response(response(signed=signed, encryption=encryption), expected(), NOW)
    assert (accepted.name_id.value, accepted.assertion_id, accepted.request_id, accepted.session_index) == (
        "ada@example.test", ASSERTION_ID, REQUEST_ID, "_session1",
    )  # fmt: skip
    assert accepted.attributes["groups"].values == ("staff", "admins")
    assert accepted.was_encrypted is (encryption is not None)
    assert accepted.certificate == signers.rsa_signer().certificate
    assert accepted.expires_at == NOW + timedelta(minutes=6)  # the earlier end, and the difference of clocks


@pytest.mark.parametrize(
    ("signer", "form"),
    [
        (signers.rsa_signer(), {"algorithm": f"{MORE}rsa-sha384", "digest": f"{MORE}sha384"}),
        (signers.rsa_signer(), {"algorithm": f"{MORE}rsa-sha512", "digest": f"{XENC}sha512"}),
        (signers.rsa_signer("long", 4_096), {}),
        (signers.ec_signer(), {"algorithm": f"{MORE}ecdsa-sha256"}),
        (signers.ec_signer(ec.SECP384R1), {"algorithm": f"{MORE}ecdsa-sha384"}),
        (signers.ec_signer(ec.SECP521R1), {"algorithm": f"{MORE}ecdsa-sha512"}),
        (signers.rsa_signer(), {"key_info": "<ds:KeyName>idp</ds:KeyName>"}),
        (signers.rsa_signer(), {"prefixes": "#default xs saml"}),
    ],
)  # fmt: skip
def test_accepted_forms_of_signatures(signer: signers.Signer, form: dict[str, Any]) -> None:
    content = response(signer=signer, signed=SignedPart.BOTH, **form)
    assert read_response(content, expected(signer.certificate), NOW).name_id.value == "ada@example.test"


def test_signature_of_signxml_is_accepted() -> None:
    """The builder's signatures are our own; this one is not."""
    root = etree.fromstring(response(signed=None))
    signer = signers.rsa_signer()
    key = signer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    xml_signer = XMLSigner(c14n_algorithm=CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0)
    signed = xml_signer.sign(
        root, key=key, cert=signer.certificate, reference_uri="#_response1", always_add_key_value=False
    )
    assert read_response(etree.tostring(signed), expected(), NOW).assertion_id == ASSERTION_ID


@pytest.mark.parametrize(
    "others",
    [
        [signers.rsa_signer("old", from_days=-20, to_days=-1)],
        [signers.rsa_signer("next", from_days=1, to_days=9), signers.ec_signer()],
        [signers.rsa_signer("weak", 1_024), signers.rsa_signer("other")],
    ],
    ids=["expired", "not yet valid", "weak and other"],
)
def test_one_valid_certificate_of_several_suffices(others: list[signers.Signer]) -> None:
    certificates = [*(one.certificate for one in others), signers.rsa_signer().certificate]
    assert read_response(response(), expected(*certificates), NOW).certificate == certificates[-1]


@pytest.mark.parametrize(
    ("encryption", "signed", "expectation"),
    [
        ({"is_beside": True}, SignedPart.ASSERTION, expected),
        ({"content": f"{XENC11}aes128-gcm", "key_bytes": 16}, SignedPart.ASSERTION, expected),
        ({"transport": f"{XENC11}rsa-oaep", "parameters": OAEP_SHA256}, SignedPart.ASSERTION, expected),
        ({"content": f"{XENC}aes256-cbc"}, SignedPart.RESPONSE, with_cbc),
        ({"content": f"{XENC}aes128-cbc", "key_bytes": 16}, SignedPart.BOTH, with_cbc),
    ],
)
def test_accepted_forms_of_encryption(encryption: dict[str, Any], signed: SignedPart, expectation: Any) -> None:
    accepted = read_response(response(signed=signed, encryption=encryption), expectation(), NOW)
    assert accepted.was_encrypted
    assert accepted.name_id.value == "ada@example.test"


def test_former_decryption_key_still_opens() -> None:
    keys = DecryptionKeys((signers.rsa_key("new sp"), signers.rsa_key("sp")))
    assert read_response(response(encryption={}), expected(decryption=keys), NOW).was_encrypted


def test_unsolicited_response_is_read_where_none_is_pending() -> None:
    def unsolicited(root: etree._Element) -> None:
        del root.attrib["InResponseTo"], find(root, "SubjectConfirmationData").attrib["InResponseTo"]

    assert read_response(response(change=unsolicited), expected(request_id=None), NOW).request_id is None


@pytest.mark.parametrize(
    "change",
    [
        attribute("Conditions", "NotBefore", "2026-06-01T12:01:00Z"),
        attribute("Conditions", "NotBefore", None),
        attribute("Conditions", "NotOnOrAfter", "2026-06-01T11:59:00.001Z"),
        attribute(
            "SubjectConfirmationData", "NotOnOrAfter", "2026-06-01T11:59:00.0000001Z".replace("0000001", "9999999")
        ),
        attribute("Assertion", "IssueInstant", "2026-06-01T12:01:00Z"),
    ],
)
def test_clocks_may_differ_by_a_minute(change: Change) -> None:
    assert read_response(response(change=change), expected(), NOW).assertion_id == ASSERTION_ID


@pytest.mark.parametrize(
    ("change", "values"),
    [
        (doubled("Attribute"), ("staff", "admins", "staff", "admins")),
        (text("AttributeValue", "<b> & \r\n ä"), ("<b> & \r\n ä", "admins")),
        (added("AttributeValue", f'<a:NameID xmlns:a="{SAML}">x</a:NameID>'), ("admins",)),
    ],
    ids=["one attribute twice", "escaped text", "a value that is no text"],
)
def test_attributes_are_read_as_they_were_signed(change: Change, values: tuple[str, ...]) -> None:
    assert read_response(response(change=change), expected(), NOW).attributes["groups"].values == values


def test_response_is_posted_in_base64_with_line_breaks() -> None:
    message = base64.encodebytes(b"\xef\xbb\xbf" + b'<?xml version="1.0" encoding="utf-8"?>' + response()).decode()
    assert accept_response([message], expected(), NOW).assertion_id == ASSERTION_ID


@pytest.mark.parametrize("messages", [[], ["", ""], ["a", "b"], ["a" * (256 * 1024 + 1)], ["*"], ["ä"], ["a"]])
def test_parameter_that_is_no_message_is_refused(messages: list[str]) -> None:
    with pytest.raises(SamlRefusal) as refused:
        accept_response(messages, expected(), NOW)
    assert refused.value.rule is SamlRule.SIZE


@pytest.mark.parametrize("changes", [{"issuer": ""}, {"audience": ""}, {"acs_url": ""}, {"request_id": ""}])
def test_empty_expectation_is_an_error(changes: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="empty"):
        expected(**changes)


def test_connection_without_certificate_is_an_error() -> None:
    with pytest.raises(ValueError, match="certificates"):
        TrustedKeys(())


def test_secret_keys_are_not_shown() -> None:
    expectation: ExpectedResponse = expected()
    assert "RSAPrivateKey" not in repr(expectation)
