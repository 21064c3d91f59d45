"""Security: what opens the account, where it is signed in, and who else may read it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response, request
from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n
from wtforms import HiddenField

from app.contract import errors as e
from app.contract import hub as sessions
from app.contract import hub_security as contract
from app.contract.hub import Step
from app.contract.hub_own_factors import FactorsView
from app.hub import journey, oidc_client
from app.hub.factors.registry import PRESENTATIONS
from app.hub.forms.base import HubForm
from app.hub.page import Notice, Page
from app.hub.pages import pages
from app.hub.parts import formatting
from app.hub.services import api
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit

ADDRESS: Final = "/security"
FORGET: Final = "forget"


class EndSessionForm(HubForm):
    """Ends one session, or with `everywhere` all but this one."""

    session_id = HiddenField()
    everywhere = HiddenField()

    def to_request(self) -> sessions.EndSessionRequest:
        if self.everywhere.data:
            return sessions.EndSessionRequest(others=True)
        return sessions.EndSessionRequest(id=self.session_id.data or "")


class ForgetForm(HubForm):
    """Asks a browser for a second factor again, or with `every` all of them."""

    browser_id = HiddenField()
    every = HiddenField()

    def to_request(self) -> contract.BrowserNamed:
        return contract.BrowserNamed(id=(self.browser_id.data or "")[:64], every=bool(self.every.data))


@dataclass(frozen=True)
class Row:
    """Something that opens the account, or that may read it, and the page for it."""

    name: Any
    hint: Any
    icon: str
    address: str


@dataclass(frozen=True)
class Browser:
    """A browser in which the account is signed in, or which is trusted."""

    id: str
    name: Any
    """"Firefox on Windows", or what the browser calls itself."""
    place: str = ""
    """City and country, or the network address."""
    when: Any = ""
    """In words."""
    is_current: bool = False
    is_handheld: bool = False


@dataclass(frozen=True)
class SecurityPage(Page):
    """Everything on one page, each with a way to change or end it."""

    template = "pages/security.html"
    query = {"done": 12}

    form: HubForm
    ways: tuple[Row, ...]
    sessions: tuple[Browser, ...]
    browsers: tuple[Browser, ...] = ()
    applications: int = 0
    done: str = ""
    """What the last click did."""

    @property
    def notice(self) -> Notice | None:
        return super().notice or _DONE.get(self.done)

    @property
    def has_others(self) -> bool:
        return len(self.sessions) > 1

    @property
    def readers(self) -> Any:
        """How many applications may act for the account, in words."""
        return (
            _n("%(num)s application", "%(num)s applications", self.applications)
            if self.applications
            else _l("None has access")
        )

    @classmethod
    def samples(cls) -> Mapping[str, SecurityPage]:
        firefox, safari, chrome = (
            formatting.browser_label(*one)
            for one in (("Firefox", "Linux"), ("Safari", "iPhone"), ("Chrome", "Windows"))
        )
        day = formatting.format_day("2026-11-12T10:00:00+00:00")
        visit = Browser("s1", firefox, "Berlin, Germany", _l("now"), is_current=True)
        others = (
            Browser("s2", safari, "Hamburg, Germany", day, is_handheld=True),
            Browser("s3", chrome, "203.0.113.77", day),
            Browser("s4", "Acme Desk", "203.0.113.77", day),
        )
        password = Row(_l("Password"), _changed(day), "lock", "/change-password")
        bare = cls(EndSessionForm(), (password,), (visit,))
        ways = (
            password,
            Row(_l("Passkeys"), _keys(2), "key", "/passkeys"),
            Row(_l("Connected accounts"), _connected(2), "link", "/identities"),
            Row(_l("Second step"), _l("Authenticator app") + " · " + _left(8), "shield", "/second-factors"),
            Row(_l("PIN"), _l("Set"), "lock", "/pin"),
            Row(_l("Phone number"), "+44 20 7946 0018", "phone", "/phone"),
            Row(_l("Security questions"), _answered(2), "note", "/security-questions"),
        )
        trusted = (Browser("b1", firefox, when=_until(day)), Browser("b2", safari, when=_until(day), is_handheld=True))
        return {
            "full": cls(EndSessionForm(), ways, (visit, *others), trusted, 3),
            "this one alone": bare,
            "without a password": replace(
                bare, ways=(replace(password, hint=_NO_PASSWORD), replace(ways[3], hint=_OFF))
            ),
            "token": replace(bare, form=EndSessionForm().with_token_error()),
            **{f"after {done}": replace(bare, done=done) for done in _DONE},
        }


_NO_PASSWORD: Final = _l("There is none: you sign in without")
_OFF: Final = _l("Off: one step alone opens your account")
_DONE: Final = {
    "ended": Notice(_l("Signed out there"), _l("To come back, one has to sign in again."), "ok"),
    "saved": Notice(_l("Saved"), tone="ok"),
    "password": Notice(_l("Your password is changed"), _l("Everywhere else you are signed out."), "ok"),
    "password-set": Notice(_l("Your password is set"), _l("From now on you can sign in with it."), "ok"),
    "forgotten": Notice(_l("That browser is asked again"), _l("At its next sign-in, for the second step."), "ok"),
}


@pages.get(ADDRESS)
def show_security() -> Response:
    return _shown(EndSessionForm(formdata=None), done=request.args.get("done", ""))


@pages.post(ADDRESS)
def submit_security() -> Response:
    """End sessions, or ask trusted browsers again."""
    form: EndSessionForm | ForgetForm = ForgetForm() if request.form.get("do") == FORGET else EndSessionForm()
    if not form.validate():
        return _shown(form, status=form.error_status)
    return _forgotten(form) if isinstance(form, ForgetForm) else _ended(form)


def _ended(form: EndSessionForm) -> Response:
    """Ending the present session is signing out."""
    try:
        step = api()(sessions.end_session, form.to_request())
    except (e.NotAuthenticated, e.SessionExpired):
        return journey.redirect_to(ADDRESS)  # gone already: the list without it is the answer
    return journey.redirect_to(f"{ADDRESS}?done=ended") if step.step is Step.PROFILE else journey.follow(step)


def _forgotten(form: ForgetForm) -> Response:
    try:
        api()(contract.forget_browsers, form.to_request())
    except e.NotAuthenticated:
        return oidc_client.start_login(ADDRESS)
    return journey.redirect_to(f"{ADDRESS}?done=forgotten")


def _shown(form: HubForm, status: int = 200, done: str = "") -> Response:
    known = read_own_security()
    if known is None:
        return oidc_client.start_login(ADDRESS)
    rows, trusted = map(_session, known.sessions), map(_trusted, known.browsers)
    return SecurityPage(
        form, tuple(_ways(known)), tuple(rows), tuple(trusted), known.applications, done
    ).render(status)  # fmt: skip


def read_own_security() -> contract.SecurityView | None:
    """Return what opens the signed-in person's account; None where nobody is signed in."""
    if not current_visit().session:
        return None
    try:
        known = api()(contract.read, contract.OwnRead())
    except e.NotAuthenticated:
        return None
    current_visit().use_account_language(known.person)
    return known


