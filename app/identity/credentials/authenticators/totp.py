"""An authenticator app: time-based codes (RFC 6238) of six digits, 30 seconds, SHA-1, one step of drift (mfa.md section 5)."""

from __future__ import annotations

import base64
import hmac
from datetime import timedelta
from typing import Final

import pyotp

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials import store
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.one_time_tokens.service import digits_in
from app.identity.credentials.store import Credential
from app.identity.directory.accounts import store as accounts
from app.identity.platform.context import Context
from app.kit import randomness

_STEP_SECONDS: Final = 30
_DRIFT: Final = 1
_DIGITS: Final = 6
_SEED_BYTES: Final = 32
"""52 letters of base32, as the interface's ManualEntryCode has."""
_SEED_REUSE: Final = timedelta(minutes=30)
"""So long the same seed is shown again: pages are reloaded, and a picture may have been scanned already."""
_ENROLMENT_LIFETIME: Final = timedelta(hours=1)
"""So long a first code may take that proves it."""
_MAX_PENDING: Final = 5


class Totp:
    """Codes of an authenticator app. A time step that was used, or an older one, opens nothing again."""

    kind = FactorKind.TOTP
    methods = ("otp",)
    off = e.TotpOff
    missing = e.TotpNotEnrolled
    wrong = (e.WrongTotpCode,)

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.totp

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(person.enrolled(self.kind))

    def hint(self, person: AccountFactors) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:
        return FactorChallenge() if self.is_enrolled(person) else self.begin(context, person, ChallengeOptions())

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        """The same seed for a while. Each sign-in has its own: whoever has the password alone may have one shown, and its owner
        must not scan what a thief has seen.
        """
        begun = _pending_seeds(context, person, _SEED_REUSE)
        held = begun[-1] if begun else _add_seed(context, person)
        secret = _base32(store.decrypt_secret(context, held))
        account = person.account
        label = account.email or account.username or account.phone or account.uid
        uri = pyotp.TOTP(secret).provisioning_uri(name=label, issuer_name=context.tenant.display_name)
        return FactorChallenge(secret=secret, uri=uri)

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        begun = _pending_seeds(context, person, _ENROLMENT_LIFETIME)
        if not begun:
            raise e.TotpNotEnrolled
        for held in begun:
            step = _matching_step(context, held, answer.code)
            if step is None:
                continue
            accounts.change(
                context, person.account.uid, {}
            )  # everybody locks the account first, and its credentials after it
            store.remove(context, person.account.uid, (self.kind,), but=held.credential_id)
            if store.mark_enrolled(context, held, counter=step):
                return
        raise e.WrongTotpCode

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        return FactorChallenge()

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        for held in person.enrolled(self.kind):
            step = _matching_step(context, held, answer.code)
            if step is None:
                continue
            accounts.change(context, person.account.uid, {})  # as in `enrol`
            if store.advance_counter(context, held, step):
                return
        raise e.WrongTotpCode


def _pending_seeds(context: Context, person: AccountFactors, lifetime: timedelta) -> list[Credential]:
    """Return the seeds that this very sign-in began, or its signed-in owner, the oldest first; none that is too old."""
    mine = (one for one in person.begun(FactorKind.TOTP) if one.facts.get("for") == person.sign_in)
    return [one for one in mine if context.now < one.created_at + lifetime]


def _add_seed(context: Context, person: AccountFactors) -> Credential:
    """Draw a seed; those that are over go, and the oldest of too many sign-ins."""
    uid, begun = person.account.uid, person.begun(FactorKind.TOTP)
    over = [one for one in begun if one.created_at + _ENROLMENT_LIFETIME <= context.now]
    of_sign_ins = [one for one in begun if one.facts.get("for") and one not in over]
    gone = [*over, *of_sign_ins[: 1 - _MAX_PENDING]]
    if gone:
        accounts.change(context, uid, {})  # as in `enrol`
    for old in gone:
        store.remove(context, uid, (FactorKind.TOTP,), old.credential_id)
    seed, facts = randomness.random_bytes(_SEED_BYTES), {"for": person.sign_in}
    return store.add(context, uid, FactorKind.TOTP, facts=facts, secret=seed)


def _base32(seed: bytes) -> str:
    return base64.b32encode(seed).decode().rstrip("=")


def _matching_step(context: Context, held: Credential, code: str) -> int | None:
    """Return the time step that the code is of: the present one, one before or after it; never one that was used."""
    app = pyotp.TOTP(_base32(store.decrypt_secret(context, held)), digits=_DIGITS, interval=_STEP_SECONDS)
    now, shown, found = int(context.now.timestamp()) // _STEP_SECONDS, digits_in(code), None
    for step in range(now - _DRIFT, now + _DRIFT + 1):
        is_it = hmac.compare_digest(app.generate_otp(step).encode(), shown.encode("utf-8", "surrogatepass"))
        if is_it and step > held.counter:
            found = step
    return found
