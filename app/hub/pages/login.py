"""Sign in: who are you, and your password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Response, request
from flask_babel import lazy_gettext as _l

from app.contract import errors as e
from app.contract import hub as contract
from app.contract.captcha import Challenge, Lock
from app.contract.hub import Step
from app.hub import journey
from app.hub.forms import captcha
from app.hub.forms.captcha import OTHER_QUESTION
from app.hub.forms.captcha_widget import Widget
from app.hub.forms.identifier import identifier_attributes
from app.hub.forms.login import LoginForm
from app.hub.page import Notice, Page, render_cached
from app.hub.pages import delete_account, pages
from app.hub.parts import reauthentication, sign_in_methods
from app.hub.parts.reauthentication import Reauthentication
from app.hub.parts.sign_in_methods import SignInMethod
from app.hub.parts.sign_in_refusals import (
    ASKING,
    CHECK_MORE,
    NEEDS,
    NEEDS_SUPPORT,
    RefusalReason,
    reason_for,
    sign_in_notice,
    wait_seconds,
)
from app.hub.services import api, services
from app.hub.tenancy import Identifier
from app.hub.visit import current_visit, requested_interaction_id
from app.kit.errors import ApiError

CONNECTS: Final = "connects"
"""Says that signing in connects what was brought from another provider: nothing is connected that the page did not name."""
_WRONG_PASSWORD = Notice(_l("That did not work"), _l("Check your password, then try again."))


@dataclass(frozen=True)
class LoginPage(Page):
    """Sign in."""

    template = "pages/login.html"
    scripts = (*Page.scripts, "reveal")
    query = {**Page.query, "reset": 7, "needs": 8}

    form: LoginForm
    identifiers: tuple[Identifier, ...] = (Identifier.EMAIL,)
    relying_party: str = ""
    has_remember_me: bool = True
    refusal: RefusalReason | None = None
    wait_seconds: int = 0
    """How long until another try is worth while, where that is known."""
    needs: str = ""
    """Why whoever came here is not signed in yet: one word of `NEEDS`."""
    is_reset: bool = False
    """A new password was just set."""
    ways: tuple[SignInMethod, ...] = ()
    """How one signs in without a password here."""
    connections: tuple[SignInMethod, ...] = ()
    """Where else one may prove who one is."""
    is_passkey_set: bool = False
    """A new passkey was just set, by a mailed link."""
    unknown: str = ""
    """A passkey that nobody has: whoever keeps it may forget it."""
    again: Reauthentication | None = None
    """Who is signed in already, and proves it once more."""

    @property
    def takes_password(self) -> bool:
        return self.again is None or self.again.has_password

    @property
    def has_autofill(self) -> bool:
        """Whether the list under the field offers passkeys."""
        return False

    @property
    def has_button(self) -> bool:
        """Whether a button asks for a passkey."""
        return False

    @property
    def forgotten(self) -> str:
        """Where a password is set by mail or by text message."""
        interaction = current_visit().interaction
        return f"/forgot-password?attempt={interaction.id}" if interaction else "/forgot-password"

    @property
    def help(self) -> str:
        """Where the tenant helps people."""
        return dict(current_visit().tenant.brand.links).get("help", "")

    @property
    def has_registration(self) -> bool:
        """Whether people may make an account of their own."""
        return current_visit().tenant.registration is not None

    @property
    def needs_help(self) -> bool:
        """Whether nothing that can be typed here leads on."""
        return self.refusal in NEEDS_SUPPORT

    @property
    def notice(self) -> Notice | None:
        if self.needs in NEEDS and not self.refusal:
            return NEEDS[self.needs]
        if self.is_reset and not self.refusal:
            return Notice(_l("Your password is changed"), _l("Sign in with the new one."), "ok")
        if self.is_passkey_set and not self.refusal:
            return Notice(_l("Your new passkey is set"), _l("Sign in with it."), "ok")
        if self.refusal is RefusalReason.WRONG and self.again and self.again.has_password:
            return _WRONG_PASSWORD
        if self.refusal is RefusalReason.CAPTCHA and self.widget:
            return CHECK_MORE
        return sign_in_notice(self.refusal, self.wait_seconds) if self.refusal else super().notice

    @property
    def attributes(self) -> dict[str, str]:
        """What tells keyboards and password managers what the identifier is."""
        return identifier_attributes(self.identifiers)

    @classmethod
    def samples(cls) -> Mapping[str, LoginPage]:
        email, phone, username = Identifier.EMAIL, Identifier.PHONE, Identifier.USERNAME
        given = {"data": {"identifier": "ada@example.com"}}
        refusals = {refusal.value: refusal for refusal in RefusalReason if refusal not in ASKING}
        empty = LoginForm.of((email,))
        empty.add_error("identifier", _l("Enter your email."))
        empty.add_error("password", _l("Enter your password."))
        return {
            "fresh": cls(LoginForm.of((email,))),
            "for an application": cls(LoginForm.of((email,)), relying_party="Acme Shop"),
            "with a hint": cls(LoginForm.of((email,), **given), relying_party="Acme Shop"),
            "after one step of two": cls(LoginForm.of((email,), **given), needs="password"),
            "denied elsewhere": cls(LoginForm.of((email,)), needs="denied"),
            "not wanted here": cls(LoginForm.of((email,)), needs="address"),
            "not asked elsewhere": cls(LoginForm.of((email,)), needs="silent"),
            "connects": cls(LoginForm.of((email,), data={"connects": "yes"}), needs=CONNECTS),
            "unknown elsewhere": cls(LoginForm.of((email,)), needs="nobody"),
            "elsewhere is out of order": cls(LoginForm.of((email,)), needs="broken"),
            "after a new password": cls(LoginForm.of((email,), **given), relying_party="Acme Shop", is_reset=True),
            "by phone": cls(LoginForm.of((phone,)), (phone,)),
            "by any name": cls(LoginForm.of((email, phone, username)), (email, phone, username)),
            "with other ways": cls(
                LoginForm.of((email,)), relying_party="Acme Shop", ways=sign_in_methods.sample_methods()
            ),
            "with other providers": cls(
                LoginForm.of((email,)), connections=sign_in_methods.sample_connection_methods()
            ),
            **cls._asked_again(),
            "without remember me": cls(LoginForm.of((email,)), has_remember_me=False),
            "empty": cls(empty, relying_party="Acme Shop"),
            **{
                name: cls(LoginForm.of((email,), **given), relying_party="Acme Shop", refusal=refusal, wait_seconds=840)
                for name, refusal in refusals.items()
            },
        }

    @classmethod
    def _asked_again(cls) -> Mapping[str, LoginPage]:
        form = LoginForm.of((Identifier.EMAIL,), data={"identifier": "ada@example.com"})
        known, unknown = Reauthentication.sample("password"), Reauthentication.sample()
        elsewhere, ways = Reauthentication.sample("mail", "sms", "device"), sign_in_methods.sample_methods()
        return {
            "once more": cls(form, relying_party="Acme Shop", has_remember_me=False, again=known),
            "once more, wrong": cls(form, has_remember_me=False, again=known, refusal=RefusalReason.WRONG),
            "once more, without a password": cls(form, has_remember_me=False, again=elsewhere, ways=ways),
            "once more, without anything": cls(form, has_remember_me=False, again=unknown),
            "once more, at another provider": cls(
                form,
                has_remember_me=False,
                again=Reauthentication.sample("connection:google"),
                connections=sign_in_methods.sample_connection_methods()[:1],
            ),
        }


@dataclass(frozen=True)
class PasskeyLoginPage(LoginPage):
    """Sign in, with a password or with a passkey."""

    scripts = (*LoginPage.scripts, "passkey", "signal")
    allows_fetch = True

    passkeys: str = "both"

    @property
    def has_autofill(self) -> bool:
        return self.passkeys != "button" and self.again is None

    @property
    def has_button(self) -> bool:
        return self.passkeys != "autofill" or self.again is not None

    @property
    def attributes(self) -> dict[str, str]:
        """The list under the field offers passkeys beside names."""
        return {**super().attributes, **({"autocomplete": "username webauthn"} if self.has_autofill else {})}

    @classmethod
    def samples(cls) -> Mapping[str, PasskeyLoginPage]:
        form = LoginForm.of((Identifier.EMAIL,))
        return {
            "fresh": cls(form, relying_party="Acme Shop"),
            "autofill alone": cls(form, passkeys="autofill"),
            "button alone": cls(form, passkeys="button"),
            "once more": cls(
                form,
                relying_party="Acme Shop",
                has_remember_me=False,
                again=Reauthentication.sample("password", "passkey"),
            ),
            "once more, a passkey alone": cls(form, has_remember_me=False, again=Reauthentication.sample("passkey")),
            "passkey refused": cls(form, refusal=RefusalReason.PASSKEY, unknown="AAAA"),
            "without a script": cls(form, refusal=RefusalReason.SCRIPTLESS),
            "after a new passkey": cls(form, is_passkey_set=True),
        }


@dataclass(frozen=True)
class LockedLoginPage(LoginPage):
    """Sign in, and answer what opens the lock."""

    scripts = (*LoginPage.scripts, "work")

    @classmethod
    def samples(cls) -> Mapping[str, LockedLoginPage]:
        wrong_captcha, wrong_answer = _asking(captcha.sample(kind="smallest", numbers=(12, 3, 20, 8))), _asking(None)
        wrong_captcha.add_error("captcha", OTHER_QUESTION)
        wrong_answer.add_error("security_answer", _WRONG_ANSWER)
        worked = _asking(captcha.sample(work_bits=8))
        worked.captcha.work = captcha.SAMPLE_WORK
        position = captcha.sample(kind="nth", numbers=(3, 18, 7, 13, 2))
        elsewhere, unseen = _asking(captcha.sample()), _asking(captcha.sample())
        elsewhere.captcha.ask(captcha.sample(), Widget("tencent", "a key"))
        unseen.captcha.ask(captcha.sample(), Widget("recaptcha_v3", "a key"))
        return {
            "captcha": cls(_asking(captcha.sample()), relying_party="Acme Shop", refusal=RefusalReason.CAPTCHA),
            "captcha of a position": cls(_asking(position), refusal=RefusalReason.CAPTCHA),
            "captcha after a wrong password": cls(_asking(captcha.sample()), refusal=RefusalReason.WRONG),
            "captcha answered by the browser": cls(worked, refusal=RefusalReason.WRONG),
            "captcha answered wrongly": cls(wrong_captcha, refusal=RefusalReason.ANSWER),
            "captcha of a provider": cls(elsewhere, refusal=RefusalReason.CAPTCHA),
            "captcha of a provider that nobody sees": cls(unseen, refusal=RefusalReason.CAPTCHA),
            "captcha, once more": cls(
                _asking(captcha.sample()),
                has_remember_me=False,
                again=Reauthentication.sample("password"),
                refusal=RefusalReason.CAPTCHA,
            ),
            "question": cls(_asking(None), relying_party="Acme Shop", refusal=RefusalReason.QUESTION),
            "question answered wrongly": cls(wrong_answer, relying_party="Acme Shop", refusal=RefusalReason.ANSWER),
        }


def _asking(challenge: Challenge | None) -> LoginForm:
    """Return the form of a sample that asks for a captcha, or else a security question."""
    form = LoginForm.of((Identifier.EMAIL,), data={"identifier": "ada@example.com"})
    if challenge is not None:
        form.captcha.ask(challenge)
    else:
        form.ask_question("pet", (("pet", "What was the name of your first pet?"),))
    return form


_WRONG_ANSWER = _l("That is not the answer we know.")


@pages.get("/login")
def show_login() -> Response:
    """Draw the page. Who is signed in already goes on; for all others this asks nobody."""
    visit = current_visit()
    if journey.is_interaction_gone():
        return journey.start_again()
    again = None
    if visit.session:
        step = (
            api()(contract.resume, contract.AttemptRequest(attempt=visit.interaction.id))
            if visit.interaction
            else _plain_visit()
        )
        if step.step not in (Step.LOGIN, Step.REGISTER):
            return journey.follow(step)
        again = Reauthentication.of(step)
    asking, hint = (visit.interaction.relying_party, visit.interaction.hint) if visit.interaction else ("", "")
    if not hint and again is None and request.args.keys() <= {"attempt"}:
        allows_fetch = bool(visit.tenant.passkeys)
        return render_cached(("login", asking), lambda: _page(fresh_form()), allows_fetch=allows_fetch)
    named = again.name if again is not None else hint
    told, needs = request.args.get("reset"), request.args.get("needs", "")
    data = {"identifier": named, "connects": "yes" if needs == CONNECTS else ""}
    page = _page(LoginForm.of(visit.tenant.identifiers, data=data), again=again)
    page = replace(page, is_reset=told == "done", is_passkey_set=told == "passkey", needs=needs)
    return page.render()


@pages.post("/login")
def submit_login() -> Response:
    visit = current_visit()
    if requested_interaction_id() and visit.interaction is None:
        return journey.start_again()
    form = LoginForm.of(visit.tenant.identifiers)
    if not form.validate():
        return _page(form, again=reauthentication.current_reauthentication()).render(form.error_status)
    try:
        step = api()(contract.sign_in, form.to_request())
    except e.AccountLeaving as refusal:
        return delete_account.offer_to_keep(refusal)
    except ApiError as refusal:
        return _refused(form, refusal)
    return journey.follow(step)


def _plain_visit() -> contract.Next:
    return api()(contract.open_return, contract.ReturnRequest())


def _page(
    form: LoginForm,
    refusal: RefusalReason | None = None,
    wait_seconds: int = 0,
    *,
    again: Reauthentication | None = None,
) -> LoginPage:
    visit = current_visit()
    asking = visit.interaction.relying_party if visit.interaction else ""
    known = (visit.tenant.identifiers, asking, visit.tenant.has_remember_me and again is None, refusal, wait_seconds)
    offered = {"ways": sign_in_methods.tenant_methods(), "connections": sign_in_methods.connection_methods()}
    shown: dict[str, Any] = {name: _open_to(again, ways) for name, ways in offered.items()}
    if form.captcha.is_asked or form.asks_question:
        return LockedLoginPage(form, *known, **shown, again=again)
    if visit.tenant.passkeys and (again is None or again.has_passkey):
        return PasskeyLoginPage(form, *known, **shown, again=again, passkeys=visit.tenant.passkeys)
    return LoginPage(form, *known, **shown, again=again)


def _open_to(again: Reauthentication | None, ways: tuple[SignInMethod, ...]) -> tuple[SignInMethod, ...]:
    """Return which of the ways are open to whoever proves it once more; all of them to anybody else."""
    return tuple(way for way in ways if again is None or way.key in again.ways)


def fresh_form(**given: Any) -> LoginForm:
    """Return the form that nobody filled in, but for what is given."""
    return LoginForm.of(current_visit().tenant.identifiers, formdata=None, data=given)


def again(
    refusal: RefusalReason | None = None, *, form: LoginForm | None = None, status: int = 403, unknown: str = ""
) -> Response:
    """Draw the page again for somebody who came by another way than the password."""
    known, drawn = reauthentication.current_reauthentication(), form or fresh_form()
    if known is not None:
        drawn.identifier.data = known.name
    page = _page(drawn, refusal, again=known)
    if isinstance(page, PasskeyLoginPage):
        page = replace(page, unknown=unknown)
    return page.render(status)


def _refused(form: LoginForm, refusal: ApiError) -> Response:
    """Draw the page again; a lock is asked about at once, and what it refused lies on its field."""
    has_asked = form.captcha.is_asked or form.asks_question
    form.ask(Lock.model_validate(refusal.data or {}), by_captcha=isinstance(refusal, _BY_CAPTCHA))
    reason = reason_for(refusal)
    for field, sentence in _problems(form, refusal) if has_asked else ():
        form.add_error(field, sentence)
        reason = RefusalReason.ANSWER
    if reason is RefusalReason.QUESTION and not form.asks_question:
        reason = RefusalReason.LOCKED
    seconds = wait_seconds(refusal, services().now())
    response = _page(form, reason, seconds, again=reauthentication.current_reauthentication()).render(refusal.status)
    if refusal.retry_after_seconds:
        response.headers["Retry-After"] = str(refusal.retry_after_seconds)
    return response


def _problems(form: LoginForm, refusal: ApiError) -> list[tuple[str, Any]]:
    if isinstance(refusal, e.WrongCaptcha) or (isinstance(refusal, e.LockedForCaptcha) and form.captcha.provided):
        return [form.captcha.refused]
    return [(field, sentence) for kind, field, sentence in _ON_A_FIELD if isinstance(refusal, kind)]


_BY_CAPTCHA = (e.LockedForCaptcha, e.WrongCaptcha)
_UNANSWERED = _l("Answer this question, too.")
_ON_A_FIELD = (
    (e.LockedForCaptcha, "captcha", _UNANSWERED),
    (e.LockedForSecurityQuestion, "security_answer", _UNANSWERED),
    (e.WrongQuestionOrAnswer, "security_answer", _WRONG_ANSWER),
)
