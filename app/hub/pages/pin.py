"""The PIN: set at sign-in where the tenant asks for one, and set or changed later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request

from app.contract import errors as e
from app.contract import hub as hub_contract
from app.contract import hub_pins as contract
from app.contract.hub import Step
from app.contract.pin_settings import Pins
from app.hub import callback, journey, visit
from app.hub.arrival import api
from app.hub.own_account import NEEDED, again_first, asked_of, refusal_notice
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.profile import read_own_profile
from app.hub.pin_form import PinForm, hint
from app.kit.errors import ApiError

OWN: Final = "/pin"
STEP: Final = "/set-pin"


@dataclass(frozen=True)
class PinPage(Page):
    """Set or change the PIN; who proves who they are need not know the one before."""

    template = "pages/pin.html"
    scripts = (*Page.scripts, "reveal")

    form: PinForm
    rule: Any
    has_pin: bool = False
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, PinPage]:
        rule, refused = hint(Pins()), PinForm()
        refused.take_refusal(e.BadParameter())
        asked = PinForm(data={"asks": NEEDED, "account": "ada@example.com"})
        return {
            "first": cls(PinForm(), rule),
            "another": cls(PinForm(), rule, has_pin=True),
            "refused": cls(refused, rule),
            "with the password": cls(asked, rule, has_pin=True),
            "locked": cls(asked, rule, problem=refusal_notice(e.LockedForAWhile())),
        }


@dataclass(frozen=True)
class SetPinPage(Page):
    """A step of sign-in: a PIN is asked for, or offered."""

    template = "pages/set_pin.html"
    scripts = (*Page.scripts, "reveal")

    form: PinForm
    rule: Any
    can_skip: bool = False
    relying_party: str = ""
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, SetPinPage]:
        rule, refused = hint(Pins(min_length=4, max_length=4)), PinForm()
        refused.take_refusal(e.BadParameter())
        return {
            "required": cls(PinForm(), rule, relying_party="Acme Shop"),
            "offered": cls(PinForm(), hint(Pins()), can_skip=True, relying_party="Acme Shop"),
            "refused": cls(refused, rule),
            "with the password": cls(PinForm(data={"asks": NEEDED, "account": "ada@example.com"}), rule),
        }


@pages.get(OWN)
def show_pin() -> Response:
    known = read_own_profile()
    if known is None:
        return callback.begin(OWN)
    if (first := again_first(known, OWN)) is not None:
        return first
    return _own(PinForm(data=asked_of(known)), has_pin=_has_pin(known)).render()


@pages.post(OWN)
def submit_pin() -> Response:
    form, known = PinForm(), read_own_profile()
    if known is None:
        return callback.begin(OWN)
    if not form.validate():
        return _own(form, has_pin=_has_pin(known)).render(form.refusal_status)
    try:
        chosen = contract.PinChosen(pin=(form.pin.data or "")[:64], password=form.proof)
        visit.current().renew(api()(contract.set_own, chosen).session)
    except e.NotAuthenticated:
        return callback.begin(OWN)
    except ApiError as refusal:
        problem = None if form.take_refusal(refusal) else refusal_notice(refusal)
        return _own(form, has_pin=_has_pin(known), problem=problem).render(refusal.status)
    return journey.onward("/security?done=saved")


@pages.get(STEP)
def show_set_pin() -> Response:
    here = visit.current()
    if here.attempt is None:
        return journey.start_again()
    step = api()(hub_contract.resume, hub_contract.AttemptRequest(attempt=here.attempt.id))
    if step.step is not Step.PIN:
        return journey.follow(step)
    return _step(PinForm(), can_skip=step.can_skip).render()


@pages.post(STEP)
def submit_set_pin() -> Response:
    here, form = visit.current(), PinForm()
    if here.attempt is None:
        return journey.start_again()
    is_skipped, can_skip = request.form.get("do") == "skip", request.form.get("skips") == "1"
    if is_skipped:
        form.pin.validators = ()
    if not form.validate():
        return _step(form, can_skip=can_skip).render(form.refusal_status)
    asked = contract.PinStep(
        attempt=here.attempt.id, pin=(form.pin.data or "")[:64], password=form.proof, skip=is_skipped
    )
    try:
        return journey.follow(api()(contract.set_at_sign_in, asked))
    except e.NotAuthenticated:
        return journey.onward(f"/login?attempt={here.attempt.id}")
    except ApiError as refusal:
        problem = None if form.take_refusal(refusal) else refusal_notice(refusal)
        return _step(form, can_skip=can_skip, problem=problem).render(refusal.status)


def _own(form: PinForm, *, has_pin: bool, problem: Notice | None = None) -> PinPage:
    return PinPage(form, hint(visit.current().tenant.pin), has_pin, problem)


def _step(form: PinForm, *, can_skip: bool, problem: Notice | None = None) -> SetPinPage:
    here = visit.current()
    asking = here.attempt.relying_party if here.attempt else ""
    return SetPinPage(form, hint(here.tenant.pin), can_skip, asking, problem)


def _has_pin(known: hub_contract.ProfileAnswer) -> bool:
    return bool((known.profile.get("PIN") or {}).get("PIN"))
