"""Shared code of the pages that manage an organization: addresses, read calls and pagination."""

from __future__ import annotations

from typing import Final, TypeVar
from urllib.parse import urlencode

from flask import abort

from app.contract import errors
from app.contract.accounts.pages.reauthentication_pages import AccountView
from app.contract.organizations.pages import organization_settings_pages
from app.contract.organizations.pages.organization_settings_pages import OrganizationSettingsView
from app.hub.account_pages import landing_of, read_account
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.page import Notice
from app.hub.web.responses import redirect_to
from app.hub.web.visit import current_visit
from app.kit.operations.operation import Operation
from app.kit.operations.wire import Wire

LIST: Final = "/organizations"
MEMBERS: Final = f"{LIST}/members"
OWNERS_ONLY: Final = Notice(_l("Only owners can do that"), _l("Ask an owner of the organization to change this."))
ORGANIZATION_REFUSALS: Final = {**CHANGE_REFUSALS, errors.OwnersOnly: OWNERS_ONLY}
_MAX_PAGE: Final = 100_000

Req = TypeVar("Req", bound=Wire)
View = TypeVar("View", bound=AccountView)


def url_of(address: str, organization: str, **more: str | int) -> str:
    """Return the address of a page of the organization."""
    return f"{address}?{urlencode({'id': organization, **more})}"


def requested_organization() -> str:
    """Return the id in the address; `-` for none, which no organization has."""
    return current_visit().query.get("id", "")[:64] or "-"


def page_number() -> int:
    """Return the page of the list that the address names; 1 for anything but a number."""
    text = current_visit().query.get("page", "1")
    return min(int(text), _MAX_PAGE) or 1 if text.isascii() and text.isdecimal() and len(text) <= 6 else 1


def read_settings(organization: str, *, only_owners: bool = False) -> OrganizationSettingsView:
    """Return the settings as `read` does; `only_owners` redirects others to the page of the settings."""
    view = read(
        organization_settings_pages.read,
        organization_settings_pages.OrganizationSettingsRequest(organization=organization or "-"),
    )
    if only_owners and not view.organization.is_owner:
        abort(redirect_to(url_of(f"{LIST}/settings", organization)))
    return view


def read(operation: Operation[Req, View], request: Req, back: str = LIST) -> View:
    """Return an operation's response; redirect to `back` if the account may not see the organization or member.

    Raises:
        SignInRequired: as `read_account`.
    """
    try:
        return read_account(operation, request)
    except errors.UnknownOrganization as refusal:
        abort(redirect_to(_sign_in_address(refusal) or back))
    except (errors.NotAMember, errors.OwnersOnly):
        abort(redirect_to(back))


def _sign_in_address(refusal: errors.UnknownOrganization) -> str:
    """Return the address of the connection that the organization requires, which returns here; empty if it requires none."""
    login_url = str((refusal.data or {}).get("LoginUrl") or "")
    here = current_visit().origin + landing_of(current_visit())
    return f"{login_url}?{urlencode({'return_url': here})}" if login_url else ""
