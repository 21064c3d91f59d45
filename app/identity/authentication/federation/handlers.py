"""Operation by which a program's server exchanges a request token for the tokens of a browser sign-in."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import tokens as contract
from app.contract.tokens import Token
from app.identity.authentication.federation import token_handoff
from app.identity.platform.context import Context
from app.kit.clock import iso


@contract.exchange.implements
def exchange(context: Context, req: contract.RequestToken) -> Token:
    if not req.token:
        raise e.BadParameter.names("token")
    issued = token_handoff.exchange(context, req.token)
    return Token(
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
