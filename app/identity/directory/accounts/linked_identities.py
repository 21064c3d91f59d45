"""Identities at other providers that are linked to an account.

The table `identifiers` maps each identity to one account of the tenant; the provider's data is stored in the account's
`private` document, whose row is locked before a change.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from app.contract.profile import FIELDS, Kind
from app.identity.directory.accounts import account_store, identifiers, provider_tokens
from app.identity.directory.accounts.account import IDENTITIES, Account, name_in
from app.identity.directory.accounts.account_store import IdentifierTaken
from app.identity.directory.accounts.identifiers import IDENTITY
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import iso

REGISTERED_BY = "registration_provider"
PENDING_IDENTITY = "brought"
"""The key in `private` of the identity that an unverified account was registered with; removed by a claim of the account."""
OWN_PROVIDER = "Email"
"""The `Provider` of an account's own profile."""
MAX_IDENTITIES = 20
"""The number of identities an account may have."""
_USED = "used_identity"
_MAX_LENGTH = 1_000
_MAX_NAME_LENGTH = 100
_MEMBERS = {member.name: member.kind for member in FIELDS["Identities"].members}
_ABSENT = {name: FIELDS[name].absent if name in FIELDS else None for name in _MEMBERS}


class NotLinked(Exception):
    """The account has no such identity."""


class TooManyIdentities(IdentifierTaken):
    """The account has the maximum number of identities."""


@dataclass(frozen=True)
class Identity:
    """A linked identity with the provider's latest data."""

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
    """Return the account's identities, oldest first."""
    return tuple(_from_json(item) for item in account.private.get(IDENTITIES) or ())


def are_of(work: UnitOfWork, provider: str) -> bool:
    """Return whether an account of the tenant has an identity at the provider, by its name in any letter case."""
    return account_store.has_beginning(work, IDENTITY, f"{provider.lower()} ")  # as `identity_value` writes it


def uids_at(work: UnitOfWork, provider: str) -> set[str]:
    """Return the accounts of the tenant that have an identity at the provider."""
    return account_store.uids_with_beginning(work, IDENTITY, f"{provider.lower()} ")


def find_account(context: Context, provider: str, subject: str) -> Account | None:
    """Return the account that the identity is linked to."""
    return account_store.by_identifier(context, IDENTITY, identifiers.identity_value(provider, subject))


def link(context: Context, account: Account, identity: ProviderIdentity) -> Account:
    """Link an identity and return the changed account; an identity that is already linked is only updated.

    Raises:
        IdentifierTaken: another account has the identity.
        TooManyIdentities: the account has the maximum number.
    """
    fresh = account_store.lock(context, account.uid) or account
    linked = of(fresh)
    if _has(fresh, identity):
        return _update(context, fresh, identity)
    if find_account(context, identity.provider, identity.subject) is not None:
        raise IdentifierTaken(IDENTITY)
    if len(linked) >= MAX_IDENTITIES:
        raise TooManyIdentities(IDENTITY)
    account_store.add_identifiers(
        context, fresh.uid, [(IDENTITY, identifiers.identity_value(identity.provider, identity.subject), True)]
    )
    after = _save(context, fresh, (*linked, _new(identity, context.now)), identity)
    context.audit.record("identity.linked", uid=fresh.uid, by=identity.provider)
    events.emit(context, "LinkAccount", after)
    return after


def unlink(context: Context, account: Account, provider: str, subject: str) -> Account:
    """Unlink an identity and return the changed account. Raises NotLinked.

    The caller checks first, on the locked account, whether it can sign in without the identity (`unlinking`).
    """
    fresh = account_store.lock(context, account.uid) or account
    remaining = tuple(identity for identity in of(fresh) if identity.key != (provider, subject))
    if len(remaining) == len(of(fresh)):
        raise NotLinked
    account_store.remove_identifiers(context, fresh.uid, IDENTITY, identifiers.identity_value(provider, subject))
    after = _save(context, fresh, remaining)
    context.audit.record("identity.unlinked", uid=fresh.uid, by=provider)
    events.emit(context, "UnlinkAccount", after)
    return after


