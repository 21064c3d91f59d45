"""The operations of phone numbers that need no session of their own (user.md rows U62, U65, U66)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import phones as contract
from app.contract.groups import Deleted, PostedSms, SmsSent
from app.identity.accounts import identifiers, waiting
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.letters import service as letters
from app.identity.letters.service import TextWish
from app.identity.verification import phones
from app.kit import randomness
from app.kit.limits import Rate
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations; to prove a number may begin a session, so it is sign-in's."""
    server.implements(contract.send_code)(send_code)
    server.implements(contract.change)(change)
    server.implements(contract.remove)(remove)


def send_code(call: Call, req: contract.CodeWanted) -> PostedSms:
    """Without an access token for the account that has the number; with one for the number that its account gave last."""
    refuse_off(call)
    spend(call, "phone_code")
    phone = read(req.phone)
    if call.holder is not None:
        return _sent(call, _again(call, phone, req))
    account = whose(call, phone)
    if call.tenant.settings.hide_unknown_accounts:
        return _sent(call, _quietly(call, account, phone, req))
    if account is None:
        raise e.UnknownAccount
    if not account.is_active or account.is_deleted:
        raise e.AccountBlocked
    if account.phone_verified:
        raise e.PhoneVerifiedBefore
    return _sent(call, phones.send(call, account.uid, phone, account, req))


def change(call: Call, req: contract.NewPhone) -> PostedSms:
    refuse_off(call)
    account = accounts.own(call)
    if not req.phone:
        raise e.BadParameter.names("phone")
    phone = identifiers.normal_phone(req.phone)
    if phone is None:
        raise e.MalformedPhone
    hides = call.tenant.settings.hide_unknown_accounts
    return _sent(call, phones.ask(call, account, phone, req, hides_taken=hides))


def remove(call: Call, req: contract.OldPhone) -> Deleted:
    refuse_off(call)
    phones.remove(call, accounts.own(call), is_silent=req.is_silent)
    return Deleted()


def refuse_off(call: Call) -> None:
    """Raise 1074 where numbers name nobody."""
    if not call.tenant.settings.phone_login:
        raise e.PhoneLoginOff


def whose(call: Call, phone: str) -> Account | None:
    """Return the account for which a code alone proves a number: the one that has it, unless somebody else may be using that.

    Who holds the number need not be who uses the account that states it, where somebody signs in there already, or proved an
    address that they registered with. A code alone would lead them into the other's account. Whoever registers with the
    number then waits, and is the one; where several registered, nobody is: our pages know which registration is whose.
    """
    holder = accounts.by_phone(call, phone)
    is_stated = holder is not None and not holder.phone_verified
    if holder is not None and waiting.is_anothers_word(holder):
        return waiting.alone(call, phone)
    hides = call.tenant.settings.hide_unknown_accounts
    is_contested = (is_stated or hides) and waiting.is_contested(
        call, phone
    )  # asked of every number: it takes its time
    return None if is_stated and is_contested else holder


def read(typed: str | None) -> str:
    """Return the number of an account that a request names; raises 908 missing, 1043 malformed."""
    if not typed:
        raise e.BadParameter.names("phone")
    phone = identifiers.normal_phone(typed)
    if phone is None:
        raise e.UnknownPhone
    return phone


def spend(call: Call, what: str) -> None:
    """Take one from what an address may ask in a minute; raises TooManyRequests."""
    if most := call.tenant.settings.limits.sign_in_per_minute_per_address:
        call.spend(what, Rate(most, 60), call.network)


def _again(call: Call, phone: str, wish: TextWish) -> str:
    account = accounts.own(call)
    if phone == phones.asked(call, account):
        return phones.ask(call, account, phone, wish, hides_taken=call.tenant.settings.hide_unknown_accounts)
    if phone != account.phone:
        raise e.UnknownPhone
    if account.phone_verified:
        raise e.PhoneVerifiedOrNoToken
    return phones.send(call, account.uid, phone, account, wish)


def _quietly(call: Call, account: Account | None, phone: str, wish: TextWish) -> str:
    """Text a code to a number that waits for its proof, to no other; what a limit keeps back is answered as sent, as it would
    tell that somebody was written to before. Returns the message's Sid.
    """
    waits = account is not None and not account.phone_verified and account.is_active and not account.is_deleted
    try:
        if account is not None and waits:
            return phones.send(call, account.uid, phone, account, wish)
        return phones.send_to_nobody(call, phone, wish)
    except e.SmsLimitReached as reason:
        call.work.rollback()
        call.ledger.record("verification.not_sent", uid=account.uid if account else None, reason=type(reason).__name__)
        return ""


def _sent(call: Call, sid: str) -> PostedSms:
    """Answer alike, whether a message went out or not."""
    return PostedSms(data=SmsSent(account_sid=letters.account_sid(call), sid=sid or f"SM{randomness.uid()}"))
