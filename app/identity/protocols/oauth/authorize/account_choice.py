"""Selects the account of a request among the accounts of the browser (OpenID Connect Core section 3.1.2.1, `select_account`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from app.contract.sessions.models import AccountOption
from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import browser_sessions
from app.identity.authentication.sign_in.sessions.browser_sessions import SessionAccount
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account, can_sign_in
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize.openid_parameters import login_hint
from app.identity.protocols.oauth.authorize.request import CheckedRequest
from app.identity.protocols.oauth.claims import subjects

_KINDS = (InteractionKind.AUTHORIZE, InteractionKind.DEVICE)
_FRESH: Final = timedelta(minutes=10)
"""The time after a sign-in in which it counts as a response to the request (decision 0334)."""


def may_choose(interaction: Interaction) -> bool:
    """Return whether the interaction may continue with another account of the browser."""
    return interaction.kind in _KINDS and not interaction.is_done


def is_requested(interaction: Interaction | None, session: BrowserSession) -> bool:
    """Return whether the person requested the page with the browser's accounts, and has not signed in since."""
    since = interaction.state.accounts_requested_at if interaction is not None else None
    return isinstance(since, float) and session.authenticated_at.timestamp() < since


def with_request(context: Context, state: InteractionState) -> InteractionState:
    """Return the state of an interaction whose page a person leaves for the page with the accounts."""
    at = context.now.timestamp()
    return replace(state, accounts_requested_at=at, chosen_session_id=None, another_requested_at=None)


def with_choice(state: InteractionState, session_id: str) -> InteractionState:
    """Return the state with a session that the person chose, on the page with the accounts or by a phone."""
    return replace(state, accounts_requested_at=None, chosen_session_id=session_id, another_requested_at=None)


def with_another(context: Context, state: InteractionState) -> InteractionState:
    """Return the state in which the person signs in to one more account."""
    at = context.now.timestamp()
    return replace(state, accounts_requested_at=None, chosen_session_id=None, another_requested_at=at)


def is_fresh(interaction: Interaction | None, session: BrowserSession | None, now: datetime) -> bool:
    """Return whether the person authenticated in the interaction, recently, and after requesting one more account."""
    if session is None or interaction is None or session.authenticated_at < interaction.created_at:
        return False
    if now - session.authenticated_at > _FRESH:
        return False
    since = interaction.state.another_requested_at  # an older version wrote true
    return not isinstance(since, float) or session.authenticated_at.timestamp() >= since


def is_chosen(interaction: Interaction | None, session: BrowserSession) -> bool:
    """Return whether the person chose this session in the interaction."""
    return interaction is not None and interaction.state.chosen_session_id == session.session_id


def requests_another(interaction: Interaction | None) -> bool:
    """Return whether the person signs in to one more account, beside those of the browser."""
    return interaction is not None and bool(interaction.state.another_requested_at)


def options(context: Context) -> list[AccountOption]:
    """Return the browser's accounts that may sign in, as the page shows them, the current one first."""
    current = context.visit.session if context.visit else None
    choices = []
    for item, account in eligible(context):
        person = oauth_views.person(account)
        option = AccountOption(
            id=item.session.session_id, label=person.label, name=person.name, is_current=item.text == current
        )
        choices.append(option)
    return choices


def options_left(context: Context) -> list[AccountOption]:
    """Return the accounts that a browser is still signed in to after a sign-out; no query where it held only one."""
    return options(context) if context.visit and context.visit.others else []


def hinted(context: Context, client: Application, request: CheckedRequest) -> SessionAccount | None:
    """Return the browser's session whose account the request names by `id_token_hint`, `login_hint` or `sub` of `claims`."""
    if not (context.visit and context.visit.others) or (request.subject is None and request.login_hint is None):
        return None
    named = [item for item, account in eligible(context) if _is_named(context, client, request, account)]
    preferred = {uid: place for place, uid in enumerate(request.subjects)}
    return min(named, key=lambda item: preferred.get(item.session.uid, 0), default=None)


def is_for_another(
    context: Context, client: Application, request: CheckedRequest, session: BrowserSession | None
) -> bool:
    """Return whether the request names another of the browser's sessions than this one."""
    named = hinted(context, client, request)
    return named is not None and (session is None or named.session.uid != session.uid)


def eligible(context: Context) -> list[tuple[SessionAccount, Account]]:
    """Return the browser's sessions whose accounts may sign in, the current one first."""
    stored = browser_sessions.all_sessions(context)
    known = accounts.by_uids(context, {session.session.uid for session in stored})
    found = ((session, known.get(session.session.uid)) for session in stored)
    return [(item, account) for item, account in found if account is not None and can_sign_in(account)]


def _is_named(context: Context, client: Application, request: CheckedRequest, account: Account) -> bool:
    if not request.accepts(account.uid):
        return False
    settings, hint = context.tenant.settings, request.login_hint
    subject = subjects.of(context, client, account.uid)
    if request.subject is None:
        return hint is not None and login_hint.names(settings, account, subject, hint)
    return hint is None or not login_hint.names_another(settings, account, subject, hint)
