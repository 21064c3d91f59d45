"""The keys of this service for one SAML connection: one signs requests, and assertions may be encrypted for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import rsa

from app.identity.directory.organizations.connections.organization_connections import SP_KEY
from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml_writing.xml_signing import SigningKey


@dataclass(frozen=True)
class ServiceProviderKeys:
    """The key that signs, and those that decrypt: the present one and, for some time, the former one."""

    signing: SigningKey
    certificates: tuple[str, ...]
    """In PEM, the present one first."""
    decryption: DecryptionKeys = field(repr=False)


def of_content(content: Mapping[str, Any], secrets: Mapping[str, str]) -> ServiceProviderKeys | None:
    """Return the keys of a stored connection; None for one without a key."""
    certificate, key = content.get("sp_certificate"), secrets.get(SP_KEY)
    if not (certificate and key):
        return None
    signing = SigningKey(str(certificate), key)
    loaded = signing.loaded
    usable = (loaded,) if isinstance(loaded, rsa.RSAPrivateKey) else ()
    return ServiceProviderKeys(signing, (str(certificate),), DecryptionKeys(usable))
