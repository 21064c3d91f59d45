"""Responses whose signatures are refused for their form, their algorithm, their key or their content (rules 5 to 8)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from lxml import etree

from app.identity.platform.saml.expectations import SignedPart
from app.identity.platform.saml.saml_rules import SamlRule
from tests.support.saml import signers
from tests.support.saml.cases import Case, PartMissing, case
from tests.support.saml.responses import SAMLP, added, attribute, expected, find, removed, response, text
from tests.support.saml.signers import DS, ENVELOPED, EXCLUSIVE, MORE

_R = SamlRule
_XPATH = "http://www.w3.org/TR/1999/REC-xpath-19991116"
_XSLT = "http://www.w3.org/TR/1999/REC-xslt-19991116"
_INCLUSIVE = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"
_TRANSFORM = f'<ds:Transform Algorithm="{EXCLUSIVE}"></ds:Transform>'
_OPEN_TRANSFORM = f'<ds:Transform Algorithm="{EXCLUSIVE}">'
_PREFIX = f'<e:InclusiveNamespaces xmlns:e="{EXCLUSIVE}" PrefixList="'


def _info(name: str, old: str, new: str, rule: SamlRule = _R.SIGNATURE_FORM, **arguments: Any) -> Case:
    """Return the case of a SignedInfo in which a text is another one; the signature is right. It is of the element `_assertion1`."""

    def changed(info: str) -> str:
        (signed,) = re.findall(r'URI="#(\w+)"', info)
        before, after = (text.replace("_assertion1", signed) for text in (old, new))
        if before not in info:
            raise PartMissing(before)
        return info.replace(before, after, 1)

    return case(rule, name, change_info=changed, **arguments)


def _references(count: int) -> Callable[[str], str]:
    def changed(info: str) -> str:
        start, end = info.index("<ds:Reference"), info.index("</ds:SignedInfo>")
        return info[:start] + info[start:end] * count + info[end:]

    return changed


def _moved(target: str, place: int = 0) -> Callable[[etree._Element], None]:
    def changed(root: etree._Element) -> None:
        find(root, target).insert(place, find(root, "Signature"))

    return changed


def _copied(root: etree._Element) -> None:
    signature = find(root, "Signature")
    signature.addnext(etree.fromstring(etree.tostring(signature, with_tail=False)))


def _weak(name: str, signer: Callable[[], signers.Signer], rule: SamlRule = _R.KEY, **form: Any) -> Case:
    return Case(rule, name, lambda: response(signer=signer(), **form), lambda: expected(signer().certificate))


def _other_key_info() -> bytes:
    bare = "".join(signers.rsa_signer("evil").certificate.splitlines()[1:-1])
    own = "".join(signers.rsa_signer().certificate.splitlines()[1:-1])
    both = "".join(f"<ds:X509Certificate>{one}</ds:X509Certificate>" for one in (own, bare))
    return response(signer=signers.rsa_signer("evil"), key_info=f"<ds:X509Data>{both}</ds:X509Data>")


SIGNATURE_CASES = [
    case(_R.SIGNATURE_FORM, "two references", change_info=_references(2)),
    case(_R.SIGNATURE_FORM, "500 references", change_info=_references(500)),
    case(_R.SIZE, "2,000 references", change_info=_references(2_000)),
    case(_R.SIGNATURE_FORM, "no reference", change_info=lambda info: info[: info.index("<ds:Reference")] + "</ds:SignedInfo>"),
    _info("whole document", 'URI="#_assertion1"', 'URI=""'),
    _info("XPointer", 'URI="#_assertion1"', "URI=\"#xpointer(id('_assertion1'))\""),
    _info("XPointer of the root", 'URI="#_assertion1"', 'URI="#xpointer(/)"'),
    _info("another element", 'URI="#_assertion1"', 'URI="#_response1"'),
    _info("an address", 'URI="#_assertion1"', 'URI="https://idp.example/a.xml"'),
    _info("a file", 'URI="#_assertion1"', 'URI="file:///etc/passwd"'),
    _info("no URI", ' URI="#_assertion1"', ""),
    _info("escaped URI", 'URI="#_assertion1"', 'URI="#%5Fassertion1"'),
    _info("Type of a reference", "<ds:Reference ", f'<ds:Reference Type="{DS}Manifest" '),
    _info("no transforms", f'<ds:Transforms><ds:Transform Algorithm="{ENVELOPED}"/>{_TRANSFORM}</ds:Transforms>', ""),
    _info("no canonicalization of the content", _TRANSFORM, ""),
    _info("no enveloped transform", f'<ds:Transform Algorithm="{ENVELOPED}"/>', ""),
    _info("transforms in another order", f'<ds:Transform Algorithm="{ENVELOPED}"/>{_TRANSFORM}',
          f'{_TRANSFORM}<ds:Transform Algorithm="{ENVELOPED}"/>'),
    _info("canonicalization twice", _TRANSFORM, _TRANSFORM * 2),
    _info("XPath", _TRANSFORM, f'<ds:Transform Algorithm="{_XPATH}"><ds:XPath>true()</ds:XPath></ds:Transform>'),
    _info("XSLT", _TRANSFORM, f'<ds:Transform Algorithm="{_XSLT}"><x:stylesheet xmlns:x="urn:x"/></ds:Transform>'),
    _info("base64", _TRANSFORM, f'<ds:Transform Algorithm="{DS}base64"/>{_TRANSFORM}'),
    _info("comments in the content", f'<ds:Transform Algorithm="{EXCLUSIVE}"', f'<ds:Transform Algorithm="{EXCLUSIVE}WithComments"'),
    _info("inclusive content", f'<ds:Transform Algorithm="{EXCLUSIVE}"', f'<ds:Transform Algorithm="{_INCLUSIVE}"'),
    _info("inclusive SignedInfo", f'Method Algorithm="{EXCLUSIVE}"', f'Method Algorithm="{_INCLUSIVE}"'),
    _info("unknown canonicalization", f'Method Algorithm="{EXCLUSIVE}"', 'Method Algorithm="urn:none"'),
    _info("1,000 prefixes", _TRANSFORM, f'{_OPEN_TRANSFORM}{_PREFIX}{" ".join(f"p{n}" for n in range(1_000))}"/></ds:Transform>'),
    _info("two lists of prefixes", _TRANSFORM, f'{_OPEN_TRANSFORM}{_PREFIX}a"/>{_PREFIX}b"/></ds:Transform>'),
    _info("a list of something else", _TRANSFORM, f'{_OPEN_TRANSFORM}{_PREFIX}a&#10;b"/></ds:Transform>'),
    _info("length of an HMAC", 'rsa-sha256"/>', 'rsa-sha256"><ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>'),
    _info("a part of SignedInfo too many", "</ds:SignedInfo>", "<ds:Object/></ds:SignedInfo>"),
    case(_R.SIGNATURE_FORM, "Object", after=added("Signature", f'<ds:Object xmlns:ds="{DS}"/>', 3)),
    case(_R.SIGNATURE_FORM, "Manifest", after=added("KeyInfo", f'<ds:Manifest xmlns:ds="{DS}"/>')),
    case(_R.SIGNATURE_FORM, "RetrievalMethod", key_info=f'<ds:RetrievalMethod xmlns:ds="{DS}" URI="http://127.0.0.1/"/>'),
    case(_R.SIGNATURE_FORM, "two signatures of one element", after=_copied),
    case(_R.SIGNATURE_FORM, "signature in Subject", after=_moved("Subject")),
    case(_R.SIGNATURE_FORM, "signature in Conditions", after=_moved("Conditions")),
    case(_R.SIGNATURE_FORM, "signature in Status", after=_moved("Status")),
    case(_R.SIGNATURE_FORM, "signature of the assertion at the response", after=_moved("Response", 1)),
    case(_R.SIGNATURE_FORM, "signature in Extensions",
         change=added("Response", f'<p:Extensions xmlns:p="{SAMLP}"/>', 1), after=_moved("Extensions")),
    case(_R.SIGNATURE_FORM, "signature of another namespace", after=added("Status", '<x:Signature xmlns:x="urn:x"/>')),
    case(_R.SIGNATURE_FORM, "signature in KeyInfo", key_info=f'<ds:Signature xmlns:ds="{DS}"/>'),
    case(_R.SIGNATURE_FORM, "empty signature value", after=text("SignatureValue", "")),
    case(_R.SIGNATURE_FORM, "value that is no base64", after=text("SignatureValue", "a*b=")),
    case(_R.SIGNATURE_FORM, "value of 100 KB", after=text("SignatureValue", "A" * 100_000)),
    case(_R.SIGNATURE_FORM, "elements in the value", after=added("SignatureValue", "<x/>")),
    case(_R.SIGNATURE_FORM, "no SignedInfo", after=removed("SignedInfo")),
    case(_R.ALGORITHM, "RSA with SHA-1", algorithm=f"{DS}rsa-sha1"),
    case(_R.ALGORITHM, "SHA-1 digest beside SHA-256", digest=f"{DS}sha1"),
    case(_R.ALGORITHM, "RSA with SHA-224", algorithm=f"{MORE}rsa-sha224"),
    case(_R.ALGORITHM, "SHA-224 digest", digest=f"{MORE}sha224"),
    case(_R.ALGORITHM, "HMAC by the public key", algorithm=f"{MORE}hmac-sha256"),
    case(_R.ALGORITHM, "HMAC with SHA-1", algorithm=f"{DS}hmac-sha1"),
    _info("DSA", f"{MORE}rsa-sha256", f"{DS}dsa-sha1", _R.ALGORITHM),
    _info("RSA with MD5", f"{MORE}rsa-sha256", f"{MORE}rsa-md5", _R.ALGORITHM),
    _info("no algorithm", f"{MORE}rsa-sha256", "", _R.ALGORITHM),
    _weak("RSA of 1,024 bits", lambda: signers.rsa_signer("weak", 1_024)),
    _weak("RSA of 2,047 bits", lambda: signers.rsa_signer("odd", 2_047)),
    _weak("P-192", lambda: signers.ec_signer(ec.SECP192R1), algorithm=f"{MORE}ecdsa-sha256"),
    _weak("P-224", lambda: signers.ec_signer(ec.SECP224R1), algorithm=f"{MORE}ecdsa-sha256"),
    _weak("secp256k1", lambda: signers.ec_signer(ec.SECP256K1), algorithm=f"{MORE}ecdsa-sha256"),
    _weak("expired certificate", lambda: signers.rsa_signer("old", from_days=-20, to_days=-1)),
    _weak("certificate of tomorrow", lambda: signers.rsa_signer("new", from_days=1, to_days=9)),
    _weak("ECDSA called RSA", signers.ec_signer),
    case(_R.KEY, "somebody else’s key", signer=signers.rsa_signer("evil")),
    Case(_R.KEY, "two certificates in KeyInfo", _other_key_info),
    case(_R.KEY, "KeyValue of the attacker", signer=signers.rsa_signer("evil"), key_info="<ds:KeyName>idp</ds:KeyName>"),
    case(_R.KEY, "an ECDSA key that is not pinned", signer=signers.ec_signer(), algorithm=f"{MORE}ecdsa-sha256"),
    case(_R.KEY, "signed info changed", after=lambda root: find(root, "DigestValue").__setattr__("text", "AAAA")),
    case(_R.KEY, "another signature value", after=text("SignatureValue", "A" * 344)),
    case(_R.VERIFIED, "unsigned", signed=None),
    case(_R.VERIFIED, "signature removed", after=removed("Signature")),
    case(_R.VERIFIED, "NameID changed", after=text("NameID", "admin@example.test")),
    case(_R.VERIFIED, "value changed", after=text("AttributeValue", "admins")),
    case(_R.VERIFIED, "attribute changed", after=attribute("SubjectConfirmationData", "NotOnOrAfter", "2026-06-01T12:59:00Z")),
    case(_R.VERIFIED, "space added", after=lambda root: find(root, "Subject").__setattr__("text", " ")),
    case(_R.VERIFIED, "xml:base added", after=attribute("Subject", "{http://www.w3.org/XML/1998/namespace}base", "urn:x")),
    case(_R.VERIFIED, "xml:space added", after=attribute("NameID", "{http://www.w3.org/XML/1998/namespace}space", "preserve")),
    case(_R.VERIFIED, "status of a signed response changed", signed=SignedPart.RESPONSE, after=attribute("StatusCode", "x", "y")),
    case(_R.VERIFIED, "assertion of a signed response changed", signed=SignedPart.RESPONSE, after=text("NameID", "admin")),
    case(_R.VERIFIED, "response changed, assertion whole", signed=SignedPart.BOTH, after=attribute("Status", "x", "y")),
    Case(_R.VERIFIED, "response must be signed", response, lambda: expected(signed_part=SignedPart.RESPONSE)),
    Case(_R.VERIFIED, "both must be signed", response, lambda: expected(signed_part=SignedPart.BOTH)),
    Case(_R.VERIFIED, "assertion must be signed", lambda: response(signed=SignedPart.RESPONSE),
         lambda: expected(signed_part=SignedPart.ASSERTION)),
]  # fmt: skip
