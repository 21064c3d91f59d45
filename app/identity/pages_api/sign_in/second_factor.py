"""The second factor on our pages, for every authenticator: choice, sending, verification and enrolment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final

from app.contract import errors
from app.contract.accounts.models import PersonView
from app.contract.second_factors.challenge import FactorKind, Question
from app.contract.second_factors.pages import second_factor_pages
from app.contract.sessions.models import Session
from app.contract.step_reasons import BackupCodesReason
from app.contract.steps import BackupCodesStep, RedirectStep, SecondFactorStep, StepResponse
from app.identity.authentication.sign_in import completion, interactions, pending_sign_in
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.authentication.sign_in.completion import FactorRequired, Refused
from app.identity.authentication.sign_in.interactions import Interaction, WaitingSignIn
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.authentication.sign_in.sessions import session_renewal, sessions
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.second_factors import second_factors, trusted_browsers
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    ChallengeOptions,
    FactorChallenge,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.directory.accounts.identifiers import display_phone
from app.identity.pages_api.interactions import next_step, page_sign_in
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.identity.protocols.oauth import oauth_views
from app.kit import randomness
from app.kit.operations.errors import ApiError

_PASSKEY_METHODS: Final = {"hwk", "swk", MFA}
"""The `amr` values of a session that a passkey began."""
FACTOR_EXPIRED: Final = (errors.UnknownFactorToken, errors.ExpiredFactorToken)


def step(context: Context, interaction: Interaction) -> StepResponse | None:
    """Return the step of an interaction whose first factor is passed; None if it is not, or expired.

    None, too, for a reauthentication whose session has ended: it would be refused again and again.
    """
    if not interaction.state.second_factor_token_hash:
        return None
    if _is_reauthentication(interaction) and _reauthenticated_session(context, interaction) is None:
        return None
    try:
        _pending(context, interaction)
    except FACTOR_EXPIRED:
        return None
    return StepResponse(step=SecondFactorStep(), interaction_id=interaction.interaction_id)


@second_factor_pages.read_factor.implements
def read(context: Context, req: second_factor_pages.FactorRequest) -> second_factor_pages.FactorStep:
    interaction, waiting = interactions.find_with_sign_in(context, req.interaction_id)
    if interaction is None:
        return second_factor_pages.FactorStep(next=_next_or_start(context, None))
    try:
        pending = _require_pending(context, interaction, waiting)
        return second_factor_pages.FactorStep(view=view(context, interaction, pending, req.kind))
    except FACTOR_EXPIRED:
        return second_factor_pages.FactorStep(next=_next_or_start(context, interaction))


@second_factor_pages.choose_factor.implements
def choose(context: Context, req: second_factor_pages.ChooseFactorRequest) -> second_factor_pages.FactorStep:
    """Send the code of a factor, at most once in 30 seconds, or begin to enrol it."""
    interaction, waiting = interactions.find_with_sign_in(context, req.interaction_id)
    if interaction is None:
        return second_factor_pages.FactorStep(next=_next_or_start(context, None))
    try:
        pending = _require_pending(context, interaction, waiting)
    except FACTOR_EXPIRED:
        return second_factor_pages.FactorStep(next=_next_or_start(context, interaction))
    try:
        pending, challenge = _begin(
            context,
            pending,
            req.kind,
            ChallengeOptions(email=req.target, phone=req.target, interaction_id=req.interaction_id),
        )
    except ApiError as refusal:
        raise _with_view(context, refusal, interaction, req.kind) from None
    return second_factor_pages.FactorStep(view=view(context, interaction, pending, req.kind, challenge))


@second_factor_pages.verify_factor.implements
def verify(context: Context, req: second_factor_pages.FactorAnswer) -> StepResponse:
    interaction, waiting = interactions.find_with_sign_in(context, req.interaction_id)
    if interaction is None:
        return _next_or_start(context, None)
    complete = _reauthenticate if _is_reauthentication(interaction) else _sign_in
    try:
        return complete(context, interaction, _require_pending(context, interaction, waiting), req)
    except FACTOR_EXPIRED:
        return _next_or_start(context, interaction)


def _sign_in(
    context: Context, interaction: Interaction, pending: PendingSignIn, req: second_factor_pages.FactorAnswer
) -> StepResponse:
    """Verify the factor, or enrol it by its first verification, and begin the session."""
    response = FactorResponse(req.code, None, req.answers, req.credential, req.state)
    is_new = not second_factors.enrolled_kinds(context.tenant.settings, pending.factors)
    with _view_in_refusals(context, interaction, req.kind):
        pending = pending_sign_in.verify(context, pending, req.kind, response)
        outcome = completion.after_second_factor(context, pending)
        if isinstance(outcome, Refused | FactorRequired):
            return page_sign_in.present(context, interaction, outcome)
    account, codes_step = outcome.account, _backup_codes_step(context, pending, req.kind, is_new=is_new)
    if codes_step is not None and is_new:
        interaction = interactions.save(context, interaction, replace(interaction.state, unsaved_codes=account.uid))
    next_page = page_sign_in.present(context, interaction, outcome, first_step=codes_step)
    if isinstance(next_page.step, BackupCodesStep) and not is_new:
        last = BackupCodesStep(reason=BackupCodesReason.LAST_USED)
        next_page = next_page.model_copy(update={"step": last})
    can_trust = not pending.factors.fallback_kinds and not pending.authentication.is_taken_over
    trust = trusted_browsers.trust(context, account) if req.trust and can_trust else None
    if trust is None:
        return next_page
    return next_page.model_copy(update={"trusted": Session(token=trust[0], lifetime_seconds=trust[1])})


def _reauthenticate(
    context: Context, interaction: Interaction, pending: PendingSignIn, req: second_factor_pages.FactorAnswer
) -> StepResponse:
    """Verify an enrolled factor again, and continue the session."""
    response = FactorResponse(
        req.code, None, req.answers, req.credential, req.state, is_only_factor=_is_only_factor(interaction, pending)
    )
    with _view_in_refusals(context, interaction, req.kind):
        pending = pending_sign_in.verify(context, pending, req.kind, response)
        pending_sign_in.take_back_attempt(context, pending)
        return _renew_session(context, interaction, pending)


def _is_only_factor(interaction: Interaction, pending: PendingSignIn) -> bool:
    """Return whether a reauthentication takes only a second factor: at /confirm, or in a session that a passkey began."""
    return interaction.state.landing is not None or not set(pending.authentication.methods) - _PASSKEY_METHODS


def _renew_session(context: Context, interaction: Interaction, pending: PendingSignIn) -> StepResponse:
    """Continue the session after its reauthentication; only one of several concurrent calls succeeds."""
    session, methods = _reauthenticated_session(context, interaction), pending.authentication.methods
    if session is None or session.uid != pending.account.uid:
        raise errors.UnknownFactorToken
    if not continuation_tokens.spend(context, pending.token):
        raise errors.UnknownFactorToken
    text = session_renewal.mark_reauthenticated(context, session, methods)
    context.audit.record("step_up.passed", uid=session.uid, by="page")
    cookie = {"session": sessions.cookie(context, session, text)}
    if (landing := interaction.state.landing) is not None:
        interactions.finish(context, interaction)
        return StepResponse(step=RedirectStep(address=landing)).model_copy(update=cookie)
    renewed = replace(session, session_hash=randomness.digest(text), authenticated_at=context.now, methods=methods)
    return next_step.advance(context, interaction, renewed).model_copy(update=cookie)


def _reauthenticated_session(context: Context, interaction: Interaction) -> BrowserSession | None:
    """Return the session that the interaction reauthenticates, if it is still the browser's."""
    session = sessions.current(context)
    is_same = session is not None and session.session_id == interaction.state.reauthenticated_session_id
    return session if is_same else None


