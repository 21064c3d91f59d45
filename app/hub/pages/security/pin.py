"""The account's PIN: set during sign-in if the tenant asks for it, or set and changed later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.accounts.pages import profile_pages
from app.contract.pins import pin_pages
from app.contract.pins.settings import Pins
from app.contract.steps import PinStep
from app.hub import journey
from app.hub.account_pages import require_reauthentication
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import account_in_interaction, read_profile
from app.hub.forms.pin import PinForm, pin_hint
from app.hub.forms.reauthentication import NEEDED, reauthentication_data
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

OWN: Final = "/pin"
STEP: Final = "/set-pin"


@dataclass(frozen=True)
class PinPage(Page):
    """Sets or changes the PIN; a fresh reauthentication replaces the old PIN."""

    template = "pages/security/pin.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: PinForm
    rule: Any
    has_pin: bool = False

    @classmethod
    def samples(cls) -> Mapping[str, PinPage]:
        rule, refused = pin_hint(Pins()), PinForm(data={"pin": "1234"})
        refused.add_refusal(errors.BadParameter())
        request_body = PinForm(data={"reauthentication": NEEDED, "account": "ada@example.com"})
        return {
            "first": cls(PinForm(), rule),
            "another": cls(PinForm(), rule, has_pin=True),
            "refused": cls(refused, rule),
            "with the password": cls(request_body, rule, has_pin=True),
            "locked": cls(request_body, rule, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@dataclass(frozen=True)
class SetPinPage(Page):
    """Requires or offers a PIN during sign-in."""

    template = "pages/security/set_pin.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: PinForm
    rule: Any
    can_skip: bool = False
    relying_party: str = ""

    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, SetPinPage]:
        rule, refused = pin_hint(Pins(min_length=4, max_length=4)), PinForm(data={"pin": "1234"})
        refused.add_refusal(errors.BadParameter())
        return {
            "required": cls(PinForm(), rule, relying_party="Acme Shop"),
            "offered": cls(
                PinForm(), pin_hint(Pins()), can_skip=True, relying_party="Acme Shop", account="ada@example.com"
            ),
            "refused": cls(refused, rule),
            "with the password": cls(PinForm(data={"reauthentication": NEEDED, "account": "ada@example.com"}), rule),
        }


@account_page(OWN)
def show_pin() -> Response:
    view = read_profile()
    require_reauthentication(view)
    return _own_page(PinForm(data=reauthentication_data(view)), has_pin=_has_pin(view)).render()


@pages.post(OWN)
def submit_pin() -> Response:
    form, view = PinForm(), read_profile()
    if not form.validate():
        return _own_page(form, has_pin=_has_pin(view)).render(form.error_status)
    try:
        chosen = pin_pages.SetPinRequest(pin=(form.pin.data or "")[:64])
        api(form.current_password)(pin_pages.set_own, chosen)
    except ApiError as refusal:
        return _own_page(form, has_pin=_has_pin(view)).render_refusal(refusal)
    return redirect_to("/security?done=saved")


@pages.get(STEP)
def show_set_pin() -> Response:
    response = journey.present_step()
    step = response.step
    if not isinstance(step, PinStep):
        return journey.follow(response)
    account = step.person.label if step.person else ""
    return _step_page(PinForm(), account, can_skip=step.can_skip).render()


@pages.post(STEP)
def submit_set_pin() -> Response:
    visit = current_visit()
    interaction, form = journey.require_interaction(), PinForm()
    form.is_skipped, can_skip = visit.form.get("do") == "skip", visit.form.get("skips") == "1"
    if not form.validate():
        return _step_page(form, account_in_interaction(), can_skip=can_skip).render(form.error_status)
    request_body = pin_pages.PinStepRequest(
        interaction_id=interaction.id,
        pin=(form.pin.data or "")[:64],
        skip=form.is_skipped,
    )
    try:
        return journey.follow(api(form.current_password)(pin_pages.set_at_sign_in, request_body))
    except SignInRequired:
        return redirect_to(interaction_url("/login"))
    except ApiError as refusal:
        return _step_page(form, account_in_interaction(), can_skip=can_skip).render_refusal(refusal)


def _own_page(form: PinForm, *, has_pin: bool) -> PinPage:
    return PinPage(form, pin_hint(current_visit().tenant.pin), has_pin)


def _step_page(form: PinForm, account: str, *, can_skip: bool) -> SetPinPage:
    visit = current_visit()
    return SetPinPage(form, pin_hint(visit.tenant.pin), can_skip, visit.relying_party, account)


def _has_pin(view: profile_pages.ProfileResponse) -> bool:
    return bool((view.profile.get("PIN") or {}).get("PIN"))
