"""Just-in-time membership: an account with a verified address joins the organization that verified the address's domain."""

from __future__ import annotations

from collections.abc import Sequence

from app.contract import errors
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies, organization_store
from app.identity.directory.organizations.domains import membership_domains
from app.identity.directory.organizations.memberships import membership_store, memberships
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.directory.provisioning import provisioned_user_store
from app.identity.platform.context import Context


def lock_joinable(context: Context, account: Account) -> list[OrganizationRecord]:
    """Lock the organizations that the account joins by signing in, because its verified addresses belong to them, and return them.

    Call it before the sign-in locks the account's row: what gives the account roles locks the organization first, too, and each
    would wait for the other. A tenant without such organizations costs no statement, because their domains are cached with the
    tenant's version.
    """
    if not context.tenant.settings.organizations.enabled:
        return []
    joined = membership_domains.of_tenant(context).automatic
    requested = (
        {joined[domain] for domain in account.email_list.verified_domains if domain in joined} if joined else set()
    )
    if requested and account.has_organizations:
        requested -= active_policies.granted(context, account.uid).keys()
    # at each sign-in, so a full one takes no lock and is not audited
    organization = (
        [
            element
            for element in organization_store.by_ids(context, requested)
            if not memberships.is_full(context, element)
            and not provisioned_user_store.is_closed_to(context, element.org_id, account.uid)
        ]
        if requested
        else []
    )
    for item in organization:
        organization_store.locked(context, item.org_id, is_alone=True)
    return organization


def join_by_verified_domain(context: Context, account: Account, organizations: Sequence[OrganizationRecord]) -> None:
    """Make the account a member of the organizations of `lock_joinable`, with the role of new members.

    Call it at the end of a sign-in, when the account's row is locked. What goes wrong is audited, and does not end the sign-in.
    """
    stored = {member.org_id for member in membership_store.of_account(context, account.uid)}
    for organization in organizations:
        if organization.org_id in stored:  # by another sign-in, for which the lock waited
            continue
        try:
            added_roles = memberships.join(context, account, organization)
        except (
            errors.OrganizationInactive,
            errors.UnknownOrganization,
            errors.MalformedRoleId,
            errors.RoleOfOtherOrganization,
            errors.NoSeatLeft,
        ):
            added_roles = []
        event = "organization.joined_by_domain" if added_roles else "organization.not_joined"
        context.audit.record(event, uid=account.uid, org_id=organization.org_id)


def sees_organizations(context: Context, account: Account) -> bool:
    """Return whether the account joined an organization at some time, or may ask to join one. Usually makes no query."""
    if account.has_organizations or not context.tenant.settings.organizations.enabled:
        return bool(account.has_organizations)
    by_request = membership_domains.of_tenant(context).by_request
    return bool(by_request) and not account.email_list.verified_domains.isdisjoint(by_request)
