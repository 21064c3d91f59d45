"""Sign-out, after a confirmation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from app.contract.oauth.models import RelyingPartyView
from app.contract.oauth.pages.authorization_pages import MAX_STATE
from app.contract.sessions.pages import sign_out_pages
from app.contract.steps import ConfirmSignOutStep
from app.hub import journey
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.text.languages import tags_in
from app.kit.web.urls import redirect_origin

_PARAMETERS: Final = {
    "id_token_hint": 2000,
    "client_id": 128,
    "post_logout_redirect_uri": 500,
    "state": MAX_STATE,
    "logout_hint": 320,
    "ui_locales": 100,
    "return_url": 500,
}
"""Parameters of a sign-out request, each with the maximum length that the language links repeat."""


class LogoutForm(HubForm):
    """A button; the application's request is in the field `request`."""


@dataclass(frozen=True)
class LogoutPage(Page):
    """Asks the person to confirm a sign-out that an application or a link requested without a valid `id_token_hint`."""

    template = "pages/sign_in/logout.html"
    query = {"action": 10, **_PARAMETERS}

    form: LogoutForm
    account: str
    relying_party: str = ""
    request: str = ""
    """The application's request, encrypted, for the post."""
    target: str = ""
    """The redirect address after the sign-out."""

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The CSP source of the redirect address; browsers follow the redirect only if `form-action` lists it."""
        return (redirect_origin(self.target),)

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, LogoutPage]:
        return {
            "asked here": cls(LogoutForm(), "ada@example.com"),
            "asked by an application": cls(LogoutForm(), "ada@example.com", "Acme Shop"),
        }


_ENCRYPTION_CONTEXT = "sign-out request"


def sign_out(sign_out_request: sign_out_pages.SignOutRequest) -> Response:
    """Sign out, or ask for a confirmation if the request is not authenticated."""
    _use_languages(sign_out_request)
    response = api()(sign_out_pages.sign_out, sign_out_request)
    if isinstance(response.step, ConfirmSignOutStep):
        return _confirmation(LogoutForm(), sign_out_request, response.step, response.relying_party)
    return journey.follow(response)


@pages.get("/logout")
def show_logout() -> Response:
    return sign_out(sign_out_pages.SignOutRequest(**_request_parameters()))


@pages.post("/logout")
def submit_logout() -> Response:
    visit = current_visit()
    form = LogoutForm()
    decrypted = services().cookie_cipher.decrypt(visit.form.get("request", ""), _ENCRYPTION_CONTEXT)
    sign_out_request = sign_out_pages.SignOutRequest(**(decrypted if isinstance(decrypted, dict) else {}))
    _use_languages(sign_out_request)
    if not form.validate():
        response = api()(sign_out_pages.sign_out, sign_out_request)
        if not isinstance(response.step, ConfirmSignOutStep):
            return journey.follow(response)
        return _confirmation(form, sign_out_request, response.step, response.relying_party, form.error_status)
    return journey.follow(
        api()(
            sign_out_pages.sign_out,
            sign_out_request.model_copy(update={"confirmed": True, "everyone": "everyone" in visit.form}),
        )
    )


def _use_languages(sign_out_request: sign_out_pages.SignOutRequest) -> None:
    """Use `ui_locales` (OpenID Connect RP-Initiated Logout 1.0 section 2) on the pages of this sign-out."""
    visit = current_visit()
    visit.requested_languages = tags_in(sign_out_request.ui_locales or "")
    visit.choose_language()


def _request_parameters() -> dict[str, Any]:
    return {name: value for name in _PARAMETERS if (value := current_visit().query.get(name))}


def _confirmation(
    form: LogoutForm,
    sign_out_request: sign_out_pages.SignOutRequest,
    step: ConfirmSignOutStep,
    application: RelyingPartyView | None,
    status: int = 200,
) -> Response:
    fields = sign_out_request.model_dump(by_alias=False, exclude_none=True, exclude={"confirmed"})
    current_visit().use_account_language(step.person)
    relying_party = application.name if application else ""
    account = step.person.label if step.person else ""
    return LogoutPage(
        form,
        account,
        relying_party,
        services().cookie_cipher.encrypt(fields, _ENCRYPTION_CONTEXT) if fields else "",
        sign_out_request.post_logout_redirect_uri or sign_out_request.return_url or "",
    ).render(status)
