"""Decides the next step of a checked request from the stored session: sign-in, consent, or the response."""

from __future__ import annotations

from datetime import datetime, timedelta

from app.contract.hub import Next, ScopeView, Step
from app.identity.authentication.sign_in import interactions, required_actions, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import MFA, channel_for
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.second_factors import service as second_factors
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.platform.tenant import Application
from app.identity.protocols.oauth import codes, consents, views
from app.identity.protocols.oauth.authorize import acr_values, answers, prompt
from app.identity.protocols.oauth.authorize.request import Authorization, Redirected
from app.identity.protocols.oauth.codes import Code
from app.kit import randomness


def decide(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession | None,
    interaction: Interaction | None,
) -> Next:
    """Return LOGIN or REGISTER, CONSENT, or the answer at the redirect address."""
    if session is None:
        return _login(context, request, client, interaction, None)
    account = _account(context, session, interaction)
    step = _before_consent(context, request, client, session, interaction, account)
    if step is not None:
        return step
    if _must_ask(context, request, client, session.uid):
        return _consent(context, request, client, interaction, account or accounts.by_uid(context, session.uid))
    return finish(context, request, client, session, interaction)


def before_consent(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession | None,
    interaction: Interaction,
) -> Next | None:
    """Return the step that must come before an answer about consent: LOGIN or a refusal; None where there is none."""
    if session is None:
        return _login(context, request, client, interaction, None)
    return _before_consent(context, request, client, session, interaction, _account(context, session, interaction))


def _is_fresh(session: BrowserSession, interaction: Interaction | None) -> bool:
    """Return whether the user authenticated within this interaction."""
    return interaction is not None and session.authenticated_at >= interaction.created_at


def _account(context: Context, session: BrowserSession, interaction: Interaction | None) -> Account | None:
    """Return the account of a session older than the interaction; None for a fresh sign-in, which was checked when it happened."""
    return None if _is_fresh(session, interaction) else accounts.by_uid(context, session.uid)


def _before_consent(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession,
    interaction: Interaction | None,
    account: Account | None,
) -> Next | None:
    if _is_fresh(session, interaction):
        if request.subject not in (None, session.uid):
            return refuse(context, request, interaction, Redirected("login_required", "Somebody else is signed in."))
    elif not _is_enough(request, session, account, context.now):
        return _login(context, request, client, interaction, account)
    if (step := _second_factor(context, request, client, session, interaction, account)) is not None:
        return step
    return _unmet(context, request, client, session, interaction, account)


def _second_factor(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession,
    interaction: Interaction | None,
    account: Account | None,
) -> Next | None:
    """Return the second-factor step where the request asks for two factors and the session has one.

    A voluntary `acr` (OpenID Connect Core section 5.5.1.1) lets an account without a second factor continue; an essential one
    is refused.
    """
    if not request.wants_two or MFA in session.methods:
        return None
    held = account or accounts.by_uid(context, session.uid)
    if held is None or not second_factors.kinds_of_account(context, held, channel_for(session.methods)):
        is_short = request.demanded_acr and acr_values.met(request, session.methods) is None
        return refuse(context, request, interaction, acr_values.unmet()) if is_short else None
    if prompt.NONE in request.prompt:
        return refuse(
            context, request, interaction, Redirected("interaction_required", "The second factor must be asked for.")
        )
    return Next(
        step=Step.CONFIRM,
        attempt=interaction.interaction_id if interaction else None,
        relying_party=views.relying_party(client, request.redirect_uri),
        ui_locales=request.ui_locales,
        display=request.display,
    )


def _unmet(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession,
    interaction: Interaction | None,
    account: Account | None,
) -> Next | None:
    """Return the step of an action that the tenant still requires of the account; None where there is none."""
    step = required_actions.next_step(context, session, account)
    if step is None or (step.can_skip and prompt.NONE in request.prompt):
        return None
    if prompt.NONE in request.prompt:
        return refuse(context, request, interaction, Redirected("interaction_required", "The user must be asked."))
    presentation = {"ui_locales": request.ui_locales, "display": request.display}
    asking = views.relying_party(client, request.redirect_uri)
    return step.model_copy(
        update={**presentation, "attempt": interaction.interaction_id if interaction else None, "relying_party": asking}
    )


def finish(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession,
    interaction: Interaction | None,
) -> Next:
    """Respond with a code; so is a second submit of the same form, which finds the interaction ended."""
    if interaction is not None and not interactions.finish(context, interaction, uid=session.uid):
        return again(context, request, client, session, interactions.find(context, interaction.interaction_id))
    return _code(context, request, client, session)


