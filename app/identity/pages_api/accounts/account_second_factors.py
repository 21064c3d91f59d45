"""The account page of second factors. Every change requires an authentication less than a few minutes old."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import RequiredReauthentication
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages import account_factor_pages, second_factor_pages
from app.contract.shared_responses import Posted
from app.contract.step_reasons import BackupCodesReason
from app.contract.steps import BackupCodesStep, StepResponse
from app.identity.authentication.sign_in import interactions, pending_sign_in, reauthentication_rules
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.pending_sign_in import PendingSignIn
from app.identity.authentication.sign_in.reauthentication_rules import MAX_AGE_FOR_VISITS
from app.identity.authentication.sign_in.sessions.sessions import BrowserSession
from app.identity.credentials.second_factors import factor_changes, second_factors
from app.identity.credentials.second_factors.authenticators.authenticator import (
    AccountFactors,
    ChallengeOptions,
    FactorResponse,
)
from app.identity.credentials.second_factors.authenticators.registry import AUTHENTICATORS
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.pages_api import signed_in_account, views
from app.identity.pages_api.accounts.security_checkup import APART
from app.identity.pages_api.interactions import next_step
from app.identity.pages_api.recovery.password_and_pin import label_of
from app.identity.pages_api.sign_in.second_factor import factor_prompt
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.kit.clock import iso
from app.kit.operations.errors import ApiError


@account_factor_pages.read.implements
def read(context: Context, req: NoParameters) -> account_factor_pages.FactorsView:
    _refuse_off(context)
    session, account = signed_in_account.require_account(context)
    return view(context, session, second_factors.of_account(context, account))


def view(context: Context, session: BrowserSession, factors: AccountFactors) -> account_factor_pages.FactorsView:
    """Return the account's second factors, and those that it can enrol."""
    settings, account = context.tenant.settings, factors.account
    enrolled = second_factors.enrolled_kinds(settings, factors)
    usable = [kind for kind in enrolled if kind not in APART]
    others = [kind for kind in second_factors.available_kinds(settings) if kind not in APART and kind not in usable]
    has_backup_codes = settings.second_factors.backup_codes
    return account_factor_pages.FactorsView(
        person=views.person(context, account),
        enrolled=[_held(factors, kind) for kind in usable],
        offered=[
            second_factor_pages.FactorChoice(kind=kind, hint=AUTHENTICATORS[kind].hint_for_owner(factors))
            for kind in others
        ],
        backup_codes=len(factors.enrolled(FactorKind.BACKUP_CODE)) if has_backup_codes else None,
        has_passkeys=FactorKind.PASSKEY in enrolled,
        is_required=factors.is_factor_required,
        has_password=account.password_hash is not None,
        reauthentication=reauthentication_rules.required_reauthentication(context, session, account),
    )


@account_factor_pages.read_one.implements
def read_one(context: Context, req: account_factor_pages.OwnFactorRequest) -> account_factor_pages.OwnFactorView:
    """Return a factor, or its enrolment after a reauthentication: an attacker with an old session must not read a seed."""
    _refuse_off(context)
    session, account = signed_in_account.require_account(context)
    return _one(context, session, account, req.kind)


@account_factor_pages.begin.implements
def begin(context: Context, req: account_factor_pages.EnrolFactorRequest) -> account_factor_pages.EnrolmentStarted:
    """Begin to enrol a factor, and send its code unless it was just sent; a second click gets the same response."""
    _refuse_off(context)
    address = None
    pending = _pending(context, second_factors.of_account(context, accounts.current(context)), keeps=True)
    options = ChallengeOptions(email=req.target, phone=req.target, is_account_page=True)
    if not second_factors.enabled_authenticator(context, req.kind).is_enrolled(pending.factors):
        try:
            with suppress(errors.TooManyRequests):
                address = pending_sign_in.challenge(context, pending, req.kind, options)[1].address
        except ApiError as refusal:
            raise _with_view(context, refusal, req.kind) from None
    return account_factor_pages.EnrolmentStarted(address=address)


@account_factor_pages.add.implements
def add(context: Context, req: second_factor_pages.FactorAnswer) -> account_factor_pages.FactorEnrolled:
    _refuse_off(context)
    account = accounts.current(context)
    factors = second_factors.of_account(context, account)
    if second_factors.enabled_authenticator(context, req.kind).is_enrolled(factors):
        return account_factor_pages.FactorEnrolled()  # a second click
    try:
        factor_changes.enrol(
            context, factors, req.kind, FactorResponse(req.code, None, req.answers, req.credential, req.state)
        )
    except ApiError as refusal:
        raise _with_view(context, refusal, req.kind) from None
    continuation_tokens.revoke_all(context, account.uid, ContinuationPurpose.OWN_FACTOR)
    needs_backup_codes = context.tenant.settings.second_factors.backup_codes and not factors.enrolled(
        FactorKind.BACKUP_CODE
    )
    return account_factor_pages.FactorEnrolled(wants_codes=needs_backup_codes)


