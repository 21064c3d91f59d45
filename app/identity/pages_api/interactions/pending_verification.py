"""Pending verifications: an interaction that awaits the verification of an address or a number, and its messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.messages.models import Carries, MailKind
from app.contract.page_models import SentTo
from app.contract.step_reasons import Channel
from app.contract.steps import CheckMailStep
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import PendingVerification
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.verification import email_verification, phone_verification
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials import notifications
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.directory.accounts import account_store, identifiers
from app.identity.directory.accounts.account import is_verified
from app.identity.directory.accounts.identifiers import PHONE
from app.identity.messaging import messaging, send_limits
from app.identity.pages_api.interactions import accept_invitation, link_handoff
from app.identity.platform.context import NO_ACCOUNT, Context
from app.kit import randomness
from app.kit.operations.errors import ApiError

MAIL, SMS = "mail", "sms"
SEND_ERRORS = (errors.MailLimitReached, errors.SmsLimitReached, errors.SharedSmsLimitReached, errors.NoSmsConfiguration)
_FIRST_FACTOR_SECONDS: Final = 3600


def pending_for(context: Context, interaction: Interaction) -> PendingVerification | None:
    """Return the pending verification of the interaction; its registration for an hour after the last message.

    The next person at a shared browser must not give another address to the name and password of the person who registered.
    """
    state = interaction.state.verification
    return state if state is None or is_recent(context, state) else replace(state, held={})


def is_recent(context: Context, state: PendingVerification) -> bool:
    """Return whether the credentials that this browser gave before the message are still accepted: the page may wait for hours."""
    return context.now.timestamp() <= state.sent_at + _FIRST_FACTOR_SECONDS


def needs_verification_to_join(context: Context, interaction: Interaction, session: BrowserSession) -> bool:
    """Return whether the signed-in account must still verify its address before it joins the organization of the interaction."""
    state = pending_for(context, interaction) if accept_invitation.is_of(interaction) else None
    account = account_store.by_uid(context, session.uid) if state is not None and state.uid == session.uid else None
    return state is not None and account is not None and not is_verified(account, state.email)


def store_pending(context: Context, interaction: Interaction, state: PendingVerification) -> Interaction:
    """Store the pending verification, and extend the interaction, because mail takes time."""
    page = link_handoff.page_for(context, interaction, Purpose.EMAIL, state.uid)
    changed = replace(interaction.state, verification=state, waiting_page=page)
    return interactions.save(context, interaction, changed)


def display(email: str, by: str) -> str:
    """Return the address or number as the page shows it."""
    return identifiers.display_phone(email) if by == SMS else email


def seconds_left(context: Context, state: PendingVerification) -> int:
    """Return the seconds until another message may be sent."""
    return resend_delay.seconds_left(context, state.sent_at)


def with_page_data(refusal: ApiError, shown: SentTo) -> ApiError:
    """Return the refusal with the page's data, so that the hub can render it without another call."""
    refusal.data = {**(refusal.data or {}), **shown.model_dump(by_alias=True)}
    return refusal


def with_page(context: Context, interaction: Interaction, refusal: ApiError, state: PendingVerification) -> ApiError:
    """Return the refusal with the data of the waiting page."""
    number, carries = shown_of(context, interaction)
    page = SentTo(
        sent_to=state.email,
        resend_in_seconds=seconds_left(context, state),
        channel=Channel(state.by),
        can_change=bool(state.held),
        number=number,
        carries=carries,
    )
    return with_page_data(refusal, page)


def waiting_step(context: Context, interaction: Interaction, state: PendingVerification) -> CheckMailStep:
    """Return the step that waits for the verification."""
    number, carries = shown_of(context, interaction)
    return CheckMailStep(
        sent_to=state.email,
        channel=Channel(state.by),
        resend_in_seconds=seconds_left(context, state),
        number=number,
        state=link_handoff.state_of(interaction),
        carries=carries,
        can_change=bool(state.held),
    )


def shown_of(context: Context, interaction: Interaction, kind: MailKind = MailKind.VERIFICATION) -> tuple[str, Carries]:
    """Return the number that the waiting page shows, and whether the email carries a link, a code or both.

    It is the same for every address: on a page the email is in the page's language, not in the account's.
    """
    carried = messaging.carries(context, kind, account=None, language=notifications.page_language(context))
    return "" if carried == "otp" else link_handoff.number_of(interaction), carried or "both"


def send_if_due(
    context: Context, interaction: Interaction, state: PendingVerification, *, is_sent: bool
) -> PendingVerification:
    """Send the message unless it `is_sent`; a reached limit is silent."""
    if not is_sent:
        try:
            _send(context, interaction, state)
        except SEND_ERRORS as reason:
            context.audit.record("verification.not_sent", uid=state.uid, reason=type(reason).__name__)
    return replace(state, sent_at=int(context.now.timestamp()))


def resend(context: Context, interaction: Interaction, state: PendingVerification) -> PendingVerification:
    """Send the message again; raises the error of a reached limit.

    Mails are counted for the interaction, because the limits of a mailbox reveal whether it has an account, and are silent.
    """
    if state.by == MAIL:
        send_limits.count_resend(context, randomness.digest(interaction.interaction_id))
    else:
        _send(context, interaction, state)
    return send_if_due(context, interaction, state, is_sent=state.by != MAIL)


def _send(context: Context, interaction: Interaction, state: PendingVerification) -> None:
    """Mail a link and a code, or text a code; the owner of a taken number is notified instead."""
    if state.by == MAIL:
        email_verification.resend(
            context, state.uid, state.email, VerificationOptions(interaction_id=interaction.interaction_id)
        )
    elif state.uid != NO_ACCOUNT:
        phone_verification.send(context, state.uid, state.subject, account_store.by_uid(context, state.uid))
    elif account_store.by_identifier(context, PHONE, state.subject) is not None:
        phone_verification.send_account_exists(context, state.subject)
    else:
        phone_verification.simulate_send(context, state.subject)
