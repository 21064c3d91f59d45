"""The second factor during a sign-in: verify it, choose another one, or enrol one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response
from wtforms import HiddenField, StringField

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages import second_factor_pages
from app.hub import journey
from app.hub.components.sign_in_refusals import REFUSALS, RefusalReason, sign_in_notice, wait_seconds
from app.hub.factors import duo, new_backup_codes
from app.hub.factors.factor_page import CHOOSE, FactorPage, choice_redirect_targets, fresh_form
from app.hub.factors.presentation import FactorForm
from app.hub.factors.registry import PRESENTATIONS, FactorChoiceRow, kind_of, ranked
from app.hub.forms import code
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import pages
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page, with_retry_after
from app.hub.tenants.branding import initials
from app.hub.web.errors import shown_for
from app.hub.web.responses import redirect_to
from app.hub.web.services import api, services
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

PATH: Final = "/second-factor"
_SAMPLE: Final = "ada@example.com"
ANSWERED: Final = f"{PATH}/answered"
_MAX_IN_SIGHT: Final = 5
"""How many rows a list to choose from shows; a longer one ends with the row that opens the rest."""


class FactorChoiceForm(HubForm):
    """The chosen factor, and the target of an enrolment code."""

    kind = HiddenField()
    target = StringField()

    def to_request(self) -> second_factor_pages.ChooseFactorRequest:
        kind = kind_of(self.kind.data) or FactorKind.TOTP
        target = (self.target.data or "").strip()[:320] or None
        return second_factor_pages.ChooseFactorRequest(
            interaction_id=current_visit().interaction_id or "", kind=kind, target=target
        )


@dataclass(frozen=True)
class ChooseFactorPage(Page):
    """Lists the factors to choose from."""

    template = "pages/sign_in/choose_factor.html"
    own_rules = ("method-groups",)

    form: FactorChoiceForm
    choices: tuple[FactorChoiceRow, ...]
    must_enrol: bool = False
    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def groups(self) -> tuple[tuple[FactorChoiceRow, ...], ...]:
        """The factors in sight, then those behind a disclosure, if there are more than people compare at a glance."""
        if len(self.choices) <= _MAX_IN_SIGHT:
            return (self.choices,)
        return (self.choices[: _MAX_IN_SIGHT - 1], self.choices[_MAX_IN_SIGHT - 1 :])

    @property
    def recommended(self) -> FactorChoiceRow | None:
        """The strongest factor, if there is a choice and none was used last."""
        first = self.choices[0] if len(self.choices) > 1 else None
        return first if first and first.is_strong and not first.is_last_used else None

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(*(choice.kind for choice in self.choices)))

    @classmethod
    def samples(cls) -> Mapping[str, ChooseFactorPage]:
        choices = ranked(FactorChoiceRow.of(kind) for kind in PRESENTATIONS)
        hints = {
            "passkey": "Touch ID on MacBook",
            "sms": "**********23",
            "email": _SAMPLE,
            "backup_code": "8",
        }
        last = FactorKind.PASSKEY
        own = ranked(
            FactorChoiceRow.of(kind, hints.get(kind.value), is_last_used=kind is last) for kind in PRESENTATIONS
        )
        return {
            "other ways": cls(FactorChoiceForm(), own, account=_SAMPLE),
            "to enrol one": cls(FactorChoiceForm(), choices, must_enrol=True, account=_SAMPLE),
            "not now": cls(FactorChoiceForm(), own, page_notice=_TOO_SOON, account=_SAMPLE),
        }


@dataclass(frozen=True)
class SecondFactorPage(FactorPage):
    """Verifies a factor, or enrols it by its first verification."""

    template = "pages/sign_in/second_factor.html"
    action = PATH
    query = {**Page.query, "kind": 24}

    has_alternatives: bool = False
    must_enrol: bool = False
    is_unfamiliar: bool = False
    trust_days: int = 0
    landing: str = ""
    """The page to return to after a reauthentication; empty during a sign-in."""
    account: str = ""
    """The label of the account."""

    @property
    def initials(self) -> str:
        return initials(self.account)

    @property
    def sign_in_again(self) -> str:
        """The address that reauthenticates by a new sign-in; empty during a sign-in."""
        return f"/confirm?{urlencode({'next': self.landing, 'anew': 1})}" if self.landing else ""

    @property
    def polling(self) -> str:
        interaction = current_visit().interaction
        query = {"attempt": interaction.id if interaction else "", "state": self.prompt.state or ""}
        return f"{ANSWERED}?{urlencode(query)}" if interaction else ""

    @classmethod
    def samples(cls) -> Mapping[str, SecondFactorPage]:
        samples: dict[str, SecondFactorPage] = {}
        for presentation in PRESENTATIONS.values():
            for state, prompt in presentation.samples.items():
                name, is_new = f"{presentation.kind.value}, {state}", not prompt.is_enrolled
                rest: dict[str, Any] = {
                    "has_alternatives": True,
                    "must_enrol": is_new,
                    "trust_days": 0 if is_new else 30,
                    "account": _SAMPLE,
                }
                samples[name] = cls(fresh_form(presentation), presentation, prompt, **rest)
                wrong = fresh_form(presentation)
                if wrong.wrong is not None and (prompt.sent_to or not presentation.needs_target):
                    wrong.add_error(wrong.error_field, wrong.wrong)
                    samples[f"{name}, wrong"] = cls(wrong, presentation, prompt, **rest)
        presentation = PRESENTATIONS[FactorKind.TOTP]
        samples["locked"] = cls(
            fresh_form(presentation), presentation, presentation.samples["enrolled"], trust_days=30, page_notice=_LOCKED
        )
        samples["on the account's pages"] = cls(
            fresh_form(presentation), presentation, presentation.samples["enrolled"], landing="/emails", account=_SAMPLE
        )
        mail = PRESENTATIONS[FactorKind.EMAIL]
        samples["from a new place"] = cls(
            fresh_form(mail), mail, mail.samples["sent"], is_unfamiliar=True, account=_SAMPLE
        )
        samples["alone"] = cls(
            fresh_form(presentation), presentation, presentation.samples["enrolled"], account="ada", trust_days=30
        )
        samples["token"] = cls(
            fresh_form(presentation).with_token_error(), presentation, presentation.samples["enrolled"]
        )
        return samples


@dataclass(frozen=True)
class SecondFactorLockedPage(Page):
    """The second factor is locked."""

    template = "pages/sign_in/second_factor_locked.html"

    wait_seconds: int = 0
    """Seconds until the lock ends; 0 if unknown."""

    @property
    def has_error(self) -> bool:
        return True

    @property
    def lock(self) -> Notice:
        """The lock of a sign-in, which counts wrong passwords and wrong codes together."""
        return sign_in_notice(RefusalReason.SUSPENDED, self.wait_seconds)

    @classmethod
    def samples(cls) -> Mapping[str, SecondFactorLockedPage]:
        return {"locked": cls(), "locked for a while": cls(840)}


_LOCKED: Final = Notice(_l("Too many attempts"), _l("Wait a while, then sign in again."))
_TOO_SOON: Final = Notice(_l("Code sent"), _l("You can resend it in 30 seconds."), "note")
_NOT_SENT: Final[dict[type[ApiError], Notice]] = {
    errors.TooManyRequests: _TOO_SOON,
    errors.MailLimitReached: code.ENOUGH_MAILS,
    **dict.fromkeys((errors.SmsLimitReached, errors.SharedSmsLimitReached), code.ENOUGH_TEXTS),
    errors.NoSmsConfiguration: code.NO_TEXTS,
}
_FAILED: Final = Notice(_l("Something went wrong"), _l("Try again, or try another way."))
_LOCK_ERRORS: Final = (
    errors.LockedDuringStep, errors.LockedForAWhile, errors.LockedForCaptcha, errors.LockedForSecurityQuestion,
)  # fmt: skip
_STOPPED: Final[dict[type[ApiError], Notice]] = {
    error: sign_in_notice(REFUSALS[error], 0)
    for error in (errors.AccountBlocked, errors.LoginDisabled, errors.TooManySessions)
}
"""Neither waiting nor another factor helps there."""


@pages.get(PATH)
def show_second_factor() -> Response:
    interaction = journey.require_interaction()
    requested = current_visit().query.get("kind")
    step = api()(
        second_factor_pages.read_factor,
        second_factor_pages.FactorRequest(interaction_id=interaction.id, kind=kind_of(requested)),
    )
    if step.view is None:
        return journey.follow(step.next) if step.next else journey.start_again()
    return _page(step.view, chooses=requested == CHOOSE).render()


@pages.post(PATH)
def submit_second_factor() -> Response:
    """Verify the factor, or choose another one."""
    visit = current_visit()
    interaction = journey.require_interaction()
    if visit.form.get("do") == CHOOSE:
        return _choose()
    kind = kind_of(visit.form.get("kind"))
    if kind is None or kind not in PRESENTATIONS:
        return redirect_to(address(interaction.id))
    form = PRESENTATIONS[kind].form()
    if not form.validate():
        return _render_invalid(form, kind)
    try:
        return new_backup_codes.follow(api()(second_factor_pages.verify_factor, form.to_answer(interaction.id)))
    except ApiError as refusal:
        return _refused(form, refusal)


@pages.get(ANSWERED)
def push_state() -> Response:
    """Return to the page's script whether the push request is still undecided."""
    interaction, state = current_visit().interaction, ""
    if interaction is not None:
        step = api()(
            second_factor_pages.read_factor,
            second_factor_pages.FactorRequest(interaction_id=interaction.id, kind=FactorKind.PUSH),
        )
        state = (step.view.shown.state if step.view and step.view.shown else None) or ""
    is_pending = state and state == current_visit().query.get("state")
    return Response("waits" if is_pending else "answered", mimetype="text/plain", headers={"Cache-Control": "no-store"})


