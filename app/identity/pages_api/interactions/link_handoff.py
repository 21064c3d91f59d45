"""Hand a sign-in back to the page that waits for an emailed link, when the link is opened in another browser.

The waiting page shows a number of two digits. The person types it where the link is opened, which shows that both browsers
belong to one person; a click alone does not continue the sign-in, because anyone can request a message for any address.
"""

from __future__ import annotations

import hmac
from dataclasses import replace
from datetime import timedelta
from typing import Final

from app.contract import errors
from app.contract.step_reasons import WaitingState
from app.identity.authentication.passwordless import smart_login
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import WaitingPage
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.limits.rate_limits import Rate
from app.kit.text.code_normalization import typed_code

LIFETIME: Final = timedelta(minutes=10)
"""How long the waiting page may take to continue after the number was typed."""
_WRONG_NUMBERS: Final = Rate(3, 86_400)
"""The limit of wrong numbers for a waiting page."""


def page_for(context: Context, interaction: Interaction | None, purpose: Purpose, uid: str) -> WaitingPage:
    """Return the page that waits for a message; its number stays while it waits for the same one."""
    stored = interaction.state.waiting_page if interaction is not None else None
    is_same = stored is not None and (stored.purpose, stored.uid) == (purpose, uid)
    number = stored.number if stored is not None and is_same else smart_login.new_number()
    return WaitingPage(purpose, uid, number, context.agent)


def number_of(interaction: Interaction) -> str:
    """Return the number that the waiting page shows; empty without one."""
    return interaction.state.waiting_page.number if interaction.state.waiting_page is not None else ""


def state_of(interaction: Interaction) -> WaitingState:
    """Return the state that the waiting page polls."""
    page = interaction.state.waiting_page
    return WaitingState.APPROVED if page is not None and page.approved_at is not None else WaitingState.WAITS


def waiting(context: Context, token: OneTimeToken | None) -> Interaction | None:
    """Return the interaction of another browser that waits for this link; None in the browser that began it.

    None, too, after three wrong numbers.
    """
    interaction_id = str(token.facts.get("attempt") or "") if token is not None else ""
    if token is None or not interaction_id or interactions.find(context, interaction_id) is not None:
        return None
    interaction = interactions.find_of_any_browser(context, interaction_id)
    if not _waits_for(interaction, token):
        return None
    try:
        context.refuse_over_limit("handover_number", _WRONG_NUMBERS, randomness.digest(interaction_id))
    except errors.TooManyRequests:
        return None
    return interaction


def _waits_for(interaction: Interaction | None, token: OneTimeToken) -> bool:
    page = interaction.state.waiting_page if interaction is not None else None
    return page is not None and (page.purpose, page.uid) == (token.purpose, token.uid)


def own(context: Context, token: OneTimeToken) -> Interaction | None:
    """Return the interaction of this browser that waits for this link, whose page may then continue without a click.

    None in any other browser, and where another account is signed in.
    """
    interaction = interactions.find_open(context, str(token.facts.get("attempt") or ""))
    if not _waits_for(interaction, token):
        return None
    session = sessions.current(context)
    return interaction if session is None or session.uid == token.uid else None


def check(context: Context, token: OneTimeToken, typed: str) -> Interaction | None:
    """Return the interaction that the typed number names; None if nothing was typed or nothing waits any more.

    Raises WrongMailCode.
    """
    interaction = waiting(context, token) if typed else None
    if interaction is None:
        return None
    if not hmac.compare_digest(typed_code(typed), number_of(interaction)):
        context.count_against("handover_number", _WRONG_NUMBERS, randomness.digest(interaction.interaction_id))
        context.audit.record("handover.wrong_number", uid=token.uid)
        raise errors.WrongMailCode("The number does not match the one on the waiting page.")
    return interaction


def approve(context: Context, interaction: Interaction, account: Account) -> None:
    """Let the waiting page continue as this account, after `check` and after the link was used up."""
    current = interactions.lock(context, interaction)
    page = current.state.waiting_page
    if current.is_done or page is None or page.number != number_of(interaction):
        return
    approved = replace(page, account=account.uid, approved_at=context.now)
    interactions.save(context, current, replace(current.state, waiting_page=approved))
    context.audit.record("handover.approved", uid=account.uid)


def take(context: Context, interaction: Interaction, purpose: Purpose) -> tuple[Account | None, Interaction]:
    """Return the account that the page may continue as, and the changed interaction; None until the person typed the number.

    Only one of several concurrent calls gets it. A password that is set after the approval voids it.
    """
    uid = interaction.state.waiting_page.account if interaction.state.waiting_page is not None else None
    if not uid or not account_store.lock_unread(
        context, uid
    ):  # the account first, as every request does, against deadlocks
        return None, interaction
    current = interactions.lock(context, interaction)
    page = current.state.waiting_page
    approved_at = page.approved_at if page is not None else None
    if current.is_done or page is None or approved_at is None or (page.purpose, page.account) != (purpose, uid):
        return None, current
    current = interactions.save(context, current, replace(current.state, waiting_page=None))
    account = account_store.by_uid(context, uid)
    is_over = context.now - approved_at > LIFETIME
    is_superseded = (
        account is not None and account.password_changed_at is not None and account.password_changed_at > approved_at
    )
    return None if is_over or is_superseded else account, current
