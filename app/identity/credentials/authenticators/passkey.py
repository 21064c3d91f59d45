"""A passkey as second factor (interface mfa.md rows M15-M18): what somebody has, beside the password that they know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.passkeys.shapes import PresentedCredential
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators.protocol import Answer, Person, Shown, Wish
from app.identity.credentials.passkeys import ceremonies, store
from app.identity.credentials.passkeys.ceremonies import Use
from app.identity.credentials.passkeys.options import Owner
from app.identity.credentials.store import Credential
from app.identity.directory.accounts.account import Account, full_name
from app.identity.platform.context import Context


class Passkey:
    """One that was enrolled for this. Where the tenant demands two factors, passkeys of the sign-in are factors as well:
    else whoever knows the password of somebody who signs in by passkey would enrol a factor of their own."""

    kind = FactorKind.PASSKEY
    methods = ("hwk",)
    off = e.PasskeyFactorOff
    missing = e.PasskeyFactorNotEnrolled
    wrong = (e.PasskeyRefused,)

    def is_on(self, settings: TenantSettings) -> bool:
        return settings.second_factors.passkey

    def is_enrolled(self, person: Person) -> bool:
        return bool(person.enrolled(self.kind)) or (person.needs_factor and bool(_proving(person)))

    def hint(self, person: Person) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: Person) -> Shown:
        return (
            self.challenge(context, person, Wish()) if self.is_enrolled(person) else self.begin(context, person, Wish())
        )

    def begin(self, context: Context, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        held = store.among(person.credentials)
        return Shown(options=ceremonies.begin_creation(context, Use.FACTOR, owner_of(person.account), held))

    def enrol(self, context: Context, person: Person, answer: Answer) -> None:
        uid = person.account.uid
        found = ceremonies.made(context, Use.FACTOR, read(answer.credential), uid)
        ceremonies.keep(context, found, uid, store.FACTOR)

    def challenge(self, context: Context, person: Person, wish: Wish) -> Shown:  # noqa: ARG002 - the protocol's signature
        allowed = [store.descriptor(one) for one in _proving(person)]
        return Shown(options=ceremonies.begin_request(context, Use.FACTOR, person.account.uid, allowed))

    def verify(self, context: Context, person: Person, answer: Answer) -> None:
        found = ceremonies.shown(context, Use.FACTOR, read(answer.credential), person.account.uid)
        if found.credential.credential_id not in {one.credential_id for one in _proving(person)}:
            raise e.PasskeyRefused
        if answer.is_alone and not found.is_user_verified:
            raise e.PasskeyRefused
        store.own(context, found.credential)


def _proving(person: Person) -> tuple[Credential, ...]:
    """Return the passkeys that prove a person beside the password: none that a mailed link set."""
    return tuple(one for one in store.among(person.credentials) if not one.facts.get(store.MAILED))


def owner_of(account: Account) -> Owner:
    """Return an account as browsers are told of it."""
    name = account.email or account.username or account.phone or account.uid
    return Owner(account.uid, name, full_name(account) or "")


def read(given: Mapping[str, Any]) -> PresentedCredential:
    """Return a credential that came as a free object; raises PasskeyRefused for what is none."""
    try:
        return PresentedCredential.model_validate(dict(given))
    except ValidationError:
        raise e.PasskeyRefused from None
