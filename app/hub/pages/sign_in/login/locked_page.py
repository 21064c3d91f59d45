"""The pages of a locked account: the captcha alone, with the typed password encrypted, or a challenge beside the password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.hub.components.reauthentication import Reauthentication
from app.hub.components.sign_in_refusals import RefusalReason
from app.hub.forms import captcha
from app.hub.pages.sign_in.login.form import EXPIRED, WRONG_ANSWER, FormStep, LoginForm, locked_sample
from app.hub.pages.sign_in.login.page import LoginPage, step_url
from app.hub.rendering.page import Page
from app.hub.tenants.branding import initials
from app.hub.tenants.captcha_widget import WidgetView


@dataclass(frozen=True)
class LockedLoginPage(LoginPage):
    """The login page of a locked account, with a captcha or a security question."""

    scripts = (*LoginPage.scripts, "work")

    @classmethod
    def samples(cls) -> Mapping[str, LockedLoginPage]:
        wrong_answer, expired = locked_sample(None), locked_sample(captcha.sample())
        wrong_answer.add_error("security_answer", WRONG_ANSWER)
        expired.add_error("password", EXPIRED)
        solved, linked = locked_sample(captcha.sample(work_bits=8)), locked_sample(captcha.sample(work_bits=0))
        solved.captcha.work = captcha.SAMPLE_WORK
        with_widget = locked_sample(captcha.sample())
        with_widget.captcha.prompt(captcha.sample(), WidgetView("hcaptcha", "a key"))
        return {
            "captcha after a wrong password": cls(locked_sample(captcha.sample()), refusal=RefusalReason.WRONG),
            "captcha solved by the browser": cls(solved, refusal=RefusalReason.WRONG),
            "captcha solved by a link": cls(linked),
            "captcha expired": cls(expired, relying_party="Acme Shop"),
            "captcha of a provider": cls(with_widget, refusal=RefusalReason.WRONG),
            "captcha, reauthentication": cls(
                locked_sample(captcha.sample()),
                has_remember_me=False,
                reauthentication=Reauthentication.sample("password"),
                refusal=RefusalReason.WRONG,
            ),
            "question": cls(locked_sample(None), relying_party="Acme Shop", refusal=RefusalReason.QUESTION),
            "question answered wrongly": cls(wrong_answer, relying_party="Acme Shop", refusal=RefusalReason.ANSWER),
        }


@dataclass(frozen=True)
class HumanCheckPage(Page):
    """Shows the state of the captcha, and sends the sign-in once it is solved; after a refusal the visitor sends it."""

    template = "pages/sign_in/human_check.html"
    scripts = (*Page.scripts, "tabs", "work")
    own_rules = ("human",)
    links_application = True

    form: LoginForm
    encrypted_password: str
    """The typed password, encrypted."""
    reauthentication: Reauthentication | None = None

    @property
    def account(self) -> str:
        """What the page calls the account: its label after a sign-in, else the typed identifier."""
        return self.reauthentication.account if self.reauthentication else self.form.identifier.data or ""

    @property
    def initials(self) -> str:
        return initials(self.account.lstrip("+ "))[:2]

    @property
    def identifier_url(self) -> str:
        """The address where another identifier can be typed."""
        return step_url(FormStep.IDENTIFIER)

    @property
    def goes_on(self) -> bool:
        """Whether the script sends the form when the proof of work is done."""
        return not self.form.form_errors

    @classmethod
    def samples(cls) -> Mapping[str, HumanCheckPage]:
        refused, checked = locked_sample(captcha.sample()), locked_sample(captcha.sample(work_bits=8))
        for form in (refused, checked):
            form.add_error(*captcha.FAILED)
        checked.captcha.work = captcha.SAMPLE_WORK
        widget, invisible, widget_alone = (locked_sample(captcha.sample()) for _ in range(3))
        widget.captcha.prompt(captcha.sample(), WidgetView("tencent", "a key"))
        invisible.captcha.prompt(captcha.sample(), WidgetView("recaptcha_v3", "a key"))
        widget_alone.captcha.prompt(None, WidgetView("hcaptcha", "a key", has_fallback=False))
        return {
            "checking": cls(locked_sample(captcha.sample()), "encrypted"),
            "refused": cls(refused, "encrypted"),
            "refused, checked again": cls(checked, "encrypted"),
            "captcha of a provider": cls(widget, "encrypted"),
            "captcha of a provider that nobody sees": cls(invisible, "encrypted"),
            "captcha of a provider alone": cls(widget_alone, "encrypted"),
            "reauthentication": cls(
                locked_sample(captcha.sample()), "encrypted", reauthentication=Reauthentication.sample("password")
            ),
        }
