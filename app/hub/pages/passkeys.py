"""One's own passkeys: which there are, one more, another name, one less. And what managers of passwords look up."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import lazy_gettext as _l
from werkzeug.exceptions import NotFound
from wtforms import HiddenField, StringField

from app.contract import errors as e
from app.contract import hub_passkeys as contract
from app.hub import journey, oidc_client
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.forms.base import HubForm
from app.hub.forms.passkey import FAILED, SCRIPTLESS, CredentialForm, notice_for, options_response, read_credential
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts import formatting
from app.hub.services import api, services
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/passkeys"
ADD: Final = f"{ADDRESS}/add"
EDIT: Final = f"{ADDRESS}/edit"


class AddForm(PasswordConfirmationForm):
    """A new passkey, and the password where it is asked again."""

    credential = HiddenField()


class NameForm(HubForm):
    """Another name for one."""

    passkey = HiddenField()
    name = StringField(_l("Name"), render_kw={"dir": "auto", "maxlength": 60})


class RemoveForm(PasswordConfirmationForm):
    """Says yes."""

    passkey = HiddenField()


@dataclass(frozen=True)
class Held:
    """One passkey, as a row."""

    id: str
    name: str
    since: str = ""


@dataclass(frozen=True)
class PasskeysPage(Page):
    """Which there are."""

    template = "pages/passkeys.html"
    scripts = (*Page.scripts, "signal")
    query = {"done": 8}

    held: tuple[Held, ...]
    accepted: str = ""
    """What managers of passwords are told, as JSON."""
    can_add: bool = True
    done: str = ""

    @property
    def notice(self) -> Notice | None:
        return _DONE.get(self.done)

    @classmethod
    def samples(cls) -> Mapping[str, PasskeysPage]:
        day = formatting.format_day("2026-11-12T10:00:00+00:00")
        held = (Held("a", "Apple Passwords", day), Held("b", "My blue key", day))
        return {
            "none": cls(()),
            "none possible": cls((), can_add=False),
            "some": cls(held),
            "as many as may be": cls(held, can_add=False),
            **{f"just {done}": cls(held, done=done) for done in _DONE},
        }


_DONE: Final = {
    "added": Notice(_l("Your passkey is ready"), _l("Next time you sign in with it, without a password."), "ok"),
    "renamed": Notice(_l("It has a new name"), "", "ok"),
    "removed": Notice(
        _l("It is removed"), _l("It opens nothing here any more. You can delete it on your device, too."), "ok"
    ),
}


@dataclass(frozen=True)
class AddPasskeyPage(Page):
    """Make one."""

    template = "pages/add_passkey.html"
    scripts = (*Page.scripts, "reveal", "passkey")
    allows_fetch = True

    form: AddForm
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, AddPasskeyPage]:
        data = {"account": "ada@example.com"}
        return {
            "fresh": cls(AddForm(data=data)),
            "with the password": cls(AddForm(data={**data, "asks": NEEDED})),
            "refused": cls(AddForm(data=data), FAILED),
            "without a script": cls(AddForm(data=data), SCRIPTLESS),
        }


@dataclass(frozen=True)
class EditPasskeyPage(Page):
    """Another name, or none of it."""

    template = "pages/edit_passkey.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 40}

    form: RemoveForm
    naming: NameForm
    one: Held
    is_last: bool = False
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, EditPasskeyPage]:
        one, data = Held("a", "Apple Passwords"), {"account": "ada@example.com", "passkey": "a"}
        naming = NameForm(data={"name": one.name, "passkey": "a"})
        return {
            "fresh": cls(RemoveForm(data=data), naming, one),
            "the last one": cls(RemoveForm(data=data), naming, one, is_last=True),
            "with the password": cls(RemoveForm(data={**data, "asks": NEEDED}), naming, one),
            "locked": cls(RemoveForm(data=data), naming, one, problem=refusal_notice(e.LockedForAWhile())),
        }


@pages.get(ADDRESS)
def show_passkeys() -> Response:
    known = read_passkeys()
    return _list(known).render() if known is not None else oidc_client.start_login(ADDRESS)


@pages.post(f"{ADDRESS}/options")
def options_of_own() -> Response:
    """Answer the script of the pages that make a passkey."""
    is_local = request.form.get("local") == "1"
    return options_response(CredentialForm(), lambda: api()(contract.begin_own, contract.BeginOwn(local=is_local)))


@pages.get(ADD)
def show_add_passkey() -> Response:
    known = read_passkeys()
    if known is None:
        return oidc_client.start_login(ADD)
    if not known.can_add:
        return journey.redirect_to(ADDRESS)
    if (first := require_confirmation(known, ADD)) is not None:
        return first
    return AddPasskeyPage(AddForm(formdata=None, data=confirmation_data(known))).render()


@pages.post(ADD)
def submit_add_passkey() -> Response:
    form = AddForm()
    page = AddPasskeyPage(form)
    if not form.validate():
        return page.render(form.error_status)
    credential = read_credential(form)
    form.credential.data = ""  # it is good for one try
    if credential is None:
        return replace(page, problem=SCRIPTLESS).render(422)
    try:
        done = api()(contract.add, contract.NewOwnPasskey(credential=credential, password=form.proof))
    except e.NotAuthenticated:
        return oidc_client.start_login(ADD)
    except ApiError as refusal:
        return replace(page, problem=_problem(form, refusal)).render(refusal.status)
    current_visit().renew(done.session)
    return journey.redirect_to(f"{ADDRESS}?done=added")


@pages.get(EDIT)
def show_edit_passkey() -> Response:
    known = read_passkeys()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    wanted = request.args.get("id", "")
    if wanted not in {one.id for one in known.passkeys}:
        return journey.redirect_to(ADDRESS)
    if (first := require_confirmation(known, f"{EDIT}?{urlencode({'id': wanted})}")) is not None:
        return first
    form = RemoveForm(formdata=None, data={**confirmation_data(known), "passkey": wanted})
    return _edit(known, form, wanted).render()


@pages.post(EDIT)
def submit_edit_passkey() -> Response:
    """Another name, or the end."""
    return _rename() if request.form.get("do") == "rename" else _remove()


@pages.get("/.well-known/passkey-endpoints")
def passkey_endpoints() -> Response:
    """Where managers of passwords send people (W3C passkey-endpoints)."""
    _refuse_off()
    base = services().settings.hub_url(current_visit().tenant.name)
    return _json({"enroll": f"{base}{ADD}", "manage": f"{base}{ADDRESS}"})


@pages.get("/.well-known/webauthn")
def related_origins() -> Response:
    """Which other addresses share the tenant's passkeys (WebAuthn level 3 section 5.11); 404 where none does."""
    _refuse_off()
    visit = current_visit().tenant
    if not visit.related_origins:
        raise NotFound
    return _json({"origins": [services().settings.hub_url(visit.name), *visit.related_origins]})


