"""Creates an organization: on the account pages, or while signing in to an application, which continues with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from flask import Response
from wtforms import StringField
from wtforms.validators import DataRequired, Length

from app.contract import errors
from app.contract.oauth.models import RelyingPartyView
from app.contract.organizations.pages import account_organization_pages, organization_settings_pages
from app.contract.page_models import NoParameters
from app.contract.steps import SelectOrganizationStep, StepResponse
from app.hub import journey
from app.hub.account_pages import read_account
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.presentation import NAME_ERRORS
from app.hub.rendering.form import HubForm, too_long
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/organizations/create"
LIST: Final = "/organizations"
AT_SIGN_IN: Final = "/select-organization/create"


class CreateForm(HubForm):
    """The name of the organization."""

    name = StringField(
        _l("Organization name"),
        [DataRequired(_l("Enter a name.")), Length(max=100, message=too_long(100))],
        render_kw={"autocomplete": "organization", "dir": "auto"},
    )
    refusals = {kind: ("name", message) for kind, message in NAME_ERRORS.items()}

    @property
    def first_fields(self) -> tuple[str, ...]:
        return ("name",)

    def to_request(self) -> organization_settings_pages.CreateOwnOrganization:
        return organization_settings_pages.CreateOwnOrganization(name=self.name.data or "")


_UNVERIFIED: Final = Notice(_l("Verify your email first"), _l("Then you can create an organization."), "note")
_LIMIT: Final = Notice(_l("You’ve reached the limit"), _l("You can’t create more organizations."), "note")
_PROBLEMS: Final = {"unverified": _UNVERIFIED, "limit": _LIMIT}


def _samples() -> dict[str, tuple[CreateForm, Notice | None]]:
    taken, misleading = CreateForm(data={"name": "Globex"}), CreateForm(data={"name": "Gl\u043ebex"})
    taken.add_refusal(errors.OrganizationNameTaken())
    misleading.add_refusal(errors.BadField())
    named = CreateForm(data={"name": "Globex Gardens"})
    return {
        "fresh": (CreateForm(), None),
        "taken": (taken, None),
        "misleading": (misleading, None),
        "unverified": (named, _UNVERIFIED),
        "limit": (named, _LIMIT),
    }


@dataclass(frozen=True)
class _CreatePage(Page):
    """Asks for the name, or shows why the account cannot create an organization now."""

    refusals = {
        **CHANGE_REFUSALS,
        errors.EmailUnverified: _UNVERIFIED,
        errors.TooManyOrganizations: _LIMIT,
        errors.TooManyRequests: Notice(_l("Too many attempts"), _l("Try again later.")),
    }

    form: CreateForm

    @property
    def is_closed(self) -> bool:
        """Whether the refusal does not depend on the name, so the form is not shown."""
        return self.page_notice in _PROBLEMS.values()

    @property
    def can_verify(self) -> bool:
        """Whether verifying an address would allow the account to create one."""
        return self.page_notice == _UNVERIFIED


@dataclass(frozen=True)
class CreateOrganizationPage(_CreatePage):
    """Asks for the name."""

    template = "pages/organizations/create.html"

    @classmethod
    def samples(cls) -> Mapping[str, CreateOrganizationPage]:
        return {name: cls(form, page_notice=notice) for name, (form, notice) in _samples().items()}


@dataclass(frozen=True)
class CreateOrganizationAtSignInPage(_CreatePage):
    """Asks for the name while signing in to an application."""

    template = "pages/organizations/create_at_sign_in.html"

    relying_party: str = ""
    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, CreateOrganizationAtSignInPage]:
        known = ("Acme Shop", "ada@example.com")
        return {name: cls(form, *known, page_notice=notice) for name, (form, notice) in _samples().items()}


@account_page(PATH)
def show_create_organization() -> Response:
    view = _read()
    if not view.can_create:
        return redirect_to(LIST)
    return CreateOrganizationPage(CreateForm(), page_notice=_PROBLEMS.get(view.creation_problem)).render()


@pages.post(PATH)
def submit_create_organization() -> Response:
    form = CreateForm()
    if not form.validate():
        return CreateOrganizationPage(form).render(form.error_status)
    try:
        created = api()(organization_settings_pages.create, form.to_request())
    except errors.OrganizationCreationOff:
        return redirect_to(LIST)
    except ApiError as refusal:
        return CreateOrganizationPage(form).render_refusal(refusal)
    return redirect_to(f"/organizations/members?{urlencode({'id': created.id, 'done': 'created'})}")


@pages.get(AT_SIGN_IN)
def show_create_at_sign_in() -> Response:
    response = journey.present_step()
    if (step := _creating(response)) is None:
        return journey.follow(response)
    try:
        page_notice = _PROBLEMS.get(_read().creation_problem)
    except SignInRequired:
        page_notice = None
    return replace(_page_at_sign_in(CreateForm(), step, response.relying_party), page_notice=page_notice).render()


@pages.post(AT_SIGN_IN)
def submit_create_at_sign_in() -> Response:
    interaction, form = journey.require_interaction(), CreateForm()
    if not form.validate():
        return _again_at_sign_in(form)
    try:
        created = api()(organization_settings_pages.create, form.to_request())
    except (SignInRequired, errors.OrganizationCreationOff):
        return journey.follow(journey.present_step())
    except ApiError as refusal:
        return _again_at_sign_in(form, refusal)
    chosen = account_organization_pages.ChooseOrganizationRequest(
        interaction_id=interaction.id, organization=created.id
    )
    return journey.follow(api()(account_organization_pages.choose, chosen))


def _again_at_sign_in(form: CreateForm, refusal: ApiError | None = None) -> Response:
    response = journey.present_step()
    if (step := _creating(response)) is None:
        return journey.follow(response)
    return _page_at_sign_in(form, step, response.relying_party).render_refusal(refusal)


def _page_at_sign_in(
    form: CreateForm, step: SelectOrganizationStep, relying_party: RelyingPartyView | None
) -> CreateOrganizationAtSignInPage:
    current_visit().use_account_language(step.person)
    application = relying_party.name if relying_party else ""
    account = step.person.label if step.person else ""
    return CreateOrganizationAtSignInPage(form, application, account)


def _creating(response: StepResponse) -> SelectOrganizationStep | None:
    """Return the step in which the account may create an organization; None in any other."""
    step = response.step
    return step if isinstance(step, SelectOrganizationStep) and step.can_create else None


def _read() -> account_organization_pages.OwnOrganizations:
    return read_account(account_organization_pages.read, NoParameters())
