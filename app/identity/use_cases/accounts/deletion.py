"""Account deletion by its owner: confirmed by link or code, with what ends at once."""

from __future__ import annotations

from app.contract import errors
from app.contract.messages.models import MailKind, SmsKind
from app.identity.authentication.sign_in import eligibility
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials import notifications, reset_messages
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import SMS_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes import account_deletion
from app.identity.directory.tenants.urls import allowed_urls
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.messaging.messaging import DEFAULT_SMS_OPTIONS, SmsOptions
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.platform.store import removal
from app.kit.clock import iso

VTYPE = "deleteuser"
PATH = "/delete-account"


def request_deletion(context: Context, account: Account, url: str | None = None, template: str | None = None) -> None:
    """Email a link that deletes the account.

    Raises:
        NoEmailOnProfile: the account has no address.
        NotProcessable: the address is not verified, so another person may own it.
        VerificationUrlRefused: the page is not on the tenant's allow list.
        MailLimitReached.
    """
    if not account.email:
        raise errors.NoEmailOnProfile
    if not account.email_verified and context.tenant.settings.email_verification != "disabled":
        raise errors.NotProcessable
    if url and not allowed_urls.is_allowed_in_mail(context, url):
        raise errors.VerificationUrlRefused
    token = token_only(context, account)
    page = allowed_urls.mailed_link(context, PATH, token, url, vtype=VTYPE)
    facts = MessageFacts(url=page, token=token, minutes=one_time_tokens.LINK_MINUTES)
    messaging.mail(
        context, MailKind.DELETE_ACCOUNT, account.email, account=account, facts=facts, template=template,
        language=notifications.page_language(context),
    )  # fmt: skip
    context.audit.record("deletion.asked", uid=account.uid)


def token_only(context: Context, account: Account) -> str:
    """Return the token of a link that the caller delivers to the owner."""
    return one_time_tokens.new_link(
        context, Purpose.DELETE_ACCOUNT, account.uid, subject=account.uid, facts={"email": account.email}
    )


def code_only(context: Context, account: Account) -> str:
    """Return a code that the caller delivers to the owner. Raises NoPhoneOnProfile."""
    if not account.phone or not account.phone_verified:
        raise errors.NoPhoneOnProfile
    return one_time_tokens.new_code(context, Purpose.DELETE_ACCOUNT, account.uid, subject=account.phone)


def peek(context: Context, token: str) -> OneTimeToken:
    """Return the link's one-time token without spending it. Raises WrongDeleteToken, UsedLink, ExpiredLink."""
    try:
        return one_time_tokens.peek_link(context, Purpose.DELETE_ACCOUNT, token)
    except errors.UnknownLink:
        raise errors.WrongDeleteToken from None


def confirm(context: Context, token: str) -> Account:
    """Spend a link and delete its account; only one of several concurrent uses succeeds. Raises WrongDeleteToken, UsedLink, ExpiredLink."""
    link_token = peek(context, token)
    fresh = account_store.lock(context, link_token.uid)
    if fresh is not None and not reset_messages.is_still_recipient(fresh, link_token):
        raise errors.ExpiredLink
    try:
        one_time_tokens.spend_link(context, Purpose.DELETE_ACCOUNT, token)
    except errors.UnknownLink:  # the account was deleted meanwhile, and its links with it
        raise errors.WrongDeleteToken from None
    return delete(context, link_token.uid)


def send_code(context: Context, account: Account, options: SmsOptions = DEFAULT_SMS_OPTIONS) -> str:
    """Send a code that deletes the account; return the message's Sid.

    The number must be verified: a thief with a stolen session could otherwise enter their own.

    Raises NoPhoneOnProfile, RequestInvalid where no SMS gateway is configured, SmsLimitReached, SharedSmsLimitReached.
    """
    if not account.phone or not account.phone_verified:
        raise errors.NoPhoneOnProfile
    facts = MessageFacts(otp=code_only(context, account), minutes=one_time_tokens.CODE_MINUTES)
    try:
        sid = messaging.sms(
            context, SmsKind.DELETE_ACCOUNT, account.phone, account=account, facts=facts, options=options
        )
    except errors.NoSmsConfiguration:
        raise errors.RequestInvalid from None
    context.audit.record("deletion.asked", uid=account.uid)
    return sid


def confirm_code(context: Context, account: Account, code: str, *, is_lock_solved: bool = False) -> None:
    """Spend a code and delete the account. Raises NoPhoneOnProfile, and as `one_time_tokens.spend_code` does."""
    if not account.phone or not account.phone_verified:
        raise errors.NoPhoneOnProfile
    one_time_tokens.spend_code(
        context, Purpose.DELETE_ACCOUNT, account.uid, code, subject=account.phone, errors=SMS_CODE,
        is_lock_solved=is_lock_solved,
    )  # fmt: skip
    delete(context, account.uid)


def delete(context: Context, uid: str) -> Account:
    """Delete an account: at once, or after the tenant's grace period (`deletion_days`).

    During the grace period all sessions are ended, and a sign-in with the password may revert the deletion. So may the link of
    a security alert, since a thief may delete an account that they are about to lose.

    Raises WrongDeleteToken: the account is deleted already.
    """
    account = account_store.lock(context, uid)
    if account is None or account.is_deleted:
        raise errors.WrongDeleteToken
    leaves_at = account_deletion.end_of_grace_period(context)
    if leaves_at is None:
        sessions.end_all(context, uid, reason="account_delete")
        removal.delete_account_rows(context.work, uid)
        context.audit.record("account.deleted", uid=uid)
        events.emit(context, "DeleteAccount", account)
        return account
    after = account_deletion.begin_grace_period(context, account, leaves_at)
    sessions.end_all(context, uid, reason="account_delete")
    tokens.revoke_all(context, uid)
    one_time_tokens.close(context, uid, except_purpose=Purpose.ALARM)
    facts = MessageFacts(url=f"{context.pages_url}/login", until=leaves_at)
    notifications.notify(context, MailKind.ACCOUNT_LEAVES, after.email, after, facts)
    context.audit.record("account.leaves", uid=uid, at=iso(leaves_at))
    events.emit(context, "DeleteAccount", after)
    return after


def revert_by_token(context: Context, token: str) -> bool:
    """Revert a deletion by the token of a refused sign-in; return whether there was one."""
    uid = eligibility.uid_from_revert_token(context, token)
    return uid is not None and account_deletion.revert(context, uid)
