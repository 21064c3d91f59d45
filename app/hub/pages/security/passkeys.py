"""The account's passkeys: list, add, rename, remove; and the well-known resources about passkeys."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from flask import Response
from flask_babel import format_timedelta
from werkzeug.exceptions import NotFound
from wtforms import HiddenField, StringField

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.passkeys import account_passkey_operations, passkey_pages
from app.hub.account_pages import read_account, require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.passkey import (
    FAILED,
    PASSKEY_REFUSALS,
    SCRIPTLESS,
    CredentialForm,
    options_response,
    passkey_digest,
    read_credential,
)
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering import formatting
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/passkeys"
ADD: Final = f"{PATH}/add"
EDIT: Final = f"{PATH}/edit"
_UNUSED: Final = timedelta(days=365)


class AddPasskeyForm(ReauthenticationForm):
    """A new passkey, with the password if required."""

    credential = HiddenField()


class RenamePasskeyForm(HubForm):
    """A new name for a passkey."""

    passkey = HiddenField()
    name = StringField(_l("Name"), render_kw={"dir": "auto", "maxlength": 60})


class RemovePasskeyForm(ReauthenticationForm):
    """Confirms the removal."""

    passkey = HiddenField()


@dataclass(frozen=True)
class PasskeyRow:
    """A passkey in the list."""

    id: str
    name: str
    since: str = ""
    used: str = ""
    """How long ago it was used; empty if never."""
    icon: str = "passkey"
    is_synced: bool = False
    is_here: bool = False
    """Whether this device used it last."""
    is_unused: bool = False
    """Whether it was not used for a year."""


@dataclass(frozen=True)
class PasskeysPage(Page):
    """Lists the passkeys."""

    template = "pages/security/passkeys.html"
    own_rules = ("titled",)
    scripts = (*Page.scripts, "signal")
    query = {"done": 8}

    passkeys: tuple[PasskeyRow, ...]
    accepted: str = ""
    """The JSON for the WebAuthn signal API: accepted credentials and the user's names."""
    obstacle: str = ""
    done: str = ""

    @property
    def notice(self) -> Notice | None:
        return _DONE.get(self.done)

    @classmethod
    def samples(cls) -> Mapping[str, PasskeysPage]:
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        ago = format_timedelta(timedelta(hours=-2), add_direction=True)
        passkeys = (
            PasskeyRow("a", "Work laptop", day, ago, is_here=True),
            PasskeyRow("b", "Apple Passwords", day, ago, is_synced=True),
            PasskeyRow(
                "c", "Blue security key", formatting.short_day("2024-11-12T10:00:00+00:00"), icon="key", is_unused=True
            ),
        )
        return {
            "none": cls(()),
            "no email": cls((), obstacle="email"),
            "no secure connection": cls((), obstacle="connection"),
            "some": cls(passkeys),
            "as many as may be": cls(passkeys, obstacle="limit"),
            **{f"just {result}": cls(passkeys, done=result) for result in _DONE},
        }


_DONE: Final = {
    "added": Notice(_l("Passkey created"), _l("Next time, sign in without a password."), "ok"),
    "renamed": Notice(_l("Passkey renamed"), "", "ok"),
    "removed": Notice(
        _l("Passkey deleted"), _l("It no longer works here. You can delete it on your device, too."), "ok"
    ),
}


@dataclass(frozen=True)
class AddPasskeyPage(Page):
    """Creates a passkey."""

    template = "pages/security/add_passkey.html"
    scripts = (*Page.scripts, "reveal", "passkey")
    allows_fetch = True
    refusals = {**CHANGE_REFUSALS, **PASSKEY_REFUSALS}

    form: AddPasskeyForm

    @classmethod
    def samples(cls) -> Mapping[str, AddPasskeyPage]:
        data = {"account": "ada@example.com"}
        return {
            "fresh": cls(AddPasskeyForm(data=data)),
            "with the password": cls(AddPasskeyForm(data={**data, "reauthentication": NEEDED})),
            "refused": cls(AddPasskeyForm(data=data), page_notice=FAILED),
            "without a script": cls(AddPasskeyForm(data=data), page_notice=SCRIPTLESS),
        }


