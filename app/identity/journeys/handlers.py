"""The hub's operations: each is one use case, each answer the visitor's next step."""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub
from app.contract.captcha import Challenge
from app.contract.hub import Next, Step
from app.identity.accounts import service as accounts
from app.identity.accounts import sought
from app.identity.accounts.identifiers import shown_phone
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.journeys import (
    again,
    alarms,
    awaiting,
    checking,
    confirming,
    connecting,
    consents,
    entering,
    factor_steps,
    freshness,
    linking,
    own_account,
    own_data,
    own_factors,
    own_identities,
    own_names,
    own_password,
    own_security,
    passkey_steps,
    passwordless_links,
    passwordless_steps,
    pins,
    readdressing,
    recovering,
    registering,
    views,
)
from app.identity.journeys import next as journey
from app.identity.oauth import authorize, logout, own_client
from app.identity.oauth import views as oauth_views
from app.identity.sign_in import attempts, identifiers, sessions, unmet
from app.identity.sign_in import service as sign_in
from app.identity.sign_in.locks import Proof
from app.identity.sign_in.second_factor import Way
from app.identity.sign_in.sessions import BrowserSession
from app.identity.tenants.whitelist import is_allowed
from app.identity.tokens import service as tokens
from app.identity.verification import phones
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the hub's operations."""
    checking.register(server)
    confirming.register(server)
    connecting.register(server)
    consents.register(server)
    factor_steps.register(server)
    readdressing.register(server)
    own_account.register(server)
    own_names.register(server)
    pins.register(server)
    own_factors.register(server)
    own_data.register(server)
    own_identities.register(server)
    own_security.register(server)
    recovering.register(server)
    alarms.register(server)
    own_password.register(server)
    passkey_steps.register(server)
    passwordless_steps.register(server)
    passwordless_links.register(server)
    server.implements(hub.tenant)(read_tenant)
    server.implements(hub.authorize)(open_authorization)
    server.implements(hub.open_return)(open_return)
    server.implements(hub.resume)(resume)
    server.implements(hub.captcha)(read_captcha)
    server.implements(hub.sign_in)(with_password)
    registering.register(server)
    server.implements(hub.consent)(answer_consent)
    server.implements(hub.switch_account)(switch_account)
    server.implements(hub.sign_out)(sign_out)
    server.implements(hub.profile)(read_profile)
    server.implements(hub.end_session)(end_session)
    server.implements(hub.own_client)(read_own_client)


def read_tenant(call: Call, req: hub.TenantRead) -> hub.TenantAnswer:
    if req.version == str(call.tenant.version):
        return hub.TenantAnswer()
    return hub.TenantAnswer(tenant=views.tenant(call))


def open_authorization(call: Call, req: hub.AuthorizeRequest) -> Next:
    return authorize.open(call, req.protocol, req.app, req.parameters)


def open_return(call: Call, req: hub.ReturnRequest) -> Next:
    return journey.open_return(call, req.return_url, sessions.current(call), action=req.action)


def resume(call: Call, req: hub.AttemptRequest) -> Next:
    attempt = attempts.find(call, req.attempt)
    if attempt is None:
        return journey.START_AGAIN
    session = sessions.current(call)
    if attempt.is_done:
        return journey.after_the_end(session)
    if session is None and (waits := factor_steps.step(call, attempt)) is not None:
        return waits
    if session is None and (state := awaiting.of(attempt)) is not None:
        return checking.step(call, attempt, state)
    step = journey.advance(call, attempt, session)
    return again.told(call, step) if step.must_reauthenticate else step


def read_captcha(call: Call, req: hub.CaptchaRead) -> Challenge:
    return captcha.own_challenge(call)


def with_password(call: Call, req: hub.SignInRequest) -> Next:
    """Verify, begin the session under a new id, and go on with the attempt; all in one transaction.

    A second submit of the form is answered as the first was: a browser follows the last answer alone.
    """
    attempt = attempts.find(call, req.attempt) if req.attempt else None
    if req.attempt and attempt is None:
        return journey.START_AGAIN
    going_on = attempt if attempt is not None and not attempt.is_done else None
    identifier = identifiers.guessed(call.tenant.settings, req.identifier)
    proof = Proof(req.security_answer, captcha.of_form(req.captcha))
    remember = entering.remembering(call, req.remember)
    if (waits := checking.again(call, going_on, identifier, req.password)) is not None:
        return waits
    try:
        passed = sign_in.verify(call, identifier, req.password, proof, hides_unknown=True)
    except e.EmailUnverified:
        going_on = linking.wish(call, going_on, connects=req.connects)
        return checking.after_password(call, going_on, sought.account_of(call, identifier), remember)
    except e.PhoneUnverified:
        return checking.after_password_by_phone(call, going_on, sought.account_of(call, identifier), remember)
    way = Way((sign_in.PASSWORD,), identifier.kind, opens_lock=passed.opens_lock, remember=remember)
    attempt = linking.wish(call, going_on, connects=req.connects) or attempt
    return entering.onward(call, attempt, passed.account, way, passed.wanted)


