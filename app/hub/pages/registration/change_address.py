"""Correct the mistyped address or number of a registration that waits for verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flask import Response
from wtforms import StringField
from wtforms.validators import InputRequired

from app.contract import errors
from app.contract.page_models import SentTo
from app.contract.step_reasons import Channel
from app.contract.steps import CheckMailStep, StepResponse
from app.contract.verification import verification_pages
from app.hub import journey
from app.hub.components.sign_in_refusals import RefusalReason, sign_in_notice, too_many_notice
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.pages.registration import check_mail
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Page
from app.hub.web.services import api
from app.hub.web.visit import current_visit, interaction_url
from app.kit.operations.errors import ApiError


class CorrectedAddressForm(HubForm):
    """The corrected email address."""

    to = StringField(_l("Email"), [InputRequired(_l("Enter your email."))])
    refusals = {
        errors.MalformedEmail: ("to", _l("Enter a valid email address.")),
        errors.EmailRefused: ("to", _l("This email can’t be used here. Use another one.")),
        errors.EmailDomainRefused: ("to", _l("This email can’t be used here. Use another one.")),
        errors.MalformedPhone: ("to", _l("Start with + and the country code.")),
    }

    def to_request(self) -> verification_pages.ChangeAddressRequest:
        return verification_pages.ChangeAddressRequest(
            interaction_id=current_visit().interaction_id or "", to=self.to.data or ""
        )


class CorrectedNumberForm(CorrectedAddressForm):
    """The corrected phone number."""

    to = StringField(_l("Phone number"), [InputRequired(_l("Enter your phone number."))])


@dataclass(frozen=True)
class ChangeAddressPage(Page):
    """Asks for the corrected address or number."""

    template = "pages/registration/change_address.html"
    refusals = {errors.TooManyRequests: too_many_notice}

    form: CorrectedAddressForm
    sent_to: str
    is_text: bool = False

    @property
    def back(self) -> str:
        return interaction_url(check_mail.PATH)

    @property
    def attributes(self) -> dict[str, str]:
        """The field's HTML attributes for keyboards and password managers."""
        if self.is_text:
            return {"type": "tel", "autocomplete": "tel", "dir": "ltr"}
        return {"type": "email", "autocomplete": "email", "spellcheck": "false"}

    @classmethod
    def samples(cls) -> Mapping[str, ChangeAddressPage]:
        mail, number = "ada@exmaple.com", "+44 20 7946 0018"
        samples = {"fresh": cls(CorrectedAddressForm(data={"to": mail}), mail)}
        for name, kind in (
            ("no address", errors.MalformedEmail),
            ("refused", errors.EmailRefused),
        ):
            samples[name] = cls(_with_error(CorrectedAddressForm(data={"to": "ada@example"}), kind()), mail)
        samples["token"] = cls(CorrectedAddressForm(data={"to": mail}).with_token_error(), mail)
        samples["too many"] = cls(
            CorrectedAddressForm(data={"to": mail}), mail, page_notice=sign_in_notice(RefusalReason.TOO_MANY, 50)
        )
        samples["to a phone"] = cls(CorrectedNumberForm(data={"to": number}), number, True)
        samples["no number"] = cls(
            _with_error(CorrectedNumberForm(data={"to": "12"}), errors.MalformedPhone()), number, True
        )
        return samples


@pages.get(check_mail.CHANGE)
def show_change_address() -> Response:
    """Render the form with the present address, which usually has one wrong character."""
    response = journey.present_step()
    if (step := _changeable(response)) is None:
        return journey.follow(response)
    return _page(_form_class(step)(data={"to": step.sent_to}), step.sent_to).render()


@pages.post(check_mail.CHANGE)
def submit_change_address() -> Response:
    response = journey.present_step()
    if (step := _changeable(response)) is None:
        return journey.follow(response)
    form = _form_class(step)()
    if not form.validate():
        return _page(form, step.sent_to).render(form.error_status)
    try:
        return journey.follow(api()(verification_pages.change_address, form.to_request()))
    except errors.EmailUnverified:
        return journey.follow(response)
    except ApiError as refusal:
        return _refused(form, refusal)


def _changeable(response: StepResponse) -> CheckMailStep | None:
    """Return the step that waits for a registration of this browser; None for any other."""
    step = response.step
    return step if isinstance(step, CheckMailStep) and step.can_change else None


def _form_class(step: CheckMailStep) -> type[CorrectedAddressForm]:
    return CorrectedNumberForm if step.channel is Channel.SMS else CorrectedAddressForm


def _page(form: CorrectedAddressForm, sent_to: str) -> ChangeAddressPage:
    return ChangeAddressPage(form, sent_to, isinstance(form, CorrectedNumberForm))


def _refused(form: CorrectedAddressForm, refusal: ApiError) -> Response:
    """Render the form again with the error at its field."""
    return _page(form, SentTo.model_validate(refusal.data or {}).sent_to).render_refusal(refusal)


def _with_error(form: CorrectedAddressForm, refusal: ApiError) -> CorrectedAddressForm:
    form.add_refusal(refusal)
    return form
