"""One change of an account, whoever asks for it: read and checked, hashed, then written to the row that is locked.

Servers (account.md row A05) and people (user.md row U16) differ in what they may say; how it is done is told here once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from app.contract import errors as e
from app.contract.accounts import Names, PersonFields, PinInfo
from app.contract.profile import Write
from app.identity.accounts import editing, identifiers, naming, spoken, store, waiting
from app.identity.accounts.account import Account
from app.identity.accounts.identifiers import EMAIL, PHONE, USERNAME
from app.identity.accounts.naming import Emails
from app.identity.accounts.refusals import refuse_questions, taken
from app.identity.call import Call
from app.identity.passwords import answers, setting
from app.identity.passwords.setting import WORDS
from app.identity.pins import service as pins

Columns = dict[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What a request asks, checked; nothing of it needs the store any more."""

    edits: editing.Edits
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
    call: Call,
    account: Account,
    req: PersonFields,
    names: Names | None,
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
    settings, today = call.tenant.settings, call.now.date()
    edits = editing.read(req.free, writers, clears=clears, custom_fields=settings.custom_fields, today=today)
    addresses = naming.emails(names.email) if names and names.email else None
    username = naming.username(settings, names.user_name, account.username) if names and names.user_name else None
    phone = naming.phone(req.phone_id) if req.phone_id else None
    refuse_questions(settings, req.security_question_answer)
    password_hash = None
    if req.password:
        profile = edits.apply(account.profile)
        words = [account.email, username or account.username, phone or account.phone, *map(profile.get, WORDS)]
        earlier = [account.password_hash or "", *account.password_history]
        password_hash = setting.hashed(call, req.password, words, earlier)
    call.work.pause()
    kept = answers.hashed(call, req.security_question_answer or {})
    pin_hash = pins.wanted(call, req.pin_info)
    return Wanted(
        edits, addresses, username, drops_username, phone, password_hash, kept, req.pin_info, pin_hash, is_own
    )


def write(call: Call, uid: str, wanted: Wanted, more: Callable[[Account, Columns], Columns] | None = None) -> Changed:
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
    fresh = store.change(call, uid, {})
    if fresh is None:
        raise e.UnknownUid
    values = {**_free(call, wanted, fresh), **_secrets(call, wanted, fresh)}
    try:
        values.update(_identifiers(call, wanted, fresh))
    except store.Taken as conflict:
        raise taken(conflict) from None
    if more is not None:
        values.update(more(fresh, values))
    after = store.change(call, uid, values)
    if after is None:
        raise e.UnknownUid
    return Changed(fresh, after)


def _free(call: Call, wanted: Wanted, fresh: Account) -> Columns:
    profile = wanted.edits.apply(fresh.profile)
    return {"profile": profile, "profile_modified_at": call.now} if profile != fresh.profile else {}


def _secrets(call: Call, wanted: Wanted, fresh: Account) -> Columns:
    private = {**fresh.private, **spoken.noted(fresh, wanted.edits.apply(fresh.profile), call.now)}
    values: Columns = {}
    if wanted.is_own and wanted.pin_hash and fresh.has_pin:
        raise e.WrongCurrentPin("A PIN that is set is changed with the present one.")
    private |= pins.entry(call, fresh.uid, fresh.pin, wanted.pin_info, wanted.pin_hash)
    if wanted.answers:
        private["security_answers"] = {**fresh.security_answers, **wanted.answers}
    if wanted.password_hash:
        policy = call.tenant.settings.password_policy
        earlier = [fresh.password_hash, *fresh.password_history] if fresh.password_hash else fresh.password_history
        private["password_history"] = earlier[: max(0, policy.history - 1)]
        private |= {"is_secure_password": policy.common_check, "is_password_breached": False}
        values = {"password_hash": wanted.password_hash, "password_changed_at": call.now}
    return {**values, "private": private} if private != fresh.private or values else {}


def _identifiers(call: Call, wanted: Wanted, fresh: Account) -> Columns:
    """Take and let go identifiers; return the columns that show them. Raises store.Taken, 1174."""
    values: Columns = {}
    taken_now = []
    if wanted.addresses is not None:
        held = {identifiers.normal_email(entry["Value"]) for entry in fresh.emails if not entry.get("pending")}
        if held and held != set(wanted.addresses.forms):
            raise e.EmailUpdateRefused
        if not held and wanted.is_own:
            values.update(_own_addresses(call, wanted.addresses))
        elif not held:
            values.update(email=wanted.addresses.primary, emails=wanted.addresses.shown)
            taken_now += [(EMAIL, form, False) for form in wanted.addresses.forms]
    if wanted.phone is not None and fresh.phone is None:
        values["phone"] = wanted.phone
        if not (wanted.is_own and waiting.is_only_stated(call, wanted.phone)):
            taken_now.append((PHONE, wanted.phone, False))
    if wanted.drops_username or (wanted.username is not None and wanted.username != fresh.username):
        store.let_go(call, fresh.uid, USERNAME)
        values["username"] = wanted.username
        taken_now += [(USERNAME, wanted.username, True)] if wanted.username else []
    store.hold(call, fresh.uid, taken_now)
    return values


def _own_addresses(call: Call, addresses: Emails) -> Columns:
    """Return the addresses that somebody says are theirs; they wait for a proof. Raises store.Taken where that may be told."""
    if not call.tenant.settings.hide_unknown_accounts:
        for form in addresses.forms:
            if store.by_identifier(call, EMAIL, form) is not None:
                raise store.Taken(EMAIL)
    return {"emails": addresses.waiting}
