"""The operations by which the tenant's servers see and remove an account's second factors (interface mfa.md section 4)."""

from __future__ import annotations

from app.contract.groups import Deleted
from app.contract.passkeys import own as own_passkeys
from app.contract.passkeys import second_factor as passkeys
from app.contract.passkeys.shapes import ListedPasskeys
from app.contract.second_factors import duo, email, push, questions, sms
from app.contract.second_factors import own as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in.passkeys import management
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors import views
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context
from app.identity.programs.self_service import second_factors as own_factors
from app.identity.programs.self_service.passkeys import some_of
from app.identity.programs.self_service.second_factors import older
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


def read(context: Context, req: contract.FactorOf) -> contract.OwnFactors:
    known = second_factors.person(context, accounts.known(context, req.uid))
    return contract.OwnFactors(**views.by_id(context, known))


def make_backup_codes(context: Context, req: contract.FactorOf) -> contract.BackupCodes:
    account = accounts.known(context, req.uid)
    return contract.BackupCodes(back_up_codes=second_factors.make_backup_codes(context, account, is_first=True))


def renew_backup_codes(context: Context, req: contract.FactorOf) -> contract.BackupCodes:
    account = accounts.known(context, req.uid)
    return contract.BackupCodes(back_up_codes=own_factors.renew(context, account))


def remove_totp(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.TOTP)


def remove_sms(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.SMS)


def remove_email(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.EMAIL)


def remove_questions(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.QUESTIONS)


def remove_push(context: Context, req: contract.FactorOf | push.ManagedPush) -> Deleted:
    return removed(context, req.uid, FactorKind.PUSH)


def remove_duo(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.DUO)


def remove_older(context: Context, req: contract.OlderManagedRemoval) -> Deleted:
    return removed(context, req.uid, older(req))


def remove_passkey_factor(context: Context, req: contract.FactorOf) -> Deleted:
    return removed(context, req.uid, FactorKind.PASSKEY)


def list_passkeys(context: Context, req: contract.FactorOf) -> ListedPasskeys:
    return some_of(context, accounts.known(context, req.uid).uid)


def remove_passkey(context: Context, req: own_passkeys.PasskeyOf) -> Deleted:
    management.remove(context, accounts.known(context, req.uid), req.passkey_id)
    return Deleted()


def removed(context: Context, uid: str, kind: FactorKind) -> Deleted:
    """Remove a factor of an account."""
    own_factors.remove(context, accounts.known(context, uid), kind)
    return Deleted()
