"""Choosing an organization at sign-in, where the application asks for one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response

from app.contract import errors
from app.contract.oauth.models import RelyingPartyView
from app.contract.organizations.pages import account_organization_pages, join_request_pages
from app.contract.organizations.views import OrganizationOption
from app.contract.steps import SelectOrganizationStep
from app.hub import journey
from app.hub.client.identity_client import SignInRequired
from app.hub.pages import pages
from app.hub.pages.organizations.presentation import InvitationsRow, Joinable, Tile, listed, logos, people
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit

PATH: Final = "/select-organization"
ASK: Final = f"{PATH}/ask"


class OrganizationChoiceForm(HubForm):
    """One button per organization; that of the personal account has no value."""

    def to_request(self) -> account_organization_pages.ChooseOrganizationRequest:
        visit = current_visit()
        return account_organization_pages.ChooseOrganizationRequest(
            interaction_id=visit.interaction_id or "", organization=visit.form.get("organization", "")[:64]
        )


@dataclass(frozen=True)
class OrganizationChoiceRow:
    """An organization in the list."""

    tile: Tile
    roles: str
    people: Any
    is_last_used: bool = False


@dataclass(frozen=True)
class SelectOrganizationPage(Page):
    """Lists the organizations of the account, and the personal account where the application accepts it."""

    template = "pages/organizations/select_at_sign_in.html"

    form: OrganizationChoiceForm
    relying_party: str
    account: str
    """The label of the account."""
    options: tuple[OrganizationChoiceRow, ...]
    has_personal: bool = False
    can_create: bool = False
    invitations: InvitationsRow | None = None
    joinable: tuple[Joinable, ...] = ()

    @property
    def pictures(self) -> tuple[str, ...]:
        return logos([*(option.tile for option in self.options), *(item.tile for item in self.joinable)])

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, SelectOrganizationPage]:
        globex = OrganizationChoiceRow(Tile("Globex Gardens", "org_9"), "Editor", people(24), is_last_used=True)
        initech = OrganizationChoiceRow(Tile("Initech", "org_3"), "Owner", people(8))
        alone = OrganizationChoiceRow(Tile("Hazel Labs", "org_2", _LOGO), "Owner", people(1))
        long = OrganizationChoiceRow(
            Tile("Northern Association of Independent Garden and Landscape Architects", "org_4"),
            "Billing administrator, Head of regional procurement",
            people(1204),
        )
        known = ("Acme Shop", "ada@example.com")
        return {
            "several": cls(OrganizationChoiceForm(), *known, (globex, initech, alone)),
            "with the personal account": cls(OrganizationChoiceForm(), *known, (globex, initech), has_personal=True),
            "can create": cls(OrganizationChoiceForm(), *known, (globex, initech), has_personal=True, can_create=True),
            "none, can create": cls(OrganizationChoiceForm(), *known, (), can_create=True),
            "can ask to join": cls(
                OrganizationChoiceForm(), *known, (globex,), can_create=True, joinable=Joinable.samples()
            ),
            "none, can ask to join": cls(OrganizationChoiceForm(), *known, (), joinable=Joinable.samples()[:2]),
            "one": cls(OrganizationChoiceForm(), *known, (initech,), has_personal=True),
            "invited": cls(
                OrganizationChoiceForm(), *known, (globex, initech), True, True, InvitationsRow(1, ("Hazel Labs",))
            ),
            "none, invited": cls(OrganizationChoiceForm(), *known, (), invitations=InvitationsRow(1, ("Hazel Labs",))),
            "long names": cls(OrganizationChoiceForm(), *known, (long, globex), has_personal=True),
            "token": cls(OrganizationChoiceForm().with_token_error(), *known, (globex, initech)),
        }


_LOGO: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 56 56'%3E%3Crect width='56' height='56'"
    " fill='%23774f23'/%3E%3Ccircle cx='28' cy='28' r='14' fill='%23f6efe2'/%3E%3C/svg%3E"
).replace(" ", "%20")
"""A sample of an organization's logo."""


@pages.get(PATH)
def show_select_organization() -> Response:
    return _render(OrganizationChoiceForm())


@pages.post(PATH)
def submit_select_organization() -> Response:
    form = OrganizationChoiceForm()
    if not form.validate():
        return _render(form, form.error_status)
    return journey.follow(api()(account_organization_pages.choose, form.to_request()))


@pages.get(ASK)
def show_request_at_sign_in() -> Response:
    """Redirect a reload of a refused form to the page."""
    return _render(OrganizationChoiceForm())


@pages.post(ASK)
def submit_request_at_sign_in() -> Response:
    """Ask to join an organization; the page then shows the request."""
    form = OrganizationChoiceForm()
    if not form.validate():
        return _render(form, form.error_status)
    with suppress(
        SignInRequired, errors.UnknownOrganization, errors.JoinRequestRefused
    ):  # the page shows how it is now
        api()(
            join_request_pages.request_to_join,
            join_request_pages.RequestToJoin(organization=current_visit().form.get("organization", "")[:64]),
        )
    return redirect_to(f"{PATH}?{urlencode({'attempt': journey.require_interaction().id})}")


def _render(form: OrganizationChoiceForm, status: int = 200) -> Response:
    response = journey.present_step()
    if not isinstance(response.step, SelectOrganizationStep):
        return journey.follow(response)
    return _page(form, response.step, response.relying_party).render(status)


def _page(
    form: OrganizationChoiceForm, step: SelectOrganizationStep, application: RelyingPartyView | None
) -> SelectOrganizationPage:
    current_visit().use_account_language(step.person)
    return SelectOrganizationPage(
        form,
        relying_party=application.name if application else "",
        account=step.person.label if step.person else "",
        options=tuple(map(_option, step.organizations)),
        has_personal=step.allows_personal,
        can_create=step.can_create,
        invitations=InvitationsRow.of(step.invitations),
        joinable=tuple(map(Joinable.of, step.joinable)),
    )


def _option(view: OrganizationOption) -> OrganizationChoiceRow:
    return OrganizationChoiceRow(
        Tile(view.name, view.id, view.logo or ""), listed(view.roles), people(view.people), view.is_last_used
    )
