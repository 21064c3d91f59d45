"""The code that proves a phone number, and the session that it begins (user.md rows U63, U64)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract import phones as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import service as accounts
from app.identity.accounts import sought
from app.identity.accounts.service import Account
from app.identity.accounts.sought import Identifier, Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.proofs import service as proofs
from app.identity.proofs.service import SMS_CODE, ProofKind
from app.identity.sign_in import demands, entry, locks, second_factor, verified
from app.identity.sign_in.second_factor import Pending, Way
from app.identity.verification import numbers, phones
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(contract.verify)(verify)


def verify(call: Call, req: contract.CodeShown) -> contract.PhoneVerified:
    numbers.refuse_off(call)
    numbers.spend(call, "phone_code_try")
    if not req.otp:
        raise e.BadParameter.names("otp")
    if call.holder is not None:
        _prove_own(call, accounts.own(call), req)
        return contract.PhoneVerified(is_posted=True)
    phone = numbers.read(req.phone)
    holder = numbers.whose(call, phone)
    if (found := demands.texted(call, holder.uid if holder is not None else None)) is not None:
        return _gone_on(call, found, phone, req)
    return _signed_in(call, _proved(call, phone, holder, req), req)


def _prove_own(call: Call, account: Account, req: contract.CodeShown) -> None:
    """Whoever is signed in knows the account: what else is kept there stays."""
    if phones.asked(call, account) is not None:
        proof = phones.spend_asked(call, account, req.otp or "")
    elif account.phone is None or account.phone_verified:
        raise e.PhoneVerifiedOrNoToken
    else:
        proof = phones.spend(call, account.uid, account.phone, req.otp or "")
    phones.confirm(call, proof, knows_password=True, is_silent=req.is_silent)


def _proved(call: Call, phone: str, holder: Account | None, req: contract.CodeShown) -> Account:
    hides = call.tenant.settings.hide_unknown_accounts
    who = sought.named(call, Identifier("phone", phone), is_hidden=hides)
    who = replace(who, holder=holder)
    if who.holder is None and not hides:
        raise e.UnknownPhone
    is_open = verified.open_lock(call, who, locks.Proof(req.security_answer, captcha.of_parameters(req)))
    uid = who.holder.uid if who.holder is not None else phones.NOBODY
    proof = phones.spend(call, uid, phone, req.otp or "", is_lock_open=is_open, name=who.identifier if hides else None)
    return phones.confirm(call, proof, is_silent=req.is_silent)


def _gone_on(call: Call, found: Pending, phone: str, req: contract.CodeShown) -> contract.PhoneVerified:
    """End a sign-in that a risk stopped, with the code that was texted for it (interface mfa.md section 9)."""
    hides = call.tenant.settings.hide_unknown_accounts
    who = Sought(call, Identifier("phone", phone), found.account, hides)
    is_open = verified.open_lock(call, who, locks.Proof(req.security_answer, captcha.of_parameters(req)))
    proofs.spend_code(
        call, ProofKind.FACTOR_SMS, found.account.uid, req.otp or "", subject=phone, errors=SMS_CODE, is_lock_open=is_open,
        name=who.identifier if hides else None,
    )  # fmt: skip
    methods = (*found.way.methods, "sms", second_factor.TWO)
    way = replace(found.way, methods=methods, opens_lock=is_open, is_silent=req.is_silent)
    try:
        account = second_factor.finish(call, replace(found, way=way))
    except (e.UnknownFactorToken, e.LockedDuringStep):  # another was quicker
        raise e.ClosedSmsCode from None
    return contract.PhoneVerified.model_construct(**dict(entry.session(call, account, way, req.fields_)))


def _signed_in(call: Call, account: Account, req: contract.CodeShown) -> contract.PhoneVerified:
    """Begin a session, or ask for the second factor; a refusal leaves code and number as they were."""
    login = entry.enter(
        call, account, Way(("sms",), "phone", FactorKind.SMS, is_silent=req.is_silent), fields=req.fields_
    )
    return contract.PhoneVerified.model_construct(**dict(login))