@dataclass(frozen=True)
class EditPasskeyPage(Page):
    """Renames or removes a passkey."""

    template = "pages/security/edit_passkey.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 40}
    refusals = {**CHANGE_REFUSALS, **PASSKEY_REFUSALS}

    form: RemovePasskeyForm
    name_form: RenamePasskeyForm
    passkey: PasskeyRow
    is_last: bool = False

    @classmethod
    def samples(cls) -> Mapping[str, EditPasskeyPage]:
        passkey = PasskeyRow("a", "Apple Passwords", formatting.short_day("2026-11-12T10:00:00+00:00"), is_synced=True)
        data = {"account": "ada@example.com", "passkey": "a"}
        name_form = RenamePasskeyForm(data={"name": passkey.name, "passkey": "a"})
        return {
            "fresh": cls(RemovePasskeyForm(data=data), name_form, passkey),
            "the last one": cls(RemovePasskeyForm(data=data), name_form, passkey, is_last=True),
            "with the password": cls(RemovePasskeyForm(data={**data, "reauthentication": NEEDED}), name_form, passkey),
            "locked": cls(
                RemovePasskeyForm(data=data), name_form, passkey, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]
            ),
        }


@account_page(PATH)
def show_passkeys() -> Response:
    return _list_page(read_passkeys()).render()


@pages.post(f"{PATH}/options")
def creation_options() -> Response:
    """Return WebAuthn creation options to the page's script."""
    is_local = current_visit().form.get("local") == "1"
    return options_response(
        CredentialForm(), lambda: api()(passkey_pages.begin_own, passkey_pages.BeginOwnRequest(local=is_local))
    )


@account_page(ADD)
def show_add_passkey() -> Response:
    view = read_passkeys()
    if view.obstacle:
        return redirect_to(PATH)
    require_reauthentication(view)
    return AddPasskeyPage(AddPasskeyForm(formdata=None, data=reauthentication_data(view))).render()


@pages.post(ADD)
def submit_add_passkey() -> Response:
    form = AddPasskeyForm()
    page = AddPasskeyPage(form)
    if not form.validate():
        return page.render(form.error_status)
    credential = read_credential(form)
    form.credential.data = ""  # a response can be used once
    if credential is None:
        return replace(page, page_notice=SCRIPTLESS).render(422)
    try:
        api(form.current_password)(passkey_pages.add, passkey_pages.AddPasskeyRequest(credential=credential))
    except ApiError as refusal:
        return page.render_refusal(refusal)
    return redirect_to(f"{PATH}?done=added")


@account_page(EDIT, parameter="id", field="passkey")
def show_edit_passkey() -> Response:
    view = read_passkeys()
    passkey_id = current_visit().query.get("id", "")
    if passkey_id not in {passkey.id for passkey in view.passkeys}:
        return redirect_to(PATH)
    require_reauthentication(view)
    form = RemovePasskeyForm(formdata=None, data={**reauthentication_data(view), "passkey": passkey_id})
    return _edit_page(view, form, passkey_id).render()


@pages.post(EDIT)
def submit_edit_passkey() -> Response:
    """Rename or remove the passkey."""
    return _rename() if current_visit().form.get("do") == "rename" else _remove()


@pages.get("/.well-known/passkey-endpoints")
def passkey_endpoints() -> Response:
    """Serve the addresses for password managers (W3C passkey-endpoints)."""
    _require_passkeys()
    base = current_visit().origin
    return _json({"enroll": f"{base}{ADD}", "manage": f"{base}{PATH}"})


@pages.get("/.well-known/webauthn")
def related_origins() -> Response:
    """Serve the tenant's related origins (WebAuthn level 3 section 5.11); 404 if it has none."""
    _require_passkeys()
    tenant = current_visit().tenant
    if not tenant.related_origins:
        raise NotFound
    return _json({"origins": [services().settings.hub_url(tenant.name), *tenant.related_origins]})


