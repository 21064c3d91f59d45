"""Operations that set a new password with a proof of the account: a link, a code, answers. Every session and token ends."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import passwords as contract
from app.contract.profile import Profile
from app.contract.sign_in import Login
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.passwords import answers
from app.identity.proofs import service as proofs
from app.identity.proofs.service import MAIL_CODE, SMS_CODE, CodeErrors, Proof, ProofKind
from app.identity.recovery import renewal, sending
from app.identity.recovery.handlers import by_phone, refuse_captcha, refuse_closed, refuse_stranger
from app.identity.sign_in import locks, service, sessions
from app.identity.sign_in.identifiers import Identifier
from app.identity.sign_in.sought import Sought
from app.identity.tokens import service as tokens
from app.kit.clock import iso
from app.kit.errors import ApiError
from app.kit.limits import Rate
from app.kit.server import Server

EVENT = "ResetPassword"
RESET = ProofKind.RESET_PASSWORD


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.reset)(reset)
    server.implements(contract.reset_by_sms)(reset_by_sms)
    server.implements(contract.reset_by_answer)(reset_by_answer)


def spend(call: Call) -> None:
    """Spend what a try at a new password costs this address; raises 429."""
    if most := call.tenant.settings.limits.reset_per_minute_per_address:
        call.spend("reset", Rate(most, 60), call.address)


def reset(call: Call, req: contract.Reset) -> contract.PasswordReset:
    spend(call)
    if req.otp is None and req.email is None and req.username is None:
        return _by_link(call, req)
    name, otp, password = _named(req)
    if req.email is not None and not accounts.is_email(name):
        raise e.MalformedEmail
    account = accounts.by_email(call, name) if req.email is not None else accounts.by_username(call, name)
    refuse_stranger(call, account)
    if account is None:
        raise _unknown(call, name, otp, MAIL_CODE)
    refuse_closed(account)
    if account.password_hash is None:
        raise e.NoEmailProfile
    proof, is_open = checked(call, account, otp, sending.MAIL, MAIL_CODE, _shown(req))
    return _posted(call, with_code(call, account, proof, password, MAIL_CODE, req, is_open=is_open))


def reset_by_sms(call: Call, req: contract.ResetBySms) -> contract.PasswordReset:
    spend(call)
    account = by_phone(call, req.phone)
    otp, password = _given("otp", req.otp), _given("password", req.password)
    if account is None:
        raise _unknown(call, req.phone or "", otp, SMS_CODE)
    refuse_closed(account)
    if account.password_hash is None:
        raise e.NoEmailProfile
    proof, is_open = checked(call, account, otp, sending.SMS, SMS_CODE, _shown(req))
    return _posted(call, with_code(call, account, proof, password, SMS_CODE, req, is_open=is_open))


def reset_by_answer(call: Call, req: contract.ResetByAnswer) -> contract.PasswordReset:
    """Every question that the account answered must be answered; tries have a limit of their own, right ones included."""
    settings = call.tenant.settings
    if not settings.security_questions:
        raise e.SecurityQuestionsOff
    password, shown = _given("password", req.password), req.security_answer
    if not shown:
        raise e.BadParameter.names("securityanswer")
    spend(call)
    refuse_captcha(call, req, "forgot_password")
    account = _one_of(call, req)
    refuse_closed(account)
    if not account.security_answers:
        raise e.NoSecurityAnswers
    lockout = settings.lockout
    call.spend("reset_by_answer", Rate(lockout.security_answer_attempts, lockout.suspend_seconds), account.uid)
    call.work.pause()
    if not answers.check(call, account.security_answers, shown):
        call.ledger.record("password.reset_refused", uid=account.uid, reason="security answer")
        raise e.WrongSecurityAnswer if len(shown) == 1 else e.WrongQuestionOrAnswer
    if set(shown) < set(account.security_answers):
        raise e.WrongQuestionOrAnswer("Every question that the account answered must be answered.")
    hashed = renewal.weighed(call, account, password)
    fresh = renewal.locked(call, account)
    return _posted(
        call, renew(call, fresh, hashed, is_silent=req.is_silent, template=req.reset_password_email_template)
    )


def checked(
    call: Call, account: Account, code: str, subject: str, errors: CodeErrors, shown: locks.Proof
) -> tuple[Proof, bool]:
    """Return what a code stands for, and whether it opened a lock; the code stays unused.

    Raises:
        the refusals of a lock, of its answer, and of the code.
        LockedDuringStep: 1264, this very try locked the account without an end.
    """
    lock = locks.of_account(account)
    is_open = lock is not None and _open(call, account, lock, shown)
    try:
        return proofs.check_code(
            call, RESET, account.uid, code, subject=subject, errors=errors, is_lock_open=is_open
        ), is_open
    except errors.wrong:
        present = accounts.by_uid(call, account.uid)
        if lock is None and present is not None and present.is_locked_now and present.locked_until is None:
            raise e.LockedDuringStep from None
        raise


def with_code(
    call: Call,
    account: Account,
    proof: Proof,
    password: str,
    errors: CodeErrors,
    req: contract.Reset | contract.ResetBySms,
    *,
    is_open: bool,
) -> Account:
    """Use a code that was found good for a new password; a refused password leaves it unused."""
    hashed = renewal.weighed(call, account, password)
    try:
        fresh = renewal.locked(call, account, proof)
    except e.ExpiredLink:
        raise errors.closed from None
    proofs.spend_checked(call, proof, errors=errors, is_lock_open=is_open)
    return renew(
        call, fresh, hashed, is_silent=req.is_silent, template=req.reset_password_email_template,
        proved_email=proof.facts.get("email"), opens_lock=True,
    )  # fmt: skip


def with_link(
    call: Call, token: str, password: str, *, is_silent: bool = False, template: str | None = None
) -> tuple[Account, Proof]:
    """Use a link for a new password; a refused password leaves it unused. Of many at once one wins.

    A link opens what failures had locked: it cannot be guessed, and who holds it holds the mailbox. It opens no block.

    Raises UnknownLink, UsedLink, ExpiredLink, AccountBlocked and the refusals of the policy.
    """
    peeked = proofs.peek_link(call, RESET, token)
    account = accounts.by_uid(call, peeked.uid)
    refuse_stranger(call, account)
    if account is None:
        raise e.UnknownLink
    refuse_closed(account)
    hashed = renewal.weighed(call, account, password)
    fresh = renewal.locked(call, account, peeked)
    proof = proofs.spend_link(call, RESET, token)
    after = renew(
        call,
        fresh,
        hashed,
        is_silent=is_silent,
        template=template,
        proved_email=proof.facts.get("email"),
        opens_lock=True,
    )
    return after, proof


def renew(
    call: Call,
    fresh: Account,
    password_hash: str,
    *,
    is_silent: bool = False,
    template: str | None = None,
    proved_email: str | None = None,
    opens_lock: bool = False,
) -> Account:
    """Write the new password of an account that is locked, and end every session and token of it."""
    after = renewal.write(
        call, fresh, password_hash, is_silent=is_silent, event=EVENT, proved_email=proved_email, opens_lock=opens_lock,
        template=template,
    )  # fmt: skip
    end_everything(call, after)
    return after


def end_everything(
    call: Call, account: Account, *, except_session: str | None = None, except_token: str | None = None
) -> None:
    """End the account's sessions and tokens, but for those of who changed the password."""
    sessions.end_all(call, account.uid, except_session)
    tokens.revoke_all(call, account.uid, except_session, except_token)
    call.ledger.record("sessions.ended", uid=account.uid, reason="password")


