"""Checks the format of keys in settings when they are set, before they are used. Each check returns the text, or raises ValueError
with the expected form.
"""

import base64
import binascii
from collections.abc import Callable
from typing import Final

from pydantic_core import from_json

from app.kit.resources.resource import MASKED

_ENVIRONMENTS: Final = ("production", "sandbox", "development")
_DER_VERSION_3: Final = b"\x02\x01\x03"
_SEQUENCE: Final = 0x30
_LONG_FORM: Final = 0x80


def unless_masked(check: Callable[[str], str]) -> Callable[[str | None], str | None]:
    """Return a check of a secret in a request: none, an empty and a masked one pass."""

    def checked(text: str | None) -> str | None:
        return check(text) if text and text != MASKED else text

    return checked


def service_account(text: str) -> str:
    """Check the service account of Firebase: a JSON object."""
    try:
        is_object = not text or isinstance(from_json(text, allow_inf_nan=False), dict)
    except ValueError:
        is_object = False
    if not is_object:
        raise ValueError("a JSON object, such as Firebase's service account file")
    return text


def pkcs12(text: str) -> str:
    """Check a PKCS 12 file in base64 by its form (RFC 7292 section 4); to open it may take any number of hashes."""
    try:
        content = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        content = b"?"
    if content and not _body_of_sequence(content).startswith(_DER_VERSION_3):
        raise ValueError("a PKCS 12 file in base64")
    return text


def apns_environment(text: str) -> str:
    """Check the name of one of Apple's push services."""
    if text and text.strip().lower() not in _ENVIRONMENTS:
        raise ValueError(f"one of {', '.join(_ENVIRONMENTS)}")
    return text


def p256_private_key(text: str) -> str:
    """Check a private key on the curve P-256 in PEM, as Apple issues it for Sign in with Apple."""
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 - few requests have one
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_private_key  # noqa: PLC0415

    try:
        key = load_pem_private_key(text.encode(), None, unsafe_skip_rsa_key_validation=True)
        is_on_curve = isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP256R1)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        is_on_curve = False
    if not is_on_curve:
        raise ValueError("the private key that Apple issued, in PEM (P-256)")
    return text


def _body_of_sequence(content: bytes) -> bytes:
    """Return the body of a DER sequence that is the whole content; empty for any other."""
    if len(content) < 2 or content[0] != _SEQUENCE:
        return b""
    length, start = content[1], 2
    if length >= _LONG_FORM:
        start += length - _LONG_FORM
        length = int.from_bytes(content[2:start], "big")
    return content[start:] if len(content) == start + length else b""
