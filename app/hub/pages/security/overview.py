"""The security page: credentials, sessions, trusted browsers, applications with access."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from flask import Response
from flask_babel import format_timedelta
from wtforms import HiddenField

from app.contract import errors
from app.contract.accounts.pages import security_pages
from app.contract.accounts.pages.security_pages import FEW_CODES, CheckupStep, Improvement
from app.contract.page_models import NoParameters
from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.account_factor_pages import FactorsView
from app.contract.sessions.pages import sign_out_pages
from app.contract.steps import ProfileStep
from app.hub import journey
from app.hub.account_pages import read_account
from app.hub.client.identity_client import SignInRequired
from app.hub.factors.registry import PRESENTATIONS, FactorChoiceRow
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.pages import account_page, pages
from app.hub.rendering import formatting
from app.hub.rendering.form import HubForm
from app.hub.rendering.page import Notice, Page
from app.hub.tenants.tenant import IdentifierKind
from app.hub.web.responses import redirect_to
from app.hub.web.services import api
from app.hub.web.visit import current_visit
from app.kit.web.proxies import read_ip

PATH: Final = "/security"
FORGET: Final = "forget"
_FACTORS: Final = "/second-factors"


class EndSessionForm(HubForm):
    """Ends one session; with `everywhere`, all other sessions."""

    session_id = HiddenField()
    everywhere = HiddenField()

    def to_request(self) -> sign_out_pages.EndSessionRequest:
        if self.everywhere.data:
            return sign_out_pages.EndSessionRequest(others=True)
        return sign_out_pages.EndSessionRequest(id=self.session_id.data or "")


class RevokeTrustForm(HubForm):
    """Revokes the trust of one browser; with `every`, of all browsers."""

    browser_id = HiddenField()
    every = HiddenField()

    def to_request(self) -> security_pages.ForgetBrowserRequest:
        return security_pages.ForgetBrowserRequest(id=(self.browser_id.data or "")[:64], every=bool(self.every.data))


@dataclass(frozen=True)
class CredentialRow:
    """A credential, with its state and the page that manages it."""

    name: Any
    hint: Any
    icon: str
    address: str
    tag: Any = ""
    """Its state in a word."""
    tone: str = ""
    """Of the tag: ok, warn or none."""


@dataclass(frozen=True)
class Task:
    """A protection that the tenant offers: one that the account has, or what would add it."""

    name: Any
    reason: Any = ""
    action: Any = ""
    """The text of the button; empty if the task is done, or not possible yet."""
    address: str = ""
    is_done: bool = False


@dataclass(frozen=True)
class Checkup:
    """Every protection that the tenant offers, the most urgent first, done ones last."""

    tasks: tuple[Task, ...] = ()

    @property
    def done(self) -> int:
        return sum(task.is_done for task in self.tasks)

    @property
    def next(self) -> Task | None:
        """The task with the page's filled button."""
        return next((task for task in self.tasks if not task.is_done), None)


@dataclass(frozen=True)
class Browser:
    """A browser with a session, or a trusted one."""

    id: str
    name: Any
    """Such as "Firefox on Windows", or the user agent's own name."""
    place: Any = ""
    """City and country, or that it is the network address."""
    when: Any = ""
    """Localised text."""
    is_current: bool = False
    is_handheld: bool = False
    is_application: bool = False


