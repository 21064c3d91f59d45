"""Encrypted assertions that are refused (rule 13), and what is verified again after decrypting."""

from __future__ import annotations

from typing import Any

from lxml import etree

from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml.expectations import ExpectedResponse, SignedPart
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml import signers
from tests.support.saml.cases import Case, case
from tests.support.saml.encryption import DS, XENC, encrypted
from tests.support.saml.responses import SAML, added, doubled, expected, find, removed, response, response_tree, text

_R = SamlRule
_CBC: dict[str, Any] = {"content": f"{XENC}aes128-cbc", "key_bytes": 16}
_SIGNED = SignedPart.RESPONSE


def with_cbc() -> ExpectedResponse:
    return expected(decryption=DecryptionKeys((signers.rsa_key("sp"),), accepts_cbc=True))


def _replaced_by(plain: bytes, signed: SignedPart | None = None) -> bytes:
    """Return a response whose assertion is replaced by these bytes, encrypted; anybody can encrypt."""

    def changed(root: etree._Element) -> None:
        root.replace(find(root, "Assertion"), encrypted(plain, signers.rsa_key("sp")))

    return response(signed=signed, change=changed) if signed else response(after=changed, signed=None)


def _signed_assertion() -> bytes:
    return etree.tostring(find(response_tree(), "Assertion"), with_tail=False)


def _two_keys() -> ExpectedResponse:
    return expected(decryption=DecryptionKeys((signers.rsa_key("other"),)))


def _refused(name: str, rule: SamlRule = _R.ENCRYPTION, **arguments: Any) -> Case:
    return case(rule, name, **{"encryption": {}, **arguments})


ENCRYPTION_CASES = [
    _refused("CBC without a switch", encryption=_CBC, signed=SignedPart.BOTH),
    Case(_R.ENCRYPTION, "CBC outside of a signed response", lambda: response(encryption=_CBC), with_cbc),
    _refused("RSA 1.5", encryption={"transport": f"{XENC}rsa-1_5"}),
    _refused("triple DES", encryption={"content": f"{XENC}tripledes-cbc"}, signed=_SIGNED),
    _refused("no algorithm", encryption={"content": ""}),
    _refused("OAEP with MD5", encryption={"parameters": f'<d:DigestMethod xmlns:d="{DS}" Algorithm="urn:md5"/>'}),
    _refused("OAEP with a label", encryption={"parameters": f'<x:OAEPparams xmlns:x="{XENC}">AAAA</x:OAEPparams>'}),
    _refused("key of another length", encryption={"key_bytes": 16}),
    _refused("two keys", encryption={"copies": 2}),
    _refused("no key", after=removed("EncryptedKey")),
    _refused("key taken from elsewhere", after=added("KeyInfo", f'<ds:RetrievalMethod xmlns:ds="{DS}"/>'), rule=_R.SIGNATURE_FORM),
    _refused("two keys beside", encryption={"copies": 2, "is_beside": True}),
    _refused("content changed", after=text("CipherValue", "AAAA")),
    _refused("content without ciphertext", after=lambda root: list(root.iter("{*}CipherValue"))[-1].__setattr__("text", "AAAA")),
    _refused("value that is no base64", after=text("CipherValue", "*")),
    _refused("elements in the value", after=added("CipherValue", "<x/>")),
    _refused("a reference to the content", after=lambda root: setattr(
        find(root, "CipherValue"), "tag", f"{{{XENC}}}CipherReference"), rule=_R.STRUCTURE),
    _refused("two contents", after=doubled("EncryptedData"), rule=_R.STRUCTURE),
    _refused("no content", after=removed("EncryptedData"), rule=_R.STRUCTURE),
    Case(_R.ENCRYPTION, "for another key", lambda: response(encryption={}), _two_keys),
    Case(_R.ENCRYPTION, "no key here", lambda: response(encryption={}), lambda: expected(decryption=DecryptionKeys())),
    Case(_R.ENCRYPTION, "plain where encryption is demanded", response, lambda: expected(must_be_encrypted=True)),
    _refused("unsigned inside", _R.VERIFIED, signed=None),
    _refused("signed by somebody else", _R.KEY, signer=signers.rsa_signer("evil")),
    Case(_R.VERIFIED, "changed, then encrypted", lambda: _replaced_by(_signed_assertion().replace(b"ada@", b"eve@"))),
    Case(_R.STRUCTURE, "a response inside", lambda: _replaced_by(response())),
    Case(_R.STRUCTURE, "two assertions inside", lambda: _replaced_by(_signed_assertion().replace(
        b"<saml:Subject>", b'<saml:Advice><saml:Assertion ID="_2"/></saml:Advice><saml:Subject>', 1))),
    Case(_R.STRUCTURE, "an encrypted assertion inside", lambda: _replaced_by(
        f'<a:EncryptedAssertion xmlns:a="{SAML}"/>'.encode())),
    Case(_R.PARSER, "a document type inside", lambda: _replaced_by(b"<!DOCTYPE x>" + _signed_assertion())),
    Case(_R.NODES, "a comment inside", lambda: _replaced_by(_signed_assertion().replace(b"ada@", b"ada<!---->@"))),
    Case(_R.PARSER, "no XML inside", lambda: _replaced_by(b"nothing")),
    Case(_R.PARSER, "two assertions side by side", lambda: _replaced_by(_signed_assertion() * 2)),
    Case(_R.SIZE, "100,000 elements inside", lambda: _replaced_by(b"<a>" + b"<b/>" * 9_000 + b"</a>")),
    Case(_R.SIGNATURE_FORM, "signature elsewhere inside", lambda: _replaced_by(_signed_assertion().replace(
        b"<ds:Signature ", b"<saml:Advice><ds:Signature ").replace(b"</ds:Signature>", b"</ds:Signature></saml:Advice>"))),
]  # fmt: skip
