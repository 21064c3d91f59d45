"""Adds a domain to an organization, for its owners."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response
from wtforms import HiddenField, StringField
from wtforms.validators import InputRequired, Length

from app.contract import errors
from app.contract.organizations.pages import domain_pages
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.domains.domain import PATH, read, to_list
from app.hub.pages.organizations.managed_organization import LIST, requested_organization
from app.hub.rendering.form import too_long
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.kit.operations.errors import ApiError

ADD: Final = f"{PATH}/add"
_MAX_DOMAIN_LENGTH: Final = 253
_REFUSED: Final = _l("Enter a domain that your organization owns and receives email at.")
_TOO_MANY: Final = Notice(_l("You’ve reached the domain limit"), _l("Remove a domain you no longer use."))


class AddDomainForm(ReauthenticationForm):
    """A new domain."""

    own_fields = ("name",)
    name = StringField(
        _l("Domain"),
        [InputRequired(_l("Enter a domain.")), Length(max=_MAX_DOMAIN_LENGTH, message=too_long(_MAX_DOMAIN_LENGTH))],
        render_kw={"autocapitalize": "none", "spellcheck": "false", "inputmode": "url", "dir": "ltr"},
    )
    organization = HiddenField()
    refusals = {
        errors.BadField: ("name", _REFUSED),
        errors.DomainTaken: ("name", _l("This domain is already in use.")),
    }


@dataclass(frozen=True)
class AddDomainPage(Page):
    """Adds a domain."""

    template = "pages/organizations/domains/add.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}
    refusals = {**CHANGE_REFUSALS, errors.TooManyDomains: _TOO_MANY}

    form: AddDomainForm
    organization: str
    name: str

    @classmethod
    def samples(cls) -> Mapping[str, AddDomainPage]:
        data, globex = {"account": "ada@example.com", "organization": "org_9"}, ("org_9", "Globex Gardens")
        wrong = AddDomainForm(data={**data, "name": "gmail.com"})
        wrong.add_refusal(errors.BadField())
        return {
            "fresh": cls(AddDomainForm(data=data), *globex),
            "refused": cls(wrong, *globex),
            "with the password": cls(AddDomainForm(data={**data, "reauthentication": NEEDED}), *globex),
            "too many": cls(AddDomainForm(data=data), *globex, page_notice=_TOO_MANY),
        }


@account_page(ADD, parameter="id", field="organization")
def show_add_domain() -> Response:
    organization = requested_organization()
    view = read(organization)
    require_reauthentication(view)
    form = AddDomainForm(formdata=None, data={**reauthentication_data(view), "organization": organization})
    return AddDomainPage(form, organization, view.organization.name).render()


@pages.post(ADD)
def submit_add_domain() -> Response:
    form = AddDomainForm()
    organization = (form.organization.data or "")[:64]
    if not form.validate():
        return _page(form, organization).render(form.error_status)
    provided = {"organization": organization, "name": (form.name.data or "").strip()}
    try:
        api(form.current_password)(domain_pages.add, domain_pages.AddDomainRequest.model_validate(provided))
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except ApiError as refusal:
        return _page(form, organization).render_refusal(refusal)
    return to_list(organization, "added")


def _page(form: AddDomainForm, organization: str) -> AddDomainPage:
    return AddDomainPage(form, organization, read(organization).organization.name)
