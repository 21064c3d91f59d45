"""Stored passkeys: credentials of two kinds, found by the digest of the WebAuthn id."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import func, select

from app.contract.passkeys.models import ListedPasskey
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.store import Credential
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
SET_BY_EMAIL: Final = "mailed"
"""Marks a passkey set through an emailed link while the account had a second factor. It does not count as two factors, or
the mailbox alone would."""

SECOND_FACTOR_ONLY: Final = "beside"
"""Marks a second-factor passkey that does not sign in alone: the account was claimed by email since, and the passkey may be
an attacker's."""
_UNKNOWN_MODEL: Final = "Passkey"
_MODELS: Final = {
    "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4": "Google Password Manager",
    "adce0002-35bc-c60a-648b-0b25f1f05503": "Chrome on Mac",
    "fbfc3007-154e-4ecc-8c0b-6e020557d7bd": "Apple Passwords",
    "dd4ec289-e01d-41c9-bb89-70fa845d4bf2": "Apple Passwords",
    "08987058-cadc-4b81-b6e1-30de50dcbe96": "Windows Hello",
    "9ddd1817-af5a-4672-a2b9-3e3dd95000a9": "Windows Hello",
    "6028b017-b1d4-4c02-b4b3-afcdafc96bb2": "Windows Hello",
    "bada5566-a7aa-401f-bd96-45619a55120d": "1Password",
    "d548826e-79b4-db40-a3d8-11116f7e8349": "Bitwarden",
    "531126d6-e717-415c-9320-3d9aa6981239": "Dashlane",
    "53414d53-554e-4700-0000-000000000000": "Samsung Pass",
    "b84e4048-15dc-4dd0-8640-f4f60813c8af": "NordPass",
    "50726f74-6f6e-5061-7373-50726f746f6e": "Proton Pass",
    "0ea242b4-43c4-4a1b-8b17-dd6d0b6baec6": "Keeper",
    "f3809540-7f14-49c1-a8b3-8f813b225541": "Enpass",
    "fdb141b2-5d84-443e-8a35-4698c205a502": "KeePassXC",
    "cb69481e-8ff7-4039-93ec-0a2729a154a8": "YubiKey 5",
    "2fc0579f-8113-47ea-b116-bb5a8db9202a": "YubiKey 5 NFC",
}
"""Authenticator models by AAGUID; most authenticators send none."""


def accounts_sentence(count: int) -> str:
    """Return the start of a sentence about accounts with passkeys."""
    return "1 account has passkeys" if count == 1 else f"{count} accounts have passkeys"


def count_accounts(work: UnitOfWork) -> int:
    """Return how many accounts of the tenant have a passkey."""
    columns = store.credentials.c
    where = (columns.tenant_id == work.tenant_id, columns.kind.in_(KINDS), columns.is_enrolled)
    row = work.one(select(func.count(columns.uid.distinct())).where(*where))
    return int(row[0]) if row else 0


def lookup_hash(raw_id: bytes) -> str:
    """Return the digest by which a passkey is found."""
    return randomness.digest(raw_id.hex())


def by_raw_id(context: Context, raw_id: bytes) -> Credential | None:
    """Return the passkey with that WebAuthn id, of any account of the tenant."""
    return store.by_kinds_and_lookup(context, KINDS, lookup_hash(raw_id))


def passkeys_among(credentials: Iterable[Credential]) -> tuple[Credential, ...]:
    """Return the passkeys among an account's credentials, the oldest first."""
    return tuple(credential for credential in credentials if credential.kind in KINDS and credential.is_enrolled)


def by_account(context: Context, uid: str) -> tuple[Credential, ...]:
    """Return an account's passkeys, the oldest first."""
    return passkeys_among(store.by_account(context, uid))


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
    return str(passkey.facts.get("name") or _MODELS.get(str(passkey.facts.get("aaguid")), _UNKNOWN_MODEL))


def to_listed(passkey: Credential) -> ListedPasskey:
    """Return a passkey as the API lists it."""
    return ListedPasskey(
        id=passkey.credential_id,
        authenticator=display_name(passkey),
        identifier=str(passkey.facts.get("identifier") or passkey.uid),
        created_at=iso(passkey.created_at) or "",
    )


def restrict_after_claim(context: Context, uid: str, *, is_first: bool = False) -> None:
    """Stop all passkeys of an account from signing in alone, after the owner of its mailbox claimed it.

    Sign-in passkeys are removed. Second-factor passkeys stay, but count only beside a first factor, until `lift_restriction`.

    Args:
        is_first: the account was never verified, so none of its passkeys protects an owner.
    """
    if is_first or context.tenant.settings.two_factor != "required":
        store.remove(context, uid, (SIGN_IN,))
    restrict_to_second_factor(context, by_account(context, uid))


def restrict_to_second_factor(context: Context, credentials: Iterable[Credential]) -> None:
    """Restrict passkeys to use beside a first factor. Remove those set through an emailed link."""
    for item in passkeys_among(credentials):
        if item.facts.get(SET_BY_EMAIL):
            store.remove(context, item.uid, (item.kind,), item.credential_id)
        else:
            store.set_values(context, item, facts={**item.facts, SECOND_FACTOR_ONLY: True})


def lift_restriction(context: Context, passkey: Credential) -> None:
    """Let a passkey sign in alone again, after it was verified beside a first factor."""
    if passkey.facts.get(SECOND_FACTOR_ONLY):
        store.set_values(
            context, passkey, facts={name: fact for name, fact in passkey.facts.items() if name != SECOND_FACTOR_ONLY}
        )


def encode_base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return urlsafe_b64encode(raw).decode().rstrip("=")


def decode_base64url(text: str) -> bytes:
    """Return the bytes of base64url, with or without padding. Raises ValueError."""
    return urlsafe_b64decode(f"{text}===")  # ignores surplus padding
