"""A passkey as second factor (interface mfa.md rows M15-M18): what somebody has, beside the password that they know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from app.contract import errors as e
from app.contract.configuration import TenantSettings
from app.contract.passkeys.shapes import PresentedCredential
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.authenticators.protocol import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.passkeys import ceremonies, store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import UserEntity
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

    def is_enrolled(self, person: AccountFactors) -> bool:
        return bool(person.enrolled(self.kind)) or (person.needs_factor and bool(_usable_passkeys(person)))

    def hint(self, person: AccountFactors) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None

    def recall(self, context: Context, person: AccountFactors) -> FactorChallenge:
        return (
            self.challenge(context, person, ChallengeOptions())
            if self.is_enrolled(person)
            else self.begin(context, person, ChallengeOptions())
        )

    def begin(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        held = store.passkeys_among(person.credentials)
        return FactorChallenge(
            options=ceremonies.begin_registration(context, CeremonyUse.FACTOR, user_entity(person.account), held)
        )

    def enrol(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        uid = person.account.uid
        found = ceremonies.verify_registration(context, CeremonyUse.FACTOR, parse_credential(answer.credential), uid)
        ceremonies.add_passkey(context, found, uid, store.FACTOR)

    def challenge(self, context: Context, person: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the protocol's signature
        allowed = [store.descriptor(one) for one in _usable_passkeys(person)]
        return FactorChallenge(
            options=ceremonies.begin_authentication(context, CeremonyUse.FACTOR, person.account.uid, allowed)
        )

    def verify(self, context: Context, person: AccountFactors, answer: FactorResponse) -> None:
        found = ceremonies.verify_authentication(
            context, CeremonyUse.FACTOR, parse_credential(answer.credential), person.account.uid
        )
        if found.credential.credential_id not in {one.credential_id for one in _usable_passkeys(person)}:
            raise e.PasskeyRefused
        if answer.is_alone and not found.is_user_verified:
            raise e.PasskeyRefused
        store.lift_restriction(context, found.credential)


def _usable_passkeys(person: AccountFactors) -> tuple[Credential, ...]:
    """Return the passkeys that prove a person beside the password: none that a mailed link set."""
    return tuple(one for one in store.passkeys_among(person.credentials) if not one.facts.get(store.SET_BY_EMAIL))


def user_entity(account: Account) -> UserEntity:
    """Return an account as browsers are told of it."""
    name = account.email or account.username or account.phone or account.uid
    return UserEntity(account.uid, name, full_name(account) or "")


def parse_credential(given: Mapping[str, Any]) -> PresentedCredential:
    """Return a credential that came as a free object; raises PasskeyRefused for what is none."""
    try:
        return PresentedCredential.model_validate(dict(given))
    except ValidationError:
        raise e.PasskeyRefused from None