def _backup_codes_step(
    context: Context, pending: PendingSignIn, kind: FactorKind, *, is_new: bool
) -> BackupCodesStep | None:
    """Return the step that creates backup codes: after an enrolment, and after a sign-in by the last code."""
    if is_new:
        return BackupCodesStep() if context.tenant.settings.second_factors.backup_codes else None
    is_last = kind is FactorKind.BACKUP_CODE and len(pending.factors.enrolled(kind)) <= 1
    return BackupCodesStep() if is_last else None


def view(
    context: Context,
    interaction: Interaction,
    pending: PendingSignIn,
    kind: FactorKind | None = None,
    challenge: FactorChallenge | None = None,
) -> second_factor_pages.FactorView:
    """Return the page with the requested or preferred factor, and all to choose from."""
    settings, factors = context.tenant.settings, pending.factors
    enrolled = second_factors.enrolled_kinds(settings, factors)
    usable = enrolled or second_factors.available_kinds(settings, factors)
    chosen = kind if kind in usable else (usable[0] if enrolled or len(usable) == 1 else None)
    last_used = second_factors.last_used_kind(factors, usable)
    is_reauthentication = _is_reauthentication(interaction)
    is_lasting = not is_reauthentication and not pending.authentication.is_taken_over
    person = _person(pending)
    can_trust = bool(enrolled) and not factors.fallback_kinds and is_lasting
    return second_factor_pages.FactorView(
        shown=factor_prompt(context, pending, chosen, challenge) if chosen is not None else None,
        choices=[
            second_factor_pages.FactorChoice(
                kind=item, hint=_hint(item, factors, person), is_last_used=item is last_used
            )
            for item in sorted(usable, key=lambda item: item is not last_used)
        ],
        must_enrol=not enrolled,
        is_elsewhere=pending.is_risk_based,
        trust_days=settings.second_factors.trusted_browser_days if can_trust else 0,
        landing=(interaction.state.landing or "") if is_reauthentication else "",
        person=person,
    )


