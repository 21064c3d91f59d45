"""The row by which Duo answers a challenge (interface mfa.md row M12)."""

from __future__ import annotations

from app.contract.second_factors import duo as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authentication.sign_in.second_factors.answering import complete
from app.identity.credentials.authenticators.protocol import FactorResponse
from app.identity.platform.context import Context


@contract.with_duo.implements
def with_duo(context: Context, req: contract.DuoProof) -> FactorLogin:
    return complete(context, req, FactorKind.DUO, FactorResponse(code=req.code, state=req.state))
