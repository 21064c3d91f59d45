"""An authenticator app: time-based codes (RFC 6238) of six digits, 30 seconds, SHA-1, one step of drift (mfa.md section 5)."""

from __future__ import annotations

import base64
import hmac
from typing import Final

import pyotp

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import store as accounts
from app.identity.authenticators.protocol import Answer, Person, Shown, Wish
from app.identity.call import Call
from app.identity.credentials import store
from app.identity.credentials.store import Credential
from app.identity.proofs.service import digits_in
from app.kit import randomness

_STEP_SECONDS: Final = 30
_DRIFT: Final = 1
_DIGITS: Final = 6
_SEED_BYTES: Final = 32
"""52 letters of base32, as the interface's ManualEntryCode has."""


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

    def recall(self, call: Call, person: Person) -> Shown:
        return Shown() if self.is_enrolled(person) else self.begin(call, person, Wish())

    def begin(self, call: Call, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        """The same seed until it is proved: pages are reloaded, and a picture may have been scanned already."""
        begun = person.begun(self.kind)
        held = begun[0] if begun else _new(call, person)
        secret = _text(store.secret_of(call, held))
        account = person.account
        label = account.email or account.username or account.phone or account.uid
        uri = pyotp.TOTP(secret).provisioning_uri(name=label, issuer_name=call.tenant.display_name)
        return Shown(secret=secret, uri=uri)

    def enrol(self, call: Call, person: Person, answer: Answer) -> None:
        begun = person.begun(self.kind)
        if not begun:
            raise e.TotpNotEnrolled
        for held in begun:
            step = _step_of(call, held, answer.code)
            if step is None:
                continue
            accounts.change(
                call, person.account.uid, {}
            )  # everybody locks the account first, and its credentials after it
            store.remove(call, person.account.uid, (self.kind,), but=held.credential_id)
            if store.enrol(call, held, counter=step):
                return
        raise e.WrongTotpCode

    def challenge(self, call: Call, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        return Shown()

    def verify(self, call: Call, person: Person, answer: Answer) -> None:
        for held in person.enrolled(self.kind):
            step = _step_of(call, held, answer.code)
            if step is None:
                continue
            accounts.change(call, person.account.uid, {})  # as in `enrol`
            if store.advance(call, held, step):
                return
        raise e.WrongTotpCode


def _new(call: Call, person: Person) -> Credential:
    return store.add(call, person.account.uid, FactorKind.TOTP, secret=randomness.random_bytes(_SEED_BYTES))


def _text(seed: bytes) -> str:
    return base64.b32encode(seed).decode().rstrip("=")


def _step_of(call: Call, held: Credential, code: str) -> int | None:
    """Return the time step that the code is of: the present one, one before or after it; never one that was used."""
    app = pyotp.TOTP(_text(store.secret_of(call, held)), digits=_DIGITS, interval=_STEP_SECONDS)
    now, shown, found = int(call.now.timestamp()) // _STEP_SECONDS, digits_in(code), None
    for step in range(now - _DRIFT, now + _DRIFT + 1):
        is_it = hmac.compare_digest(app.generate_otp(step).encode(), shown.encode("utf-8", "surrogatepass"))
        if is_it and step > held.counter:
            found = step
    return found
