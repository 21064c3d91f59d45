"""Just-in-time membership: an account with a verified address joins the organization that verified the address's domain."""

from __future__ import annotations

from app.contract import errors as e
from app.identity.directory.accounts import account as account_values
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import store as account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import inviting, joined_domains, member_store, memberships, store
from app.identity.directory.organizations.organization import Organization
from app.identity.platform.context import Context


def join_by_domain(context: Context, account: Account) -> None:
    """Make the account a member of the organizations that its verified addresses belong to, with the role of new members.

    Call it at the end of a sign-in, when the account's row is locked. A tenant without such organizations costs no statement,
    because their domains are cached with the tenant's version. What goes wrong is audited, and does not end the sign-in.
    """
    if not context.tenant.settings.organizations.enabled:
        return
    by_domain, asked = joined_domains.by_domain(context), joined_domains.with_approval(context)
    if not by_domain and not asked:
        return
    domains = verified_domains(account)
    if not account.has_organizations and not domains.isdisjoint(asked):
        account_store.mark_member(context, account.uid)  # its account pages then show that it can ask
    wanted = {by_domain[domain] for domain in domains if domain in by_domain}
    if wanted and account.has_organizations:
        wanted -= {one.org_id for one in member_store.of_account(context, account.uid)}
    for organization in store.by_ids(context, wanted) if wanted else ():
        try:
            joined = [] if _is_full(context, organization) else memberships.join(context, account, organization)
        except (e.OrganizationInactive, e.UnknownOrganization, e.MalformedRoleId, e.RoleOfOtherOrganization):
            joined = []
        event = "organization.joined_by_domain" if joined else "organization.not_joined"
        context.audit.record(event, uid=account.uid, org_id=organization.org_id)


def _is_full(context: Context, organization: Organization) -> bool:
    """Return whether members have taken every seat; nobody else takes one before the commit."""
    if organization.seats is None:
        return False
    store.locked(context, organization.org_id, is_alone=True)
    return inviting.is_full(context, organization)


def verified_domains(account: Account) -> set[str]:
    """Return the domains of the account's verified addresses, normalized."""
    addresses = [entry["Value"] for entry in account.emails if account_values.is_verified(account, entry["Value"])]
    forms = (identifiers.normalize_email(one) or "" for one in addresses)
    return {form.rpartition("@")[2] for form in forms if form}
