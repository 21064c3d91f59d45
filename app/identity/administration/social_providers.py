"""Social providers as a resource: the tenant's connections under the interface's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy
from typing import Any, Final

from app.contract import social_providers as contract
from app.contract.configuration import TenantSettings
from app.contract.connections import PRESETS
from app.contract.social_providers import StoredProvider
from app.identity.administration.resources.settings_store import refuse_wrong
from app.identity.directory.tenants import changes, tenant_secrets
from app.identity.directory.tenants.tenant_secrets import CONNECTIONS
from app.identity.platform.resources.hooks import rules_of
from app.identity.platform.resources.items import Item, StoreAccess
from app.kit.resource import Resource

rules = rules_of(contract.PROVIDERS)

_SECRET: Final = "secret"
_NAMES: Final = (
    "amazon", "apple", "facebook", "foursquare", "github", "google", "linkedin", "live", "paypal", "qq", "salesforce", "sinaweibo",
    "twitter", "wechat", "yahoo",
)  # fmt: skip
"""The interface's names. Those without a preset need addresses, which only a configuration file states."""


class ConnectionStore:
    """The tenant's connections with an interface name, and the presets that are not set up yet."""

    raises_version = True
    keeps_origin = False

    def items(self, access: StoreAccess, resource: Resource, parents: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the providers by name."""
        held = changes.own(access.work)
        connections = held.settings.get(CONNECTIONS, {}) if held else {}
        encrypted = held.service_secrets if held else None
        secrets = tenant_secrets.decrypt_all(access.encryption, access.work.tenant_id, encrypted).get(CONNECTIONS, {})
        return [
            Item(
                (name.upper(),),
                dict(connections.get(name) or {"key": "", "is_active": False}),
                {_SECRET: secrets[name]} if name in secrets else {},
            )
            for name in _NAMES
            if name in PRESETS or name in connections
        ]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return a provider by its name, in any letter case."""
        return next((one for one in self.items(access, resource) if one.id[0].lower() == item_id[0].lower()), None)

    def add(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Set up a provider."""
        self.change(access, resource, item, unique_key)

    def change(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:  # noqa: ARG002 - Store
        """Set up a provider, or change it. Raises SettingsRefused."""
        content = {name: held for name, held in item.content.items() if name != "provider"}
        self._write(access, item.id[0].lower(), content, item.secrets.get(_SECRET))

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove a connection."""
        self._write(access, item_id[0].lower(), None, None)

    def _write(self, access: StoreAccess, name: str, content: dict[str, Any] | None, secret: str | None) -> None:
        held = changes.own(access.work)
        if held is None:
            return
        settings = deepcopy(held.settings)
        others = {other: one for other, one in settings.get(CONNECTIONS, {}).items() if other != name}
        settings[CONNECTIONS] = {**others, name: content} if content is not None else others
        refuse_wrong(held.settings, settings, 2)
        secrets = {CONNECTIONS: {name: secret}}
        encrypted = tenant_secrets.encrypt_merged(access.encryption, held.tenant_id, held.service_secrets, **secrets)
        changes.change(access.work, settings=settings, service_secrets=encrypted)


rules.store = ConnectionStore()


@rules.problems
def missing_key(content: StoredProvider, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    if not content.key:
        yield "key", "the client id that the provider issued"
