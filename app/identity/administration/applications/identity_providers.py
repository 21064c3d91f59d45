"""Social providers and OAuth custom providers as resources: the tenant's connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import urlencode

from app.contract import errors
from app.contract.federation import oauth_providers, social_provider_operations
from app.contract.federation.connection_completion import resolved, wrong_instance
from app.contract.federation.identity_linking_operations import PROVIDERS
from app.contract.federation.social_provider_operations import StoredSocialProvider
from app.contract.tenants.settings import TenantSettings
from app.identity.administration.applications import provider_domains
from app.identity.administration.settings_store import refuse_wrong
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import tenant_secrets
from app.identity.directory.tenants.keys.tenant_secrets import APPLE_KEY, CONNECTIONS, CONSUMER_SECRET
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item, Store, StoreAccess
from app.identity.platform.resource_storage.rules import Rules
from app.kit.resources.resource import MASKED, Resource
from app.kit.resources.resource_values import ItemInput

_APPLE: Final = "apple"
_TWITTER: Final = "twitter"


@dataclass(frozen=True)
class ConnectionStore(Store):
    """The tenant's connections: with an interface name, those that are not set up yet included, or the tenant's own ones."""

    is_social: bool
    id_key: str
    secret_keys: Mapping[str, str]
    """By the name of a secret, what follows the connection's name in its key in the tenant's secrets."""
    raises_version: ClassVar[bool] = True

    def items(self, access: StoreAccess, resource: Resource, id_prefix: Sequence[str] = ()) -> list[Item]:  # noqa: ARG002 - Store
        """Return the providers by name."""
        stored = tenant_writes.own(access.work)
        connections = stored.settings.get(CONNECTIONS, {}) if stored else {}
        encrypted = stored.service_secrets if stored else None
        secrets = tenant_secrets.decrypt_all(access.encryption, access.work.tenant_id, encrypted).get(CONNECTIONS, {})
        return [
            Item(
                (name.upper() if self.is_social else name,),
                _content(name, connections, secrets),
                {item: secrets[name + end] for item, end in self.secret_keys.items() if name + end in secrets},
            )
            for name in self._names(connections)
        ]

    def item(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> Item | None:
        """Return a provider by its name, in any letter case."""
        return next(
            (element for element in self.items(access, resource) if element.id[0].lower() == item_id[0].lower()), None
        )

    def add(self, access: StoreAccess, resource: Resource, item: Item) -> None:
        """Set up a provider."""
        self.change(access, resource, item)

    def change(self, access: StoreAccess, resource: Resource, item: Item) -> None:  # noqa: ARG002 - Store
        """Set up a provider, or change it. Raises SettingsRefused."""
        content = {name: element for name, element in item.content.items() if name != self.id_key}
        self._write(access, item.id[0].lower(), content, item.secrets)

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:  # noqa: ARG002 - Store
        """Remove a connection."""
        self._write(access, item_id[0].lower(), None, {})

    def _names(self, connections: Mapping[str, Any]) -> list[str]:
        if self.is_social:
            return sorted(PROVIDERS)
        return sorted(
            name
            for name, connection in connections.items()
            if name not in PROVIDERS and not (connection.get("issuer") or connection.get("preset"))
        )

    def _write(
        self, access: StoreAccess, name: str, content: dict[str, Any] | None, provided: Mapping[str, str]
    ) -> None:
        stored = tenant_writes.own(access.work)
        if stored is None:
            return
        consumer = _taken_consumer_secret(name, content)
        settings = deepcopy(stored.settings)
        others = {other: setting for other, setting in settings.get(CONNECTIONS, {}).items() if other != name}
        settings[CONNECTIONS] = {**others, name: content} if content is not None else others
        refuse_wrong(access, stored.settings, settings, 2)
        secrets = {
            CONNECTIONS: {
                **{name + end: provided.get(item) for item, end in self.secret_keys.items()},
                **consumer,
            }
        }
        encrypted = tenant_secrets.encrypt_merged(
            access.encryption, stored.tenant_id, stored.service_secrets, **secrets
        )
        tenant_writes.change(access.work, settings=settings, service_secrets=encrypted)
        provider_tokens.delete_unretained(access.work, stored.settings, settings)


def _content(name: str, connections: Mapping[str, Any], secrets: Mapping[str, str]) -> dict[str, Any]:
    """Return a connection; `ExtraField2` of X is a secret, which is masked."""
    content = dict(connections.get(name) or {"key": "", "is_active": False})
    if name == _TWITTER and name + CONSUMER_SECRET in secrets:
        content["extra_field2"] = MASKED
    return content


def _taken_consumer_secret(name: str, content: dict[str, Any] | None) -> dict[str, str | None]:
    """Take the consumer secret out of a connection to X, to be encrypted; a masked one stays as it is stored."""
    if name != _TWITTER:
        return {}
    given = content.pop("extra_field2", "") if content is not None else ""
    return {} if given == MASKED else {name + CONSUMER_SECRET: given or None}


def mask_consumer_secret(context: Context, content: StoredSocialProvider, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    if content.provider.lower() == _TWITTER and content.extra_field2:
        values["extra_field2"] = MASKED


def wrong_members(content: StoredSocialProvider, settings: TenantSettings | None) -> Iterable[tuple[str, str]]:  # noqa: ARG001 - the hook's signature
    if not content.key:
        yield "key", "the client id that the provider issued"
    if content.apple is not None and any(content.apple.model_dump().values()) and content.provider.lower() != _APPLE:
        yield "apple.team_id", "nothing; AppleSecretConfiguration is for APPLE only"
    if expected := wrong_instance(content.provider.lower(), content):
        yield "extra_field1", expected


def refuse_apples_key(context: Context, item_input: ItemInput) -> None:  # noqa: ARG001 - the hook's signature
    """Raises BadField for the private key of another provider than Apple."""
    if "apple.certificate" in item_input.secrets and item_input.id.get("provider", "").lower() != _APPLE:
        raise errors.BadField("AppleSecretConfiguration.Certificate: none; it is for APPLE only.")


def powers_of(context: Context, item: Item) -> Iterator[Power]:
    """Who answers for a provider signs in as its accounts and, where its addresses are trusted, as those of the address."""
    name = item.id[0].lower()
    settings = {member: value for member, value in item.content.items() if member != "provider_name"}
    if resolved(name, StoredSocialProvider.model_validate(settings)).trusts_email:
        yield Power(ALL, "providers with trusts_email")
    if linked_identities.are_of(context.work, name):
        yield Power(ALL, "providers that accounts are linked to")
    if item.content.get("domain") and item.content.get("enable_auto_look_up"):
        yield Power(ALL, "providers that the people of a domain are sent to")


def read_provider(context: Context, item_input: ItemInput) -> None:
    """Store `DataMap` as the claims of a connection. Raises BadField for a field that it cannot fill, and for a name in use."""
    if item_input.computed.get("data_map") is None:  # a GET or DELETE
        return
    name = item_input.id.get("provider_name", "").lower()
    item_input.id["provider_name"] = name
    _require_secret(context, name, item_input)
    connections = context.tenant.settings.connections
    if name in PROVIDERS or (name in connections and (connections[name].issuer or connections[name].preset)):
        raise errors.BadField(
            "ProviderName: another one; a social provider or a connection of the configuration file has this name."
        )
    extra = item_input.computed["extra_parameter_in_redirect_to_provider"]
    item_input.values["authorization_parameters",] = oauth_providers.parameters_of(extra)
    item_input.values["claims",] = oauth_providers.claims_of(item_input.computed["data_map"])
    if "subject" not in item_input.values["claims",]:
        raise errors.BadField("DataMap: ID, the member that identifies the account.")


def _require_secret(context: Context, name: str, item_input: ItemInput) -> None:
    """Refuse to send a stored secret to another address than before, where it could be read. Raises MachineRefused.

    The tenant is locked first, so that no secret is stored between this and the change.
    """
    context.work.begin()
    tenant_writes.lock(context.work)
    stored = _OWN_PROVIDERS.item(StoreAccess.of(context), oauth_providers.PROVIDERS, (name,))
    address = stored.content.get("token_endpoint") if stored is not None and stored.secrets else None
    if address is not None and not item_input.secrets and item_input.values.get(("token_endpoint",)) != address:
        powers.require_powers(
            context, [Power(ALL, "a stored secret at another AccessTokenEndpoint; or send ApplicationSecret")]
        )


def check_domain(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Refuse a domain of another provider. Raises ProviderDomainExists."""
    provider_domains.refuse_taken(context, CONNECTIONS, after)


def show_provider(context: Context, content: oauth_providers.StoredOAuthProvider, values: dict[str, Any]) -> None:  # noqa: ARG001 - the hook's signature
    values["response_type"] = "code"
    values["extra_parameter_in_redirect_to_provider"] = urlencode(content.authorization_parameters)
    values["data_map"] = {
        field: content.claims[claim] for field, claim in oauth_providers.FIELDS.items() if claim in content.claims
    }


_OWN_PROVIDERS: Final = ConnectionStore(False, "provider_name", {"application_secret": ""})
RULES: Final = {
    social_provider_operations.PROVIDERS: Rules(
        on_input=refuse_apples_key,
        on_output=mask_consumer_secret,
        problems=wrong_members,
        powers=powers_of,
        store=ConnectionStore(True, "provider", {"secret": "", "apple.certificate": APPLE_KEY}),
    ),
    oauth_providers.PROVIDERS: Rules(
        on_input=read_provider,
        on_output=show_provider,
        powers=powers_of,
        before_write=check_domain,
        store=_OWN_PROVIDERS,
    ),
}
