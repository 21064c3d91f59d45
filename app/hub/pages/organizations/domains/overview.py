"""The domains of an organization, for its owners: list with the TXT records, verify."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response

from app.contract import errors
from app.contract.organizations.pages import domain_pages
from app.hub.forms.code import ButtonForm
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.domains.domain import PATH, DomainRow, by_urgency, read, to_list
from app.hub.pages.organizations.managed_organization import LIST, requested_organization
from app.hub.pages.organizations.presentation import TABS, Tab, ids_in, members, tabs_of
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

VERIFY: Final = f"{PATH}/verify"


@dataclass(frozen=True)
class OrganizationDomainsPage(Page):
    """Lists the domains, each with its next action."""

    template = "pages/organizations/domains/overview.html"
    own_rules = ("titled", "domains", "menu")
    scripts = (*Page.scripts, "copy", "menu")
    query = {"id": 64, "done": 9}

    form: ButtonForm
    organization: str
    """Its id."""
    name: str
    people: Any
    """How many members it has, as a text."""
    domains: tuple[DomainRow, ...]
    """In the order of `by_urgency`."""
    tabs: tuple[Tab, ...] = TABS
    result: str = ""
    """The result of the last change: a key of `_RESULTS`."""

    @property
    def open_record(self) -> str:
        """The key of the domain whose record is open: the one just added, else the most urgent one that waits for its record."""
        awaited = [domain for domain in self.domains if domain.is_awaited]
        added = [domain for domain in awaited if domain.group] if self.result == "added" else []
        return next((domain.key for domain in (*added, *awaited)), "")

    @property
    def notice(self) -> Notice | None:
        return _RESULTS.get(self.result) or super().notice

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationDomainsPage]:
        listed, globex = DomainRow.samples_of_list(), ("org_9", "Globex Gardens")
        first = cls(ButtonForm(), *globex, members(3), by_urgency(listed[:2]))
        return {
            "some": first,
            "every state": replace(first, domains=by_urgency(listed)),
            "none": replace(first, domains=()),
            **{f"after {result}": replace(first, result=result) for result in _RESULTS},
            "token": replace(first, form=ButtonForm().with_token_error()),
        }


_RESULTS: Final = {
    "added": Notice(_l("Domain added"), _l("Add the TXT record at your DNS provider, then verify the domain."), "ok"),
    "removed": Notice(_l("Domain removed"), tone="ok"),
    "verified": Notice(_l("Domain verified"), tone="ok"),
    "present": Notice(_l("Domain still verified"), _l("The TXT record is in place."), "ok"),
    "missing": Notice(
        _l("We couldn’t find the TXT record"), _l("DNS changes can take a few hours. Check the record, then try again.")
    ),
    "taken": Notice(
        _l("Another organization verified this domain"),
        _l("If it’s yours, check who can change the domain’s DNS records."),
    ),
}


@account_page(PATH, parameter="id")
def show_organization_domains() -> Response:
    return _show_list(requested_organization())


@pages.get(VERIFY)
def leave_verify_domain() -> Response:
    """Redirect the language links of a refused form, which do not name the organization."""
    return redirect_to(LIST)


@pages.post(VERIFY)
def submit_verify_domain() -> Response:
    form = ButtonForm()
    organization, domain_id = ids_in(current_visit().form.get("domain", ""))
    if not form.validate():
        return _show_list(organization, form, form.error_status)
    result = "verified"
    try:
        api()(domain_pages.verify, domain_pages.VerifyDomainRequest(organization=organization, domain=domain_id))
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except (
        errors.DomainVerified,
        errors.DomainNotProven,
        errors.DomainTaken,
        errors.UnknownOrganizationDomain,
    ) as refusal:
        result = _VERIFY_RESULTS[type(refusal)]
    return to_list(organization, result)


_VERIFY_RESULTS: Final[dict[type[ApiError], str]] = {
    errors.DomainVerified: "present",
    errors.DomainNotProven: "missing",
    errors.DomainTaken: "taken",
    errors.UnknownOrganizationDomain: "",
}


def _show_list(organization: str, form: ButtonForm | None = None, status: int = 200) -> Response:
    view = read(organization)
    listed = by_urgency(DomainRow.of(organization, domain) for domain in view.domains)
    result = current_visit().query.get("done", "")
    shown, of = form or ButtonForm(formdata=None), view.organization
    return OrganizationDomainsPage(
        shown, organization, of.name, members(of.people), listed, tabs_of(of), result
    ).render(status)
