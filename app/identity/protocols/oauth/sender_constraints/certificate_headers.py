"""How proxies spell a client's certificate in a header: one format for each header name.

A reader returns the one certificate of a value and raises ValueError for anything else. A repeated header arrives as one value with
commas, which no reader takes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256

Reader = Callable[[str], x509.Certificate]
_PEM: Final = re.compile(r"-----BEGIN CERTIFICATE-----\s[A-Za-z0-9+/=\s]+\s-----END CERTIFICATE-----\s*", re.ASCII)
_PAIR: Final = re.compile(r'([A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^",;]*))(?:;|\Z)', re.ASCII)


def escaped_pem(text: str) -> x509.Certificate:
    """Read a PEM in percent-encoding (nginx: `$ssl_client_escaped_cert`), or with joined lines (Apache: `%{SSL_CLIENT_CERT}s`)."""
    pem = unquote(text, errors="strict")
    if _PEM.fullmatch(pem) is None:
        raise ValueError("not one certificate")
    return x509.load_pem_x509_certificate(pem.encode("ascii"))


def byte_sequence(text: str) -> x509.Certificate:
    """Read the header Client-Cert (RFC 9440 section 2.1)."""
    field = text.strip(" ")
    if len(field) < 2 or field[0] != ":" or field[-1] != ":":
        raise ValueError("no byte sequence (RFC 8941 section 3.3.5)")
    return x509.load_der_x509_certificate(base64.b64decode(field[1:-1], validate=True))


def of_envoy(text: str) -> x509.Certificate:
    """Read Envoy's X-Forwarded-Client-Cert: one element with `Hash` and `Cert`.

    Envoy does not quote `URI`, which the client's certificate states. So a second `Cert` or `Hash` is refused, and `Cert` must be
    the certificate of `Hash`, which Envoy writes first and always.
    """
    pairs: dict[str, str] = {}
    at = 0
    while at < len(text):
        pair = _PAIR.match(text, at)
        if pair is None:
            raise ValueError("not one element")
        name, at = pair[1].lower(), pair.end()
        if name in pairs and name in ("cert", "hash"):
            raise ValueError("not one certificate")
        pairs[name] = pair[2] if pair[2] is not None else pair[3]
    certificate = escaped_pem(pairs.get("cert", ""))
    if certificate.fingerprint(SHA256()).hex() != pairs.get("hash", "").lower():
        raise ValueError("another certificate's hash")
    return certificate


FORMATS: Final[Mapping[str, Reader]] = {"client-cert": byte_sequence, "x-forwarded-client-cert": of_envoy}
"""The format of a header of this name; every other header has an escaped PEM."""


def reader_of(header: str) -> Reader:
    """Return the reader of the configured header."""
    return FORMATS.get(header.lower(), escaped_pem)
