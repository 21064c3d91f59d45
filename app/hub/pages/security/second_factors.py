"""The second factors of the account: list and remove."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from flask import Response
from wtforms import HiddenField

from app.contract import errors
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages import account_factor_pages
from app.hub.account_pages import require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.components.signed_in_account import read_factors
from app.hub.factors.factor_page import ACCOUNT_FACTORS, ChosenForm, choice_redirect_targets
from app.hub.factors.registry import PRESENTATIONS, FactorChoiceRow, is_weak, kind_of, ranked, strength
from app.hub.forms.reauthentication import NEEDED, ReauthenticationForm, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering import formatting
from app.hub.rendering.page import Notice, Page
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

REMOVE: Final = f"{ACCOUNT_FACTORS}/remove"
TURN_OFF: Final = f"{ACCOUNT_FACTORS}/off"


class Effect(StrEnum):
    """What remains after the removal."""

    OTHERS = "others"
    MUST_ENROL = "must_enrol"
    NOTHING = "nothing"


class RemoveFactorForm(ReauthenticationForm):
    """Confirms the removal."""

    kind = HiddenField()
    effect = HiddenField()

    def to_request(self) -> account_factor_pages.RemoveFactorRequest:
        kind = kind_of(self.kind.data) or FactorKind.TOTP
        return account_factor_pages.RemoveFactorRequest(kind=kind)


@dataclass(frozen=True)
class FactorRow:
    """An enrolled factor."""

    kind: str
    name: Any
    icon: str
    hint: str = ""
    """Which one it is: where its codes go, the name of the device."""
    since: str = ""
    used: str = ""
    """The day of the last use; the page shows it in place of `since`."""
    is_default: bool = False
    """Whether sign-in asks for this one of several first."""
    is_weak: bool = False
    """Whether a stronger kind is better: the page says so."""


@dataclass(frozen=True)
class FactorsPage(Page):
    """Lists the enrolled and the available factors."""

    template = "pages/security/second_factors.html"
    scripts = (*Page.scripts, "menu")
    own_rules = ("titled", "menu", "factors")
    query = {"done": 8}

    form: ChosenForm
    enrolled: tuple[FactorRow, ...]
    """The strongest first."""
    available: tuple[FactorChoiceRow, ...]
    backup_codes: int | None = None
    """How many are left; None if the tenant has no backup codes."""
    has_passkeys: bool = False
    """Whether sign-in accepts the account's passkeys as the second step, and asks for them first."""
    is_required: bool = False
    done: str = ""

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(*(choice.kind for choice in self.available)))

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @classmethod
    def samples(cls) -> Mapping[str, FactorsPage]:
        choices = ranked(FactorChoiceRow.of(presentation.kind) for presentation in _sample_presentations())
        one, enrolled = _rows(_sample_factors()[:1]), _rows(_sample_factors())
        visit = cls(ChosenForm(), _rows(_sample_factors()[:4]), (choices[2], choices[5]), 8)
        return {
            "some": visit,
            "all": replace(visit, enrolled=enrolled, available=(FactorChoiceRow.of(FactorKind.PASSKEY),)),
            "passkeys": replace(visit, enrolled=one, has_passkeys=True),
            "none": cls(ChosenForm(), (), choices, 0),
            "one more": replace(visit, enrolled=one, available=choices[1:], is_required=True),
            "no codes left": replace(visit, enrolled=one, backup_codes=0),
            "few codes left": replace(visit, enrolled=one, backup_codes=2),
            "no codes here": replace(visit, backup_codes=None, available=()),
            "token": replace(visit, form=ChosenForm().with_token_error()),
            **{f"just {done}": replace(visit, done=done) for done in _DONE},
            "just off": cls(ChosenForm(), (), choices, 0, done="off"),
        }


_DONE: Final = {
    "added": Notice(_l("Method added"), _l("You can use it when you sign in."), "ok"),
    "saved": Notice(
        _l("Two-step verification is on"), _l("Use a backup code when your other methods aren’t available."), "ok"
    ),
    "removed": Notice(_l("Method removed"), _l("We sent you an email about it."), "ok"),
    "off": Notice(_l("Two-step verification is off"), _l("We sent you an email about it."), "ok"),
}


