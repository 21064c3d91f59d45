"""Mailed sign-in links: sign this browser in, or approve a waiting device. A GET does not use the link up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.page_models import LinkLookup, LinkRequest
from app.contract.passwordless.pages import link_and_code_pages
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.components.sign_in_methods import MAIL, begin_method
from app.hub.components.sign_in_refusals import RefusalReason, reason_for, sign_in_notice, wait_seconds
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import browser_label, time_ago
from app.hub.rendering.page import Notice
from app.hub.tenants.branding import initials
from app.hub.web.errors import shown_for
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.clock import iso
from app.kit.operations.errors import ApiError

LINK: Final = "/sign-in/link"
APPROVE: Final = "/sign-in/approve"


class LinkNumberForm(HubForm):
    """The number shown on the waiting device; empty if it shows none."""

    number = mailed_link.number_field()


class SignInLinkState(StrEnum):
    """The state of a sign-in link."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    UNKNOWN = "unknown"
    REFUSED = "refused"
    """The link is valid, but the account may not sign in."""


class RequestState(StrEnum):
    """The state of a request to approve a device."""

    OPEN = "open"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class SignInLinkPage(mailed_link.LinkPage):
    """Confirms a sign-in in this browser."""

    template = "pages/sign_in/email_link.html"
    scripts = (*mailed_link.LinkPage.scripts, "number")
    path = LINK

    form: LinkNumberForm
    state: SignInLinkState
    relying_party: str = ""
    creates_account: bool = False
    is_awaited: bool = False
    """Whether a page in another browser waits for the link, and shows a number."""
    waiting_browser: Any = ""
    """Its name, such as "Chrome on Linux"; empty if unknown."""
    is_own: bool = False
    """Whether this browser asked for the link and just opened it; never after a post, so that an error is no loop."""
    refusal: RefusalReason | None = None
    wait_seconds: int = 0

    @property
    def continues(self) -> bool:
        return self.is_own and self.state is SignInLinkState.OPEN

    @property
    def notice(self) -> Notice | None:
        return sign_in_notice(self.refusal, self.wait_seconds) if self.refusal else super().notice

    @property
    def reset_helps(self) -> bool:
        """Whether a password reset unlocks the account."""
        return self.refusal in (RefusalReason.SUSPENDED, RefusalReason.LOCKED)

    @property
    def reset_is_mentioned(self) -> bool:
        """Whether the notice mentions that a password reset unlocks the account."""
        return self.refusal is RefusalReason.LOCKED

    @classmethod
    def samples(cls) -> Mapping[str, SignInLinkPage]:
        common = ("ada@example.com", "a-token")
        samples = {state.value: cls(LinkNumberForm(), state, *common) for state in SignInLinkState}
        samples["open for an application"] = cls(LinkNumberForm(), SignInLinkState.OPEN, *common, "Acme Shop")
        samples["open, one-touch"] = cls(LinkNumberForm(), SignInLinkState.OPEN, *common, creates_account=True)
        samples["in the same browser"] = cls(LinkNumberForm(), SignInLinkState.OPEN, *common, "Acme Shop", is_own=True)
        samples["awaited in another browser"] = cls(
            LinkNumberForm(),
            SignInLinkState.OPEN,
            *common,
            "Acme Shop",
            is_awaited=True,
            waiting_browser="Chrome on Linux",
        )
        wrong = LinkNumberForm(data={"number": "12"})
        wrong.add_error("number", mailed_link.WRONG_NUMBER)
        samples["a wrong number"] = cls(wrong, SignInLinkState.OPEN, *common, "Acme Shop", is_awaited=True)
        samples["refused"] = cls(
            LinkNumberForm(), SignInLinkState.REFUSED, *common, refusal=RefusalReason.SUSPENDED, wait_seconds=840
        )
        samples["token"] = cls(LinkNumberForm().with_token_error(), SignInLinkState.OPEN, *common)
        return samples


@dataclass(frozen=True)
class SignInRequestPage(mailed_link.LinkPage):
    """Approves or denies the sign-in of another device."""

    template = "pages/sign_in/email_link_approval.html"
    required_blocks = frozenset({"lead"})
    scripts = (*mailed_link.LinkPage.scripts, "number")
    own_rules = ("scopes",)
    path = APPROVE

    form: LinkNumberForm
    state: RequestState
    browser: str = ""
    ip: str = ""
    place: str = ""
    """Where it is, by its IP address; empty if unknown."""
    requested_at: str = ""
    relying_party: str = ""
    needs_number: bool = False

    @property
    def initials(self) -> str:
        return initials(self.label)

    @property
    def age(self) -> str:
        return time_ago(self.requested_at) if self.requested_at else ""

    @classmethod
    def samples(cls) -> Mapping[str, SignInRequestPage]:
        common: dict[str, Any] = {
            "label": "ada@example.com", "token": "a-token", "browser": "Firefox, Linux", "ip": "203.0.113.7",
        }  # fmt: skip
        samples = {state.value: cls(LinkNumberForm(), state, **common) for state in RequestState}
        wrong = LinkNumberForm(data={"number": "12"})
        wrong.add_error("number", _WRONG)
        common |= {"place": "Berlin, Germany", "requested_at": iso(services().clock.now() - timedelta(minutes=2))}
        samples["with a number"] = cls(
            LinkNumberForm(), RequestState.OPEN, **common, relying_party="Acme Shop", needs_number=True
        )
        samples["a wrong number"] = cls(
            wrong, RequestState.OPEN, **common, relying_party="Acme Shop", needs_number=True
        )
        samples["token"] = cls(LinkNumberForm().with_token_error(), RequestState.OPEN, **common, needs_number=True)
        return samples


