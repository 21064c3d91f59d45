"""The page that answers a form opened as another account than the browser's current account."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Response, redirect

from app.contract.sessions.pages import account_choice_pages
from app.hub import journey, oidc_client
from app.hub.client.identity_client import AccountChanged, SignInRequired
from app.hub.exception_pages import ERROR_PAGES
from app.hub.pages import pages
from app.hub.rendering.form import TOKEN_FIELD, HubForm
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit, own_url, retry_url
from app.kit.text.input_filter import is_secret_name

PATH: Final = "/switch-back"
_TARGET: Final = "switch_back_to"
_CONTEXT: Final = "form of another account"
_CODES: Final = ("code", "otp")
"""Names of fields with single-use values, beside those of secrets."""


class SwitchBackForm(HubForm):
    """Switches to the account of the form, and sends the form again."""


@dataclass(frozen=True)
class AccountChangedPage(Page):
    """Shows the current account, states that nothing changed, and offers both accounts."""

    template = "pages/sign_in/account_changed.html"
    query = {}

    form: SwitchBackForm
    account: str
    """The label of the current account."""
    again: str = "/profile"
    """Address of the form's page, for the current account."""
    former: str = ""
    """The label of the form's account; empty if the browser is no longer signed in to it."""
    target: str = ""
    """Address of the form, encrypted."""
    typed: tuple[tuple[str, str], ...] = field(default=())
    """The typed values, without secrets and codes."""

    @property
    def has_error(self) -> bool:
        return True

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, AccountChangedPage]:
        typed = (("shown_uid", "1"), ("email", "countess@example.org"))
        return {
            "both accounts": cls(SwitchBackForm(), "grace@example.com", "/emails/add", "ada@example.com", "x", typed),
            "signed out of the other": cls(SwitchBackForm(), "grace@example.com", "/emails/add"),
        }


@ERROR_PAGES.answers(AccountChanged)
def account_changed(_: AccountChanged) -> Response:
    """Return the page for the refused form.

    It repeats only fields of our own form: repeating another site's form would give it a valid CSRF token.
    """
    visit = current_visit()
    refused, visit.posted_uid = visit.posted_uid, ""
    view = api()(account_choice_pages.compare, account_choice_pages.FormAccount(uid=refused))
    visit.use_account_language(view.current)
    visit.posted_uid = refused
    target = services().cookie_cipher.encrypt(_path(), _CONTEXT)
    former, typed = (view.former, tuple(_typed())) if view.former and SwitchBackForm().validate() else ("", ())
    return AccountChangedPage(
        SwitchBackForm(formdata=None), view.current.label, retry_url(), former, target, typed
    ).render(409)


def _path() -> str:
    """Return the address of the form."""
    visit = current_visit()
    return own_url(f"{visit.path}?{visit.query_text}").rstrip("?")


def _typed() -> Iterable[tuple[str, str]]:
    for name, value in current_visit().form.items(multi=True):
        if name not in (TOKEN_FIELD, _TARGET, *_CODES) and not is_secret_name(name):
            yield name, value


@pages.get(PATH)
def show_switch_back() -> Response:
    """Redirect a reload or a language link: the form is no longer available."""
    return redirect_to("/profile")


@pages.post(PATH)
def switch_back() -> Response:
    """Make the form's account the current one, and let the browser send the form again (status 307)."""
    form, visit = SwitchBackForm(), current_visit()
    target: Any = services().cookie_cipher.decrypt(visit.form.get(_TARGET, ""), _CONTEXT)
    if not form.validate() or not isinstance(target, str):
        return redirect_to("/profile")
    try:
        response = api()(account_choice_pages.switch_back, account_choice_pages.FormAccount(uid=visit.posted_uid))
    except SignInRequired:
        return oidc_client.start_login(target.partition("?")[0])
    redirected: Response = redirect(target, 307)  # type: ignore[assignment]  # Flask's own kind
    journey.set_cookies(redirected, response)
    return redirected
