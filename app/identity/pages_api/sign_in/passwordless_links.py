"""Mailed sign-in links: one kind signs in the browser that opens it, the other approves a pending device."""

from __future__ import annotations

from typing import Final

from app.contract import errors
from app.contract.page_models import LinkLookup, LinkRequest
from app.contract.passwordless.pages import link_and_code_pages
from app.contract.steps import StepResponse
from app.identity.authentication.passwordless import passwordless_sending, redemption, smart_login
from app.identity.authentication.passwordless.methods import MAIL
from app.identity.authentication.passwordless.smart_login import State
from app.identity.authentication.sign_in import interactions
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.identity.credentials.one_time_tokens.one_time_tokens import OneTimeToken
from app.identity.pages_api.interactions import link_handoff, next_step
from app.identity.pages_api.sign_in import passwordless
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationToken
from app.kit.clock import iso
from app.kit.web.user_agents import parse_user_agent

_STATES: Final = {State.APPROVED: "approved", State.USED: "approved", State.DENIED: "denied"}


@link_and_code_pages.read_link.implements
def read_link(context: Context, req: LinkLookup) -> link_and_code_pages.SignInLinkView:
    link = one_time_tokens.find_link(context, Purpose.SIGN_IN, req.token)
    if link is None:
        return link_and_code_pages.SignInLinkView(state="unknown")
    context.audit.record("passwordless.link_looked_at", uid=link.uid, by="machine" if req.is_machine else "browser")
    label, registers = str(link.facts.get("email") or ""), bool(link.facts.get("registers"))
    waiting = link_handoff.waiting(context, link)
    page = waiting.state.waiting_page if waiting is not None else None
    agent = parse_user_agent(page.agent if page is not None else "")
    state = _link_state(context, req.token)
    is_own = state == "open" and not req.is_machine and link_handoff.own(context, link) is not None
    return link_and_code_pages.SignInLinkView(
        state=state,
        label=label,
        registers=registers,
        is_awaited=page is not None,
        browser=agent.browser or "",
        system=agent.system or "",
        is_own=is_own,
    )


@link_and_code_pages.open_link.implements
def open_link(context: Context, req: LinkRequest) -> StepResponse:
    """Sign in by a link; a used link continues too if its account is signed in, because pages are reloaded."""
    passwordless_sending.count_attempt(context)
    interaction, session = interactions.find_open(context, req.interaction_id), sessions.current(context)
    used = one_time_tokens.find_used_link(context, Purpose.SIGN_IN, req.token)
    if used is not None and session is not None and session.uid == used.uid:
        return (
            next_step.advance(context, interaction, session)
            if interaction is not None
            else next_step.after_end(session)
        )
    one_time_token = one_time_tokens.spend_link(context, Purpose.SIGN_IN, req.token)
    account = redemption.redeem(context, one_time_token, errors.ExpiredLink)
    next_page = passwordless.complete_sign_in(
        context, interaction, account, MAIL, remember=passwordless.is_remembered(interaction)
    )
    if interaction is not None:
        return next_page
    return next_step.at_application(context, next_page, str(one_time_token.facts.get("attempt") or ""))


@link_and_code_pages.hand_over.implements
def hand_over(context: Context, req: link_and_code_pages.HandoverRequest) -> link_and_code_pages.SignInLinkView:
    """Use the link up for the page that waits for it in another browser, and sign nothing in here."""
    passwordless_sending.count_attempt(context)
    link = one_time_tokens.find_link(context, Purpose.SIGN_IN, req.token)
    if link is None:
        raise errors.UnknownLink
    waiting = link_handoff.check(context, link, req.number)
    if waiting is None:
        raise errors.ExpiredLink
    one_time_token = one_time_tokens.spend_link(context, Purpose.SIGN_IN, req.token)
    account = redemption.redeem(context, one_time_token, errors.ExpiredLink)
    link_handoff.approve(context, waiting, account)
    return link_and_code_pages.SignInLinkView(state="approved", label=str(link.facts.get("email") or ""))


@link_and_code_pages.renew_link.implements
def renew_link(context: Context, req: LinkRequest) -> StepResponse:
    passwordless_sending.count_request(context)
    link = one_time_tokens.find_link(context, Purpose.SIGN_IN, req.token)
    if link is None:
        raise errors.UnknownLink
    interaction = interactions.find_open(context, req.interaction_id)
    return passwordless.send_message(
        context, interaction, str(link.facts["email"]), MAIL, remember=passwordless.is_remembered(interaction)
    )


@link_and_code_pages.read_request.implements
def read_request(context: Context, req: LinkLookup) -> link_and_code_pages.DeviceRequestView:
    _, link, device = _request(context, req.token)
    if link is not None:
        context.audit.record("smart_login.looked_at", uid=link.uid, by="machine" if req.is_machine else "browser")
    return _view(context, req.token, link, device)


@link_and_code_pages.decide.implements
def decide(context: Context, req: link_and_code_pages.DeviceSignInDecision) -> link_and_code_pages.DeviceRequestView:
    """Approve or deny a device; three wrong numbers deny it."""
    passwordless_sending.count_attempt(context)
    kind, link, device = _request(context, req.token)
    view = _view(context, req.token, link, device)
    if view.state != "open" or link is None or device is None:
        return view
    is_denied = not req.is_yes
    if view.needs_number and req.is_yes:
        try:
            if not smart_login.number_matches(context, device, req.number):
                return view.model_copy(update={"is_wrong": True})
        except errors.TooManyRequests:
            is_denied = True
    one_time_token = one_time_tokens.spend_link(context, kind, req.token)
    if is_denied:
        smart_login.deny(context, device)
    else:
        smart_login.approve(context, one_time_token)
    return view.model_copy(update={"state": "denied" if is_denied else "approved"})


def _request(context: Context, token: str) -> tuple[Purpose, OneTimeToken | None, ContinuationToken | None]:
    for kind in smart_login.KINDS:
        if (link := one_time_tokens.find_link(context, kind, token)) is not None:
            return kind, link, smart_login.find_device(context, link)
    return Purpose.SMART_LOGIN, None, None


def _view(
    context: Context, token: str, link: OneTimeToken | None, device: ContinuationToken | None
) -> link_and_code_pages.DeviceRequestView:
    if link is None:
        return link_and_code_pages.DeviceRequestView(state="unknown")
    label = str(link.facts.get("email") or "")
    if device is None:
        return link_and_code_pages.DeviceRequestView(state="expired", label=label)
    agent = parse_user_agent(str(device.facts.get("agent") or ""))
    address = str(device.facts.get("address") or "")
    interaction_id = str(device.facts.get("attempt") or "")
    application = next_step.relying_party_of(context, interaction_id)
    return link_and_code_pages.DeviceRequestView(
        state=_STATES.get(State(device.state)) or _request_state(context, link, token),
        label=label,
        browser=agent.browser or "",
        system=agent.system or "",
        address=address,
        place=context.services.locations.place_of(address).label,
        requested_at=iso(device.created_at) or "",
        relying_party=application.name if application is not None else "",
        needs_number=bool(device.facts.get("number")),
    )


def _request_state(context: Context, link: OneTimeToken, token: str) -> str:
    try:
        one_time_tokens.peek_link(context, link.purpose, token)
    except (errors.UsedLink, errors.ExpiredLink):
        return "expired"
    return "open"


def _link_state(context: Context, token: str) -> str:
    try:
        one_time_tokens.peek_link(context, Purpose.SIGN_IN, token)
    except errors.UsedLink:
        return "used"
    except errors.ExpiredLink:
        return "expired"
    return "open"
