"""The rules of sign-in with a passkey: what is offered, and what an assertion proves."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from app.contract import errors
from app.contract.passkeys import passkey_sign_in_operations
from app.contract.passkeys.models import PresentedCredential
from app.identity.authentication.sign_in import eligibility, risks
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.authentication.verification import email_verification
from app.identity.credentials.passkeys import ceremonies, options, passkey_store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse, VerifiedPasskey
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import AccountLookup
from app.identity.directory.accounts.unverified import first_verification
from app.identity.platform.context import NO_ACCOUNT, Context

_ID_LENGTHS: Final = (16, 20, 32, 48)  # of credential ids that common authenticators create
_MIN_LISTED: Final = 3
"""The passkeys that every account appears to have where accounts are hidden; few accounts have more."""


def verify(
    context: Context, use: CeremonyUse, credential: PresentedCredential
) -> tuple[Account, VerifiedPasskey, tuple[str, ...]]:
    """Return the account of an assertion, the assertion, and its `amr`, with `mfa` if it counts as two factors.

    Raises:
        PasskeyRefused: also if a second factor is required and the passkey did not verify its user, because one key would
            be both factors; and, where accounts are hidden, if the account's address is unverified or another account's.
    """
    passkey = ceremonies.verify_authentication(context, use, credential)
    account = account_store.by_uid(context, passkey.credential.uid)
    if account is None or (_hides(context) and first_verification.is_unverified(context, account, EMAIL)):
        raise errors.PasskeyRefused
    if not passkey_store.signs_in_alone(passkey.credential):
        context.audit.record("passkey.refused", uid=account.uid, reason="beside a first factor alone")
        raise errors.PasskeyRefused
    if passkey.counts_as_two_factors:
        return account, passkey, (passkey.method, MFA)
    required = None if passkey.is_user_verified else risks.factor_required_by_settings_or_risk(context, account)
    if required is not None and not required.factors.fallback_kinds:
        context.audit.record("passkey.refused", uid=account.uid, reason="user not verified")
        raise errors.PasskeyRefused
    return account, passkey, (passkey.method,)


def require_enabled(context: Context) -> None:
    """Raise PasskeysOff where the tenant has passkeys disabled."""
    if not context.tenant.settings.passkeys:
        raise errors.PasskeysOff


def require_autofill(context: Context) -> None:
    """Raise PasskeysOff, or PasskeyAutofillOff where the tenant offers passkeys by a button only."""
    require_enabled(context)
    if context.tenant.settings.passkey_settings.selection == "button":
        raise errors.PasskeyAutofillOff


def _hides(context: Context) -> bool:
    return context.visit is not None or context.tenant.settings.hide_unknown_accounts


def no_passkey_refusal(context: Context, credential: PresentedCredential) -> errors.NoPasskey | None:
    """Return NoPasskey if the user handle is of an account without passkeys; handles cannot be guessed, so this reveals none."""
    uid = options.uid_from_handle(credential.response.user_handle)
    if (
        uid is None
        or _hides(context)
        or account_store.by_uid(context, uid) is None
        or passkey_store.by_account(context, uid)
    ):
        return None
    return errors.NoPasskey()


def account_passkeys(
    context: Context, lookup: AccountLookup, req: passkey_sign_in_operations.SignInBegin
) -> list[dict[str, Any]]:
    """Return the passkeys of the named account.

    Raises:
        UnknownAccount, EmailUnverified, PasskeyNeedsEmail, NoPasskey: there are none.
    """
    account = lookup.account
    if account is None:
        raise errors.UnknownAccount
    if not account.email:
        raise errors.PasskeyNeedsEmail
    refusal = eligibility.refusal(context, account, EMAIL)
    if isinstance(refusal, errors.EmailUnverified):
        mail = email_verification.VerificationOptions(url=req.verification_url, email_template=req.email_template)
        raise email_verification.send_after_refusal(context, account, refusal, mail) or refusal
    passkeys = passkey_store.by_account(context, account.uid)
    if not passkeys:
        raise errors.NoPasskey
    return [passkey_store.descriptor(item) for item in passkeys]


def padded_passkeys(context: Context, lookup: AccountLookup) -> list[dict[str, Any]]:
    """Return the passkeys of the named account padded with decoys, the same at every call.

    Number, order and transports are the same for accounts with and without passkeys and for unknown identifiers.
    """
    passkeys = passkey_store.by_account(context, lookup.account.uid if lookup.account else NO_ACCOUNT)
    known_ids = {passkey_store.raw_id(item) for item in passkeys}
    decoys = (
        _decoy_id(context, f"{lookup.name_hash} passkey {n}") for n in range(max(0, _MIN_LISTED - len(known_ids)))
    )
    return [
        {"type": "public-key", "id": passkey_store.encode_base64url(raw), "transports": []}
        for raw in sorted({*known_ids, *decoys}, key=lambda raw: account_lookup.keyed_digest(context, raw.hex()))
    ]


def _decoy_id(context: Context, name: str) -> bytes:
    digest = bytes.fromhex(account_lookup.keyed_digest(context, name))
    return hashlib.sha512(digest).digest()[: _ID_LENGTHS[digest[0] % len(_ID_LENGTHS)]]
