"""What people do to their own account on our pages."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from app.contract import errors as e
from app.contract import hub_self_service as contract
from app.contract.groups import Posted
from app.contract.hub import Next
from app.contract.registration_form import CUSTOM, FormField
from app.contract.self_service import OwnChanges
from app.identity.accounts import gate
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.journeys import next as journey
from app.identity.journeys import views
from app.identity.journeys.freshness import is_fresh, must_confirm
from app.identity.proofs import service as proofs
from app.identity.self_service import leaving, policy, profile
from app.identity.sign_in import attempts, sessions, unmet
from app.identity.sign_in.sessions import BrowserSession
from app.identity.tenants import registration_form
from app.kit.clock import iso
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.edit_profile)(edit_profile)
    server.implements(contract.edit_username)(edit_username)
    server.implements(contract.edit_answers)(edit_answers)
    server.implements(contract.ask_deletion)(ask_deletion)
    server.implements(contract.read_deletion)(read_deletion)
    server.implements(contract.confirm_deletion)(confirm_deletion)
    server.implements(contract.keep_account)(keep_account)
    server.implements(contract.accept_policy)(accept_policy)
    server.implements(contract.fill_missing)(fill_missing)


def edit_profile(call: Call, req: contract.ProfileEdit) -> Posted:
    session, account = owner(call)
    profile.update(call, account, _changes(call, req.fields), session_id=session.session_id)
    return Posted()


def edit_username(call: Call, req: contract.UsernameEdit) -> contract.Done:
    known = proved(call, req)
    profile.set_username(call, known.account, req.username.strip())
    return done(call, known)


def edit_answers(call: Call, req: contract.AnswersEdit) -> contract.Done:
    known = proved(call, req)
    given = {question: text for question, text in req.answers.items() if text.strip()}
    if given:
        profile.update(call, known.account, OwnChanges(security_question_answer=given))
    return done(call, known)


def ask_deletion(call: Call, req: contract.Proved) -> contract.Done:
    known = proved(call, req)
    leaving.ask(call, known.account)
    return done(call, known)


def read_deletion(call: Call, req: contract.DeletionRead) -> contract.DeletionView:
    proof = leaving.peek(call, req.token)
    account = accounts.by_uid(call, proof.uid)
    if account is None or account.is_deleted:
        raise e.UsedLink
    return contract.DeletionView(email=account.email or "", days=call.tenant.settings.deletion_days)


def confirm_deletion(call: Call, req: contract.DeletionConfirmed) -> contract.Left:
    session = sessions.current(call)
    account = leaving.confirm(call, req.token)
    is_own = session is not None and session.uid == account.uid
    return contract.Left(leaves_at=iso(account.leaves_at), ends_session=is_own)


def keep_account(call: Call, req: contract.KeepRequest) -> Posted:
    if not leaving.keep_by(call, req.token):
        raise e.WrongDeleteToken
    return Posted()


def accept_policy(call: Call, req: contract.PolicyAccepted) -> Next:
    attempt, (session, account) = attempts.find(call, req.attempt), signed_in(call)
    if attempt is None:
        return journey.START_AGAIN
    with suppress(e.NoPrivacyPolicy, e.PolicyAcceptedAlready):  # a second click, or another tab: onward all the same
        policy.accept(call, account)
    return journey.after_the_end(session) if attempt.is_done else journey.advance(call, attempt, session)


def fill_missing(call: Call, req: contract.MissingFields) -> Next:
    attempt, (session, account) = attempts.find(call, req.attempt), owner(call)
    if attempt is None:
        return journey.START_AGAIN
    given = {name: text for name, text in req.fields.items() if text.strip()}
    profile.update(call, account, _changes(call, given), session_id=session.session_id)
    return journey.after_the_end(session) if attempt.is_done else journey.advance(call, attempt, session)


def owner(call: Call) -> tuple[BrowserSession, Account]:
    """Return who may change something: the pages lead everybody else to a sign-in, whose steps ask for the policy."""
    session, account = signed_in(call)
    if unmet.is_barred(call, session, account):
        raise e.NotAuthenticated
    return session, account


def signed_in(call: Call) -> tuple[BrowserSession, Account]:
    """Return who is signed in, whatever the tenant still wants of the account. Raises NotAuthenticated."""
    session = sessions.current(call)
    account = accounts.by_uid(call, session.uid) if session is not None else None
    if session is None or account is None or not account.is_active or account.is_deleted:
        raise e.NotAuthenticated
    return session, account


@dataclass(frozen=True)
class Known:
    """Somebody who proved who they are: a moment ago, or just now (`is_new`)."""

    session: BrowserSession
    account: Account
    is_new: bool = False


def done(call: Call, known: Known) -> contract.Done:
    """Answer a change; a proof that was shown for it counts from here on, under a new cookie (design: at every such rise)."""
    if not known.is_new:
        return contract.Done()
    text = sessions.prove_again(call, known.session)
    return contract.Done(session=views.cookie(call, known.session, text))


def proved(call: Call, req: contract.Proved) -> Known:
    """Return the signed-in account of somebody who proved it a moment ago, or does so now. A wrong password counts.

    Raises WrongCurrentPassword, and the refusals of a locked account; NotAuthenticated where the password is not enough: the
    page then leads to one that asks for more.
    """
    session, account = owner(call)
    if is_fresh(call, session):
        return Known(session, account)
    if must_confirm(call, session, account):
        raise e.NotAuthenticated
    proofs.refuse_locked(call, account)
    if not req.password:
        raise e.WrongCurrentPassword("The password is asked again.")
    call.work.pause()
    if not call.hashing.is_match(account.password_hash, req.password):
        with call.work.apart() as own:
            failure = gate.count_failure(own, account, call.tenant.settings, call.now)
        call.ledger.record("password.refused", uid=account.uid, attempts=failure.attempts)
        raise e.WrongCurrentPassword
    with call.work.apart() as own:
        gate.forget_failures(own, account.uid)
    return Known(session, account, is_new=True)


def _changes(call: Call, typed: dict[str, str]) -> OwnChanges:
    """Return what was typed as an update of the profile: only what the tenant's form lets people change."""
    form = contract.editable(registration_form.of(call.tenant.settings))
    asked = [(field, typed[field.name].strip()) for field in form if field.name in typed]
    body: dict[str, Any] = {field.member: _said(field, text) for field, text in asked if field.member}
    custom = {field.name.removeprefix(CUSTOM): text or None for field, text in asked if field.is_custom}
    return OwnChanges.model_validate({**body, **({"CustomFields": custom} if custom else {}), "null_support": True})


def _said(field: FormField, text: str) -> str | None:
    return text or ("false" if field.type == "multi" else None)