@pages.get(f"{PATH}/duo")
def duo_callback() -> Response:
    """Handle the redirect back from Duo."""
    interaction = journey.require_interaction()
    try:
        return new_backup_codes.follow(api()(second_factor_pages.verify_factor, duo.callback_answer(interaction.id)))
    except ApiError as refusal:
        return _refused(fresh_form(PRESENTATIONS[FactorKind.DUO]), refusal)


def address(interaction_id: str, kind: str = "") -> str:
    """Return the address of the page for a factor."""
    return f"{PATH}?{urlencode({'attempt': interaction_id, **({'kind': kind} if kind else {})})}"


def _choose() -> Response:
    form, interaction = FactorChoiceForm(), journey.require_interaction()
    if not form.validate():
        return redirect_to(address(interaction.id, CHOOSE))
    choice = form.to_request()
    try:
        step = api()(second_factor_pages.choose_factor, choice)
    except ApiError as refusal:
        return _refused(
            fresh_form(PRESENTATIONS[choice.kind], choice.target) if choice.kind in PRESENTATIONS else None, refusal
        )
    if step.view is None:
        return journey.follow(step.next) if step.next else journey.start_again()
    prompt = step.view.shown
    if prompt and prompt.kind is FactorKind.DUO and prompt.address:
        return redirect_to(prompt.address)
    return redirect_to(address(interaction.id, prompt.kind.value if prompt else CHOOSE))


