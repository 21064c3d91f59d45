"""Sign-in by a phone: this browser shows a QR code, waits for the phone and continues. Without scripts the page reloads itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.page_models import InteractionOnly
from app.contract.passwordless.pages import cross_device_pages
from app.contract.step_reasons import QrCodeState
from app.contract.steps import QrCodeStep
from app.hub import journey
from app.hub.components.mailed_link import link_read
from app.hub.components.qr_codes import QrCode, qr_code
from app.hub.components.restore_account import offer_restore
from app.hub.components.sign_in_methods import PATHS, PHONE, begin_method, can_begin
from app.hub.components.sign_in_refusals import reason_for
from app.hub.forms.code import LINK_CLOSED, ButtonForm
from app.hub.pages import pages
from app.hub.pages.sign_in.login.current_page import render_after_refusal
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.short_links import link_url
from app.hub.web.visit import current_visit, interaction_url, requested_interaction_id
from app.kit.operations.errors import ApiError

PATH: Final = PATHS[PHONE]
OPEN: Final = "/sign-in/phone/open"
_STATE: Final = "/sign-in/phone/state"
_RELOAD_SECONDS: Final = 5
_WAITING: Final = ("waits", "opened")


@dataclass(frozen=True)
class PhoneSignInPage(Page):
    """Shows the code until a phone approved it."""

    template = "pages/sign_in/phone.html"
    scripts = (*Page.scripts, "poll", "copy", "share")
    own_rules = ("scan", "phone-link")

    form: ButtonForm
    state: str
    """waits, opened (on a phone), approved, denied or expired."""
    link: str = ""
    """The address in the code."""
    number: str = ""
    """What the person types on the phone."""

    @property
    def run(self) -> tuple[str, ...]:
        return self.scripts if self.is_waiting else Page.scripts

    @property
    def is_waiting(self) -> bool:
        return self.state in _WAITING

    @property
    def minutes(self) -> int:
        """How long the code works."""
        return cross_device_pages.CODE_MINUTES

    @property
    def picture(self) -> QrCode:
        return qr_code(self.link)

    @property
    def reload(self) -> str:
        """When and where a browser without scripts loads the page again: never a form's response, which would be posted again."""
        return f"{_RELOAD_SECONDS}; url={interaction_url(PATH)}"

    @property
    def polls(self) -> str:
        return interaction_url(_STATE)

    @property
    def other(self) -> str:
        return interaction_url("/login")

    @classmethod
    def samples(cls) -> Mapping[str, PhoneSignInPage]:
        link = "https://accounts.example.com/q/3kTMd0vZTnU5qXk2nVQG0m7wP4cJY1yRr8sLbHhE6fA"
        states = {state: cls(ButtonForm(), state, link, "47") for state in ("waits", "opened")}
        states |= {state: cls(ButtonForm(), state) for state in ("approved", "denied", "expired")}
        return {**states, "token": cls(ButtonForm().with_token_error(), "waits", link, "47")}


@pages.get(PATH)
def show_phone_sign_in() -> Response:
    """Show the code of the interaction, and make one at the first visit; continue once the phone approved it.

    The browser that shows the code may continue without a press (as decision 0180), unless the request is a prefetch.
    """
    if PHONE not in current_visit().tenant.passwordless_methods:
        return redirect_to("/login")
    journey.refuse_expired_interaction()
    if (opened := journey.open_here_for_workflow()) is not None:
        return opened
    if not can_begin(PHONE):
        return redirect_to(interaction_url("/login"))
    begins = not requested_interaction_id()
    response = api()(
        cross_device_pages.begin, cross_device_pages.CodeStart(interaction_id=current_visit().interaction_id)
    )
    step = response.step
    if not isinstance(step, QrCodeStep) or begins:
        return begin_method(journey.follow(response), response, PHONE)
    if step.state is QrCodeState.APPROVED and not link_read("").is_machine:
        return _finish()
    page = _page(ButtonForm(), step).render()
    journey.set_cookies(page, response)
    return begin_method(page, response, PHONE)


@pages.post(PATH)
def submit_phone_sign_in() -> Response:
    """Show a new code, or continue if the phone approved it."""
    if PHONE not in current_visit().tenant.passwordless_methods:
        return redirect_to("/login")
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        response = api()(cross_device_pages.begin, cross_device_pages.CodeStart(interaction_id=interaction.id))
        if not isinstance(response.step, QrCodeStep):
            return journey.follow(response)
        return _page(form, response.step).render(form.error_status)
    if current_visit().form.get("do") == "renew":
        return journey.follow(
            api()(cross_device_pages.begin, cross_device_pages.CodeStart(interaction_id=interaction.id, renews=True))
        )
    return _finish()


@pages.get(_STATE)
def phone_sign_in_state() -> Response:
    """Return the state as one word for the page's script."""
    interaction = current_visit().interaction
    step = (
        api()(cross_device_pages.read_state, InteractionOnly(interaction_id=interaction.id)).step
        if interaction
        else None
    )
    state = step.state if isinstance(step, QrCodeStep) else LINK_CLOSED
    return Response(state, content_type="text/plain; charset=utf-8")


def _finish() -> Response:
    try:
        return journey.follow(
            api()(cross_device_pages.finish, InteractionOnly(interaction_id=journey.require_interaction().id))
        )
    except errors.AccountLeaving as refusal:
        return offer_restore(refusal)
    except errors.TooManyRequests:
        raise
    except ApiError as refusal:
        return render_after_refusal(reason_for(refusal), status=refusal.status)


def _page(form: ButtonForm, step: QrCodeStep) -> PhoneSignInPage:
    link = f"{current_visit().origin}{link_url(OPEN, step.code)}" if step.code else ""
    return PhoneSignInPage(form, step.state, link, step.number)
