"""The first account page: the profile of the signed-in account; and the operation that ends one of its sessions."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts.pages import profile_pages
from app.contract.sessions.pages import sign_out_pages
from app.contract.steps import ProfileStep, SignedOutStep, StepResponse
from app.identity.authentication.sign_in import reauthentication_rules, required_actions
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.authentication.verification import phone_verification
from app.identity.credentials.ldap import ldap_directories
from app.identity.credentials.tokens import tokens
from app.identity.directory.accounts.identifiers import display_phone
from app.identity.directory.accounts.profile import profile_document
from app.identity.directory.organizations import active_policies
from app.identity.pages_api import views
from app.identity.pages_api.accounts import emails_and_phone, security_checkup
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import account_choice
from app.identity.protocols.oauth.logout import session_end
from app.kit.clock import iso


@profile_pages.profile.implements
def read_profile(context: Context, req: profile_pages.ProfileRequest) -> profile_pages.ProfileResponse:
    signed_in = sessions.signed_in(context, with_credentials=req.with_checkup)
    if signed_in is None or not signed_in.account.is_active:
        raise errors.NotAuthenticated
    session, account = signed_in.session, signed_in.account
    if required_actions.blocks_account_pages(context, session, account):
        raise errors.NotAuthenticated  # the page then leads to a sign-in, which asks for them
    requested_number = phone_verification.requested_number(context, account) if req.with_requested_phone else None
    sessions.touch(context, session)
    return profile_pages.ProfileResponse(
        person=views.person(context, account),
        profile=profile_document.entered_of(account),
        has_password=ldap_directories.has_password(context, account),
        reauthentication=reauthentication_rules.required_reauthentication(context, session, account),
        answered=list(account.security_answers),
        phone=display_phone(account.phone) if account.phone else None,
        requested_phone=display_phone(requested_number) if requested_number else None,
        resend_in_seconds=emails_and_phone.wait_for_number(context, account, requested_number)
        if requested_number
        else 0,
        addresses=emails_and_phone.email_views(context, account) if req.with_emails else [],
        registered_at=iso(account.created_at),
        has_to_do=req.with_checkup and security_checkup.has_task(context, account, signed_in.credentials),
        password_policy=active_policies.password_rules(context, account) if req.with_password_policy else None,
    )


@sign_out_pages.end_session.implements
def end_session(context: Context, req: sign_out_pages.EndSessionRequest) -> StepResponse:
    session = sessions.current(context)
    if session is None:
        raise errors.NotAuthenticated
    frames: list[str] = []
    if req.others:
        for other_session in sessions.of_account(context, session.uid):
            if other_session.session_id != session.session_id and sessions.end(
                context, session.uid, other_session.session_id
            ):
                _revoke(context, session.uid, other_session.session_id)
    elif req.id is None:
        raise errors.BadParameter.names("id")
    elif (ended := sessions.end(context, session.uid, req.id)) is None:
        raise errors.SessionExpired
    else:
        _revoke(context, session.uid, req.id)
        if req.id == session.session_id:
            frames = session_end.frames(context, [ended, *sessions.end_in_browser(context, session.uid)])
    ends_own = req.id == session.session_id
    if not ends_own:
        return StepResponse(step=ProfileStep())
    step = SignedOutStep(accounts=account_choice.options_left(context))
    return StepResponse(step=step, ends_session=True, frames=frames)


def _revoke(context: Context, uid: str, session_id: str) -> None:
    """Revoke the tokens of a session that its user no longer recognises, offline access included."""
    tokens.revoke_session(context, uid, session_id)
    context.audit.record("session.ended", uid=uid, session=session_id, reason="revoked")
