"""Backup codes: created on request, shown once to be copied, downloaded or printed, and then saved."""

from __future__ import annotations

from dataclasses import replace

from flask import Response

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.second_factors.pages import second_factor_pages
from app.contract.steps import BackupCodesStep
from app.hub import journey
from app.hub.account_pages import require_reauthentication
from app.hub.components.signed_in_account import read_factors
from app.hub.factors.factor_page import ACCOUNT_FACTORS
from app.hub.factors.new_backup_codes import (
    FILE,
    PATH,
    SAVE,
    SKIP,
    BackupCodesPage,
    GenerateForm,
    SheetForm,
    page_with,
)
from app.hub.forms.reauthentication import reauthentication_data
from app.hub.pages import account_page, pages
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError


@account_page(PATH)
def show_backup_codes() -> Response:
    is_sign_in = current_visit().session != "" and current_visit().interaction is not None
    try:
        view = read_factors()
    except errors.TwoFactorOff:
        return redirect_to("/security")
    if is_sign_in:
        return _page(GenerateForm(formdata=None), view.person.label, current_visit().query.get("state", "")).render()
    if not view.enrolled or view.backup_codes is None:
        return redirect_to(ACCOUNT_FACTORS)
    form = GenerateForm(formdata=None, data=reauthentication_data(view))
    page = _page(form, view.person.label, current_visit().query.get("state", ""))
    require_reauthentication(view)
    return page.render()


@pages.post(PATH)
def submit_backup_codes() -> Response:
    """Create codes, save those on the page, or continue the sign-in without codes."""
    action = current_visit().form.get("do")
    return _save(action) if action in (SAVE, SKIP) else _create()


@pages.get(FILE)
def show_backup_codes_again() -> Response:
    """Redirect to the page: its language links open the address of its forms."""
    return redirect_to(interaction_url(PATH))


@pages.post(FILE)
def download_backup_codes() -> Response:
    """Return the codes of the page as a text file."""
    form = SheetForm()
    sheet = form.code_sheet
    if sheet is None:
        return redirect_to(interaction_url(PATH))
    if not form.validate():
        return replace(_page(form, sheet.person), sheet=sheet).render(form.error_status)
    response = Response(sheet.text, content_type="text/plain; charset=utf-8")
    name = f"{current_visit().tenant.name}-backup-codes.txt"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _create() -> Response:
    form = GenerateForm()
    if not form.validate():
        return _page(form).render(form.error_status)
    try:
        created = api(form.current_password)(second_factor_pages.create_backup_codes, NoParameters())
    except (errors.NoSecondFactor, errors.NoBackupCodes):
        return redirect_to(ACCOUNT_FACTORS)
    except ApiError as refusal:
        return _page(form).render_refusal(refusal)
    return page_with(created).render()


def _save(action: str) -> Response:
    form = SheetForm()
    sheet = form.code_sheet if action == SAVE else None
    if not form.validate():
        if sheet is None:  # the page without codes, whose button skips them
            return _page(GenerateForm(formdata=None).with_token_error()).render(form.error_status)
        return replace(_page(form, sheet.person), sheet=sheet).render(form.error_status)
    if action == SAVE and sheet is None:
        return redirect_to(interaction_url(PATH))
    interaction_id = current_visit().interaction_id
    request_body = second_factor_pages.SaveBackupCodesRequest(
        batch=sheet.batch if sheet else "", interaction_id=interaction_id
    )
    response = api()(second_factor_pages.save_backup_codes, request_body)
    if isinstance(response.step, BackupCodesStep) or interaction_id:
        return journey.follow(response)
    return redirect_to(f"{ACCOUNT_FACTORS}?done=saved")


def _page(form: GenerateForm | SheetForm, person: str = "", state: str = "") -> BackupCodesPage:
    return BackupCodesPage(form, person=person, state=state, is_sign_in=current_visit().interaction is not None)
