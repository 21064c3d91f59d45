"""Social providers and OAuth custom providers as resources: the tenant's connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from app.contract import errors as e
from app.contract import oauth_providers
from app.contract import social_providers as contract
from app.contract.configuration import TenantSettings
from app.contract.connections import resolved
from app.contract.linking import PROVIDERS
from app.contract.social_providers import StoredProvider
from app.identity.administration.resources.settings_store import access_of, refuse_wrong
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.tenants import changes, tenant_secrets
from app.identity.directory.tenants.tenant_secrets import APPLE_KEY, CONNECTIONS
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resources.hooks import Rules
from app.identity.platform.resources.items import Item, StoreAccess
from app.kit.resource import Resource
from app.kit.resource_values import ItemInput

_APPLE: Final = "apple"


@dataclass(frozen=True)
class ConnectionStore:
    """The tenant's connections: with an interface name, those that are not set up yet included, or the tenant's own ones."""

    is_social: bool
    id_key: str
    secret_keys: Mapping[str, str]
    """By the name of a secret, what follows the connection's name in its key in the tenant's secrets."""
    raises_version: bool = True
    keeps_origin: bool = False

    def items(self, access: StoreAccess, resource: Resource, parents: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the providers by name."""
        held = changes.own(access.work)
        connections = held.settings.get(CONNECTIONS, {}) if held else {}
        encrypted = held.service_secrets if held else None
        secrets = tenant_secrets.decrypt_all(access.encryption, access.work.tenant_id, encrypted).get(CONNECTIONS, {})
        return [
            Item(
                (name.upper() if self.is_social else name,),
                dict(connections.get(name) or {"key": "", "is_active": False}),
                {one: secrets[name + end] for one, end in self.secret_keys.items() if name + end in secrets},
            )
            for name in self._names(connections)
        ]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return a provider by its name, in any letter case."""
        return next((one for one in self.items(access, resource) if one.id[0].lower() == item_id[0].lower()), None)

    def add(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:
        """Set up a provider."""
        self.change(access, resource, item, unique_key)

    def change(self, access: StoreAccess, resource: Resource, item: Item, unique_key: str | None) -> None:  # noqa: ARG002 - Store
        """Set up a provider, or change it. Raises SettingsRefused."""
        content = {name: held for name, held in item.content.items() if name != self.id_key}
        self._write(access, item.id[0].lower(), content, item.secrets)

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove a connection."""
        self._write(access, item_id[0].lower(), None, {})

    def _names(self, connections: Mapping[str, Any]) -> list[str]:
        if self.is_social:
            return sorted(PROVIDERS)
        return sorted(name for name, one in connections.items() if name not in PROVIDERS and not one.get("issuer"))

    def _write(self, access: StoreAccess, name: str, content: dict[str, Any] | None, given: Mapping[str, str]) -> None:
        held = changes.own(access.work)
        if held is None:
            return
        settings = deepcopy(held.settings)
        others = {other: one for other, one in settings.get(CONNECTIONS, {}).items() if other != name}
        settings[CONNECTIONS] = {**others, name: content} if content is not None else others
        refuse_wrong(held.settings, settings, 2)
        secrets = {CONNECTIONS: {name + end: given.get(one) for one, end in self.secret_keys.items()}}
        encrypted = tenant_secrets.encrypt_merged(access.encryption, held.tenant_id, held.service_secrets, **secrets)
        changes.change(access.work, settings=settings, service_secrets=encrypted)
        provider_tokens.delete_unretained(access.work, held.settings, settings)


def wrong_members(content: StoredProvider, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    if not content.key:
        yield "key", "the client id that the provider issued"
    if content.apple is not None and any(content.apple.model_dump().values()) and content.provider.lower() != _APPLE:
        yield "apple.team_id", "nothing; AppleSecretConfiguration is for APPLE only"


def refuse_apples_key(context: Context, given: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    """Raises BadField for the private key of another provider than Apple."""
    if "apple.certificate" in given.secrets and given.id.get("provider", "").lower() != _APPLE:
        raise e.BadField("AppleSecretConfiguration.Certificate: none; it is for APPLE only.")


def powers_of(context: Context, item: Item) -> Iterator[Power]:
    """Who answers for a provider signs in as its accounts and, where its addresses are trusted, as those of the address."""
    name = item.id[0].lower()
    settings = {member: value for member, value in item.content.items() if member != "provider_name"}
    if resolved(name, StoredProvider.model_validate(settings)).trusts_email:
        yield Power(ALL, "providers with trusts_email")
    if linked_identities.are_of(context.work, name):
        yield Power(ALL, "providers that accounts are linked to")


def read_provider(context: Context, given: ItemInput) -> None:
    """Store `DataMap` as the claims of a connection. Raises BadField for a field that it cannot fill, and for a name in use."""
    if given.computed.get("data_map") is None:  # a GET or DELETE
        return
    name = given.id.get("provider_name", "").lower()
    given.id["provider_name"] = name
    _require_secret(context, name, given)
    connections = context.tenant.settings.connections
    if name in PROVIDERS or (name in connections and connections[name].issuer):
        raise e.BadField(
            "ProviderName: another one; a social provider or a connection of the configuration file has this name."
        )
    given.values["claims",] = {}
    for field, claim in given.computed["data_map"].items():
        if field not in oauth_providers.FIELDS:
            raise e.BadField(f"DataMap: a field that a provider fills, such as Email; found {field[:60]}.")
        given.values["claims",][oauth_providers.FIELDS[field]] = claim
    if "subject" not in given.values["claims",]:
        raise e.BadField("DataMap: ID, the member that identifies the account.")


def _require_secret(context: Context, name: str, given: ItemInput) -> None:
    """Refuse to send a stored secret to another address than before, where it could be read. Raises MachineRefused.

    The tenant is locked first, so that no secret is stored between this and the change.
    """
    context.work.begin()
    changes.lock(context.work)
    held = _OWN_PROVIDERS.item(access_of(context), oauth_providers.PROVIDERS, (name,))
    address = held.content.get("token_endpoint") if held is not None and held.secrets else None
    if address is not None and not given.secrets and given.values.get(("token_endpoint",)) != address:
        powers.require(
            context, [Power(ALL, "a stored secret at another AccessTokenEndpoint; or send ApplicationSecret")]
        )


def show_provider(context: Context, content: oauth_providers.StoredProvider, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values |= {"response_type": "code", "request_token_http_method": "POST"}
    values["data_map"] = {
        field: content.claims[claim] for field, claim in oauth_providers.FIELDS.items() if claim in content.claims
    }


_OWN_PROVIDERS: Final = ConnectionStore(False, "provider_name", {"application_secret": ""})
RULES: Final = {
    contract.PROVIDERS: Rules(
        given=refuse_apples_key,
        problems=wrong_members,
        powers=powers_of,
        store=ConnectionStore(True, "provider", {"secret": "", "apple.certificate": APPLE_KEY}),
    ),
    oauth_providers.PROVIDERS: Rules(given=read_provider, shown=show_provider, powers=powers_of, store=_OWN_PROVIDERS),
}
