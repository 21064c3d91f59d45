"""Operations that use up what was mailed to verify an address, and what follows: sessions end, or one begins."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import verification as contract
from app.contract.second_factors.challenge import FactorKind
from app.identity.accounts import identifiers as names
from app.identity.accounts import service as accounts
from app.identity.accounts import sought, waiting
from app.identity.accounts.identifiers import EMAIL
from app.identity.accounts.service import Account
from app.identity.accounts.sought import Identifier, Sought
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.proofs import service as proofs
from app.identity.proofs.service import MAIL_CODE, Proof, ProofKind
from app.identity.sign_in import entry, locks, sessions
from app.identity.sign_in.second_factor import Way
from app.identity.tokens import service as tokens
from app.identity.verification import service as verification
from app.kit.errors import ApiError
from app.kit.limits import Rate
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.by_link)(by_link)
    server.implements(contract.by_code)(by_code)


def by_link(call: Call, req: contract.VerifyByLink) -> contract.Verified:
    """A HEAD request, which scanners of mail send, uses nothing up."""
    shown = locks.Proof()
    if not req.verification_token:
        proof = _spend_code(call, req.otp or "", req.email, req.uuid, shown)
    elif not proofs.has_link_form(req.verification_token):
        raise e.WrongVerificationLink
    elif call.raw.method == "HEAD":
        verification.peek(call, req.verification_token)
        return contract.Verified()
    else:
        _refuse_contested(call, verification.peek(call, req.verification_token), e.ClosedLink)
        proof = verification.spend_link(call, req.verification_token)
    return _verified(call, proof, req)


def by_code(call: Call, req: contract.VerifyByCode) -> contract.Verified:
    shown = locks.Proof(req.security_answer, captcha.of_parameters(req))
    return _verified(call, _spend_code(call, req.otp, req.email, req.uuid, shown), req)


def end_sessions(call: Call, account: Account) -> None:
    """End every session of the account, where the tenant wants that when an address is verified."""
    if call.tenant.settings.logout_on_email_verification:
        sessions.end_all(call, account.uid)
        tokens.revoke_all(call, account.uid)
        call.ledger.record("sessions.ended", uid=account.uid, reason="email verified")


def _spend_code(call: Call, code: str, email: str | None, code_id: str | None, shown: locks.Proof) -> Proof:
    settings = call.tenant.settings
    if not settings.email_verification_codes:
        raise e.EmailCodesOff
    if not email and not code_id:
        raise e.BadParameter.names("email")
    if most := settings.limits.sign_in_per_minute_per_address:
        call.spend("verification_code", Rate(most, 60), call.network)
    sent = proofs.named_code(call, ProofKind.EMAIL, code_id) if code_id else None
    address = sent.subject if sent else (email or "")
    if not sent and email and not accounts.is_email(email):
        raise e.MalformedEmail
    hides = settings.hide_unknown_accounts
    who = Sought(call, Identifier("email", address), verification.account_of(call, address), hides)
    uid = sent.uid if sent else _waiting_uid(who)
    if uid is None or (who.holder is None and not hides):
        raise e.UnknownAccount if email else e.WrongMailCode
    is_open, subject = open_lock(call, who, shown), names.normal(EMAIL, address)
    kind = sent.kind if sent else proofs.kind_of_code(call, verification.KINDS, uid, subject)
    proof = proofs.check_code(
        call, kind, uid, code, subject=subject, errors=MAIL_CODE, is_lock_open=is_open,
        name=who.identifier if hides else None,
    )  # fmt: skip
    _refuse_contested(call, proof, e.ClosedMailCode)
    proofs.spend_checked(call, proof, errors=MAIL_CODE, is_lock_open=is_open)
    return proof


def _refuse_contested(call: Call, proof: Proof, refusal: type[ApiError]) -> None:
    """Refuse, and use nothing up, where more than one registered with the address: only our page asks whose password it is."""
    if proof.kind is ProofKind.EMAIL and waiting.is_contested(call, proof.subject):
        call.ledger.record("verification.refused", uid=proof.uid, reason="contested")
        raise refusal


def _waiting_uid(who: Sought) -> str | None:
    """Return under which id an address waits for its proof: nobody's, where nothing waits and that is hidden."""
    account = who.holder
    if who.is_hidden and (account is None or verification.is_verified(account, who.identifier.value)):
        return proofs.NOBODY
    return account.uid if account else None


def open_lock(call: Call, who: Sought, shown: locks.Proof) -> bool:
    """Return whether a lock was just opened; raises the lock's refusal, or that of a wrong answer."""
    lock = sought.lock_of(call, who)
    if lock is None:
        return False
    call.work.pause()
    if not locks.open(call, who, lock, shown):
        raise locks.told(call, who, lock, e.WrongQuestionOrAnswer())
    return True


def _verified(call: Call, proof: Proof, req: contract.VerifyByLink | contract.VerifyByCode) -> contract.Verified:
    account = verification.confirm(call, proof, is_silent=req.is_silent, template=req.welcome_email_template)
    end_sessions(call, account)
    way = Way(("otp",), channel=FactorKind.EMAIL, is_silent=req.is_silent)
    if not call.tenant.settings.login_on_email_verification or not entry.alone(call, account, way):
        return contract.Verified()
    return contract.Verified(data=entry.plain(entry.session(call, account, way, req.fields_)))
