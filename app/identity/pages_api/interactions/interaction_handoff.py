"""Sign-in at a provider for a program, and the return to the program."""

from __future__ import annotations

import re
from typing import Final

from app.contract import errors
from app.contract.federation.pages import connection_pages
from app.contract.step_reasons import ProgramOutcome
from app.contract.steps import ApproveProgramStep, FormPostStep, ProfileStep, RedirectStep, StartAgainStep, StepResponse
from app.identity.authentication.federation import token_handoff
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.interaction_state import HandoffRequest
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import OWN_PROVIDER
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.tenants.urls.allowed_urls import is_allowed, is_registered, with_query
from app.identity.pages_api.interactions import earlier_answers, pending_identities
from app.identity.platform.context import Context

_QUERY, _HASH = "querystring", "hash"
_SCOPE: Final = re.compile(r"(?=.{1,500}\Z)[!#-\[\]-~]+( +[!#-\[\]-~]+)*")
"""RFC 6749 section 3.3."""


def parse(context: Context, req: connection_pages.ConnectionHandler, connection: str) -> HandoffRequest | None:
    """Return the parameters of a link; None if its callback is not allowed. Raises UnknownKey, BadParameter, NoCallbackLoginOff.

    The access token itself is returned only if the tenant has `token_in_return_url`, and then only to a callback that exactly
    matches an entry of the whitelist; with the setting off the one-time request token is returned.
    """
    if req.api_key is not None and req.api_key.lower() != context.tenant.api_key.lower():
        raise errors.UnknownKey
    if req.scope and not _SCOPE.fullmatch(req.scope):
        raise errors.BadParameter("scope: scopes of the provider with spaces between them, up to 500 characters.")
    callback = req.callback or ""
    is_access_token = req.is_access_token and context.tenant.settings.token_in_return_url
    if not (req.callback_guid or callback):
        raise errors.BadParameter.names("callback")
    if req.callback_guid:
        token_handoff.require_enabled(context)
    elif not (is_registered if is_access_token else is_allowed)(context, callback):
        return None
    return HandoffRequest(
        callback="" if req.callback_guid else callback,
        by=req.callback_type.lower(),
        is_access_token=is_access_token,
        links=req.ac_linking,
        registers=not req.disable_sign_up,
        guid=req.callback_guid or "",
        scope=req.scope,
        connection=connection,
    )


def with_session(
    context: Context, interaction: Interaction, session: BrowserSession, handoff: HandoffRequest
) -> StepResponse:
    """End an interaction with a session: redirect to the callback, or ask before another device gets the sign-in.

    If the provider returned no identity, or another account's, the browser goes to the profile page: a link must not obtain
    the tokens of the account that is signed in to the browser.
    """
    if handoff.guid:
        return StepResponse(step=ApproveProgramStep(), interaction_id=interaction.interaction_id)
    account = account_store.by_uid(context, session.uid)
    if (
        account is None
        or handoff.links
        or not _is_own_identity(context, interaction, account)
        or not interactions.finish(context, interaction)
    ):
        return StepResponse(step=ProfileStep())
    provider = _provider(context, interaction, session)
    if handoff.is_access_token and context.tenant.settings.token_in_return_url:
        ends_with = (session.session_id, session.expires_at)
        text = token_handoff.access_token(context, account, session.methods, provider, ends_with).access_token
    else:
        text = token_handoff.request_token(context, account, session.methods, provider)
    return _to_callback(handoff, text)


def with_candidate(
    context: Context, interaction: Interaction, handoff: HandoffRequest, identity: ProviderIdentity
) -> StepResponse:
    """End an interaction with an identity to link, without a sign-in."""
    if handoff.guid:
        pending_identities.store_pending(context, interaction, identity)
        return StepResponse(step=ApproveProgramStep(), interaction_id=interaction.interaction_id)
    interactions.finish(context, interaction)
    return _to_callback(handoff, token_handoff.create_candidate(context, identity))


def decide_handoff(
    context: Context, interaction: Interaction, session: BrowserSession | None, *, allow: bool
) -> StepResponse:
    """Give the program that polls by its GUID the sign-in or identity, once the user allowed it."""
    interaction = interactions.lock(context, interaction)
    handoff, pending = interaction.state.handoff, pending_identities.pending_for(context, interaction)
    account = account_store.by_uid(context, session.uid) if session is not None else None
    if handoff is None or not handoff.guid or interaction.is_done:
        return earlier_answers.step(interaction) or StepResponse(step=ProfileStep() if session else StartAgainStep())
    is_given = False
    if allow and handoff.links and pending is not None:
        is_given = token_handoff.finish_link(context, handoff.guid, pending.claimed)
    elif (
        allow
        and not handoff.links
        and session is not None
        and account is not None
        and _is_own_identity(context, interaction, account)
    ):
        is_given = token_handoff.finish_sign_in(
            context, handoff.guid, account, session.methods, _provider(context, interaction, session)
        )
    outcome = ProgramOutcome.DONE if is_given else ProgramOutcome.NO
    interactions.finish(context, interaction, outcome=outcome.value)
    return StepResponse(step=ApproveProgramStep(outcome=outcome), interaction_id=interaction.interaction_id)


def _is_own_identity(context: Context, interaction: Interaction, account: Account) -> bool:
    """Return whether the provider returned an identity of this account."""
    pending = pending_identities.pending_for(context, interaction)
    return pending is not None and linked_identities.is_known(account, pending.claimed)


def _provider(context: Context, interaction: Interaction, session: BrowserSession) -> str:
    """Return the provider of the sign-in; a user who returned from a provider may still have used a password."""
    pending = pending_identities.pending_for(context, interaction)
    return (
        pending.claimed.provider
        if pending is not None and pending_identities.FEDERATED in session.methods
        else OWN_PROVIDER
    )


def _to_callback(handoff: HandoffRequest, text: str) -> StepResponse:
    if handoff.by == _QUERY:
        return StepResponse(step=RedirectStep(address=with_query(handoff.callback, token=text)))
    if handoff.by == _HASH:
        return StepResponse(step=RedirectStep(address=f"{handoff.callback.partition('#')[0]}#lr-token={text}"))
    return StepResponse(step=FormPostStep(address=handoff.callback, fields={"token": text}))
