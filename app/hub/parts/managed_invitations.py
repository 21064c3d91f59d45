"""What the pages share that invite people to an organization: addresses, reading, notices."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from flask import Response
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract import hub_organization_invitations as contract
from app.hub import oidc_client
from app.hub.page import Notice
from app.hub.services import api
from app.hub.visit import current_visit

LIST: Final = "/organizations"
ADDRESS: Final = f"{LIST}/invitations"
OWNERS_ONLY: Final = Notice(_l("Only owners can do that"), _l("Ask an owner of the organization to change this."))


def list_of(organization: str) -> str:
    """Return the address of the organization's invitations."""
    return f"{ADDRESS}?{urlencode({'id': organization})}"


def read(organization: str, page: int = 1, invitation: str = "") -> contract.OrganizationInvitations | None:
    """Return the invitations, or one of them; None without a session, or for an organization that the account does not manage."""
    if not current_visit().session or not organization:
        return None
    asked = contract.OrganizationInvitationsRequest(organization=organization, page=page, invitation=invitation)
    try:
        view = api()(contract.read, asked)
    except (e.NotAuthenticated, e.UnknownOrganization):
        return None
    current_visit().use_account_language(view.person)
    return view


def sign_in(landing: str) -> Response:
    """Begin a sign-in that continues at an account page."""
    return oidc_client.start_login(landing if oidc_client.is_account_page(landing) else LIST)
