"""What people do to their own second factors on our pages. Every change asks for a proof that is a few minutes old at most."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from app.contract import errors as e
from app.contract import hub_account_factors as contract
from app.contract import hub_second_factors as shared
from app.contract.hub_account import SessionRenewal, WithPassword
from app.contract.hub_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.identity.authentication.sign_in import second_factor
from app.identity.authentication.sign_in.second_factor import Authentication, PendingSignIn
from app.identity.authentication.sign_in.sessions import BrowserSession
from app.identity.credentials.authenticators.protocol import AccountFactors, ChallengeOptions, FactorResponse
from app.identity.credentials.authenticators.registry import AUTHENTICATORS
from app.identity.credentials.second_factors import service as second_factors
from app.identity.directory.accounts.account import Account
from app.identity.hosted import account_settings, reauthentication
from app.identity.hosted.reauthentication import REAUTHENTICATION_LIFETIME
from app.identity.hosted.recovery import label_of
from app.identity.hosted.second_factor import factor_shown
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import OPEN, ContinuationPurpose, ContinuationToken
from app.identity.programs.self_service import second_factors as own_factors
from app.identity.protocols.oauth import views
from app.kit.clock import iso
from app.kit.errors import ApiError

APART: Final = frozenset({FactorKind.PASSKEY, FactorKind.BACKUP_CODE})
"""Kinds that have pages of their own."""


@contract.read.implements
def read(context: Context, req: NoParameters) -> contract.FactorsView:  # noqa: ARG001 - the session says whose
    _refuse_off(context)
    session, account = account_settings.require_account(context)
    return view(context, session, account)


def view(context: Context, session: BrowserSession, account: Account) -> contract.FactorsView:
    """Return the second factors of an account, and those that it could have."""
    settings, known = context.tenant.settings, second_factors.account_factors(context, account)
    usable = [kind for kind in second_factors.enrolled_kinds(settings, known) if kind not in APART]
    others = [kind for kind in second_factors.available_kinds(settings) if kind not in APART and kind not in usable]
    has_paper = settings.second_factors.backup_codes
    return contract.FactorsView(
        person=views.person(account),
        held=[_held(known, kind) for kind in usable],
        offered=[shared.FactorChoice(kind=kind, hint=AUTHENTICATORS[kind].hint(known)) for kind in others],
        backup_codes=len(known.enrolled(FactorKind.BACKUP_CODE)) if has_paper else None,
        is_required=settings.two_factor == "required",
        has_password=account.password_hash is not None,
        must_confirm=reauthentication.must_confirm(context, session, account),
        needs_password=_is_stale(context, session),
    )


@contract.read_one.implements
def read_one(context: Context, req: contract.OwnFactorRequest) -> contract.OwnFactorView:
    """A seed that somebody reads with an old session would open the account once its owner took it on: first the proof."""
    _refuse_off(context)
    session, account = account_settings.require_account(context)
    return _one(context, session, account, req.kind)


@contract.begin.implements
def begin(context: Context, req: contract.EnrolFactorRequest) -> contract.EnrolmentStarted:
    """Send what has to be sent; what went out a moment ago is not sent twice: a second click goes on as the first."""
    _refuse_off(context)
    known, address = account_settings.reauthenticate(context, req), None
    found = _pending(context, second_factors.account_factors(context, known.account), keeps=True)
    options = ChallengeOptions(email=req.target, phone=req.target, is_account_page=True)
    if not second_factors.enabled_authenticator(context, req.kind).is_enrolled(found.person):
        try:
            with suppress(e.TooManyRequests):
                address = second_factor.challenge(context, found, req.kind, options)[1].address
        except ApiError as refusal:
            raise _with_view(context, refusal, req.kind) from None
    return contract.EnrolmentStarted(session=account_settings.renew_session(context, known).session, address=address)


@contract.add.implements
def add(context: Context, req: shared.FactorAnswer) -> contract.FactorEnrolled:
    _refuse_off(context)
    known = account_settings.reauthenticate(context, WithPassword())
    person = second_factors.account_factors(context, known.account)
    if second_factors.enabled_authenticator(context, req.kind).is_enrolled(person):
        return contract.FactorEnrolled()  # a second click
    try:
        own_factors.enrol(
            context, person, req.kind, FactorResponse(req.code, None, req.answers, req.credential, req.state)
        )
    except ApiError as refusal:
        raise _with_view(context, refusal, req.kind) from None
    continuation_tokens.revoke_all(context, known.account.uid, ContinuationPurpose.OWN_FACTOR)
    wants = context.tenant.settings.second_factors.backup_codes and not person.enrolled(FactorKind.BACKUP_CODE)
    return contract.FactorEnrolled(wants_codes=wants)


@contract.remove.implements
def remove(context: Context, req: contract.RemoveFactorRequest) -> SessionRenewal:
    known = account_settings.reauthenticate(context, req)
    person = second_factors.account_factors(context, known.account)
    if req.kind not in APART and AUTHENTICATORS[req.kind].is_enrolled(person):
        own_factors.remove(context, known.account, req.kind)
    return account_settings.renew_session(context, known)


@shared.create_backup_codes.implements
def make_backup_codes(context: Context, req: WithPassword) -> shared.NewBackupCodes:
    """Whoever added a factor in the minutes after a proof is not asked again for its codes."""
    session, account = account_settings.require_account(context)
    known = account_settings.Reauthenticated(session, account) if _just_enrolled(context, session, account) else None
    known = known or account_settings.reauthenticate(context, req)
    codes = own_factors.renew(context, known.account)
    done = account_settings.renew_session(context, known)
    return shared.NewBackupCodes(codes=codes, person=label_of(account), session=done.session)


def _refuse_off(context: Context) -> None:
    if context.tenant.settings.two_factor == "disabled":
        raise e.TwoFactorOff


def _is_stale(context: Context, session: BrowserSession) -> bool:
    return context.now - session.authenticated_at > REAUTHENTICATION_LIFETIME


def _just_enrolled(context: Context, session: BrowserSession, account: Account) -> bool:
    known = second_factors.account_factors(context, account)
    if known.enrolled(FactorKind.BACKUP_CODE) or context.now - session.authenticated_at > 2 * REAUTHENTICATION_LIFETIME:
        return False
    return any(one.is_enrolled and one.created_at >= session.authenticated_at for one in known.credentials)


def _held(known: AccountFactors, kind: FactorKind) -> contract.EnrolledFactor:
    mine = known.enrolled(kind)
    used = [one.used_at for one in mine if one.used_at is not None]
    return contract.EnrolledFactor(
        kind=kind,
        hint=AUTHENTICATORS[kind].hint(known),
        since=iso(mine[0].created_at) if mine else None,
        used_at=iso(max(used)) if used else None,
    )


def _one(context: Context, session: BrowserSession, account: Account, kind: FactorKind) -> contract.OwnFactorView:
    known = second_factors.account_factors(context, account)
    is_held = second_factors.enabled_authenticator(context, kind).is_enrolled(known)
    needs_password = _is_stale(context, session)
    hides = is_held or needs_password or kind in APART
    return contract.OwnFactorView(
        person=views.person(account),
        shown=None if hides else factor_shown(context, _pending(context, known), kind, None),
        is_held=is_held,
        has_password=account.password_hash is not None,
        must_confirm=reauthentication.must_confirm(context, session, account),
        needs_password=needs_password,
    )


def _pending(context: Context, known: AccountFactors, *, keeps: bool = False) -> PendingSignIn:
    """Return what was begun; `keeps` begins it."""
    uid = known.account.uid
    begun = continuation_tokens.of_account(context, ContinuationPurpose.OWN_FACTOR, uid)
    if begun:
        return PendingSignIn(begun[0], known, Authentication(()))
    if keeps:
        made = continuation_tokens.issue(context, ContinuationPurpose.OWN_FACTOR, uid, lifetime=second_factor.LIFETIME)
        return PendingSignIn(made, known, Authentication(()))
    return PendingSignIn(
        ContinuationToken(ContinuationPurpose.OWN_FACTOR, "", uid, {}, OPEN, context.now, context.now),
        known,
        Authentication(()),
    )


def _with_view(context: Context, refusal: ApiError, kind: FactorKind) -> ApiError:
    """Return the refusal with the page as its data, so that it can be drawn again without asking."""
    context.work.rollback()
    session, account = account_settings.require_account(context)
    shown = _one(context, session, account, kind)
    refusal.data = {**(refusal.data or {}), "View": shown.model_dump(by_alias=True, mode="json")}
    return refusal
