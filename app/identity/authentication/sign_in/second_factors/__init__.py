"""The rows by which a challenge is answered (interface mfa.md section 2): thin adapters, one a kind."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.second_factors import signing_in as contract
from app.contract.second_factors.challenge import FactorKind, FactorLogin
from app.identity.authentication.sign_in.second_factors.answering import complete, find_pending, find_unlocked
from app.identity.credentials.authenticators.protocol import FactorResponse
from app.identity.platform.context import Context


@contract.with_totp.implements
def with_totp(context: Context, req: contract.TotpProof) -> FactorLogin:
    if not req.code:
        raise e.FactorCodeMissing
    return complete(context, req, FactorKind.TOTP, FactorResponse(code=req.code))


@contract.with_backup_code.implements
def with_backup_code(context: Context, req: contract.BackupCodeProof) -> FactorLogin:
    if not req.backup_code:
        raise e.BadParameter.names("backupcode")
    return complete(context, req, FactorKind.BACKUP_CODE, FactorResponse(code=req.backup_code))


__all__ = ["complete", "find_pending", "find_unlocked"]