def read_passkeys() -> contract.OwnPasskeys | None:
    """Return the signed-in person's passkeys; None where nobody is signed in. 404 where the tenant has none."""
    _refuse_off()
    if not current_visit().session:
        return None
    try:
        known = api()(contract.own, contract.OwnPasskeysRead())
    except e.NotAuthenticated:
        return None
    except e.PasskeysOff:
        raise NotFound from None
    current_visit().use_account_language(known.person)
    return known


def _refuse_off() -> None:
    if not current_visit().tenant.passkeys:
        raise NotFound


def _rename() -> Response:
    form = NameForm()
    if not form.validate():
        return journey.redirect_to(ADDRESS)
    name, passkey = (form.name.data or "").strip()[:60], (form.passkey.data or "")[:100]
    try:
        api()(contract.rename, contract.RenamedPasskey(id=passkey, name=name))
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError:
        return journey.redirect_to(ADDRESS)
    return journey.redirect_to(f"{ADDRESS}?done=renamed")


def _remove() -> Response:
    form = RemoveForm()
    wanted = (form.passkey.data or "")[:100]
    problem, status = None, form.error_status
    if form.validate():
        try:
            done = api()(contract.remove, contract.GonePasskey(id=wanted, password=form.proof))
        except e.NotAuthenticated:
            return oidc_client.start_login(ADDRESS)
        except e.UnknownPasskey:
            return journey.redirect_to(ADDRESS)  # a second click, or another tab
        except ApiError as refusal:
            problem, status = _problem(form, refusal), refusal.status
        else:
            current_visit().renew(done.session)
            return journey.redirect_to(f"{ADDRESS}?done=removed")
    known = read_passkeys()
    if known is None or wanted not in {one.id for one in known.passkeys}:
        return journey.redirect_to(ADDRESS)
    return replace(_edit(known, form, wanted), problem=problem).render(status)


def _problem(form: PasswordConfirmationForm, refusal: ApiError) -> Notice | None:
    if form.add_refusal(refusal):
        return None
    is_of_passkey = isinstance(refusal, (e.PasskeyRefused, e.PasskeysOff, e.PasskeyMisconfigured))
    return notice_for(refusal) if is_of_passkey else refusal_notice(refusal)


def _list(known: contract.OwnPasskeys) -> PasskeysPage:
    told = known.accepted
    said = {"rp": told.rp_id, "user": told.user_id, "ids": told.ids, "name": told.name, "shown": told.display_name}
    held = tuple(_held(one) for one in known.passkeys)
    return PasskeysPage(held, json.dumps(said), known.can_add, request.args.get("done", ""))


def _edit(known: contract.OwnPasskeys, form: RemoveForm, wanted: str) -> EditPasskeyPage:
    one = next(_held(one) for one in known.passkeys if one.id == wanted)
    naming = NameForm(formdata=None, data={"name": one.name, "passkey": one.id})
    return EditPasskeyPage(form, naming, one, len(known.passkeys) == 1)


def _held(one: Any) -> Held:
    return Held(one.id, one.authenticator, formatting.format_day(one.created_at))


def _json(told: dict[str, Any]) -> Response:
    response = Response(json.dumps(told), content_type="application/json")
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response