@dataclass(frozen=True)
class SecurityPage(Page):
    """Lists credentials, sessions, trusted browsers and applications."""

    template = "pages/security/overview.html"
    own_rules = ("checkup",)
    query = {"done": 12}

    form: HubForm
    credentials: tuple[CredentialRow, ...]
    sessions: tuple[Browser, ...]
    second_steps: tuple[CredentialRow, ...] = ()
    browsers: tuple[Browser, ...] = ()
    checkup: Checkup = Checkup()
    done: str = ""
    """The result of the last post: a key of `_DONE`."""

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @property
    def has_others(self) -> bool:
        return len(self.sessions) > 1

    @classmethod
    def samples(cls) -> Mapping[str, SecurityPage]:
        named = (("Firefox", "Linux"), ("Safari", "iPhone"), ("Chrome", "Windows"))
        firefox, safari, chrome = (formatting.browser_label(*browser) for browser in named)
        day = formatting.short_day("2026-11-12T10:00:00+00:00")
        ago = format_timedelta(timedelta(days=-3), add_direction=True)
        visit = Browser("s1", firefox, "Berlin, Germany", _l("now"), is_current=True)
        visits = (
            visit,
            Browser("s2", safari, "Hamburg, Germany", ago, is_handheld=True),
            Browser("s3", chrome, "Munich, Germany", ago),
            Browser("s4", "Acme Desk", _place("203.0.113.77"), ago, is_application=True),
        )
        password = CredentialRow(_l("Password"), _changed_on(day), "lock", "/change-password")
        bare = cls(EndSessionForm(), (password,), (visit,))
        credentials = (
            password,
            _passkeys_row(["MacBook", "YubiKey 5"]),
            CredentialRow(_l("Connected accounts"), _identity_count(2), "globe", "/identities"),
            CredentialRow(_l("PIN"), _SET, "pin", "/pin"),
            CredentialRow(_l("Phone number"), "+44 20 7946 0018", "phone", "/phone"),
            CredentialRow(_l("Security questions"), _answer_count(2), "question", "/security-questions"),
        )
        until = _until_day(formatting.short_day("2027-01-11T10:00:00+00:00"))
        edge, android = (formatting.browser_label(*browser) for browser in (("Edge", "Windows"), ("Chrome", "Android")))
        trusted = Browser("b1", edge, when=until), Browser("b2", android, "", until, is_handheld=True)
        return {
            "full": cls(EndSessionForm(), credentials, visits, _sample_steps(8), trusted, _sample_checkup(8)),
            "one thing to do": cls(
                EndSessionForm(), credentials, visits, _sample_steps(2), trusted, _sample_checkup(2)
            ),
            "this one alone": bare,
            "without a password": replace(
                bare,
                credentials=(replace(password, hint=_NOT_SET),),
                second_steps=_sample_steps(),
                checkup=_sample_checkup(),
            ),
            "token": replace(bare, form=EndSessionForm().with_token_error()),
            **{f"after {done}": replace(bare, done=done) for done in _DONE},
        }


_SET: Final = _l("Set")
_NOT_SET: Final = _l("Not set")
_OFF: Final = _l("Off")
_ON: Final = _l("On")
_TASKS: Final = {
    Improvement.TWO_STEP: Task(
        _l("Turn on two-step verification"),
        _l("A stolen password alone won’t be enough to sign in."),
        _l("Turn on"),
        _FACTORS,
    ),
    Improvement.BACKUP_CODES: Task(
        _l("Save backup codes"), _l("You’ll get them when you turn on two-step verification.")
    ),
    Improvement.PASSKEY: Task(
        _l("Create a passkey"),
        _l("Sign in with your fingerprint, face or screen lock."),
        _l("Create passkey"),
        "/passkeys/add",
    ),
}
_DONE_TASKS: Final = {
    Improvement.TWO_STEP: Task(_l("Two-step verification on"), is_done=True),
    Improvement.BACKUP_CODES: Task(_l("Backup codes saved"), is_done=True),
    Improvement.PASSKEY: Task(_l("Passkey created"), is_done=True),
}
_DONE: Final = {
    "ended": Notice(_l("Signed out"), _l("You’ll need to sign in there again."), "ok"),
    "saved": Notice(_l("Saved"), tone="ok"),
    "password": Notice(_l("Password changed"), _l("You’re signed out everywhere else."), "ok"),
    "password-set": Notice(_l("Password set"), _l("You can now sign in with it."), "ok"),
    "forgotten": Notice(
        _l("Trusted devices updated"), _l("We’ll ask for a verification code the next time you sign in there."), "ok"
    ),
}


