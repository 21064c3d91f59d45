"""Shows the profile, and changes its rows, one at a time or all at once."""

from __future__ import annotations

from typing import Final

from flask import Response

from app.contract.accounts.pages.profile_pages import edit_profile as operation
from app.hub.forms.profile_fields import FieldsForm
from app.hub.pages import account_page, pages
from app.hub.pages.account.profile_page import profile_page
from app.hub.pages.account.profile_rows import EVERY, fields_of
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

EDIT: Final = "/profile/edit"


@account_page("/profile", parameter="edit")
def show_profile() -> Response:
    return profile_page(current_visit().query.get("edit", "")).render()


@account_page(EDIT)
def show_every_row() -> Response:
    """The profile with every row open: older links lead here."""
    return profile_page(EVERY).render()


@pages.post(EDIT)
def submit_edit_profile() -> Response:
    visit = current_visit()
    row = visit.form.get("row", EVERY)
    fields = fields_of(visit.tenant, row) or fields_of(visit.tenant, row := EVERY)
    form = FieldsForm.of(fields)
    if not form.validate():
        return profile_page(row, form).render(form.error_status)
    try:
        api()(operation, form.to_request())
    except ApiError as refusal:
        return profile_page(row, form).render_refusal(refusal)
    return redirect_to("/profile?saved=1")
