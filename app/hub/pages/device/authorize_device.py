"""Devices without a browser (RFC 8628): type the code that the device shows, then allow or deny it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response
from wtforms.validators import InputRequired

from app.contract.oauth.models import RelyingPartyView
from app.contract.oauth.pages import device_pages
from app.contract.page_models import InteractionDecision
from app.contract.steps import DeviceCodeStep, DeviceStep
from app.hub import journey
from app.hub.components.authorization_details import SAMPLE_PAYMENT, Detail
from app.hub.forms.code import ButtonForm
from app.hub.forms.code_field import CodeField
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import Scope
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api
from app.hub.web.visit import current_visit

PATH: Final = "/device"
CONFIRM: Final = "/device/confirm"
DONE: Final = "/device/done"
_STATES: Final = ("allowed", "denied", "expired")
_MAX_CODE: Final = 40
_WRONG: Final = _l("Wrong or expired code. Check your device.")


class UserCodeForm(HubForm):
    """The code of the device; letters of either case, with or without the dash."""

    user_code = CodeField(_l("Code on your device"), [InputRequired(_l("Enter the code shown on your device."))])

    def to_request(self) -> device_pages.UserCode:
        return device_pages.UserCode(user_code=(self.user_code.data or "")[:_MAX_CODE])


@dataclass(frozen=True)
class DeviceCodePage(Page):
    """Asks for the code."""

    template = "pages/device/user_code.html"
    query = {**Page.query, "user_code": _MAX_CODE}

    form: UserCodeForm

    @classmethod
    def samples(cls) -> Mapping[str, DeviceCodePage]:
        empty, wrong = UserCodeForm(), UserCodeForm(data={"user_code": "WDJB-MJHT"})
        empty.add_error("user_code", _l("Enter the code shown on your device."))
        wrong.add_error("user_code", _WRONG)
        filled = UserCodeForm(data={"user_code": "WDJB-MJHT"})
        return {
            "fresh": cls(UserCodeForm()),
            "from a QR code": cls(filled),
            "empty": cls(empty),
            "wrong": cls(wrong),
            "token": cls(UserCodeForm(data={"user_code": "WDJB-MJHT"}).with_token_error()),
        }


@dataclass(frozen=True)
class DevicePage(Page):
    """Asks to allow the device; shows the application, the program and its location."""

    template = "pages/device/authorize_device.html"
    required_blocks = frozenset({"lead"})
    own_rules = ("scopes", "device")

    form: ButtonForm
    relying_party: str
    account: str
    """The label of the account."""
    user_code: str
    device: str = ""
    """The program and its system, as it names itself."""
    place: str = ""
    """Where it is, by its IP address; empty if unknown."""
    ip: str = ""
    """Shown in place of an unknown place."""
    scopes: tuple[Scope, ...] = ()
    details: tuple[Detail, ...] = ()
    """The requested authorization details (RFC 9396)."""
    logo: str = ""
    uid: str = ""
    """The id of the account that answers; the service refuses the answer of another account."""
    is_self_registered: bool = False
    """Whether the tenant does not vouch for the application."""
    home: str = ""
    """The host of the document that describes it."""

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.logo,)

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, DevicePage]:
        common: dict[str, Any] = {"relying_party": "Acme TV", "account": "ada@example.com", "user_code": "WDJB-MJHT"}
        scopes = (Scope("openid"), Scope("profile"), Scope("offline_access"))
        known: dict[str, Any] = {
            "device": "Android TV",
            "place": "Berlin, Germany",
            "ip": "203.0.113.7",
            "scopes": scopes,
        }
        return {
            "asked": cls(ButtonForm(), **common, **known),
            "asks for a payment": cls(ButtonForm(), **common, **known, details=(Detail(SAMPLE_PAYMENT),)),
            "little known": cls(ButtonForm(), **common, ip="203.0.113.7", scopes=scopes[:1]),
            "self-registered": cls(ButtonForm(), **common, **known, is_self_registered=True),
            "described by a document": cls(ButtonForm(), **common, **known, is_self_registered=True, home="tv.example"),
            "token": cls(ButtonForm().with_token_error(), **common, **known),
        }


@dataclass(frozen=True)
class DeviceDonePage(Page):
    """Shows the decision."""

    template = "pages/device/done.html"
    query = {**Page.query, "state": 10, journey.EARLIER: 1}

    state: str = field(default="expired")
    is_earlier: bool = False
    """Whether the person decided in an earlier request."""

    @classmethod
    def samples(cls) -> Mapping[str, DeviceDonePage]:
        return {
            **{state: cls(state) for state in _STATES},
            **{f"{state} earlier": cls(state, is_earlier=True) for state in ("allowed", "denied")},
        }


@pages.get(PATH)
def show_device_code() -> Response:
    """Show the form; the code of a QR code's address is filled in, and still has to be compared (section 3.3.1)."""
    if (opened := journey.open_here_for_workflow()) is not None:
        return opened
    provided = current_visit().query.get("user_code", "")[:_MAX_CODE]
    return DeviceCodePage(UserCodeForm(data={"user_code": provided})).render()


@pages.get("/service/oidc/device/authorize", defaults={"protocol": "oidc", "app": None})
@pages.get("/service/<any(oidc,oauth):protocol>/<app>/device/authorize")
def show_documented_url(protocol: str, app: str | None) -> Response:  # noqa: ARG001 - one page serves all issuers
    return show_device_code()


@pages.post(PATH)
def submit_device_code() -> Response:
    form = UserCodeForm()
    if not form.validate():
        return DeviceCodePage(form).render(form.error_status)
    response = api()(device_pages.begin, form.to_request())
    if not isinstance(response.step, DeviceCodeStep):
        return journey.follow(response)
    form.add_error("user_code", _WRONG)
    return DeviceCodePage(form).render(422)


@pages.get(CONFIRM)
def show_device() -> Response:
    return _render(ButtonForm())


@pages.post(CONFIRM)
def submit_device() -> Response:
    visit = current_visit()
    interaction, form = journey.require_interaction(), ButtonForm()
    if not form.validate():
        return _render(form, form.error_status)
    decision = InteractionDecision(
        interaction_id=interaction.id,
        allow=visit.form.get("do") == "yes",
        account=visit.form.get("account", "")[:64],
    )
    return journey.follow(api()(device_pages.decide, decision))


@pages.get(DONE)
def show_device_done() -> Response:
    state, is_earlier = current_visit().query.get("state", ""), journey.EARLIER in current_visit().query
    return DeviceDonePage(state if state in _STATES else "expired", is_earlier).render()


def _render(form: ButtonForm, status: int = 200) -> Response:
    response = journey.present_step()
    if not isinstance(response.step, DeviceStep):
        return journey.follow(response)
    return _page(form, response.step, response.relying_party).render(status)


def _page(form: ButtonForm, step: DeviceStep, application: RelyingPartyView | None) -> DevicePage:
    current_visit().use_account_language(step.person)
    return DevicePage(
        form,
        relying_party=application.name if application else "",
        account=step.person.label if step.person else "",
        uid=step.person.uid if step.person else "",
        user_code=step.user_code,
        device=step.device.name,
        place=step.device.place,
        ip=step.device.address,
        scopes=tuple(Scope(scope.name, scope.description or "") for scope in step.scopes),
        details=tuple(map(Detail, step.details)),
        logo=(application.logo if application else "") or "",
        is_self_registered=application is not None and application.is_self_registered,
        home=(application.document_host if application else "") or "",
    )
