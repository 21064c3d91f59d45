"""Changes and deletes an organization, for its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from wtforms import HiddenField, StringField
from wtforms.validators import DataRequired, Length

from app.contract import errors
from app.contract.organizations.pages import organization_settings_pages
from app.hub.account_pages import require_reauthentication
from app.hub.components.look_preview import LookPreview, swatches_beside
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.managed_organization import (
    LIST,
    ORGANIZATION_REFUSALS,
    read_settings,
    requested_organization,
    url_of,
)
from app.hub.pages.organizations.presentation import NAME_ERRORS, TABS, Tab, Tile, members, tabs_of
from app.hub.rendering.form import too_long
from app.hub.rendering.page import Notice, Page
from app.hub.web.errors import shown_for
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = f"{LIST}/settings"
DELETE: Final = f"{LIST}/delete"
_TOO_LONG: Final = Length(max=100, message=too_long(100))


class SettingsForm(ReauthenticationForm):
    """Name and look of the organization."""

    own_fields = ("name",)
    organization = HiddenField()
    display_name = StringField(_l("Display name"), [_TOO_LONG], render_kw={"dir": "auto"})
    name = StringField(
        _l("Sign-in name"),
        [DataRequired(_l("Enter a name.")), _TOO_LONG],
        render_kw={"dir": "auto"},
    )
    color = StringField(
        _l("Color"),
        render_kw={"autocapitalize": "none", "spellcheck": "false", "dir": "ltr"},
    )

    def to_request(self) -> organization_settings_pages.ChangeOrganizationSettings:
        return organization_settings_pages.ChangeOrganizationSettings(
            organization=(self.organization.data or "")[:64],
            name=self.name.data or "",
            display_name=self.display_name.data or "",
            color=(self.color.data or "").strip() or None,
        )

    def add_contract_errors(self, refusal: Any) -> None:
        """Say what a color needs."""
        super().add_contract_errors(refusal)
        if self.color.errors:
            self.color.errors = [_l("Enter a color such as #0b7a5b.")]

    def add_refusal(self, refusal: ApiError) -> bool:
        """Add the refusal to its field: the description tells the two names apart."""
        message = shown_for(refusal, NAME_ERRORS)
        if message is None:
            return super().add_refusal(refusal)
        self.add_error("display_name" if "Display" in refusal.description else "name", message)
        return True


class DeletionForm(ReauthenticationForm):
    """Confirms the deletion by the organization's name."""

    own_fields = ("name",)
    organization = HiddenField()
    name = StringField(_l("Organization name"), render_kw={"dir": "auto"})
    refusals = {errors.BadField: ("name", _l("Type the name exactly as shown."))}

    def to_request(self) -> organization_settings_pages.DeleteOwnOrganization:
        return organization_settings_pages.DeleteOwnOrganization(
            organization=(self.organization.data or "")[:64],
            name=(self.name.data or "")[:100],
        )


@dataclass(frozen=True)
class OrganizationSettingsPage(Page):
    """Shows the settings; a manager who is no owner sees that only owners change them."""

    template = "pages/organizations/settings.html"
    scripts = (*Page.scripts, "reveal", "studio")
    own_rules = ("drawings", "studio")
    allows_fetch = True
    query = {"id": 64, "done": 8}
    refusals = ORGANIZATION_REFUSALS

    form: SettingsForm
    tile: Tile
    """The organization with its logo."""
    people: Any
    is_owner: bool = True
    tabs: tuple[Tab, ...] = TABS
    is_stored: bool = False
    """Whether the form holds the stored values, so that there is nothing to save yet."""

    @property
    def preview(self) -> LookPreview:
        """The look with the values of the form, saved or not."""
        name = self.form.display_name.data or self.form.name.data or self.tile.name
        return LookPreview.of(current_visit().brand, name, self.tile.logo, (self.form.color.data or "").strip())

    @property
    def swatches(self) -> tuple[tuple[str, Any], ...]:
        return swatches_beside(current_visit().brand.colour)

    @property
    def own_tokens(self) -> str:
        return self.preview.css

    @property
    def pictures(self) -> tuple[str, ...]:
        return (self.tile.logo,) if self.tile.logo else ()

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationSettingsPage]:
        data = {
            "account": "ada@example.com",
            "organization": "org_9",
            "name": "globex",
            "display_name": "Globex Gardens",
        }
        known = (Tile("Globex Gardens", "org_9"), members(3))
        taken, misleading, color = (SettingsForm(data=data) for _ in range(3))
        taken.add_refusal(errors.OrganizationNameTaken())
        misleading.add_refusal(errors.BadField("The Display.Name is not formatted correctly."))
        color.color.data = "green"
        color.color.errors = [_l("Enter a color such as #0b7a5b.")]
        confirming = SettingsForm(data={**data, "color": "#0b7a5b", "reauthentication": NEEDED})
        return {
            "fresh": cls(SettingsForm(data=data), *known, is_stored=True),
            "saved": cls(SettingsForm(data=data), *known, is_stored=True, page_notice=_SAVED),
            "taken": cls(taken, *known),
            "misleading": cls(misleading, *known),
            "wrong color": cls(color, *known),
            "own color": cls(SettingsForm(data={**data, "color": "#c2410c"}), *known),
            "bright color": cls(SettingsForm(data={**data, "color": "#f2b705"}), *known),
            "color that needs a darker shade": cls(SettingsForm(data={**data, "color": "#3f9f6f"}), *known),
            "with the password": cls(confirming, *known),
            "manager": replace(cls(SettingsForm(data=data), *known), is_owner=False, tabs=TABS[:2]),
        }


