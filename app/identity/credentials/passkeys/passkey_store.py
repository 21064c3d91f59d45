"""Stored passkeys: credentials of two kinds, found by the digest of the WebAuthn id."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import func, select

from app.contract.passkeys.models import ListedPasskey
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import authenticator_models
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from app.kit.clock import iso

SIGN_IN: Final = "sign_in_passkey"
"""A passkey in place of a password. A password sign-in does not ask for it."""
FACTOR: Final = FactorKind.PASSKEY
"""A passkey enrolled as second factor. It also signs in alone."""
KINDS: Final = (SIGN_IN, FACTOR)
MAX_PASSKEYS: Final = 20
"""Per account."""
_SET_BY_EMAIL: Final = "mailed"
_SECOND_FACTOR_ONLY: Final = "beside"


def count_accounts(work: UnitOfWork) -> int:
    """Return how many accounts of the tenant have a passkey."""
    columns = credential_store.credentials.c
    where = (columns.tenant_id == work.tenant_id, columns.kind.in_(KINDS), columns.is_enrolled)
    row = work.one(select(func.count(columns.uid.distinct())).where(*where))
    return int(row[0]) if row else 0


def lookup_hash(raw_id: bytes) -> str:
    """Return the digest by which a passkey is found."""
    return randomness.digest(raw_id.hex())


def by_raw_id(context: Context, raw_id: bytes) -> Credential | None:
    """Return the passkey with that WebAuthn id, of any account of the tenant."""
    return credential_store.by_kinds_and_lookup(context, KINDS, lookup_hash(raw_id))


def passkeys_among(credentials: Iterable[Credential]) -> tuple[Credential, ...]:
    """Return the passkeys among an account's credentials, the oldest first."""
    return tuple(credential for credential in credentials if credential.kind in KINDS and credential.is_enrolled)


def by_account(context: Context, uid: str) -> tuple[Credential, ...]:
    """Return an account's passkeys, the oldest first."""
    return passkeys_among(credential_store.by_account(context, uid))


def raw_id(passkey: Credential) -> bytes:
    """Return the WebAuthn id."""
    return decode_base64url(passkey.facts["id"])


def public_key(passkey: Credential) -> bytes:
    """Return the key in COSE form."""
    return decode_base64url(passkey.facts["public_key"])


def descriptor(passkey: Credential) -> dict[str, Any]:
    """Return the credential descriptor of a passkey for WebAuthn options."""
    return {"type": "public-key", "id": passkey.facts["id"], "transports": passkey.facts.get("transports") or []}


def display_name(passkey: Credential) -> str:
    """Return the name that the account gave a passkey, else that of its authenticator model."""
    return str(passkey.facts.get("name") or authenticator_models.name_of(passkey.facts.get("aaguid")))


def to_listed(passkey: Credential) -> ListedPasskey:
    """Return a passkey as the API lists it."""
    return ListedPasskey(
        id=passkey.credential_id,
        authenticator=display_name(passkey),
        identifier=str(passkey.facts.get("identifier") or passkey.uid),
        created_at=iso(passkey.created_at) or "",
    )


def marks(*, is_set_by_email: bool) -> dict[str, Any]:
    """Return the facts that mark a new passkey."""
    return {_SET_BY_EMAIL: True} if is_set_by_email else {}


def is_set_by_email(passkey: Credential) -> bool:
    """Return whether a passkey was set through an emailed link while the account had a second factor. It does not count as two
    factors, or the mailbox alone would.
    """
    return bool(passkey.facts.get(_SET_BY_EMAIL))


def signs_in_alone(passkey: Credential) -> bool:
    """Return whether a passkey signs in alone; not if the account was claimed by email since, because the passkey may be an
    attacker's.
    """
    return not passkey.facts.get(_SECOND_FACTOR_ONLY)


def restrict_after_claim(context: Context, uid: str, *, is_first: bool = False) -> None:
    """Stop all passkeys of an account from signing in alone, after the owner of its mailbox claimed it.

    Sign-in passkeys are removed. Second-factor passkeys stay, but count only beside a first factor, until `lift_restriction`.

    Args:
        is_first: the account was never verified, so none of its passkeys protects an owner.
    """
    if is_first or context.tenant.settings.two_factor != "required":
        credential_store.remove(context, uid, (SIGN_IN,))
    restrict_to_second_factor(context, by_account(context, uid))


def restrict_to_second_factor(context: Context, credentials: Iterable[Credential]) -> None:
    """Restrict passkeys to use beside a first factor. Remove those set through an emailed link."""
    for item in passkeys_among(credentials):
        if is_set_by_email(item):
            credential_store.remove(context, item.uid, (item.kind,), item.credential_id)
        else:
            credential_store.set_values(context, item, facts={**item.facts, _SECOND_FACTOR_ONLY: True})


def lift_restriction(context: Context, passkey: Credential) -> None:
    """Let a passkey sign in alone again, after it was verified beside a first factor."""
    if not signs_in_alone(passkey):
        credential_store.set_values(
            context, passkey, facts={name: fact for name, fact in passkey.facts.items() if name != _SECOND_FACTOR_ONLY}
        )


def encode_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return urlsafe_b64encode(raw).decode().rstrip("=")


def decode_base64url(text: str) -> bytes:
    """Return the bytes of base64url, with or without padding. Raises ValueError."""
    return urlsafe_b64decode(f"{text}===")  # ignores surplus padding
