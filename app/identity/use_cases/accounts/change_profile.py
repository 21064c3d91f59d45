"""An account's owner changes its profile and its username."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts.self_service_operations import UpdateOwnAccount
from app.contract.profile import Write
from app.contract.shared_parameters import PREVENT_SMS
from app.identity.authentication.recovery import new_password, password_reset
from app.identity.authentication.registration import registration_data, requirements
from app.identity.authentication.sign_in.sessions.revocation import end_sessions_and_tokens
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import current_password, notifications
from app.identity.credentials.ldap import ldap_directories
from app.identity.directory.accounts import input_checks, privacy_policy
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes.checked_update import ChangedAccount, CheckedUpdate
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.accounts.profile import profile_edits
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import account_update

WRITERS = frozenset({Write.ANYONE})


def update(
    context: Context,
    account: Account,
    req: UpdateOwnAccount,
    *,
    session_id: str | None = None,
    has_reauthenticated: bool = False,
) -> Account:
    """Change an account on behalf of its owner; return the changed account.

    Args:
        session_id: the browser session that survives a password change.
        has_reauthenticated: the owner authenticated just now, and so need not send the password again.

    Raises:
        PrivacyPolicyOutdated: the current privacy policy is not accepted yet.
        FieldsRefused: a value breaks a rule of the tenant's form, or empties a required field.
        SecurityQuestionsOff: the tenant has none.
        UnknownRecord, MalformedRecord, RecordCodeMissing, WrongRecordCode: a link to one of the tenant's lists.
        WrongCurrentPassword: a new credential without the password that the account has; or the refusal of a lock.
        PhoneLoginOff, PhoneTaken, NoSmsConfiguration, SmsLimitReached, SharedSmsLimitReached: of another number.
        UnknownSecurityQuestion: not one of the tenant's or, once the account has answers, not an answered one.
        EmailRefused, EmailDomainRefused, TooYoung: the tenant's settings refuse it.
        VerificationUrlRefused: the page is not on the tenant's allow list.
    """
    settings = context.tenant.settings
    if privacy_policy.must_accept(settings.privacy_policy, account, context.now):
        raise errors.PrivacyPolicyOutdated
    email_verification.refuse_url(context, req.verification_url)
    input_checks.refuse_own_answers(settings, account.security_answers, req.security_question_answer)
    requirements.refuse_edits(settings, req, clears=req.null_support)
    registration_data.refuse_invalid_links(context, req.free, account.profile)
    if not has_reauthenticated:
        account = _require_password(context, account, req)
    change = account_update.read(context, account, req, req, writers=WRITERS, clears=req.null_support, is_own=True)
    _refuse_emails(context, change)
    requirements.refuse_age(context, change.edits.assigned.get("BirthDate"))
    changed = _write(context, account, change)
    _follow_up(context, changed, req, session_id)
    _request_number(context, changed.after, change.phone, req)
    events.emit(context, "UpdateProfile", changed.after)
    return changed.after


def set_username(context: Context, account: Account, username: str | None) -> Account:
    """Set the account's username; the owner gets an email.

    Raises UsernameMissing, MalformedUsername, UsernameFormatRefused, UsernameTaken.
    """
    if not username:
        raise errors.UsernameMissing
    change = CheckedUpdate(
        profile_edits.Edits(), username=input_checks.username(context.tenant.settings, username, account.username)
    )
    changed = _write(context, account, change)
    notifications.notify_profile_changes(context, changed.before, changed.after)
    events.emit(context, "SetUsername", changed.after)
    return changed.after


def _write(context: Context, account: Account, change: CheckedUpdate) -> ChangedAccount:
    """Write the change; raises NotAuthenticated where the account was deleted meanwhile."""
    try:
        return account_update.write(context, account.uid, change)
    except errors.UnknownUid:
        raise errors.NotAuthenticated from None


def _require_password(context: Context, account: Account, req: UpdateOwnAccount) -> Account:
    """Return the account; verify its password if the request sets a password, answers or a PIN: each of them can take it over.

    Raises WrongCurrentPassword, which also stands for a missing one; a missing one is no attempt. Raises the refusals of a lock.
    """
    sets_pin = bool(req.pin_info and req.pin_info.pin and context.tenant.settings.pin.is_on)
    if not (req.password or req.security_question_answer or sets_pin):
        return account
    password_reset.count_attempt(context)
    if req.password and ldap_directories.for_account(context, account) is not None:
        raise errors.DirectoryPasswordElsewhere
    if not ldap_directories.has_password(context, account):
        return account
    if not req.old_password:
        raise errors.WrongCurrentPassword("The account has a password: send it as oldpassword.")
    return current_password.verify(context, account, req.old_password, errors.WrongCurrentPassword)


def _refuse_emails(context: Context, change: CheckedUpdate) -> None:
    for normalized in change.addresses.forms if change.addresses else ():
        requirements.refuse_email(context.tenant.settings.email_access, normalized)


def _request_number(context: Context, account: Account, phone: str | None, req: UpdateOwnAccount) -> None:
    """Text a code to another number, which becomes the account's once it is verified."""
    if phone is None or phone == account.phone:
        return
    phone_verification.require_enabled(context)
    sender = context.without_sending() if req.has_option(PREVENT_SMS) else context
    hides_taken = context.tenant.settings.hide_unknown_accounts
    phone_verification.request_change(sender, account, phone, _options(req), hides_taken=hides_taken)


def _options(req: UpdateOwnAccount) -> VerificationOptions:
    return VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
    )


def _follow_up(context: Context, changed: ChangedAccount, req: UpdateOwnAccount, session_id: str | None) -> None:
    """Send the emails of the change, and end other sessions after a new password."""
    before, after = changed.before, changed.after
    if changed.has_new_password:
        keep = session_id or (context.holder.session_id if context.holder else None)
        token_hash = context.holder.token_hash if context.holder else None
        end_sessions_and_tokens(context, after, except_session=keep, except_token=token_hash)
        login_records.reset_failures(context.work, after.uid)
        new_password.after_change(context, after, "UpdateProfile")
        new_password.emit_first_password(context, before, after)
    if before.email is None and req.email:
        addresses = input_checks.emails(req.email).forms
        email_verification.send_to_pending_emails(context, after, _options(req), only=addresses)
    notifications.notify_profile_changes(context, changed.before, changed.after)
