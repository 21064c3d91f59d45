"""Private keys that tenants bring, in PEM. Validating an RSA key takes 30 ms for 2,048 bits, 0.2 s for 4,096 and 3 s for 8,192."""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key

RSA_BITS: Final = range(2_048, 4_097)


class UnusableKey(Exception):
    """The key has an unknown form or another length; the text names the expected ones."""


def validated(pem: str) -> PrivateKeyTypes:
    """Return a new key, validated unless it is too long for that. Raises UnusableKey."""
    try:
        loaded = stored(pem)
        if isinstance(loaded, RSAPrivateKey) and loaded.key_size not in RSA_BITS:
            raise UnusableKey(f"an RSA key of {RSA_BITS[0]} to {RSA_BITS[-1]} bits")
        return load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise UnusableKey("a private key in PEM, without a password") from None


def stored(pem: str) -> PrivateKeyTypes:
    """Return a key that was validated when it was stored. Raises ValueError, TypeError, UnsupportedAlgorithm."""
    return load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
