"""The operations by which people keep their own second factors (interface mfa.md section 3)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.groups import Deleted
from app.contract.letters import MailKind
from app.contract.passkeys.own import NewPasskey
from app.contract.passkeys.shapes import ListedPasskey, RegisterBegin
from app.contract.profile import Profile
from app.contract.second_factors import duo, passkeys, push
from app.contract.second_factors import own as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account
from app.identity.authenticators.protocol import Answer, Person, Wish
from app.identity.call import Call
from app.identity.passkeys import store
from app.identity.second_factors import service as factors
from app.identity.second_factors import telling
from app.identity.sign_in.passkeys import factor, keeping
from app.identity.verification import notices
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.read)(read)
    server.implements(contract.prove_totp)(prove_totp)
    server.implements(contract.make_backup_codes)(make_backup_codes)
    server.implements(contract.renew_backup_codes)(renew_backup_codes)
    server.implements(contract.remove_totp)(remove_totp)
    server.implements(contract.remove_older)(remove_older)
    server.implements(push.remove_push)(remove_push)
    server.implements(passkeys.begin_own)(begin_passkey)
    server.implements(passkeys.enrol_own)(enrol_passkey)
    server.implements(passkeys.remove_own)(remove_passkey)
    server.implements(duo.prove_duo)(prove_duo)
    server.implements(duo.remove_duo)(remove_duo)


def read(call: Call, req: contract.OwnFactorsRead) -> contract.OwnFactors:
    factors.refuse_off(call.tenant.settings)
    known = factors.person(call, accounts.own(call))
    wish = Wish(req.sms_template_2fa, None, req.is_voice_otp, req.duo_redirect_uri)
    return contract.OwnFactors(**telling.settings(call, known, wish))


def prove_totp(call: Call, req: contract.OwnTotp) -> Profile:
    if not req.code:
        raise e.FactorCodeMissing
    return proved(call, FactorKind.TOTP, Answer(code=req.code), req.fields_)


def proved(call: Call, kind: FactorKind, answer: Answer, fields: str | None) -> Profile:
    """Enrol a factor by its first proof, or prove it once more, and return the profile."""
    if call.tenant.settings.two_factor == "disabled":
        raise e.TwoFactorOff
    account = accounts.own(call)
    enrol(call, factors.person(call, account), kind, answer)
    return Profile.of(accounts.project(accounts.profile_of(account), fields))


def make_backup_codes(call: Call, req: contract.OwnFactor) -> contract.BackupCodes:  # noqa: ARG001 - the token names the account
    return contract.BackupCodes(back_up_codes=factors.make_backup_codes(call, accounts.own(call), is_first=True))


def renew_backup_codes(call: Call, req: contract.OwnFactor) -> contract.BackupCodes:  # noqa: ARG001 - as above
    return contract.BackupCodes(back_up_codes=renew(call, accounts.own(call)))


def remove_totp(call: Call, req: contract.OwnFactor) -> Deleted:  # noqa: ARG001 - as above
    return removed(call, FactorKind.TOTP)


def remove_push(call: Call, req: push.OwnPush) -> Deleted:  # noqa: ARG001 - as above
    factors.authenticator(call, FactorKind.PUSH)
    return removed(call, FactorKind.PUSH)


def prove_duo(call: Call, req: duo.OwnDuo) -> Profile:
    return proved(call, FactorKind.DUO, Answer(code=req.code, state=req.state), req.fields_)


def remove_duo(call: Call, req: contract.OwnFactor) -> Deleted:  # noqa: ARG001 - as above
    factors.authenticator(call, FactorKind.DUO)
    return removed(call, FactorKind.DUO)


def remove_older(call: Call, req: contract.OlderRemoval) -> Deleted:
    return removed(call, older(req))


def begin_passkey(call: Call, req: contract.OwnFactor) -> RegisterBegin:  # noqa: ARG001 - as above
    return factor.beginning(call, factors.person(call, accounts.own(call)))


def enrol_passkey(call: Call, req: NewPasskey) -> ListedPasskey:
    account = accounts.own(call)
    factors.authenticator(call, FactorKind.PASSKEY)
    return store.listed(keeping.add_factor(call, account, req.credential))


def remove_passkey(call: Call, req: contract.OwnFactor) -> Deleted:  # noqa: ARG001 - as above
    factors.authenticator(call, FactorKind.PASSKEY)
    return removed(call, FactorKind.PASSKEY)


def older(req: contract.OlderRemoval | contract.OlderManagedRemoval) -> FactorKind:
    """Return which of the two is meant; raises FactorRemovalRefused for neither and for both."""
    if req.authenticator == req.otp_authenticator:
        raise e.FactorRemovalRefused
    return FactorKind.TOTP if req.authenticator else FactorKind.SMS


def removed(call: Call, kind: FactorKind) -> Deleted:
    """Remove a factor of the signed-in account."""
    remove(call, accounts.own(call), kind)
    return Deleted()


def enrol(
    call: Call, known: Person, kind: FactorKind, answer: Answer, *, is_lock_open: bool = False, replaces: bool = False
) -> None:
    """Enrol a factor by its first proof, or prove it once more; the owner is told of a new one."""
    if factors.prove(call, known, kind, answer, may_enrol=True, is_lock_open=is_lock_open, replaces=replaces):
        notices.tell_factor(call, MailKind.FACTOR_ADDED, known.account, kind)


def remove(call: Call, account: Account, kind: FactorKind) -> None:
    """Remove a factor, and tell the owner."""
    factors.remove(call, account.uid, kind)
    notices.tell_factor(call, MailKind.FACTOR_REMOVED, account, kind)


def renew(call: Call, account: Account) -> list[str]:
    """Make backup codes; the owner is told where they take the place of others."""
    had_some = bool(factors.person(call, account).enrolled(FactorKind.BACKUP_CODE))
    codes = factors.make_backup_codes(call, account, is_first=False)
    if had_some:
        notices.tell_factor(call, MailKind.FACTOR_ADDED, account, FactorKind.BACKUP_CODE)
    return codes


__all__ = ["enrol", "older", "proved", "register", "remove", "removed", "renew"]