@account_page(PATH)
def show_security() -> Response:
    return _render(EndSessionForm(formdata=None), done=current_visit().query.get("done", ""))


@pages.post(PATH)
def submit_security() -> Response:
    """End sessions, or revoke trusted browsers."""
    form: EndSessionForm | RevokeTrustForm = (
        RevokeTrustForm() if current_visit().form.get("do") == FORGET else EndSessionForm()
    )
    if not form.validate():
        return _render(form, status=form.error_status)
    return _revoke_trust(form) if isinstance(form, RevokeTrustForm) else _end_sessions(form)


def _end_sessions(form: EndSessionForm) -> Response:
    """End the sessions; ending the current one signs out."""
    try:
        response = api()(sign_out_pages.end_session, form.to_request())
    except (SignInRequired, errors.SessionExpired):
        return redirect_to(PATH)  # already gone: the list shows it
    return redirect_to(f"{PATH}?done=ended") if isinstance(response.step, ProfileStep) else journey.follow(response)


def _revoke_trust(form: RevokeTrustForm) -> Response:
    api()(security_pages.forget_browsers, form.to_request())
    return redirect_to(f"{PATH}?done=forgotten")


def _render(form: HubForm, status: int = 200, done: str = "") -> Response:
    overview = read_security()
    factors = overview.factors
    codes = factors.backup_codes if factors is not None and factors.enrolled else None
    rows, trusted = map(_session_row, overview.sessions), map(_trusted_row, overview.browsers)
    return SecurityPage(
        form,
        tuple(_credential_rows(overview)),
        tuple(rows),
        tuple(_second_step_rows(factors)),
        tuple(trusted),
        _checkup(overview.checkup, codes),
        done,
    ).render(status)


def read_security() -> security_pages.SecurityView:
    """Return the account's security overview. Raises SignInRequired."""
    return read_account(security_pages.read, NoParameters())


def _credential_rows(overview: security_pages.SecurityView) -> Iterable[CredentialRow]:
    tenant = current_visit().tenant
    changed = formatting.short_day(overview.password_changed_at)
    hint = (_changed_on(changed) if changed else _SET) if overview.has_password else _NOT_SET
    yield CredentialRow(_l("Password"), hint, "lock", "/change-password")
    if tenant.passkeys:
        yield _passkeys_row(overview.passkeys or [])
    if overview.identities is not None:
        yield CredentialRow(_l("Connected accounts"), _identity_count(overview.identities), "globe", "/identities")
    if tenant.pin.is_on:
        yield CredentialRow(_l("PIN"), _SET if overview.has_pin else _NOT_SET, "pin", "/pin")
    if IdentifierKind.PHONE in tenant.identifiers:
        yield CredentialRow(_l("Phone number"), overview.phone or _NOT_SET, "phone", "/phone")
    if tenant.every_question:
        yield CredentialRow(
            _l("Security questions"), _answer_count(overview.answered), "question", "/security-questions"
        )


def _second_step_rows(factors: FactorsView | None) -> Iterable[CredentialRow]:
    """Yield the second factors of the account, its backup codes, and what else the tenant offers; none if they are off."""
    if factors is None:
        return
    for factor in factors.enrolled:
        if factor.kind in PRESENTATIONS:
            row = FactorChoiceRow.of(factor.kind, factor.hint)
            yield CredentialRow(row.name, row.hint, row.icon, _FACTORS, _ON, "ok")
    if factors.enrolled and factors.backup_codes is not None:
        yield _codes_row(factors.backup_codes)
    offered = " · ".join(str(PRESENTATIONS[item.kind].name) for item in factors.offered if item.kind in PRESENTATIONS)
    if offered and factors.enrolled:
        yield CredentialRow(_l("Add another method"), offered, "plus", _FACTORS)
    elif offered:
        yield CredentialRow(_l("Choose a method"), offered, "shield", _FACTORS, _OFF)


