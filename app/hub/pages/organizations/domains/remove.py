"""Removes a domain from an organization, for its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.organizations.pages import domain_pages
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.domains.domain import PATH, DomainRow, find, read, to_list
from app.hub.pages.organizations.managed_organization import LIST
from app.hub.pages.organizations.presentation import ids_in
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

REMOVE: Final = f"{PATH}/remove"
_IN_USE: Final = Notice(
    _l("A connection uses this domain"), _l("Ask your administrator to remove the connection first.")
)


class RemoveDomainForm(ReauthenticationForm):
    """Confirms the removal; `domain` is the key of a domain."""

    domain = HiddenField()


@dataclass(frozen=True)
class RemoveDomainPage(Page):
    """Asks to confirm the removal."""

    template = "pages/organizations/domains/remove.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 140}
    refusals = {**CHANGE_REFUSALS, errors.DomainInUse: _IN_USE}

    form: RemoveDomainForm
    organization: str
    name: str
    domain: DomainRow

    @classmethod
    def samples(cls) -> Mapping[str, RemoveDomainPage]:
        data, (used, pending, *_) = {"account": "ada@example.com", "domain": "org_9-a"}, DomainRow.samples_of_list()
        globex = ("org_9", "Globex Gardens")
        return {
            "verified": cls(RemoveDomainForm(data=data), *globex, replace(used, is_in_use=False)),
            "pending": cls(RemoveDomainForm(data=data), *globex, pending),
            "in use": cls(RemoveDomainForm(data=data), *globex, used, page_notice=_IN_USE),
            "with the password": cls(RemoveDomainForm(data={**data, "reauthentication": NEEDED}), *globex, pending),
        }


@account_page(REMOVE, parameter="id", field="domain")
def show_remove_domain() -> Response:
    key = current_visit().query.get("id", "")
    organization, domain_id = ids_in(key)
    view = read(organization)
    domain = find(view, domain_id)
    if domain is None:
        return to_list(organization)
    if not domain.is_in_use:
        require_reauthentication(view)
    form = RemoveDomainForm(formdata=None, data={**reauthentication_data(view), "domain": key})
    notice = _IN_USE if domain.is_in_use else None
    return RemoveDomainPage(form, organization, view.organization.name, domain, page_notice=notice).render()


@pages.post(REMOVE)
def submit_remove_domain() -> Response:
    form = RemoveDomainForm()
    organization, domain_id = ids_in(form.domain.data or "")
    if not form.validate():
        return _again(form, organization, domain_id)
    provided = {"organization": organization, "domain": domain_id}
    try:
        api(form.current_password)(domain_pages.remove, domain_pages.RemoveDomainRequest.model_validate(provided))
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except errors.UnknownOrganizationDomain:  # removed already, by a double submit or another tab
        return to_list(organization)
    except ApiError as refusal:
        return _again(form, organization, domain_id, refusal)
    return to_list(organization, "removed")


def _again(form: RemoveDomainForm, organization: str, domain_id: str, refusal: ApiError | None = None) -> Response:
    view = read(organization)
    domain = find(view, domain_id)
    if domain is None:
        return to_list(organization)
    return RemoveDomainPage(form, organization, view.organization.name, domain).render_refusal(refusal)
