"""Changes the address or number of a pending registration, for a visitor who mistyped it.

The registration then waits for the new identifier as one with a taken address does (decisions/0052), whether the old
or the new one has an account: answer and cost are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.contract.accounts import EmailEntry
from app.identity.authentication.registration import requirements
from app.identity.authentication.verification import phones
from app.identity.authentication.verification import service as verification
from app.identity.authentication.verification.service import VerificationOptions
from app.identity.directory.accounts import identifiers, input_checks, pending_accounts, store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import EMAIL, PHONE
from app.identity.platform.context import Context

_SEND_ERRORS = (e.MailLimitReached, e.SmsLimitReached, e.SharedSmsLimitReached, e.NoSmsConfiguration)


@dataclass(frozen=True)
class Destination:
    """The address or number that verifies the registration."""

    kind: str  # email or phone
    form: str  # normalized
    shown: str


def parse(context: Context, kind: str, text: str) -> Destination:
    """Return the typed destination. Raises MalformedPhone, MalformedEmail, EmailRefused, EmailDomainRefused."""
    settings = context.tenant.settings
    if kind == PHONE:
        number = input_checks.phone(identifiers.to_international(text.strip(), settings.default_country))
        return Destination(PHONE, number, number)
    typed = input_checks.emails([EmailEntry(type="Primary", value=text)])
    requirements.refuse_address(settings.email_access, typed.forms[0])
    return Destination(EMAIL, typed.forms[0], typed.primary or "")


def change(context: Context, held: dict[str, Any], to: Destination, options: VerificationOptions) -> Account | None:
    """Move the pending registration to another destination, and send there; None where the destination has an account.

    A reached limit is silent, as at registration: which limit it is would reveal who has the destination.

    Raises:
        pending_accounts.InUse: it was verified meanwhile, or does not belong to this browser any more.
    """
    columns = pending_accounts.with_identifier(pending_accounts.release(context, held), to.kind, to.shown)
    holder = store.by_identifier(context, to.kind, to.form)
    is_open = holder is None or pending_accounts.is_claimable(holder, to.kind)
    # Beside an account in use it waits for an address that cannot be verified: the visitor may still change it.
    account = pending_accounts.add(
        context, to.form if is_open else pending_accounts.unverifiable_identifier(columns["uid"]), columns
    )
    context.audit.record("registration.readdressed", uid=account.uid, by=to.kind)
    try:
        _send(context, account if is_open else None, to, options)
    except _SEND_ERRORS as reason:
        context.audit.record("verification.not_sent", uid=account.uid, reason=type(reason).__name__)
    return account if is_open else None


def _send(context: Context, account: Account | None, to: Destination, options: VerificationOptions) -> None:
    if to.kind == PHONE and account is not None:
        phones.send(context, account.uid, to.form, account)
    elif to.kind == PHONE:
        phones.send_account_exists(context, to.form)
    elif account is not None:
        verification.send(context, account, options)
    else:
        verification.send_account_exists(context, to.shown, options)


__all__ = ["Destination", "change", "parse"]
