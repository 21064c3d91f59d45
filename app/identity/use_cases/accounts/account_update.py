"""Reads and checks the request of an account's change, and hashes its secrets; `directory/accounts/changes/checked_update.py` writes it."""

from __future__ import annotations

from collections.abc import Callable, Collection

from app.contract.accounts.account_operations import AccountIdentifiers, PersonFields
from app.contract.profile import Write
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.passwords import new_password_hash, security_answers
from app.identity.credentials.passwords.new_password_hash import PROFILE_FIELDS
from app.identity.credentials.pins import pins
from app.identity.directory.accounts import input_checks, provider_tokens
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import checked_update
from app.identity.directory.accounts.changes.checked_update import ChangedAccount, CheckedUpdate, Columns
from app.identity.directory.accounts.input_checks import refuse_questions
from app.identity.directory.accounts.profile import profile_edits
from app.identity.platform.context import Context


def read(
    context: Context,
    account: Account,
    req: PersonFields,
    names: AccountIdentifiers | None,
    *,
    writers: Collection[Write],
    clears: bool,
    drops_username: bool = False,
    is_own: bool = False,
) -> CheckedUpdate:
    """Return the checked update of a request. Costs one hash for a password and one for each security answer.

    Raises:
        BadParameter and the refusals of `input_checks`, `profile_edits`, `new_password`: malformed members.
        UnknownSecurityQuestion: the tenant did not configure it.
    """
    settings, today = context.tenant.settings, context.now.date()
    edits = profile_edits.read(req.free, writers, clears=clears, custom_fields=settings.custom_fields, today=today)
    if provider_tokens.KEY in account.private:  # a profile that is written back would store the shown token readable
        edits.assigned.pop(provider_tokens.MEMBER, None)
    addresses = input_checks.emails(names.email) if names and names.email else None
    username = input_checks.username(settings, names.user_name, account.username) if names and names.user_name else None
    phone = input_checks.phone(req.phone_id) if req.phone_id else None
    refuse_questions(settings, req.security_question_answer)
    password_hash = None
    if req.password:
        profile = edits.apply(account.profile)
        words = [account.email, username or account.username, phone or account.phone, *map(profile.get, PROFILE_FIELDS)]
        earlier = [account.password_hash or "", *account.password_history]
        password_hash = new_password_hash.hash_if_allowed(context, req.password, words, earlier, account=account)
    if req.security_question_answer or req.pin_info:  # what follows hashes
        context.work.release_connection()
    answer_hashes = security_answers.hash_answers(context, req.security_question_answer or {})
    pin_hash = pins.hash_from_profile(context, req.pin_info)
    return CheckedUpdate(
        edits, addresses, username, drops_username, phone, password_hash, answer_hashes, req.pin_info, pin_hash, is_own,
        account.password_hash,
    )  # fmt: skip


def write(
    context: Context, uid: str, change: CheckedUpdate, more: Callable[[Account, Columns], Columns] | None = None
) -> ChangedAccount:
    """Write an update as `checked_update.write` does; a new PIN ends the resets of the former one."""
    changed = checked_update.write(context, uid, change, more)
    if change.pin_hash:
        one_time_tokens.close(context, uid, Purpose.RESET_PIN)
    return changed