def _by_link(call: Call, req: contract.Reset) -> contract.PasswordReset:
    if not req.reset_token and not req.password:
        raise e.BadParameter("The password and resettoken are required parameters.")
    token, password = _given("resettoken", req.reset_token), _given("password", req.password)
    after, _ = with_link(call, token, password, is_silent=req.is_silent, template=req.reset_password_email_template)
    return _posted(call, after)


def _named(req: contract.Reset) -> tuple[str, str, str]:
    """Return the name, the code and the password of a reset by code; raises 1189, 1032, 1075, 908."""
    if req.email is None and req.username is None:
        raise e.EmailOrPhoneMissing
    if req.email is not None and req.username is not None:
        raise e.BadParameter("The username must not stand beside email: exactly one identifier is expected.")
    if req.email is not None and not req.email.strip():
        raise e.EmailMissing
    if req.username is not None and not req.username.strip():
        raise e.UsernameMissing
    return req.email or req.username or "", _given("otp", req.otp), _given("password", req.password)


def _given(name: str, value: str | None) -> str:
    if not value:
        raise e.BadParameter.names(name)
    return value


def _shown(req: contract.Reset | contract.ResetBySms) -> locks.Proof:
    return locks.Proof(req.security_answer, captcha.of_parameters(req))


def _unknown(call: Call, name: str, otp: str, errors: CodeErrors) -> ApiError:
    """Return the refusal of a name that nobody has: a wrong code, at its price, where the tenant hides that."""
    if not call.tenant.settings.hide_unknown_accounts:
        return e.UnknownAccount()
    try:
        proofs.check_code(call, RESET, sending.NOBODY, otp, subject=sending.stranger(name), errors=errors)
    except errors.all as refusal:
        return refusal
    return errors.wrong()


def _one_of(call: Call, req: contract.ResetByAnswer) -> Account:
    given = [kind for kind in ("email", "username", "phone") if getattr(req, kind)]
    if len(given) != 1:
        raise e.BadParameter.names("email") if not given else e.BadParameter("Exactly one identifier is expected.")
    if req.email and not accounts.is_email(req.email):
        raise e.MalformedEmail
    find = {"email": accounts.by_email, "username": accounts.by_username, "phone": accounts.by_phone}[given[0]]
    account = find(call, getattr(req, given[0]))
    if account is None:
        raise e.NoSecurityAnswers if call.tenant.settings.hide_unknown_accounts else e.UnknownAccount
    return account


def _open(call: Call, account: Account, lock: locks.Lock, shown: locks.Proof) -> bool:
    """Return that the lock is open; raises the lock's refusal. One wrong answer is told as such, one of several is not."""
    hides = call.tenant.settings.hide_unknown_accounts
    who = Sought(call, Identifier("email", account.email or account.username or ""), account, is_hidden=hides)
    call.work.pause()
    if locks.open(call, who, lock, shown):
        return True
    with call.work.apart() as own:
        gate.count_failure(own, account.uid, call.tenant.settings.lockout, call.now)
    is_one = len(shown.security_answer or {}) == 1 and not hides
    raise locks.told(call, who, lock, e.WrongSecurityAnswer() if is_one else e.WrongQuestionOrAnswer())


def _posted(call: Call, account: Account) -> contract.PasswordReset:
    """Sign in where the tenant does so; whatever else a sign-in demands is demanded here, a second factor included."""
    settings = call.tenant.settings
    if not settings.login_on_password_reset or settings.two_factor == "required" or not service.enter(call, account):
        return contract.PasswordReset()
    issued = service.issue(call, account)
    session = Login(
        profile=Profile.of(accounts.signed_in_profile(call, account)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
    )
    return contract.PasswordReset(data=session)
