"""The tenant's consent forms as a step of sign-in and registration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from flask import Response

from app.contract import errors
from app.contract.consents.consent_pages import ConsentFormsAnswer, answer_forms
from app.contract.consents.forms import ConsentForm
from app.contract.steps import ConsentFormsStep
from app.hub import journey
from app.hub.client.identity_client import SignInRequired
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import account_in_interaction
from app.hub.pages import pages
from app.hub.pages.consent import consent_fields
from app.hub.pages.consent.consent_fields import SAMPLE_NEWS, SAMPLE_SIGN_UP, BoxesForm, Section
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError

PATH: Final = "/consent-forms"


@dataclass(frozen=True)
class ConsentFormsPage(Page):
    """Asks for the consents."""

    template = "pages/consent/consent_forms.html"
    own_rules = ("choices",)
    refusals = CHANGE_REFUSALS

    form: BoxesForm
    forms: tuple[ConsentForm, ...]
    relying_party: str = ""
    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def sections(self) -> tuple[Section, ...]:
        return consent_fields.sections(self.forms, self.form)

    @property
    def events(self) -> str:
        """The events of the forms on the page, posted with the form."""
        return " ".join(form.event for form in self.forms)

    @classmethod
    def samples(cls) -> Mapping[str, ConsentFormsPage]:
        both = (SAMPLE_SIGN_UP, SAMPLE_NEWS)
        refused = _boxes(both)
        refused.refuse_unticked()
        return {
            "one form": cls(_boxes((SAMPLE_SIGN_UP,)), (SAMPLE_SIGN_UP,), "Acme Shop", account="ada@example.com"),
            "two forms, for an application": cls(_boxes(both, ("news",)), both, "Acme Shop", account="ada@example.com"),
            "without what is needed": cls(refused, both),
            "failed": cls(_boxes((SAMPLE_SIGN_UP,)), (SAMPLE_SIGN_UP,), page_notice=CHANGE_REFUSALS[ApiError]),
        }


@pages.get(PATH)
def show_consent_forms() -> Response:
    response = journey.present_step()
    step = response.step
    if not isinstance(step, ConsentFormsStep) or not (forms := consent_fields.forms_of(step.events)):
        return journey.follow(response)
    account = step.person.label if step.person else ""
    return _page(forms, _boxes(forms, step.accepted_options), account).render()


@pages.post(PATH)
def submit_consent_forms() -> Response:
    interaction = journey.require_interaction()
    forms = consent_fields.forms_of(current_visit().form.get("events", "").split())
    if not forms:
        return redirect_to(interaction_url(PATH))
    form = BoxesForm.of(consent_fields.options_of(forms))
    if not form.validate() or form.refuse_unticked():
        return _page(forms, form, account_in_interaction()).render(form.error_status)
    accepted = [option for option, yes in form.ticked.items() if yes]
    answer = ConsentFormsAnswer(interaction_id=interaction.id, events=[form.event for form in forms], accepted=accepted)
    try:
        return journey.follow(api()(answer_forms, answer))
    except SignInRequired:
        return redirect_to(interaction_url("/login"))
    except (errors.NoConsentForm, errors.ConsentRefused):  # the forms changed meanwhile: render the present ones
        return redirect_to(interaction_url(PATH))
    except errors.TooManyRequests as refusal:
        return _page(forms, form, account_in_interaction()).render_refusal(refusal)


def _boxes(forms: tuple[ConsentForm, ...], agreed: tuple[str, ...] | list[str] = ()) -> BoxesForm:
    """Return the boxes; given consents are ticked, except mandatory ones, which must be given again."""
    options = consent_fields.options_of(forms)
    return BoxesForm.of(options, [option.id for option in options if option.id in agreed and not option.mandatory])


def _page(forms: tuple[ConsentForm, ...], form: BoxesForm, account: str) -> ConsentFormsPage:
    return ConsentFormsPage(form, forms, current_visit().relying_party, account)
