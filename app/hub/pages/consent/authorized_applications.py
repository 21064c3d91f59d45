"""Applications with access to the account, and revoking it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from flask import Response
from wtforms import HiddenField

from app.contract.accounts.pages import security_pages
from app.contract.auth import ACCOUNT_READ, ACCOUNT_WRITE
from app.contract.page_models import NoParameters
from app.hub.account_pages import read_account
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering import formatting
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import DEFAULT_SCOPES, Scope
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import tone_of
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.web.urls import host_of

PATH: Final = "/applications"


class RevokeForm(HubForm):
    """A button beside an application."""

    client_id = HiddenField()

    def to_request(self) -> security_pages.RevokeApplicationRequest:
        return security_pages.RevokeApplicationRequest(client_id=(self.client_id.data or "")[:128])


@dataclass(frozen=True)
class AuthorizedApplication:
    """An application in the list."""

    client_id: str
    name: str
    scopes: tuple[Scope, ...]
    since: str
    host: str = ""
    opens: str = ""

    @property
    def tone(self) -> str:
        return tone_of(self.name)

    @property
    def is_sensitive(self) -> bool:
        """Whether it may change how the account signs in, or delete the account."""
        return any(scope.is_sensitive for scope in self.scopes)


@dataclass(frozen=True)
class ApplicationsPage(Page):
    """Lists the applications with their scopes."""

    template = "pages/consent/authorized_applications.html"
    own_rules = ("scopes", "applications")
    query = {"done": 8}

    form: RevokeForm
    applications: tuple[AuthorizedApplication, ...]
    is_revoked: bool = False
    has_to_do: bool = False
    """Whether the security check-up has something to do."""

    @property
    def notice(self) -> Notice | None:
        return super().notice or (_REVOKED if self.is_revoked else None)

    @classmethod
    def samples(cls) -> Mapping[str, ApplicationsPage]:
        day, scopes = formatting.short_day("2026-11-12T10:00:00+00:00"), ("openid", "profile", "email")
        shop = AuthorizedApplication(
            "shop",
            "Acme Shop",
            tuple(map(Scope, scopes)),
            day,
            "shop.example.com",
            opens="https://shop.example.com/start",
        )
        own = AuthorizedApplication(
            "desk",
            "The Analytical Desk",
            (*map(Scope, (ACCOUNT_WRITE, "offline_access", ACCOUNT_READ)), Scope("orders", "See your orders")),
            day,
            "desk.example.com",
        )
        return {
            "two": cls(RevokeForm(), _by_risk((shop, own))),
            "none": cls(RevokeForm(), ()),
            "one ended": cls(RevokeForm(), (shop,), is_revoked=True),
            "token": cls(RevokeForm().with_token_error(), (shop,)),
        }


_REVOKED: Final = Notice(
    _l("Access removed"), _l("The app will have to ask for your permission to get access again."), "ok"
)


@account_page(PATH)
def show_applications() -> Response:
    return _render(RevokeForm(formdata=None))


@pages.post(PATH)
def revoke_application() -> Response:
    form = RevokeForm()
    if not form.validate():
        return _render(form, form.error_status)
    api()(security_pages.revoke_application, form.to_request())
    return redirect_to(f"{PATH}?done=ended")


def _render(form: RevokeForm, status: int = 200) -> Response:
    view = read_account(security_pages.applications, NoParameters())
    applications = _by_risk(map(_application_row, view.applications))
    return ApplicationsPage(form, applications, current_visit().query.get("done") == "ended", view.has_to_do).render(
        status
    )


def _by_risk(applications: Iterable[AuthorizedApplication]) -> tuple[AuthorizedApplication, ...]:
    """Return those first that may delete the account; the order is otherwise kept."""
    return tuple(sorted(applications, key=lambda application: not application.is_sensitive))


def _application_row(view: security_pages.ApplicationView) -> AuthorizedApplication:
    scopes = sorted((Scope(scope.name, scope.description or "") for scope in view.scopes), key=attrgetter("rank"))
    host = host_of(view.home)
    shown = tuple(scopes) or DEFAULT_SCOPES
    return AuthorizedApplication(
        view.client_id, view.name, shown, formatting.short_day(view.since), host, view.opens or ""
    )
