"""The operations that send verification mails and say whether a name is taken."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import verification as contract
from app.identity.accounts import identifiers, naming, waiting
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.verification import numbers, service
from app.identity.verification.service import Wish
from app.kit import randomness
from app.kit.limits import Rate
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the area's operations; those that use a proof up may begin a session, so they are sign-in's."""
    numbers.register(server)
    server.implements(contract.resend)(resend)
    server.implements(contract.send_own)(send_own)
    server.implements(contract.email_availability)(email_availability)
    server.implements(contract.phone_availability)(phone_availability)
    server.implements(contract.username_availability)(username_availability)


def resend(call: Call, req: contract.MailAgain) -> contract.PostedWithId:
    """Where the tenant hides who has an account, nobody's address is answered as one that waits to be verified."""
    _refuse_off(call)
    _spend(call, "verification_mail", call.tenant.settings.limits.sign_in_per_minute_per_address)
    if not req.email or not accounts.is_email(req.email):
        raise e.MalformedEmail
    service.refuse_url(call, req.verification_url)
    wish = Wish(url=req.verification_url, email_template=req.email_template)
    account = service.account_of(call, req.email)
    if call.tenant.settings.hide_unknown_accounts:
        return _hidden(call, account, req.email, wish)
    if account is None:
        raise e.UnknownAccount
    return _sent(call, account, req.email, wish)


def send_own(call: Call, req: contract.MailOwn) -> contract.PostedWithId:
    _refuse_off(call)
    if call.holder is None:
        raise e.WrongClientGuid if req.client_guid else e.NotAuthenticated
    service.refuse_url(call, req.verification_url)
    account = accounts.by_uid(call, call.holder.uid)
    if account is None or not account.email:
        raise e.NoEmailProfile
    return _sent(call, account, account.email, Wish(url=req.verification_url, email_template=req.email_template))


def email_availability(call: Call, req: contract.EmailAvailability) -> contract.Exist:
    if req.email is None:
        raise e.BadParameter.names("verificationtoken")
    _spend(call, "availability", call.tenant.settings.limits.availability_per_minute_per_address)
    if not accounts.is_email(req.email):
        raise e.MalformedEmail
    return _exist(call, accounts.by_email(call, req.email) is not None)


def phone_availability(call: Call, req: contract.PhoneAvailability) -> contract.Exist:
    if not call.tenant.settings.phone_login:
        raise e.PhoneLoginOff
    _spend(call, "availability", call.tenant.settings.limits.availability_per_minute_per_address)
    if req.phone is None:
        raise e.BadParameter.names("phone")
    if identifiers.normal_phone(req.phone) is None:
        raise e.MalformedPhone
    holder = accounts.by_phone(call, req.phone)
    return _exist(call, holder is not None and not waiting.is_anothers_word(holder))


def username_availability(call: Call, req: contract.UsernameAvailability) -> contract.Exist:
    _spend(call, "availability", call.tenant.settings.limits.availability_per_minute_per_address)
    if not req.username:
        raise e.UsernameMissing
    held = accounts.by_username(call, req.username)
    if held is None or call.tenant.settings.hide_unknown_accounts:
        naming.username(call.tenant.settings, req.username)
    return _exist(call, held is not None)


def _exist(call: Call, is_taken: bool) -> contract.Exist:
    """Say whether a name is taken. Where nobody is to learn who has an account every name is free: the registration then
    answers alike for all, and mails the owner of one that is taken. The look-up is done in either case, as it takes time."""
    return contract.Exist(is_exist=is_taken and not call.tenant.settings.hide_unknown_accounts)


def _sent(call: Call, account: Account, email: str, wish: Wish) -> contract.PostedWithId:
    if service.is_verified(account, email):
        raise e.EmailAlreadyVerified
    return _named(call, service.send(call, account, wish, email=email))


def _hidden(call: Call, account: Account | None, email: str, wish: Wish) -> contract.PostedWithId:
    """A limit that is reached is kept silently: it would tell that somebody was written to before."""
    try:
        if account is None or service.is_verified(account, email):
            return _named(call, service.send_to_nobody(call, email, wish))
        return _sent(call, account, email, wish)
    except e.MailLimitReached:
        call.work.rollback()
        call.ledger.record("verification.not_sent", uid=account.uid if account else None, reason="MailLimitReached")
        return _named(call, randomness.guid())


def _named(call: Call, code_id: str) -> contract.PostedWithId:
    return contract.PostedWithId(UUID=code_id if call.tenant.settings.email_verification_codes else None)


def _refuse_off(call: Call) -> None:
    if call.tenant.settings.email_verification == "disabled":
        raise e.EmailVerificationOff


def _spend(call: Call, what: str, amount: int) -> None:
    if amount:
        call.spend(what, Rate(amount, 60), call.network)