def record_use(context: Context, account: Account, identity: ProviderIdentity) -> Account:
    """Record a sign-in by an identity with the provider's latest data, and return the changed account.

    Raises NotLinked: the identity or the account was removed concurrently.
    """
    fresh = account_store.lock(context, account.uid)
    if fresh is None or not _has(fresh, identity):
        raise NotLinked
    return _update(context, fresh, identity)


def is_use_recorded(context: Context, account: Account, identity: ProviderIdentity) -> bool:
    """Return whether the open transaction linked the identity or recorded its sign-in: the account, which it locked, has it."""
    is_locked = context.work.locked.get(account.uid, False)
    return is_locked and context.remembered.get(_USED) == (account.uid, identity.provider, identity.subject)


def update_profile(context: Context, account: Account, identity: ProviderIdentity, *, is_partial: bool) -> Account:
    """Store the provider's data of a linked identity without a sign-in, and return the changed account.

    Args:
        is_partial: whether the data lack members of a sign-in, which then stay.

    Raises NotLinked: the identity or the account was removed concurrently.
    """
    fresh = account_store.lock(context, account.uid)
    if fresh is None or not _has(fresh, identity):
        raise NotLinked
    latest = _new(identity, context.now)
    updated = tuple(
        _reread(item, latest, is_partial=is_partial) if item.key == latest.key else item for item in of(fresh)
    )
    private = provider_tokens.marked_read(fresh.private, latest.key, context.now)
    after = _save(context, replace(fresh, private=private), updated)
    context.audit.record("identity.refreshed", uid=fresh.uid, by=identity.provider)
    return after


def pending_identity(identity: ProviderIdentity) -> dict[str, Any]:
    """Return the `private` members of an account that gets this identity after its verification."""
    return {
        PENDING_IDENTITY: identifiers.identity_value(identity.provider, identity.subject),
        REGISTERED_BY: identity.provider,
    }


def is_known(account: Account, identity: ProviderIdentity) -> bool:
    """Return whether the identity is linked to the account, or pending since its registration."""
    is_pending = account.private.get(PENDING_IDENTITY) == identifiers.identity_value(
        identity.provider, identity.subject
    )
    return is_pending or _has(account, identity)


def profile_names(identity: ProviderIdentity) -> dict[str, str]:
    """Return the provider's first and last name, truncated to the profile's limits."""
    members = {name: cleaned_text(identity.profile.get(name))[:_MAX_NAME_LENGTH] for name in ("FirstName", "LastName")}
    return {name: text for name, text in members.items() if text}


def without_taken_identities(context: Context, private: dict[str, Any]) -> dict[str, Any]:
    """Return `private` without identities that another account linked in the meantime."""
    free = [
        item
        for item in private.get(IDENTITIES) or ()
        if find_account(context, item["provider"], item["subject"]) is None
    ]
    return {**private, IDENTITIES: free} if IDENTITIES in private else private


def unlink_all(context: Context, account: Account, private: dict[str, Any]) -> None:
    """Unlink every identity of a locked account and remove them from `private`."""
    private.pop(PENDING_IDENTITY, None)
    private.pop(provider_tokens.KEY, None)
    if private.pop(IDENTITIES, None):
        account_store.remove_identifiers(context, account.uid, IDENTITY)
        context.audit.record("identities.dropped", uid=account.uid)


def provider_name(account: Account) -> str:
    """Return the profile's `Provider`: the first identity's if the account has neither password nor address."""
    linked = of(account)
    return linked[0].provider if linked and not (account.password_hash or account.email) else OWN_PROVIDER


def providers_of(account: Account) -> list[str]:
    """Return the distinct sign-in providers of the account: Email for its password, then its providers, oldest link first."""
    own = [OWN_PROVIDER] if account.password_hash else []
    return list(dict.fromkeys([*own, *(identity.provider for identity in of(account))]))


