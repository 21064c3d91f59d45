"""OpenID Connect RP-Initiated Logout 1.0: decide whether to ask for confirmation and where to redirect; the caller ends the session."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from app.contract.sessions.pages.sign_out_pages import SignOutRequest
from app.contract.step_reasons import RefusedPart
from app.contract.steps import ConfirmSignOutStep, RedirectStep, RefusedStep, SignedOutStep, StepResponse
from app.identity.authentication.sign_in.sessions import browser_sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.directory.accounts import account_store
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import oauth_views
from app.identity.protocols.oauth.authorize.oauth_parameters import redirect_uri
from app.identity.protocols.oauth.authorize.openid_parameters import login_hint
from app.identity.protocols.oauth.claims import subjects
from app.identity.protocols.oauth.tokens import issued_jwts
from app.identity.protocols.oauth.tokens.issued_jwts import IdTokenHint


def open(context: Context, req: SignOutRequest, session: BrowserSession | None) -> StepResponse:
    """Return CONFIRM_SIGN_OUT for an unconfirmed request, else REDIRECT or SIGNED_OUT.

    An id_token of this session confirms the request, and so does the user on our page; without either, a foreign page could
    sign users out. A redirect URI that the client did not register is never followed (section 3), and makes the request
    doubtful: a signed-in user is asked, and a signed-out one gets an error page, REFUSED. A `client_id` of another client
    than the id_token's, and a `logout_hint` of another user, make it doubtful too (section 2). For an application that registered itself,
    a signed-out user gets the page with a link in place of the redirect (RFC 9700 section 4.11.2).
    """
    hint = issued_jwts.read_id_token_hint(context, req.id_token_hint) if req.id_token_hint else None
    client = _client(context, req, hint)
    relying_party = oauth_views.relying_party(context, client, None) if client else None
    address = req.post_logout_redirect_uri
    is_registered = address is not None and client is not None and _is_registered(context, client, address)
    is_doubtful = bool(address) and not is_registered
    if session is not None and not req.confirmed:
        is_doubtful = (
            is_doubtful or _is_contradictory(req, hint) or _names_another(context, client, req.logout_hint, session)
        )
        if is_doubtful or not _is_of_session(hint, session):
            return StepResponse(step=ConfirmSignOutStep(), relying_party=relying_party)
    if session is None and is_doubtful:
        return StepResponse(
            step=RefusedStep(error="invalid_request", part=RefusedPart.POST_LOGOUT_REDIRECT_URI),
            relying_party=relying_party,
        )
    context.audit.record("logout", uid=session.uid if session else None, client_id=client.client_id if client else None)
    if not address or not is_registered or (client is not None and _is_untrusted(client, req, session)):
        return StepResponse(step=SignedOutStep(), relying_party=relying_party)
    return StepResponse(step=RedirectStep(address=_with_state(address, req.state)), relying_party=relying_party)


def named_session(context: Context, req: SignOutRequest) -> BrowserSession | None:
    """Return the session of this browser that the hint names, which need not be the current one."""
    if not (req.id_token_hint and context.visit and context.visit.others):
        return None
    hint = issued_jwts.read_id_token_hint(context, req.id_token_hint)
    return browser_sessions.find(context, hint.uid, hint.session_id) if hint is not None else None


def _is_registered(context: Context, client: Application, address: str) -> bool:
    return address in client.settings.post_logout_redirect_uris and redirect_uri.may_lead_to(context, client, address)


def _is_untrusted(client: Application, req: SignOutRequest, session: BrowserSession | None) -> bool:
    """Return whether anyone's link, without a session or a person's answer, leads to an address that the tenant does not vouch for."""
    return client.is_self_registered and session is None and not req.confirmed


def _client(context: Context, req: SignOutRequest, hint: IdTokenHint | None) -> Application | None:
    """Return the client that the hint and the client_id name; None if they name none or different ones."""
    if req.client_id is None:
        return hint.client if hint is not None else None
    if req.id_token_hint is not None and (hint is None or hint.client.client_id != req.client_id):
        return None
    client = context.application(client_id=req.client_id)
    return client if client is not None and client.settings.is_active else None


def _is_contradictory(req: SignOutRequest, hint: IdTokenHint | None) -> bool:
    return req.client_id is not None and hint is not None and hint.client.client_id != req.client_id


def _names_another(
    context: Context, client: Application | None, logout_hint: str | None, session: BrowserSession
) -> bool:
    """Return whether the hint is an identifier, but not one of the session's account, as the client knows them."""
    if not logout_hint or logout_hint == subjects.sid_of(context, client, session.session_id):
        return False
    account, subject = account_store.by_uid(context, session.uid), subjects.of(context, client, session.uid)
    return account is None or login_hint.names_another(context.tenant.settings, account, subject, logout_hint)


def _is_of_session(hint: IdTokenHint | None, session: BrowserSession) -> bool:
    return hint is not None and (hint.uid, hint.session_id) == (session.uid, session.session_id)


def _with_state(address: str, state: str | None) -> str:
    if not state:
        return address
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'state': state}, quote_via=quote)}"
