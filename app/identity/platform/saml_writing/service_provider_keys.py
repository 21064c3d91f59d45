"""The keys of this service as the service provider of one connection: one signs requests, and assertions are encrypted for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric import rsa

from app.identity.platform.saml.encrypted_assertions import DecryptionKeys
from app.identity.platform.saml_key_rollover import OwnKey, OwnKeys
from app.identity.platform.saml_writing.xml_signing import SigningKey


@dataclass(frozen=True)
class ServiceProviderKeys:
    """The key that signs, and those that decrypt: the current one and the former one, but not the next one.

    The next one is published for signatures alone, so that no provider encrypts for it before it is the current one.
    """

    signing: SigningKey
    signing_certificates: tuple[str, ...]
    """In PEM, the current one first."""
    encryption_certificate: str
    decryption: DecryptionKeys = field(repr=False)


def of_keys(keys: OwnKeys, now: datetime) -> ServiceProviderKeys | None:
    """Return what a connection does with its stored keys; None for one without a current key."""
    if keys.current is None:
        return None
    former = keys.unexpired_former(now)
    loaded = [_signing(key) for key in (keys.current, former) if key is not None]
    usable = tuple(key.loaded for key in loaded if isinstance(key.loaded, rsa.RSAPrivateKey))
    return ServiceProviderKeys(
        loaded[0], keys.signing_certificates(now), keys.current.certificate, DecryptionKeys(usable)
    )


def _signing(key: OwnKey) -> SigningKey:
    return SigningKey(key.certificate, key.private_key)
