"""The phone's page: approve or deny the browser whose QR code it opened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response
from werkzeug.exceptions import NotFound

from app.contract.oauth.models import RelyingPartyView
from app.contract.passwordless.pages import cross_device_pages
from app.contract.steps import ApproveSignInStep, RequestingDevice
from app.hub import journey
from app.hub.components import mailed_link
from app.hub.components.sign_in_methods import PHONE
from app.hub.forms.code_field import CodeField
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit

OPEN: Final = "/sign-in/phone/open"
PATH: Final = "/sign-in/phone/approve"
_DECISIONS: Final = ("approved", "denied", "used", "expired")
_MISSING: Final = _l("Enter the number on the other device.")
_WRONG: Final = _l("Wrong number. Try again, or deny it.")


class NumberMatchForm(HubForm):
    """The number that the other browser shows."""

    number = CodeField(_l("Number shown on the other device"))


@dataclass(frozen=True)
class ApproveSignInPage(Page):
    """Asks to approve the other browser, with its name and location; then shows the decision."""

    template = "pages/sign_in/phone_approval.html"
    required_blocks = frozenset({"lead"})
    scripts = (*Page.scripts, "number")
    own_rules = ("scopes",)
    query = {**Page.query, "said": 10, journey.EARLIER: 1}

    form: NumberMatchForm
    decision: str = ""
    """approved, denied, used or expired; empty while the form is shown."""
    is_earlier: bool = False
    """Whether the person decided in an earlier request."""
    account: str = ""
    """The label of the account."""
    uid: str = ""
    """The id of the account that answers; the service refuses the answer of another account."""
    relying_party: str = ""
    device: str = ""
    """The browser and its system, as it names itself."""
    place: str = ""
    """Where it is, by its IP address; empty if unknown."""
    ip: str = ""
    """Shown in place of an unknown place."""
    logo: str = ""

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.logo,)

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, ApproveSignInPage]:
        details: dict[str, Any] = {"account": "ada@example.com", "device": "Firefox, Linux", "ip": "203.0.113.7"}
        common = {**details, "relying_party": "Acme Shop", "place": "Berlin, Germany"}
        empty, wrong = NumberMatchForm(), NumberMatchForm(data={"number": "12"})
        empty.add_error("number", _MISSING)
        wrong.add_error("number", _WRONG)
        return {
            "asked": cls(NumberMatchForm(), **common),
            "without an application": cls(NumberMatchForm(), **details),
            "empty": cls(empty, **common),
            "wrong": cls(wrong, **common),
            "token": cls(NumberMatchForm().with_token_error(), **common),
            **{decision: cls(NumberMatchForm(), decision) for decision in _DECISIONS},
            **{f"{decision} earlier": cls(NumberMatchForm(), decision, True) for decision in ("approved", "denied")},
        }


@pages.get(OPEN)
def open_code() -> Response:
    """Begin at the address of a QR code. The next address has no code."""
    if PHONE not in current_visit().tenant.passwordless_methods:
        raise NotFound
    return journey.follow(api()(cross_device_pages.open_code, mailed_link.link_read(mailed_link.link_token())))


@pages.get(PATH)
def show_approval() -> Response:
    decision = current_visit().query.get("said", "")
    return (
        ApproveSignInPage(NumberMatchForm(), decision, journey.EARLIER in current_visit().query).render()
        if decision in _DECISIONS
        else _render(NumberMatchForm())
    )


@pages.post(PATH)
def submit_approval() -> Response:
    visit = current_visit()
    interaction, form = journey.require_interaction(), NumberMatchForm()
    if not form.validate():
        return _render(form, form.error_status)
    number, is_approved = (form.number.data or "").strip()[:20], visit.form.get("do") == "yes"
    if is_approved and not number:
        form.add_error("number", _MISSING)
        return _render(form, 422)
    decision = cross_device_pages.ApprovalDecision(
        interaction_id=interaction.id, allow=is_approved, account=visit.form.get("account", "")[:64], number=number
    )
    response = api()(cross_device_pages.decide, decision)
    if isinstance(response.step, ApproveSignInStep) and response.step.is_number_wrong:
        form.add_error("number", _WRONG)
        return _page(form, response.step, response.relying_party).render(403)
    return journey.follow(response)


def _render(form: NumberMatchForm, status: int = 200) -> Response:
    response = journey.present_step()
    if not isinstance(response.step, ApproveSignInStep) or response.step.outcome is not None:
        return journey.follow(response)
    return _page(form, response.step, response.relying_party).render(status)


def _page(form: NumberMatchForm, step: ApproveSignInStep, relying_party: RelyingPartyView | None) -> ApproveSignInPage:
    current_visit().use_account_language(step.person)
    device = step.device or RequestingDevice(name="")
    return ApproveSignInPage(
        form,
        account=step.person.label if step.person else "",
        uid=step.person.uid if step.person else "",
        relying_party=relying_party.name if relying_party else "",
        logo=(relying_party.logo if relying_party else "") or "",
        device=device.name,
        place=device.place,
        ip=device.address,
    )
