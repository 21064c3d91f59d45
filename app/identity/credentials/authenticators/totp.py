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
from app.identity.credentials.authenticators.protocol import Answer, Person, Shown, Wish
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
_SHOWN_FOR: Final = timedelta(minutes=30)
"""So long the same seed is shown again: pages are reloaded, and a picture may have been scanned already."""
_GOOD_FOR: Final = timedelta(hours=1)
"""So long a first code may take that proves it."""
_MOST_BEGUN: Final = 5


class Totp:
    """Codes of an authenticator app. A time step that was used, or an older one, opens nothing again."""

    kind = FactorKind.TOTP
    methods = ("otp",)
    off = e.TotpOff
    missing = e.TotpNotEnrolled
    wrong = (e.WrongTotpCode,)

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.totp

    def is_enrolled(self, person: Person) -> bool:
        return bool(person.enrolled(self.kind))

    def hint(self, person: Person) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: Person) -> Shown:
        return Shown() if self.is_enrolled(person) else self.begin(context, person, Wish())

    def begin(self, context: Context, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        """The same seed for a while. Each sign-in has its own: whoever has the password alone may have one shown, and its owner
        must not scan what a thief has seen.
        """
        begun = _begun(context, person, _SHOWN_FOR)
        held = begun[-1] if begun else _new(context, person)
        secret = _text(store.secret_of(context, held))
        account = person.account
        label = account.email or account.username or account.phone or account.uid
        uri = pyotp.TOTP(secret).provisioning_uri(name=label, issuer_name=context.tenant.display_name)
        return Shown(secret=secret, uri=uri)

    def enrol(self, context: Context, person: Person, answer: Answer) -> None:
        begun = _begun(context, person, _GOOD_FOR)
        if not begun:
            raise e.TotpNotEnrolled
        for held in begun:
            step = _step_of(context, held, answer.code)
            if step is None:
                continue
            accounts.change(
                context, person.account.uid, {}
            )  # everybody locks the account first, and its credentials after it
            store.remove(context, person.account.uid, (self.kind,), but=held.credential_id)
            if store.enrol(context, held, counter=step):
                return
        raise e.WrongTotpCode

    def challenge(self, context: Context, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        return Shown()

    def verify(self, context: Context, person: Person, answer: Answer) -> None:
        for held in person.enrolled(self.kind):
            step = _step_of(context, held, answer.code)
            if step is None:
                continue
            accounts.change(context, person.account.uid, {})  # as in `enrol`
            if store.advance(context, held, step):
                return
        raise e.WrongTotpCode


def _begun(context: Context, person: Person, lifetime: timedelta) -> list[Credential]:
    """Return the seeds that this very sign-in began, or its signed-in owner, the oldest first; none that is too old."""
    mine = (one for one in person.begun(FactorKind.TOTP) if one.facts.get("for") == person.sign_in)
    return [one for one in mine if context.now < one.created_at + lifetime]


def _new(context: Context, person: Person) -> Credential:
    """Draw a seed; those that are over go, and the oldest of too many sign-ins."""
    uid, begun = person.account.uid, person.begun(FactorKind.TOTP)
    over = [one for one in begun if one.created_at + _GOOD_FOR <= context.now]
    of_sign_ins = [one for one in begun if one.facts.get("for") and one not in over]
    gone = [*over, *of_sign_ins[: 1 - _MOST_BEGUN]]
    if gone:
        accounts.change(context, uid, {})  # as in `enrol`
    for old in gone:
        store.remove(context, uid, (FactorKind.TOTP,), old.credential_id)
    seed, facts = randomness.random_bytes(_SEED_BYTES), {"for": person.sign_in}
    return store.add(context, uid, FactorKind.TOTP, facts=facts, secret=seed)


def _text(seed: bytes) -> str:
    return base64.b32encode(seed).decode().rstrip("=")


def _step_of(context: Context, held: Credential, code: str) -> int | None:
    """Return the time step that the code is of: the present one, one before or after it; never one that was used."""
    app = pyotp.TOTP(_text(store.secret_of(context, held)), digits=_DIGITS, interval=_STEP_SECONDS)
    now, shown, found = int(context.now.timestamp()) // _STEP_SECONDS, digits_in(code), None
    for step in range(now - _DRIFT, now + _DRIFT + 1):
        is_it = hmac.compare_digest(app.generate_otp(step).encode(), shown.encode("utf-8", "surrogatepass"))
        if is_it and step > held.counter:
            found = step
    return found
