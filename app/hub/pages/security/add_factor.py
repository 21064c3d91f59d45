"""Add a second factor, after a recent authentication or with the password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import urlencode

from flask import Response

from app.contract import errors
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages import account_factor_pages
from app.contract.second_factors.pages.second_factor_pages import FactorAnswer
from app.hub.account_pages import read_account, require_reauthentication
from app.hub.components.change_refusals import CHANGE_REFUSALS
from app.hub.factors import duo, new_backup_codes
from app.hub.factors.factor_page import (
    ACCOUNT_FACTORS,
    ADD_FACTOR,
    CHOOSE,
    ChosenForm,
    FactorPage,
    choice_redirect_targets,
    fresh_form,
)
from app.hub.factors.presentation import FactorForm
from app.hub.factors.registry import PRESENTATIONS, kind_of
from app.hub.forms.reauthentication import NEEDED, reauthentication_data
from app.hub.locale import lazy_gettext as _l
from app.hub.pages import account_page, pages
from app.hub.rendering.page import Notice, Page, with_retry_after
from app.hub.web.errors import shown_for
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.operations.errors import ApiError

_TOO_SOON = Notice(_l("Code sent"), _l("You can resend it in 30 seconds."), "note")
_REFUSALS: Final[dict[type[ApiError], Notice]] = {**CHANGE_REFUSALS, errors.TooManyRequests: _TOO_SOON}


@dataclass(frozen=True)
class AddFactorPage(FactorPage):
    """Enrols a factor, drawn as at sign-in."""

    template = "pages/security/add_factor.html"
    action = ADD_FACTOR
    query = {"kind": 24}

    trust_days: int = 0

    @classmethod
    def samples(cls) -> Mapping[str, AddFactorPage]:
        samples: dict[str, AddFactorPage] = {}
        for presentation in PRESENTATIONS.values():
            for state, prompt in presentation.samples.items():
                if not prompt.is_enrolled:
                    samples[f"{presentation.kind.value}, {state}"] = cls(fresh_form(presentation), presentation, prompt)
        first = next(iter(samples.values()))
        wrong = fresh_form(first.presentation)
        wrong.add_error(wrong.error_field, wrong.wrong)
        texted = samples[f"{FactorKind.SMS.value}, code to type"]
        return {**samples, "wrong": replace(first, form=wrong), "too soon": replace(texted, page_notice=_TOO_SOON)}


@dataclass(frozen=True)
class EnrolmentReauthenticationPage(Page):
    """Asks for the password first."""

    template = "pages/security/enrolment_reauthentication.html"
    scripts = (*Page.scripts, "reveal")
    query = {"kind": 24}

    form: ChosenForm
    name: Any

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(self.form.kind.data or ""))

    @classmethod
    def samples(cls) -> Mapping[str, EnrolmentReauthenticationPage]:
        common = {"account": "ada@example.com", "kind": "totp", "reauthentication": NEEDED}
        name = PRESENTATIONS[FactorKind.TOTP].name
        wrong = ChosenForm(data={**common, "password": "x"})
        wrong.add_refusal(errors.WrongCurrentPassword())
        return {
            "fresh": cls(ChosenForm(data=common), name),
            "wrong password": cls(wrong, name),
            "locked": cls(ChosenForm(data=common), name, page_notice=CHANGE_REFUSALS[errors.LockedForAWhile]),
        }


@account_page(ADD_FACTOR, parameter="kind")
def show_add_factor() -> Response:
    kind = kind_of(current_visit().query.get("kind"))
    if kind is None or kind not in PRESENTATIONS:
        return redirect_to(ACCOUNT_FACTORS)
    try:
        view = read_account(account_factor_pages.read_one, account_factor_pages.OwnFactorRequest(kind=kind))
    except ApiError:
        return redirect_to(ACCOUNT_FACTORS)  # not offered by the tenant
    if view.is_held:
        return redirect_to(ACCOUNT_FACTORS)
    require_reauthentication(view)
    return _page(view, kind).render()


@pages.post(ADD_FACTOR)
def submit_add_factor() -> Response:
    """Enrol by the first verification, or begin the enrolment."""
    visit = current_visit()
    kind = kind_of(visit.form.get("kind"))
    if kind is None or kind not in PRESENTATIONS:
        return redirect_to(ACCOUNT_FACTORS)
    if visit.form.get("do") == CHOOSE:
        return _begin(kind)
    form = PRESENTATIONS[kind].form()
    if not form.validate():
        return redirect_to(_address(kind)) if form.is_token_invalid else _render_invalid(kind, form)
    return _add(form, form.to_answer(""))


@account_page(f"{ACCOUNT_FACTORS}/duo", landing=ACCOUNT_FACTORS)
def duo_enrolment_callback() -> Response:
    """Handle the redirect back from Duo, which the account's owner started here."""
    return _add(fresh_form(PRESENTATIONS[FactorKind.DUO]), duo.callback_answer())