def _hint(kind: FactorKind, factors: AccountFactors, person: PersonView) -> str | None:
    """Return which one it is, masked unless the page shows it as the account's label."""
    whole = AUTHENTICATORS[kind].hint_for_owner(factors)
    return whole if whole == person.label else AUTHENTICATORS[kind].hint(factors)


def _person(pending: PendingSignIn) -> PersonView:
    """Return the account by the identifier that the visitor gave; a username must not reveal the email address."""
    account, kind = pending.account, pending.authentication.kind
    own = account.username if kind == "username" else None
    if kind == "phone" and account.phone:
        own = display_phone(account.phone)
    return oauth_views.person(account, shown_as=own or oauth_views.label(account))


def factor_prompt(
    context: Context, pending: PendingSignIn, kind: FactorKind, challenge: FactorChallenge | None
) -> second_factor_pages.FactorPrompt:
    """Return the prompt to verify or enrol a factor: from the `challenge`, or described without one."""
    authenticator, factors = AUTHENTICATORS[kind], pending.factors
    is_enrolled = authenticator.is_enrolled(factors)
    prompt = challenge or authenticator.describe(context, factors)
    sent = pending.last_sent(kind)
    texts = context.tenant.settings.security_questions
    return second_factor_pages.FactorPrompt(
        kind=kind,
        is_enrolled=is_enrolled,
        secret=prompt.secret,
        uri=prompt.uri,
        sent_to=prompt.sent_to if challenge else sent.to,
        targets=list(prompt.targets),
        resend_in_seconds=resend_delay.seconds_left(context, sent.at),
        questions=[
            Question(question_id=question, question=texts.get(question, question)) for question in prompt.questions
        ],
        answers_needed=min(len(prompt.questions), context.tenant.settings.second_factors.minimum_questions),
        options=dict(prompt.options) if prompt.options is not None else None,
        address=prompt.address,
        number=prompt.number,
        state=prompt.state,
        app=prompt.app,
        stores=dict(prompt.stores),
        left=len(factors.enrolled(kind)) if kind is FactorKind.BACKUP_CODE else None,
    )


def _begin(
    context: Context, pending: PendingSignIn, kind: FactorKind, options: ChallengeOptions
) -> tuple[PendingSignIn, FactorChallenge]:
    authenticator = second_factors.enabled_authenticator(context, kind)
    enrolled = second_factors.enrolled_kinds(context.tenant.settings, pending.factors)
    if enrolled and kind not in enrolled:
        raise authenticator.not_enrolled_error
    return pending_sign_in.challenge(context, pending, kind, options)


def _require_pending(context: Context, interaction: Interaction, waiting: WaitingSignIn | None = None) -> PendingSignIn:
    if interaction.is_done:
        raise errors.UnknownFactorToken
    return _pending(context, interaction, waiting)


def _pending(context: Context, interaction: Interaction, waiting: WaitingSignIn | None = None) -> PendingSignIn:
    """Return the pending sign-in of an interaction; `waiting` is what was read with the interaction."""
    if waiting is not None:
        pending = pending_sign_in.resume_waiting(context, waiting)
    else:
        token_hash = interaction.state.second_factor_token_hash or ""
        token = continuation_tokens.by_hash(context, ContinuationPurpose.SECOND_FACTOR, token_hash)
        pending = pending_sign_in.resume(context, token)
    if _is_reauthentication(interaction) and not second_factors.enrolled_kinds(
        context.tenant.settings, pending.factors
    ):
        raise errors.UnknownFactorToken  # removed meanwhile; a reauthentication enrols nothing
    return pending


def _is_reauthentication(interaction: Interaction) -> bool:
    return interaction.state.reauthenticated_session_id is not None


def _next_or_start(context: Context, interaction: Interaction | None) -> StepResponse:
    """Return the step of a visitor without a pending second factor: the next one, or the start."""
    session = sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


@contextmanager
def _view_in_refusals(context: Context, interaction: Interaction, kind: FactorKind) -> Iterator[None]:
    """Add the page to refusals after which it is shown again."""
    try:
        yield
    except (*FACTOR_EXPIRED, errors.LockedDuringStep):
        raise
    except ApiError as refusal:
        raise _with_view(context, refusal, interaction, kind) from None


def _with_view(context: Context, refusal: ApiError, interaction: Interaction, kind: FactorKind) -> ApiError:
    """Return the refusal with the page as its data, so that the hub can render it without another call."""
    context.work.rollback()
    try:
        challenge = view(context, interaction, _require_pending(context, interaction), kind)
    except FACTOR_EXPIRED:
        return refusal
    data = second_factor_pages.FactorRefusal(view=challenge).model_dump(by_alias=True, mode="json")
    refusal.data = {**(refusal.data or {}), **data}
    return refusal
