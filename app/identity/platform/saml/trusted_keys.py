"""The certificates that a connection trusts, and the algorithms that any of them may use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils

from app.identity.platform.saml import saml_names
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule

_MORE: Final = "http://www.w3.org/2001/04/xmldsig-more#"
_SHA256: Final = f"{saml_names.ENCRYPTION}sha256"
_SHA384: Final = f"{_MORE}sha384"
_SHA512: Final = f"{saml_names.ENCRYPTION}sha512"
DIGESTS: Final = frozenset({_SHA256, _SHA384, _SHA512})
SIGNATURES: Final[dict[str, tuple[bool, type[hashes.HashAlgorithm]]]] = {
    f"{_MORE}{family}-{name}": (family == "rsa", kind)
    for family in ("rsa", "ecdsa")
    for name, kind in (("sha256", hashes.SHA256), ("sha384", hashes.SHA384), ("sha512", hashes.SHA512))
}
"""Whether the algorithm is of RSA, and its hash. No connection may accept another one: SHA-1 and HMAC are never accepted."""
RSA_BITS: Final = range(2_048, 8_193)
_MAX_EXPONENT: Final = 1 << 32
_CURVES: Final = (ec.SECP256R1, ec.SECP384R1, ec.SECP521R1)
_MAX_CERTIFICATES: Final = 8


@dataclass(frozen=True)
class TrustedKeys:
    """The certificates of one connection, in PEM; several, so that the next one works before the last one expires."""

    certificates: tuple[str, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.certificates) <= _MAX_CERTIFICATES:
            raise ValueError(f"a connection has 1 to {_MAX_CERTIFICATES} certificates")

    def usable(self, algorithm: str, now: datetime) -> Iterator[tuple[str, x509.Certificate]]:
        """Yield the certificates that are valid now and have a key of this algorithm. Raises SamlRefusal if there is none."""
        is_rsa = _family(algorithm)
        problem = "no certificate with a key of this algorithm"
        found = 0
        for pem in self.certificates:
            certificate = _loaded(pem)
            reason = _problem_of(certificate, now)
            if reason:
                problem = reason
            elif isinstance(certificate.public_key(), rsa.RSAPublicKey) == is_rsa:
                found += 1
                yield pem, certificate
        if not found:
            raise SamlRefusal(
                SamlRule.KEY,
                "The connection has no certificate that can verify the signature.",
                expected="a certificate that is valid now",
                received=problem,
            )

    def verify_raw(self, content: bytes, signature: bytes, algorithm: str, now: datetime) -> str:
        """Return the certificate, in PEM, whose key signed these bytes. Raises SamlRefusal."""
        is_rsa, kind = SIGNATURES[algorithm] if algorithm in SIGNATURES else (_family(algorithm), hashes.SHA256)
        for pem, certificate in self.usable(algorithm, now):
            key = certificate.public_key()
            try:
                if is_rsa and isinstance(key, rsa.RSAPublicKey):
                    key.verify(signature, content, padding.PKCS1v15(), kind())
                elif isinstance(key, ec.EllipticCurvePublicKey):
                    key.verify(_der(signature, key), content, ec.ECDSA(kind()))
            except InvalidSignature:
                continue
            return pem
        raise unknown_key()


def unknown_key() -> SamlRefusal:
    return SamlRefusal(
        SamlRule.KEY,
        "None of the connection’s certificates signed the message.",
        expected="a signature by a certificate of the connection",
    )


def _family(algorithm: str) -> bool:
    if algorithm not in SIGNATURES:
        raise SamlRefusal(
            SamlRule.ALGORITHM,
            "The signature algorithm isn’t accepted.",
            expected="RSA or ECDSA with SHA-256, SHA-384 or SHA-512",
            received=algorithm,
        )
    return SIGNATURES[algorithm][0]


def _loaded(pem: str) -> x509.Certificate:
    try:
        return x509.load_pem_x509_certificate(pem.encode())
    except ValueError as problem:
        raise SamlRefusal(SamlRule.KEY, "A certificate of the connection can’t be read.") from problem


def _problem_of(certificate: x509.Certificate, now: datetime) -> str:
    """Return why a certificate is not used, or nothing."""
    if now > certificate.not_valid_after_utc:
        return f"a certificate that expired at {certificate.not_valid_after_utc.isoformat()}"
    if now < certificate.not_valid_before_utc:
        return f"a certificate that is valid from {certificate.not_valid_before_utc.isoformat()}"
    try:
        key = certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return "a certificate with an unknown kind of key"
    if isinstance(key, rsa.RSAPublicKey):
        is_strong = key.key_size in RSA_BITS and key.public_numbers().e < _MAX_EXPONENT
        return "" if is_strong else f"an RSA key of {key.key_size} bits"
    if isinstance(key, ec.EllipticCurvePublicKey):
        return "" if isinstance(key.curve, _CURVES) else f"a key on the curve {key.curve.name}"
    return "a certificate with neither an RSA nor an EC key"


def _der(signature: bytes, key: ec.EllipticCurvePublicKey) -> bytes:
    """Return a signature of XML (two numbers of the curve's length, RFC 4050) in the form of ASN.1."""
    half = (key.key_size + 7) // 8
    if len(signature) != 2 * half:
        raise InvalidSignature
    numbers = int.from_bytes(signature[:half], "big"), int.from_bytes(signature[half:], "big")
    return utils.encode_dss_signature(*numbers)
