"""The account and the membership that a grant is for: both may have ended since the person allowed it."""

from __future__ import annotations

from app.contract.oauth.oauth_errors import InvalidGrant
from app.identity.authentication.sign_in.sessions.sessions import LiveSession
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.directory.organizations.organization import Membership
from app.identity.platform.context import Context
from app.identity.protocols.oauth.claims import organization_claims


def active_account(context: Context, uid: str, live: LiveSession | None = None) -> Account:
    """Return the account of a grant; raises InvalidGrant if it may no longer sign in.

    Args:
        live: the grant's session, which was read with its account.
    """
    account = live.account if live is not None else None
    if account is None or account.uid != uid:
        account = account_store.by_uid(context, uid)
    if account is None or not can_sign_in(account):
        raise InvalidGrant("The account may not sign in.")
    return account


def active_membership(context: Context, uid: str, org_id: str | None) -> Membership | None:
    """Return the membership in an organization, None without one; raises InvalidGrant if it ended."""
    membership = organization_claims.membership_of(context, uid, org_id)
    if membership is None and org_id is not None:
        raise InvalidGrant("The user is not a member of the organization.")
    return membership
