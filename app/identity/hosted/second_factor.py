"""The second factor on our pages, for every authenticator: what is shown, what is sent, what is proved."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from app.contract import errors as e
from app.contract import hub_second_factors as contract
from app.contract.hub import Next, Session, Step
from app.contract.second_factors.challenge import FactorKind, Question
from app.identity.authentication.sign_in import interactions, second_factor, sessions
from app.identity.authentication.sign_in.interactions import Interaction
from app.identity.authentication.sign_in.second_factor import PendingSignIn
from app.identity.credentials.authenticators.protocol import ChallengeOptions, FactorChallenge, FactorResponse
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.one_time_tokens import resend_delay
from app.identity.credentials.second_factors import service as second_factors
from app.identity.credentials.second_factors import trusted_browsers
from app.identity.hosted import first_factor_passed, next_step, views
from app.identity.hosted.first_factor_passed import STEP_UP
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose
from app.kit import randomness
from app.kit.errors import ApiError

KEYS: Final = {"hwk", "swk", second_factor.MFA}
"""What a session says that a passkey opened."""
OVER: Final = (e.UnknownFactorToken, e.ExpiredFactorToken)


def step(context: Context, interaction: Interaction) -> Next | None:
    """Return the step of an attempt whose first factor is passed; None where that is not so, or over."""
    if not interaction.request.get(first_factor_passed.KEY):
        return None
    try:
        _pending(context, interaction)
    except OVER:
        return None
    return Next(step=Step.SECOND_FACTOR, attempt=interaction.interaction_id)


@contract.read_factor.implements
def read(context: Context, req: contract.FactorRequest) -> contract.FactorStep:
    interaction = interactions.find(context, req.attempt)
    try:
        found = _found(context, interaction)
        return contract.FactorStep(view=view(context, interaction, found, req.kind))
    except OVER:
        return contract.FactorStep(next=_elsewhere(context, interaction))


@contract.choose_factor.implements
def choose(context: Context, req: contract.ChooseFactorRequest) -> contract.FactorStep:
    """Send what has to be sent, at most once in half a minute, or begin to enrol."""
    interaction = interactions.find(context, req.attempt)
    try:
        found = _found(context, interaction)
    except OVER:
        return contract.FactorStep(next=_elsewhere(context, interaction))
    try:
        found, shown = _begun(
            context, found, req.kind, ChallengeOptions(email=req.target, phone=req.target, interaction_id=req.attempt)
        )
    except ApiError as refusal:
        raise _with_view(context, refusal, interaction, req.kind) from None
    return contract.FactorStep(view=view(context, interaction, found, req.kind, shown))


@contract.verify_factor.implements
def prove(context: Context, req: contract.FactorAnswer) -> Next:
    """Prove, or enrol by the first proof; then the session begins."""
    interaction = interactions.find(context, req.attempt)
    try:
        found = _found(context, interaction)
    except OVER:
        return _elsewhere(context, interaction)
    answer = FactorResponse(
        req.code, None, req.answers, req.credential, req.state, is_only_factor=_is_alone(interaction, found)
    )
    is_new = not second_factors.enrolled_kinds(context.tenant.settings, found.person)
    try:
        found = second_factor.verify(context, found, req.kind, answer)
        if interaction is not None and _is_step_up(interaction):
            return _confirmed(context, interaction, found)
        account = second_factor.finish(context, found)
    except OVER:
        return _elsewhere(context, interaction)
    except e.LockedDuringStep:
        raise
    except ApiError as refusal:
        raise _with_view(context, refusal, interaction, req.kind) from None
    paper = is_new and context.tenant.settings.second_factors.backup_codes
    after = first_factor_passed.begin_session(
        context, interaction, account, found.authentication, step=Step.BACKUP_CODES if paper else None
    )
    kept = trusted_browsers.trust(context, account) if req.trust and not found.person.fallback_kinds else None
    cookie = Session(token=kept[0], lifetime_seconds=kept[1]) if kept else None
    return after.model_copy(update={"trusted": cookie})


def _is_alone(interaction: Interaction | None, found: PendingSignIn) -> bool:
    """Return whether a second factor is all that is shown: at /confirm, or beside a passkey that opened the session."""
    if interaction is None or not _is_step_up(interaction):
        return False
    return "landing" in interaction.request or not set(found.authentication.methods) - KEYS


def _confirmed(context: Context, interaction: Interaction, found: PendingSignIn) -> Next:
    """Go on in the session of whoever proved once more who they are. Of many at once one does."""
    session = sessions.current(context)
    is_same = session is not None and session.session_id == interaction.request[STEP_UP]
    if session is None or not is_same or session.uid != found.account.uid:
        raise e.UnknownFactorToken
    if not continuation_tokens.spend(context, found.token):
        raise e.UnknownFactorToken
    text = sessions.mark_reauthenticated(context, session, found.authentication.methods)
    context.audit.record("step_up.passed", uid=session.uid, by="page")
    cookie = {"session": views.cookie(context, session, text)}
    if (landing := interaction.request.get("landing")) is not None:
        interactions.finish(context, interaction)
        return Next(step=Step.REDIRECT, address=str(landing)).model_copy(update=cookie)
    renewed = replace(
        session,
        session_hash=randomness.digest(text),
        authenticated_at=context.now,
        methods=found.authentication.methods,
    )
    return next_step.advance(context, interaction, renewed).model_copy(update=cookie)


def view(
    context: Context,
    interaction: Interaction | None,
    found: PendingSignIn,
    kind: FactorKind | None = None,
    shown: FactorChallenge | None = None,
) -> contract.FactorView:
    """Return the page: the factor that was asked for, else the preferred one; the others are choices."""
    settings, known = context.tenant.settings, found.person
    held = second_factors.enrolled_kinds(settings, known)
    usable = held or second_factors.available_kinds(settings, known)
    chosen = kind if kind in usable else (usable[0] if held or len(usable) == 1 else None)
    others = [one for one in usable if one != chosen]
    is_step_up = interaction is not None and _is_step_up(interaction)
    can_trust = bool(held) and not known.fallback_kinds and not is_step_up
    return contract.FactorView(
        shown=factor_shown(context, found, chosen, shown) if chosen is not None else None,
        choices=[contract.FactorChoice(kind=one, hint=AUTHENTICATORS[one].hint(known)) for one in others],
        must_enrol=not held,
        is_elsewhere=found.is_risk_based,
        trust_days=settings.second_factors.trusted_browser_days if can_trust else 0,
        landing=str(interaction.request.get("landing") or "") if interaction is not None and is_step_up else "",
    )


def factor_shown(
    context: Context, found: PendingSignIn, kind: FactorKind, shown: FactorChallenge | None
) -> contract.FactorPrompt:
    """Return what it takes to prove a factor, or to enrol it: `shown`, or what is known without asking for anything."""
    authenticator, known = AUTHENTICATORS[kind], found.person
    is_enrolled = authenticator.is_enrolled(known)
    told = shown or authenticator.describe(context, known)
    sent = found.token.facts.get("sent", {}).get(kind.value) or second_factor._NEVER_SENT
    texts = context.tenant.settings.security_questions
    return contract.FactorPrompt(
        kind=kind,
        is_enrolled=is_enrolled,
        secret=told.secret,
        uri=told.uri,
        sent_to=told.sent_to if shown else sent.get("to"),
        targets=list(told.targets),
        resend_in_seconds=resend_delay.seconds_left(context, sent["at"]),
        questions=[Question(question_id=one, question=texts.get(one, one)) for one in told.questions],
        answers_needed=min(len(told.questions), context.tenant.settings.second_factors.minimum_questions),
        options=dict(told.options) if told.options is not None else None,
        address=told.address,
        number=told.number,
        state=told.state,
        app=told.app,
        stores=dict(told.stores),
    )


def _begun(
    context: Context, found: PendingSignIn, kind: FactorKind, options: ChallengeOptions
) -> tuple[PendingSignIn, FactorChallenge]:
    authenticator = second_factors.enabled_authenticator(context, kind)
    held = second_factors.enrolled_kinds(context.tenant.settings, found.person)
    if held and kind not in held:
        raise authenticator.not_enrolled_error
    return second_factor.challenge(context, found, kind, options)


def _found(context: Context, interaction: Interaction | None) -> PendingSignIn:
    if interaction is None or interaction.is_done:
        raise e.UnknownFactorToken
    return _pending(context, interaction)


def _pending(context: Context, interaction: Interaction) -> PendingSignIn:
    named = str(interaction.request.get(first_factor_passed.KEY) or "")
    found = second_factor.resume(
        context, continuation_tokens.by_hash(context, ContinuationPurpose.SECOND_FACTOR, named)
    )
    if _is_step_up(interaction) and not second_factors.enrolled_kinds(context.tenant.settings, found.person):
        raise e.UnknownFactorToken  # removed meanwhile: whoever proves it once more enrols nothing
    return found


def _is_step_up(interaction: Interaction) -> bool:
    return interaction.request.get(STEP_UP) is not None


def _elsewhere(context: Context, interaction: Interaction | None) -> Next:
    """Where somebody belongs who has nothing to prove here: onward, or back to the beginning."""
    session = sessions.current(context)
    if interaction is None:
        return next_step.START_AGAIN
    return next_step.after_end(session) if interaction.is_done else next_step.advance(context, interaction, session)


def _with_view(context: Context, refusal: ApiError, interaction: Interaction | None, kind: FactorKind) -> ApiError:
    """Return the refusal with the page as its data, so that it can be drawn again without asking."""
    context.work.rollback()
    try:
        shown = view(context, interaction, _found(context, interaction), kind)
    except OVER:
        return refusal
    refusal.data = {**(refusal.data or {}), "View": shown.model_dump(by_alias=True, mode="json")}
    return refusal


__all__ = ["factor_shown", "step"]
