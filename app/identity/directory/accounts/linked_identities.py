"""Identities of other providers that are linked to an account (interface profile.json.md section 3).

Whose an identity is lies among the identifiers, where it is held once in a tenant; what its provider said lies with the
account, whose row is locked before it changes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from app.contract.profile import FIELDS, Kind
from app.identity.directory.accounts import identifiers, store
from app.identity.directory.accounts.account import IDENTITIES, Account, name_in
from app.identity.directory.accounts.identifiers import IDENTITY
from app.identity.directory.accounts.store import IdentifierTaken
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import events
from app.identity.platform.context import Context
from app.kit.clock import iso

REGISTERED_BY = "registration_provider"
PENDING_IDENTITY = "brought"
"""What somebody registers with who came from a provider, until it is linked: it goes with whatever opens the account of before
its first proof."""
OWN_PROVIDER = "Email"
"""The provider of what an account has of its own, as its profile names it."""
MAX_IDENTITIES = 20
"""How many identities an account may have."""
_MOST_LETTERS = 1_000
_MOST_NAME_LETTERS = 100
_MEMBERS = {member.name: member.kind for member in FIELDS["Identities"].members}
_ABSENT = {name: FIELDS[name].absent if name in FIELDS else None for name in _MEMBERS}


class NotLinked(Exception):
    """The account has no such identity."""


class TooManyIdentities(IdentifierTaken):
    """The account has as many identities as it may have."""


@dataclass(frozen=True)
class Identity:
    """Somebody at a provider, as the provider last said."""

    provider: str
    subject: str
    email: str | None
    name: str | None
    picture: str | None
    linked_at: datetime
    used_at: datetime | None
    profile: dict[str, str] = field(default_factory=dict)  # members of the interface's profile

    @property
    def key(self) -> tuple[str, str]:
        return self.provider, self.subject


def of(account: Account) -> tuple[Identity, ...]:
    """Return the account's identities, the oldest first."""
    return tuple(_as_read(one) for one in account.private.get(IDENTITIES) or ())


def find_account(context: Context, provider: str, subject: str) -> Account | None:
    """Return the account that the identity is linked to."""
    return store.by_identifier(context, IDENTITY, identifiers.identity_value(provider, subject))


def link(context: Context, account: Account, claimed: ProviderIdentity, *, suppress_webhook: bool = False) -> Account:
    """Give an account an identity and return it as it is then; one that it has already is seen again.

    Raises:
        Taken: it is another account's.
        TooMany: the account has as many as it may have.
    """
    fresh = store.change(context, account.uid, {}) or account
    held = of(fresh)
    if _has(fresh, claimed):
        return _seen(context, fresh, claimed)
    if find_account(context, claimed.provider, claimed.subject) is not None:
        raise IdentifierTaken(IDENTITY)
    if len(held) >= MAX_IDENTITIES:
        raise TooManyIdentities(IDENTITY)
    store.add_identifiers(
        context, fresh.uid, [(IDENTITY, identifiers.identity_value(claimed.provider, claimed.subject), True)]
    )
    after = _keep(context, fresh, (*held, _made(claimed, context.now)))
    context.audit.record("identity.linked", uid=fresh.uid, by=claimed.provider)
    events.emit(context, "LinkAccount", after, suppress_webhook)
    return after


def unlink(
    context: Context, account: Account, provider: str, subject: str, *, suppress_webhook: bool = False
) -> Account:
    """Take an identity away and return the account as it is then. Whether it opens without it is the caller's to ask, of the
    account as it is once locked (`keeps_a_way_in`). Raises NotLinked."""
    fresh = store.change(context, account.uid, {}) or account
    kept = tuple(one for one in of(fresh) if one.key != (provider, subject))
    if len(kept) == len(of(fresh)):
        raise NotLinked
    store.remove_identifiers(context, fresh.uid, IDENTITY, identifiers.identity_value(provider, subject))
    after = _keep(context, fresh, kept)
    context.audit.record("identity.unlinked", uid=fresh.uid, by=provider)
    events.emit(context, "UnlinkAccount", after, suppress_webhook)
    return after


def record_use(context: Context, account: Account, claimed: ProviderIdentity) -> Account:
    """Note a sign-in by an identity, and what its provider says today, and return the account as it is then.

    Raises NotLinked: its owner took the account back, or the identity away, in this very moment.
    """
    fresh = store.change(context, account.uid, {})
    if fresh is None or not _has(fresh, claimed):
        raise NotLinked
    return _seen(context, fresh, claimed)


def pending_identity(claimed: ProviderIdentity) -> dict[str, Any]:
    """Return what is kept of an account that waits for a proof before it gets the identity with which it was made."""
    return {
        PENDING_IDENTITY: identifiers.identity_value(claimed.provider, claimed.subject),
        REGISTERED_BY: claimed.provider,
    }


def is_known(account: Account, claimed: ProviderIdentity) -> bool:
    """Return whether the identity is linked to the account, or made it and was not dropped since."""
    brought_it = account.private.get(PENDING_IDENTITY) == identifiers.identity_value(claimed.provider, claimed.subject)
    return brought_it or _has(account, claimed)


