"""The first step of the guide: the domain whose addresses lead to the connection, verified by a TXT record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from flask import Response
from wtforms import StringField
from wtforms.validators import Length

from app.contract import errors
from app.contract.organizations import setup_operations
from app.contract.organizations.pages.domain_pages import OwnDomain
from app.contract.organizations.setup_operations import SetupDomain, SetupGuide
from app.hub.locale import lazy_gettext as _l
from app.hub.rendering.form import HubForm, too_long
from app.hub.rendering.page import Notice
from app.hub.setup_guide.guide import FRESH, WITH_DOMAINS, SetupPage, address_of, go_on, session, step_view
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit

_MAX_LENGTH: Final = 253
_NOT_FOUND: Final = Notice(
    _l("We couldn’t find the TXT record"), _l("DNS changes can take a few hours. Check the record, then try again.")
)
_TAKEN: Final = Notice(
    _l("Another organization verified this domain"),
    _l("If it’s yours, check who can change the domain’s DNS records."),
)


class SetupDomainForm(HubForm):
    """Adds a domain, verifies one, uses one, or goes on without."""

    name = StringField(
        _l("Domain"),
        [Length(max=_MAX_LENGTH, message=too_long(_MAX_LENGTH))],
        render_kw={"autocapitalize": "none", "spellcheck": "false", "inputmode": "url", "dir": "ltr"},
    )
    refusals = {
        errors.BadField: ("name", _l("Enter a domain that your organization owns and receives email at.")),
        errors.DomainTaken: ("name", _l("This domain is already in use.")),
    }


@dataclass(frozen=True)
class SetupDomainPage(SetupPage):
    """Verifies a domain."""

    template = "pages/organizations/setup/domain.html"
    step = "domain"
    refusals = {
        errors.DomainNotProven: _NOT_FOUND,
        errors.TooManyDomains: Notice(_l("You’ve reached the domain limit"), _l("Remove a domain you no longer use.")),
        errors.DomainNotVerified: Notice(_l("Verify the domain first")),
    }

    form: SetupDomainForm
    missing_id: str = ""
    """The domain whose record was not found: its block says so in place of the page's head."""

    @property
    def verified(self) -> list[OwnDomain]:
        return [item for item in self.guide.domains if item.is_verified]

    @property
    def pending(self) -> list[OwnDomain]:
        return [item for item in self.guide.domains if not item.is_verified]

    @classmethod
    def samples(cls) -> Mapping[str, SetupDomainPage]:
        fresh, some = cls(SetupDomainForm(), FRESH), cls(SetupDomainForm(), WITH_DOMAINS)
        wrong = SetupDomainForm(data={"name": "gmail.com"})
        wrong.add_refusal(errors.BadField())
        return {
            "fresh": fresh,
            "some": some,
            "refused": cls(wrong, FRESH),
            "record missing": replace(some, page_notice=_NOT_FOUND, missing_id=some.pending[0].id),
            "taken": replace(some, page_notice=_TAKEN),
            "without dns": cls(SetupDomainForm(), FRESH.model_copy(update={"checks_dns": False})),
            "token": replace(some, form=SetupDomainForm().with_token_error()),
        }


@step_view("domain")
def show(guide: SetupGuide) -> Response:
    return SetupDomainPage(SetupDomainForm(formdata=None), guide).render()


@step_view("domain")
def submit(guide: SetupGuide) -> Response:
    form, done = SetupDomainForm(), current_visit().form.get("do", "add")
    action, _, chosen = done.partition(" ")
    if not form.validate():
        return SetupDomainPage(form, guide).render(form.error_status)
    if action == "add" and not (form.name.data or "").strip():
        form.add_error("name", _l("Enter a domain."))
        return SetupDomainPage(form, guide).render(422)
    operation = _OPERATIONS.get(action, setup_operations.add_domain)
    text = (form.name.data or "").strip() if operation is setup_operations.add_domain else chosen[:_MAX_LENGTH]
    try:
        api()(operation, SetupDomain(session=session(), domain=text))
    except errors.DomainVerified:
        pass
    except errors.UnknownOrganizationDomain:
        return redirect_to(address_of("domain"))
    except errors.DomainTaken as refusal:
        if operation is setup_operations.add_domain:
            return SetupDomainPage(form, guide).render_refusal(refusal)
        return SetupDomainPage(form, guide, page_notice=_TAKEN).render(409)
    except errors.DomainNotProven as refusal:
        known = next((item.id for item in guide.domains if item.id == text and not item.is_verified), "")
        return SetupDomainPage(form, guide, missing_id=known).render_refusal(refusal)
    except SHOWN as refusal:
        return SetupDomainPage(form, guide).render_refusal(refusal)
    return redirect_to(address_of("domain")) if operation is setup_operations.add_domain else go_on()


_OPERATIONS: Final = {
    "verify": setup_operations.verify_domain,
    "use": setup_operations.use_domain,
    "skip": setup_operations.use_domain,
}
SHOWN: Final = (
    errors.BadField, errors.DomainNotProven, errors.TooManyDomains, errors.DomainNotVerified, errors.TooManyRequests,
)  # fmt: skip