def again(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession | None,
    interaction: Interaction | None,
) -> Next:
    """Answer an ended attempt once more, for a second submit of its form: a browser follows the last answer alone.

    The code is a new one, so that each stays good for one exchange. It gives nothing that the session would not get at
    the authorization endpoint: only whoever ended the attempt, who authenticated within it and whose yes still stands,
    gets one. An attempt that ended with a refusal repeats that.
    """
    ended = interaction.request.get(interactions.ENDED, {}) if interaction is not None else {}
    if problem := ended.get("problem"):
        return answers.refusal(request.issuer, request.model_dump(), Redirected(*problem))
    if (
        session is None
        or ended.get("uid") != session.uid
        or not _may_have_another(context, request, client, session, interaction)
    ):
        return Next(step=Step.START_AGAIN, relying_party=views.relying_party(client, request.redirect_uri))
    return _code(context, request, client, session)


def _may_have_another(
    context: Context,
    request: Authorization,
    client: Application,
    session: BrowserSession,
    interaction: Interaction | None,
) -> bool:
    account = accounts.by_uid(context, session.uid)
    if account is None or not _is_usable(account):
        return False
    is_asked_for = _is_fresh(session, interaction) and request.subject in (None, session.uid)
    needs_yes = client.settings.require_consent or prompt.CONSENT in request.prompt
    return (is_asked_for or _is_enough(request, session, account, context.now)) and (
        not needs_yes or consents.covers(context, session.uid, client.client_id, request.agreed)
    )


def _code(context: Context, request: Authorization, client: Application, session: BrowserSession) -> Next:
    acr = acr_values.met(request, session.methods) if request.demanded_acr else request.acr
    if request.demanded_acr and acr is None:
        return refuse(context, request, None, acr_values.unmet())
    sessions.touch(context, session)
    sessions.add_relying_party(context, session, client.client_id)
    kept = request.model_dump(
        mode="json", exclude_defaults=True, exclude={"state", "prompt", "ui_locales", "display", "login_hint"}
    )
    kept.update(auth_time=int(session.authenticated_at.timestamp()), amr=list(session.methods))
    kept |= {"acr": acr} if acr is not None else {}
    code = Code(client.client_id, session.uid, session.session_id, randomness.token(18), kept)
    return answers.code(request, codes.issue(context, code))


def refuse(context: Context, request: Authorization, interaction: Interaction | None, problem: Redirected) -> Next:
    """Answer with an error and end the attempt."""
    if interaction is not None:
        interactions.finish(context, interaction, problem=[problem.error, problem.description])
    context.audit.record("authorize.refused", client_id=request.client_id, error=problem.error)
    return answers.refusal(request.issuer, request.model_dump(), problem)


def _is_enough(request: Authorization, session: BrowserSession, account: Account | None, now: datetime) -> bool:
    """Return whether a session from before this request answers it."""
    if account is None or not _is_usable(account):
        return False
    if request.acr is not None or request.prompt & {prompt.LOGIN, prompt.SELECT, prompt.CREATE}:
        return False
    if request.max_age is not None and now - session.authenticated_at > timedelta(seconds=request.max_age):
        return False
    return request.subject in (None, session.uid) and _is_hinted(request.login_hint, account)


def _is_usable(account: Account) -> bool:
    return account.is_active and not account.is_deleted and not account.login_disabled


def _is_hinted(hint: str | None, account: Account) -> bool:
    names = (account.email, account.username, account.phone)
    return hint is None or hint.casefold() in [name.casefold() for name in names if name]


def _must_ask(context: Context, request: Authorization, client: Application, uid: str) -> bool:
    if prompt.CONSENT in request.prompt:
        return True
    return client.settings.require_consent and not consents.covers(context, uid, client.client_id, request.agreed)


def _login(
    context: Context,
    request: Authorization,
    client: Application,
    interaction: Interaction | None,
    account: Account | None,
) -> Next:
    if prompt.NONE in request.prompt:
        return refuse(context, request, interaction, Redirected("login_required", "The user must sign in."))
    is_same = (
        account is not None
        and _is_usable(account)
        and request.subject in (None, account.uid)
        and _is_hinted(request.login_hint, account)
    )
    return Next(
        step=Step.REGISTER if prompt.CREATE in request.prompt else Step.LOGIN,
        attempt=interaction.interaction_id if interaction is not None else None,
        relying_party=views.relying_party(client, request.redirect_uri),
        person=views.person(account) if is_same and account is not None else None,
        must_reauthenticate=is_same,
        login_hint=request.login_hint,
        ui_locales=request.ui_locales,
        display=request.display,
    )


def _consent(
    context: Context,
    request: Authorization,
    client: Application,
    interaction: Interaction | None,
    account: Account | None,
) -> Next:
    if prompt.NONE in request.prompt:
        return refuse(context, request, interaction, Redirected("consent_required", "The user must be asked."))
    return Next(
        step=Step.CONSENT,
        attempt=interaction.interaction_id if interaction is not None else None,
        relying_party=views.relying_party(client, request.redirect_uri),
        person=views.person(account) if account is not None else None,
        scopes=[ScopeView(name=name) for name in request.agreed],
        ui_locales=request.ui_locales,
        display=request.display,
    )
