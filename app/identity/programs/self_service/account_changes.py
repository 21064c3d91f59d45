"""One change of an account, whoever asks for it: read and checked, hashed, then written to the row that is locked.

Servers (account.md row A05) and people (user.md row U16) differ in what they may say; how it is done is told here once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from app.contract import errors as e
from app.contract.accounts import AccountIdentifiers, PersonFields, PinInfo
from app.contract.profile import Write
from app.identity.credentials.passwords import new_password, security_answers
from app.identity.credentials.passwords.new_password import PROFILE_FIELDS
from app.identity.credentials.pins import service as pins
from app.identity.directory.accounts import (
    identifier_checks,
    identifiers,
    pending_accounts,
    previous_locale,
    profile_edits,
    store,
)
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifier_checks import Emails
from app.identity.directory.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.directory.accounts.refusals import refuse_questions, taken
from app.identity.platform.context import Context

Columns = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What a request asks, checked; nothing of it needs the store any more."""

    edits: profile_edits.Edits
    addresses: Emails | None = None
    username: str | None = None
    drops_username: bool = False
    phone: str | None = None
    password_hash: str | None = field(default=None, repr=False)
    answers: dict[str, str] = field(default_factory=dict, repr=False)
    pin_info: PinInfo | None = field(default=None, repr=False)
    pin_hash: str | None = field(default=None, repr=False)
    is_own: bool = False  # a person says it of themselves: an address is theirs once it is proved


@dataclass(frozen=True)
class Changed:
    """An account before and after."""

    before: Account
    after: Account

    @property
    def has_new_password(self) -> bool:
        return self.before.password_hash != self.after.password_hash


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
) -> Wanted:
    """Return what a request asks of an account. Costs one hash for a password and one for each security answer.

    Raises:
        BadParameter and the refusals of `naming`, `editing`, `passwords.setting`: malformed members.
        UnknownSecurityQuestion: the tenant did not configure it.
    """
    settings, today = context.tenant.settings, context.now.date()
    edits = profile_edits.read(req.free, writers, clears=clears, custom_fields=settings.custom_fields, today=today)
    addresses = identifier_checks.emails(names.email) if names and names.email else None
    username = (
        identifier_checks.username(settings, names.user_name, account.username) if names and names.user_name else None
    )
    phone = identifier_checks.phone(req.phone_id) if req.phone_id else None
    refuse_questions(settings, req.security_question_answer)
    password_hash = None
    if req.password:
        profile = edits.apply(account.profile)
        words = [account.email, username or account.username, phone or account.phone, *map(profile.get, PROFILE_FIELDS)]
        earlier = [account.password_hash or "", *account.password_history]
        password_hash = new_password.hash_if_allowed(context, req.password, words, earlier)
    context.work.release_connection()
    kept = security_answers.hash_answers(context, req.security_question_answer or {})
    pin_hash = pins.hash_from_profile(context, req.pin_info)
    return Wanted(
        edits, addresses, username, drops_username, phone, password_hash, kept, req.pin_info, pin_hash, is_own
    )


def write(
    context: Context, uid: str, wanted: Wanted, more: Callable[[Account, Columns], Columns] | None = None
) -> Changed:
    """Write a change and return the account before and after it.

    The row is locked before it is read again, so that two changes at once lose nothing of one another.

    Args:
        more: given the locked account and the columns so far, returns further columns.

    Raises:
        UnknownUid: it was deleted meanwhile.
        EmailUpdateRefused: other addresses than it has; those have operations of their own.
        WrongCurrentPin: its owner says another PIN here, where nobody asks for the present one.
        UsernameTaken, EmailRegistered, PhoneTaken: another account of the tenant has it.
    """
    fresh = store.change(context, uid, {})
    if fresh is None:
        raise e.UnknownUid
    values = {**_free(context, wanted, fresh), **_secrets(context, wanted, fresh)}
    try:
        values.update(_identifiers(context, wanted, fresh))
    except store.IdentifierTaken as conflict:
        raise taken(conflict) from None
    if more is not None:
        values.update(more(fresh, values))
    after = store.change(context, uid, values)
    if after is None:
        raise e.UnknownUid
    return Changed(fresh, after)


def _free(context: Context, wanted: Wanted, fresh: Account) -> Columns:
    profile = wanted.edits.apply(fresh.profile)
    return {"profile": profile, "profile_modified_at": context.now} if profile != fresh.profile else {}


def _secrets(context: Context, wanted: Wanted, fresh: Account) -> Columns:
    private = {**fresh.private, **previous_locale.remember(fresh, wanted.edits.apply(fresh.profile), context.now)}
    values: Columns = {}
    if wanted.is_own and wanted.pin_hash and fresh.has_pin:
        raise e.WrongCurrentPin("A PIN that is set is changed with the present one.")
    private |= pins.private_entry(context, fresh.uid, fresh.pin, wanted.pin_info, wanted.pin_hash)
    if wanted.answers:
        private["security_answers"] = {**fresh.security_answers, **wanted.answers}
    if wanted.password_hash:
        policy = context.tenant.settings.password_policy
        earlier = [fresh.password_hash, *fresh.password_history] if fresh.password_hash else fresh.password_history
        private["password_history"] = earlier[: max(0, policy.history - 1)]
        private |= {"is_secure_password": policy.common_check, "is_password_breached": False}
        values = {"password_hash": wanted.password_hash, "password_changed_at": context.now}
    return {**values, "private": private} if private != fresh.private or values else {}


def _identifiers(context: Context, wanted: Wanted, fresh: Account) -> Columns:
    """Take and let go identifiers; return the columns that show them. Raises store.Taken, 1174."""
    values: Columns = {}
    taken_now = []
    if wanted.addresses is not None:
        held = {identifiers.normalize_email(entry["Value"]) for entry in fresh.emails if not entry.get("pending")}
        if held and held != set(wanted.addresses.forms):
            raise e.EmailUpdateRefused
        if not held and wanted.is_own:
            values.update(_own_addresses(context, wanted.addresses))
        elif not held:
            values.update(email=wanted.addresses.primary, emails=wanted.addresses.shown)
            taken_now += [(EMAIL, form, False) for form in wanted.addresses.forms]
    if wanted.phone is not None and fresh.phone is None:
        values["phone"] = wanted.phone
        if not (wanted.is_own and pending_accounts.is_phone_claimable(context, wanted.phone)):
            taken_now.append((PHONE, wanted.phone, False))
    if wanted.drops_username or (wanted.username is not None and wanted.username != fresh.username):
        store.remove_identifiers(context, fresh.uid, USERNAME)
        values["username"] = wanted.username
        taken_now += [(USERNAME, wanted.username, True)] if wanted.username else []
    store.add_identifiers(context, fresh.uid, taken_now)
    return values


def _own_addresses(context: Context, addresses: Emails) -> Columns:
    """Return the addresses that somebody says are theirs; they wait for a proof. Raises store.Taken where that may be told."""
    if not context.tenant.settings.hide_unknown_accounts:
        for form in addresses.forms:
            if store.by_identifier(context, EMAIL, form) is not None:
                raise store.IdentifierTaken(EMAIL)
    return {"emails": addresses.waiting}
