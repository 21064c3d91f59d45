"""Makes a member an owner of an organization; the owner who does it steps down or stays one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response, abort
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import organization_settings_pages
from app.hub.account_pages import require_reauthentication
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.managed_organization import LIST, MEMBERS, ORGANIZATION_REFUSALS, read, url_of
from app.hub.pages.organizations.presentation import ids_in, listed
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = f"{LIST}/transfer"
STEP_DOWN, STAY = "step_down", "stay"
_CANNOT_SIGN_IN: Final = Notice(_l("This person can’t sign in"), _l("Their account is blocked or about to be deleted."))


class TransferForm(ReauthenticationForm):
    """The member, and what becomes of the owner: a radio button for each."""

    member = HiddenField()

    @property
    def choice(self) -> str:
        provided = current_visit().form.get("choice", "")
        return provided if provided in (STEP_DOWN, STAY) else ""


@dataclass(frozen=True)
class TransferOwnershipPage(Page):
    """Asks whether the owner steps down."""

    template = "pages/organizations/transfer_ownership.html"
    own_rules = ("choices",)
    scripts = (*Page.scripts, "reveal")
    query = {"id": 140}
    refusals = {**ORGANIZATION_REFUSALS, errors.OwnerCannotSignIn: _CANNOT_SIGN_IN}

    form: TransferForm
    organization: str
    """Its id."""
    name: str
    member: str
    """The name or the label of the account."""
    key: str
    """Organization and account, as addresses and forms name them."""
    is_owner: bool = False
    """Whether the member is an owner already."""
    roles_after: str = ""
    """The roles of an owner who steps down; empty: it leaves the organization."""
    choice: str = STEP_DOWN

    @classmethod
    def samples(cls) -> Mapping[str, TransferOwnershipPage]:
        data = {"account": "ada@example.com", "member": "org_9-c"}
        known = ("org_9", "Globex Gardens", "grace@example.com", "org_9-c")
        long = ("org_9", "Globex Gardens", "countess.of.lovelace@analytical-engines.example.org", "org_9-c")
        return {
            "fresh": cls(TransferForm(data=data), *known, roles_after="Editor"),
            "would leave": cls(TransferForm(data=data), *long),
            "to an owner": cls(TransferForm(data=data), *known, is_owner=True, roles_after="Editor"),
            "with the password": cls(TransferForm(data={**data, "reauthentication": NEEDED}), *known, choice=STAY),
            "cannot sign in": cls(TransferForm(data=data), *known, page_notice=_CANNOT_SIGN_IN),
        }


_NONE_CHOSEN: Final = Notice(_l("Choose what happens to your role"))


@account_page(PATH, parameter="id", field="member")
def show_transfer_ownership() -> Response:
    key = current_visit().query.get("id", "")
    view = _read(key)
    require_reauthentication(view)
    form = TransferForm(formdata=None, data={**reauthentication_data(view), "member": key})
    return _page(form, view, STEP_DOWN).render()


@pages.post(PATH)
def submit_transfer_ownership() -> Response:
    form = TransferForm()
    key = form.member.data or ""
    organization, uid = ids_in(key)
    if not form.validate():
        return _page(form, _read(key), form.choice).render(form.error_status)
    if not form.choice:
        return replace(_page(form, _read(key), form.choice), page_notice=_NONE_CHOSEN).render(422)
    change = organization_settings_pages.TransferOwnership(
        organization=organization, uid=uid, steps_down=form.choice == STEP_DOWN
    )
    try:
        api(form.current_password)(organization_settings_pages.transfer, change)
    except ApiError as refusal:
        return _page(form, _read(key), form.choice).render_refusal(refusal)
    return redirect_to(url_of(MEMBERS, organization, done="owner"))


def _page(form: TransferForm, view: organization_settings_pages.TransferView, choice: str) -> TransferOwnershipPage:
    own, member = view.organization, view.member
    key, after = f"{own.id}-{member.uid}", listed(view.roles_after)
    return TransferOwnershipPage(
        form, own.id, own.name, member.name or member.label, key, member.is_owner, after, choice
    )


def _read(key: str) -> organization_settings_pages.TransferView:
    """Return the effects of the transfer; redirect to the members if it is not possible, or made by another tab."""
    organization, uid = ids_in(key)
    members = url_of(MEMBERS, organization)
    request = organization_settings_pages.TransferRequest(organization=organization or "-", uid=uid or "-")
    view = read(organization_settings_pages.read_transfer, request, members)
    if view.member.is_self:
        abort(redirect_to(members))
    return view