@account_factor_pages.remove.implements
def remove(context: Context, req: account_factor_pages.RemoveFactorRequest) -> Posted:
    account = accounts.current(context)
    factors = second_factors.of_account(context, account)
    if req.kind not in APART and AUTHENTICATORS[req.kind].is_enrolled(factors):
        factor_changes.remove(context, account, req.kind)
    return Posted()


@account_factor_pages.turn_off.implements
def turn_off(context: Context, req: NoParameters) -> Posted:
    factor_changes.turn_off(context, accounts.current(context))
    return Posted()


@second_factor_pages.create_backup_codes.implements
def make_backup_codes(context: Context, req: NoParameters) -> second_factor_pages.NewBackupCodes:
    """Draft backup codes; just after the enrolment of a factor this needs no other reauthentication."""
    session, account = signed_in_account.require_account(context)
    if not _just_enrolled(context, session, account):
        reauthentication_rules.require_for_visit(context, session, account)
    codes, batch = second_factors.draft_backup_codes(context, account)
    return second_factor_pages.NewBackupCodes(codes=codes, person=label_of(account), batch=batch)


@second_factor_pages.save_backup_codes.implements
def save_backup_codes(context: Context, req: second_factor_pages.SaveBackupCodesRequest) -> StepResponse:
    """Activate the saved backup codes and continue the sign-in; a sign-in that requires them does not continue without."""
    session, account = signed_in_account.require_session(context)
    interaction = interactions.find_open(context, req.interaction_id)
    if req.batch and not factor_changes.save(context, account, req.batch):
        replaced = BackupCodesStep(reason=BackupCodesReason.REPLACED)
        return StepResponse(step=replaced, interaction_id=req.interaction_id if interaction else None)
    if interaction is None:
        return next_step.after_end(session)
    if req.batch:
        interaction = interactions.save(context, interaction, replace(interaction.state, unsaved_codes=None))
    return next_step.advance(context, interaction, session)


def _refuse_off(context: Context) -> None:
    if context.tenant.settings.two_factor == "disabled":
        raise errors.TwoFactorOff


def _just_enrolled(context: Context, session: BrowserSession, account: Account) -> bool:
    factors = second_factors.of_account(context, account)
    if factors.enrolled(FactorKind.BACKUP_CODE) or context.now - session.authenticated_at > 2 * MAX_AGE_FOR_VISITS:
        return False
    return any(
        credential.is_enrolled and credential.created_at >= session.authenticated_at
        for credential in factors.credentials
    )


def _held(factors: AccountFactors, kind: FactorKind) -> account_factor_pages.EnrolledFactor:
    credentials = factors.enrolled(kind)
    used_at = second_factors.last_use(factors, kind)
    return account_factor_pages.EnrolledFactor(
        kind=kind,
        hint=AUTHENTICATORS[kind].hint_for_owner(factors),
        since=iso(credentials[0].created_at) if credentials else None,
        used_at=iso(used_at) if used_at else None,
    )


def _one(
    context: Context, session: BrowserSession, account: Account, kind: FactorKind
) -> account_factor_pages.OwnFactorView:
    factors = second_factors.of_account(context, account)
    is_enrolled = second_factors.enabled_authenticator(context, kind).is_enrolled(factors)
    required = reauthentication_rules.required_reauthentication(context, session, account)
    hides = is_enrolled or required is not RequiredReauthentication.NONE or kind in APART
    return account_factor_pages.OwnFactorView(
        person=views.person(context, account),
        shown=None if hides else factor_prompt(context, _pending(context, factors), kind, None),
        is_held=is_enrolled,
        has_password=account.password_hash is not None,
        reauthentication=required,
    )


def _pending(context: Context, factors: AccountFactors, *, keeps: bool = False) -> PendingSignIn:
    """Return the begun enrolment; `keeps` stores it."""
    uid = factors.account.uid
    tokens = continuation_tokens.of_account(context, ContinuationPurpose.OWN_FACTOR, uid)
    if tokens:
        return PendingSignIn(tokens[0], factors, Authentication(()))
    if keeps:
        token = continuation_tokens.issue(
            context, ContinuationPurpose.OWN_FACTOR, uid, lifetime=pending_sign_in.LIFETIME
        )
        return PendingSignIn(token, factors, Authentication(()))
    return PendingSignIn(
        ContinuationToken(ContinuationPurpose.OWN_FACTOR, "", uid, {}, OPEN, context.now, context.now),
        factors,
        Authentication(()),
    )


def _with_view(context: Context, refusal: ApiError, kind: FactorKind) -> ApiError:
    """Return the refusal with the page as its data, so that the hub can render it without another call."""
    context.work.rollback()
    session, account = signed_in_account.require_account(context)
    page = _one(context, session, account, kind)
    data = account_factor_pages.OwnFactorRefusal(view=page).model_dump(by_alias=True, mode="json")
    refusal.data = {**(refusal.data or {}), **data}
    return refusal
