"""Complete a challenge with its continuation token, for every kind of factor."""

from __future__ import annotations

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.contract.second_factors.factor_sign_in_operations import ChallengeAnswer
from app.identity.authentication.sign_in import completion, pending_sign_in
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.credentials.captcha import answers
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import FactorResponse
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.public_api.sign_in import sign_in_responses


def find_pending(context: Context, token: str) -> PendingSignIn:
    """Return the pending sign-in of a challenge's token; raises UnknownFactorToken, ExpiredFactorToken."""
    return pending_sign_in.resume(context, continuation_tokens.find(context, ContinuationPurpose.SECOND_FACTOR, token))


def find_unlocked(context: Context, token: str) -> PendingSignIn:
    """Return the pending sign-in for an operation that sends a code.

    Raises:
        UnknownFactorToken, ExpiredFactorToken.
        LockedDuringStep: the account is locked.
    """
    pending = find_pending(context, token)
    if pending.account.is_locked_now:
        raise errors.LockedDuringStep
    return pending


def refuse_unavailable(context: Context, pending: PendingSignIn, kind: FactorKind) -> None:
    """Raise the authenticator's error if the tenant disabled it, or if the first factor used the same channel."""
    second_factors.refuse_unavailable(context, kind, pending.factors)


def complete(
    context: Context,
    req: ChallengeAnswer,
    kind: FactorKind,
    response: FactorResponse,
    pending: PendingSignIn | None = None,
) -> FactorLogin:
    """Verify a factor for a challenge's token, and begin the session."""
    pending = pending or find_pending(context, req.second_factor_authentication_token)
    solution = LockSolution(req.security_answer, answers.from_parameters(req))
    pending = pending_sign_in.verify(context, pending, kind, response, solution)
    return sign_in_responses.present(context, completion.after_second_factor(context, pending), fields=req.fields_)