def _render_invalid(form: FactorForm, kind: FactorKind) -> Response:
    """Render the page after an incomplete form or an invalid form token."""
    step = api()(
        second_factor_pages.read_factor,
        second_factor_pages.FactorRequest(interaction_id=current_visit().interaction_id or "", kind=kind),
    )
    if step.view is None:
        return journey.follow(step.next) if step.next else journey.start_again()
    return _page(step.view, form).render(form.error_status)


def _refused(form: FactorForm | None, refusal: ApiError) -> Response:
    view = second_factor_pages.FactorRefusal.model_validate(refusal.data or {}).view
    seconds = wait_seconds(refusal, services().now())
    lock = sign_in_notice(RefusalReason.TOO_MANY, seconds) if seconds else _LOCKED
    if view is None:
        return with_retry_after(SecondFactorLockedPage(seconds).render(refusal.status), refusal)
    of_factor = form.notices if form is not None else {}
    notice = shown_for(refusal, {**_NOT_SENT, **_STOPPED, **of_factor, **dict.fromkeys(_LOCK_ERRORS, lock)})
    if notice is None and (form is None or not form.add_refusal(refusal)):
        notice = _FAILED
    return with_retry_after(replace(_page(view, form), page_notice=notice).render(refusal.status), refusal)


def _page(view: second_factor_pages.FactorView, form: FactorForm | None = None, *, chooses: bool = False) -> Page:
    presentation = PRESENTATIONS.get(view.shown.kind) if view.shown else None
    account = view.person.label if view.person else ""
    if presentation is None or view.shown is None or chooses:
        choices = ranked(
            FactorChoiceRow.of(item.kind, item.hint, is_last_used=item.is_last_used)
            for item in view.choices
            if item.kind in PRESENTATIONS
        )
        return ChooseFactorPage(FactorChoiceForm(formdata=None), choices, view.must_enrol, account)
    return SecondFactorPage(
        form or fresh_form(presentation), presentation, view.shown, len(view.choices) > 1, view.must_enrol, view.is_elsewhere,
        view.trust_days, view.landing, account,
    )  # fmt: skip