def can_sign_in_without(
    account: Account, provider: str, subject: str, *, has_passkey: bool = False, working: Collection[str] | None = None
) -> bool:
    """Return whether an account opens without one of its identities: by a password, by an address or number that a new one
    can be set with, by a passkey or by another identity.

    Args:
        has_passkey: whether it has one that signs in.
        working: the connections that people can sign in with today; all of them where it is None.
    """
    others = (one for one in of(account) if one.key != (provider, subject))
    is_linked = any(working is None or one.provider in working for one in others)
    is_reached = account.phone_verified or (account.email is not None and account.email_verified)
    return bool(account.password_hash) or is_reached or has_passkey or is_linked


def profile_names(claimed: ProviderIdentity) -> dict[str, str]:
    """Return the names that a provider said, as an account may have them."""
    said = {name: _text(claimed.profile.get(name))[:_MOST_NAME_LETTERS] for name in ("FirstName", "LastName")}
    return {name: text for name, text in said.items() if text}


def without_taken_identities(context: Context, private: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an account that waited without the identities that another one linked meanwhile."""
    kept = [
        one for one in private.get(IDENTITIES) or () if find_account(context, one["provider"], one["subject"]) is None
    ]
    return {**private, IDENTITIES: kept} if IDENTITIES in private else private


def unlink_all(context: Context, account: Account, private: dict[str, Any]) -> None:
    """Take every identity of an account, which is locked, out of what is kept of it: nobody knows whose they are."""
    private.pop(PENDING_IDENTITY, None)
    if private.pop(IDENTITIES, None):
        store.remove_identifiers(context, account.uid, IDENTITY)
        context.audit.record("identities.dropped", uid=account.uid)


def provider_name(account: Account) -> str:
    """Return the profile's `Provider`: of an account that opens by other providers alone the first of them."""
    held = of(account)
    return held[0].provider if held and not (account.password_hash or account.email) else OWN_PROVIDER


def profile_entries(account: Account) -> list[dict[str, Any]] | None:
    """Return the profile's `Identities`; None without any."""
    return [_entry(one) for one in of(account)] or None


def _has(account: Account, claimed: ProviderIdentity) -> bool:
    return any(one.key == (claimed.provider, claimed.subject) for one in of(account))


def _seen(context: Context, fresh: Account, claimed: ProviderIdentity) -> Account:
    made = _made(claimed, context.now)
    told = (replace(made, linked_at=one.linked_at) if one.key == made.key else one for one in of(fresh))
    return _keep(context, fresh, told)


def _keep(context: Context, fresh: Account, held: Iterable[Identity]) -> Account:
    private = {**fresh.private, IDENTITIES: [_as_kept(one) for one in held]}
    private.pop(PENDING_IDENTITY, None)
    return store.change(context, fresh.uid, {"private": private}) or fresh


def _made(claimed: ProviderIdentity, now: datetime) -> Identity:
    said = {name: _text(value) for name, value in claimed.profile.items() if _MEMBERS.get(name) is Kind.TEXT}
    said = {name: value for name, value in said.items() if value and name not in ("ID", "Provider", "FullName")}
    name = _text(claimed.profile.get("FullName") or name_in(said) or "") or None
    email = _text(claimed.email or "") or None
    return Identity(claimed.provider, claimed.subject, email, name, said.get("ImageUrl"), now, now, said)


def _text(value: object) -> str:
    """Return what a provider said, as one line that fits: whatever it holds, the store and the pages take it."""
    if not isinstance(value, str):
        return ""
    return "".join(
        letter for letter in value[:_MOST_LETTERS] if unicodedata.category(letter) not in ("Cc", "Cs")
    ).strip()


def _as_kept(one: Identity) -> dict[str, Any]:
    return {**asdict(one), "linked_at": iso(one.linked_at), "used_at": iso(one.used_at)}


def _as_read(kept: dict[str, Any]) -> Identity:
    instants = {name: datetime.fromisoformat(kept[name]) if kept[name] else None for name in ("linked_at", "used_at")}
    return Identity(**{**kept, **instants})


def _entry(one: Identity) -> dict[str, Any]:
    """Return an identity as the half of a profile that is a provider's."""
    linked, used_at = iso(one.linked_at), iso(one.used_at)
    return {
        **_ABSENT,
        **one.profile,
        "ID": one.subject,
        "Provider": one.provider,
        "FullName": one.name,
        "Email": [{"Type": "Primary", "Value": one.email}] if one.email else [],
        "SignupDate": linked,
        "CreatedDate": linked,
        "ModifiedDate": used_at,
        "ProfileModifiedDate": used_at,
        "LastLoginDate": used_at,
    }


__all__ = [
    "MAX_IDENTITIES",
    "OWN_PROVIDER",
    "REGISTERED_BY",
    "IdentifierTaken",
    "Identity",
    "NotLinked",
    "ProviderIdentity",
    "TooManyIdentities",
    "can_sign_in_without",
    "find_account",
    "is_known",
    "link",
    "of",
    "pending_identity",
    "profile_entries",
    "provider_name",
    "record_use",
    "unlink",
    "unlink_all",
    "without_taken_identities",
]
