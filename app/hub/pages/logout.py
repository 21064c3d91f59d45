"""Sign out: asking first, and afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request

from app.contract import hub as contract
from app.contract.hub import Step
from app.hub import journey
from app.hub.brand import initials
from app.hub.forms.base import HubForm
from app.hub.page import Page
from app.hub.pages import pages
from app.hub.services import api, services
from app.hub.visit import current_visit

_WISHES: Final = {
    "id_token_hint": 2000,
    "client_id": 128,
    "post_logout_redirect_uri": 500,
    "state": 500,
    "return_url": 500,
}
"""What an application may ask with, each with how much of it a link to this page in another language repeats."""


class LogoutForm(HubForm):
    """Nothing but the wish; what an application asked with rides in `request`."""


@dataclass(frozen=True)
class LogoutPage(Page):
    """Sign out? An application alone cannot do it, nor can a link."""

    template = "pages/logout.html"
    query = {"action": 10, **_WISHES}

    form: LogoutForm
    account: str
    relying_party: str = ""
    request: str = ""
    """The application's own request, sealed, for the answer after the click."""

    @property
    def letters(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, LogoutPage]:
        return {
            "asked here": cls(LogoutForm(), "ada@example.com"),
            "asked by an application": cls(LogoutForm(), "ada@example.com", "Acme Shop"),
        }


_PLACE = "sign-out request"


def sign_out(asked: contract.SignOutRequest) -> Response:
    """Sign out as asked, or ask the person first where nothing proves who asks."""
    step = api()(contract.sign_out, asked)
    if step.step is Step.CONFIRM_SIGN_OUT:
        return _question(LogoutForm(), asked, step)
    return journey.follow(step)


@pages.get("/logout")
def show_logout() -> Response:
    return sign_out(contract.SignOutRequest(**_wishes()))


@pages.post("/logout")
def submit_logout() -> Response:
    form, held = LogoutForm(), services().cookie_cipher.decrypt(request.form.get("request", ""), _PLACE)
    asked = contract.SignOutRequest(**(held if isinstance(held, dict) else {}))
    if not form.validate():
        step = api()(contract.sign_out, asked)
        if step.step is not Step.CONFIRM_SIGN_OUT:
            return journey.follow(step)
        return _question(form, asked, step, form.error_status)
    return journey.follow(api()(contract.sign_out, asked.model_copy(update={"confirmed": True})))


def _wishes() -> dict[str, Any]:
    return {name: value for name in _WISHES if (value := request.args.get(name))}


def _question(form: LogoutForm, asked: contract.SignOutRequest, step: contract.Next, status: int = 200) -> Response:
    kept = asked.model_dump(by_alias=False, exclude_none=True, exclude={"confirmed"})
    current_visit().use_account_language(step.person)
    asking = step.relying_party.name if step.relying_party else ""
    account = step.person.label if step.person else ""
    return LogoutPage(form, account, asking, services().cookie_cipher.encrypt(kept, _PLACE) if kept else "").render(
        status
    )
