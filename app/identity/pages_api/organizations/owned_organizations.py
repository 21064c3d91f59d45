"""The account pages on which people create organizations, and owners change, hand over and delete theirs."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.messages.models import MailKind
from app.contract.organizations.pages import organization_settings_pages
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, full_name, verified_email
from app.identity.directory.organizations import owned_organizations
from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.domains import domains
from app.identity.directory.organizations.invitations import invitation_store
from app.identity.directory.organizations.membership_changes import ownership_transfer
from app.identity.directory.organizations.membership_changes.ownership_transfer import Transferred
from app.identity.directory.organizations.memberships import managed_organization
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.organizations import organization_page_views
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.identity.use_cases.organizations import own_logo

_PAGE: Final = "/organizations"


@organization_settings_pages.create.implements
def create(
    context: Context, req: organization_settings_pages.CreateOwnOrganization
) -> organization_settings_pages.CreatedOrganization:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    return organization_settings_pages.CreatedOrganization(
        id=owned_organizations.create(context, account, req.name).org_id
    )


@organization_settings_pages.read.implements
def read(
    context: Context, req: organization_settings_pages.OrganizationSettingsRequest
) -> organization_settings_pages.OrganizationSettingsView:
    session, account = signed_in_account.require_account(context)
    sessions.touch(context, session)
    scope, org_id = managed_organization.load(context, account, req.organization), req.organization
    stored = scope.organization
    return organization_settings_pages.OrganizationSettingsView(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        name=stored.name,
        display_name=str(stored.display.get("Name") or ""),
        logo=stored.logo_url or "",
        color=stored.color or "",
        domains=len(domains.of_organizations(context, [org_id])[org_id]),
        connections=len(organization_connection_store.of_organizations(context, [org_id])[org_id]),
        invitations=invitation_store.count_open(context, org_id),
        **organization_page_views.account_view(context, session, account),
    )


@organization_settings_pages.change.implements
def change(context: Context, req: organization_settings_pages.ChangeOrganizationSettings) -> Posted:
    account = accounts.current(context)
    owned_organizations.change(
        context,
        account,
        req.organization,
        name=req.name,
        display_name=req.display_name.strip(),
        color=req.color,
    )
    return Posted()


@organization_settings_pages.set_logo.implements
def set_logo(context: Context, req: organization_settings_pages.SetOrganizationLogo) -> Posted:
    _, account = signed_in_account.require_account(context)
    own_logo.change(context, account, req.organization, req.logo)
    return Posted()


@organization_settings_pages.delete.implements
def delete(context: Context, req: organization_settings_pages.DeleteOwnOrganization) -> Posted:
    account = accounts.current(context)
    owned_organizations.delete(context, account, req.organization, req.name)
    return Posted()


@organization_settings_pages.read_transfer.implements
def read_transfer(
    context: Context, req: organization_settings_pages.TransferRequest
) -> organization_settings_pages.TransferView:
    session, account = signed_in_account.require_account(context)
    scope = managed_organization.load(context, account, req.organization)
    if not scope.is_owner:
        raise errors.OwnersOnly
    return organization_settings_pages.TransferView(
        organization=organization_page_views.own(context, account, [scope.actor])[0],
        member=organization_page_views.member_of(context, scope, account, req.uid),
        roles_after=[role.name for role in ownership_transfer.roles_after(context, scope)],
        **organization_page_views.account_view(context, session, account),
    )


@organization_settings_pages.transfer.implements
def transfer(context: Context, req: organization_settings_pages.TransferOwnership) -> Posted:
    actor = accounts.current(context)
    done = ownership_transfer.transfer(context, actor, req.organization, req.uid, steps_down=req.steps_down)
    _mail(context, actor, done, steps_down=req.steps_down)
    return Posted()


def _mail(context: Context, actor: Account, done: Transferred, *, steps_down: bool) -> None:
    """Notify the new owner and the actor of a change of owners."""
    facts = MessageFacts(
        url=f"{context.pages_url}{_PAGE}",
        organization=done.organization.display_name,
        organization_logo=done.organization.logo_url or "",
        inviter=full_name(actor) or "",
    )
    if done.is_new and (email := verified_email(done.owner)) is not None:
        messaging.mail(context, MailKind.OWNER_ADDED, email, account=done.owner, facts=facts)
    if (done.is_new or steps_down) and (email := verified_email(actor)) is not None:
        change = "removed" if steps_down else "added"
        facts = replace(facts, change=change, email=oauth_views.person(done.owner).label)
        messaging.mail(context, MailKind.OWNERSHIP_CHANGED, email, account=actor, facts=facts)
