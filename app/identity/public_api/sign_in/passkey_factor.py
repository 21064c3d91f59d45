"""Operations that answer a challenge with a passkey."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.contract.passkeys import passkey_factor_operations
from app.contract.passkeys.models import LoginBegin, PublicKey, RegisterBegin
from app.contract.second_factors.challenge import ChallengeToken, FactorKind, FactorLogin
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.authentication.sign_in.passkeys import passkey_management
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    ChallengeOptions,
    FactorResponse,
)
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.public_api.sign_in import complete_challenge

KIND = FactorKind.PASSKEY


@passkey_factor_operations.begin_enrolment.implements
def begin_enrolment(context: Context, req: passkey_factor_operations.EnrolmentBegin) -> RegisterBegin:
    """Begin for the account of a challenge's token or, without one, of the access token."""
    if req.second_factor_authentication_token is not None:
        pending = _pending(context, req.second_factor_authentication_token)
        _refuse_enrolled(context, pending)
        return _creation_options(context, pending.factors)
    if context.holder is None:
        raise errors.BadParameter.names("secondfactorauthenticationtoken")
    return _creation_options(context, second_factors.of_account(context, accounts.current(context)))


@passkey_factor_operations.enrol.implements
def enrol(context: Context, req: passkey_factor_operations.PasskeyVerification) -> FactorLogin:
    _refuse_enrolled(context, _pending(context, req.second_factor_authentication_token))
    return _complete(context, req)


@passkey_factor_operations.begin.implements
def begin(context: Context, req: ChallengeToken) -> LoginBegin:
    pending = _pending(context, req.second_factor_authentication_token)
    authenticator = second_factors.enabled_authenticator(context, KIND)
    if not authenticator.is_enrolled(pending.factors):
        raise authenticator.not_enrolled_error
    challenge = authenticator.challenge(context, pending.factors, ChallengeOptions())
    return LoginBegin(login_begin_credential=PublicKey(publicKey=dict(challenge.options or {})))


@passkey_factor_operations.prove.implements
def verify(context: Context, req: passkey_factor_operations.PasskeyVerification) -> FactorLogin:
    pending = _pending(context, req.second_factor_authentication_token)
    if not second_factors.enabled_authenticator(context, KIND).is_enrolled(pending.factors):
        raise errors.PasskeyFactorNotEnrolled
    return _complete(context, req)


def _creation_options(context: Context, factors: AccountFactors) -> RegisterBegin:
    options = passkey_management.begin_adding_factor(context, factors)
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=options))


def _complete(context: Context, req: passkey_factor_operations.PasskeyVerification) -> FactorLogin:
    credential: dict[str, Any] = req.credential.model_dump(by_alias=True, exclude_none=True)
    return complete_challenge.complete(context, req, KIND, FactorResponse(credential=credential))


def _pending(context: Context, text: str) -> PendingSignIn:
    pending = pending_sign_in.resume(
        context, continuation_tokens.find(context, ContinuationPurpose.SECOND_FACTOR, text)
    )
    second_factors.enabled_authenticator(context, KIND)
    if login_records.lock_of(pending.account) is not None and not pending.authentication.opens_lock:
        raise errors.LockedDuringStep
    return pending


def _refuse_enrolled(context: Context, pending: PendingSignIn) -> None:
    """Refuse an account with a second factor: the password alone must not add another."""
    if not pending_sign_in.can_enrol(context, pending):
        raise errors.FactorEnrolledBefore
