"""The login page of a locked account, which asks for a captcha or a security question beside the password."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.hub.components.reauthentication import Reauthentication
from app.hub.components.sign_in_refusals import RefusalReason
from app.hub.forms import captcha
from app.hub.pages.sign_in.login.form import WRONG_ANSWER, locked_sample
from app.hub.pages.sign_in.login.page import LoginPage
from app.hub.tenants.captcha_widget import WidgetView


@dataclass(frozen=True)
class LockedLoginPage(LoginPage):
    """The login page of a locked account, with a captcha or a security question."""

    scripts = (*LoginPage.scripts, "work")

    @property
    def notice_takes_focus(self) -> bool:
        """The notice of a captcha leaves the focus to the password, which it describes."""
        is_only_captcha = self.refusal is RefusalReason.CAPTCHA and not self.form.problems and not self.form.form_errors
        return super().notice_takes_focus and not is_only_captcha

    @classmethod
    def samples(cls) -> Mapping[str, LockedLoginPage]:
        refused, wrong_answer = locked_sample(captcha.sample()), locked_sample(None)
        refused.add_error(*captcha.FAILED)
        wrong_answer.add_error("security_answer", WRONG_ANSWER)
        solved, linked = locked_sample(captcha.sample(work_bits=8)), locked_sample(captcha.sample(work_bits=0))
        solved.captcha.work = captcha.SAMPLE_WORK
        provider_form, invisible_form = locked_sample(captcha.sample()), locked_sample(captcha.sample())
        provider_form.captcha.prompt(captcha.sample(), WidgetView("tencent", "a key"))
        invisible_form.captcha.prompt(captcha.sample(), WidgetView("recaptcha_v3", "a key"))
        return {
            "captcha": cls(locked_sample(captcha.sample()), relying_party="Acme Shop", refusal=RefusalReason.CAPTCHA),
            "captcha after a wrong password": cls(locked_sample(captcha.sample()), refusal=RefusalReason.WRONG),
            "captcha solved by the browser": cls(solved, refusal=RefusalReason.WRONG),
            "captcha solved by a link": cls(linked),
            "captcha refused": cls(refused, refusal=RefusalReason.CAPTCHA),
            "captcha of a provider": cls(provider_form, refusal=RefusalReason.CAPTCHA),
            "captcha of a provider that nobody sees": cls(invisible_form, refusal=RefusalReason.CAPTCHA),
            "captcha, reauthentication": cls(
                locked_sample(captcha.sample()),
                has_remember_me=False,
                reauthentication=Reauthentication.sample("password"),
                refusal=RefusalReason.CAPTCHA,
            ),
            "question": cls(locked_sample(None), relying_party="Acme Shop", refusal=RefusalReason.QUESTION),
            "question answered wrongly": cls(wrong_answer, relying_party="Acme Shop", refusal=RefusalReason.ANSWER),
        }
