"""What is next for a visitor: the identity service decides, the hub shows."""

from __future__ import annotations

from app.contract.hub import Next, RelyingPartyView, Step
from app.identity.authentication.sign_in import interactions, required_actions, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import service as accounts
from app.identity.directory.tenants.allowed_addresses import is_allowed, is_registered_page, with_query
from app.identity.hosted import reauthentication, token_handoff
from app.identity.platform.context import Context
from app.identity.protocols.oauth import authorize
from app.identity.protocols.oauth import views as oauth
from app.identity.protocols.oauth.views import redirect_origin

AUTHORIZE, RETURN = "authorize", "return"
CHOSEN = "pin_chosen"
"""The member of an attempt's request that says that its person wants the PIN which is offered."""
PROFILE_PATH = "/profile"
START_AGAIN = Next(step=Step.START_AGAIN)  # the attempt is gone; the hub knows the relying party from its cookie


def open_interaction(context: Context, interaction_id: str) -> Interaction | Next:
    """Return the interaction of this tab, or the step that answers a request which comes after its end."""
    interaction = interactions.find(context, interaction_id)
    if interaction is None:
        return START_AGAIN
    return after_end(sessions.current(context)) if interaction.is_done else interaction


def advance(context: Context, interaction: Interaction, session: BrowserSession | None) -> Next:
    """Return the attempt's next step for this session.

    A PIN opens doors: whoever is to set one and has to prove who they are, by more than a password, does so before it.
    """
    step = _advance(context, interaction, session)
    if step.step is not Step.PIN or session is None or (step.can_skip and not interaction.request.get(CHOSEN)):
        return step
    account = accounts.by_uid(context, session.uid)
    if account is None or not reauthentication.must_confirm(context, session, account):
        return step
    asked = {"step": Step.LOGIN, "person": oauth.person(account), "must_reauthenticate": True}
    return step.model_copy(update=asked)


def _advance(context: Context, interaction: Interaction, session: BrowserSession | None) -> Next:
    if interaction.kind == AUTHORIZE:
        return authorize.advance(context, interaction, session)
    if session is None:
        return Next(step=Step.LOGIN, attempt=interaction.interaction_id)
    if (wanted := required_actions.next_step(context, session)) is not None:
        return wanted.model_copy(update={"attempt": interaction.interaction_id})
    if (wish := token_handoff.request_for(interaction)) is not None:
        return token_handoff.with_session(context, interaction, session, wish)
    interactions.finish(context, interaction)
    return to_return_address(context, session, interaction.request.get("return_url"))


def to_return_address(context: Context, session: BrowserSession, return_url: str | None) -> Next:
    """Return the landing of a plain visit: an allowed return address, else the profile, which then says so."""
    if return_url and is_allowed(context, return_url):
        return Next(step=Step.REDIRECT, address=_with_token(context, session, return_url))
    return Next(step=Step.PROFILE, address=PROFILE_PATH, problem="return_url" if return_url else None)


def _with_token(context: Context, session: BrowserSession, return_url: str) -> str:
    """Return the address with an access token, where the tenant asks for that (interface hosted-pages.md section 3).

    The token ends with the browser session. Only a page that the whitelist names receives one: below an origin there may be an
    open redirect. Our own pages receive none: they know the session.
    """
    is_own = redirect_origin(return_url).lower() == redirect_origin(context.issuer)
    if is_own or not context.tenant.settings.token_in_return_url or not is_registered_page(context, return_url):
        return return_url
    ends_at = int(session.expires_at.timestamp())
    facts = {"provider": "Email", "agent": context.agent, "address": context.address, tokens.ENDS_AT: ends_at}
    issued = tokens.issue(context, uid=session.uid, session_id=session.session_id, facts=facts, with_refresh=False)
    return with_query(return_url, token=issued.access_token)


def open_return(
    context: Context, return_url: str | None, session: BrowserSession | None, *, action: str = "login"
) -> Next:
    """Begin a plain visit at the page of the action; a signed-in person of whom nothing is wanted goes straight on."""
    wanted = required_actions.next_step(context, session) if session is not None else None
    if session is not None and wanted is None:
        sessions.touch(context, session)
        return to_return_address(context, session, return_url)
    asked = {"return_url": return_url} if return_url else {}
    interaction, binding = interactions.begin(context, RETURN, {**asked, "action": action})
    origin = redirect_origin(return_url) if return_url and is_allowed(context, return_url) else None
    asking = RelyingPartyView(name="", client_id="", redirect_origin=origin) if origin else None
    if wanted is not None:
        held = {"attempt": interaction.interaction_id, "binding": binding, "relying_party": asking}
        return wanted.model_copy(update=held)
    step = {"register": Step.REGISTER, "forgotpassword": Step.FORGOT}.get(action, Step.LOGIN)
    return Next(step=step, attempt=interaction.interaction_id, binding=binding, relying_party=asking)


def after_end(session: BrowserSession | None) -> Next:
    """Return what Back, refresh and a second submit meet after the attempt ended: the profile where signed in, else start again."""
    return Next(step=Step.PROFILE, address=PROFILE_PATH) if session else START_AGAIN
