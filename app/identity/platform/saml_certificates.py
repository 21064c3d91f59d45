"""X.509 certificates and private keys of SAML, in PEM."""

from __future__ import annotations

import re
import textwrap
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

from app.identity.platform import private_keys

_PEM: Final = re.compile(r"-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----", re.ASCII)
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}", re.ASCII)
_MIN_RSA_BITS: Final = 2_048
_CURVES: Final = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
_WEAK: Final = ("sha1", "md5")
_BITS: Final = 3_072
_LIFETIME: Final = timedelta(days=3_650)


def new_private_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65_537, _BITS)


def generate(name: str, now: datetime) -> tuple[str, str]:
    """Return a new self-signed certificate and its private key."""
    key = new_private_key()
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _LIFETIME)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM).decode(), private.decode()


def problem_of(certificate: str, key: str = "") -> str:
    """Return the expected form in place of a certificate, or of a certificate and its private key; empty if they are valid."""
    try:
        public = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "an X.509 certificate in PEM"
    if not isinstance(public, rsa.RSAPublicKey | ec.EllipticCurvePublicKey):
        return "a certificate with an RSA or EC key"
    if isinstance(public, rsa.RSAPublicKey) and public.key_size < _MIN_RSA_BITS:
        return f"a certificate with an RSA key of {_MIN_RSA_BITS} bits or more"
    if isinstance(public, ec.EllipticCurvePublicKey) and not isinstance(public.curve, _CURVES):
        return "a certificate with an EC key on P-256, P-384 or P-521"
    if not key:
        return ""
    try:
        private = private_keys.validated(key)
    except private_keys.UnusableKey as problem:
        return f"with {problem}"
    form = Encoding.DER, PublicFormat.SubjectPublicKeyInfo
    is_pair = private.public_key().public_bytes(*form) == public.public_bytes(*form)
    return "" if is_pair else "the certificate of the private key"


def is_readable(certificate: str) -> bool:
    """Return whether a text is a certificate in PEM with a key of a known kind, strong or weak."""
    try:
        x509.load_pem_x509_certificate(certificate.encode()).public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False
    return True


def weakness_of(certificate: str) -> str:
    """Return the expected form in place of a valid certificate of ours that peers refuse for its signature; empty if they don't.

    A peer's own certificate may be signed by any means: its key is trusted because an administrator states it.
    """
    used = x509.load_pem_x509_certificate(certificate.encode()).signature_hash_algorithm
    return "" if used is None or used.name not in _WEAK else "a certificate that is signed with SHA-256 or stronger"


def has_rsa_key(certificate: str) -> bool:
    """Return whether the key of a valid certificate is an RSA key."""
    return isinstance(x509.load_pem_x509_certificate(certificate.encode()).public_key(), rsa.RSAPublicKey)


def read_all(text: str) -> tuple[str, ...]:
    """Return the certificates of a text in PEM, each once: several one after another, or one in bare base64 as metadata has it.

    A text of another form is returned as it is: `problem_of` says what is wrong with it.
    """
    bare = "".join(text.split())
    found = _PEM.findall(text) or ([bare] if _BASE64.fullmatch(bare) else [])
    return tuple(dict.fromkeys(pem_of(one) for one in found)) or (text,)


def read_each(*texts: str | None) -> tuple[str, ...]:
    """Return the certificates of several texts, in PEM, each once."""
    return tuple(dict.fromkeys(one for text in texts if text for one in read_all(text)))


def pem_of(text: str) -> str:
    """Return a certificate in PEM, of its base64."""
    lines = textwrap.wrap("".join(text.split()), 64)
    return "\n".join(["-----BEGIN CERTIFICATE-----", *lines, "-----END CERTIFICATE-----", ""])


def sha1_fingerprint(certificate: str) -> str:
    """Return the SHA-1 fingerprint, as hex digits with colons; some service providers identify a certificate by it."""
    loaded = x509.load_pem_x509_certificate(certificate.encode())
    return loaded.fingerprint(hashes.SHA1()).hex(":").upper()  # noqa: S303 - an identifier, no signature


def sha256_fingerprint(certificate: str) -> str:
    """Return the SHA-256 fingerprint as hex digits, by which administrators compare certificates."""
    return x509.load_pem_x509_certificate(certificate.encode()).fingerprint(hashes.SHA256()).hex()


def validity(certificate: str) -> tuple[datetime, datetime]:
    """Return from when until when a certificate is valid."""
    loaded = x509.load_pem_x509_certificate(certificate.encode())
    return loaded.not_valid_before_utc, loaded.not_valid_after_utc


def is_valid(certificate: str, now: datetime) -> bool:
    """Return whether a certificate has begun and has not expired."""
    begins, ends = validity(certificate)
    return begins <= now <= ends
