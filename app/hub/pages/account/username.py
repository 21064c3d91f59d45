"""Sets or changes the username."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response
from wtforms import StringField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.accounts.self_service_operations import SetUsername, set_username
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_profile
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.forms.registration_fields import USERNAME_FORMAT
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.kit.operations.errors import ApiError

PATH: Final = "/username"


class UsernameForm(ReauthenticationForm):
    """The new username."""

    own_fields = ("username",)
    username = StringField(
        _l("Username"),
        [InputRequired(_l("Choose a username."))],
        render_kw={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false", "dir": "auto"},
    )
    refusals = {
        errors.UsernameTaken: ("username", _l("This username is taken.")),
        errors.MalformedUsername: ("username", _l("Use 1 to 32 characters, without spaces.")),
        errors.UsernameFormatRefused: ("username", USERNAME_FORMAT),
        errors.UsernameMissing: ("username", _l("Choose a username.")),
    }

    def to_request(self) -> SetUsername:
        return SetUsername(username=(self.username.data or "").strip())


@dataclass(frozen=True)
class UsernamePage(Page):
    """Sets or changes the username."""

    template = "pages/account/username.html"
    scripts = (*Page.scripts, "reveal")
    refusals = CHANGE_REFUSALS

    form: UsernameForm

    @classmethod
    def samples(cls) -> Mapping[str, UsernamePage]:
        taken = UsernameForm(data={"username": "ada"})
        taken.add_refusal(errors.UsernameTaken())
        with_password = UsernameForm(data={"username": "countess", "reauthentication": NEEDED})
        wrong = UsernameForm(data={"username": "countess", "reauthentication": NEEDED, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(UsernameForm()),
            "taken": cls(taken),
            "with the password": cls(with_password),
            "wrong password": cls(wrong),
            "locked": cls(with_password, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@account_page(PATH)
def show_username() -> Response:
    view = read_profile()
    data = {"username": view.profile.get("UserName") or "", **reauthentication_data(view), "account": ""}
    page = UsernamePage(UsernameForm(data=data))
    require_reauthentication(view)
    return page.render()


@pages.post(PATH)
def submit_username() -> Response:
    form = UsernameForm()
    if not form.validate():
        return UsernamePage(form).render(form.error_status)
    try:
        api(form.current_password)(set_username, form.to_request())
    except ApiError as refusal:
        return UsernamePage(form).render_refusal(refusal)
    return redirect_to("/profile?saved=1")
