"""The second factors of an account: which there are, one more, one less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response, request
from flask_babel import lazy_gettext as _l
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub_own_factors as contract
from app.contract.second_factors.challenge import FactorKind
from app.hub import journey, oidc_client
from app.hub.factors.page import choice_redirect_targets
from app.hub.factors.registry import PRESENTATIONS
from app.hub.forms.account import (
    NEEDED,
    PasswordConfirmationForm,
    confirmation_data,
    refusal_notice,
    require_confirmation,
)
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.pages.second_factor import Way, kind_of
from app.hub.parts import formatting
from app.hub.services import api
from app.hub.visit import current_visit
from app.kit.errors import ApiError

ADDRESS: Final = "/second-factors"
ADD: Final = f"{ADDRESS}/add"
REMOVE: Final = f"{ADDRESS}/remove"


class Effect(StrEnum):
    """What a removal leaves."""

    OTHERS = "others"
    MUST_ENROL = "must_enrol"
    NOTHING = "nothing"


class ChosenForm(PasswordConfirmationForm):
    """Which one, and where its codes are to go."""

    kind = HiddenField()
    target = HiddenField()


class RemoveForm(PasswordConfirmationForm):
    """Says yes."""

    kind = HiddenField()
    effect = HiddenField()

    def to_request(self) -> contract.FactorNamed:
        kind = kind_of(self.kind.data) or FactorKind.TOTP
        return contract.FactorNamed(kind=kind, password=self.proof)


@dataclass(frozen=True)
class Held:
    """One that the account has."""

    kind: str
    name: Any
    icon: str
    hint: str = ""
    since: str = ""
    used: str = ""


@dataclass(frozen=True)
class FactorsPage(Page):
    """Which there are, and which there could be."""

    template = "pages/second_factors.html"
    query = {"done": 8}

    form: ChosenForm
    held: tuple[Held, ...]
    offered: tuple[Way, ...]
    backup_codes: int | None = None
    """How many are left; None where the tenant has none."""
    is_required: bool = False
    done: str = ""

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(*(way.kind for way in self.offered)))

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @classmethod
    def samples(cls) -> Mapping[str, FactorsPage]:
        ways = tuple(
            Way(presentation.kind.value, presentation.name, presentation.hint, presentation.icon)
            for presentation in _faces()
        )
        day = formatting.format_day("2026-11-12T10:00:00+00:00")
        held = tuple(Held(way.kind, way.name, way.icon, since=day, used=day) for way in ways)
        visit = cls(ChosenForm(), held, (), 8)
        return {
            "all": visit,
            "none": cls(ChosenForm(), (), ways, 0),
            "one more": replace(visit, held=held[:1], offered=ways[1:], is_required=True),
            "no codes left": replace(visit, held=held[:1], backup_codes=0),
            "no codes here": replace(visit, backup_codes=None),
            "token": replace(visit, form=ChosenForm().with_token_error()),
            **{f"just {done}": replace(visit, done=done) for done in _DONE},
        }


_DONE: Final = {
    "added": Notice(_l("It is set up"), _l("From now on we ask for it when you sign in."), "ok"),
    "removed": Notice(_l("It is removed"), _l("We told you by mail, too."), "ok"),
}


@dataclass(frozen=True)
class RemoveFactorPage(Page):
    """Do you mean it?"""

    template = "pages/remove_factor.html"
    scripts = (*Page.scripts, "reveal")
    query = {"kind": 24}

    form: RemoveForm
    name: Any
    effect: Effect
    problem: Notice | None = None

    @classmethod
    def samples(cls) -> Mapping[str, RemoveFactorPage]:
        name, given = PRESENTATIONS[FactorKind.TOTP].name, {"account": "ada@example.com", "kind": "totp"}
        asked, wrong = RemoveForm(data=given), RemoveForm(data={**given, "asks": NEEDED, "password": "x"})
        asked.add_refusal(e.WrongCurrentPassword())
        wrong.add_refusal(e.WrongCurrentPassword())
        return {
            **{effect.value: cls(RemoveForm(data=given), name, effect) for effect in Effect},
            "with the password": cls(asked, name, Effect.OTHERS),
            "wrong password": cls(wrong, name, Effect.NOTHING),
            "locked": cls(wrong, name, Effect.NOTHING, refusal_notice(e.LockedForAWhile())),
        }


@pages.get(ADDRESS)
def show_second_factors() -> Response:
    try:
        known = read_own_factors()
    except e.TwoFactorOff:
        return journey.redirect_to("/security")
    return _page(known).render() if known is not None else oidc_client.start_login(ADDRESS)


@pages.get(REMOVE)
def show_remove_factor() -> Response:
    kind = kind_of(request.args.get("kind"))
    try:
        known = read_own_factors()
    except e.TwoFactorOff:
        return journey.redirect_to("/security")
    if known is None:
        return oidc_client.start_login(ADDRESS)
    if kind is None or kind not in PRESENTATIONS or kind not in {one.kind for one in known.held}:
        return journey.redirect_to(ADDRESS)
    landing = f"{REMOVE}?{urlencode({'kind': kind.value})}"
    if (first := require_confirmation(known, landing)) is not None:
        return first
    effect = _effect(known)
    form = RemoveForm(data={"kind": kind.value, "effect": effect.value, **confirmation_data(known)})
    return RemoveFactorPage(form, PRESENTATIONS[kind].name, effect).render()


@pages.post(REMOVE)
def submit_remove_factor() -> Response:
    form = RemoveForm()
    kind = kind_of(form.kind.data)
    if kind is None or kind not in PRESENTATIONS:
        return journey.redirect_to(ADDRESS)
    effect = next((one for one in Effect if one.value == form.effect.data), Effect.NOTHING)
    page = RemoveFactorPage(form, PRESENTATIONS[kind].name, effect)
    if not form.validate():
        return page.render(form.error_status)
    try:
        current_visit().renew(api()(contract.remove, form.to_request()).session)
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    except ApiError as refusal:
        problem = None if form.add_refusal(refusal) else refusal_notice(refusal)
        return replace(page, problem=problem).render(refusal.status)
    return journey.redirect_to(f"{ADDRESS}?done=removed")


def read_own_factors() -> contract.FactorsView | None:
    """Return the signed-in person's second factors; None where nobody is signed in. Raises TwoFactorOff."""
    if not current_visit().session:
        return None
    try:
        known = api()(contract.read, contract.OwnFactorsRead())
    except e.NotAuthenticated:
        return None
    current_visit().use_account_language(known.person)
    return known


