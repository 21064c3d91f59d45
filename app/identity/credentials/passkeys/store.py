"""Passkeys as they are kept: credentials of two kinds, both found by the digest of the WebAuthn id."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from app.contract.passkeys.shapes import ListedPasskey
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.passkeys import authenticator_models
from app.identity.credentials.store import Credential
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso

SIGN_IN: Final = "sign_in_passkey"
"""A passkey in the place of a password. Its owner is not asked for it after the password."""
FACTOR: Final = FactorKind.PASSKEY
"""One that was enrolled as second factor; it signs in alone, too."""
KINDS: Final = (SIGN_IN, FACTOR)
MAX_PASSKEYS: Final = 20
"""Of one account (interface limits.md section 4)."""
SET_BY_EMAIL: Final = "mailed"
"""Marks one that a mailed link set while its owner had a second factor: it does not count as two, or a mailbox would."""

SECOND_FACTOR_ONLY: Final = "beside"
"""Marks one of the second factor that does not sign in alone: a mailbox claimed the account, and it may be a stranger's."""


def lookup_hash(raw_id: bytes) -> str:
    """Return by what a passkey is found."""
    return randomness.digest(raw_id.hex())


def by_raw_id(context: Context, raw_id: bytes) -> Credential | None:
    """Return the tenant's passkey of that WebAuthn id, whoever has it."""
    return store.by_kinds_and_lookup(context, KINDS, lookup_hash(raw_id))


def passkeys_among(credentials: Iterable[Credential]) -> tuple[Credential, ...]:
    """Return the passkeys among an account's credentials, the oldest first."""
    return tuple(one for one in credentials if one.kind in KINDS and one.is_enrolled)


def by_account(context: Context, uid: str) -> tuple[Credential, ...]:
    """Return an account's passkeys, the oldest first."""
    return passkeys_among(store.by_account(context, uid))


def raw_id(held: Credential) -> bytes:
    """Return the WebAuthn id."""
    return base64url_to_bytes(held.facts["id"])


def public_key(held: Credential) -> bytes:
    """Return the key in COSE form."""
    return base64url_to_bytes(held.facts["public_key"])


def descriptor(held: Credential) -> dict[str, Any]:
    """Return a passkey as options name it."""
    return {"type": "public-key", "id": held.facts["id"], "transports": held.facts.get("transports") or []}


def display_name(held: Credential) -> str:
    """Return what its owner calls a passkey, else who made it."""
    return str(held.facts.get("name") or authenticator_models.model_name(str(held.facts.get("aaguid"))))


def to_listed(held: Credential) -> ListedPasskey:
    """Return a passkey as the interface lists it."""
    return ListedPasskey(
        id=held.credential_id,
        authenticator=display_name(held),
        identifier=str(held.facts.get("identifier") or held.uid),
        created_at=iso(held.created_at) or "",
    )


def restrict_after_claim(context: Context, uid: str, *, is_first: bool = False) -> None:
    """Let no passkey open an account that a mailbox makes its own: those of the sign-in go. Those that are asked for beside the
    password stay, as a mailbox is none, and prove nothing but that until they are shown beside a first factor.

    Args:
        is_first: nobody proved the account before, so that nothing in it guards its owner.
    """
    if is_first or context.tenant.settings.two_factor != "required":
        store.remove(context, uid, (SIGN_IN,))
    restrict_to_second_factor(context, by_account(context, uid))


def restrict_to_second_factor(context: Context, held: Iterable[Credential]) -> None:
    """Let passkeys prove who comes beside a first factor, and open nothing alone. Those that a mailed link set go: they prove neither."""
    for one in passkeys_among(held):
        if one.facts.get(SET_BY_EMAIL):
            store.remove(context, one.uid, (one.kind,), one.credential_id)
        else:
            store.set_values(context, one, facts={**one.facts, SECOND_FACTOR_ONLY: True})


def lift_restriction(context: Context, held: Credential) -> None:
    """Let a passkey that was shown beside a first factor open the account again: both are of one person."""
    if held.facts.get(SECOND_FACTOR_ONLY):
        store.set_values(
            context, held, facts={name: fact for name, fact in held.facts.items() if name != SECOND_FACTOR_ONLY}
        )


def encode_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return bytes_to_base64url(raw)
