"""The domains of an organization, for its owners: list with the TXT records, add, verify, remove."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired, Length

from app.contract import errors as e
from app.contract import hub_organization_domains as contract
from app.hub import journey, oidc_client
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.forms.base import too_long
from app.hub.forms.code import ButtonForm
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.formatting import short_day
from app.hub.parts.organizations import TABS, Tab, ids_in, tabs_of
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

LIST: Final = "/organizations"
ADDRESS: Final = f"{LIST}/domains"
ADD: Final = f"{ADDRESS}/add"
REMOVE: Final = f"{ADDRESS}/remove"
VERIFY: Final = f"{ADDRESS}/verify"
_LONGEST: Final = 253


class AddDomainForm(PasswordConfirmationForm):
    """A new domain."""

    own_fields = ("name",)
    name = StringField(
        _l("Domain"),
        [InputRequired(_l("Enter a domain.")), Length(max=_LONGEST, message=too_long(_LONGEST))],
        render_kw={"autocapitalize": "none", "spellcheck": "false", "inputmode": "url", "dir": "ltr"},
    )
    organization = HiddenField()


class RemoveDomainForm(PasswordConfirmationForm):
    """Confirms the removal; `domain` is the key of a domain."""

    domain = HiddenField()


@dataclass(frozen=True)
class Domain:
    """A domain in the list. `key`: organization and domain, as addresses and forms name them."""

    key: str
    name: str
    record: str
    state: str = "pending"
    """verified, declared (by an administrator), contested (verified), pending, or the problem of a failed one."""
    day: str = ""
    """When it was verified, or looked up last."""
    is_in_use: bool = False

    @property
    def is_verified(self) -> bool:
        return self.state in ("verified", "declared", "contested")

    @property
    def shows_record(self) -> bool:
        """Whether the record is still to be added."""
        return not self.is_verified

    @property
    def can_verify(self) -> bool:
        return self.state != "declared"

    @classmethod
    def of(cls, organization: str, view: contract.OwnDomain) -> Domain:
        state = "declared" if view.is_declared else "verified" if view.is_verified else "pending"
        at = view.verified_at if view.is_verified else view.checked_at
        key, day = f"{organization}-{view.id}", short_day(at) if at else ""
        return cls(key, view.name, view.record, view.problem or state, day, view.is_in_use)

    @classmethod
    def samples_of_list(cls) -> tuple[Domain, ...]:
        """Return a domain in each state."""
        day, record = short_day("2026-11-12T10:00:00+00:00"), "gatehouse-domain-verification=" + "q7Kd0aXw" * 4
        return (
            cls("org_9-a", "globex.example", record, "verified", day, is_in_use=True),
            cls("org_9-b", "gardens.example", record),
            cls("org_9-c", "globex-gardens-international.example", record, "record_missing", day),
            cls("org_9-d", "globex.test", record, "record_lost", day),
            cls("org_9-e", "initech.example", record, "verified_elsewhere", day),
            cls("org_9-f", "plants.example", record, "contested", day),
            cls("org_9-g", "farms.example", record, "declared", day),
        )


@dataclass(frozen=True)
class OrganizationDomainsPage(Page):
    """Lists the domains, each with what is to do."""

    template = "pages/organization_domains.html"
    scripts = (*Page.scripts, "copy")
    query = {"id": 64, "done": 9}

    form: ButtonForm
    organization: str
    """Its id."""
    name: str
    domains: tuple[Domain, ...]
    tabs: tuple[Tab, ...] = TABS
    result: str = ""
    """The result of the last change: a key of `_RESULTS`."""

    @property
    def notice(self) -> Notice | None:
        return _RESULTS.get(self.result) or super().notice

    @classmethod
    def samples(cls) -> Mapping[str, OrganizationDomainsPage]:
        listed, globex = Domain.samples_of_list(), ("org_9", "Globex Gardens")
        first = cls(ButtonForm(), *globex, listed[:2])
        return {
            "some": first,
            "every state": replace(first, domains=listed),
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


@dataclass(frozen=True)
class AddDomainPage(Page):
    """Adds a domain."""

    template = "pages/add_domain.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}

    form: AddDomainForm
    organization: str
    name: str
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, AddDomainPage]:
        data, globex = {"account": "ada@example.com", "organization": "org_9"}, ("org_9", "Globex Gardens")
        wrong = AddDomainForm(data={**data, "name": "gmail.com"})
        wrong.add_error("name", _REFUSED)
        return {
            "fresh": cls(AddDomainForm(data=data), *globex),
            "refused": cls(wrong, *globex),
            "with the password": cls(AddDomainForm(data={**data, "asks": NEEDED}), *globex),
            "too many": cls(AddDomainForm(data=data), *globex, _NOTICES[e.TooManyDomains]),
        }


_REFUSED: Final = _l(
    "Enter your organization’s own domain. It must receive email and can’t belong to an email provider."
)
_TAKEN: Final = _l("This domain is already in use.")
_NOTICES: Final[dict[type[ApiError], Notice]] = {
    e.TooManyDomains: Notice(_l("You’ve reached the domain limit"), _l("Remove a domain you no longer use.")),
    e.DomainInUse: Notice(
        _l("A connection uses this domain"), _l("Ask your administrator to remove the connection first.")
    ),
}


@dataclass(frozen=True)
class RemoveDomainPage(Page):
    """Asks to confirm the removal."""

    template = "pages/remove_domain.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 140}

    form: RemoveDomainForm
    organization: str
    name: str
    domain: Domain
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, RemoveDomainPage]:
        data, (used, pending, *_) = {"account": "ada@example.com", "domain": "org_9-a"}, Domain.samples_of_list()
        globex = ("org_9", "Globex Gardens")
        return {
            "verified": cls(RemoveDomainForm(data=data), *globex, replace(used, is_in_use=False)),
            "pending": cls(RemoveDomainForm(data=data), *globex, pending),
            "in use": cls(RemoveDomainForm(data=data), *globex, used, _NOTICES[e.DomainInUse]),
            "with the password": cls(RemoveDomainForm(data={**data, "asks": NEEDED}), *globex, pending),
        }


@pages.get(ADDRESS)
def show_organization_domains() -> Response:
    return _show_list(request.args.get("id", "")[:64])


@pages.get(ADD)
def show_add_domain() -> Response:
    organization = request.args.get("id", "")[:64]
    landing = f"{ADD}?{urlencode({'id': organization})}"
    view = _read(organization, landing)
    if isinstance(view, Response):
        return view
    if (redirect := require_confirmation(view, landing)) is not None:
        return redirect
    form = AddDomainForm(formdata=None, data={**confirmation_data(view), "organization": organization})
    return AddDomainPage(form, organization, view.organization.name).render()


@pages.post(ADD)
def submit_add_domain() -> Response:
    form = AddDomainForm()
    organization, problem, status = (form.organization.data or "")[:64], None, 422
    if not form.validate():
        status = form.error_status
    else:
        given = {
            "organization": organization,
            "name": (form.name.data or "").strip(),
            "password": form.current_password,
        }
        try:
            outcome = api()(contract.add, contract.AddDomainRequest.model_validate(given))
        except (e.NotAuthenticated, e.UnknownOrganization) as refusal:
            return _leave(refusal, f"{ADD}?{urlencode({'id': organization})}")
        except ApiError as refusal:
            problem, status = _add_refusal(form, refusal), refusal.status
        else:
            current_visit().renew(outcome.session)
            return _to_list(organization, "added")
    view = _read(organization, _list_of(organization))
    if isinstance(view, Response):
        return view
    return AddDomainPage(form, organization, view.organization.name, problem).render(status)


def _add_refusal(form: AddDomainForm, refusal: ApiError) -> Notice | None:
    """Add the error to its field; return the notice of one that has none."""
    if form.add_refusal(refusal):
        return None
    if isinstance(refusal, (e.BadField, e.DomainTaken)):
        form.add_error("name", _TAKEN if isinstance(refusal, e.DomainTaken) else _REFUSED)
        return None
    return _NOTICES.get(type(refusal)) or refusal_notice(refusal)


@pages.get(VERIFY)
def leave_verify_domain() -> Response:
    """Answer the language links of a refused form, which do not say which organization it was."""
    return journey.redirect_to(LIST)


@pages.post(VERIFY)
def submit_verify_domain() -> Response:
    form = ButtonForm()
    organization, domain_id = ids_in(request.form.get("domain", ""))
    if not form.validate():
        return _show_list(organization, form, form.error_status)
    result = "verified"
    try:
        api()(contract.verify, contract.VerifyDomainRequest(organization=organization, domain=domain_id))
    except (e.NotAuthenticated, e.UnknownOrganization) as refusal:
        return _leave(refusal, _list_of(organization))
    except (e.DomainVerified, e.DomainNotProven, e.DomainTaken, e.UnknownOrganizationDomain) as refusal:
        result = _VERIFY_RESULTS[type(refusal)]
    return _to_list(organization, result)


_VERIFY_RESULTS: Final[dict[type[ApiError], str]] = {
    e.DomainVerified: "present",
    e.DomainNotProven: "missing",
    e.DomainTaken: "taken",
    e.UnknownOrganizationDomain: "",
}


@pages.get(REMOVE)
def show_remove_domain() -> Response:
    key = request.args.get("id", "")
    organization, domain_id = ids_in(key)
    landing = f"{REMOVE}?{urlencode({'id': key})}"
    view = _read(organization, landing)
    if isinstance(view, Response):
        return view
    domain = _find(view, domain_id)
    if domain is None:
        return _to_list(organization)
    if not domain.is_in_use and (redirect := require_confirmation(view, landing)) is not None:
        return redirect
    form = RemoveDomainForm(formdata=None, data={**confirmation_data(view), "domain": key})
    problem = _NOTICES[e.DomainInUse] if domain.is_in_use else None
    return RemoveDomainPage(form, organization, view.organization.name, domain, problem).render()


@pages.post(REMOVE)
def submit_remove_domain() -> Response:
    form = RemoveDomainForm()
    organization, domain_id = ids_in(form.domain.data or "")
    problem, status = None, 422
    if not form.validate():
        status = form.error_status
    else:
        given = {"organization": organization, "domain": domain_id, "password": form.current_password}
        try:
            outcome = api()(contract.remove, contract.RemoveDomainRequest.model_validate(given))
        except (e.NotAuthenticated, e.UnknownOrganization) as refusal:
            return _leave(refusal, _list_of(organization))
        except e.UnknownOrganizationDomain:  # removed already, by a double submit or another tab
            return _to_list(organization)
        except ApiError as refusal:
            shown = _NOTICES.get(type(refusal)) or refusal_notice(refusal)
            problem, status = None if form.add_refusal(refusal) else shown, refusal.status
        else:
            current_visit().renew(outcome.session)
            return _to_list(organization, "removed")
    view = _read(organization, _list_of(organization))
    if isinstance(view, Response):
        return view
    domain = _find(view, domain_id)
    if domain is None:
        return _to_list(organization)
    return RemoveDomainPage(form, organization, view.organization.name, domain, problem).render(status)


def _show_list(organization: str, form: ButtonForm | None = None, status: int = 200) -> Response:
    view = _read(organization, _list_of(organization))
    if isinstance(view, Response):
        return view
    listed, result = tuple(Domain.of(organization, one) for one in view.domains), request.args.get("done", "")
    shown = form or ButtonForm(formdata=None)
    return OrganizationDomainsPage(
        shown, organization, view.organization.name, listed, tabs_of(view.organization), result
    ).render(status)


def _read(organization: str, landing: str) -> contract.DomainsResponse | Response:
    """Return the domains; without a session, or for an organization that the account does not own, where to go."""
    if not current_visit().session:
        return _leave(e.NotAuthenticated(), landing)
    try:
        view = api()(contract.read, contract.DomainsRequest(organization=organization or "-"))
    except (e.NotAuthenticated, e.UnknownOrganization) as refusal:
        return _leave(refusal, landing)
    current_visit().use_account_language(view.person)
    return view


def _leave(refusal: ApiError, landing: str) -> Response:
    """Lead to a sign-in that continues at the address, or to the account's organizations where the account may not see this one."""
    if isinstance(refusal, e.UnknownOrganization):
        return journey.redirect_to(LIST)
    return oidc_client.start_login(landing if oidc_client.is_account_page(landing) else LIST)


def _find(view: contract.DomainsResponse, domain_id: str) -> Domain | None:
    return next((Domain.of(view.organization.id, one) for one in view.domains if one.id == domain_id), None)


def _list_of(organization: str) -> str:
    return f"{ADDRESS}?{urlencode({'id': organization})}"


def _to_list(organization: str, result: str = "") -> Response:
    address = _list_of(organization)
    return journey.redirect_to(f"{address}&done={result}" if result else address)
