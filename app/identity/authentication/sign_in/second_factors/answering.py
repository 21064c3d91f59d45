"""How a challenge is answered with its token, whichever the factor is."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.contract.second_factors.signing_in import ChallengeAnswer
from app.identity.authentication.sign_in import completion, second_factor
from app.identity.authentication.sign_in.locks import Proof
from app.identity.authentication.sign_in.second_factor import Pending
from app.identity.credentials.authenticators.protocol import FactorResponse
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.second_factors import service as second_factors
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import service as continuation_tokens
from app.identity.platform.continuation_tokens.service import ContinuationPurpose


def known(context: Context, token: str) -> Pending:
    """Return who a challenge's token stands for; raises 1103, 1104."""
    return second_factor.pending(context, continuation_tokens.find(context, ContinuationPurpose.SECOND_FACTOR, token))


def waiting(context: Context, token: str) -> Pending:
    """Return the same for what sends or begins something; raises 1103, 1104, and 1264 where the account is locked."""
    found = known(context, token)
    if found.account.is_locked_now:
        raise e.LockedDuringStep
    return found


def refuse_without(context: Context, found: Pending, kind: FactorKind) -> None:
    """Raise what an authenticator refuses with where the tenant does not have it, or the first factor was the same proof."""
    second_factors.refuse_unavailable(context, kind, found.person)


def answered(
    context: Context, req: ChallengeAnswer, kind: FactorKind, answer: FactorResponse, found: Pending | None = None
) -> FactorLogin:
    """Use a proof of a kind with a challenge's token, and answer with the session."""
    found = found or known(context, req.second_factor_authentication_token)
    if req.is_silent:
        found = replace(found, way=replace(found.way, is_silent=True))
    shown = Proof(req.security_answer, captcha.from_parameters(req))
    found = second_factor.prove(context, found, kind, answer, shown)
    account = second_factor.finish(context, found)
    return completion.session(context, account, found.way, req.fields_)
