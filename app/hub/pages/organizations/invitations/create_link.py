"""The form that creates a shared invitation, which pages call a link, and the page that shows its address once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from flask_babel import format_decimal
from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs
from wtforms.validators import InputRequired, Length

from app.contract import errors
from app.contract.organizations.invitation_link_operations import MAX_DOMAINS, MAX_USES
from app.contract.organizations.pages import sent_invitation_pages
from app.hub.account_pages import require_reauthentication
from app.hub.forms.reauthentication import NEEDED, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.invitations.invitation_form import PATH, SAMPLE_ROLES, InvitingForm, read
from app.hub.pages.organizations.managed_organization import (
    LIST,
    MEMBERS,
    ORGANIZATION_REFUSALS,
    OWNERS_ONLY,
    requested_organization,
    url_of,
)
from app.hub.rendering.form import too_long
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Notice, Page
from app.hub.web.cookies import set_cookie
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

NEW: Final = f"{PATH}/link"
CREATED: Final = f"{NEW}/created"
_SHOWN_SECONDS: Final = 300
_DAYS: Final = (1, 7, 30)
_MAX_LENGTH: Final = 2_000
_TOO_MANY: Final = Notice(_l("Too many active links"), _l("Turn one off, then create a new one."))


class CreateLinkForm(InvitingForm):
    """Role, end, and optional limits of a link."""

    role = SelectField(_l("Role"), [InputRequired(_l("Choose a role."))], choices=[], validate_choice=False)
    days = SelectField(
        _l("Expires in"), choices=[SelectChoice(str(day), _n("%(num)d day", "%(num)d days", day)) for day in _DAYS], default="7",
        validate_choice=False,
    )  # fmt: skip
    most = StringField(
        _l("Maximum number of people"),
        render_kw={"inputmode": "numeric", "maxlength": False, "dir": "ltr"},
    )
    domains = StringField(
        _l("Allowed email domains"),
        [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))],
        render_kw={
            "autocapitalize": "none",
            "spellcheck": "false",
            "dir": "ltr",
            "maxlength": False,
        },
    )

    refusals = {**InvitingForm.refusals, errors.BadParameter: ("domains", _l("Enter domains such as example.com."))}

    @property
    def listed_domains(self) -> list[str]:
        """The typed domains; an @ before one is left out."""
        return [part.lstrip("@")[:253] for part in re.split(r"[\s,;،؛]+", self.domains.data or "") if part.strip("@")]

    @property
    def max_uses(self) -> int | None:
        text = (self.most.data or "").strip()
        return int(text) if text.isdecimal() and len(text) <= 8 else None

    def validate(self, extra_validators: Any = None) -> bool:
        if not super().validate(extra_validators):
            return False
        if (self.most.data or "").strip() and not 1 <= (self.max_uses or 0) <= MAX_USES:
            self.add_error("most", _l("Enter a number from 1 to %(most)s.", most=format_decimal(MAX_USES)))
        if len(self.listed_domains) > MAX_DOMAINS:
            self.add_error("domains", _l("Enter up to %(most)s domains.", most=MAX_DOMAINS))
        return not self.errors

    def to_change(self) -> sent_invitation_pages.CreateSharedInvitationRequest:
        days = self.days.data if self.days.data in {str(day) for day in _DAYS} else "7"
        return sent_invitation_pages.CreateSharedInvitationRequest(
            organization=(self.organization.data or "")[:64],
            role=(self.role.data or "")[:64],
            days=int(days or "7"),
            max_uses=self.max_uses,
            domains=self.listed_domains,
        )


@dataclass(frozen=True)
class CreateLinkPage(Page):
    """Asks for the role and the limits of a link."""

    template = "pages/organizations/invitations/create_link.html"
    own_rules = ("roles",)
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}
    refusals = {**ORGANIZATION_REFUSALS, errors.TooManyInvitationLinks: _TOO_MANY}

    form: CreateLinkForm
    organization: str
    name: str

    @classmethod
    def samples(cls) -> Mapping[str, CreateLinkPage]:
        def page(**data: str) -> CreateLinkPage:
            form = CreateLinkForm(data={"account": "ada@example.com", "organization": "org_9", "days": "7", **data})
            return cls(form.with_roles(SAMPLE_ROLES, "a"), "org_9", "Globex Gardens")

        number, domain = page(most="many"), page(domains="not a domain")
        number.form.add_error("most", _l("Enter a number from 1 to %(most)s.", most=format_decimal(MAX_USES)))
        domain.form.add_error("domains", _l("Enter domains such as example.com."))
        return {
            "fresh": page(),
            "wrong number": number,
            "wrong domain": domain,
            "too many": replace(page(), page_notice=_TOO_MANY),
            "only owners": replace(page(), page_notice=OWNERS_ONLY),
            "with the password": page(reauthentication=NEEDED),
        }


@dataclass(frozen=True)
class LinkCreatedPage(Page):
    """Shows the new link, for some minutes in this session."""

    template = "pages/organizations/invitations/link_created.html"
    scripts = (*Page.scripts, "copy")

    organization: str
    name: str
    address: str
    expires_on: str

    @classmethod
    def samples(cls) -> Mapping[str, LinkCreatedPage]:
        address = f"https://acme.example/i/{'Zm9vYmFyYmF6' * 3}"
        return {"created": cls("org_9", "Globex Gardens", address, format_day("2026-12-02T10:00:00+00:00"))}


@account_page(NEW, parameter="id", field="organization")
def show_create_link() -> Response:
    organization = requested_organization()
    view = read(organization)
    require_reauthentication(view)
    data = {**reauthentication_data(view), "organization": organization, "days": "7"}
    form = CreateLinkForm(formdata=None, data=data).with_roles(view.link_roles, view.default_role)
    return CreateLinkPage(form, organization, view.organization.name).render()


@pages.post(NEW)
def submit_create_link() -> Response:
    form = CreateLinkForm()
    organization = (form.organization.data or "")[:64]
    if not form.validate():
        return _page(form, organization).render(form.error_status)
    try:
        link = api(form.current_password)(sent_invitation_pages.create_shared_invitation, form.to_change())
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except ApiError as refusal:
        return _page(form, organization).render_refusal(refusal)
    return _carry_link(redirect_to(url_of(CREATED, organization)), organization, link)


@account_page(CREATED, landing=MEMBERS, parameter="id")
def show_created_link() -> Response:
    organization = requested_organization()
    view = read(organization)
    text = current_visit().cookies.get(services().invitation_link_cookie, "")
    content: Any = services().cookie_cipher.decrypt(text, _context())
    if not isinstance(content, list) or content[0] != organization:
        return redirect_to(url_of(MEMBERS, organization))
    return LinkCreatedPage(organization, view.organization.name, content[1], format_day(content[2])).render()


def _carry_link(response: Response, organization: str, link: sent_invitation_pages.SharedInvitationCreated) -> Response:
    """Carry the new link to the page that shows it: only its hash is stored, and an address would stay in the browser's history."""
    content = services().cookie_cipher.encrypt([organization, link.address, link.expires_at], _context())
    set_cookie(response, services().invitation_link_cookie, content, _SHOWN_SECONDS)
    return response


def _context() -> str:
    return f"{current_visit().tenant.name} invitation link {current_visit().session}"


def _page(form: CreateLinkForm, organization: str) -> CreateLinkPage:
    view = read(organization)
    return CreateLinkPage(form.with_roles(view.link_roles), organization, view.organization.name)