_WRONG: Final = _l("Wrong number. None shown? Deny it.")
_MISSING: Final = _l("Enter the number on the other device.")


@pages.get(LINK)
def show_sign_in_link() -> Response:
    token = mailed_link.link_token()
    link = api()(link_and_code_pages.read_link, mailed_link.link_read(token))
    return replace(_link(LinkNumberForm(), token, link), is_own=link.is_own).render()


@pages.post(LINK)
def submit_sign_in_link() -> Response:
    visit = current_visit()
    form, token = LinkNumberForm(), mailed_link.link_token()
    if not form.validate():
        return _link(form, token, api()(link_and_code_pages.read_link, LinkLookup(token=token))).render(
            form.error_status
        )
    if visit.form.get("do") == "there":
        return _hand_over(form, token)
    operation = link_and_code_pages.renew_link if visit.form.get("do") == "renew" else link_and_code_pages.open_link
    try:
        response = api()(operation, LinkRequest(token=token, interaction_id=visit.interaction_id))
        return begin_method(journey.follow(response), response, MAIL)
    except ApiError as refusal:
        return _refused(token, refusal)


def _hand_over(form: LinkNumberForm, token: str) -> Response:
    """Complete the sign-in in the other browser, whose page waits for the link."""
    number = (form.number.data or "").strip()[:20]
    try:
        if not number:
            form.add_error("number", _MISSING)
        else:
            link = api()(link_and_code_pages.hand_over, link_and_code_pages.HandoverRequest(token=token, number=number))
            return SignInRequestPage(LinkNumberForm(formdata=None), RequestState.APPROVED, link.label, token).render()
    except errors.WrongMailCode:
        form.add_error("number", mailed_link.WRONG_NUMBER)
    except ApiError as refusal:
        if not isinstance(refusal, errors.ExpiredLink):
            return _refused(token, refusal)
    return _link(form, token, api()(link_and_code_pages.read_link, LinkLookup(token=token))).render(
        403 if number else 422
    )


@pages.get(APPROVE)
def show_sign_in_request() -> Response:
    token = mailed_link.link_token()
    return _request(
        LinkNumberForm(), token, api()(link_and_code_pages.read_request, mailed_link.link_read(token))
    ).render()


@pages.post(APPROVE)
def submit_sign_in_request() -> Response:
    visit = current_visit()
    form, token, is_approved = LinkNumberForm(), mailed_link.link_token(), visit.form.get("do") == "yes"
    if not form.validate():
        return _request(form, token, api()(link_and_code_pages.read_request, LinkLookup(token=token))).render(
            form.error_status
        )
    number = (form.number.data or "").strip()[:20]
    if is_approved and "number" in visit.form and not number:
        form.add_error("number", _MISSING)
        return _request(form, token, api()(link_and_code_pages.read_request, LinkLookup(token=token))).render(422)
    try:
        view = api()(
            link_and_code_pages.decide,
            link_and_code_pages.DeviceSignInDecision(token=token, is_yes=is_approved, number=number),
        )
    except (errors.UnknownLink, errors.ExpiredLink, errors.UsedLink):
        view = api()(link_and_code_pages.read_request, LinkLookup(token=token))
    if view.is_wrong:
        form.add_error("number", _WRONG)
    return _request(form, token, view).render(403 if view.is_wrong else 200)


def _link(form: LinkNumberForm, token: str, view: link_and_code_pages.SignInLinkView) -> SignInLinkPage:
    name = current_visit().relying_party
    browser = browser_label(view.browser, view.system) if view.browser or view.system else ""
    return SignInLinkPage(
        form, SignInLinkState(view.state), view.label, token, name, view.registers, view.is_awaited, browser
    )


def _refused(token: str, refusal: ApiError) -> Response:
    """Show why the account may not sign in; only the owner of the mailbox reaches this page."""
    state = shown_for(refusal, _STATES)
    view = api()(link_and_code_pages.read_link, LinkLookup(token=token))
    form, name = LinkNumberForm(formdata=None), current_visit().interaction
    relying_party = name.relying_party if name else ""
    if state is not None:
        return SignInLinkPage(form, state, view.label, token, relying_party).render(refusal.status)
    reason = reason_for(refusal)
    reason = RefusalReason.LOCKED if reason in (RefusalReason.CAPTCHA, RefusalReason.QUESTION) else reason
    wait = wait_seconds(refusal, services().now())
    return SignInLinkPage(
        form, SignInLinkState.REFUSED, view.label, token, relying_party, refusal=reason, wait_seconds=wait
    ).render(refusal.status)


def _request(form: LinkNumberForm, token: str, view: link_and_code_pages.DeviceRequestView) -> SignInRequestPage:
    browser = ", ".join(item for item in (view.browser, view.system) if item)
    state = RequestState(view.state)
    return SignInRequestPage(
        form,
        state,
        view.label,
        token,
        browser,
        view.address,
        view.place,
        view.requested_at or "",
        view.relying_party,
        view.needs_number,
    )


_STATES: Final[dict[type[ApiError], SignInLinkState]] = {
    errors.UnknownLink: SignInLinkState.UNKNOWN,
    errors.UsedLink: SignInLinkState.USED,
    errors.ExpiredLink: SignInLinkState.EXPIRED,
    errors.ClosedLink: SignInLinkState.EXPIRED,
    errors.EmailRegistered: SignInLinkState.EXPIRED,
    errors.PasswordlessOff: SignInLinkState.EXPIRED,
}
