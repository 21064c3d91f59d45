"""A step of sign-in: accept the new version of the privacy policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors as e
from app.contract import hub as hub_contract
from app.contract.hub import Step
from app.contract.hub_account import accept_policy as operation
from app.contract.hub_models import InteractionOnly
from app.hub import journey
from app.hub.brand import initials
from app.hub.forms.base import HubForm
from app.hub.page import Page
from app.hub.pages import pages
from app.hub.parts.account import account_in_interaction
from app.hub.services import api
from app.hub.visit import current_visit

ADDRESS: Final = "/privacy-policy"


class AcceptForm(HubForm):
    """A button."""

    def to_request(self) -> InteractionOnly:
        return InteractionOnly(attempt=current_visit().interaction_id or "")


@dataclass(frozen=True)
class PrivacyPolicyPage(Page):
    """Asks to accept the current policy."""

    template = "pages/privacy_policy.html"

    form: AcceptForm
    relying_party: str = ""
    link: str = ""
    """The address of the policy."""

    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @classmethod
    def samples(cls) -> Mapping[str, PrivacyPolicyPage]:
        return {
            "fresh": cls(AcceptForm(), link="https://acme.example.com/privacy", account="ada@example.com"),
            "for an application": cls(AcceptForm(), "Acme Shop", "https://acme.example.com/privacy", "ada@example.com"),
            "without a text": cls(AcceptForm()),
        }


@pages.get(ADDRESS)
def show_privacy_policy() -> Response:
    interaction = journey.require_interaction()
    step = api()(hub_contract.resume, hub_contract.InteractionRequest(attempt=interaction.id))
    if step.step is not Step.PRIVACY_POLICY:
        return journey.follow(step)
    return _page(AcceptForm(), step.person.label if step.person else "").render()


@pages.post(ADDRESS)
def submit_privacy_policy() -> Response:
    interaction, form = journey.require_interaction(), AcceptForm()
    if not form.validate():
        return _page(form, account_in_interaction()).render(form.error_status)
    try:
        return journey.follow(api()(operation, form.to_request()))
    except e.NotAuthenticated:
        return journey.redirect_to(f"/login?attempt={interaction.id}")


def _page(form: AcceptForm, account: str) -> PrivacyPolicyPage:
    visit = current_visit()
    links = dict(visit.tenant.brand.links)
    return PrivacyPolicyPage(form, visit.relying_party, links.get("privacy", ""), account)
