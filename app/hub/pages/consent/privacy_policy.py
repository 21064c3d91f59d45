"""A step of sign-in: accept the current version of the privacy policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract.consents.consent_pages import accept_policy as operation
from app.contract.page_models import InteractionOnly
from app.contract.steps import PrivacyPolicyStep
from app.hub import journey
from app.hub.client.identity_client import SignInRequired
from app.hub.forms.registration_fields import localized
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.formatting import format_day
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit, interaction_url

PATH: Final = "/privacy-policy"
_SAMPLE_CHANGES: Final = {
    "en": "We now keep invoices for ten years, because tax law requires it.",
    "de": "Wir bewahren Rechnungen jetzt zehn Jahre auf, weil das Steuerrecht es verlangt.",
    "ar": "نحتفظ الآن بالفواتير عشر سنوات لأن قانون الضرائب يتطلب ذلك.",
}


class AcceptForm(HubForm):
    """A button."""

    def to_request(self) -> InteractionOnly:
        return InteractionOnly(interaction_id=current_visit().interaction_id or "")


@dataclass(frozen=True)
class PrivacyPolicyPage(Page):
    """Asks to accept the current policy."""

    template = "pages/consent/privacy_policy.html"

    form: AcceptForm
    relying_party: str = ""
    link: str = ""
    """The address of the policy."""

    account: str = ""
    """The label of the account."""
    since: str = ""
    """The day on which the current version took effect."""
    changes: str = ""
    """What the tenant says that the current version changes."""
    is_first: bool = False
    """Whether the account never accepted a version."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, PrivacyPolicyPage]:
        link, day = "https://acme.example.com/privacy", format_day("2026-11-01T00:00:00+00:00")
        return {
            "fresh": cls(AcceptForm(), link=link, account="ada@example.com", since=day),
            "for an application": cls(
                AcceptForm(), "Acme Shop", link, "ada@example.com", day, localized(_SAMPLE_CHANGES)
            ),
            "without a text": cls(AcceptForm()),
            "never accepted": cls(AcceptForm(), "Acme Shop", link, "ada@example.com", day, is_first=True),
        }


@pages.get(PATH)
def show_privacy_policy() -> Response:
    return _show(AcceptForm(), 200)


@pages.post(PATH)
def submit_privacy_policy() -> Response:
    journey.require_interaction()
    form = AcceptForm()
    if not form.validate():
        return _show(form, form.error_status)
    try:
        return journey.follow(api()(operation, form.to_request()))
    except SignInRequired:
        return redirect_to(interaction_url("/login"))


def _show(form: AcceptForm, status: int) -> Response:
    """Render the page, or go on where the sign-in waits for something else."""
    response = journey.present_step()
    if not isinstance(response.step, PrivacyPolicyStep):
        return journey.follow(response)
    return _page(form, response.step).render(status)


def _page(form: AcceptForm, step: PrivacyPolicyStep) -> PrivacyPolicyPage:
    visit, account = current_visit(), step.person.label if step.person else ""
    link = dict(visit.brand.links).get("privacy", "")
    version = visit.tenant.privacy_policy.current(services().clock.now())
    since, changes = (format_day(version.starts_at.isoformat()), localized(version.changes)) if version else ("", "")
    changes = "" if step.is_first else changes
    return PrivacyPolicyPage(form, visit.relying_party, link, account, since, changes, step.is_first)
