"""The link of a mail about a change: "this was not me", and "it was me"."""

from __future__ import annotations

from dataclasses import asdict

from app.contract import hub_recovery as contract
from app.contract.hub import Next, Step
from app.contract.letters import MailKind
from app.contract.mailed import LinkRead
from app.identity.accounts import service as accounts
from app.identity.call import Call
from app.identity.journeys import next as journey
from app.identity.journeys import recovering
from app.identity.proofs import service as proofs
from app.identity.proofs.service import ProofKind
from app.identity.recovery import restoring, sending
from app.identity.recovery.sending import MAIL
from app.identity.sign_in import attempts, recovered
from app.kit import randomness
from app.kit.server import Server


def register(server: Server) -> None:
    """Implement the operations."""
    server.implements(contract.read_alarm)(read_alarm)
    server.implements(contract.own_doing)(own_doing)
    server.implements(contract.alarm)(alarm)


def read_alarm(call: Call, req: LinkRead) -> contract.LinkView:
    view = recovering.looked_at(call, ProofKind.ALARM, req)
    held = proofs.known_link(call, ProofKind.ALARM, req.token)
    account = accounts.by_uid(call, held.uid) if held is not None else None
    if held is None or account is None:
        return view
    if view.state == "open" and restoring.is_closed(call, account):
        return view.model_copy(update={"state": "closed"})
    is_over = view.state == "expired" and not sending.still_reaches(account, held)
    return view.model_copy(update={"state": "moved"}) if is_over else view


def own_doing(call: Call, req: contract.AlarmRequest) -> contract.LinkView:
    recovered.spend(call)
    ended = restoring.acknowledge(call, req.token)
    return contract.LinkView(state="own", label=str(ended.facts["email"]))


def alarm(call: Call, req: contract.AlarmRequest) -> Next:
    """Nobody gets in with the password that the other one set; whoever holds the mailbox sets the next."""
    recovered.spend(call)
    proofs.peek_link(call, ProofKind.ALARM, req.token)
    call.work.pause()
    account, proof = restoring.restore(call, req.token, call.hashing.hash(randomness.token()))
    recovered.end_everything(call, account)
    here, binding = attempts.open(call, journey.RETURN, {})
    state = recovering.Recovering(recovering.label(proof, account), account.uid, MAIL, int(call.now.timestamp()))
    if account.email and recovering.is_sent(call, here, state, account, MailKind.ALARM):
        here = attempts.note(call, here, lives_for=recovering.WAITS, **{recovering.KEY: asdict(state)})
        return recovering.step(call, here, state).model_copy(update={"binding": binding, "ends_session": True})
    # No mail may go, and who holds the link of the alarm proved the mailbox already.
    token = sending.page_token(call, account, proofs.RESET_MINUTES, reason=recovering.CODE, email=account.email)
    lasts = max(1, int((here.expires_at - call.now).total_seconds()))
    return Next(
        step=Step.NEW_PASSWORD, attempt=here.attempt_id, binding=binding, address=token, ends_session=True,
        attempt_lifetime_seconds=lasts,
    )  # fmt: skip
