"""Operations of the hosted pages: sign-in, consent, sign-out, sessions; each response is the visitor's next step."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub, hub_sign_out
from app.contract.captcha import CaptchaChallenge
from app.contract.hub_models import NoParameters, SwitchAccountRequest
from app.contract.logout_settings import LogoutReason
from app.contract.steps import ConfirmSignOutStep, LoginStep, ProfileStep, RedirectStep, SignedOutStep, StepResponse
from app.identity.authentication.sign_in import browser_sessions, identifiers, interactions, required_actions, sessions
from app.identity.authentication.sign_in import service as sign_in
from app.identity.authentication.sign_in.locks import LockSolution
from app.identity.authentication.sign_in.second_factor import Authentication
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.authentication.verification import phones
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.tokens import service as tokens
from app.identity.directory.accounts import account_lookup
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.identifiers import display_phone
from app.identity.directory.organizations import in_force
from app.identity.directory.tenants.allowed_addresses import is_allowed
from app.identity.hosted import (
    account_identifiers,
    first_factor_passed,
    identity_linking,
    next_step,
    pending_verification,
    reauthentication,
    second_factor,
    security_checkup,
    sign_outs,
    verification,
    views,
)
from app.identity.platform.context import Context
from app.identity.protocols.oauth import authorize, hub_client, logout
from app.identity.protocols.oauth import views as oauth_views
from app.identity.protocols.oauth.authorize import account_choice


@hub.authorize.implements
def open_authorization(context: Context, req: hub.AuthorizeRequest) -> StepResponse:
    return authorize.open(context, req.protocol, req.app, req.parameters)


@hub.open_return.implements
def open_return(context: Context, req: hub.ReturnRequest) -> StepResponse:
    session = sessions.current(context)
    return next_step.open_return(context, req.return_url, session, action=req.action, organization=req.organization)


@hub.resume.implements
def resume(context: Context, req: hub.InteractionRequest) -> StepResponse:
    interaction = next_step.open_interaction(context, req.interaction_id)
    if isinstance(interaction, StepResponse):
        return interaction
    session = sessions.current(context)
    if session is None and (pending := second_factor.step(context, interaction)) is not None:
        return pending
    state = pending_verification.pending_for(context, interaction)
    if state is not None and (session is None or pending_verification.precedes_joining(context, interaction, session)):
        return verification.step(context, interaction, state)
    response = next_step.advance(context, interaction, session)
    return reauthentication.with_methods(context, response)


@hub.reopen.implements
def reopen(context: Context, req: hub.InteractionRequest) -> StepResponse:
    """Return what the pages of the interaction show, if this browser began it; an expired one restarts from its request.

    It lives as long as a new one from here on, because the hub's cookie does. Nothing is decided here: the restarted request
    passes its checks again at each step.
    """
    interaction = interactions.find_retained(context, req.interaction_id)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.expires_at <= context.now:
        # A second request may have restarted or ended it meanwhile.
        interaction = interactions.lock(context, interaction)
    if interaction.expires_at <= context.now and not interaction.is_done:
        interaction = interactions.restart(context, interaction, authorize.to_restart(interaction))
        context.audit.record("sign_in.restarted", client_id=interaction.request.get("client_id"))
    else:
        interactions.extend(context, interaction)
    shown = authorize.opened(context, interaction)
    if interaction.kind == next_step.RETURN:
        shown["relying_party"] = next_step.return_target(context, interaction.request.get("return_url"))
    return StepResponse(step=LoginStep(), interaction_id=interaction.interaction_id, **shown)


@hub.captcha.implements
def read_captcha(context: Context, req: NoParameters) -> CaptchaChallenge:
    return captcha.built_in_challenge(context)


@hub.sign_in.implements
def with_password(context: Context, req: hub.SignInRequest) -> StepResponse:
    """Verify the password, begin a session and continue the interaction, in one transaction.

    A second submit of the form gets the same response, because a browser follows only the last one.
    """
    interaction = interactions.find(context, req.interaction_id) if req.interaction_id else None
    if req.interaction_id and interaction is None:
        return next_step.START_AGAIN
    unfinished = interaction if interaction is not None and not interaction.is_done else None
    identifier = identifiers.guess(context.tenant.settings, req.identifier)
    solution = LockSolution(req.security_answer, captcha.from_form(req.captcha))
    remember = first_factor_passed.can_remember(context, req.remember)
    if unfinished is not None and (
        pending := verification.repeat_sign_in(context, unfinished, identifier, req.password)
    ):
        return pending
    try:
        verified = sign_in.verify(context, identifier, req.password, solution, hides_unknown=True)
    except e.EmailUnverified:
        if unfinished is not None:
            unfinished = identity_linking.mark_announced(context, unfinished, connects=req.connects)
        return verification.after_password(
            context, unfinished, account_lookup.find(context, identifier, is_hidden=True).holder, remember
        )
    except e.PhoneUnverified:
        return verification.after_password_by_phone(
            context, unfinished, account_lookup.find(context, identifier, is_hidden=True).holder, remember
        )
    except e.LoginNotAllowed as refusal:
        return first_factor_passed.ask_for_method(context, unfinished, refusal)
    authentication = Authentication(
        (sign_in.PASSWORD,), identifier.kind, opens_lock=verified.opens_lock, remember=remember
    )
    if unfinished is not None:
        interaction = identity_linking.mark_announced(context, unfinished, connects=req.connects)
    return first_factor_passed.continue_sign_in(
        context, interaction, verified.account, authentication, verified.required
    )


@hub.consent.implements
def answer_consent(context: Context, req: hub.ConsentRequest) -> StepResponse:
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    if interaction.kind != next_step.AUTHORIZE:
        return next_step.after_end(session)
    if (unsaved := next_step.unsaved_codes(context, interaction, session)) is not None:
        return unsaved
    if session is not None and req.account != session.uid:  # the page asked another account
        return next_step.advance(context, interaction, session)
    return authorize.answer_consent(context, interaction, session, req.allow, req.refused)


@hub.switch_account.implements
def switch_account(context: Context, req: SwitchAccountRequest) -> StepResponse:
    """End the session of the page's account, or let the person choose another one of the browser's (decisions/0238)."""
    interaction, session = interactions.find(context, req.interaction_id), sessions.current(context)
    if interaction is not None and session is not None and req.account not in ("", session.uid):
        return next_step.advance(context, interaction, session)
    if req.chooses and session is not None and interaction is not None and account_choice.may_choose(interaction):
        interaction = interactions.add_facts(context, interaction, **account_choice.facts_of_request(context))
        return next_step.advance(context, interaction, session)
    ended = sign_outs.end(context, session) if session is not None else []
    update = {"ends_session": True, "frames": sign_outs.frames(context, ended)}
    if interaction is None or interaction.is_done:
        return next_step.START_AGAIN.model_copy(update=update)
    if interaction.request.get(first_factor_passed.KEY):  # the sign-in of the account that is left
        facts = {first_factor_passed.KEY: None, first_factor_passed.STEP_UP: None}
        interaction = interactions.add_facts(context, interaction, **facts)
    return next_step.advance(context, interaction, None).model_copy(update=update)


@hub_sign_out.sign_out.implements
def sign_out(context: Context, req: hub_sign_out.SignOutRequest) -> StepResponse:
    """End the session that the request's `id_token_hint` names, of those of this browser, else the current one."""
    current = sessions.current(context)
    named = logout.named_session(context, req)
    session = named if named is not None and (current is None or named.uid != current.uid) else current
    response = logout.open(context, req, session)
    if isinstance(response.step, ConfirmSignOutStep) and session is not None:
        account = accounts.by_uid(context, session.uid)
        asked = ConfirmSignOutStep(person=oauth_views.person(account) if account else None)
        return response.model_copy(update={"step": asked})
    reason: LogoutReason = "rp_logout" if response.relying_party is not None else "idp_logout"
    ended = sign_outs.end(context, session, reason) if session is not None else []
    if isinstance(response.step, SignedOutStep) and req.return_url and is_allowed(context, req.return_url):
        response = StepResponse(step=RedirectStep(address=req.return_url))
    if req.confirmed and req.everyone:
        ended += [
            element
            for item in browser_sessions.all_sessions(context)
            for element in sign_outs.end(context, item.session)
        ]
        current = None
    stays = current.uid if current is not None and session is not current else ""
    others = browser_sessions.others(context, stays) if context.visit and context.visit.others else None
    update = {"frames": sign_outs.frames(context, ended), "ends_session": not stays, "other_sessions": others}
    if isinstance(response.step, SignedOutStep):
        update |= {"step": SignedOutStep(accounts=account_choice.options_left(context))}
    return response.model_copy(update=update)