@dataclass(frozen=True)
class RemoveFactorPage(Page):
    """Asks to confirm the removal."""

    template = "pages/security/remove_factor.html"
    scripts = (*Page.scripts, "reveal")
    query = {"kind": 24}
    refusals = CHANGE_REFUSALS

    form: RemoveFactorForm
    name: Any
    effect: Effect

    @classmethod
    def samples(cls) -> Mapping[str, RemoveFactorPage]:
        name, common = PRESENTATIONS[FactorKind.TOTP].name, {"account": "ada@example.com", "kind": "totp"}
        with_password = RemoveFactorForm(data=common)
        wrong = RemoveFactorForm(data={**common, "reauthentication": NEEDED, "password": "x"})
        with_password.add_refusal(errors.WrongCurrentPassword())
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            **{effect.value: cls(RemoveFactorForm(data=common), name, effect) for effect in Effect},
            "with the password": cls(with_password, name, Effect.OTHERS),
            "wrong password": cls(wrong, name, Effect.NOTHING),
            "locked": cls(wrong, name, Effect.NOTHING, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


_MUST_STAY: Final = Notice(
    _l("Your account requires two-step verification"), _l("It can’t be turned off. You can change its methods.")
)


@dataclass(frozen=True)
class TurnOffPage(Page):
    """Asks to confirm that every factor and the backup codes are removed."""

    template = "pages/security/turn_off_second_factors.html"
    required_blocks = frozenset({"lead"})
    scripts = (*Page.scripts, "reveal")
    refusals = {
        **CHANGE_REFUSALS,
        errors.FactorRemovalRefused: _MUST_STAY,
    }

    form: ReauthenticationForm

    @classmethod
    def samples(cls) -> Mapping[str, TurnOffPage]:
        account = {"account": "ada@example.com"}
        wrong = ReauthenticationForm(data={**account, "reauthentication": NEEDED, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(ReauthenticationForm(data=account)),
            "with the password": cls(ReauthenticationForm(data={**account, "reauthentication": NEEDED})),
            "wrong password": cls(wrong),
            "required": cls(ReauthenticationForm(data=account), page_notice=_MUST_STAY),
        }


@account_page(ACCOUNT_FACTORS)
def show_second_factors() -> Response:
    try:
        view = read_factors()
    except errors.TwoFactorOff:
        return redirect_to("/security")
    return _page(view).render()


@account_page(REMOVE, parameter="kind")
def show_remove_factor() -> Response:
    kind = kind_of(current_visit().query.get("kind"))
    try:
        view = read_factors()
    except errors.TwoFactorOff:
        return redirect_to("/security")
    if kind is None or kind not in PRESENTATIONS or kind not in {item.kind for item in view.enrolled}:
        return redirect_to(ACCOUNT_FACTORS)
    require_reauthentication(view)
    effect = _effect(view)
    form = RemoveFactorForm(data={"kind": kind.value, "effect": effect.value, **reauthentication_data(view)})
    return RemoveFactorPage(form, PRESENTATIONS[kind].name, effect).render()


@pages.post(REMOVE)
def submit_remove_factor() -> Response:
    form = RemoveFactorForm()
    kind = kind_of(form.kind.data)
    if kind is None or kind not in PRESENTATIONS:
        return redirect_to(ACCOUNT_FACTORS)
    effect = next((item for item in Effect if item.value == form.effect.data), Effect.NOTHING)
    page = RemoveFactorPage(form, PRESENTATIONS[kind].name, effect)
    if not form.validate():
        return page.render(form.error_status)
    try:
        api(form.current_password)(account_factor_pages.remove, form.to_request())
    except ApiError as refusal:
        return page.render_refusal(refusal)
    return redirect_to(f"{ACCOUNT_FACTORS}?done=removed")


@account_page(TURN_OFF)
def show_turn_off() -> Response:
    try:
        view = read_factors()
    except errors.TwoFactorOff:
        return redirect_to("/security")
    if view.is_required or not (view.enrolled or view.has_passkeys):
        return redirect_to(ACCOUNT_FACTORS)
    require_reauthentication(view)
    return TurnOffPage(ReauthenticationForm(formdata=None, data=reauthentication_data(view))).render()


@pages.post(TURN_OFF)
def submit_turn_off() -> Response:
    form = ReauthenticationForm()
    page = TurnOffPage(form)
    if not form.validate():
        return page.render(form.error_status)
    try:
        api(form.current_password)(account_factor_pages.turn_off, NoParameters())
    except ApiError as refusal:
        return page.render_refusal(refusal)
    return redirect_to(f"{ACCOUNT_FACTORS}?done=off")


def _page(view: account_factor_pages.FactorsView) -> FactorsPage:
    form = ChosenForm(formdata=None, data=reauthentication_data(view))
    available = tuple(item for item in view.offered if item.kind in PRESENTATIONS)
    return FactorsPage(
        form,
        _rows([item for item in view.enrolled if item.kind in PRESENTATIONS], has_passkeys=view.has_passkeys),
        ranked(FactorChoiceRow.of(item.kind, item.hint) for item in available),
        view.backup_codes,
        view.has_passkeys,
        view.is_required,
        current_visit().query.get("done", ""),
    )


def _rows(items: Sequence[account_factor_pages.EnrolledFactor], *, has_passkeys: bool = False) -> tuple[FactorRow, ...]:
    """Return the rows, the strongest first, of the factors in the order in which sign-in prefers them."""
    is_one_of_several = len(items) > 1 and not has_passkeys
    rows = [_enrolled_factor(item, is_default=is_one_of_several and item is items[0]) for item in items]
    return tuple(sorted(rows, key=lambda row: strength(row.kind)))


def _enrolled_factor(item: account_factor_pages.EnrolledFactor, *, is_default: bool) -> FactorRow:
    presentation, day, hint = PRESENTATIONS[item.kind], formatting.short_day, item.hint or ""
    since, used = day(item.since), day(item.used_at)
    return FactorRow(
        item.kind.value, presentation.name, presentation.icon, hint, since, used, is_default, is_weak(item.kind)
    )


def _effect(view: account_factor_pages.FactorsView) -> Effect:
    if len(view.enrolled) > 1:
        return Effect.OTHERS
    return Effect.MUST_ENROL if view.is_required else Effect.NOTHING


def _sample_factors() -> list[account_factor_pages.EnrolledFactor]:
    hints = {FactorKind.PUSH: "Pixel 9", FactorKind.SMS: "+44 20 7946 0018", FactorKind.EMAIL: "ada@example.com"}
    used = {FactorKind.TOTP: "2026-11-20T10:00:00+00:00", FactorKind.PUSH: "2026-11-14T10:00:00+00:00"}
    return [
        account_factor_pages.EnrolledFactor(
            kind=one.kind, hint=hints.get(one.kind), since="2026-11-12T10:00:00+00:00", used_at=used.get(one.kind)
        )
        for one in _sample_presentations()
    ]


def _sample_presentations() -> list[Any]:
    return [
        presentation
        for kind, presentation in PRESENTATIONS.items()
        if kind not in (FactorKind.BACKUP_CODE, FactorKind.PASSKEY)
    ]
