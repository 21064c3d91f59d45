"""The rules by which people create organizations, and owners change and delete theirs."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final, Literal

from app.contract import errors
from app.contract.organizations.models import DisplayUpdate
from app.contract.organizations.organization_operations import UpdateOrganization
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import organization_names, organization_store, organizations
from app.identity.directory.organizations.memberships import (
    managed_organization,
    membership_store,
    memberships,
)
from app.identity.directory.organizations.organization import OWN, Membership, OrganizationRecord
from app.identity.directory.organizations.roles import owner_role
from app.identity.platform.context import Context
from app.kit.limits.rate_limits import Rate

MAX_CREATIONS: Final = Rate(20, 3600)
"""Per account, refused ones too: "taken" tells that a name exists."""
_REPEATED: Final = timedelta(minutes=10)
"""A second submit of the form within this time returns the organization of the first."""


def may_create(context: Context) -> bool:
    """Return whether people of the tenant create organizations."""
    settings = context.tenant.settings.organizations
    return settings.enabled and settings.self_service_creation


def creation_problem(
    context: Context, account: Account, stored: Collection[Membership]
) -> Literal["", "unverified", "limit"]:
    """Return why the account, which has these memberships, can create no organization now; empty if it can."""
    if not may_create(context):
        return ""
    if not account.email_list.verified_domains:
        return "unverified"
    owned = sum(OWN in item.permissions for item in stored)
    return "limit" if owned >= context.tenant.settings.organizations.owned_limit else ""


def create(context: Context, account: Account, name: str) -> OrganizationRecord:
    """Create an organization whose owner is the account.

    Raises:
        OrganizationCreationOff, EmailUnverified: the account may create none.
        TooManyRequests, BadField, OrganizationNameTaken.
        TooManyOrganizations: the account owns as many as the tenant allows, or the tenant is on trial.
    """
    if not may_create(context):
        raise errors.OrganizationCreationOff
    if not account.email_list.verified_domains:
        raise errors.EmailUnverified
    context.count_against("organization_create", MAX_CREATIONS, account.uid)
    checked = organization_names.checked(name)
    if not account_store.mark_member(context, account.uid):  # of two at once, the second counts the first's
        raise errors.NotAuthenticated
    owned = [
        membership.organization
        for membership in membership_store.memberships(context, account.uid)
        if OWN in membership.permissions
    ]
    repeated = next(
        (item for item in owned if organization_names.key_of(item.name) == organization_names.key_of(checked)), None
    )
    if repeated is not None and context.now - repeated.created_at < _REPEATED:
        return repeated
    if len(owned) >= context.tenant.settings.organizations.owned_limit:
        raise errors.TooManyOrganizations
    organization = organizations.create(context, checked, by=account.uid)
    memberships.join(context, account, organization, [owner_role.find_or_create(context).role_id])
    return organization


def change(
    context: Context, actor: Account, org_id: str, *, name: str, display_name: str, color: str | None
) -> OrganizationRecord:
    """Change name, display name and color.

    Raises:
        UnknownOrganization, OwnersOnly, BadField, TooManyRequests.
        OrganizationNameTaken: also for a display name that is the name of another organization, whose invitations it could imitate.
    """
    stored = _owned(context, actor, org_id)
    if not all(is_name_of(stored, item) for item in (name, display_name or stored.name)):
        context.count_against("organization_create", MAX_CREATIONS, actor.uid)
    namesake = organization_store.by_name(context, display_name) if display_name else None
    if namesake is not None and namesake.org_id != org_id:
        raise errors.OrganizationNameTaken("The Display.Name is the name of another organization.")
    look = {**stored.display, "Name": display_name or None, "Color": color}
    requested = UpdateOrganization(org_id=org_id, name=name, display=DisplayUpdate.model_validate(look))
    return organizations.update(context, requested, by=actor.uid)


def set_logo(context: Context, actor: Account, org_id: str, address: str | None) -> OrganizationRecord:
    """Change the address of the logo; None removes it. Raises UnknownOrganization, OwnersOnly."""
    look = {**_owned(context, actor, org_id).display, "LogoURL": address}
    requested = UpdateOrganization(org_id=org_id, display=DisplayUpdate.model_validate(look))
    return organizations.update(context, requested, by=actor.uid)


def delete(context: Context, actor: Account, org_id: str, typed_name: str) -> None:
    """Delete an organization. Raises UnknownOrganization, OwnersOnly, and BadField if the name is not its own."""
    stored = _owned(context, actor, org_id)
    if not is_name_of(stored, typed_name):
        raise errors.BadField("The Name is not that of the organization.")
    organizations.delete(context, org_id, by=actor.uid)


def is_name_of(organization: OrganizationRecord, text: str) -> bool:
    """Return whether a text is the name or the display name, in any letter case."""
    return organization_names.key_of(text) in {
        organization_names.key_of(organization.name),
        organization_names.key_of(organization.display_name),
    }


def _owned(context: Context, actor: Account, org_id: str) -> OrganizationRecord:
    """Return the organization, locked. Raises UnknownOrganization, OwnersOnly."""
    scope = managed_organization.load(context, actor, org_id, for_change=True)
    if not scope.is_owner:
        raise errors.OwnersOnly
    return scope.organization