@hub.profile.implements
def read_profile(context: Context, req: hub.ProfileRequest) -> hub.ProfileResponse:
    session = _signed_in(context, with_credentials=req.with_checkup)
    account = accounts.by_uid(context, session.uid)
    if account is None or not account.is_active:
        raise e.NotAuthenticated
    if required_actions.blocks_account_pages(context, session, account):
        raise e.NotAuthenticated  # the page then leads to a sign-in, which asks for them
    requested_number = phones.requested_number(context, account) if req.with_asked_phone else None
    sessions.touch(context, session)
    return hub.ProfileResponse(
        person=views.person(context, account),
        profile=accounts.entered_of(account),
        has_password=account.password_hash is not None,
        must_confirm=reauthentication.must_confirm(context, session, account),
        answered=list(account.security_answers),
        needs_password=context.now - session.authenticated_at > reauthentication.REAUTHENTICATION_LIFETIME,
        phone=display_phone(account.phone) if account.phone else None,
        asked_phone=display_phone(requested_number) if requested_number else None,
        resend_in_seconds=account_identifiers.wait_for_number(context, account, requested_number)
        if requested_number
        else 0,
        addresses=account_identifiers.addresses(context, account) if req.with_addresses else [],
        has_to_do=req.with_checkup and security_checkup.has_task(context, account),
        password_policy=in_force.password_rules(context, account) if req.with_password_policy else None,
    )