def _add(form: FactorForm, answer: FactorAnswer) -> Response:
    kind = answer.kind
    try:
        added = api()(account_factor_pages.add, answer)
    except errors.WrongCurrentPassword:
        return redirect_to(_address(kind))  # the authentication is too old by now: the page asks for the password
    except ApiError as refusal:
        return _refused(kind, form, refusal)
    if not added.wants_codes:
        return redirect_to(f"{ACCOUNT_FACTORS}?done=added")
    return new_backup_codes.show_new() or redirect_to(new_backup_codes.PATH)


def _begin(kind: FactorKind) -> Response:
    visit = current_visit()
    form = ChosenForm()
    if form.requires_password and form.password.name not in visit.form:
        return EnrolmentReauthenticationPage(
            ChosenForm(formdata=None, data=_initial_data(form, kind)), PRESENTATIONS[kind].name
        ).render()
    page = EnrolmentReauthenticationPage(form, PRESENTATIONS[kind].name)
    if not form.validate():
        return page.render(form.error_status) if form.requires_password else redirect_to(ACCOUNT_FACTORS)
    target = (form.target.data or "").strip()[:320] or None
    chosen = account_factor_pages.EnrolFactorRequest(kind=kind, target=target)
    try:
        enrolment = api(form.current_password)(account_factor_pages.begin, chosen)
    except errors.WrongCurrentPassword as refusal:
        form.add_refusal(refusal)
        return page.render(refusal.status)
    except ApiError as refusal:
        return _refused(kind, fresh_form(PRESENTATIONS[kind], target), refusal)
    return redirect_to(enrolment.address or _address(kind))


def _initial_data(form: ChosenForm, kind: FactorKind) -> dict[str, str]:
    provided = {name: (form[name].data or "")[:320] for name in ("reauthentication", "account", "target")}
    return {**provided, "kind": kind.value}


def _render_invalid(kind: FactorKind, form: FactorForm) -> Response:
    """Render the page after an incomplete form."""
    try:
        view = api()(account_factor_pages.read_one, account_factor_pages.OwnFactorRequest(kind=kind))
    except ApiError:
        return redirect_to(ACCOUNT_FACTORS)
    return _page(view, kind, form).render(form.error_status)


def _refused(kind: FactorKind, form: FactorForm, refusal: ApiError) -> Response:
    view = account_factor_pages.OwnFactorRefusal.model_validate(refusal.data or {}).view
    if view is None:
        return redirect_to(ACCOUNT_FACTORS)
    page = _page(view, kind, form)
    notice = None if form.add_refusal(refusal) else shown_for(refusal, {**_REFUSALS, **form.notices})
    return with_retry_after(replace(page, page_notice=notice).render(refusal.status), refusal)


def _page(view: account_factor_pages.OwnFactorView, kind: FactorKind, form: FactorForm | None = None) -> Page:
    presentation = PRESENTATIONS[kind]
    if view.shown is None:
        data = {"kind": kind.value, **reauthentication_data(view)}
        return EnrolmentReauthenticationPage(ChosenForm(formdata=None, data=data), presentation.name)
    return AddFactorPage(form or fresh_form(presentation), presentation, view.shown)


def _address(kind: FactorKind) -> str:
    return f"{ADD_FACTOR}?{urlencode({'kind': kind.value})}"
