"""Shopify Multipass: an encrypted and signed token that signs a customer in at a store (shopify.dev/docs/api/multipass)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256

from cryptography.hazmat.primitives import hmac
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.padding import PKCS7

_KEY_BYTES = 16
_BLOCK_BYTES = 16


def token(secret: str, customer: Mapping[str, str], initialization_vector: bytes) -> str:
    """Return the token for a customer, as URL-safe base64.

    The first half of the secret's SHA-256 encrypts the customer's JSON (AES-128-CBC, PKCS 7 padding), the second half signs
    vector and ciphertext (HMAC-SHA256).

    Args:
        secret: the store's Multipass secret.
        customer: `email`, `created_at` (ISO 8601; the token is valid for 15 minutes from then) and optional members.
        initialization_vector: 16 random bytes, another for each token.
    """
    keys = sha256(secret.encode()).digest()
    padder = PKCS7(_BLOCK_BYTES * 8).padder()
    padded = padder.update(json.dumps(customer).encode()) + padder.finalize()
    encryptor = Cipher(AES(keys[:_KEY_BYTES]), CBC(initialization_vector)).encryptor()
    encrypted = initialization_vector + encryptor.update(padded) + encryptor.finalize()
    signer = hmac.HMAC(keys[_KEY_BYTES:], SHA256())
    signer.update(encrypted)
    return urlsafe_b64encode(encrypted + signer.finalize()).decode()
