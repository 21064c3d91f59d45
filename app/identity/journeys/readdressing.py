"""Change it: the browser that registered names another address, or number, while the first is not proved."""

from __future__ import annotations

from dataclasses import replace

from app.contract import hub_verification as contract
from app.contract.hub import Next, Step
from app.identity.accounts import store, waiting
from app.identity.accounts.identifiers import EMAIL, PHONE
from app.identity.call import Call
from app.identity.journeys import awaiting, checking
from app.identity.journeys import next as journey
from app.identity.journeys.awaiting import SMS, Checking
from app.identity.proofs import service as proofs
from app.identity.registration import readdressing
from app.identity.registration import service as registration
from app.identity.sign_in import attempts, sessions
from app.identity.sign_in.attempts import Attempt
from app.identity.verification.service import Wish
from app.kit import randomness
from app.kit.errors import ApiError
from app.kit.limits import Rate
from app.kit.server import Server

_CHANGES = Rate(5, 3600)  # per attempt: a registration may not be a way to write to everybody


def register(server: Server) -> None:
    """Implement the operation."""
    server.implements(contract.change_address)(change_address)


def change_address(call: Call, req: contract.OtherAddressRequest) -> Next:
    attempt = attempts.find(call, req.attempt)
    if attempt is None:
        return journey.START_AGAIN
    state, session = awaiting.of(attempt), sessions.current(call)
    if attempt.is_done:
        return journey.after_the_end(session)
    if state is None or session is not None:
        return journey.advance(call, attempt, session)
    if not state.held:
        return checking.step(call, attempt, state)
    try:
        return _changed(call, attempt, state, req.to)
    except waiting.InUse:
        call.work.rollback()
        if state.by == SMS:
            return Next(step=Step.LOGIN, attempt=attempt.attempt_id)
    except ApiError as refusal:
        raise checking.with_page(call, refusal, state) from None
    return checking.enter_code(call, contract.CodeRequest(attempt=req.attempt))


def _changed(call: Call, attempt: Attempt, state: Checking, typed: str) -> Next:
    """Change it in one transaction. A second submit, or another tab, finds it done: the page shows which address it is."""
    to = readdressing.read(call, PHONE if state.by == SMS else EMAIL, typed)
    if to.form == state.subject:
        return checking.step(call, attempt, state)
    registration.spend(call)
    call.spend("address_changed", _CHANGES, randomness.digest(attempt.attempt_id))
    store.change(call, str(state.held["uid"]), {})
    proofs.close(
        call, str(state.held["uid"])
    )  # account, proofs, attempt: whoever proves it in this moment locks them so, too
    latest = attempts.locked(call, attempt)
    now = awaiting.of(latest)
    if now is None or latest.is_done or now.subject != state.subject:
        call.work.rollback()
        return checking.step(call, latest, now or state)
    account = readdressing.move(call, state.held, to, Wish(attempt=attempt.attempt_id))
    changed = replace(
        state,
        email=awaiting.shown(to.shown, state.by),
        uid=account.uid if account is not None else proofs.NOBODY,
        sent_at=int(call.now.timestamp()),
    )
    return checking.step(call, awaiting.note(call, latest, changed), changed)
