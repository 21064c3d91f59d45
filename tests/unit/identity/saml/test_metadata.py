"""Metadata: what is read, and the rule that refuses each hostile document."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from app.identity.directory.organizations.connections import provider_metadata
from app.identity.platform.saml.metadata_reader import SamlEndpoint, read_metadata
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.saml.trusted_keys import TrustedKeys
from tests.support.saml import signers
from tests.support.saml.metadata import ENTITY, key_descriptor, metadata
from tests.support.saml.responses import Change, added, attribute, doubled, removed, text
from tests.support.saml.signers import DS, NOW

R = SamlRule
MD = "urn:oasis:names:tc:SAML:2.0:metadata"
PINNED = TrustedKeys((signers.rsa_signer("federation").certificate,))


def test_both_roles_are_read() -> None:
    found = read_metadata(metadata(), NOW, entity_id=ENTITY)
    assert found.provider is not None
    assert found.service_provider is not None
    assert found.provider.signing_certificates == (signers.rsa_signer().certificate,)
    assert found.provider.encryption_certificates == ()
    assert found.provider.services == (
        SamlEndpoint(binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect", location="https://idp.example/sso"),
    )
    assert found.provider.wants_signed_requests
    assert found.service_provider.encryption_certificates == (signers.ec_signer().certificate,)
    assert [one.index for one in found.service_provider.services] == [3]
    assert not found.is_signed


def test_comments_of_metadata_are_dropped() -> None:
    """A comment within a value joins its parts, as canonicalization does."""
    content = metadata().replace(b"nameid-format:per", b"nameid-format:<!-- x -->per")
    found = read_metadata(b'\xef\xbb\xbf<?xml version="1.0" encoding="UTF-8"?>\n<!-- of ours -->\n' + content, NOW)
    assert found.provider is not None
    assert found.provider.name_id_formats[0].endswith("nameid-format:persistent")


def test_overlapping_certificates_are_all_read() -> None:
    keys = key_descriptor(signers.rsa_signer().certificate) + key_descriptor(signers.rsa_signer("next").certificate, "")
    found = read_metadata(metadata(keys=keys * 2), NOW).provider
    assert found is not None
    assert [*found.signing_certificates] == [signers.rsa_signer().certificate, signers.rsa_signer("next").certificate]


def test_metadata_signed_by_the_pinned_key_is_read() -> None:
    content = metadata(signer=signers.rsa_signer("federation"))
    assert read_metadata(content, NOW, pinned=PINNED).is_signed


@pytest.mark.parametrize(
    ("rule", "content"),
    [
        (R.VERIFIED, lambda: metadata()),
        (R.KEY, lambda: metadata(signer=signers.rsa_signer())),
        (R.VERIFIED, lambda: metadata(
            signer=signers.rsa_signer("federation"), after=attribute("SingleSignOnService", "Location", "https://evil.example"))),
        (R.SIGNATURE_FORM, lambda: metadata(signer=signers.rsa_signer("federation"), after=doubled("Signature"))),
        (R.SIGNATURE_FORM, lambda: metadata(
            signer=signers.rsa_signer("federation"), change=added("IDPSSODescriptor", f'<d:Signature xmlns:d="{DS}"/>'))),
    ],
    ids=["unsigned", "by the entity itself", "changed", "two signatures", "signature elsewhere"],
)  # fmt: skip
def test_metadata_without_the_pinned_signature_is_refused(rule: SamlRule, content: Callable[[], bytes]) -> None:
    with pytest.raises(SamlRefusal) as refused:
        read_metadata(content(), NOW, pinned=PINNED)
    assert refused.value.rule is rule


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        (R.METADATA, attribute("EntityDescriptor", "validUntil", "2026-06-01T12:00:00Z")),
        (R.METADATA, attribute("EntityDescriptor", "entityID", "https://evil.example")),
        (R.METADATA, attribute("EntityDescriptor", "entityID", f"{ENTITY} ")),
        (R.METADATA, attribute("SingleLogoutService", "Location", "javascript:alert(1)")),
        (R.METADATA, attribute("SingleLogoutService", "Location", "file:///etc/passwd")),
        (R.TEXT, attribute("SingleLogoutService", "Location", "https://idp.example/\r\nx")),
        (R.TEXT, attribute("SingleLogoutService", "Location", "https://idp.example/" + "a" * 3_000)),
        (R.METADATA, attribute("SingleLogoutService", "ResponseLocation", "https://idp.example/" + "a" * 3_000)),
        (R.METADATA, attribute("SingleLogoutService", "Location", "https://idp.example/ x")),
        (R.METADATA, attribute("SingleLogoutService", "ResponseLocation", "//evil.example")),
        (R.METADATA, attribute("AssertionConsumerService", "index", "x")),
        (R.METADATA, attribute("AssertionConsumerService", "index", "9" * 5_000)),
        (R.METADATA, text("X509Certificate", "AAAA")),
        (R.METADATA, text("X509Certificate", "*")),
        (R.METADATA, text("X509Certificate", "")),
        (R.METADATA, text("X509Certificate", "A" * 1_000_000)),
        (R.METADATA, added("X509Certificate", "<x/>")),
        (R.STRUCTURE, attribute("SingleLogoutService", "Location", None)),
        (R.STRUCTURE, attribute("EntityDescriptor", "entityID", None)),
        (R.STRUCTURE, doubled("IDPSSODescriptor")),
        (R.STRUCTURE, attribute("IDPSSODescriptor", "id", "_x")),
        (R.STRUCTURE, attribute("IDPSSODescriptor", "ID", "_metadata1")),
        (R.STRUCTURE, removed("KeyInfo")),
        (R.CONDITIONS, attribute("EntityDescriptor", "validUntil", "never")),
        (R.TEXT, added("NameIDFormat", "<x/>")),
    ],
)  # fmt: skip
def test_hostile_metadata_is_refused_by_its_rule(rule: SamlRule, change: Change) -> None:
    with pytest.raises(SamlRefusal) as refused:
        read_metadata(metadata(change=change), NOW, entity_id=ENTITY)
    assert refused.value.rule is rule


@pytest.mark.parametrize(
    ("rule", "content"),
    [
        (R.SIZE, lambda: metadata() + b" " * (2 << 20)),
        (R.SIZE, lambda: metadata().replace(b"<md:NameIDFormat>", b"<md:Extensions/>" * 8_000 + b"<md:NameIDFormat>")),
        (R.SIZE, lambda: b"<a>" * 100 + b"</a>" * 100),
        (R.PARSER, lambda: b"<!DOCTYPE x>" + metadata()),
        (R.PARSER, lambda: metadata().decode().encode("utf-16")),
        (R.NODES, lambda: b'<?xml version="1.0"?><?x?>' + metadata()),
        (R.NODES, lambda: b"<!ELEMENT x ANY>" + metadata()),
        (R.METADATA, lambda: b'<md:EntitiesDescriptor xmlns:md="%b">%b</md:EntitiesDescriptor>' % (MD.encode(), metadata())),
        (R.METADATA, lambda: b'<md:EntityDescriptor xmlns:md="%b" entityID="x"/>' % MD.encode()),
        (R.METADATA, lambda: b"<html><title>Sign in</title></html>"),
        (R.METADATA, lambda: metadata(keys=key_descriptor(signers.rsa_signer("weak", 1_024).certificate))),
        (R.METADATA, lambda: metadata(keys="".join(
            key_descriptor(signers.certificate_of(signers.rsa_key("idp"), NOW, NOW.replace(year=2030 + number))) for number in range(9)
        ))),
        (R.METADATA, lambda: metadata().replace(
            b"<md:NameIDFormat>",
            b'<md:SingleLogoutService Binding="x" Location="https://idp.example/"/>' * 60 + b"<md:NameIDFormat>")),
    ],
    ids=["2 MB", "8,000 elements", "100 levels", "document type", "UTF-16", "instruction", "declaration", "entities",
         "no role", "a page", "1,024 bits", "nine certificates", "60 endpoints"],
)  # fmt: skip
def test_metadata_beyond_the_limits_is_refused(rule: SamlRule, content: Callable[[], bytes]) -> None:
    with pytest.raises(SamlRefusal) as refused:
        read_metadata(content(), NOW)
    assert refused.value.rule is rule


@pytest.mark.parametrize(
    ("address", "is_taken"),
    [
        ("https://idp.example/answers", True),
        ("http://idp.localhost:18080/answers", True),
        ("http://idp.example/answers", False),
        ("http://localhost.evil.example/answers", False),
    ],
)
def test_answers_to_sign_out_go_by_https_alone(address: str, is_taken: bool) -> None:
    facts = provider_metadata.read(metadata(change=attribute("SingleLogoutService", "ResponseLocation", address)), NOW)
    assert facts.sign_in_url == "https://idp.example/sso"
    assert (facts.sign_out_response_url == address) is is_taken
    assert bool(facts.sign_out_url) is is_taken
