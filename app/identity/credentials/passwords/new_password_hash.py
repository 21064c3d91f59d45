"""Hashes a new password if the tenant's policy allows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.contract import errors
from app.identity.credentials.passwords import policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.platform.context import Context

PROFILE_FIELDS = ("FirstName", "MiddleName", "LastName", "NickName", "ProfileName", "Company")
"""Profile fields whose words a password must not contain."""


def profile_words(account: Account) -> list[str | None]:
    """Return the account's words that its password must not contain."""
    addresses = [item.value for item in account.email_list]
    return [*addresses, account.username, account.phone, *map(account.profile.get, PROFILE_FIELDS)]


def is_secure(context: Context, account: Account, password: str) -> bool:
    """Return `IsSecurePassword`: the password meets the account's present policy, and that policy refuses common passwords."""
    rules = active_policies.password_rules(context, account)
    try:
        policy.refuse(rules, password, profile_words(account))
    except (errors.FieldsRefused, errors.WeakPassword):
        return False
    return rules.common_check


def hash_if_allowed(
    context: Context,
    password: str,
    words: Iterable[str | None],
    earlier: Sequence[str] = (),
    *,
    account: Account | None = None,
) -> str:
    """Return the hash to store; the rules of the account's organizations apply too.

    Call it before any write: it releases the connection while hashing. Costs one hash, and one more for each
    earlier password that the policy remembers.

    Raises:
        FieldsRefused, WeakPassword: the policy refuses the password.
        NewPasswordBreached: it is known as breached, and the tenant refuses those.
        PasswordNotAcceptable: it is one of the earlier ones.
    """
    rules = active_policies.password_rules(context, account)
    policy.refuse(rules, password, words)
    context.work.release_connection()
    if rules.breached == "change" and context.services.breached_passwords.has(password):
        raise errors.NewPasswordBreached
    remembered = [stored for stored in earlier if stored][: rules.history]
    if any(context.hashing.is_match(stored, password) for stored in remembered):
        raise errors.PasswordNotAcceptable("This password was used before.")
    return context.hashing.hash(password)
