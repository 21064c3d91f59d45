"""Sets and removes the account's picture."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response

from app.contract.accounts.picture_operations import OwnPicture, RemovePicture, remove_picture, set_picture
from app.contract.catalogue import for_visits
from app.contract.images.uploads import PICTURE_PAGE
from app.hub.forms.image_field import TOO_LARGE
from app.hub.pages import account_page, pages
from app.hub.pages.account.profile_page import PictureForm, profile_page
from app.hub.pages.account.profile_rows import PICTURE
from app.hub.rendering.form import HubForm
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError


@account_page(PICTURE_PAGE)
def show_picture_form() -> Response:
    """The profile with the form of the picture open, when the browser reloads what it posted to."""
    return profile_page(PICTURE).render()


@pages.post(PICTURE_PAGE)
def submit_picture() -> Response:
    visit = current_visit()
    if visit.is_upload_too_large:  # its token was not read either
        form = PictureForm(formdata=None)
        form.add_error("picture", TOO_LARGE)
        return profile_page(PICTURE, form).render(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if "remove" in visit.form:
        return _remove()
    form = PictureForm()
    if not form.validate():
        return profile_page(PICTURE, form).render(form.error_status)
    try:
        api()(for_visits(set_picture), OwnPicture(picture=form.picture.data))
    except ApiError as refusal:
        return profile_page(PICTURE, form).render_refusal(refusal)
    return redirect_to("/profile?saved=1")


def _remove() -> Response:
    form = HubForm()
    if not form.validate():
        return profile_page("").render(form.error_status)
    try:
        api()(for_visits(remove_picture), RemovePicture())
    except ApiError as refusal:
        return profile_page("").render_refusal(refusal)
    return redirect_to("/profile?saved=1")
