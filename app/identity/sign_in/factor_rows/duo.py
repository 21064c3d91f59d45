"""The row by which Duo answers a challenge (interface mfa.md row M12)."""

from __future__ import annotations

from app.contract.second_factors import duo as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authenticators.protocol import Answer
from app.identity.call import Call
from app.identity.sign_in.factor_rows.answering import answered
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(contract.with_duo)(with_duo)


def with_duo(call: Call, req: contract.DuoProof) -> FactorLogin:
    return answered(call, req, FactorKind.DUO, Answer(code=req.code, state=req.state))
