"""Shows the outcome of a sign-in on our pages: the session, or the step of a second factor, another method or a new password."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from app.contract import errors
from app.contract.error_groups import WORKFLOW_REFUSALS
from app.contract.organizations.settings import MethodLimit
from app.contract.step_reasons import LoginReason
from app.contract.steps import (
    BackupCodesStep,
    LoginStep,
    NewPasswordStep,
    PasskeyOfferStep,
    SecondFactorStep,
    StepResponse,
)
from app.identity.authentication.sign_in import completion, eligibility, interactions, pending_sign_in
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import ActionRequired, Complete, FactorRequired, Outcome, Refused
from app.identity.authentication.sign_in.interaction_state import NEW
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.authentication.sign_in.sessions import browser_sessions, session_renewal, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.authentication.sign_in.workflows import denials
from app.identity.authentication.workflows.workflow_run import SessionWorkflows
from app.identity.credentials import reset_messages
from app.identity.credentials.second_factors.authenticators.authenticator import ChallengeOptions
from app.identity.directory.accounts.account import Account
from app.identity.directory.organizations import active_policies
from app.identity.pages_api.interactions import next_step, passkey_offers, pending_identities
from app.identity.platform.context import Context
from app.identity.protocols.oauth.authorize import account_choice
from app.kit.operations.errors import ApiError

if TYPE_CHECKING:
    from app.identity.authentication.federation.home_realms import HomeRealm

EXPIRED = "expired"
"""The reason of a token that replaces an expired password."""
_SHOWN_ON_LOGIN_PAGE: Final = (errors.LoginNotAllowed, *WORKFLOW_REFUSALS)
_FirstStep = PasskeyOfferStep | BackupCodesStep
"""A step that comes before the interaction continues."""


def try_after_first_factor(
    context: Context, interaction: Interaction | None, account: Account, authentication: Authentication
) -> StepResponse | None:
    """Sign in after one factor other than a password; None if the account may not sign in by it."""
    outcome = completion.after_first_factor(context, account, authentication)
    if isinstance(outcome, Refused) and not isinstance(outcome.error, _SHOWN_ON_LOGIN_PAGE):
        return None
    if isinstance(outcome, FactorRequired):
        if outcome.required.must_enrol and authentication.is_taken_over:
            return None  # enrolment requires a first factor in this browser
        if not eligibility.can_sign_in(context, account, authentication.kind):
            return None
    return present(context, interaction, outcome)


def present(
    context: Context, interaction: Interaction | None, outcome: Outcome, *, first_step: _FirstStep | None = None
) -> StepResponse:
    """Return the step that follows a factor, and begin the session of a recorded sign-in: a required action is its next step.

    Raises the reason of a refusal, unless another method is allowed, or a workflow says why.
    """
    match outcome:
        case FactorRequired():
            return _prompt_for_second_factor(context, interaction, outcome)
        case Refused(_, errors.LoginNotAllowed() as refusal):
            return prompt_for_method(context, interaction, refusal)
        case Refused(_, errors.WorkflowDenied() | errors.WorkflowGone() as refusal):
            return show_denial(context, interaction, refusal)
        case Refused(_, error):
            raise error or errors.AccountBlocked
        case Complete(account, authentication) | ActionRequired(account, authentication):
            return _begin_session(context, interaction, account, authentication, first_step)


def prompt_for_method(
    context: Context, interaction: Interaction | None, refusal: errors.LoginNotAllowed
) -> StepResponse:
    """Return the login step of a sign-in whose first factor was verified, with the methods that the account may use."""
    limit = MethodLimit.model_validate(refusal.data)
    return _in_interaction(context, interaction, LoginStep(reason=LoginReason.METHOD, method_limit=limit))


def lead(context: Context, interaction: Interaction | None, realm: HomeRealm) -> StepResponse:
    """Return the login step that leads where an address belongs, before it is known whether an account has it."""
    step = realm.login_step()
    if step.method_limit is None:
        return StepResponse(step=step, interaction_id=interaction.interaction_id if interaction is not None else None)
    return _in_interaction(context, interaction, step)


def _in_interaction(context: Context, interaction: Interaction | None, step: LoginStep) -> StepResponse:
    """Return a step whose page needs an interaction, because its cookie holds the limit; begin one where there is none."""
    binding = None
    if interaction is None or interaction.is_done:
        interaction, binding = interactions.start(context, InteractionKind.RETURN)
    return StepResponse(step=step, interaction_id=interaction.interaction_id, binding=binding)


def show_denial(context: Context, interaction: Interaction | None, refusal: ApiError) -> StepResponse:
    """Return the login step with what a workflow says; what the sign-in changed stays, such as a verified address."""
    texts = denials.texts_of(refusal)
    binding = None
    if interaction is None or interaction.is_done:
        interaction, binding = interactions.start(context, InteractionKind.RETURN, replace(NEW, denial=texts))
    else:
        state = replace(interaction.state, denial=texts, second_factor_token_hash=None)
        interactions.save(context, interaction, state)
    return StepResponse(
        step=LoginStep(reason=LoginReason.WORKFLOW, denial=denials.text_of(context, texts)),
        interaction_id=interaction.interaction_id,
        binding=binding,
    )


def _prompt_for_second_factor(
    context: Context, interaction: Interaction | None, outcome: FactorRequired
) -> StepResponse:
    open_one = interaction if interaction is not None and not interaction.is_done else None
    ids = interactions.new_ids()
    interaction_id = open_one.interaction_id if open_one is not None else ids.interaction_id
    pending = pending_sign_in.send_preferred(
        context,
        pending_sign_in.begin(context, outcome.required, outcome.authentication),
        outcome.required.kinds,
        ChallengeOptions(interaction_id=interaction_id),
    )
    state = open_one.state if open_one is not None else NEW
    state = replace(state, second_factor_token_hash=pending.token.token_hash, reauthenticated_session_id=None)
    if open_one is not None:
        interactions.save(context, open_one, state)
        return StepResponse(step=SecondFactorStep(), interaction_id=interaction_id)
    _, binding = interactions.start(context, InteractionKind.RETURN, state, ids)
    return StepResponse(step=SecondFactorStep(), interaction_id=interaction_id, binding=binding)


def _begin_session(
    context: Context,
    interaction: Interaction | None,
    account: Account,
    authentication: Authentication,
    step: _FirstStep | None,
) -> StepResponse:
    """Begin the session and continue the interaction, with `step` first; in one transaction.

    A reauthentication in this browser continues the same session under a new cookie.
    """
    if authentication.is_taken_over:
        return _take_over_session(context, interaction, account, authentication, step)
    if (new_password := _new_password_step(context, account, interaction, authentication)) is not None:
        return new_password
    if interaction is not None:
        interaction = pending_identities.link_pending(context, interaction, account)
    current, run = sessions.current_of(context, account.uid), authentication.workflow
    upstream = pending_identities.upstream_of(context, interaction, authentication)
    renewed = (
        session_renewal.renew(context, current, authentication.methods, authentication.remember, run, upstream=upstream)
        if current is not None
        else None
    )
    if renewed is not None:
        context.audit.record("step_up.passed", uid=account.uid, by="sign-in")
    is_more = account_choice.requests_another(interaction) and renewed is None
    session, text = renewed or sessions.start(
        context,
        account.uid,
        authentication.methods,
        authentication.remember,
        keeps_current=is_more,
        workflows=SessionWorkflows.of(run),
        upstream=upstream,
    )
    pending_identities.remember_name(context, session, upstream, is_new=renewed is None)
    cookie = _cookie(context, session, text, is_more=is_more)
    is_new = current is None and interaction is not None and not interaction.is_done
    if step is None and is_new and passkey_offers.is_due(context, account, authentication):
        step = PasskeyOfferStep()
    return _continue_with(context, interaction, session, step).model_copy(update=cookie)


def _take_over_session(
    context: Context,
    interaction: Interaction | None,
    account: Account,
    authentication: Authentication,
    step: _FirstStep | None,
) -> StepResponse:
    """Begin a session with the authentication time and the end of the other device's session.

    It links no identity, offers no passkey and sets no password: the person at this browser has not authenticated here.
    """
    is_more = account_choice.requests_another(interaction)
    session, text = sessions.start(
        context,
        account.uid,
        authentication.methods,
        False,
        keeps_current=is_more,
        authenticated_at=datetime.fromtimestamp(authentication.authenticated_at or 0, UTC),
        ends_at=datetime.fromtimestamp(authentication.ends_at or 0, UTC),
        workflows=SessionWorkflows.of(authentication.workflow),
    )
    cookie = _cookie(context, session, text, is_more=is_more)
    if interaction is not None:  # authenticated before the interaction: only the explicit choice selects this account
        chosen = account_choice.with_choice(interaction.state, session.session_id)
        interaction = interactions.save(context, interaction, chosen)
    return _continue_with(context, interaction, session, step).model_copy(update=cookie)


def _cookie(context: Context, session: BrowserSession, text: str, *, is_more: bool) -> dict[str, Any]:
    has_others = is_more or bool(context.visit and context.visit.others)
    others = browser_sessions.others(context, session.uid) if has_others else None
    return {"session": sessions.cookie(context, session, text), "other_sessions": others}


def _continue_with(
    context: Context, interaction: Interaction | None, session: BrowserSession, step: _FirstStep | None
) -> StepResponse:
    if step is not None and interaction is not None:
        return StepResponse(step=step, interaction_id=interaction.interaction_id)
    if interaction is None:
        return next_step.to_return_url(context, session, None)
    return next_step.advance(context, interaction, session)


def _new_password_step(
    context: Context, account: Account, interaction: Interaction | None, authentication: Authentication
) -> StepResponse | None:
    """Return the step that replaces an expired password; None if the password is not expired."""
    expires_at = active_policies.password_expires_at(context, account)
    if expires_at is None or expires_at > context.now:
        return None
    token = reset_messages.create_page_token(
        context, account, reason=EXPIRED, remember=authentication.remember, methods=list(authentication.methods)
    )
    context.audit.record("password.expired", uid=account.uid)
    return StepResponse(
        step=NewPasswordStep(token=token), interaction_id=interaction.interaction_id if interaction else None
    )


def can_remember(context: Context, is_wished: bool) -> bool:
    """Return whether the session outlives the browser: if the user wishes and the tenant allows it."""
    return is_wished and context.tenant.settings.remember_me
