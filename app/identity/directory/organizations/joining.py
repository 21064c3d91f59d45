"""Just-in-time membership: an account with a verified address joins the organization that verified the address's domain."""

from __future__ import annotations

from collections.abc import Sequence

from app.contract import errors as e
from app.identity.directory.accounts import account as account_values
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import joined_domains, member_store, memberships, store
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context


def lock_joined(context: Context, account: Account) -> list[Organization]:
    """Lock the organizations that the account joins by signing in, because its verified addresses belong to them, and return them.

    Call it before the sign-in locks the account's row: what gives the account roles locks the organization first, too, and each
    would wait for the other. A tenant without such organizations costs no statement, because their domains are cached with the
    tenant's version.
    """
    if not context.tenant.settings.organizations.enabled:
        return []
    joined = joined_domains.of_tenant(context).joined
    wanted = {joined[domain] for domain in verified_domains(account) if domain in joined} if joined else set()
    if wanted and account.has_organizations:
        wanted -= {one.org_id for one in member_store.of_account(context, account.uid)}
    # at each sign-in, so a full one takes no lock and is not audited
    found = [one for one in store.by_ids(context, wanted) if not memberships.is_full(context, one)] if wanted else []
    for one in found:
        store.locked(context, one.org_id, is_alone=True)
    return found


def join_by_domain(context: Context, account: Account, organizations: Sequence[Organization]) -> None:
    """Make the account a member of the organizations of `lock_joined`, with the role of new members.

    Call it at the end of a sign-in, when the account's row is locked. What goes wrong is audited, and does not end the sign-in.
    """
    held = {one.org_id for one in member_store.of_account(context, account.uid)}
    for organization in organizations:
        if organization.org_id in held:  # by another sign-in, for which the lock waited
            continue
        try:
            given = memberships.join(context, account, organization)
        except (
            e.OrganizationInactive,
            e.UnknownOrganization,
            e.MalformedRoleId,
            e.RoleOfOtherOrganization,
            e.NoSeatLeft,
        ):
            given = []
        event = "organization.joined_by_domain" if given else "organization.not_joined"
        context.audit.record(event, uid=account.uid, org_id=organization.org_id)


def sees_organizations(context: Context, account: Account) -> bool:
    """Return whether the account joined an organization at some time, or may ask to join one. Usually makes no query."""
    if account.has_organizations or not context.tenant.settings.organizations.enabled:
        return bool(account.has_organizations)
    asked = joined_domains.of_tenant(context).asked
    return bool(asked) and not verified_domains(account).isdisjoint(asked)


def verified_domains(account: Account) -> set[str]:
    """Return the domains of the account's verified addresses, normalized."""
    addresses = [entry["Value"] for entry in account.emails if account_values.is_verified(account, entry["Value"])]
    forms = (identifiers.normalize_email(one) or "" for one in addresses)
    return {form.rpartition("@")[2] for form in forms if form}
