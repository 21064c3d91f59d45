"""The operations by which the tenant's servers see and remove an account's second factors (interface mfa.md section 4)."""

from __future__ import annotations

from app.contract.groups import Deleted
from app.contract.passkeys import own as own_passkeys
from app.contract.passkeys.shapes import ListedPasskeys
from app.contract.second_factors import duo, email, passkeys, push, questions, sms
from app.contract.second_factors import own as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.second_factors import service as factors
from app.identity.second_factors import telling
from app.identity.self_service import factors as own_factors
from app.identity.self_service.factors import older
from app.identity.self_service.passkeys import some_of
from app.identity.sign_in.passkeys import keeping
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.managed_read)(read)
    server.implements(contract.managed_make_backup_codes)(make_backup_codes)
    server.implements(contract.managed_renew_backup_codes)(renew_backup_codes)
    server.implements(contract.managed_remove_totp)(remove_totp)
    server.implements(contract.managed_remove_older)(remove_older)
    server.implements(sms.managed_remove_sms)(remove_sms)
    server.implements(email.managed_remove_email)(remove_email)
    server.implements(questions.managed_remove_questions)(remove_questions)
    server.implements(duo.managed_remove_duo)(remove_duo)
    server.implements(push.managed_remove_push)(remove_push)
    server.implements(push.managed_remove_push_older)(remove_push)
    server.implements(passkeys.managed_remove)(remove_passkey_factor)
    server.implements(own_passkeys.managed_listed)(list_passkeys)
    server.implements(own_passkeys.managed_remove)(remove_passkey)


def read(call: Call, req: contract.FactorOf) -> contract.OwnFactors:
    known = factors.person(call, accounts.known(call, req.uid))
    return contract.OwnFactors(**telling.by_id(call, known))


def make_backup_codes(call: Call, req: contract.FactorOf) -> contract.BackupCodes:
    account = accounts.known(call, req.uid)
    return contract.BackupCodes(back_up_codes=factors.make_backup_codes(call, account, is_first=True))


def renew_backup_codes(call: Call, req: contract.FactorOf) -> contract.BackupCodes:
    account = accounts.known(call, req.uid)
    return contract.BackupCodes(back_up_codes=own_factors.renew(call, account))


def remove_totp(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.TOTP)


def remove_sms(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.SMS)


def remove_email(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.EMAIL)


def remove_questions(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.QUESTIONS)


def remove_push(call: Call, req: contract.FactorOf | push.ManagedPush) -> Deleted:
    return removed(call, req.uid, FactorKind.PUSH)


def remove_duo(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.DUO)


def remove_older(call: Call, req: contract.OlderManagedRemoval) -> Deleted:
    return removed(call, req.uid, older(req))


def remove_passkey_factor(call: Call, req: contract.FactorOf) -> Deleted:
    return removed(call, req.uid, FactorKind.PASSKEY)


def list_passkeys(call: Call, req: contract.FactorOf) -> ListedPasskeys:
    return some_of(call, accounts.known(call, req.uid).uid)


def remove_passkey(call: Call, req: own_passkeys.PasskeyOf) -> Deleted:
    keeping.remove(call, accounts.known(call, req.uid), req.passkey_id)
    return Deleted()


def removed(call: Call, uid: str, kind: FactorKind) -> Deleted:
    """Remove a factor of an account."""
    own_factors.remove(call, accounts.known(call, uid), kind)
    return Deleted()
