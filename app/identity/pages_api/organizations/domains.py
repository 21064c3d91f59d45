"""The domains of an organization on its owners' pages: add, verify, remove."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.organizations.pages import domain_pages
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations.domains import domain_verification, domains
from app.identity.directory.organizations.domains.domains import OrganizationDomain
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.directory.organizations.memberships.managed_organization import ManagedOrganization
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import organization_page_views
from app.identity.platform.context import Context
from app.identity.use_cases.organizations import verify_domain
from app.kit.clock import iso

MAX_DOMAINS: Final = 20
"""Domains that owners may add to one organization; the tenant's servers may add more."""


@domain_pages.read.implements
def read(context: Context, req: domain_pages.DomainsRequest) -> domain_pages.DomainsResponse:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope = _owned(context, account, req.organization)
    used = domains.used_by_connections(context, req.organization)
    return domain_pages.DomainsResponse(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        domains=[view(item, used) for item in _held(context, req.organization)],
        **organization_page_views.account_view(context, session, account),
    )


@domain_pages.add.implements
def add(context: Context, req: domain_pages.AddDomainRequest) -> Posted:
    account = accounts.current(context)
    _owned(context, account, req.organization)
    name = domains.checked(req.name)
    domain_verification.require_mail_servers(context, [name])
    scope = _owned(context, account, req.organization, for_change=True)  # DNS may have taken seconds
    if len(_held(context, req.organization)) >= MAX_DOMAINS:
        raise errors.TooManyDomains
    domains.add(context, scope.organization, name, by=account.uid)
    return Posted()


@domain_pages.verify.implements
def verify(context: Context, req: domain_pages.VerifyDomainRequest) -> Posted:
    _, account = signed_in_account.require_account(context)
    scope = _owned(context, account, req.organization)
    verify_domain.verify(context, domains.require(context, scope.organization, req.domain), by=account.uid)
    return Posted()


@domain_pages.remove.implements
def remove(context: Context, req: domain_pages.RemoveDomainRequest) -> Posted:
    account = accounts.current(context)
    scope = _owned(context, account, req.organization, for_change=True)
    domains.remove(context, domains.require(context, scope.organization, req.domain), by=account.uid)
    return Posted()


def _owned(context: Context, account: Account, org_id: str, *, for_change: bool = False) -> ManagedOrganization:
    """Return an organization that the account owns, while the tenant lets organizations verify domains.

    `for_change` lets no other request that asks for it change the organization meanwhile.

    Raises UnknownOrganization, also for managers who are no owners.
    """
    scope = managed_organization.load(context, account, org_id, for_change=for_change)
    if not scope.is_owner or not context.tenant.settings.organizations.dns:
        raise errors.UnknownOrganization
    return scope


def _held(context: Context, org_id: str) -> list[OrganizationDomain]:
    return domains.of_organizations(context, [org_id])[org_id]


def view(item: OrganizationDomain, used: set[str]) -> domain_pages.OwnDomain:
    """Return a domain as pages show it. `used`: the names of those that connections use."""
    return domain_pages.OwnDomain(
        id=item.domain_id,
        name=item.domain,
        record=domain_verification.PREFIX + item.token,
        is_verified=item.is_verified,
        is_declared=item.is_verified and item.strategy == domains.MANUAL,
        is_in_use=item.domain in used,
        problem=item.problem,
        verified_at=iso(item.verified_at),
        checked_at=iso(item.checked_at),
    )
