"""The account pages of email addresses and the phone number."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts.pages import email_and_phone_pages
from app.contract.accounts.pages.email_and_phone_pages import EmailView
from app.contract.error_groups import SMS_SENDING
from app.contract.messages.models import Carries, MailKind
from app.contract.page_models import SentTo
from app.contract.shared_responses import Posted
from app.contract.step_reasons import Channel
from app.identity.authentication.sign_in.sessions.revocation import end_after_email_verification
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.email_list import EmailAddress
from app.identity.messaging import messaging, send_limits
from app.identity.pages_api.interactions import pending_verification
from app.identity.pages_api.signed_in_account import require_account
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import change_emails
from app.identity.use_cases.accounts.change_emails import NewEmail
from app.kit.operations.errors import ApiError


def email_views(context: Context, account: Account) -> list[EmailView]:
    """Return the addresses of an account for its owner, unverified ones included."""
    delays = resend_delay.of_account(context, email_verification.KINDS, account.uid)
    can_verify = context.tenant.settings.email_verification != "disabled"
    return [
        view.model_copy(update={"carries": _carried(context, is_pending=view.is_pending)}) if view.can_resend else view
        for view in (_view(account, item, delays, can_verify) for item in account.email_list)
    ]


def wait_for_number(context: Context, account: Account, phone: str) -> int:
    """Return the seconds until another code may be sent to the requested number."""
    return resend_delay.of_account(context, (Purpose.ADD_PHONE,), account.uid).get(phone, 0)


@email_and_phone_pages.add_email.implements
def add_email(context: Context, req: email_and_phone_pages.EmailRequest) -> Posted:
    """Add an address, and mail to it unless that was just done; a second click gets the same response."""
    account = accounts.current(context)
    if not _wait_for_email(context, account, identifiers.normalize_email(req.email)):
        new = NewEmail(req.email, "Secondary" if account.email else "Primary")
        change_emails.request_addition(context, account, new, hides_taken=True)
    return Posted()


@email_and_phone_pages.resend_email.implements
def resend_email(context: Context, req: email_and_phone_pages.EmailRequest) -> Posted:
    """Mail again. A resend to the account's own address counts for the account, because a limit of the mailbox depends on other
    requests, and is silent.
    """
    account = require_account(context)[1]
    found = account.email_list.find(identifiers.normalize_email(req.email))
    if found is None:
        raise errors.EmailNotOnProfile
    if account.email_list.is_verified(found.normalized):
        raise errors.EmailVerifiedBefore
    seconds = _wait_for_email(context, account, found.normalized)
    try:
        _refuse_too_soon(seconds)
        if found.is_pending:
            change_emails.request_addition(context, account, NewEmail(found.value, found.type), hides_taken=True)
        else:
            _verify_again(context, account, found.value)
    except (errors.TooManyRequests, errors.MailLimitReached) as refusal:
        raise pending_verification.with_page_data(refusal, _sent_to(context, found, found.value, seconds)) from None
    return Posted()


@email_and_phone_pages.confirm_email.implements
def confirm_email(context: Context, req: email_and_phone_pages.EmailCodeRequest) -> Posted:
    account = require_account(context)[1]
    try:
        end_after_email_verification(context, change_emails.confirm_code(context, account, req.email, req.code))
    except ApiError as refusal:
        normalized = identifiers.normalize_email(req.email)
        seconds = _wait_for_email(context, account, normalized)
        shown = _sent_to(context, account.email_list.find(normalized), req.email, seconds)
        raise pending_verification.with_page_data(refusal, shown) from None
    return Posted()


@email_and_phone_pages.make_primary.implements
def make_primary(context: Context, req: email_and_phone_pages.EmailRequest) -> Posted:
    account = accounts.current(context)
    change_emails.make_primary(context, account, req.email)
    return Posted()


@email_and_phone_pages.request_phone_change.implements
def request_phone_change(context: Context, req: email_and_phone_pages.PhoneRequest) -> Posted:
    """Request a new number, as `add_email` does an address."""
    account = accounts.current(context)
    phone_verification.require_enabled(context)
    phone = identifiers.normalize_phone(
        identifiers.to_international(req.phone, context.tenant.settings.default_country)
    )
    if phone is None:
        raise errors.MalformedPhone
    if not wait_for_number(context, account, phone):
        phone_verification.request_change(context, account, phone, hides_taken=True)
    return Posted()


@email_and_phone_pages.resend_phone_code.implements
def resend_phone_code(context: Context, req: email_and_phone_pages.PhoneRequest) -> Posted:
    """Text again. An account requests one number at a time, so a page with another number is out of date."""
    account = require_account(context)[1]
    phone_verification.require_enabled(context)
    phone = phone_verification.requested_number(context, account)
    if phone is None or phone != identifiers.normalize_phone(req.phone):
        raise errors.NoPhoneOnProfile
    seconds = wait_for_number(context, account, phone)
    try:
        _refuse_too_soon(seconds)
        phone_verification.request_change(context, account, phone, hides_taken=True)
    except (errors.TooManyRequests, *SMS_SENDING) as refusal:
        raise _with_number(refusal, phone, seconds) from None
    return Posted()


@email_and_phone_pages.confirm_phone.implements
def confirm_phone(context: Context, req: email_and_phone_pages.PhoneCodeRequest) -> Posted:
    """Verify the number; a second click, whose code is used, succeeds too."""
    account = require_account(context)[1]
    phone_verification.require_enabled(context)
    requested = phone_verification.requested_number(context, account)
    try:
        token = phone_verification.spend_requested_code(context, account, req.code)
    except ApiError as refusal:
        if isinstance(refusal, errors.UsedSmsCode) and phone_verification.is_requested_number_verified(
            context, account.uid
        ):
            return Posted()
        seconds = wait_for_number(context, account, requested) if requested else 0
        raise _with_number(refusal, requested or "", seconds) from None
    phone_verification.confirm(context, token)
    return Posted()


def _view(account: Account, item: EmailAddress, delays: dict[str, int], can_verify: bool) -> EmailView:
    is_confirmed = account.email_list.is_verified(item.normalized)
    return EmailView(
        email=item.value,
        is_first=not item.is_pending and account.email_list.is_primary(item),
        is_confirmed=is_confirmed,
        is_pending=item.is_pending,
        can_resend=not is_confirmed and (item.is_pending or can_verify),
        resend_in_seconds=delays.get(item.normalized, 0),
    )


def _sent_to(context: Context, item: EmailAddress | None, address: str, seconds: int) -> SentTo:
    """Return the data of the code page for a mail to `item`, or to an address that the account has no longer."""
    carried = _carried(context, is_pending=item.is_pending if item is not None else True)
    return SentTo(sent_to=address, resend_in_seconds=seconds, carries=carried)


def _carried(context: Context, *, is_pending: bool) -> Carries:
    """Return whether the mail to a pending or unverified address carries a link, a code or both."""
    kind = MailKind.ADD_EMAIL if is_pending else MailKind.VERIFICATION
    carried = messaging.carries(context, kind, account=None, language=notifications.page_language(context))
    return carried or "both"


def _verify_again(context: Context, account: Account, address: str) -> None:
    if context.tenant.settings.email_verification == "disabled":
        raise errors.EmailVerificationOff
    send_limits.count_resend(context, account.uid)
    try:
        email_verification.send(context, account, VerificationOptions(), email=address)
    except errors.MailLimitReached:
        context.audit.record("verification.not_sent", uid=account.uid, reason="MailLimitReached")


def _wait_for_email(context: Context, account: Account, normalized: str | None) -> int:
    return resend_delay.of_account(context, email_verification.KINDS, account.uid).get(normalized or "", 0)


def _refuse_too_soon(seconds: int) -> None:
    if seconds:
        raise errors.TooManyRequests(retry_after_seconds=seconds)


def _with_number(refusal: ApiError, phone: str, seconds: int) -> ApiError:
    address = pending_verification.display(phone, pending_verification.SMS) if phone else ""
    return pending_verification.with_page_data(
        refusal, SentTo(sent_to=address, resend_in_seconds=seconds, channel=Channel.SMS)
    )
