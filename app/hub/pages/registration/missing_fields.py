"""A step of sign-in: required fields of the tenant's form that the account lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.accounts.pages.profile_pages import MissingFieldsRequest
from app.contract.accounts.pages.profile_pages import fill_missing as operation
from app.contract.registration.form import FormField
from app.contract.steps import MissingFieldsStep
from app.hub import journey
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import account_in_interaction
from app.hub.forms.profile_fields import SAMPLE_FIELDS, FieldsForm
from app.hub.pages import pages
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

PATH: Final = "/missing-fields"


@dataclass(frozen=True)
class MissingFieldsPage(Page):
    """Asks for the missing fields."""

    template = "pages/registration/missing_fields.html"
    refusals = CHANGE_REFUSALS

    form: FieldsForm
    relying_party: str = ""

    account: str = ""
    """The label of the account."""

    @property
    def first_fields(self) -> tuple[str, ...]:
        return tuple(field.name for field, _ in self.form.rows if field.type != "multi")

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, MissingFieldsPage]:
        fields = (FormField(name="first_name", required=True), SAMPLE_FIELDS[3].model_copy(update={"required": True}))
        return {
            "fresh": cls(FieldsForm.of(fields), account="ada@example.com"),
            "for an application": cls(FieldsForm.of(fields), "Acme Shop", account="ada@example.com"),
            "failed": cls(FieldsForm.of(fields), page_notice=CHANGE_REFUSALS[ApiError]),
        }


@pages.get(PATH)
def show_missing_fields() -> Response:
    response = journey.present_step()
    step = response.step
    if not isinstance(step, MissingFieldsStep):
        return journey.follow(response)
    account = step.person.label if step.person else ""
    return _page(FieldsForm.of(_fields(step.names)), account).render()


@pages.post(PATH)
def submit_missing_fields() -> Response:
    interaction = journey.require_interaction()
    form = FieldsForm.of(_fields(current_visit().form.keys()))
    if not form.validate():
        return _page(form, account_in_interaction()).render(form.error_status)
    try:
        return journey.follow(api()(operation, MissingFieldsRequest(interaction_id=interaction.id, fields=form.typed)))
    except SignInRequired:
        return redirect_to(interaction_url("/login"))
    except ApiError as refusal:
        return _page(form, account_in_interaction()).render_refusal(refusal)


def _fields(names: Iterable[str]) -> tuple[FormField, ...]:
    """Return the fields with these names: those of the tenant's form first, then what a workflow asks for beside them."""
    requested = dict.fromkeys(names)
    form = tuple(field for field in current_visit().tenant.form if field.name in requested and _is_of_profile(field))
    others = (_field(name) for name in requested if name not in {field.name for field in form})
    return *(field.model_copy(update={"required": True}) for field in form), *(field for field in others if field)


def _is_of_profile(field: FormField) -> bool:
    return bool(field.member) or field.is_custom


def _field(name: str) -> FormField | None:
    """Return the field of the profile with this name; None for another member of the form, such as its token."""
    try:
        field = FormField(name=name, required=True)
    except ValueError:
        return None
    return field if _is_of_profile(field) else None


def _page(form: FieldsForm, account: str) -> MissingFieldsPage:
    return MissingFieldsPage(form, current_visit().relying_party, account)
