"""An account's owner changes its profile and its username (interface user.md operations U16, U17, U22)."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.groups import NO_SMS
from app.contract.profile import Write
from app.contract.self_service import UpdateOwnAccount
from app.identity.authentication.recovery import new_password
from app.identity.authentication.registration import registration_data, requirements
from app.identity.authentication.sign_in.password_reset import end_sessions_and_tokens
from app.identity.authentication.verification import phones
from app.identity.authentication.verification import service as verification
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.credentials import notifications
from app.identity.directory.accounts import input_checks, privacy_policy, profile_edits
from app.identity.directory.accounts.service import Account
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.programs.self_service import account_changes
from app.identity.programs.self_service.account_changes import AccountChange, ChangedAccount

WRITERS = frozenset({Write.ANYONE})


def update(context: Context, account: Account, req: UpdateOwnAccount, *, session_id: str | None = None) -> Account:
    """Change an account on behalf of its owner; return the changed account.

    Args:
        session_id: the browser session that survives a password change.

    Raises:
        PrivacyPolicyOutdated: the current privacy policy is not accepted yet.
        FieldsRefused: a value breaks a rule of the tenant's form, or empties a required field.
        SecurityQuestionsOff: the tenant has none.
        UnknownRecord, MalformedRecord, RecordCodeMissing, WrongRecordCode: a link to one of the tenant's lists.
        NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached: the code for a first number could not be sent.
        UnknownSecurityQuestion: not one of the tenant's or, once the account has answers, not an answered one.
        EmailRefused, EmailDomainRefused, TooYoung: the tenant's settings refuse it.
        VerificationUrlRefused: the page is not on the tenant's allow list.
    """
    settings = context.tenant.settings
    if privacy_policy.must_accept(settings.privacy_policy, account, context.now):
        raise e.PrivacyPolicyOutdated
    verification.refuse_url(context, req.verification_url)
    _refuse_answers(context, account, req.security_question_answer)
    requirements.refuse_edits(settings, req, clears=req.null_support)
    registration_data.refuse_invalid_links(context, req.free, account.profile)
    change = account_changes.read(context, account, req, req, writers=WRITERS, clears=req.null_support, is_own=True)
    if change.addresses and len(change.addresses.forms) > input_checks.MAX_EMAILS:
        raise e.EmailUpdateRefused
    for form in change.addresses.forms if change.addresses else ():
        requirements.refuse_address(settings.email_access, form)
    requirements.refuse_age(context, change.edits.assigned.get("BirthDate"))
    changed = _write(context, account, change)
    _follow_up(context, changed, req, session_id)
    events.emit(context, "UpdateProfile", changed.after, req.suppress_webhook)
    return changed.after


def set_username(
    context: Context, account: Account, username: str | None, *, suppress_webhook: bool = False
) -> Account:
    """Set the account's username; the owner gets an email.

    Raises UsernameMissing, MalformedUsername, UsernameFormatRefused, UsernameTaken.
    """
    if not username:
        raise e.UsernameMissing
    change = AccountChange(
        profile_edits.Edits(), username=input_checks.username(context.tenant.settings, username, account.username)
    )
    changed = _write(context, account, change)
    notifications.notify_profile_changes(context, changed.before, changed.after)
    events.emit(context, "UpdateProfile", changed.after, suppress_webhook)
    return changed.after


def _write(context: Context, account: Account, change: AccountChange) -> ChangedAccount:
    """Write the change; raises NotAuthenticated where the account was deleted meanwhile."""
    try:
        return account_changes.write(context, account.uid, change)
    except e.UnknownUid:
        raise e.NotAuthenticated from None


def _refuse_answers(context: Context, account: Account, answers: dict[str, str] | None) -> None:
    if not answers:
        return
    if not context.tenant.settings.security_questions:
        raise e.SecurityQuestionsOff
    held = account.security_answers
    if held and any(question not in held for question in answers):
        raise e.UnknownSecurityQuestion
    if any(not text.strip() for text in answers.values()):
        raise e.BadParameter("The SecurityQuestionAnswer must not be empty.")


def _follow_up(context: Context, changed: ChangedAccount, req: UpdateOwnAccount, session_id: str | None) -> None:
    """Send the emails of the change, and end other sessions after a new password."""
    before, after = changed.before, changed.after
    if changed.has_new_password:
        keep = session_id or (context.holder.session_id if context.holder else None)
        token_hash = context.holder.token_hash if context.holder else None
        end_sessions_and_tokens(context, after, except_session=keep, except_token=token_hash)
        new_password.after_change(context, after, "UpdateProfile")
    options = VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
    )
    if before.email is None and req.email:
        verification.send_to_pending_addresses(context, after, options)
    is_first_number = before.phone is None and after.phone is not None and context.tenant.settings.phone_login
    if is_first_number and after.phone and not req.has_option(NO_SMS):
        phones.send(context, after.uid, after.phone, after, options)
    notifications.notify_profile_changes(context, changed.before, changed.after)
