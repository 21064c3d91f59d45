"""The life of a key of this service for one SAML peer: published before it signs, and kept for some time afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from app.identity.platform import saml_certificates
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.kit.resources.resource_values import put_at, value_at

AHEAD: Final = timedelta(days=90)
"""How long before the current certificate expires the next one is published, and operators are warned."""


@dataclass(frozen=True)
class OwnKey:
    """A certificate of this service and its private key, in PEM."""

    certificate: str
    private_key: str = field(repr=False)

    @property
    def expires_at(self) -> datetime:
        return saml_certificates.validity(self.certificate)[1]


@dataclass(frozen=True)
class OwnKeys:
    """The current key signs. Peers learn the next one before it does, and the former one still decrypts."""

    current: OwnKey | None = None
    next: OwnKey | None = None
    former: OwnKey | None = None

    def with_next(self, make: Callable[[], OwnKey]) -> OwnKeys:
        """Return the keys with a next one: the present next one, or else what `make` returns."""
        return self if self.next is not None else replace(self, next=make())

    def activated(self) -> OwnKeys:
        """Return the keys after the next one, which there must be, has become the current one."""
        return OwnKeys(current=self.next, former=self.current)

    def without_next(self) -> OwnKeys:
        return replace(self, next=None)

    def without_former(self) -> OwnKeys:
        return replace(self, former=None)

    def unexpired_former(self, now: datetime) -> OwnKey | None:
        """Return the former key while its certificate is valid."""
        return self.former if self.former is not None and self.former.expires_at > now else None

    def signing_certificates(self, now: datetime) -> tuple[str, ...]:
        """Return the certificates that peers verify signatures with, in PEM, the current one first."""
        found = (self.current, self.next, self.unexpired_former(now))
        return tuple(dict.fromkeys(key.certificate for key in found if key is not None))


@dataclass(frozen=True)
class KeySlot:
    """Where one key is stored: the path of the certificate in the content, and the name of the private key among the secrets."""

    path: tuple[str, ...]
    secret: str


@dataclass(frozen=True)
class KeySlots:
    """Where the keys of one kind of item are stored."""

    current: KeySlot
    next: KeySlot
    former: KeySlot

    def read(self, content: Mapping[str, Any], secrets: Mapping[str, str]) -> OwnKeys:
        """Return the stored keys; one that lacks its certificate or its private key is none."""
        found = {}
        for name, slot in self._named().items():
            certificate, key = value_at(content, slot.path), secrets.get(slot.secret)
            found[name] = OwnKey(str(certificate), key) if certificate and key else None
        return OwnKeys(**found)

    def write(
        self, keys: OwnKeys, content: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return copies of content and secrets with these keys."""
        new_content, new_secrets = deepcopy(dict(content)), dict(secrets)
        for name, slot in self._named().items():
            key: OwnKey | None = getattr(keys, name)
            if key is not None:
                put_at(new_content, slot.path, key.certificate)
                new_secrets[slot.secret] = key.private_key
            elif slot is not self.current:
                new_content.pop(slot.path[0], None)
                new_secrets.pop(slot.secret, None)
        return new_content, new_secrets

    def _named(self) -> dict[str, KeySlot]:
        return {"current": self.current, "next": self.next, "former": self.former}


def of_resource(member: str) -> KeySlots:
    """Return where a resource stores its keys, whose current certificate is in the member of this name."""
    slots = [
        KeySlot((name, "certificate"), f"{name}.key") for name in (member, "next_certificate", "former_certificate")
    ]
    return KeySlots(*slots)


CLIENT_KEYS: Final = of_resource("idp_certificate")
PROVIDER_KEYS: Final = of_resource("sp_certificate")
"""Where the keys of this service for a SAML client and for a SAML provider are stored."""


def with_next(slots: KeySlots, context: Context, item: Item) -> Item:
    """Return an item with a next key, which is generated if there is none."""
    keys = slots.read(item.content, item.secrets)
    return with_keys(slots, context, item, keys.with_next(lambda: generated(item.id[0], context.now)))


def with_keys(slots: KeySlots, context: Context, item: Item, keys: OwnKeys) -> Item:
    """Return an item with these keys: the same one if it has them."""
    if keys == slots.read(item.content, item.secrets):
        return item
    content, secrets = slots.write(keys, item.content, item.secrets)
    return replace(item, content=content, secrets=secrets, modified_at=context.now)


def generated(name: str, now: datetime) -> OwnKey:
    """Return a new key with a self-signed certificate."""
    return OwnKey(*saml_certificates.generate(name, now))