def _ways(known: contract.SecurityView) -> Iterable[Row]:
    tenant = current_visit().tenant
    changed = formatting.format_day(known.password_changed_at)
    hint = (_changed(changed) if changed else _l("Set")) if known.has_password else _NO_PASSWORD
    yield Row(_l("Password"), hint, "lock", "/change-password")
    if tenant.passkeys:
        yield Row(_l("Passkeys"), _keys(known.passkeys or 0), "key", "/passkeys")
    if known.identities is not None:
        yield Row(_l("Connected accounts"), _connected(known.identities), "link", "/identities")
    if known.factors is not None and (known.factors.held or known.factors.offered):
        yield Row(_l("Second step"), _steps(known.factors), "shield", "/second-factors")
    if tenant.pin.is_on:
        yield Row(_l("PIN"), _l("Set") if known.has_pin else _l("None yet"), "lock", "/pin")
    if Identifier.PHONE in tenant.identifiers:
        yield Row(_l("Phone number"), known.phone or _l("None yet"), "phone", "/phone")
    if tenant.every_question:
        yield Row(_l("Security questions"), _answered(known.answered), "note", "/security-questions")


def _steps(factors: FactorsView) -> Any:
    held = [PRESENTATIONS[one.kind].name for one in factors.held if one.kind in PRESENTATIONS]
    if not held:
        return _OFF
    return " · ".join(
        str(part) for part in (*held, *([_left(factors.backup_codes)] if factors.backup_codes is not None else []))
    )


def _changed(day: str) -> Any:
    return _l("Changed on %(day)s", day=day)


def _keys(count: int) -> Any:
    return _n("%(num)s passkey", "%(num)s passkeys", count) if count else _l("None yet")


def _connected(count: int) -> Any:
    return _n("%(num)s account", "%(num)s accounts", count) if count else _l("None yet")


def _left(count: int) -> Any:
    return _n("%(num)s backup code left", "%(num)s backup codes left", count)


def _answered(count: int) -> Any:
    return _n("%(num)s answer", "%(num)s answers", count) if count else _l("Not answered yet")


def _until(day: str) -> Any:
    return _l("until %(day)s", day=day)


def _session(view: sessions.SessionView) -> Browser:
    return Browser(
        id=view.id,
        name=view.application or formatting.browser_label(view.browser, view.os),
        place=view.address or "",
        when=_l("now") if view.is_current else formatting.time_ago(view.last_seen_at),
        is_current=view.is_current,
        is_handheld=_is_handheld(view.device_type),
    )


def _trusted(view: contract.BrowserView) -> Browser:
    name, until = formatting.browser_label(view.browser, view.os), _until(formatting.format_day(view.ends_at))
    return Browser(view.id, name, when=until, is_handheld=_is_handheld(view.device_type))


def _is_handheld(device: str | None) -> bool:
    return device in ("phone", "tablet")