_SAVED: Final = Notice(_l("Saved"), tone="ok")


@dataclass(frozen=True)
class DeleteOrganizationPage(Page):
    """Lists the data that is deleted, and asks to confirm."""

    template = "pages/organizations/delete.html"
    own_rules = ("scopes", "danger")
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}
    refusals = ORGANIZATION_REFUSALS

    form: DeletionForm
    organization: str
    shown_name: str
    people: Any
    domains: Any = ""
    connections: Any = ""
    invitations: Any = ""

    @classmethod
    def samples(cls) -> Mapping[str, DeleteOrganizationPage]:
        data, known = {"account": "ada@example.com", "organization": "org_9"}, ("org_9", "Globex Gardens")
        wrong = DeletionForm(data={**data, "name": "Globe"})
        wrong.add_refusal(errors.BadField())
        return {
            "fresh": cls(DeletionForm(data=data), *known, *_parts(24, 2, 1, 3)),
            "small": cls(DeletionForm(data=data), *known, *_parts(1, 0, 0, 0)),
            "wrong name": cls(wrong, *known, *_parts(24, 2, 1, 3)),
            "with the password": cls(
                DeletionForm(data={**data, "reauthentication": NEEDED}), *known, *_parts(24, 2, 1, 3)
            ),
        }


def _parts(members: int, domains: int, connections: int, invitations: int) -> tuple[Any, Any, Any, Any]:
    """Return what a deletion deletes as texts; empty where there is none."""
    return (
        _n("%(num)s membership", "%(num)s memberships", members),
        _n("%(num)s email domain", "%(num)s email domains", domains) if domains else "",
        _n("%(num)s sign-in connection", "%(num)s sign-in connections", connections) if connections else "",
        _n("%(num)s pending invitation", "%(num)s pending invitations", invitations) if invitations else "",
    )


@account_page(PATH, parameter="id", field="organization")
def show_organization_settings() -> Response:
    requested = requested_organization()
    view = read_settings(requested)
    if view.organization.is_owner:
        require_reauthentication(view)
    data = {
        "organization": requested,
        "name": view.name,
        "display_name": view.display_name,
        "color": view.color,
        **reauthentication_data(view),
    }
    page = replace(_settings_page(SettingsForm(formdata=None, data=data), view), is_stored=True)
    is_saved = current_visit().query.get("done") == "saved"
    return (replace(page, page_notice=_SAVED) if is_saved else page).render()


@pages.post(PATH)
def submit_organization_settings() -> Response:
    form = SettingsForm()
    organization = (form.organization.data or "")[:64]
    is_valid, is_preview = form.validate(), current_visit().form.get("do") == "preview"
    if not is_valid or is_preview:
        return _settings_page(form, read_settings(organization)).render(200 if is_valid else form.error_status)
    try:
        api(form.current_password)(organization_settings_pages.change, form.to_request())
    except ApiError as refusal:
        return _settings_page(form, read_settings(organization)).render_refusal(refusal)
    return redirect_to(url_of(PATH, organization, done="saved"))


@account_page(DELETE, parameter="id", field="organization")
def show_delete_organization() -> Response:
    requested = requested_organization()
    view = read_settings(requested, only_owners=True)
    require_reauthentication(view)
    data = {**reauthentication_data(view), "organization": requested}
    return _deletion_page(DeletionForm(formdata=None, data=data), view).render()


@pages.post(DELETE)
def submit_delete_organization() -> Response:
    form = DeletionForm()
    organization = (form.organization.data or "")[:64]
    if not form.validate():
        return _deletion_page(form, read_settings(organization)).render(form.error_status)
    try:
        api(form.current_password)(organization_settings_pages.delete, form.to_request())
    except ApiError as refusal:
        return _deletion_page(form, read_settings(organization)).render_refusal(refusal)
    return redirect_to(f"{LIST}?done=deleted")


def _settings_page(
    form: SettingsForm, view: organization_settings_pages.OrganizationSettingsView
) -> OrganizationSettingsPage:
    own = view.organization
    tile = Tile(own.name, own.id, view.logo)
    return OrganizationSettingsPage(form, tile, members(own.people), own.is_owner, tabs_of(own))


def _deletion_page(
    form: DeletionForm, view: organization_settings_pages.OrganizationSettingsView
) -> DeleteOrganizationPage:
    own = view.organization
    parts = _parts(own.people, view.domains, view.connections, view.invitations)
    return DeleteOrganizationPage(form, own.id, own.name, *parts)
