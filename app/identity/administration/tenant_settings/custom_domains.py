"""The rules of custom domains: a domain is served once the tenant has verified it by DNS.

A pending domain blocks no tenant: several may add it, and the first to verify it is served. A verified domain moves to
another tenant that verifies it only if the records of the former tenant are gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from sqlalchemy.exc import IntegrityError

from app.contract import errors
from app.contract.tenants import custom_domain_operations
from app.identity.administration.tenant_settings.security_administration import accounts_sentence
from app.identity.credentials.passkeys import passkey_store
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.directory.tenants.urls import custom_hosts, webauthn_origins
from app.identity.platform.audit import AuditLog
from app.identity.platform.context import Context
from app.identity.platform.powers import ALL, Power
from app.identity.platform.resource_storage.items import Item, StoreAccess
from app.identity.platform.resource_storage.resource_store import SharedTable
from app.identity.platform.resource_storage.rules import Rules
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.limits.rate_limits import Rate
from app.kit.outbound.dns_records import DnsRecords, DnsUnavailable
from app.kit.resources.resource import Resource
from app.kit.web.proxies import hostname_of

_TXT_LABEL: Final = "_gatehouse"
_CHECKS: Final = Rate(30, 3600)
"""DNS look-ups of a tenant."""


def powers_of(context: Context, item: Item) -> Iterator[Power]:  # noqa: ARG001 - the hook's signature
    """The server of a domain receives the input and cookies of its visitors, and may be the issuer."""
    yield Power(ALL, "custom domains")


def refuse_own_names(context: Context, before: Item | None, after: Item) -> None:  # noqa: ARG001 - the hook's signature
    """Refuse the names of this installation. Raises BadField."""
    settings, domain = context.services.settings, after.id[0]
    hub = hostname_of(settings.hub_domain)
    others = {hostname_of(settings.api_hostname), hostname_of(settings.inside_host)}
    if domain in others or webauthn_origins.is_within(domain, hub):
        raise errors.BadField(f"DomainName: a domain of the tenant's own; {domain} belongs to this service.")


def show_state(context: Context, content: Any, values: dict[str, Any]) -> None:
    domain = content.domain_name
    values |= {
        "status": "verified" if domain in context.tenant.custom_hosts else "pending",
        "record_value": webauthn_origins.own_host(context),
        "txt_name": f"{_TXT_LABEL}.{domain}",
        "txt_value": _txt_value(context.tenant.tenant_id),
        "passkey_effect": _passkey_effect(context, domain),
    }


def verify(context: Context, item: Item) -> None:
    """Look the proof up, and take the domain from a tenant that no longer has one. Raises BadField, ProviderDomainExists."""
    domain = item.id[0]
    context.count_against("custom_domains.verify", _CHECKS)
    if not _is_proven(context, domain, webauthn_origins.own_host(context), context.tenant.tenant_id):
        raise errors.BadField(_missing_record(context, domain))
    with _lookup(context) as work:
        owner = custom_hosts.owner(work, domain)
    if owner is None or owner[0] == context.tenant.tenant_id:
        return
    if _is_proven(context, domain, f"{owner[1]}.{hostname_of(context.services.settings.hub_domain)}", owner[0]):
        raise errors.ProviderDomainExists
    _take_from(context, owner[0], domain)


def serve(context: Context, item: Item, body: Any) -> None:  # noqa: ARG001 - the hook's signature
    """Serve the domain from now on. Raises ProviderDomainExists if another tenant was faster."""
    domain = item.id[0]
    if custom_hosts.is_served(context.work, domain):
        return
    try:
        custom_hosts.add(context.work, domain, context.now)
    except IntegrityError:
        raise errors.ProviderDomainExists from None
    tenant_writes.change(context.work)
    context.audit.record("custom_domains.verified", domain_name=domain)
    context.services.directory.clear_cache()
    context.tenant = replace(context.tenant, custom_hosts=(*context.tenant.custom_hosts, domain))


def refuse_passkey_domain(context: Context, item: Item) -> None:
    """Refuse to remove the domain that passkeys are bound to, which would invalidate them. Raises BadField."""
    rp_id = webauthn_origins.rp_id(context)
    others = [host for host in context.tenant.custom_hosts if host != item.id[0]]
    is_needed = webauthn_origins.is_within(item.id[0], rp_id) and rp_id != webauthn_origins.own_host(context)
    if is_needed and not any(webauthn_origins.is_within(other, rp_id) for other in others):
        count = passkey_store.count_accounts(context.work)
        if count:
            raise errors.BadField(f"DomainName: {accounts_sentence(count)} for {rp_id}, which would stop working.")


@dataclass(frozen=True)
class DomainStore(SharedTable):
    """Keeps custom domains in the shared table, and stops serving those that are removed, also by a configuration file."""

    def remove(self, access: StoreAccess, resource: Resource, item_id: tuple[str, ...]) -> None:
        """Remove a domain."""
        custom_hosts.remove(access.work, item_id[0])
        super().remove(access, resource, item_id)


@contextmanager
def _lookup(context: Context) -> Iterator[UnitOfWork]:
    work = UnitOfWork(context.services.database, LOOKUP_TENANT, context.cost)
    try:
        yield work
    finally:
        work.rollback()


def _is_proven(context: Context, domain: str, host: str, tenant_id: str) -> bool:
    """Return whether DNS has one of the two records. Raises BadField if DNS does not answer."""
    records = DnsRecords(context.services.settings.dns_servers)
    try:
        return host in records.aliases(domain) or _txt_value(tenant_id) in records.texts(f"{_TXT_LABEL}.{domain}")
    except DnsUnavailable:
        raise errors.BadField(f"DomainName: DNS gave no answer for {domain}; try again.") from None


def _missing_record(context: Context, domain: str) -> str:
    host = webauthn_origins.own_host(context)
    return (
        f"DomainName: DNS has neither the CNAME {host} at {domain} nor the TXT {_txt_value(context.tenant.tenant_id)} "
        f"at {_TXT_LABEL}.{domain}. New records may take hours to be seen."
    )


def _txt_value(tenant_id: str) -> str:
    return f"gatehouse-tenant={tenant_id}"


def _take_from(context: Context, tenant_id: str, domain: str) -> None:
    """Stop serving the domain for a tenant whose proof is gone, in a transaction of that tenant."""
    work = UnitOfWork(context.services.database, tenant_id, context.cost)
    try:
        if custom_hosts.remove(work, domain):
            tenant_writes.change(work)
            audit = AuditLog(context.services.clock)
            audit.record("custom_domains.lost", domain_name=domain)
            audit.write(work)
        work.commit()
    finally:
        work.rollback()
    context.services.directory.clear_cache()


def _passkey_effect(context: Context, domain: str) -> str:
    """Return the effect of the domain on passkeys, for the person who is about to verify it (WebAuthn level 3 section 5.11)."""
    if not context.tenant.settings.passkeys:
        return "None: passkeys are off."
    rp_id, chosen = webauthn_origins.rp_id(context), context.tenant.settings.passkey_settings.rp_id
    count = passkey_store.count_accounts(context.work)
    if webauthn_origins.is_within(domain, rp_id):
        return f"None: passkeys are bound to {rp_id}, which includes the domain."
    if chosen is not None and webauthn_origins.is_within(domain, chosen):
        lost = f" {accounts_sentence(count)} for {rp_id}, which stop working." if count else ""
        return f"Once the domain is verified, new passkeys are bound to {chosen}.{lost}"
    related = (
        f"On {domain} they work in browsers with related origins (WebAuthn level 3); others ask for another method."
    )
    if count:
        return f"{accounts_sentence(count)}, which stay bound to {rp_id}. {related}"
    return (
        f"No account has a passkey; new ones are bound to {rp_id}. {related} To bind them to {domain}, verify it and set RPID "
        "before the first one is made."
    )


RULES: Final = {
    custom_domain_operations.DOMAINS: Rules(
        on_output=show_state,
        powers=powers_of,
        before_write=refuse_own_names,
        before_delete=refuse_passkey_domain,
        actions={"verify": serve},
        actions_before_lock={"verify": verify},
        store=DomainStore(),
    ),
}
