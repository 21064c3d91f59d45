"""The account pages: profile, username, password, security answers, deletion; and the reauthentication before changes."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.contract import hub_account as contract
from app.contract import hub_recovery as passwords
from app.contract.groups import Posted
from app.contract.hub_models import InteractionOnly, LinkToken
from app.contract.registration_form import CUSTOM, FormField
from app.contract.self_service import UpdateOwnAccount
from app.contract.steps import StepResponse
from app.identity.authentication.recovery import new_password
from app.identity.authentication.sign_in import (
    interactions,
    locks,
    password_change,
    password_reset,
    required_actions,
    sessions,
)
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials import current_password
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.directory.accounts import login_records, privacy_policy
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.service import Account
from app.identity.directory.tenants import registration_form
from app.identity.hosted import next_step, views
from app.identity.hosted.reauthentication import is_fresh, must_confirm
from app.identity.platform.context import Context
from app.identity.programs.self_service import deletion, profile
from app.kit.clock import iso


@contract.edit_profile.implements
def edit_profile(context: Context, req: contract.ProfileEdit) -> Posted:
    session, account = require_account(context)
    profile.update(context, account, _changes(context, req.fields), session_id=session.session_id)
    return Posted()


@contract.edit_answers.implements
def edit_answers(context: Context, req: contract.AnswersEdit) -> contract.SessionRenewal:
    confirmed = reauthenticate(context, req)
    provided = {question: text for question, text in req.answers.items() if text.strip()}
    if provided:
        profile.update(
            context, confirmed.account, UpdateOwnAccount(security_question_answer=provided), has_reauthenticated=True
        )
    return renew_session(context, confirmed)


@passwords.change.implements
def change_password(context: Context, req: passwords.ChangePasswordRequest) -> passwords.PasswordChanged:
    session = sessions.current(context)
    account = accounts.by_uid(context, session.uid) if session else None
    if session is None or account is None:
        raise e.NotAuthenticated
    if required_actions.blocks_account_pages(context, session, account):
        raise e.NotAuthenticated
    password_reset.spend_limit(context)
    changed = password_change.change(context, account, req.old_password, req.new_password, locks.LockSolution())
    others = len(sessions.of_account(context, account.uid)) - 1
    password_reset.end_sessions_and_tokens(context, changed, except_session=session.session_id)
    text = sessions.mark_reauthenticated(context, session)
    return passwords.PasswordChanged(ended=max(0, others), session=views.cookie(context, session, text))


@passwords.set_first.implements
def set_first_password(context: Context, req: passwords.SetPasswordRequest) -> passwords.PasswordChanged:
    """Set the first password of an account; it requires a reauthentication, because a session may be stolen."""
    password_reset.spend_limit(context)
    confirmed = reauthenticate(context, contract.WithPassword())
    if confirmed.account.password_hash is not None:
        raise e.WrongCurrentPassword
    password_hash = new_password.check_and_hash(context, confirmed.account, req.password)
    locked = new_password.lock_account(context, confirmed.account)
    if locked.password_hash is not None:  # set concurrently in another tab
        raise e.WrongCurrentPassword
    new_password.write(context, locked, password_hash, suppress_webhook=False, event="SetPassword")
    text = sessions.mark_reauthenticated(context, confirmed.session)
    return passwords.PasswordChanged(session=views.cookie(context, confirmed.session, text))


@contract.read_deletion.implements
def read_deletion(context: Context, req: contract.DeletionLinkRequest) -> contract.DeletionView:
    token = deletion.peek(context, req.token)
    account = accounts.by_uid(context, token.uid)
    if account is None or account.is_deleted:
        raise e.UsedLink
    return contract.DeletionView(email=account.email or "", days=context.tenant.settings.deletion_days)


@contract.confirm_deletion.implements
def confirm_deletion(context: Context, req: LinkToken) -> contract.DeletionScheduled:
    session = sessions.current(context)
    account = deletion.confirm(context, req.token)
    is_own = session is not None and session.uid == account.uid
    return contract.DeletionScheduled(leaves_at=iso(account.leaves_at), ends_session=is_own)


@contract.cancel_deletion.implements
def cancel_deletion(context: Context, req: contract.KeepRequest) -> Posted:
    if not deletion.revert_by_token(context, req.token):
        raise e.WrongDeleteToken
    return Posted()


@contract.accept_policy.implements
def accept_policy(context: Context, req: InteractionOnly) -> StepResponse:
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_session(context)
    if interaction is None:
        return next_step.START_AGAIN
    with suppress(e.NoPrivacyPolicy, e.PolicyAcceptedAlready):  # a second click or another tab continues too
        privacy_policy.accept(context, account)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


@contract.fill_missing.implements
def fill_missing(context: Context, req: contract.MissingFieldsRequest) -> StepResponse:
    interaction, (session, account) = interactions.find(context, req.interaction_id), require_account(context)
    if interaction is None:
        return next_step.START_AGAIN
    provided = {name: text for name, text in req.fields.items() if text.strip()}
    profile.update(context, account, _changes(context, provided), session_id=session.session_id)
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


def require_account(context: Context, *, with_credentials: bool = False) -> tuple[BrowserSession, Account]:
    """Return the session and account of a user who meets the tenant's requirements; raises NotAuthenticated.

    The pages lead other visitors to a sign-in, whose steps ask for the missing ones.

    Args:
        with_credentials: read the account's credentials ahead.
    """
    session, account = require_session(context, with_credentials=with_credentials)
    if required_actions.blocks_account_pages(context, session, account):
        raise e.NotAuthenticated
    return session, account


def require_session(context: Context, *, with_credentials: bool = False) -> tuple[BrowserSession, Account]:
    """Return the session and account of a signed-in user, even with unmet requirements; raises NotAuthenticated."""
    session = sessions.current(context, with_credentials=with_credentials)
    account = accounts.by_uid(context, session.uid) if session is not None else None
    if session is None or account is None or not account.is_active or account.is_deleted:
        raise e.NotAuthenticated
    return session, account


@dataclass(frozen=True)
class Reauthenticated:
    """A user who authenticated recently, or by the request itself (`is_new`)."""

    session: BrowserSession
    account: Account
    is_new: bool = False


def renew_session(context: Context, confirmed: Reauthenticated) -> contract.SessionRenewal:
    """Return the response of a change; after a reauthentication by the request, the session gets a new cookie."""
    if not confirmed.is_new:
        return contract.SessionRenewal()
    text = sessions.mark_reauthenticated(context, confirmed.session)
    return contract.SessionRenewal(session=views.cookie(context, confirmed.session, text))


def reauthenticate(context: Context, req: contract.WithPassword) -> Reauthenticated:
    """Return the signed-in account if the user authenticated recently, or gives the password now. A wrong password counts.

    Raises:
        WrongCurrentPassword, and the refusals of a locked account.
        NotAuthenticated: the password does not suffice; the page then leads to a full reauthentication.
    """
    session, account = require_account(context)
    if is_fresh(context, session):
        return Reauthenticated(session, account)
    if must_confirm(context, session, account):
        raise e.NotAuthenticated
    if not req.password:
        one_time_tokens.refuse_locked(context, account)
        raise e.WrongCurrentPassword("The password is asked again.")
    verified = current_password.verify(context, account, req.password, e.WrongCurrentPassword)
    with context.work.separate_transaction() as work:
        login_records.reset_failures(work, account.uid)
    return Reauthenticated(session, verified, is_new=True)


def _changes(context: Context, typed: dict[str, str]) -> UpdateOwnAccount:
    """Return the typed values as an update of the profile, limited to the fields of the tenant's form."""
    form = contract.editable(registration_form.fields_of(context.tenant.settings))
    edited = [(field, typed[field.name].strip()) for field in form if field.name in typed]
    body: dict[str, Any] = {field.member: _submitted_value(field, text) for field, text in edited if field.member}
    custom = {field.name.removeprefix(CUSTOM): text or None for field, text in edited if field.is_custom}
    return UpdateOwnAccount.model_validate(
        {**body, **({"CustomFields": custom} if custom else {}), "null_support": True}
    )


def _submitted_value(field: FormField, text: str) -> str | None:
    return text or ("false" if field.type == "multi" else None)
