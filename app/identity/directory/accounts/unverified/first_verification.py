"""Rules for self-registered accounts before their first verification, when their owner is unverified (decision 0064)."""

from __future__ import annotations

from typing import Any

from app.identity.directory.accounts import account_consents, account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import EmailList
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.directory.accounts.unverified.pending_accounts import SELF_REGISTERED
from app.identity.platform.context import Context

UNCLAIMED = "unclaimed"
"""The key in `private` of an address that was verified without the password, so that two people may use the account."""


def is_first_verification(account: Account) -> bool:
    """Return whether verifying an address would be the first verification of a self-registered account."""
    return bool(account.private.get(SELF_REGISTERED)) and not account.has_verified_email


def is_unverified(context: Context, account: Account, kind: str) -> bool:
    """Return whether the account is self-registered with an address that must be verified and is not.

    An attacker may have registered it, and must not learn from it whether the address was free. If `kind` (how the account
    was identified) is a verified phone number, the account counts as verified.
    """
    if kind == PHONE and account.phone_verified:
        return False
    return (
        context.tenant.settings.email_verification == "required"
        and bool(account.email)
        and is_first_verification(account)
    )


def is_shared(account: Account) -> bool:
    """Return whether an address was verified without the password, and no reset has claimed the account since."""
    return bool(account.private.get(UNCLAIMED))


def claims_account(account: Account, form: str) -> bool:
    """Return whether a password reset by this address claims the account for the mailbox's owner."""
    return is_first_verification(account) or account.private.get(UNCLAIMED) == form


def claim(context: Context, fresh: Account, email: str) -> dict[str, Any]:
    """Remove every address except this one, which is verified. Return the changed columns. Raises store.IdentifierTaken."""
    after = EmailList.single(email, is_verified=True)
    account_store.change_email_identifiers(context, fresh.uid, fresh.email_list, after)
    return after.columns()


def displace_unverified(context: Context, holder: Account, normalized: str, to: str) -> None:
    """Remove an unverified address from the locked account `holder`, for account `to`, which verified it.

    An account in use keeps the address as pending; a replaceable account is deleted.
    """
    if pending_accounts.is_replaceable(holder):
        pending_accounts.remove_replaceable(context, holder, to)
        return
    before = holder.email_list
    after = before.without_right_to(normalized)
    account_store.change_email_identifiers(context, holder.uid, before, after)
    account_store.change(context, holder.uid, after.changes_since(before))
    context.audit.record("email.displaced", uid=holder.uid, to=to)


def remove_unverified_credentials(context: Context, fresh: Account, private: dict[str, Any]) -> dict[str, Any]:
    """Remove everything that signs in without the password: answers, PIN, identities and phone. Return the changed columns.

    Consents are asked again, because another person may have given them. The phone is removed even if verified, because its
    verification did not need the mailbox. The username stays, because it does not authenticate.
    """
    private.pop("security_answers", None)
    private.pop("pin", None)
    private.pop(UNCLAIMED, None)
    linked_identities.unlink_all(context, fresh, private)
    account_consents.reset(private)
    account_store.remove_identifiers(context, fresh.uid, PHONE)
    return {"phone": None, "phone_verified": False}


def remove_unverified(context: Context, fresh: Account) -> dict[str, Any]:
    """Remove unverified addresses, answers and identities if a phone number is the account's first verification."""
    if not is_first_verification(fresh) or fresh.phone_verified:
        return {}
    private = {name: value for name, value in fresh.private.items() if name not in ("security_answers", "pin")}
    linked_identities.unlink_all(context, fresh, private)
    account_store.remove_identifiers(context, fresh.uid, EMAIL)
    return {"email": None, "emails": [], "private": private}
