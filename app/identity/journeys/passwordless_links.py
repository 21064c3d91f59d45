"""Links of mails that sign in: one signs in the browser in which it is opened, the other says yes to a device that waits."""

from __future__ import annotations

from typing import Final

from app.contract import errors as e
from app.contract import hub_passwordless as contract
from app.contract.hub import Next, Step
from app.contract.hub_recovery import LinkRequest
from app.contract.mailed import LinkRead
from app.identity.call import Call
from app.identity.journeys import next as journey
from app.identity.journeys import passwordless_steps as steps
from app.identity.passwordless import redeeming, sending, smart
from app.identity.passwordless.smart import State
from app.identity.passwordless.ways import MAIL
from app.identity.proofs import service as proofs
from app.identity.proofs.service import Proof, ProofKind
from app.identity.sign_in import sessions
from app.identity.tickets.service import Ticket
from app.kit.server import Server
from app.kit.user_agents import parse_user_agent

_STATES: Final = {State.APPROVED: "approved", State.USED: "approved", State.DENIED: "denied"}


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.read_link)(read_link)
    server.implements(contract.open_link)(open_link)
    server.implements(contract.renew_link)(renew_link)
    server.implements(contract.read_request)(read_request)
    server.implements(contract.decide)(decide)


def read_link(call: Call, req: LinkRead) -> contract.LinkView:
    held = proofs.known_link(call, ProofKind.SIGN_IN, req.token)
    if held is None:
        return contract.LinkView(state="unknown")
    call.ledger.record("passwordless.link_looked_at", uid=held.uid, by="machine" if req.is_machine else "browser")
    label, registers = str(held.facts.get("email") or ""), bool(held.facts.get("registers"))
    return contract.LinkView(state=_link_state(call, req.token), label=label, registers=registers)


def open_link(call: Call, req: LinkRequest) -> Next:
    """A link that was used leads on as well where its person is signed in: pages are reloaded."""
    sending.spend_try(call)
    attempt, session = steps.living(call, req.attempt), sessions.current(call)
    used = proofs.used_link(call, ProofKind.SIGN_IN, req.token)
    if used is not None and session is not None and session.uid == used.uid:
        return journey.advance(call, attempt, session) if attempt is not None else journey.after_the_end(session)
    proof = proofs.spend_link(call, ProofKind.SIGN_IN, req.token)
    account = redeeming.account_of(call, proof, e.ExpiredLink)
    after = steps.entered(call, attempt, account, MAIL, remember=steps.remembers(attempt))
    asking = steps.asking_party(call, str(proof.facts.get("attempt") or "")) if attempt is None else None
    if after.step is Step.PROFILE and asking is not None and asking.home:
        return after.model_copy(update={"step": Step.REDIRECT, "address": asking.home})
    return after


def renew_link(call: Call, req: LinkRequest) -> Next:
    sending.spend(call)
    held = proofs.known_link(call, ProofKind.SIGN_IN, req.token)
    if held is None:
        raise e.UnknownLink
    attempt = steps.living(call, req.attempt)
    return steps.begin(call, attempt, str(held.facts["email"]), MAIL, remember=steps.remembers(attempt))


def read_request(call: Call, req: LinkRead) -> contract.RequestView:
    _, held, found = _request(call, req.token)
    if held is not None:
        call.ledger.record("smart_login.looked_at", uid=held.uid, by="machine" if req.is_machine else "browser")
    return _view(call, req.token, held, found)


def decide(call: Call, req: contract.Decision) -> contract.RequestView:
    """After three numbers that are not the device's it waits in vain."""
    sending.spend_try(call)
    kind, held, found = _request(call, req.token)
    view = _view(call, req.token, held, found)
    if view.state != "open" or held is None or found is None:
        return view
    is_no = not req.is_yes
    if view.needs_number and req.is_yes:
        try:
            if not smart.is_matched(call, found, req.number):
                return view.model_copy(update={"is_wrong": True})
        except e.TooManyRequests:
            is_no = True
    proof = proofs.spend_link(call, kind, req.token)
    if is_no:
        smart.deny(call, found)
    else:
        smart.approve(call, proof)
    return view.model_copy(update={"state": "denied" if is_no else "approved"})


def _request(call: Call, token: str) -> tuple[ProofKind, Proof | None, Ticket | None]:
    for kind in smart.KINDS:
        if (held := proofs.known_link(call, kind, token)) is not None:
            return kind, held, smart.of(call, held)
    return ProofKind.SMART_LOGIN, None, None


def _view(call: Call, token: str, held: Proof | None, found: Ticket | None) -> contract.RequestView:
    if held is None:
        return contract.RequestView(state="unknown")
    label = str(held.facts.get("email") or "")
    if found is None:
        return contract.RequestView(state="expired", label=label)
    agent, asking = parse_user_agent(str(found.facts.get("agent") or "")), str(found.facts.get("attempt") or "")
    party = steps.asking_party(call, asking)
    return contract.RequestView(
        state=_STATES.get(State(found.state)) or _request_state(call, held, token),
        label=label,
        browser=agent.browser or "",
        system=agent.system or "",
        address=str(found.facts.get("address") or ""),
        relying_party=party.name if party is not None else "",
        needs_number=bool(found.facts.get("number")),
    )


def _request_state(call: Call, held: Proof, token: str) -> str:
    try:
        proofs.peek_link(call, held.kind, token)
    except (e.UsedLink, e.ExpiredLink):
        return "expired"
    return "open"


def _link_state(call: Call, token: str) -> str:
    try:
        proofs.peek_link(call, ProofKind.SIGN_IN, token)
    except e.UsedLink:
        return "used"
    except e.ExpiredLink:
        return "expired"
    return "open"
