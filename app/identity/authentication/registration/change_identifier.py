"""Change the address or number of a pending registration, for a visitor who mistyped it.

The registration then waits for the new identifier, like one with a taken address (decision 0052). Response and cost are
the same whether or not the old or the new identifier has an account.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry
from app.identity.authentication.registration import requirements
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.directory.accounts import account_store, identifiers, input_checks
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.context import Context

_SEND_ERRORS = (
    errors.MailLimitReached,
    errors.SmsLimitReached,
    errors.SharedSmsLimitReached,
    errors.NoSmsConfiguration,
)


@dataclass(frozen=True)
class Destination:
    """The address or number that the visitor must verify."""

    kind: str  # email or phone
    normalized: str
    shown: str


def parse(context: Context, kind: str, text: str) -> Destination:
    """Return the typed destination. Raises MalformedPhone, MalformedEmail, EmailRefused, EmailDomainRefused."""
    settings = context.tenant.settings
    if kind == PHONE:
        number = input_checks.phone(identifiers.to_international(text.strip(), settings.default_country))
        return Destination(PHONE, number, number)
    typed = input_checks.emails([EmailEntry(type="Primary", value=text)])
    requirements.refuse_email(settings.email_access, typed.forms[0])
    return Destination(EMAIL, typed.forms[0], typed.primary or "")


def change(
    context: Context, registration: dict[str, Any], destination: Destination, options: VerificationOptions
) -> Account | None:
    """Move the pending registration to another destination, and send a message there; None if it has an account.

    A reached limit is silent, as at registration, because the limit would reveal whether the destination has an account.

    Raises:
        pending_accounts.AccountInUse: it was verified meanwhile, or no longer belongs to this browser.
    """
    columns = pending_accounts.with_identifier(
        pending_accounts.release(context, registration), destination.kind, destination.shown
    )
    holder = account_store.by_identifier(context, destination.kind, destination.normalized)
    is_available = holder is None or pending_accounts.is_claimable(holder, destination.kind)
    # Beside an account in use it waits for an unverifiable address, so that the visitor may still change it.
    account = pending_accounts.add(
        context,
        destination.normalized if is_available else pending_accounts.unverifiable_identifier(columns["uid"]),
        columns,
    )
    context.audit.record("registration.readdressed", uid=account.uid, by=destination.kind)
    try:
        _send(context, account if is_available else None, destination, options)
    except _SEND_ERRORS as reason:
        context.audit.record("verification.not_sent", uid=account.uid, reason=type(reason).__name__)
    return account if is_available else None


def _send(context: Context, account: Account | None, destination: Destination, options: VerificationOptions) -> None:
    if destination.kind == PHONE and account is not None:
        phone_verification.send(context, account.uid, destination.normalized, account)
    elif destination.kind == PHONE:
        phone_verification.send_account_exists(context, destination.normalized)
    elif account is not None:
        email_verification.send(context, account, options)
    else:
        email_verification.send_account_exists(context, destination.shown, options)