def _page(known: contract.FactorsView) -> FactorsPage:
    form = ChosenForm(formdata=None, data=confirmation_data(known))
    offered = tuple(one for one in known.offered if one.kind in PRESENTATIONS)
    ways = ((PRESENTATIONS[one.kind], one.hint) for one in offered)
    return FactorsPage(
        form,
        tuple(_held(one) for one in known.held if one.kind in PRESENTATIONS),
        tuple(
            Way(presentation.kind.value, presentation.name, hint or presentation.hint, presentation.icon)
            for presentation, hint in ways
        ),
        known.backup_codes,
        known.is_required,
        request.args.get("done", ""),
    )


def _held(one: contract.FactorHeld) -> Held:
    presentation, day = PRESENTATIONS[one.kind], formatting.format_day
    return Held(one.kind.value, presentation.name, presentation.icon, one.hint or "", day(one.since), day(one.used_at))


def _effect(known: contract.FactorsView) -> Effect:
    if len(known.held) > 1:
        return Effect.OTHERS
    return Effect.MUST_ENROL if known.is_required else Effect.NOTHING


def _faces() -> list[Any]:
    return [
        presentation
        for kind, presentation in PRESENTATIONS.items()
        if kind not in (FactorKind.BACKUP_CODE, FactorKind.PASSKEY)
    ]
