"""The operations that begin a recovery: forgotten passwords by mail and by SMS, and which questions an account answered."""

from __future__ import annotations

import json

from app.contract import errors as e
from app.contract import passwords as contract
from app.contract.groups import CAP, Posted, PostedSms, SmsSent
from app.identity.accounts import identifiers
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.letters import service as letters
from app.identity.recovery import sending
from app.identity.recovery.sending import Wish
from app.identity.tokens import service as tokens
from app.kit import randomness
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
        call.spend("forgot", Rate(limits.forgot_per_minute_per_address, 60), call.address)
    if limits.forgot_per_minute:
        call.spend("forgot_tenant", Rate(limits.forgot_per_minute, 60))


def refuse_captcha(call: Call, req: CAP, place: str) -> None:
    """Let those pass who solved a captcha, where one is demanded or shown; raises 982, 1218."""
    shown = captcha.of_parameters(req)
    if place in call.tenant.settings.captcha_at or not shown.is_empty:
        captcha.demand(call, shown)


def refuse_stranger(call: Call, account: Account | None) -> None:
    """Raise 1409 where an access token was shown beside the key that is not of this very account."""
    shown = call.raw.bearer() or call.raw.first("access_token")
    if shown is None:
        return
    holder = tokens.find(call, shown)
    if holder is None or holder.expires_at <= call.now or account is None or holder.uid != account.uid:
        raise e.NotAuthenticated


def forgot(call: Call, req: contract.Forgot) -> Posted:
    spend(call)
    account = _named(call, req.email, req.username)
    refuse_captcha(call, req, "forgot_password")
    sending.refuse_url(call, req.reset_password_url)
    refuse_stranger(call, account)
    wish = Wish(url=req.reset_password_url, template=req.email_template)
    if account is None and call.tenant.settings.hide_unknown_accounts:
        sending.send_to_nobody(call, req.email or req.username or "", wish)
        return Posted()
    if account is None:
        raise e.UnknownAccount
    refuse_closed(account)
    sending.send(call, account, wish, email=req.email)
    return Posted()


def forgot_by_sms(call: Call, req: contract.ForgotBySms) -> PostedSms:
    spend(call)
    account = by_phone(call, req.phone)
    refuse_captcha(call, req, "forgot_password")
    if account is None and call.tenant.settings.hide_unknown_accounts:
        sid = sending.text_nobody(call, req.phone or "", req.sms_template)
    elif account is None:
        raise e.UnknownAccount
    else:
        refuse_closed(account)
        if not account.phone_verified:
            raise e.PhoneUnverified
        sid = sending.text(call, account, req.sms_template)
    return PostedSms(data=SmsSent(account_sid=letters.account_sid(call), sid=sid or f"SM{randomness.uid()}"))


def forgot_token(call: Call, req: contract.ForgotToken) -> contract.ForgotTokenMade:
    """The token is the tenant's server's to bring; it stands in the ledger that it was made for it."""
    account = _named(call, req.email, req.username)
    sending.refuse_url(call, req.reset_password_url)
    if account is None:
        raise e.UnknownAccount
    wish = Wish(url=req.reset_password_url, template=req.email_template, needs_token=True)
    made = sending.send if req.send_email else sending.token_only
    token = made(call, account, wish, email=req.email)
    call.ledger.record("password.token_made", uid=account.uid, mailed=req.send_email)
    return contract.ForgotTokenMade(forgot_token=token, identity_providers=["Email"] if account.password_hash else [])


def questions_by_email(call: Call, req: contract.QuestionsByEmail) -> Document:
    _refuse_lookup(call)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    return _answered(call, accounts.by_email(call, req.email))


def questions_by_username(call: Call, req: contract.QuestionsByUsername) -> Document:
    _refuse_off(call)
    if not req.username:
        raise e.UsernameMissing
    return _answered(call, accounts.by_username(call, req.username))


def questions_by_phone(call: Call, req: contract.QuestionsByPhone) -> Document:
    _refuse_lookup(call)
    if not req.phone:
        raise e.PhoneMissing
    return _answered(call, accounts.by_phone(call, req.phone))


def own_questions(call: Call, req: contract.OwnQuestions) -> Document:
    _refuse_off(call)
    return _listed(call, accounts.by_uid(call, call.account.uid))


def by_phone(call: Call, phone: str | None) -> Account | None:
    """Return the account of a phone number; raises 1074 where numbers name nobody, 1076 missing, 1043 malformed."""
    if not call.tenant.settings.phone_login:
        raise e.PhoneLoginOff
    if not phone:
        raise e.PhoneMissing
    if identifiers.normal_phone(phone) is None:
        raise e.UnknownPhone
    return accounts.by_phone(call, phone)


def refuse_closed(account: Account) -> None:
    """Raise 991 for an account that may not recover: blocked or deleted."""
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked


def _named(call: Call, email: str | None, username: str | None) -> Account | None:
    """Return the account of an email or a username; raises 1141 for none, 1075 and 1038 for one that is no name, 908 for both."""
    if email and username:
        raise e.BadParameter("The username must not stand beside email: exactly one identifier is expected.")
    if email:
        if not accounts.is_email(email):
            raise e.MalformedEmail
        return accounts.by_email(call, email)
    if username is not None and not username.strip():
        raise e.UsernameMissing
    if username is None:
        raise e.EmailOrUsernameMissing
    return accounts.by_username(call, username)


def _refuse_off(call: Call) -> None:
    settings = call.tenant.settings
    if not settings.security_questions:
        raise e.SecurityQuestionsOff
    if most := settings.limits.availability_per_minute_per_address:
        call.spend("security_questions", Rate(most, 60), call.address)


def _refuse_lookup(call: Call) -> None:
    _refuse_off(call)
    if call.tenant.settings.login_kinds == ("username",):
        raise e.UsernameLookupOnly


def _answered(call: Call, account: Account | None) -> Document:
    """Where the tenant hides who has an account, everybody unknown seems to have answered nothing."""
    if account is None:
        raise e.NoSecurityAnswers if call.tenant.settings.hide_unknown_accounts else e.UnknownAccount
    return _listed(call, account)


def _listed(call: Call, account: Account | None) -> Document:
    answered = account.security_answers if account else {}
    questions = call.tenant.settings.security_questions
    listed = [{"QuestionId": name, "Question": text} for name, text in questions.items() if name in answered]
    if not listed:
        raise e.NoSecurityAnswers
    return Document(json.dumps(listed, ensure_ascii=False).encode())