def profile_entries(account: Account) -> list[dict[str, Any]] | None:
    """Return the profile's `Identities`; None without any."""
    return [_entry(identity, provider_tokens.read_at(account, identity.key)) for identity in of(account)] or None


def _has(account: Account, identity: ProviderIdentity) -> bool:
    return any(item.key == (identity.provider, identity.subject) for item in of(account))


def _update(context: Context, fresh: Account, identity: ProviderIdentity) -> Account:
    latest = _new(identity, context.now)
    updated = (_again(item, latest) if item.key == latest.key else item for item in of(fresh))
    return _save(context, fresh, tuple(updated), identity)


def _again(item: Identity, latest: Identity) -> Identity:
    """Return an identity with the provider's data of now. A provider that tells no name again, as Apple, leaves the profile."""
    if latest.profile or latest.name:
        return replace(latest, linked_at=item.linked_at)
    return replace(item, email=latest.email or item.email, used_at=latest.used_at)


def _reread(item: Identity, latest: Identity, *, is_partial: bool) -> Identity:
    """Return an identity with the provider's data of now, and the times of its link and last sign-in."""
    latest = replace(latest, linked_at=item.linked_at, used_at=item.used_at)
    if not is_partial:
        return latest
    profile = {**item.profile, **latest.profile}
    email, name = latest.email or item.email, latest.name or item.name
    return replace(latest, email=email, name=name, picture=profile.get("ImageUrl"), profile=profile)


def _save(
    context: Context, fresh: Account, linked: Collection[Identity], signed_in: ProviderIdentity | None = None
) -> Account:
    """Store the identities, and the provider's tokens of the identity that signed in or is linked now."""
    private = provider_tokens.without_unlinked(fresh.private, [item.key for item in linked])
    if signed_in is not None:
        private = provider_tokens.adopt(context, private, signed_in)
        context.remembered[_USED] = (fresh.uid, signed_in.provider, signed_in.subject)
    private[IDENTITIES] = [_to_json(item) for item in linked]
    private.pop(PENDING_IDENTITY, None)
    return account_store.change(context, fresh.uid, {"private": private}) or fresh


def _new(identity: ProviderIdentity, now: datetime) -> Identity:
    members = {name: cleaned_text(value) for name, value in identity.profile.items() if _MEMBERS.get(name) is Kind.TEXT}
    members = {name: value for name, value in members.items() if value and name not in ("ID", "Provider", "FullName")}
    name = cleaned_text(identity.profile.get("FullName") or name_in(members) or "") or None
    email = cleaned_text(identity.email or "") or None
    return Identity(identity.provider, identity.subject, email, name, members.get("ImageUrl"), now, now, members)


def cleaned_text(value: object) -> str:
    """Return a provider's text truncated and without control characters; an empty string for other types."""
    if not isinstance(value, str):
        return ""
    return "".join(
        character for character in value[:_MAX_LENGTH] if unicodedata.category(character) not in ("Cc", "Cs")
    ).strip()


def _to_json(item: Identity) -> dict[str, Any]:
    return {**asdict(item), "linked_at": iso(item.linked_at), "used_at": iso(item.used_at)}


def _from_json(stored: dict[str, Any]) -> Identity:
    instants = {
        name: datetime.fromisoformat(stored[name]) if stored[name] else None for name in ("linked_at", "used_at")
    }
    return Identity(**{**stored, **instants})


def _entry(item: Identity, read_at: str | None) -> dict[str, Any]:
    """Return an identity as the interface's provider profile."""
    linked, used_at = iso(item.linked_at), iso(item.used_at)
    modified_at = max(used_at or "", read_at or "") or None
    return {
        **_ABSENT,
        **item.profile,
        "ID": item.subject,
        "Provider": item.provider,
        "FullName": item.name,
        "Email": [{"Type": "Primary", "Value": item.email}] if item.email else [],
        "SignupDate": linked,
        "CreatedDate": linked,
        "ModifiedDate": modified_at,
        "ProfileModifiedDate": modified_at,
        "LastLoginDate": used_at,
    }
