"""Addresses that stand in other people's mails and code: they lead to the page of today (interface hosted-pages.md §1, §2)."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request
from werkzeug.exceptions import NotFound

from app.contract import hub as contract
from app.hub import journey
from app.hub.pages.logout import sign_out
from app.hub.parts.error_pages import ErrorPage, RequestTrouble
from app.hub.services import api
from app.hub.visit import current_visit

views = Blueprint("older_addresses", __name__)

_SIGN_IN: Final = ("", "login", "register", "forgotpassword")
"""Actions that begin at the sign-in page; registration and the forgotten password get pages of their own later."""


_MAILED: Final = {
    "emailverification": "/verify", "reset": "/reset-password", "resetpin": "/reset-pin", "deleteuser": "/delete-account",
    "oneclicksignin": "/sign-in/link", "autologin": "/sign-in/approve", "resetpasskey": "/passkeys/reset",
}  # fmt: skip
"""Where links of mails lead, by their `vtype`."""


@views.get("/auth.aspx")
@views.get("/auth")
def auth() -> Response:
    """The authentication page of old; `action` and `vtype` say which view of it."""
    action, wanted = request.args.get("action", "").lower(), request.args.get("return_url")
    if action == "logout":
        return sign_out(contract.SignOutRequest(return_url=wanted))
    if page := _MAILED.get(request.args.get("vtype", "").lower()):
        return journey.redirect_to(f"{page}?{urlencode(_kept('vtoken', 'attempt', 'lang'))}")
    if request.args.get("vtype") or action not in _SIGN_IN:
        raise NotFound
    step = api()(contract.open_return, contract.ReturnRequest(return_url=wanted, action=action or "login"))
    return journey.follow(step.model_copy(update=_kept("ui_locales", "login_hint")))


def _kept(*names: str) -> dict[str, str]:
    return {name: value for name in names if (value := request.args.get(name))}


@views.get("/profile.aspx")
def profile() -> Response:
    return journey.redirect_to("/profile")


@views.get("/")
def start() -> Response:
    """The root: the profile, or with `action` what the authentication page does."""
    return auth() if request.args.get("action") else journey.redirect_to("/profile")


@views.get("/error.aspx")
@views.get("/error")
def error() -> Response:
    """Where federation sends a browser with a `code`; a code is shown only where it is one."""
    code, visit = request.args.get("code", ""), current_visit()
    shown = code if code.replace("_", "").isalnum() and code.isascii() and len(code) <= 40 else ""
    return ErrorPage(RequestTrouble.BAD_REQUEST, 400, visit.reference, detail=shown).render(400)


@views.get("/.well-known/change-password")
def change_password() -> Response:
    """Where password managers send people (W3C change-password-url); unknown well-knowns answer 404, so they can trust it."""
    return journey.redirect_to("/change-password")
