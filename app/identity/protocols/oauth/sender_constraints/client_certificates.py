"""The certificate that a client presented in TLS (RFC 8705), as a trusted proxy sends it.

The TLS handshake at the proxy verifies that the client has its key. `raw.client_certificate` is empty unless the operator named the
header and the request came from a trusted proxy (`app/kit/web/proxies.py`).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from app.identity.platform.context import Context
from app.identity.protocols.oauth.sender_constraints import certificate_headers
from app.identity.protocols.oauth.sender_constraints.certificate_headers import Reader
from app.settings import Settings

VERIFIED: Final = "SUCCESS"
_MAX_LENGTH: Final = 30_000


@dataclass(frozen=True)
class ClientCertificate:
    """A presented certificate; `is_verified` if the proxy verified its chain."""

    certificate: x509.Certificate
    thumbprint: str
    is_verified: bool

    def is_valid(self, now: datetime) -> bool:
        """Return whether it has begun and has not expired."""
        return self.certificate.not_valid_before_utc <= now <= self.certificate.not_valid_after_utc

    def alternative_names(self, kind: type[x509.GeneralName]) -> list[Any]:
        """Return the subject's alternative names of a kind (RFC 5280 section 4.2.1.6); none of a malformed extension."""
        try:
            extension = self.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
        except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
            return []
        return [name.value for name in extension.value if isinstance(name, kind)]


def is_configured(settings: Settings) -> bool:
    """Return whether proxies send certificates, so that they authenticate clients and bind tokens."""
    return bool(settings.client_certificate_header)


def are_verified(settings: Settings) -> bool:
    """Return whether proxies also say that they verified the chain."""
    return is_configured(settings) and bool(settings.client_verification_header)


def of(context: Context) -> ClientCertificate | None:
    """Return the certificate of the request; None if there is no readable one."""
    text, settings = context.raw.client_certificate, context.services.settings
    if not text or len(text) > _MAX_LENGTH or not is_configured(settings):
        return None
    read = _read(text, certificate_headers.reader_of(settings.client_certificate_header))
    if read is None:
        return None
    is_verified = are_verified(settings) and context.raw.certificate_check == VERIFIED
    return ClientCertificate(*read, is_verified)


def thumbprint(der: bytes) -> str:
    """Return the SHA-256 thumbprint of a certificate (RFC 8705 section 3.1)."""
    return base64.urlsafe_b64encode(hashlib.sha256(der).digest()).rstrip(b"=").decode()


def thumbprints(chains: Iterable[object]) -> set[str]:
    """Return the thumbprints of the first certificate of each `x5c` (RFC 7517 section 4.7)."""
    digests = set()
    for chain in chains:
        first = chain[0] if isinstance(chain, list) and chain else None
        if isinstance(first, str):
            try:
                digests.add(thumbprint(base64.b64decode(first, validate=True)))
            except ValueError:  # also for letters that are not ASCII
                continue
    return digests


@lru_cache(maxsize=512)
def _read(text: str, reader: Reader) -> tuple[x509.Certificate, str] | None:
    try:
        certificate = reader(text)
        return certificate, thumbprint(certificate.public_bytes(Encoding.DER))
    except (ValueError, x509.InvalidVersion):
        return None
