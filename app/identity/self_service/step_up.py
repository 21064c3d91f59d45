"""The operations by which somebody who is signed in proves once more who they are (interface mfa.md section 7)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import step_up as contract
from app.contract.groups import Posted
from app.contract.second_factors.challenge import Challenge, FactorKind
from app.contract.step_up import Proved, ValidationToken
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.accounts.account import Account
from app.identity.authenticators import email_code
from app.identity.authenticators.protocol import Answer, Wish
from app.identity.call import Call
from app.identity.pins import service as pins
from app.identity.proofs import service as proofs
from app.identity.proofs import tries
from app.identity.proofs.service import ProofKind
from app.identity.second_factors import service as factors
from app.identity.second_factors import step_up, telling
from app.identity.second_factors.service import Wanted
from app.identity.self_service.unlocking import open_lock
from app.identity.sign_in import entry, second_factor
from app.kit import randomness
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin)(begin)
    server.implements(contract.with_app)(with_app)
    server.implements(contract.with_sms)(with_sms)
    server.implements(contract.with_backup_code)(with_backup_code)
    server.implements(contract.mail_factor_code)(mail_factor_code)
    server.implements(contract.with_factor_mail)(with_factor_mail)
    server.implements(contract.with_answers)(with_answers)
    server.implements(contract.with_duo)(with_duo)
    server.implements(contract.with_password)(with_password)
    server.implements(contract.with_pin)(with_pin)
    server.implements(contract.mail_code)(mail_code)
    server.implements(contract.with_mail)(with_mail)


def begin(call: Call, req: contract.StepUpBegun) -> Challenge:
    """The token of this challenge opens nothing: who proves is known by the access token."""
    _refuse_off(call)
    known = factors.person(call, accounts.own(call))
    kinds = factors.enrolled(call.tenant.settings, known)
    if not kinds:
        raise e.NoSecondFactor
    wanted, wish = Wanted(known, kinds), Wish(req.sms_template_2fa, None, req.is_voice_otp, req.duo_redirect_uri)
    told = telling.challenge(call, wanted, wish) | entry.sent(call, wanted, wish)
    ends = iso(call.now + second_factor.LIFETIME) or ""
    return Challenge(second_factor_authentication_token=randomness.guid(), expire_in=ends, **told)


def with_app(call: Call, req: contract.AppCodeShown) -> ValidationToken:
    return _by_factor(call, FactorKind.TOTP, Answer(code=_given(req.code)), req)


def with_sms(call: Call, req: contract.TextedCodeShown) -> ValidationToken:
    return _by_factor(call, FactorKind.SMS, Answer(code=_given(req.otp)), req)


def with_backup_code(call: Call, req: contract.BackupCodeShown) -> ValidationToken:
    return _by_factor(call, FactorKind.BACKUP_CODE, Answer(code=_given(req.backup_code)), req)


def mail_factor_code(call: Call, req: contract.FactorMail) -> Posted:
    _refuse_off(call)
    known = factors.person(call, accounts.own(call))
    found = factors.authenticator(call, FactorKind.EMAIL)
    if not found.is_enrolled(known):
        raise found.missing
    if not req.email_id:
        raise e.EmailMissing
    found.challenge(call, known, Wish(email=req.email_id, email_template=req.email_template_2fa))
    return Posted()


def with_factor_mail(call: Call, req: contract.MailedCodeShown) -> ValidationToken:
    named = _named("emailid", req.email_id)
    answer = Answer(code=email_code.read(req.otp), email=named)
    return _by_factor(call, FactorKind.EMAIL, answer, req)


def with_answers(call: Call, req: contract.AnswersShown) -> ValidationToken:
    return _by_factor(call, FactorKind.QUESTIONS, Answer(answers=req.by_question), None)


def with_duo(call: Call, req: contract.DuoShown) -> ValidationToken:
    return _by_factor(call, FactorKind.DUO, Answer(code=req.code, state=req.state), None)


def with_password(call: Call, req: contract.PasswordShown) -> ValidationToken:
    account, shown = accounts.own(call), _named("password", req.password)
    check_password(call, account, shown, is_lock_open=open_lock(call, account, req, req))
    return step_up.earned(call, account, Proved.PASSWORD)


def check_password(call: Call, account: Account, shown: str, *, is_lock_open: bool = False) -> None:
    """Compare the account's password, counted before it is weighed; call it before anything is written.

    Raises WrongStepUpPassword, and the refusals of a lock.
    """
    if not is_lock_open:
        proofs.refuse_locked(call, account)
    tried = None if is_lock_open else tries.begin(call, account)
    call.work.pause()
    if not call.hashing.is_match(account.password_hash, shown):
        refusal, attempts = tries.refused(call, account, tried, e.WrongStepUpPassword())
        call.ledger.record("password.refused", uid=account.uid, attempts=attempts)
        raise refusal
    if tried is None:
        gate.forget_failures(call.work, account.uid, is_lock_open=is_lock_open)
    else:
        tries.right(call, account)


def with_pin(call: Call, req: contract.PinShown) -> ValidationToken:
    pins.refuse_off(call.tenant.settings)
    account, shown = accounts.own(call), _named("pin", req.pin)
    is_open = open_lock(call, account, req, req)
    pins.check(call, account, shown, e.WrongPin, is_lock_open=is_open)
    return step_up.earned(call, account, Proved.PIN)


def mail_code(call: Call, req: contract.PlainMail) -> Posted:
    account = accounts.own(call)
    if not req.email_id:
        raise e.EmailMissing
    to = email_code.chosen(account, req.email_id)
    email_code.send(call, account, to, req.email_template, of=ProofKind.STEP_UP_EMAIL)
    return Posted()


def with_mail(call: Call, req: contract.MailedCodeShown) -> ValidationToken:
    account, otp, named = accounts.own(call), _named("otp", req.otp), _named("emailid", req.email_id)
    is_open = open_lock(call, account, req, req)
    try:
        email_code.spend(call, account, otp, named, is_lock_open=is_open, of=ProofKind.STEP_UP_EMAIL)
    except e.WrongMailCode as refusal:
        call.work.rollback()
        raise tries.lock_of(call, account) or refusal from None
    return step_up.earned(call, account, Proved.FACTOR)


def _by_factor(
    call: Call,
    kind: FactorKind,
    answer: Answer,
    req: contract.AppCodeShown | contract.TextedCodeShown | contract.BackupCodeShown | contract.MailedCodeShown | None,
) -> ValidationToken:
    """Use a proof of a factor that is enrolled: nothing is enrolled by it."""
    _refuse_off(call)
    account = accounts.own(call)
    known = factors.person(call, account)
    is_open = open_lock(call, account, req, req) if req is not None else False
    factors.prove(call, known, kind, answer, may_enrol=False, is_lock_open=is_open)
    return step_up.earned(call, account, Proved.FACTOR)


def _refuse_off(call: Call) -> None:
    settings = call.tenant.settings
    if settings.two_factor == "disabled" or not settings.second_factors.step_up:
        raise e.StepUpOff


def _given(code: str | None) -> str:
    if not code:
        raise e.StepUpCodeMissing
    return code


def _named(name: str, value: str | None) -> str:
    if not value:
        raise e.BadParameter.names(name)
    return value
