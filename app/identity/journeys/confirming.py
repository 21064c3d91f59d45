"""Proving once more who is signed in, on our pages: by the second factor where there is one, else by the password.

The session goes on under another cookie, and says by which methods its person is known (decisions/0094).
"""

from __future__ import annotations

from app.contract import errors as e
from app.contract import hub_confirm as contract
from app.contract.hub import Next, Step
from app.contract.hub_self_service import Done, Proved
from app.identity.call import Call
from app.identity.journeys import entering, factor_steps, own_account
from app.identity.journeys import next as journey
from app.identity.oauth import views
from app.identity.second_factors import service as factors
from app.identity.second_factors.service import Wanted
from app.identity.sign_in import attempts, second_factor
from app.identity.sign_in.second_factor import Way
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.begin)(begin)
    server.implements(contract.with_password)(with_password)


def begin(call: Call, req: contract.ConfirmBegun) -> contract.ConfirmStep:
    session, account = own_account.owner(call)
    told = contract.ConfirmStep(
        person=views.person(account),
        is_needed=not own_account.is_fresh(call, session),
        has_password=account.password_hash is not None,
    )
    kinds = factors.held(call, account)
    if not told.is_needed or not kinds:
        return told
    asked = {factor_steps.STEP_UP: session.session_id, "landing": req.landing}
    attempt, binding = attempts.open(call, journey.RETURN, asked)
    known = factors.person(call, account)
    found = second_factor.begin(call, Wanted(known, kinds), Way(session.methods))
    attempts.note(call, attempt, lives_for=second_factor.LIFETIME, **{entering.KEY: found.ticket.ticket_hash})
    step = Next(step=Step.SECOND_FACTOR, attempt=attempt.attempt_id, binding=binding)
    return told.model_copy(update={"next": step})


def with_password(call: Call, req: Proved) -> Done:
    known = own_account.proved(call, req)
    if not known.is_new and not own_account.is_fresh(call, known.session):
        raise e.NotAuthenticated
    return own_account.done(call, known)
