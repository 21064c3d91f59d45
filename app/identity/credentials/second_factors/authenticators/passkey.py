"""A passkey as second factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from app.contract import errors
from app.contract.passkeys.models import PresentedCredential
from app.contract.second_factors.challenge import FactorKind
from app.identity.credentials.credential_store import Credential
from app.identity.credentials.passkeys import ceremonies, passkey_store
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import UserEntity
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    Authenticator,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.directory.accounts.account import Account, full_name
from app.identity.platform.context import Context


class PasskeyAuthenticator(Authenticator):
    """A passkey enrolled as second factor. If the tenant requires two factors, sign-in passkeys count too: else an attacker
    with the password of an account that signs in by passkey could enrol a factor."""

    kind = FactorKind.PASSKEY
    amr = ("hwk",)
    disabled_error = errors.PasskeyFactorOff
    not_enrolled_error = errors.PasskeyFactorNotEnrolled
    enrolled_members = ("is_passkey_authenticator_verified",)
    wrong_errors = (errors.PasskeyRefused,)

    def is_enrolled(self, factors: AccountFactors) -> bool:
        return bool(factors.enrolled(self.kind)) or (factors.is_factor_required and bool(_usable_passkeys(factors)))

    def hint(self, factors: AccountFactors) -> str | None:
        """Return the name of the account's passkey, or of the newest of several."""
        usable = _usable_passkeys(factors)
        return passkey_store.display_name(usable[-1]) if usable else None

    def describe(self, context: Context, factors: AccountFactors) -> FactorChallenge:
        return (
            self.challenge(context, factors, ChallengeOptions())
            if self.is_enrolled(factors)
            else self.begin_enrolment(context, factors, ChallengeOptions())
        )

    def begin_enrolment(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        existing = passkey_store.passkeys_among(factors.credentials)
        return FactorChallenge(
            options=ceremonies.begin_registration(context, CeremonyUse.FACTOR, user_entity(factors.account), existing)
        )

    def enrol(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        uid = factors.account.uid
        passkey = ceremonies.verify_registration(
            context, CeremonyUse.FACTOR, parse_credential(response.credential), uid
        )
        ceremonies.add_passkey(context, passkey, uid, passkey_store.FACTOR)

    def challenge(self, context: Context, factors: AccountFactors, options: ChallengeOptions) -> FactorChallenge:  # noqa: ARG002 - the base class's signature
        allowed = [passkey_store.descriptor(passkey) for passkey in _usable_passkeys(factors)]
        return FactorChallenge(
            options=ceremonies.begin_authentication(context, CeremonyUse.FACTOR, factors.account.uid, allowed)
        )

    def verify(self, context: Context, factors: AccountFactors, response: FactorResponse) -> None:
        verified = ceremonies.verify_authentication(
            context, CeremonyUse.FACTOR, parse_credential(response.credential), factors.account.uid
        )
        if verified.credential.credential_id not in {passkey.credential_id for passkey in _usable_passkeys(factors)}:
            raise errors.PasskeyRefused
        if response.is_only_factor and not verified.is_user_verified:
            raise errors.PasskeyRefused
        passkey_store.lift_restriction(context, verified.credential)


AUTHENTICATOR: Final = PasskeyAuthenticator()


def _usable_passkeys(factors: AccountFactors) -> tuple[Credential, ...]:
    """Return the passkeys that count beside the password: none that was set through an emailed link."""
    return tuple(
        item for item in passkey_store.passkeys_among(factors.credentials) if not passkey_store.is_set_by_email(item)
    )


def user_entity(account: Account) -> UserEntity:
    """Return the WebAuthn user entity of an account."""
    name = account.email or account.username or account.phone or account.uid
    return UserEntity(account.uid, name, full_name(account) or "")


def parse_credential(credential: Mapping[str, Any]) -> PresentedCredential:
    """Return the credential of a JSON object. Raises PasskeyRefused if it is malformed."""
    try:
        return PresentedCredential.model_validate(dict(credential))
    except ValidationError:
        raise errors.PasskeyRefused from None
