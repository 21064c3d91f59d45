"""Encrypts an assertion for a service provider: AES-256-GCM, its key by RSA-OAEP (XML Encryption 1.1)."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.identity.platform.saml.saml_names import ENCRYPTION, ENCRYPTION_11, SIGNATURE, ds, saml, xenc
from app.identity.platform.saml_writing.xml_builder import element, to_bytes
from app.kit import randomness

if TYPE_CHECKING:
    from lxml.etree import _Element

_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_CONTENT: Final = f"{ENCRYPTION_11}aes256-gcm"
_TRANSPORT: Final = f"{ENCRYPTION}rsa-oaep-mgf1p"
"""OAEP with SHA-1, which every service provider reads; OAEP does not need a hash without collisions."""


def encrypted(assertion: _Element, certificate: str) -> _Element:
    """Return the EncryptedAssertion of an assertion, signed or not, that is not part of a response.

    Args:
        certificate: of the service provider, in PEM, with an RSA key.

    Raises:
        TypeError: the certificate has no RSA key.
    """
    public = x509.load_pem_x509_certificate(certificate.encode()).public_key()
    if not isinstance(public, rsa.RSAPublicKey):
        raise TypeError("an assertion is encrypted for an RSA key")
    secret, nonce = randomness.random_bytes(_KEY_BYTES), randomness.random_bytes(_NONCE_BYTES)
    cipher = nonce + AESGCM(secret).encrypt(nonce, to_bytes(assertion), None)
    wrapped = public.encrypt(secret, padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None))  # noqa: S303 - see above
    digest = element(ds("DigestMethod"), Algorithm=f"{SIGNATURE}sha1")
    encrypted_key = element(
        xenc("EncryptedKey"), element(xenc("EncryptionMethod"), digest, Algorithm=_TRANSPORT), _cipher_data(wrapped)
    )
    content = element(
        xenc("EncryptedData"),
        element(xenc("EncryptionMethod"), Algorithm=_CONTENT),
        element(ds("KeyInfo"), encrypted_key),
        _cipher_data(cipher),
        Type=f"{ENCRYPTION}Element",
    )
    return element(saml("EncryptedAssertion"), content)


def _cipher_data(content: bytes) -> _Element:
    return element(xenc("CipherData"), element(xenc("CipherValue"), text=base64.b64encode(content).decode()))
