"""Completes sign-ins: decides what follows a verified factor, and records a sign-in that needs no other factor.

Every way to sign in ends here, so that each obeys the methods that the account's organizations allow. The callers show the
outcome: `pages_api/interactions/page_sign_in.py` as a step, `public_api/sign_in/sign_in_responses.py` as a response.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.contract import errors
from app.identity.authentication.sign_in import allowed_methods, eligibility, required_actions, risks
from app.identity.authentication.sign_in.authentication import MFA, Authentication
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.authentication.sign_in.required_actions import Requirement
from app.identity.authentication.sign_in.workflows import gate, interaction_runs, node_actions
from app.identity.authentication.sign_in.workflows.facts import login_facts
from app.identity.authentication.sign_in.workflows.gate import NeedsAction, NeedsFactor, NeedsSignIn, SignInDenied
from app.identity.authentication.sign_in.workflows.sign_in_moment import SignInMoment
from app.identity.authentication.sign_in.workflows.sign_in_target import target_of
from app.identity.authentication.workflows import answered_profiles
from app.identity.credentials.second_factors import second_factors
from app.identity.credentials.second_factors.second_factors import RequiredFactor
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.directory.organizations.memberships import just_in_time_membership
from app.identity.directory.organizations.organization import OrganizationRecord
from app.identity.platform import continuation_tokens, events
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


@dataclass(frozen=True)
class Complete:
    """A recorded sign-in, whose session can begin."""

    account: Account
    authentication: Authentication


@dataclass(frozen=True)
class ActionRequired:
    """A recorded sign-in of an account that must first do what the tenant requires.

    A browser gets its session, which can do only that.
    """

    account: Account
    authentication: Authentication
    requirement: Requirement

    def refusal(self, context: Context) -> ApiError:
        """Return the error for a program, whose token continues the sign-in."""
        return self.requirement.refusal(context, self.account, self.authentication)


@dataclass(frozen=True)
class FactorRequired:
    """A sign-in that needs a second factor, and is not recorded yet."""

    required: RequiredFactor
    authentication: Authentication


@dataclass(frozen=True)
class Refused:
    """A sign-in that the account may not make."""

    account: Account
    error: ApiError | None
    """None for an account that too many failures locked: `account_locks` has the error."""


Recorded = Complete | ActionRequired
Outcome = Recorded | FactorRequired | Refused


def after_first_factor(context: Context, account: Account, authentication: Authentication) -> Outcome:
    """Return what follows one factor other than a password. Call it before any write that a refusal must undo.

    `authentication.methods` with `mfa` count as two factors, such as a passkey that verified its user.
    """
    cleared = _cleared(context, account, authentication)
    return _record(context, account, cleared) if isinstance(cleared, Authentication) else cleared


def without_asking(context: Context, account: Account, authentication: Authentication) -> Complete | None:
    """Complete a sign-in by one factor other than a password, if nothing more is required; else record nothing."""
    cleared = _cleared(context, account, authentication)
    if not isinstance(cleared, Authentication) or cleared.is_waiting or not required_actions.are_met(context, account):
        return None
    outcome = _record(context, account, cleared)
    return outcome if isinstance(outcome, Complete) else None


def after_registration(
    context: Context, account: Account, authentication: Authentication
) -> Complete | FactorRequired | Refused:
    """Return what follows the registration of an account that may sign in at once; its first origin is no risk."""
    if (refused := _refusal(context, account, authentication)) is not None:
        return refused
    admitted = through_workflow(context, account, authentication, is_registration=True)
    if not isinstance(admitted, Authentication):
        return admitted
    authentication = admitted
    is_enough = MFA in authentication.methods
    required = None if is_enough else second_factors.factor_required_by_settings(context, account)
    if required is not None:
        return FactorRequired(required, authentication)
    emit_login(context, account, authentication)
    risks.remember_origin(context, account)
    return Complete(*_with_profile(context, account, authentication))


def through_workflow(
    context: Context, account: Account, authentication: Authentication, *, is_registration: bool = False
) -> Authentication | FactorRequired | Refused:
    """Return the authentication with the place that the sign-in reached in the workflow in force, or what the workflow requires
    first. It reads nothing where none is in force.

    A sign-in on a page may be recorded while the workflow waits for an action: its session can do only that.
    """
    moment = SignInMoment(context, account, authentication, target_of(context), is_registration=is_registration)
    verdict = gate.judge(moment, authentication.workflow or interaction_runs.to_repeat(moment))
    if isinstance(verdict, SignInDenied):
        return Refused(account, verdict.error)
    if isinstance(verdict, NeedsSignIn):
        return Refused(account, errors.WorkflowGone())
    if isinstance(verdict, NeedsAction) and context.visit is None:  # no page asks for it
        return Refused(account, node_actions.refusal(context, account, verdict.action, context.now))
    admitted = replace(authentication, workflow=verdict.run)
    return FactorRequired(verdict.required, admitted) if isinstance(verdict, NeedsFactor) else admitted


def after_second_factor(context: Context, pending: PendingSignIn) -> Outcome:
    """Use up the continuation token and record the sign-in. Only one of several concurrent calls succeeds.

    Refused, too, where a policy changed since the first factor, or the workflow refuses; nothing is written then, and the attempt
    does not count. A workflow may require one more factor.

    Raises:
        UnknownFactorToken, LockedDuringStep.
    """
    account, authentication = pending.account, pending.authentication
    refusal = eligibility.refusal(context, account, authentication.kind) or allowed_methods.refusal(
        context, account, authentication.methods, is_again=True
    )
    admitted = Refused(account, refusal) if refusal is not None else through_workflow(context, account, authentication)
    if isinstance(admitted, Refused):
        _take_back_attempt(context, pending)
        return admitted
    if isinstance(admitted, FactorRequired):
        _use_up(context, pending)
        return admitted
    joined, now = just_in_time_membership.lock_joinable(context, account), context.now
    if not login_records.record_login(
        context.work,
        account.uid,
        account.password_hash,
        now,
        is_lock_solved=authentication.opens_lock,
        new_hash=None,
        attempt=pending.attempt,
    ):
        raise errors.LockedDuringStep
    if not continuation_tokens.spend(context, pending.token):
        _take_back_attempt(context, pending)
        raise errors.UnknownFactorToken
    return finish(context, account, admitted, joined, now)


def _use_up(context: Context, pending: PendingSignIn) -> None:
    """Use up the continuation token of a right response after which a workflow requires one more factor."""
    if pending.attempt is not None:
        pending.attempt.take_back_all(context.work)
    if not continuation_tokens.spend(context, pending.token):
        raise errors.UnknownFactorToken


def _take_back_attempt(context: Context, pending: PendingSignIn) -> None:
    """Undo what the request wrote, and take back the attempt of its right code, which signs nobody in."""
    context.work.rollback()
    if pending.attempt is not None:
        with context.work.separate_transaction() as transaction:
            pending.attempt.take_back(transaction)


def after_earlier_request(
    context: Context,
    account: Account,
    authentication: Authentication,
    done: Requirement | None = None,
    meet: Callable[[], Account] | None = None,
    *,
    has_session: bool = False,
) -> Recorded | Refused:
    """Return what follows a sign-in that an earlier request recorded, if the account may still sign in so.

    Args:
        done: the requirement that this request meets.
        meet: writes that, and returns the changed account. A refusal of the account comes before it, one of a workflow after it.
        has_session: as in `eligibility.refusal`.
    """
    refused = _refusal(context, account, authentication, is_again=True, has_session=has_session)
    if refused is None and MFA not in authentication.methods:
        factor = second_factors.factor_required_by_settings(context, account, authentication.channel)
        refused = Refused(account, errors.TwoFactorOn()) if factor is not None else None
    if refused is not None:
        return refused
    return _continued(context, meet() if meet is not None else account, authentication, done)


def after_handoff(context: Context, account: Account, authentication: Authentication) -> Recorded | Refused:
    """Return what follows for the program to which a browser hands over a complete sign-in."""
    refused = _refusal(context, account, authentication, is_again=True, has_session=True)
    return refused or _continued(context, account, authentication)


def _continued(
    context: Context, account: Account, authentication: Authentication, done: Requirement | None = None
) -> Recorded | Refused:
    """Return what follows a sign-in that is recorded already; one that a workflow wants another factor of begins again."""
    uncounted = replace(account, logins=max(0, account.logins - 1))  # as in the answer of the request that recorded it
    admitted = through_workflow(context, uncounted, authentication)
    if isinstance(admitted, FactorRequired):
        return Refused(account, errors.TwoFactorOn())
    return _recorded(context, uncounted, admitted, done) if isinstance(admitted, Authentication) else admitted


def finish(
    context: Context,
    account: Account,
    authentication: Authentication,
    joined: Sequence[OrganizationRecord],
    recorded_at: datetime,
) -> Recorded:
    """Notify of a sign-in that was just recorded, remember its origin, and let the account join organizations.

    Args:
        joined: the result of `just_in_time_membership.lock_joinable`.
        recorded_at: the time with which `login_records.record_login` recorded it.
    """
    new_signals = risks.remember_origin(context, account)
    emit_login(context, account, authentication, new_signals, login_records.recorded(account, recorded_at))
    account, authentication = _with_profile(context, account, authentication)
    if joined:
        just_in_time_membership.join_by_verified_domain(context, account, joined)
    return _recorded(context, account, authentication)


def emit_login(
    context: Context,
    account: Account,
    authentication: Authentication,
    new_signals: Sequence[str] = (),
    recorded: Account | None = None,
) -> None:
    """Emit the event of a recorded sign-in.

    Args:
        account: as it was before the sign-in was counted.
        new_signals: of the origin.
        recorded: the account since then, where the sign-in changed it.
    """
    facts = login_facts.of(SignInMoment(context, account, authentication, target_of(context)), tuple(new_signals))
    emitting = context.without_webhooks() if authentication.suppress_webhook else context
    events.emit(emitting, "Login", recorded or account, **facts)


def _with_profile(context: Context, account: Account, authentication: Authentication) -> tuple[Account, Authentication]:
    """Write the fields of the profile that servers set in the workflow; return the account and the authentication since then."""
    run = authentication.workflow
    if run is None or not run.profile:
        return account, authentication
    changed = answered_profiles.write(context, account, run.profile)
    return changed, replace(authentication, workflow=replace(run, profile={}))


def _cleared(
    context: Context, account: Account, authentication: Authentication
) -> Authentication | FactorRequired | Refused:
    """Return the authentication of a sign-in that one factor completes, or why it does not. No code is sent to who may not sign in."""
    if (refused := _refusal(context, account, authentication)) is not None:
        return refused
    admitted = through_workflow(context, account, authentication)
    if not isinstance(admitted, Authentication):
        return admitted
    try:
        required = _required_factor(context, account, admitted)
    except errors.TwoFactorOn as only_factor_was_used:
        return Refused(account, only_factor_was_used)
    return FactorRequired(required, admitted) if required is not None else admitted


def _refusal(
    context: Context,
    account: Account,
    authentication: Authentication,
    *,
    is_again: bool = False,
    has_session: bool = False,
) -> Refused | None:
    """Return why the account may not sign in, or not by this method; None if it may. Every sign-in asks it before any write.

    Args:
        is_again: as in `allowed_methods.refusal`.
        has_session: as in `eligibility.refusal`.
    """
    if account.is_locked_now:
        return Refused(account, None)
    error = eligibility.refusal(
        context, account, authentication.kind, has_session=has_session
    ) or allowed_methods.refusal(
        context, account, authentication.methods, provider=authentication.provider, is_again=is_again
    )
    return Refused(account, error) if error is not None else None


def _required_factor(context: Context, account: Account, authentication: Authentication) -> RequiredFactor | None:
    """Return the second factor that the sign-in needs.

    A session taken over from another device passed one there, and needs one only where its origin here is new.

    Raises:
        TwoFactorOn: the only second factor was just used as the first.
    """
    if MFA not in authentication.methods:
        return risks.factor_required_by_settings_or_risk(context, account, authentication.channel)
    return risks.factor_required_by_risk(context, account) if authentication.is_taken_over else None


def _record(context: Context, account: Account, authentication: Authentication) -> Recorded | Refused:
    """Record a sign-in that used no password."""
    joined, now = just_in_time_membership.lock_joinable(context, account), context.now
    if not login_records.record_login(
        context.work, account.uid, account.password_hash, now, is_lock_solved=False, new_hash=None
    ):
        return Refused(account, errors.AccountBlocked())  # a concurrent request locked it
    return finish(context, account, authentication, joined, now)


def _recorded(
    context: Context, account: Account, authentication: Authentication, done: Requirement | None = None
) -> Recorded:
    unmet = required_actions.first_unmet(context, account, done)
    return ActionRequired(account, authentication, unmet) if unmet else Complete(account, authentication)
