"""Shows errors on our page instead of an immediate redirect, if the tenant does not vouch for the redirect URI.

The person who registers an application chooses its redirect URI; an error that is sent there at once would make this host an open
redirector (RFC 9700 section 4.11.2). An account that remembers its consent knows the application, so silent renewal works.
"""

from __future__ import annotations

from app.contract.steps import RefusedStep, StepResponse
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import oauth_views, refusal_log
from app.identity.protocols.oauth.authorize.request import RefusedByRedirect
from app.identity.protocols.oauth.consents import application_consents


def needs_page(context: Context, client: Application, session: BrowserSession | None) -> bool:
    """Return whether an error before any page may not be sent to the client by a redirect."""
    if not client.is_self_registered or context.tenant.settings.client_registration.redirect_errors:
        return False
    return session is None or application_consents.find(context, session.uid, client.client_id) is None


def page(context: Context, client: Application, problem: RefusedByRedirect) -> StepResponse:
    """Return the error page, which links to the application."""
    refusal_log.log(problem.error, problem.description, client_id=client.client_id)
    return StepResponse(
        step=RefusedStep(error=problem.error, description=problem.description),
        relying_party=oauth_views.relying_party(context, client, None),
    )