def _sample_steps(codes: int | None = None) -> tuple[CredentialRow, ...]:
    """Return the rows of an authenticator app and so many backup codes; None: those of an account without a second factor."""
    totp, text = PRESENTATIONS[FactorKind.TOTP], PRESENTATIONS[FactorKind.SMS]
    if codes is None:
        return (CredentialRow(_l("Choose a method"), f"{totp.name} · {text.name}", "shield", _FACTORS, _OFF),)
    enrolled = CredentialRow(totp.name, totp.hint, totp.icon, _FACTORS, _ON, "ok")
    return enrolled, _codes_row(codes), CredentialRow(_l("Add another method"), text.name, "plus", _FACTORS)


def _codes_row(count: int) -> CredentialRow:
    return CredentialRow(_l("Backup codes"), _n("%(num)d left", "%(num)d left", count), "list", _FACTORS)


def _checkup(steps: Iterable[CheckupStep], codes: int | None) -> Checkup:
    """Return the check-up; `codes` are left of an account with a second factor, None is an account without one."""
    open_tasks = _TASKS if codes is None else {**_TASKS, Improvement.BACKUP_CODES: _few_codes(codes)}
    open_first = sorted(steps, key=lambda step: step.is_done)
    return Checkup(tuple((_DONE_TASKS if step.is_done else open_tasks)[step.improvement] for step in open_first))


def _sample_checkup(codes: int | None = None) -> Checkup:
    """Return the check-up of an account with a passkey and so many backup codes; None: that of an account with nothing."""
    done = dict.fromkeys(Improvement, codes is not None) | {Improvement.BACKUP_CODES: (codes or 0) > FEW_CODES}
    return _checkup([CheckupStep(improvement=item, is_done=is_done) for item, is_done in done.items()], codes)


def _few_codes(count: int) -> Task:
    name = _n("Only %(num)s backup code left", "Only %(num)s backup codes left", count)
    return Task(
        name if count else _l("No backup codes left"),
        _l("Without them, you could get locked out if you lose your device."),
        _l("Create codes"),
        "/backup-codes",
    )


def _changed_on(day: str) -> Any:
    return _l("Changed %(day)s", day=day)


def _passkeys_row(names: list[str]) -> CredentialRow:
    """Return the row that names every passkey."""
    return CredentialRow(_l("Passkeys"), " · ".join(names) or _l("None yet"), "passkey", "/passkeys")


def _identity_count(count: int) -> Any:
    return _n("%(num)s account", "%(num)s accounts", count) if count else _l("None yet")


def _answer_count(count: int) -> Any:
    return _n("%(num)s answer", "%(num)s answers", count) if count else _NOT_SET


def _until_day(day: str) -> Any:
    return _l("Until %(day)s", day=day)


def _session_row(view: sign_out_pages.SessionView) -> Browser:
    return Browser(
        id=view.id,
        name=view.application or formatting.browser_label(view.browser, view.os),
        place=_place(view.address or ""),
        when=_l("now") if view.is_current else formatting.time_ago(view.last_seen_at),
        is_current=view.is_current,
        is_handheld=_is_handheld(view.device_type),
        is_application=bool(view.application),
    )


def _place(address: str) -> Any:
    """Return where a session is: the place as it comes, or that there is but a network address."""
    return _l("IP address %(address)s", address=address) if read_ip(address) else address


def _trusted_row(view: security_pages.BrowserView) -> Browser:
    name, until = formatting.browser_label(view.browser, view.os), _until_day(formatting.short_day(view.ends_at))
    return Browser(view.id, name, when=until, is_handheld=_is_handheld(view.device_type))


def _is_handheld(device: str | None) -> bool:
    return device in ("phone", "tablet")
