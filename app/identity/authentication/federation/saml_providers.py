"""The tenant's SAML custom providers."""

from __future__ import annotations

from dataclasses import dataclass

from app.contract import errors
from app.contract.saml import saml_operations
from app.contract.saml.saml_operations import SamlProvider
from app.identity.directory.identity_provider import SAML_PREFIX, ProviderIdentity
from app.identity.platform.context import Context
from app.identity.platform.resource_storage.items import Item
from app.identity.platform.resource_storage.resource_store import items_of
from app.identity.platform.saml_key_rollover import PROVIDER_KEYS, OwnKeys


@dataclass(frozen=True)
class SamlSender:
    """A SAML custom provider, with the keys of this service for it."""

    provider: SamlProvider
    keys: OwnKeys

    @property
    def name(self) -> str:
        """The provider of its identities."""
        return identity_provider_name(self.provider.provider)

    @property
    def title(self) -> str:
        return self.provider.friendly_provider_name or self.provider.provider


def identity_provider_name(provider: str) -> str:
    """Return the provider of the identities of a SAML provider."""
    return f"{SAML_PREFIX}{provider.lower()}"


def can_sign_in(item: Item) -> bool:
    """Return whether a stored provider is active and complete."""
    content = item.content
    upstream, certificate = content.get("identity_provider") or {}, content.get("idp_certificate") or {}
    is_complete = upstream.get("entity_id") and upstream.get("location") and certificate.get("certificate")
    return bool(content.get("is_active", True) and is_complete)


def listed(context: Context) -> list[SamlSender]:
    """Return the providers that pages list, by name."""
    items = items_of(context, saml_operations.PROVIDERS).values()
    found = [_sender(item) for item in items if can_sign_in(item) and item.content.get("list_in_interface", True)]
    return sorted(found, key=lambda sender: sender.name)


def active_names(context: Context) -> tuple[str, ...]:
    """Return the providers of identities that can sign in now."""
    items = items_of(context, saml_operations.PROVIDERS).values()
    return tuple(identity_provider_name(item.name) for item in items if can_sign_in(item))


def by_domain(context: Context) -> dict[str, str]:
    """Return the providers to which domains lead, by domain."""
    return {
        str(item.content["domain"]): identity_provider_name(item.name)
        for item in items_of(context, saml_operations.PROVIDERS).values()
        if item.content.get("enable_auto_look_up") and item.content.get("domain") and can_sign_in(item)
    }


def find(context: Context, name: str) -> SamlSender:
    """Return a provider by its name, in any letter case. Raises ConnectionNotConfigured.

    Identities do not tell letter cases apart, so of two providers that differ only in case neither is found.
    """
    return _only([item for item in _items(context) if item.name.lower() == name.strip().lower()])


def with_id(context: Context, provider_id: str) -> SamlSender:
    """Return a provider by its id. Raises ConnectionNotConfigured."""
    found = _only([item for item in _items(context) if provider_id and item.content.get("id") == provider_id])
    return find(context, found.provider.provider)  # not one of two whose names differ only in case


def trusts_email(sender: SamlSender, identity: ProviderIdentity) -> bool:
    """Return whether the provider verifies an address: only in the email domain that the tenant set for it."""
    domain = (identity.email or "").rpartition("@")[2].lower()
    return bool(domain) and domain == sender.provider.domain


def _items(context: Context) -> list[Item]:
    return list(items_of(context, saml_operations.PROVIDERS).values())


def _only(found: list[Item]) -> SamlSender:
    if len(found) != 1 or not can_sign_in(found[0]):
        raise errors.ConnectionNotConfigured
    return _sender(found[0])


def _sender(item: Item) -> SamlSender:
    provider = SamlProvider.model_validate({**item.content, "provider": item.name})
    return SamlSender(provider, PROVIDER_KEYS.read(item.content, item.secrets))
