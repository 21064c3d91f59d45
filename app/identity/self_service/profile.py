"""People change their profile and what they are known by (interface user.md rows U16, U17, U22)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.groups import NO_SMS
from app.contract.profile import Write
from app.contract.self_service import OwnChanges
from app.identity.accounts import editing, naming, policies
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.recovery import renewal
from app.identity.registration import demands, links
from app.identity.self_service import changing
from app.identity.self_service.changing import Changed, Wanted
from app.identity.sign_in import sessions
from app.identity.tasks import events
from app.identity.tokens import service as tokens
from app.identity.verification import notices, phones
from app.identity.verification import service as verification
from app.identity.verification.service import Wish

WRITERS = frozenset({Write.ANYONE})


def update(call: Call, account: Account, req: OwnChanges, *, session_id: str | None = None) -> Account:
    """Change an account as its owner says, and return it as it is then.

    Args:
        session_id: the browser session that goes on where the password changes.

    Raises:
        PrivacyPolicyOutdated: the present privacy policy is not accepted yet.
        FieldsRefused: what breaks a rule of the tenant's form, or empties a field that it requires.
        SecurityQuestionsOff: the tenant asks none.
        UnknownRecord, MalformedRecord, RecordCodeMissing, WrongRecordCode: a link to one of the tenant's lists.
        NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached: the code for a first number could not be sent.
        UnknownSecurityQuestion: it is none of the tenant's, or, once there are answers, none that was answered.
        EmailRefused, EmailDomainRefused, TooYoung: the tenant does not want that.
        VerificationUrlRefused: the page is not on the tenant's whitelist.
    """
    settings = call.tenant.settings
    if policies.must_accept(settings.privacy_policy, account, call.now):
        raise e.PrivacyPolicyOutdated
    verification.refuse_url(call, req.verification_url)
    _refuse_answers(call, account, req.security_question_answer)
    demands.refuse_edits(settings, req, clears=req.null_support)
    links.refuse(call, req.free, account.profile)
    wanted = changing.read(call, account, req, req, writers=WRITERS, clears=req.null_support, is_own=True)
    if wanted.addresses and len(wanted.addresses.forms) > naming.MOST_EMAILS:
        raise e.EmailUpdateRefused
    for form in wanted.addresses.forms if wanted.addresses else ():
        demands.refuse_address(settings.email_access, form)
    demands.refuse_age(call, wanted.edits.stated.get("BirthDate"))
    changed = _written(call, account, wanted)
    _follow_up(call, changed, req, session_id)
    events.emit(call, "UpdateProfile", changed.after, req.is_silent)
    return changed.after


def set_username(call: Call, account: Account, username: str | None, *, is_silent: bool = False) -> Account:
    """Give an account a username, or another one; its owner is told by mail.

    Raises UsernameMissing, MalformedUsername, UsernameFormatRefused, UsernameTaken.
    """
    if not username:
        raise e.UsernameMissing
    wanted = Wanted(editing.Edits(), username=naming.username(call.tenant.settings, username, account.username))
    changed = _written(call, account, wanted)
    notices.tell_changes(call, changed.before, changed.after)
    events.emit(call, "UpdateProfile", changed.after, is_silent)
    return changed.after


def _written(call: Call, account: Account, wanted: Wanted) -> Changed:
    """Write the change; raises NotAuthenticated where the account is gone in this very moment, and with it who asks."""
    try:
        return changing.write(call, account.uid, wanted)
    except e.UnknownUid:
        raise e.NotAuthenticated from None


def _refuse_answers(call: Call, account: Account, answers: dict[str, str] | None) -> None:
    if not answers:
        return
    if not call.tenant.settings.security_questions:
        raise e.SecurityQuestionsOff
    held = account.security_answers
    if held and any(question not in held for question in answers):
        raise e.UnknownSecurityQuestion
    if any(not text.strip() for text in answers.values()):
        raise e.BadParameter("The SecurityQuestionAnswer must not be empty.")


def _follow_up(call: Call, changed: Changed, req: OwnChanges, session_id: str | None) -> None:
    """Do what the change asks for: mails, and the end of other sessions after a new password."""
    before, after = changed.before, changed.after
    if changed.has_new_password:
        keep = session_id or (call.holder.session_id if call.holder else None)
        sessions.end_all(call, after.uid, keep)
        tokens.revoke_all(call, after.uid, keep, call.holder.token_hash if call.holder else None)
        call.ledger.record("sessions.ended", uid=after.uid, reason="password")
        renewal.follow(call, after, "UpdateProfile")
    wish = Wish(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
    )
    if before.email is None and req.email:
        verification.send_to_waiting(call, after, wish)
    is_first_number = before.phone is None and after.phone is not None and call.tenant.settings.phone_login
    if is_first_number and after.phone and not req.has_option(NO_SMS):
        phones.send(call, after.uid, after.phone, after, wish)
    notices.tell_changes(call, changed.before, changed.after)