def read_passkeys() -> passkey_pages.OwnPasskeys:
    """Return the account's passkeys.

    Raises:
        NotFound: the tenant has no passkeys.
        SignInRequired: as `read_account`.
    """
    _require_passkeys()
    try:
        return read_account(passkey_pages.read_own, NoParameters())
    except errors.PasskeysOff:
        raise NotFound from None


def _require_passkeys() -> None:
    if not current_visit().tenant.passkeys:
        raise NotFound


def _rename() -> Response:
    form = RenamePasskeyForm()
    if not form.validate():
        return redirect_to(PATH)
    name, passkey = (form.name.data or "").strip()[:60], (form.passkey.data or "")[:100]
    try:
        api()(passkey_pages.rename, passkey_pages.RenamePasskeyRequest(id=passkey, name=name))
    except ApiError:
        return redirect_to(PATH)
    return redirect_to(f"{PATH}?done=renamed")


def _remove() -> Response:
    form = RemovePasskeyForm()
    passkey_id = (form.passkey.data or "")[:100]
    if not (passkey_id.isascii() and passkey_id.isalnum()):
        return redirect_to(PATH)  # no id of ours, and no segment of a path
    if not form.validate():
        return _remove_again(form, passkey_id)
    try:
        api(form.current_password)(
            account_passkey_operations.remove, account_passkey_operations.RemoveOwnPasskey(passkey_id=passkey_id)
        )
    except errors.UnknownPasskey:
        return redirect_to(PATH)  # removed already, by a double submit or another tab
    except ApiError as refusal:
        return _remove_again(form, passkey_id, refusal)
    return redirect_to(f"{PATH}?done=removed")


def _remove_again(form: RemovePasskeyForm, passkey_id: str, refusal: ApiError | None = None) -> Response:
    view = read_passkeys()
    if passkey_id not in {passkey.id for passkey in view.passkeys}:
        return redirect_to(PATH)
    return _edit_page(view, form, passkey_id).render_refusal(refusal)


def _list_page(view: passkey_pages.OwnPasskeys) -> PasskeysPage:
    accepted = view.accepted
    signals = {
        "rp": accepted.rp_id,
        "user": accepted.user_id,
        "ids": accepted.ids,
        "name": accepted.name,
        "shown": accepted.display_name,
    }
    passkeys = tuple(_row(passkey, shown) for passkey, shown in zip(view.passkeys, accepted.ids, strict=True))
    return PasskeysPage(passkeys, json.dumps(signals), view.obstacle, current_visit().query.get("done", ""))


def _edit_page(view: passkey_pages.OwnPasskeys, form: RemovePasskeyForm, passkey_id: str) -> EditPasskeyPage:
    listed = zip(view.passkeys, view.accepted.ids, strict=True)
    passkey = next(_row(passkey, shown) for passkey, shown in listed if passkey.id == passkey_id)
    name_form = RenamePasskeyForm(formdata=None, data={"name": passkey.name, "passkey": passkey.id})
    return EditPasskeyPage(form, name_form, passkey, len(view.passkeys) == 1)


def _row(passkey: passkey_pages.OwnPasskey, credential_id: str) -> PasskeyRow:
    seen = datetime.fromisoformat(passkey.used_at or passkey.created_at)
    return PasskeyRow(
        passkey.id,
        passkey.authenticator,
        formatting.short_day(passkey.created_at),
        formatting.time_ago(passkey.used_at) if passkey.used_at else "",
        icon="key" if passkey.is_security_key else "passkey",
        is_synced=passkey.is_synced,
        is_here=passkey_digest(credential_id) == current_visit().device_passkey,
        is_unused=services().clock.now() - seen > _UNUSED,
    )


def _json(document: dict[str, Any]) -> Response:
    response = Response(json.dumps(document), content_type="application/json")
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response