@hub.end_session.implements
def end_session(context: Context, req: hub.EndSessionRequest) -> StepResponse:
    session = _signed_in(context)
    frames: list[str] = []
    if req.others:
        for other_session in sessions.of_account(context, session.uid):
            if other_session.session_id != session.session_id and sessions.end(
                context, session.uid, other_session.session_id
            ):
                _revoke(context, session.uid, other_session.session_id)
    elif req.id is None:
        raise e.BadParameter.names("id")
    elif (ended := sessions.end(context, session.uid, req.id)) is None:
        raise e.SessionExpired
    else:
        _revoke(context, session.uid, req.id)
        if req.id == session.session_id:
            frames = sign_outs.frames(context, [ended, *sessions.end_in_browser(context, session.uid)])
    ends_own = req.id == session.session_id
    if not ends_own:
        return StepResponse(step=ProfileStep())
    step = SignedOutStep(accounts=account_choice.options_left(context))
    return StepResponse(step=step, ends_session=True, frames=frames)


@hub.hub_client.implements
def read_own_client(context: Context, req: hub.HubClientRequest) -> hub.HubClient:
    return hub_client(context, req.name)


def _signed_in(context: Context, *, with_credentials: bool = False) -> BrowserSession:
    session = sessions.current(context, with_credentials=with_credentials)
    if session is None:
        raise e.NotAuthenticated
    return session


def _revoke(context: Context, uid: str, session_id: str) -> None:
    """Revoke the tokens of a session that its user no longer recognises, offline access included."""
    tokens.revoke_session(context, uid, session_id)
    context.audit.record("session.ended", uid=uid, session=session_id, reason="revoked")
