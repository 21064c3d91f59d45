"""Edit the profile fields of the tenant's form."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from flask import Response

from app.contract import errors as e
from app.contract.hub_account import edit_profile as operation
from app.contract.hub_account import editable
from app.hub import journey, oidc_client
from app.hub.forms.account import refusal_notice
from app.hub.forms.profile_fields import SAMPLE_FIELDS, FieldsForm, initial_values
from app.hub.locale import lazy_gettext as _l
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.account import read_profile
from app.hub.personal_texts import Hole, PersonalTexts
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/profile/edit"
_WRITTEN: Final = frozenset({"string", "text"})
"""Types of fields whose value is only written on the page; it decides what a choice or a checkbox shows."""


@dataclass(frozen=True)
class EditProfilePage(Page):
    """Edits the profile."""

    template = "pages/edit_profile.html"

    form: FieldsForm | None
    """None: the form with `texts`, which is made where the page is rendered."""
    problem: Notice | None = None
    texts: Mapping[str, Hole] = field(default_factory=dict)
    """The places of the profile's texts, by field."""

    @property
    def kept_by(self) -> Hashable:
        """Nothing but the tenant's fields; None for a form with values of its own."""
        return self.template if self.form is None else None

    def _with_form(self) -> Self:
        if self.form is not None:
            return self
        return replace(self, form=FieldsForm.of(editable(current_visit().tenant.form), data=self.texts))

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
            "usual": cls(FieldsForm.of(editable(()), data=values)),
            "every kind of field": cls(FieldsForm.of(SAMPLE_FIELDS, data=values)),
            "refused": cls(wrong),
            "failed": cls(FieldsForm.of(editable(()), data=values), refusal_notice(ApiError())),
        }


@pages.get(ADDRESS)
def show_edit_profile() -> Response:
    view = read_profile()
    if view is None:
        return oidc_client.start_login(ADDRESS)
    fields = editable(current_visit().tenant.form)
    values = initial_values(fields, view.profile)
    if any(each.type not in _WRITTEN for each in fields):
        return EditProfilePage(FieldsForm.of(fields, data=values)).render()
    texts = PersonalTexts()
    places = {name: texts.hole(value) for name, value in values.items()}
    return EditProfilePage(None, texts=places).render(texts=texts)


@pages.post(ADDRESS)
def submit_edit_profile() -> Response:
    form = FieldsForm.of(editable(current_visit().tenant.form))
    if not form.validate():
        return EditProfilePage(form).render(form.error_status)
    try:
        api()(operation, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return EditProfilePage(form, problem).render(refusal.status)
    return _saved()


def _saved() -> Response:
    return journey.redirect_to("/profile?saved=1")
