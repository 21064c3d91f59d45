"""Requires two factors of a session where the request does (`acr_values`, OpenID Connect Core section 5.5.1.1)."""

from __future__ import annotations

from app.contract.steps import ReauthenticationStep
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.authentication.sign_in.pending_sign_in import channel_for
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.second_factors import second_factors
from app.identity.directory.accounts.account import Account
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize.openid_parameters import acr_values, prompt
from app.identity.protocols.oauth.authorize.request import CheckedRequest, RefusedByRedirect


def step(
    context: Context, request: CheckedRequest, session: BrowserSession, account: Account | None
) -> ReauthenticationStep | None:
    """Return the second-factor step if the request requires two factors and the session has one.

    A voluntary `acr` lets an account without a second factor continue; an essential one is refused.

    Raises RefusedByRedirect.
    """
    if not request.wants_two or MFA in session.methods:
        return None
    channel = channel_for(session.methods)
    if account is None or not second_factors.kinds_of_account(context, account, channel):
        if request.demanded_acr and acr_values.met(request, session.methods) is None:
            raise acr_values.unmet()
        return None
    if prompt.NONE in request.prompt:
        raise RefusedByRedirect("interaction_required", "The second factor must be asked for.")
    return ReauthenticationStep()
