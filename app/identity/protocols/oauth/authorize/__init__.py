"""The authorization endpoint (RFC 6749 section 4.1.1, OpenID Connect Core section 3.1.2): the checks, then the decision."""

from __future__ import annotations

from app.contract.hub import Next, Step
from app.identity.authentication.sign_in import interactions, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import consents, rate_limits, views
from app.identity.protocols.oauth.authorize import answers, decision, redirect_uri
from app.identity.protocols.oauth.authorize.checks import BELIEVED, REDIRECTED
from app.identity.protocols.oauth.authorize.request import Asked, Authorization, Redirected, Refused

KIND = "authorize"
_PAGES = (
    Step.LOGIN,
    Step.REGISTER,
    Step.CONSENT,
    Step.PRIVACY_POLICY,
    Step.CONSENT_FORMS,
    Step.PIN,
    Step.CONFIRM,
    Step.MISSING_FIELDS,
)


def open(context: Context, protocol: str, app: str | None, parameters: list[tuple[str, str]]) -> Next:
    """Check the request and return the next step; an interaction is stored only where a page must be shown.

    Raises TooManyRequests: this address asks too often.
    """
    rate_limits.spend_for_visitor(context)
    asked = Asked(context, protocol, app, parameters)
    try:
        for check in BELIEVED:
            check(asked)
    except Refused as refusal:
        return _refused(context, asked, refusal)
    try:
        for check in REDIRECTED:
            check(asked)
    except Redirected as refusal:
        context.audit.record("authorize.refused", client_id=asked.client.client_id, error=refusal.error)
        return answers.refusal(asked.issuer.url, asked.kept, refusal)
    request = asked.checked()
    step = decision.decide(context, request, asked.client, sessions.current(context), None)
    if step.step not in _PAGES:
        return step
    interaction, binding = interactions.begin(context, KIND, request.to_store())
    return step.model_copy(update={"attempt": interaction.interaction_id, "binding": binding})


def advance(context: Context, interaction: Interaction, session: BrowserSession | None) -> Next:
    """Return the next step of an interaction: LOGIN or REGISTER, CONSENT, or the redirect with a code or an error."""
    request, client = _reread(context, interaction)
    if client is None:
        return start_again(context, interaction)
    if interaction.is_done:
        return decision.again(context, request, client, session, interaction)
    return decision.decide(context, request, client, session, interaction)


def answer_consent(context: Context, interaction: Interaction, session: BrowserSession | None, allow: bool) -> Next:
    """Store the answer and return the next step; the session is checked again."""
    request, client = _reread(context, interaction)
    if client is None:
        return start_again(context, interaction)
    if interaction.is_done:
        is_same = allow or "problem" in interaction.request.get(interactions.ENDED, {})
        return (
            decision.again(context, request, client, session, interaction)
            if is_same
            else start_again(context, interaction)
        )
    before = decision.before_consent(context, request, client, session, interaction)
    if session is None or before is not None:
        return before or start_again(context, interaction)
    if not allow:
        context.audit.record("consent.refused", uid=session.uid, client_id=client.client_id)
        return decision.refuse(context, request, interaction, Redirected("access_denied", "The user denied access."))
    consents.give(context, session.uid, client.client_id, request.agreed)
    context.audit.record("consent.given", uid=session.uid, client_id=client.client_id, scope=" ".join(request.agreed))
    return decision.finish(context, request, client, session, interaction)


def start_again(context: Context, interaction: Interaction) -> Next:
    """Return the relying party of an interaction that has ended, where the user may start again."""
    request, client = _reread(context, interaction)
    return Next(
        step=Step.START_AGAIN, relying_party=views.relying_party(client, request.redirect_uri) if client else None
    )


def _reread(context: Context, interaction: Interaction) -> tuple[Authorization, Application | None]:
    """Return the attempt's request, and its client as it stands now: None where it is gone or gave the address up."""
    request = Authorization.model_validate(interaction.request)
    client = context.application(client_id=request.client_id)
    if client is None or not client.settings.is_active:
        return request, None
    return request, client if redirect_uri.is_registered(context, client, request.redirect_uri) else None


def _refused(context: Context, asked: Asked, refusal: Refused) -> Next:
    client = getattr(asked, "client", None)
    context.audit.record(
        "authorize.refused",
        client_id=client.client_id if client else None,
        error=refusal.error,
        problem=refusal.problem,
    )
    shown = views.relying_party(client, None) if client else None
    return Next(step=Step.REFUSED, error=refusal.error, problem=refusal.problem, relying_party=shown)
