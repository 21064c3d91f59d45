"""Operations by which the tenant's servers check a step-up authentication (mfa.md rows M75 to M77)."""

from __future__ import annotations

import re

from app.contract import errors as e
from app.contract import step_up as contract
from app.contract.step_up import StepUpMethod
from app.identity.credentials.second_factors import step_up
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context

_FORM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.IGNORECASE)


@contract.check_factor.implements
def check_factor(context: Context, req: contract.CheckValidationToken) -> contract.TokenIsValid:
    return _checked(context, req, StepUpMethod.FACTOR, refuses=True)


@contract.check_password.implements
def check_password(context: Context, req: contract.CheckValidationToken) -> contract.TokenIsValid:
    return _checked(context, req, StepUpMethod.PASSWORD, refuses=True)


@contract.check_pin.implements
def check_pin(context: Context, req: contract.CheckValidationToken) -> contract.TokenIsValid:
    return _checked(context, req, StepUpMethod.PIN)


def _checked(
    context: Context, req: contract.CheckValidationToken, by: StepUpMethod, *, refuses: bool = False
) -> contract.TokenIsValid:
    """Two of the rows refuse what cannot be a token at all (decisions/0090)."""
    account = accounts.require(context, req.uid)
    if refuses and not _FORM.match(req.second_factor_validation_token):
        raise e.WrongValidationToken
    return contract.TokenIsValid(is_valid=step_up.spend(context, account, req.second_factor_validation_token, by))