def answer_consent(call: Call, req: hub.ConsentRequest) -> Next:
    attempt, session = attempts.find(call, req.attempt), sessions.current(call)
    if attempt is None:
        return journey.START_AGAIN
    if attempt.kind != journey.AUTHORIZE:
        return journey.after_the_end(session)
    return authorize.answer_consent(call, attempt, session, req.allow)


def switch_account(call: Call, req: hub.SwitchRequest) -> Next:
    attempt, session = attempts.find(call, req.attempt), sessions.current(call)
    if session is not None:
        _end(call, session)
    if attempt is None or attempt.is_done:
        return journey.START_AGAIN.model_copy(update={"ends_session": True})
    return journey.advance(call, attempt, None).model_copy(update={"ends_session": True})


def sign_out(call: Call, req: hub.SignOutRequest) -> Next:
    session = sessions.current(call)
    step = logout.open(call, req, session)
    if step.step is Step.CONFIRM_SIGN_OUT and session is not None:
        account = accounts.by_uid(call, session.uid)
        return step.model_copy(update={"person": oauth_views.person(account) if account else None})
    if session is not None:
        _end(call, session)
    if step.step is Step.SIGNED_OUT and req.return_url and is_allowed(call, req.return_url):
        step = Next(step=Step.REDIRECT, address=req.return_url)
    return step.model_copy(update={"ends_session": True})


def read_profile(call: Call, req: hub.ProfileRequest) -> hub.ProfileAnswer:
    session = _signed_in(call)
    account = accounts.by_uid(call, session.uid)
    if account is None or not account.is_active:
        raise e.NotAuthenticated
    if unmet.is_barred(call, session, account):
        raise e.NotAuthenticated  # the sign-in that the page then leads to asks for it
    asked = phones.asked(call, account) if req.with_asked_phone else None
    sessions.touch(call, session)
    return hub.ProfileAnswer(
        person=oauth_views.person(account),
        profile=accounts.profile_of(account),
        has_password=account.password_hash is not None,
        must_confirm=freshness.must_confirm(call, session, account),
        answered=list(account.security_answers),
        needs_password=call.now - session.authenticated_at > freshness.FRESH,
        phone=shown_phone(account.phone) if account.phone else None,
        asked_phone=shown_phone(asked) if asked else None,
        resend_in_seconds=own_names.wait_for_number(call, account, asked) if asked else 0,
        addresses=own_names.addresses(call, account) if req.with_addresses else [],
    )


def end_session(call: Call, req: hub.EndSessionRequest) -> Next:
    session = _signed_in(call)
    if req.others:
        for held in sessions.of_account(call, session.uid):
            if held.session_id != session.session_id and sessions.end(call, session.uid, held.session_id):
                _revoke(call, session.uid, held.session_id)
    elif req.id is None:
        raise e.BadParameter.names("id")
    elif not sessions.end(call, session.uid, req.id):
        raise e.SessionExpired
    else:
        _revoke(call, session.uid, req.id)
    ends_own = req.id == session.session_id
    return Next(step=Step.SIGNED_OUT if ends_own else Step.PROFILE, ends_session=ends_own)


def read_own_client(call: Call, req: hub.RelyingPartyRead) -> hub.OwnClient:
    return own_client(call, req.name)


def _signed_in(call: Call) -> BrowserSession:
    session = sessions.current(call)
    if session is None:
        raise e.NotAuthenticated
    return session


def _revoke(call: Call, uid: str, session_id: str) -> None:
    """End what a session gave out, access while the person is away included: they do not know it, or not any more."""
    tokens.revoke_session(call, uid, session_id)
    call.ledger.record("session.ended", uid=uid, session=session_id, reason="revoked")


def _end(call: Call, session: BrowserSession) -> None:
    sessions.end(call, session.uid, session.session_id)
    tokens.end_with_session(call, session.session_id)
    call.ledger.record("session.ended", uid=session.uid, session=session.session_id)
