"""The form that creates an invitation link, and the page that shows the new link once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response, request
from flask_babel import format_decimal
from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n
from wtforms import HiddenField, SelectField, StringField
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # newer than its stubs
from wtforms.validators import InputRequired, Length

from app.contract import errors as e
from app.contract import hub_organization_invitations as contract
from app.contract.hub_organizations import RoleView
from app.contract.organizations_invitation_links import MAX_DOMAINS, MAX_USES
from app.hub import journey
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.forms.base import too_long
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts.formatting import format_day
from app.hub.parts.managed_invitations import ADDRESS, LIST, OWNERS_ONLY, list_of, read, sign_in
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

NEW: Final = f"{ADDRESS}/link"
_DAYS: Final = (1, 7, 30)
_MAX_LENGTH: Final = 2_000


class LinkForm(PasswordConfirmationForm):
    """Role, end, and optional limits of a link."""

    organization = HiddenField()
    role = SelectField(_l("Role"), [InputRequired(_l("Choose a role."))], choices=[], validate_choice=False)
    days = SelectField(
        _l("Expires in"), choices=[SelectChoice(str(one), _n("%(num)d day", "%(num)d days", one)) for one in _DAYS], default="7",
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

    @property
    def listed_domains(self) -> list[str]:
        """The typed domains; an @ before one is left out."""
        return [one.lstrip("@")[:253] for one in re.split(r"[\s,;،؛]+", self.domains.data or "") if one.strip("@")]

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

    def with_roles(self, roles: list[RoleView], default: str = "") -> LinkForm:
        """Return the form with these roles to choose from; `default` is chosen first."""
        self.role.choices = [SelectChoice(one.id, one.name) for one in roles]
        if not self.role.data and any(one.id == default for one in roles):
            self.role.data = default
        return self

    def to_change(self) -> contract.CreateLinkRequest:
        days = self.days.data if self.days.data in {str(one) for one in _DAYS} else "7"
        return contract.CreateLinkRequest(
            organization=(self.organization.data or "")[:64],
            role=(self.role.data or "")[:64],
            days=int(days or "7"),
            max_uses=self.max_uses,
            domains=self.listed_domains,
            password=self.current_password,
        )

    def add_refusal(self, refusal: ApiError) -> bool:
        if isinstance(refusal, (e.MalformedRoleId, e.RoleOfOtherOrganization)):
            self.add_error("role", _l("Choose a role."))
        elif isinstance(refusal, e.BadParameter):
            self.add_error("domains", _l("Enter domains such as example.com."))
        else:
            return super().add_refusal(refusal)
        return True


@dataclass(frozen=True)
class CreateLinkPage(Page):
    """Asks for the role and the limits of a link."""

    template = "pages/create_invitation_link.html"
    scripts = (*Page.scripts, "reveal")
    query = {"id": 64}

    form: LinkForm
    organization: str
    name: str
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, CreateLinkPage]:
        def page(**data: str) -> CreateLinkPage:
            form = LinkForm(data={"account": "ada@example.com", "organization": "org_9", "days": "7", **data})
            roles = [RoleView(id="a", name="Editor"), RoleView(id="b", name="Manager")]
            return cls(form.with_roles(roles, "a"), "org_9", "Globex Gardens")

        number, domain = page(most="many"), page(domains="not a domain")
        number.form.add_error("most", _l("Enter a number from 1 to %(most)s.", most=format_decimal(MAX_USES)))
        domain.form.add_error("domains", _l("Enter domains such as example.com."))
        return {
            "fresh": page(),
            "wrong number": number,
            "wrong domain": domain,
            "too many": replace(page(), problem=_TOO_MANY),
            "only owners": replace(page(), problem=OWNERS_ONLY),
            "with the password": page(asks=NEEDED),
        }


@dataclass(frozen=True)
class LinkCreatedPage(Page):
    """Shows the new link, which cannot be shown again."""

    template = "pages/invitation_link_created.html"
    scripts = (*Page.scripts, "copy")

    organization: str
    name: str
    address: str
    expires_on: str

    @classmethod
    def samples(cls) -> Mapping[str, LinkCreatedPage]:
        address = f"https://acme.example/i/{'Zm9vYmFyYmF6' * 3}"
        return {"created": cls("org_9", "Globex Gardens", address, format_day("2026-12-02T10:00:00+00:00"))}


_TOO_MANY: Final = Notice(_l("Too many active links"), _l("Turn one off, then create a new one."))


@pages.get(NEW)
def show_create_link() -> Response:
    organization = request.args.get("id", "")[:64]
    landing, view = f"{NEW}?id={organization}", read(organization)
    if view is None:
        return journey.redirect_to(LIST) if current_visit().session else sign_in(landing)
    if (redirect := require_confirmation(view, landing)) is not None:
        return redirect
    data = {**confirmation_data(view), "organization": organization, "days": "7"}
    form = LinkForm(formdata=None, data=data).with_roles(view.link_roles, view.default_role)
    return CreateLinkPage(form, organization, view.organization.name).render()


@pages.post(NEW)
def submit_create_link() -> Response:
    form = LinkForm()
    organization = (form.organization.data or "")[:64]
    problem, status = None, 422
    if not form.validate():
        status = form.error_status
    else:
        try:
            made = api()(contract.create_link, form.to_change())
        except e.NotAuthenticated:
            return sign_in(list_of(organization))
        except e.UnknownOrganization:
            return journey.redirect_to(LIST)
        except ApiError as refusal:
            problem, status = None if form.add_refusal(refusal) else _notice(refusal), refusal.status
        else:
            current_visit().renew(made.session)
            return LinkCreatedPage(organization, made.organization, made.address, format_day(made.expires_at)).render()
    view = read(organization)
    if view is None:
        return journey.redirect_to(LIST) if current_visit().session else sign_in(list_of(organization))
    return CreateLinkPage(form.with_roles(view.link_roles), organization, view.organization.name, problem).render(
        status
    )


def _notice(refusal: ApiError) -> Notice:
    if isinstance(refusal, e.TooManyInvitationLinks):
        return _TOO_MANY
    return OWNERS_ONLY if isinstance(refusal, e.OwnersOnly) else refusal_notice(refusal)
