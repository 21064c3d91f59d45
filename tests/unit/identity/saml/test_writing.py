"""What the writer makes is accepted by the gate and by signxml alone."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from signxml.verifier import SignatureConfiguration, XMLVerifier

from app.identity.platform.saml.bindings import SamlEnvelope, posted, redirected
from app.identity.platform.saml.expectations import AcceptedAssertion, AssertionAttribute, SamlNameId, SignedPart
from app.identity.platform.saml.metadata_reader import EntityMetadata, SamlEndpoint, read_metadata
from app.identity.platform.saml.request_gate import (
    SamlPeer,
    accept_authn_request,
    accept_logout_request,
    accept_logout_response,
)
from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_names import POST, REDIRECT, saml
from app.identity.platform.saml.saml_rules import SamlRefusal
from app.identity.platform.saml.trusted_keys import DIGESTS, SIGNATURES, TrustedKeys
from app.identity.platform.saml_writing import message_bindings, request_writer, response_writer
from app.identity.platform.saml_writing.metadata_writer import (
    RoleMetadata,
    provider_metadata,
    service_provider_metadata,
)
from app.identity.platform.saml_writing.response_writer import AssertionContents, ResponseForm
from app.identity.platform.saml_writing.xml_signing import SigningKey
from tests.support.saml import signers
from tests.support.saml.responses import ACS, AUDIENCE, ISSUER, REQUEST_ID, expected
from tests.support.saml.signers import NOW, Signer

NAME = SamlNameId(value="zoë & <co>", name_format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent")
ADDRESS = "https://idp.example/sso?tenant=1"


def signing_key(signer: Signer | None = None) -> SigningKey:
    signer = signer or signers.rsa_signer()
    pem = signer.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return SigningKey(signer.certificate, pem)


def contents(**changes: Any) -> AssertionContents:
    values: dict[str, Any] = {
        "name_id": NAME,
        "audiences": (AUDIENCE, "urn:second"),
        "authenticated_at": NOW - timedelta(hours=1),
        "context_class": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password",
        "session_index": "_session1",
        "lifetime": timedelta(minutes=5),
        "session_expires_at": NOW + timedelta(hours=8),
        "attributes": {
            "groups": AssertionAttribute(values=("a]]>b", "شركة", ""), friendly_name="Groups", name_format="urn:x")
        },
    }
    return AssertionContents(**{**values, **changes})


def form(**changes: Any) -> ResponseForm:
    values: dict[str, Any] = {"issuer": ISSUER, "acs_url": ACS, "request_id": REQUEST_ID}
    return ResponseForm(**{**values, **changes})


def accepted(signed_part: SignedPart = SignedPart.ASSERTION, **changes: Any) -> AcceptedAssertion:
    written = response_writer.written_response(contents(), form(**changes), signing_key(), NOW)
    return read_response(
        written, expected(signed_part=signed_part, request_id=changes.get("request_id", REQUEST_ID)), NOW
    )


def test_gate_reads_what_was_written() -> None:
    found = accepted()
    assert found.name_id == NAME
    assert found.attributes == contents().attributes
    assert (found.session_index, found.context_class) == ("_session1", contents().context_class)
    assert found.authenticated_at == NOW - timedelta(hours=1)
    assert found.session_expires_at == NOW + timedelta(hours=8)
    assert found.expires_at == NOW + timedelta(minutes=6)


@pytest.mark.parametrize(
    ("part", "options"),
    [
        (SignedPart.ASSERTION, {}),
        (SignedPart.RESPONSE, {"signs_assertion": False, "signs_response": True}),
        (SignedPart.BOTH, {"signs_response": True}),
    ],
)
@pytest.mark.parametrize("is_encrypted", [False, True])
def test_each_choice_of_signatures_is_accepted(part: SignedPart, options: dict[str, Any], is_encrypted: bool) -> None:
    own = signers.certificate_of(signers.rsa_key("sp"), NOW, NOW + timedelta(days=1))
    certificate = own if is_encrypted else None
    assert accepted(part, encryption_certificate=certificate, **options).was_encrypted is is_encrypted


def test_response_without_request_names_none() -> None:
    assert accepted(request_id=None).request_id is None


def test_response_without_signature_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="signature"):
        form(signs_assertion=False)


def test_assertion_for_ec_key_cannot_be_encrypted() -> None:
    with pytest.raises(TypeError, match="RSA"):
        accepted(encryption_certificate=signers.ec_signer().certificate)


@pytest.mark.parametrize("text", ["a\0b", "a\x01b", "a\ud800b", "a\uffffb"])
def test_text_that_xml_cannot_have_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"XML|surrogates"):
        response_writer.written_response(
            contents(name_id=SamlNameId(value=text, name_format="")), form(), signing_key(), NOW
        )


@pytest.mark.parametrize("signer", [signers.rsa_signer(), signers.ec_signer(), signers.ec_signer(ec.SECP521R1)])
def test_signxml_alone_accepts_the_signature(signer: Signer) -> None:
    written = response_writer.written_response(contents(), form(), signing_key(signer), NOW)
    config = SignatureConfiguration(verification_time=NOW)
    result = XMLVerifier().verify(
        etree.fromstring(written), x509_cert=signer.certificate, id_attribute="ID", expect_config=config
    )
    assert not isinstance(result, list)
    assert result.signed_xml is not None
    assert result.signed_xml.tag == saml("Assertion")


def test_two_messages_have_two_ids() -> None:
    ids = [
        etree.fromstring(response_writer.written_response(contents(), form(), signing_key(), NOW)).get("ID")
        for _ in range(2)
    ]
    assert len(set(ids)) == 2


def test_refusal_has_a_status_and_no_assertion() -> None:
    written = response_writer.written_refusal(
        form(),
        signing_key(),
        NOW,
        status=request_writer.RESPONDER,
        detail="urn:oasis:names:tc:SAML:2.0:status:NoPassive",
    )
    assert b"Assertion" not in written
    with pytest.raises(SamlRefusal) as refusal:
        read_response(written, expected(), NOW)
    assert "NoPassive" in refusal.value.received


def _peer(signer: Signer | None = None) -> SamlPeer:
    certificate = (signer or signers.rsa_signer()).certificate
    return SamlPeer(entity_id=ISSUER, keys=TrustedKeys((certificate,)), acs_urls=(ACS,))


def _authn_request(**changes: Any) -> etree._Element:
    values: dict[str, Any] = {"issuer": ISSUER, "destination": ADDRESS, "acs_url": ACS, "must_reauthenticate": True}
    return request_writer.authn_request(request_writer.AuthnRequestContents(**{**values, **changes}), NOW)


def _redirected(message: etree._Element, key: SigningKey | None, relay_state: str = "a b&c=é") -> SamlEnvelope:
    url = message_bindings.redirect_url(message, ADDRESS, key, relay_state)
    assert url.startswith(f"{ADDRESS}&SAML")
    return redirected(message_bindings.parameter_of(message), urlsplit(url).query)


def _posted(message: etree._Element, key: SigningKey | None, relay_state: str = "a b&c=é") -> SamlEnvelope:
    fields = message_bindings.posted_fields(message, key, relay_state)
    name = message_bindings.parameter_of(message)
    return posted(name, [fields[name]], [fields["RelayState"]])


@pytest.mark.parametrize("carried", [_redirected, _posted])
@pytest.mark.parametrize("signer", [signers.rsa_signer(), signers.ec_signer()])
def test_signed_requests_are_accepted_on_both_bindings(carried: Any, signer: Signer) -> None:
    key, peer = signing_key(signer), _peer(signer)
    request = accept_authn_request(carried(_authn_request(), key), {ISSUER: peer}.get, address=ADDRESS, now=NOW)
    assert (request.is_signed, request.must_reauthenticate, request.relay_state) == (True, True, "a b&c=é")
    message = request_writer.logout_request(
        entity_id=ISSUER, destination=ADDRESS, name_id=NAME, session_indexes=["_1", "_2"], now=NOW
    )
    logout = accept_logout_request(carried(message, key), {ISSUER: peer}.get, address=ADDRESS, now=NOW)
    assert (logout.name_id, logout.session_indexes) == (NAME, ("_1", "_2"))


@pytest.mark.parametrize("carried", [_redirected, _posted])
@pytest.mark.parametrize("is_complete", [True, False])
def test_logout_response_has_the_status_of_the_chain(carried: Any, is_complete: bool) -> None:
    message = request_writer.logout_response(
        entity_id=ISSUER, destination=ADDRESS, request_id="_r", now=NOW, is_complete=is_complete
    )
    answer = accept_logout_response(carried(message, signing_key()), _peer(), request_id="_r", address=ADDRESS, now=NOW)
    assert answer.is_success is is_complete


def test_unsigned_request_is_accepted_where_none_is_demanded() -> None:
    peer = SamlPeer(entity_id=ISSUER, acs_urls=(ACS,), must_sign=False)
    request = accept_authn_request(
        _redirected(_authn_request(is_passive=True, context_classes=["urn:a"]), None),
        {ISSUER: peer}.get,
        address=ADDRESS,
        now=NOW,
    )
    assert (request.is_signed, request.is_passive, request.context_classes) == (False, True, ("urn:a",))


def test_form_carries_the_message_in_base64() -> None:
    fields = message_bindings.form_fields("SAMLResponse", b"<x/>")
    assert fields == {"SAMLResponse": base64.b64encode(b"<x/>").decode()}


def _role(**changes: Any) -> RoleMetadata:
    certificates = (signers.rsa_signer().certificate, signers.rsa_signer("next").certificate)
    values: dict[str, Any] = {
        "entity_id": ISSUER,
        "services": (
            SamlEndpoint(binding=POST, location=ACS, is_default=True),
            SamlEndpoint(binding=POST, location=f"{ACS}2"),
        ),
        "logout_services": (SamlEndpoint(binding=REDIRECT, location=ADDRESS, response_location=f"{ADDRESS}&r"),),
        "signing_certificates": certificates,
        "encryption_certificates": certificates[:1],
        "name_id_formats": (NAME.name_format,),
        "wants_signed_requests": True,
        "wants_signed_assertions": True,
    }
    return RoleMetadata(**{**values, **changes})


@pytest.mark.parametrize("key", [None, signing_key()])
@pytest.mark.parametrize("write", [provider_metadata, service_provider_metadata])
def test_metadata_of_both_roles_is_read_back(write: Any, key: SigningKey | None) -> None:
    pinned = TrustedKeys((key.certificate,)) if key else None
    found: EntityMetadata = read_metadata(write(_role(), key), NOW, pinned=pinned, entity_id=ISSUER)
    role = found.provider or found.service_provider
    assert role is not None
    assert (role.signing_certificates, role.encryption_certificates) == (
        _role().signing_certificates,
        _role().encryption_certificates,
    )
    assert [one.location for one in role.services] == [ACS, f"{ACS}2"]
    assert role.logout_services == _role().logout_services
    assert role.name_id_formats == (NAME.name_format,)


@pytest.mark.parametrize("write", [provider_metadata, service_provider_metadata])
def test_metadata_names_the_algorithms_that_the_gate_takes(write: Any) -> None:
    """A peer that isn’t told may sign by SHA-1: Shibboleth’s service provider does in what it posts."""
    role = etree.fromstring(write(_role()))[0]
    stated = [(one.tag.rpartition("}")[2], one.get("Algorithm")) for one in role[0]]
    assert stated[0] == ("DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha256")
    assert {algorithm for kind, algorithm in stated if kind == "DigestMethod"} == DIGESTS
    assert [algorithm for kind, algorithm in stated if kind == "SigningMethod"] == list(SIGNATURES)


def test_metadata_names_the_encryption_that_the_gate_takes() -> None:
    role = etree.fromstring(service_provider_metadata(_role()))[0]
    methods = {
        key.get("use"): [str(one.get("Algorithm")).rpartition("#")[2] for one in key.iter("{*}EncryptionMethod")]
        for key in role.iter("{*}KeyDescriptor")
    }
    expected = ["aes256-gcm", "aes192-gcm", "aes128-gcm", "rsa-oaep", "rsa-oaep-mgf1p"]
    assert methods == {"signing": [], "encryption": expected}
