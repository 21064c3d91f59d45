"""A step of sign-in: accept the new version of the privacy policy."""

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
from app.hub.components.signed_in_account import account_in_interaction
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
        }


@pages.get(PATH)
def show_privacy_policy() -> Response:
    response = journey.present_step()
    step = response.step
    if not isinstance(step, PrivacyPolicyStep):
        return journey.follow(response)
    return _page(AcceptForm(), step.person.label if step.person else "").render()


@pages.post(PATH)
def submit_privacy_policy() -> Response:
    journey.require_interaction()
    form = AcceptForm()
    if not form.validate():
        return _page(form, account_in_interaction()).render(form.error_status)
    try:
        return journey.follow(api()(operation, form.to_request()))
    except SignInRequired:
        return redirect_to(interaction_url("/login"))


def _page(form: AcceptForm, account: str) -> PrivacyPolicyPage:
    visit = current_visit()
    link = dict(visit.brand.links).get("privacy", "")
    version = visit.tenant.privacy_policy.current(services().clock.now())
    since, changes = (format_day(version.starts_at.isoformat()), localized(version.changes)) if version else ("", "")
    return PrivacyPolicyPage(form, visit.relying_party, link, account, since, changes)
