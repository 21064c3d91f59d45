"""The form that invites people to an organization by email."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response
from flask_babel import get_locale
from wtforms import SelectField, TextAreaField
from wtforms.validators import InputRequired, Length

from app.contract import errors
from app.contract.organizations.pages import sent_invitation_pages
from app.hub.account_pages import require_reauthentication
from app.hub.forms.reauthentication import NEEDED, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages import account_page, pages
from app.hub.pages.organizations.invitations.invitation_form import PATH, SAMPLE_ROLES, TOO_MANY, InvitingForm, read
from app.hub.pages.organizations.invitations.open_invitations import sent_notice
from app.hub.pages.organizations.managed_organization import (
    LIST,
    MEMBERS,
    ORGANIZATION_REFUSALS,
    OWNERS_ONLY,
    requested_organization,
    url_of,
)
from app.hub.rendering.form import too_long
from app.hub.rendering.page import Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.kit.operations.errors import ApiError

NEW: Final = f"{PATH}/new"
_MAX_LENGTH: Final = 10_000
_COUNTS: Final = (1, 2, 3, 11, 100)
"""One number of each plural category of the languages."""


class InviteForm(InvitingForm):
    """Addresses, one per line or separated by commas, and a role for all of them."""

    own_fields = ("emails",)
    emails = TextAreaField(
        _l("Email addresses"),
        [InputRequired(_l("Enter at least one email.")), Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))],
        render_kw={
            "rows": 3, "autocapitalize": "none", "spellcheck": "false", "dir": "ltr", "inputmode": "email",
            "placeholder": "ada@example.com", "maxlength": False,
        },
    )  # fmt: skip
    role = SelectField(_l("Role"), [InputRequired(_l("Choose a role."))], choices=[], validate_choice=False)

    @property
    def addresses(self) -> list[str]:
        """The typed addresses, each once. "Ada <ada@example.com>" is one, too."""
        return addresses_in(self.emails.data or "")

    def validate(self, extra_validators: Any = None) -> bool:
        if not super().validate(extra_validators):
            return False
        if len(self.addresses) > sent_invitation_pages.MAX_PEOPLE:
            self.add_error("emails", _l("Invite up to %(most)s people at once.", most=sent_invitation_pages.MAX_PEOPLE))
        elif not self.addresses:
            self.add_error("emails", _l("Enter at least one email."))
        return not self.errors


def addresses_in(text: str) -> list[str]:
    """Return the email addresses in a text, each once, in its order and as typed."""
    addresses: dict[str, str] = {}
    for part in re.split(r"[,;،؛\n\r]+", text):
        named = re.search(r"<([^<>]*)>\s*$", part)
        for item in [named[1].strip()] if named else part.split():
            if item:
                addresses.setdefault(item.casefold(), item[:320])
    return list(addresses.values())


@dataclass(frozen=True)
class InvitePeoplePage(Page):
    """Asks for addresses and a role; names each address that was refused, and keeps those."""

    template = "pages/organizations/invitations/invite_people.html"
    scripts = (*Page.scripts, "reveal", "chips")
    own_rules = ("chips", "roles")
    query = {"id": 64}
    refusals = {**ORGANIZATION_REFUSALS, errors.TooManyRequests: TOO_MANY}

    form: InviteForm
    organization: str
    name: str
    refused: tuple[tuple[str, Any], ...] = ()
    """Addresses with the reason."""

    @property
    def sends(self) -> str:
        """The button's text for a number of people, by its plural category (CLDR), as JSON; "{}" is the number."""
        category = get_locale().plural_form
        texts = {
            category(number): str(_n("Send %(count)s invitation", "Send %(count)s invitations", number, count="{}"))
            for number in _COUNTS
        }
        return json.dumps(texts, ensure_ascii=False)

    @classmethod
    def samples(cls) -> Mapping[str, InvitePeoplePage]:
        def page(**data: str) -> InvitePeoplePage:
            form = InviteForm(data={"account": "ada@example.com", "organization": "org_9", **data})
            return cls(form.with_roles(SAMPLE_ROLES, "a"), "org_9", "Globex Gardens")

        refused = (("bob@", "malformed"), ("grace@example.com", "member"), ("eve@example.com", "invited"))
        more = (("max@example.com", "full"), ("mia@example.com", "limited"))
        empty, some = page(), page(emails="bob@\ngrace@example.com\neve@example.com")
        empty.form.add_error("emails", _l("Enter at least one email."))
        return {
            "fresh": page(),
            "two addresses": page(emails="robin@example.com\nmargaret@example.com"),
            "empty": empty,
            "some refused": with_refused(some, refused, 2),
            "all refused": with_refused(page(emails="max@example.com\nmia@example.com"), more, 0),
            "only owners": replace(page(emails="bob@example.com"), page_notice=OWNERS_ONLY),
            "with the password": page(reauthentication=NEEDED),
        }


_PROBLEMS: Final = {
    "malformed": _l("Not a valid email"),
    "member": _l("Already a member"),
    "invited": _l("Already invited"),
    "full": _l("No seats left"),
    "limited": _l("Too many emails. Try again in an hour."),
}


def with_refused(page: InvitePeoplePage, refused: tuple[tuple[str, str], ...], sent: int) -> InvitePeoplePage:
    """Return the page that keeps the refused addresses, each with its reason."""
    named = tuple((email, _PROBLEMS[problem]) for email, problem in refused)
    page.form.emails.data = "\n".join(email for email, _ in refused)
    page.form.add_error("emails", _l("Check these email addresses."))
    return replace(page, refused=named, page_notice=sent_notice(sent) if sent else None)


@account_page(NEW, parameter="id", field="organization")
def show_invite_people() -> Response:
    organization = requested_organization()
    view = read(organization)
    require_reauthentication(view)
    form = InviteForm(formdata=None, data={**reauthentication_data(view), "organization": organization})
    return InvitePeoplePage(
        form.with_roles(view.roles, view.default_role), organization, view.organization.name
    ).render()


@pages.post(NEW)
def submit_invite_people() -> Response:
    form = InviteForm()
    organization = (form.organization.data or "")[:64]
    if not form.validate():
        return _page(form, organization).render(form.error_status)
    requested = sent_invitation_pages.InvitePeopleRequest(
        organization=organization,
        emails=form.addresses,
        role=(form.role.data or "")[:64],
    )
    try:
        response = api(form.current_password)(sent_invitation_pages.invite, requested)
    except errors.UnknownOrganization:
        return redirect_to(LIST)
    except ApiError as refusal:
        return _page(form, organization).render_refusal(refusal)
    sent = sum(not result.problem for result in response.results)
    refused = tuple((result.email, result.problem) for result in response.results if result.problem in _PROBLEMS)
    if refused:
        return with_refused(_page(form, organization), refused, sent).render(422)
    return redirect_to(url_of(MEMBERS, organization, done="sent", count=sent))


def _page(form: InviteForm, organization: str) -> InvitePeoplePage:
    view = read(organization)
    return InvitePeoplePage(form.with_roles(view.roles), organization, view.organization.name)
