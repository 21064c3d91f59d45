"""The rows by which a challenge is answered (interface mfa.md section 2): thin adapters, one a kind."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.second_factors import signing_in as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authenticators.protocol import Answer
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.sign_in import entry, second_factor
from app.identity.sign_in.locks import Proof
from app.identity.tickets import service as tickets
from app.identity.tickets.service import TicketKind
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.with_totp)(with_totp)
    server.implements(contract.with_backup_code)(with_backup_code)


def with_totp(call: Call, req: contract.TotpProof) -> FactorLogin:
    if not req.code:
        raise e.FactorCodeMissing
    return answered(call, req, FactorKind.TOTP, Answer(code=req.code))


def with_backup_code(call: Call, req: contract.BackupCodeProof) -> FactorLogin:
    if not req.backup_code:
        raise e.BadParameter.names("backupcode")
    return answered(call, req, FactorKind.BACKUP_CODE, Answer(code=req.backup_code))


def answered(call: Call, req: contract.Factored, kind: FactorKind, answer: Answer) -> FactorLogin:
    """Use a proof of a kind with a challenge's token, and answer with the session."""
    ticket = tickets.find(call, TicketKind.SECOND_FACTOR, req.second_factor_authentication_token)
    found = second_factor.pending(call, ticket)
    shown = Proof(req.security_answer, captcha.of_parameters(req))
    found = second_factor.prove(call, found, kind, answer, shown)
    account = second_factor.finish(call, found)
    return entry.session(call, account, found.way, req.fields_)
