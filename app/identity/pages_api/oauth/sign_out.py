"""Sign-out on the pages, started by the person or by an application."""

from __future__ import annotations

from app.contract.applications.logout_settings import LogoutReason
from app.contract.sessions.pages import sign_out_pages
from app.contract.steps import AnyStep, ConfirmSignOutStep, FormPostStep, RedirectStep, SignedOutStep, StepResponse
from app.identity.authentication.sign_in.sessions import browser_sessions, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store
from app.identity.directory.identity_provider import PostedRequest
from app.identity.directory.tenants.urls.allowed_urls import is_allowed
from app.identity.platform.context import Context
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize import account_choice
from app.identity.protocols.oauth.logout import rp_initiated, session_end


@sign_out_pages.sign_out.implements
def sign_out(context: Context, req: sign_out_pages.SignOutRequest) -> StepResponse:
    """End the session that the request's `id_token_hint` names, of those of this browser, else the current one."""
    current = sessions.current(context)
    named = rp_initiated.named_session(context, req)
    session = named if named is not None and (current is None or named.uid != current.uid) else current
    response = rp_initiated.open(context, req, session)
    if isinstance(response.step, ConfirmSignOutStep) and session is not None:
        account = account_store.by_uid(context, session.uid)
        question = ConfirmSignOutStep(person=oauth_views.person(account) if account else None)
        return response.model_copy(update={"step": question})
    reason: LogoutReason = "rp_logout" if response.relying_party is not None else "idp_logout"
    ended = session_end.end(context, session, reason) if session is not None else []
    if isinstance(response.step, SignedOutStep) and req.return_url and _may_return(context, req.return_url):
        response = StepResponse(step=RedirectStep(address=req.return_url))
    if req.confirmed and req.everyone:
        ended += [
            element
            for item in browser_sessions.all_sessions(context)
            for element in session_end.end(context, item.session)
        ]
        current = None
    stays = current.uid if current is not None and session is not current else ""
    others = browser_sessions.others(context, stays) if context.visit and context.visit.others else None
    step: AnyStep = response.step
    if isinstance(step, SignedOutStep):
        step = SignedOutStep(accounts=account_choice.options_left(context))
    update = {"frames": session_end.frames(context, ended), "ends_session": not stays, "other_sessions": others}
    if any(item.service_providers for item in ended):
        from app.identity.protocols.saml import logout_endpoint  # noqa: PLC0415 - loads lxml and signxml

        step = logout_endpoint.begin(context, ended, step)
    if session is not None and isinstance(step, RedirectStep | SignedOutStep):
        step = _at_provider(context, session, step)
    return response.model_copy(update={**update, "step": step})


def _may_return(context: Context, url: str) -> bool:
    """Return whether the browser may go there after a sign-out: an allowed address, or one that a SAML client states."""
    from app.identity.protocols.saml import saml_clients  # noqa: PLC0415 - few requests name an address

    return is_allowed(context, url) or saml_clients.is_after_logout(context, url)


def _at_provider(context: Context, session: BrowserSession, step: RedirectStep | SignedOutStep) -> AnyStep:
    """Return the step that signs out at the SAML provider first which began the session; the given one where none did."""
    if not session.connection_id:
        return step
    from app.identity.authentication.sign_in.sessions import saml_sign_out  # noqa: PLC0415 - few tenants have any

    name, after = session.connection_id, step.address if isinstance(step, RedirectStep) else ""
    lead = saml_sign_out.begin(context, session, after)
    if lead is None:
        return step
    if isinstance(lead, PostedRequest):
        return FormPostStep(address=lead.address, fields=dict(lead.fields), connection=name)
    return RedirectStep(address=lead, connection=name)
