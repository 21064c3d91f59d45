"""Edit the profile fields of the tenant's form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.accounts.pages.profile_pages import edit_profile as operation
from app.contract.accounts.pages.profile_pages import editable
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.profile_fields import SAMPLE_FIELDS, FieldsForm, initial_values
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/profile/edit"


@dataclass(frozen=True)
class EditProfilePage(Page):
    """Edits the profile."""

    template = "pages/account/edit_profile.html"
    refusals = CHANGE_REFUSALS

    form: FieldsForm

    @classmethod
    def samples(cls) -> Mapping[str, EditProfilePage]:
        values = {
            "first_name": "Ada",
            "last_name": "Lovelace",
            "birth_date": "1815-12-10",
            "company": "Analytical Engines",
        }
        wrong = FieldsForm.of(SAMPLE_FIELDS, data=values)
        wrong.add_error("birth_date", _l("Enter a valid date."))
        wrong.add_error("first_name", _l("Fill in this field."))
        return {
            "default": cls(FieldsForm.of(editable(()), data=values)),
            "every kind of field": cls(FieldsForm.of(SAMPLE_FIELDS, data=values)),
            "refused": cls(wrong),
            "failed": cls(FieldsForm.of(editable(()), data=values), page_notice=CHANGE_REFUSALS[ApiError]),
        }


@account_page(PATH)
def show_edit_profile() -> Response:
    view = read_profile()
    fields = editable(current_visit().tenant.form)
    return EditProfilePage(FieldsForm.of(fields, data=initial_values(fields, view.profile))).render()


@pages.post(PATH)
def submit_edit_profile() -> Response:
    form = FieldsForm.of(editable(current_visit().tenant.form))
    if not form.validate():
        return EditProfilePage(form).render(form.error_status)
    try:
        api()(operation, form.to_request())
    except ApiError as refusal:
        return EditProfilePage(form).render_refusal(refusal)
    return _saved()


def _saved() -> Response:
    return redirect_to("/profile?saved=1")
