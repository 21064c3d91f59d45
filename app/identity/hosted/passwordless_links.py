"""Links of mails that sign in: one signs in the browser in which it is opened, the other says yes to a device that waits."""

from __future__ import annotations

from typing import Final

from app.contract import errors as e
from app.contract import hub_passwordless as contract
from app.contract.hub import Next, Step
from app.contract.hub_models import LinkLookup, LinkRequest
from app.identity.authentication.passwordless import redemption, sending, smart_login
from app.identity.authentication.passwordless.methods import MAIL
from app.identity.authentication.passwordless.smart_login import State
from app.identity.authentication.sign_in import interactions, sessions
from app.identity.credentials.one_time_tokens import service as one_time_tokens
from app.identity.credentials.one_time_tokens.service import OneTimeToken, Purpose
from app.identity.hosted import next_step
from app.identity.hosted import passwordless as steps
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationToken
from app.kit.user_agents import parse_user_agent

_STATES: Final = {State.APPROVED: "approved", State.USED: "approved", State.DENIED: "denied"}


@contract.read_link.implements
def read_link(context: Context, req: LinkLookup) -> contract.SignInLinkView:
    held = one_time_tokens.find_link(context, Purpose.SIGN_IN, req.token)
    if held is None:
        return contract.SignInLinkView(state="unknown")
    context.audit.record("passwordless.link_looked_at", uid=held.uid, by="machine" if req.is_machine else "browser")
    label, registers = str(held.facts.get("email") or ""), bool(held.facts.get("registers"))
    return contract.SignInLinkView(state=_link_state(context, req.token), label=label, registers=registers)


@contract.open_link.implements
def open_link(context: Context, req: LinkRequest) -> Next:
    """A link that was used leads on as well where its person is signed in: pages are reloaded."""
    sending.spend_attempt(context)
    interaction, session = interactions.find_open(context, req.attempt), sessions.current(context)
    used = one_time_tokens.find_used_link(context, Purpose.SIGN_IN, req.token)
    if used is not None and session is not None and session.uid == used.uid:
        return (
            next_step.advance(context, interaction, session)
            if interaction is not None
            else next_step.after_end(session)
        )
    proof = one_time_tokens.spend_link(context, Purpose.SIGN_IN, req.token)
    account = redemption.redeem(context, proof, e.ExpiredLink)
    after = steps.complete_sign_in(context, interaction, account, MAIL, remember=steps.is_remembered(interaction))
    asking = steps.relying_party_of(context, str(proof.facts.get("attempt") or "")) if interaction is None else None
    if after.step is Step.PROFILE and asking is not None and asking.home:
        return after.model_copy(update={"step": Step.REDIRECT, "address": asking.home})
    return after


@contract.renew_link.implements
def renew_link(context: Context, req: LinkRequest) -> Next:
    sending.spend_limit(context)
    held = one_time_tokens.find_link(context, Purpose.SIGN_IN, req.token)
    if held is None:
        raise e.UnknownLink
    interaction = interactions.find_open(context, req.attempt)
    return steps.begin(context, interaction, str(held.facts["email"]), MAIL, remember=steps.is_remembered(interaction))


@contract.read_request.implements
def read_request(context: Context, req: LinkLookup) -> contract.DeviceRequestView:
    _, held, found = _request(context, req.token)
    if held is not None:
        context.audit.record("smart_login.looked_at", uid=held.uid, by="machine" if req.is_machine else "browser")
    return _view(context, req.token, held, found)


@contract.decide.implements
def decide(context: Context, req: contract.DeviceDecision) -> contract.DeviceRequestView:
    """After three numbers that are not the device's it waits in vain."""
    sending.spend_attempt(context)
    kind, held, found = _request(context, req.token)
    view = _view(context, req.token, held, found)
    if view.state != "open" or held is None or found is None:
        return view
    is_no = not req.is_yes
    if view.needs_number and req.is_yes:
        try:
            if not smart_login.number_matches(context, found, req.number):
                return view.model_copy(update={"is_wrong": True})
        except e.TooManyRequests:
            is_no = True
    proof = one_time_tokens.spend_link(context, kind, req.token)
    if is_no:
        smart_login.deny(context, found)
    else:
        smart_login.approve(context, proof)
    return view.model_copy(update={"state": "denied" if is_no else "approved"})


def _request(context: Context, token: str) -> tuple[Purpose, OneTimeToken | None, ContinuationToken | None]:
    for kind in smart_login.KINDS:
        if (held := one_time_tokens.find_link(context, kind, token)) is not None:
            return kind, held, smart_login.find_device(context, held)
    return Purpose.SMART_LOGIN, None, None


def _view(
    context: Context, token: str, held: OneTimeToken | None, found: ContinuationToken | None
) -> contract.DeviceRequestView:
    if held is None:
        return contract.DeviceRequestView(state="unknown")
    label = str(held.facts.get("email") or "")
    if found is None:
        return contract.DeviceRequestView(state="expired", label=label)
    agent, asking = parse_user_agent(str(found.facts.get("agent") or "")), str(found.facts.get("attempt") or "")
    party = steps.relying_party_of(context, asking)
    return contract.DeviceRequestView(
        state=_STATES.get(State(found.state)) or _request_state(context, held, token),
        label=label,
        browser=agent.browser or "",
        system=agent.system or "",
        address=str(found.facts.get("address") or ""),
        relying_party=party.name if party is not None else "",
        needs_number=bool(found.facts.get("number")),
    )


def _request_state(context: Context, held: OneTimeToken, token: str) -> str:
    try:
        one_time_tokens.peek_link(context, held.kind, token)
    except (e.UsedLink, e.ExpiredLink):
        return "expired"
    return "open"


def _link_state(context: Context, token: str) -> str:
    try:
        one_time_tokens.peek_link(context, Purpose.SIGN_IN, token)
    except e.UsedLink:
        return "used"
    except e.ExpiredLink:
        return "expired"
    return "open"
