"""Keys of SAML peers, and a signer that also makes signatures that no library makes."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, hmac
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID
from lxml import etree

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
DS = "http://www.w3.org/2000/09/xmldsig#"
MORE = "http://www.w3.org/2001/04/xmldsig-more#"
RSA_SHA256 = f"{MORE}rsa-sha256"
SHA256 = "http://www.w3.org/2001/04/xmlenc#sha256"
EXCLUSIVE = "http://www.w3.org/2001/10/xml-exc-c14n#"
ENVELOPED = f"{DS}enveloped-signature"
HASHES: dict[str, Any] = {
    "sha1": hashes.SHA1, "sha224": hashes.SHA224, "sha256": hashes.SHA256, "sha384": hashes.SHA384, "sha512": hashes.SHA512,
}  # fmt: skip
Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def randomness_id() -> str:
    """Return a new part of an ID."""
    return secrets.token_hex(8)


@dataclass(frozen=True)
class Signer:
    """A private key with its certificate in PEM."""

    key: Key
    certificate: str


def certificate_of(key: Key, start: datetime, end: datetime) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idp")])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, start, end)
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM).decode()


@cache
def rsa_key(name: str, bits: int = 2_048) -> rsa.RSAPrivateKey:
    """Return the key with this name."""
    return rsa.generate_private_key(65_537, bits)


@cache
def rsa_signer(name: str = "idp", bits: int = 2_048, from_days: int = -10, to_days: int = 10) -> Signer:
    key = rsa_key(name, bits)
    return Signer(key, certificate_of(key, NOW + timedelta(days=from_days), NOW + timedelta(days=to_days)))


@cache
def ec_signer(curve: type[ec.EllipticCurve] = ec.SECP256R1) -> Signer:
    key = ec.generate_private_key(curve())
    return Signer(key, certificate_of(key, NOW - timedelta(days=10), NOW + timedelta(days=10)))


def canonical(element: etree._Element, method: str = EXCLUSIVE, prefixes: list[str] | None = None) -> bytes:
    alone = etree.fromstring(etree.tostring(element, with_tail=False))
    is_exclusive, has_comments = method.startswith(EXCLUSIVE), method.endswith("WithComments")
    return etree.tostring(
        alone, method="c14n", exclusive=is_exclusive, with_comments=has_comments, inclusive_ns_prefixes=prefixes
    )


def signature_value(content: bytes, key: Key, algorithm: str) -> bytes:
    """Return a signature in the form of XML; with an HMAC algorithm, by the public certificate's bytes as its key."""
    kind = HASHES[algorithm.rpartition("-")[2]]()
    if "hmac" in algorithm:
        mac = hmac.HMAC(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), kind)
        mac.update(content)
        return mac.finalize()
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(content, padding.PKCS1v15(), kind)
    numbers = utils.decode_dss_signature(key.sign(content, ec.ECDSA(kind)))
    half = (key.key_size + 7) // 8
    return b"".join(number.to_bytes(half, "big") for number in numbers)


def sign(
    element: etree._Element,
    signer: Signer,
    *,
    algorithm: str = RSA_SHA256,
    digest: str = SHA256,
    method: str = EXCLUSIVE,
    uri: str | None = None,
    change_info: Callable[[str], str] = str,
    key_info: str | None = None,
    place: int = 1,
    target: etree._Element | None = None,
    prefixes: str = "",
) -> etree._Element:
    """Put a signature into an element, as the child at `place`, and return it.

    Args:
        method: of the canonicalization of the content.
        uri: of the reference, the element's ID without one.
        change_info: changes the text of SignedInfo before it is signed.
        key_info: in place of one with the certificate.
        target: what is digested, the element itself without one.
        prefixes: of namespaces that are canonicalized inclusively, with spaces between them.
    """
    content = canonical(element if target is None else target, method, prefixes.split() or None)
    hasher = hashes.Hash(HASHES[digest.rpartition("#")[2]]())
    hasher.update(content)
    reference = f"#{element.get('ID')}" if uri is None else uri
    parameters = f'<e:InclusiveNamespaces xmlns:e="{EXCLUSIVE}" PrefixList="{prefixes}"/>' if prefixes else ""
    info = change_info(
        f'<ds:SignedInfo xmlns:ds="{DS}"><ds:CanonicalizationMethod Algorithm="{EXCLUSIVE}"/><ds:SignatureMethod '
        f'Algorithm="{algorithm}"/><ds:Reference URI="{reference}"><ds:Transforms><ds:Transform Algorithm="{ENVELOPED}"/>'
        f'<ds:Transform Algorithm="{method}">{parameters}</ds:Transform></ds:Transforms><ds:DigestMethod Algorithm="{digest}"/>'
        f"<ds:DigestValue>{base64.b64encode(hasher.finalize()).decode()}</ds:DigestValue></ds:Reference></ds:SignedInfo>"
    )
    value = base64.b64encode(signature_value(canonical(etree.fromstring(info)), signer.key, algorithm)).decode()
    bare = "".join(signer.certificate.splitlines()[1:-1])
    info_of_key = f"<ds:X509Data><ds:X509Certificate>{bare}</ds:X509Certificate></ds:X509Data>"
    signature = etree.fromstring(
        f'<ds:Signature xmlns:ds="{DS}">{info}<ds:SignatureValue>{value}</ds:SignatureValue>'
        f"<ds:KeyInfo>{info_of_key if key_info is None else key_info}</ds:KeyInfo></ds:Signature>"
    )
    element.insert(place, signature)
    return signature
