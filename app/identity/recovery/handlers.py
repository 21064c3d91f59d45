"""The operations that begin a recovery: forgotten passwords by mail and by SMS, and which questions an account answered."""

from __future__ import annotations

import json
from collections.abc import Collection

from app.contract import errors as e
from app.contract import passwords as contract
from app.contract.groups import CAP, Posted, PostedSms, SmsSent
from app.identity.accounts import service as accounts
from app.identity.accounts import sought
from app.identity.accounts.sought import Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.letters import service as letters
from app.identity.proofs import service as proofs
from app.identity.recovery import sending, whom
from app.identity.recovery.sending import Wish
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.limits import Rate
from app.kit.server import Server
from app.kit.wire import Document


def register(server: Server) -> None:
    """Implement the area's operations; those that set a password end and begin sessions, so they are sign-in's."""
    server.implements(contract.forgot)(forgot)
    server.implements(contract.forgot_by_sms)(forgot_by_sms)
    server.implements(contract.forgot_token)(forgot_token)
    server.implements(contract.questions_by_email)(questions_by_email)
    server.implements(contract.questions_by_username)(questions_by_username)
    server.implements(contract.questions_by_phone)(questions_by_phone)
    server.implements(contract.own_questions)(own_questions)


def spend(call: Call) -> None:
    """Spend what asking for a recovery costs this address and this tenant; raises 429."""
    limits = call.tenant.settings.limits
    if limits.forgot_per_minute_per_address:
        call.spend("forgot", Rate(limits.forgot_per_minute_per_address, 60), call.network)
    if limits.forgot_per_minute:
        call.spend("forgot_tenant", Rate(limits.forgot_per_minute, 60))


def refuse_captcha(call: Call, req: CAP, place: str) -> None:
    """Let those pass who solved a captcha, where one is demanded or shown; raises 982, 1218."""
    shown = captcha.of_parameters(req)
    if place in call.tenant.settings.captcha_at or not shown.is_empty:
        captcha.demand(call, shown)


def forgot(call: Call, req: contract.Forgot) -> Posted:
    spend(call)
    who = whom.stated(call, req.email, req.username)
    refuse_captcha(call, req, "forgot_password")
    sending.refuse_url(call, req.reset_password_url)
    whom.refuse_stranger(call, who.holder)
    wish = Wish(url=req.reset_password_url, template=req.email_template)
    account = whom.reached(who, sending.MAIL)
    try:
        if account is None:
            sending.send_to_nobody(call, who.identifier.value, wish)
        else:
            sending.send(call, account, wish, email=req.email)
    except e.MailLimitReached as reason:
        keep_silent(call, who, reason)
    return Posted()


def forgot_by_sms(call: Call, req: contract.ForgotBySms) -> PostedSms:
    spend(call)
    who = whom.with_phone(call, req.phone)
    refuse_captcha(call, req, "forgot_password")
    account = whom.reached(who, sending.SMS)
    if account is not None and not account.phone_verified:
        raise e.PhoneUnverified
    sid = ""
    try:
        sid = sending.text(call, account, req) if account else sending.text_nobody(call, who.identifier.value, req)
    except e.SmsLimitReached as reason:
        keep_silent(call, who, reason)
    return PostedSms(data=SmsSent(account_sid=letters.account_sid(call), sid=sid or f"SM{randomness.uid()}"))


def forgot_token(call: Call, req: contract.ForgotToken) -> contract.ForgotTokenMade:
    """The token is the tenant's server's to bring; it stands in the ledger that it was made for it."""
    account = whom.stated(call, req.email, req.username).holder
    sending.refuse_url(call, req.reset_password_url)
    if account is None:
        raise e.UnknownAccount
    proofs.spend_brought(call, account.uid, is_code=False)
    wish = Wish(url=req.reset_password_url, template=req.email_template, needs_token=True)
    made = sending.send if req.send_email else sending.token_only
    token = made(call, account, wish, email=req.email)
    call.ledger.record("password.token_made", uid=account.uid, mailed=req.send_email)
    return contract.ForgotTokenMade(forgot_token=token, identity_providers=["Email"] if account.password_hash else [])


def questions_by_email(call: Call, req: contract.QuestionsByEmail) -> Document:
    _refuse_lookup(call)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    return _answered(call, whom.named(call, "email", req.email))


def questions_by_username(call: Call, req: contract.QuestionsByUsername) -> Document:
    _refuse_off(call)
    if not req.username:
        raise e.UsernameMissing
    return _answered(call, whom.named(call, "username", req.username))


def questions_by_phone(call: Call, req: contract.QuestionsByPhone) -> Document:
    _refuse_lookup(call)
    if not req.phone:
        raise e.PhoneMissing
    return _answered(call, whom.named(call, "phone", req.phone))


def own_questions(call: Call, req: contract.OwnQuestions) -> Document:
    _refuse_off(call)
    account = accounts.by_uid(call, call.account.uid)
    return _listed(call, account.security_answers if account else ())


def keep_silent(call: Call, who: Sought, reason: ApiError) -> None:
    """Raise why nothing was sent, unless it would tell that somebody was written to before: who has an account is."""
    if not who.is_hidden:
        raise reason
    call.work.rollback()
    uid = who.account.uid if who.account else None
    call.ledger.record("password.forgot_not_sent", uid=uid, reason=type(reason).__name__)


def _refuse_off(call: Call) -> None:
    settings = call.tenant.settings
    if not settings.security_questions:
        raise e.SecurityQuestionsOff
    if most := settings.limits.availability_per_minute_per_address:
        call.spend("security_questions", Rate(most, 60), call.network)


def _refuse_lookup(call: Call) -> None:
    _refuse_off(call)
    if call.tenant.settings.login_kinds == ("username",):
        raise e.UsernameLookupOnly


def _answered(call: Call, who: Sought) -> Document:
    """Where the tenant hides who has an account, everybody seems to have answered some questions."""
    if who.is_hidden:
        return _listed(call, sought.questions_of(call, who))
    if who.account is None:
        raise e.UnknownAccount
    return _listed(call, who.account.security_answers)


def _listed(call: Call, asked: Collection[str]) -> Document:
    questions = call.tenant.settings.security_questions
    listed = [{"QuestionId": name, "Question": text} for name, text in questions.items() if name in asked]
    if not listed:
        raise e.NoSecurityAnswers
    return Document(json.dumps(listed, ensure_ascii=False).encode())
