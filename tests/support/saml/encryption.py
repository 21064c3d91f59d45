"""Encrypts assertions as providers do, and as they should not."""

from __future__ import annotations

import base64
import os
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from lxml import etree

SAML = "urn:oasis:names:tc:SAML:2.0:assertion"
XENC = "http://www.w3.org/2001/04/xmlenc#"
XENC11 = "http://www.w3.org/2009/xmlenc11#"
DS = "http://www.w3.org/2000/09/xmldsig#"
OAEP = f"{XENC}rsa-oaep-mgf1p"


def encrypted(
    assertion: etree._Element | bytes,
    key: rsa.RSAPrivateKey,
    *,
    content: str = f"{XENC11}aes256-gcm",
    transport: str = OAEP,
    parameters: str = "",
    is_beside: bool = False,
    copies: int = 1,
    key_bytes: int = 32,
) -> etree._Element:
    """Return an EncryptedAssertion for the holder of a key."""
    plain = assertion if isinstance(assertion, bytes) else etree.tostring(assertion, with_tail=False)
    secret = os.urandom(key_bytes)
    cipher = _cbc(secret, plain) if content.endswith("cbc") else _gcm(secret, plain)
    wrapped = key.public_key().encrypt(secret, _padding(transport, parameters))
    one = (
        f'<xenc:EncryptedKey xmlns:xenc="{XENC}"><xenc:EncryptionMethod Algorithm="{transport}">{parameters}'
        f"</xenc:EncryptionMethod>{_value(wrapped)}</xenc:EncryptedKey>"
    )
    keys = one * copies
    inside = "" if is_beside else f'<ds:KeyInfo xmlns:ds="{DS}">{keys}</ds:KeyInfo>'
    return etree.fromstring(
        f'<saml:EncryptedAssertion xmlns:saml="{SAML}" xmlns:xenc="{XENC}"><xenc:EncryptedData '
        f'Type="{XENC}Element"><xenc:EncryptionMethod Algorithm="{content}"/>{inside}{_value(cipher)}</xenc:EncryptedData>'
        f"{keys if is_beside else ''}</saml:EncryptedAssertion>"
    )


def _padding(transport: str, parameters: str) -> Any:
    if transport.endswith("rsa-1_5"):
        return padding.PKCS1v15()
    mask = hashes.SHA256() if "mgf1sha256" in parameters else hashes.SHA1()
    digest = hashes.SHA256() if f"{XENC}sha256" in parameters else hashes.SHA1()
    return padding.OAEP(padding.MGF1(mask), digest, None)


def _gcm(secret: bytes, plain: bytes) -> bytes:
    nonce = os.urandom(12)
    return nonce + AESGCM(secret).encrypt(nonce, plain, None)


def _cbc(secret: bytes, plain: bytes) -> bytes:
    fill = 16 - len(plain) % 16
    vector = os.urandom(16)
    encryptor = Cipher(algorithms.AES(secret), modes.CBC(vector)).encryptor()
    return vector + encryptor.update(plain + bytes(fill - 1) + bytes([fill])) + encryptor.finalize()


def _value(content: bytes) -> str:
    text = base64.b64encode(content).decode()
    return f'<xenc:CipherData xmlns:xenc="{XENC}"><xenc:CipherValue>{text}</xenc:CipherValue></xenc:CipherData>'
