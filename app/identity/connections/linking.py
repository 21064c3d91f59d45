"""Linking, where the tenant has it."""

from __future__ import annotations

from app.contract.errors.federation import AccountLinkingOff
from app.identity.accounts import linked
from app.identity.accounts.account import Account
from app.identity.call import Call
from app.identity.providers.social import Claimed


def refuse_off(call: Call) -> None:
    """Raise 1054 where identities join no account that is there."""
    if not call.tenant.settings.account_linking:
        raise AccountLinkingOff


def link(call: Call, account: Account, claimed: Claimed, *, is_silent: bool = False) -> Account:
    """Give an account an identity and return it as it is then. Raises AccountLinkingOff, linked.Taken."""
    refuse_off(call)
    return linked.link(call, account, claimed, is_silent=is_silent)
