"""Uploads and removes the logo of an organization, for its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

from flask import Response

from app.contract.images.uploads import LOGO_PAGE
from app.contract.organizations.pages import organization_settings_pages
from app.hub.components.look_preview import LookPreview
from app.hub.forms.image_field import IMAGE_MESSAGES, TOO_LARGE, ImageField
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.managed_organization import (
    LIST,
    ORGANIZATION_REFUSALS,
    read_settings,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.presentation import Tile
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

SETTINGS: Final = f"{LIST}/settings"


class LogoForm(HubForm):
    """Uploads a logo."""

    logo = ImageField(_l("Logo"))
    refusals = {kind: ("logo", message) for kind, message in IMAGE_MESSAGES.items()}


@dataclass(frozen=True)
class OrganizationLogoPage(Page):
    """Shows the logo, and takes another."""

    template = "pages/organizations/logo.html"
    own_rules = ("studio", "upload")
    query = {"id": 64}
    refusals = ORGANIZATION_REFUSALS

    form: LogoForm
    tile: Tile
    """The organization with its logo."""
    color: str = ""

    @property
    def preview(self) -> LookPreview:
        return LookPreview.of(current_visit().brand, self.tile.name, self.tile.logo, self.color)

    @property
    def own_tokens(self) -> str:
        return self.preview.css

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.tile.logo,) if self.tile.logo else ()

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationLogoPage]:
        wrong = LogoForm()
        wrong.add_error("logo", TOO_LARGE)
        fresh = cls(LogoForm(), Tile("Globex Gardens", "org_9"))
        picture = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%202%202'%3E%3Ccircle%20cx='1'%20cy='1'%20r='1'/%3E%3C/svg%3E"
        return {
            "fresh": fresh,
            "with a logo": replace(fresh, tile=replace(fresh.tile, logo=picture)),
            "own color": replace(fresh, color="#c2410c"),
            "too large": replace(fresh, form=wrong),
            "token": replace(fresh, form=LogoForm().with_token_error()),
        }


@account_page(LOGO_PAGE, parameter="id")
def show_organization_logo() -> Response:
    return _page(LogoForm(formdata=None)).render()


@pages.post(LOGO_PAGE)
def submit_organization_logo() -> Response:
    visit, organization = current_visit(), requested_organization()
    if visit.is_upload_too_large:  # its token was not read either
        form = LogoForm(formdata=None)
        form.add_error("logo", TOO_LARGE)
        return _page(form).render(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    is_removal = "remove" in visit.form
    form = LogoForm()
    if not (HubForm() if is_removal else form).validate():
        return _page(form).render(form.error_status)
    change = organization_settings_pages.SetOrganizationLogo(
        organization=organization, logo="" if is_removal else form.logo.data
    )
    try:
        api()(organization_settings_pages.set_logo, change)
    except ApiError as refusal:
        return _page(form).render_refusal(refusal)
    return redirect_to(url_of(SETTINGS, organization, done="saved"))


def _page(form: LogoForm) -> OrganizationLogoPage:
    """Return the page; redirect to the settings, which say who may change them, if the account is no owner."""
    view = read_settings(requested_organization(), only_owners=True)
    return OrganizationLogoPage(form, Tile(view.organization.name, view.organization.id, view.logo), view.color or "")
