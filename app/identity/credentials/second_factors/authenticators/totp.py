"""An authenticator app: time-based codes (RFC 6238) of six digits, 30 seconds, SHA-1, one step of drift."""

from __future__ import annotations

import base64
import hmac
from datetime import timedelta
from typing import Final
from urllib.parse import quote, urlencode

from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.hotp import HOTP

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import credential_store
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts import account_store
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.text.code_normalization import typed_code

_STEP_SECONDS: Final = 30
_DRIFT: Final = 1
_DIGITS: Final = 6
_SEED_BYTES: Final = 32
"""Of the operations: 52 characters of base32, as the interface's ManualEntryCode has."""
_PAGE_SEED_BYTES: Final = 20
"""Of the hosted pages: the 32 characters that RFC 4226 section 4 recommends are shorter to type and make a coarser QR code."""
_SEED_REUSE: Final = timedelta(minutes=30)
"""How long the same seed is shown again, because pages are reloaded and its QR code may have been scanned."""
_ENROLMENT_LIFETIME: Final = timedelta(hours=1)
"""How long a first code may enrol a seed."""
_MAX_PENDING: Final = 5


class TotpAuthenticator(Authenticator):
    """Codes of an authenticator app. A used time step and all before it are invalid."""

    kind = FactorKind.TOTP
    amr = ("otp",)
    disabled_error = errors.TotpOff
    not_enrolled_error = errors.TotpNotEnrolled
    enrolled_members = ("is_google_authenticator_verified", "is_authenticator_verified")
    wrong_errors = (errors.WrongTotpCode,)

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:
        return FactorChallenge() if self.is_enrolled(factors) else _enrolment(context, factors, _PAGE_SEED_BYTES)

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        return _enrolment(context, factors, _SEED_BYTES)

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        pending = _pending_seeds(context, factors, _ENROLMENT_LIFETIME)
        if not pending:
            raise errors.TotpNotEnrolled
        for seed in pending:
            step = _matching_step(context, seed, response.code)
            if step is None:
                continue
            account_store.lock(context, factors.account.uid)  # lock order: the account, then its credentials
            credential_store.remove(context, factors.account.uid, (self.kind,), except_id=seed.credential_id)
            if credential_store.mark_enrolled(context, seed, counter=step):
                return
        raise errors.WrongTotpCode

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        for seed in factors.enrolled(self.kind):
            step = _matching_step(context, seed, response.code)
            if step is None:
                continue
            account_store.lock_before_own_rows(context, factors.account.uid)
            if credential_store.advance_counter(context, seed, step):
                return
        raise errors.WrongTotpCode


AUTHENTICATOR: Final = TotpAuthenticator()


def _enrolment(context: Context, factors: AccountFactors, size_bytes: int) -> FactorChallenge:
    """Return a seed of that size, the same for some minutes. Each sign-in has its own, because an attacker with the password may
    have seen the seed of another sign-in.
    """
    pending = [credential_store.decrypt_secret(context, seed) for seed in _pending_seeds(context, factors, _SEED_REUSE)]
    shown = [seed for seed in pending if len(seed) == size_bytes]
    secret = _base32(shown[-1] if shown else _add_seed(context, factors, size_bytes))
    account = factors.account
    label = account.email or account.username or account.phone or account.uid
    settings = context.tenant.settings.totp
    issuer = (settings.issuer if settings else None) or context.tenant.display_name
    return FactorChallenge(secret=secret, uri=key_uri(secret, label, issuer))


def key_uri(secret: str, label: str, issuer: str) -> str:
    """Return the content of the QR code for authenticator apps, in the Key URI Format."""
    parameters = urlencode({"secret": secret, "issuer": issuer}, quote_via=quote)
    return f"otpauth://totp/{quote(issuer)}:{quote(label)}?{parameters}"


def _pending_seeds(context: Context, factors: AccountFactors, lifetime: timedelta) -> list[Credential]:
    """Return the pending seeds of this sign-in, or of the signed-in account, the oldest first; none older than `lifetime`."""
    own = (item for item in factors.pending(FactorKind.TOTP) if item.facts.get("for") == factors.sign_in)
    return [item for item in own if context.now < item.created_at + lifetime]


def _add_seed(context: Context, factors: AccountFactors, size_bytes: int) -> bytes:
    """Add a seed and return it. Remove expired ones, and the oldest if too many sign-ins have pending ones."""
    uid, pending = factors.account.uid, factors.pending(FactorKind.TOTP)
    expired = [item for item in pending if item.created_at + _ENROLMENT_LIFETIME <= context.now]
    during_sign_ins = [item for item in pending if item.facts.get("for") and item not in expired]
    removed = [*expired, *during_sign_ins[: 1 - _MAX_PENDING]]
    if removed:
        account_store.lock(context, uid)  # as in `enrol`
    for old in removed:
        credential_store.remove(context, uid, (FactorKind.TOTP,), old.credential_id)
    seed, facts = randomness.random_bytes(size_bytes), {"for": factors.sign_in}
    credential_store.add(context, uid, FactorKind.TOTP, facts=facts, secret=seed)
    return seed


def _base32(seed: bytes) -> str:
    return base64.b32encode(seed).decode().rstrip("=")


def _matching_step(context: Context, seed: Credential, code: str) -> int | None:
    """Return the time step of the code: the present one, the one before or after; never a used one."""
    # imported secrets may be shorter than RFC 4226 demands of new ones
    app = HOTP(credential_store.decrypt_secret(context, seed), _DIGITS, SHA1(), enforce_key_length=False)  # noqa: S303 - RFC 6238
    now, digits, matching = int(context.now.timestamp()) // _STEP_SECONDS, typed_code(code), None
    for step in range(now - _DRIFT, now + _DRIFT + 1):
        is_match = hmac.compare_digest(app.generate(step), digits.encode("utf-8", "surrogatepass"))
        if is_match and step > seed.counter:
            matching = step
    return matching
