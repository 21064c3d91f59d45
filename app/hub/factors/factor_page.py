"""Pages with an authenticator's template: the second factor at sign-in, and its enrolment. QR codes are inline SVG paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from wtforms import HiddenField

from app.contract.second_factors.challenge import FactorKind
from app.contract.second_factors.pages.second_factor_pages import FactorPrompt
from app.hub.components.qr_codes import QrCode, qr_code
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.forms.reauthentication import ReauthenticationForm
from app.hub.rendering.countdown import Countdown
from app.hub.rendering.page import Page, provider_redirect_targets

ACCOUNT_FACTORS: Final = "/second-factors"
ADD_FACTOR: Final = f"{ACCOUNT_FACTORS}/add"
CHOOSE: Final = "choose"
"""Value of `do` in forms that choose a factor, and of `kind` in the address of the list."""


class ChosenForm(ReauthenticationForm):
    """The factor to add, and where its codes are sent."""

    kind = HiddenField()
    target = HiddenField()


@dataclass(frozen=True)
class FactorPage(Page):
    """A page around the template of an authenticator."""

    scripts = (*Page.scripts, "wait", "code")
    action: ClassVar[str]
    """The action of its forms."""

    form: FactorForm
    presentation: FactorPresentation
    prompt: FactorPrompt

    @property
    def run(self) -> tuple[str, ...]:
        return (*self.scripts, *self.presentation.scripts)

    @property
    def own_rules(self) -> tuple[str, ...]:
        return self.presentation.rules

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(self.presentation.kind))

    @property
    def polling(self) -> str:
        """Address that the script polls while another device is asked; empty if none is."""
        return ""

    @property
    def resend_in_seconds(self) -> int:
        return self.prompt.resend_in_seconds

    @property
    def countdown(self) -> Countdown | None:
        return Countdown(self.resend_in_seconds) if self.resend_in_seconds else super().countdown

    @property
    def is_text(self) -> bool:
        """Whether what was sent is no email, so that it cannot be in a spam folder."""
        return self.prompt.kind is not FactorKind.EMAIL

    @property
    def picture(self) -> QrCode:
        """The QR code that the authenticator app scans."""
        return qr_code(self.prompt.uri or "")

    @property
    def secret_groups(self) -> str:
        """The TOTP secret in groups of four characters, for typing."""
        secret = self.prompt.secret or ""
        return " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))


def choice_redirect_targets(*kinds: str) -> tuple[str, ...]:
    """Return where the redirect after choosing one of these kinds may lead: Duo has a page of its own."""
    return provider_redirect_targets() if FactorKind.DUO in kinds else ()


def fresh_form(presentation: FactorPresentation, target: str | None = None) -> FactorForm:
    """Return the empty form of an authenticator; `target` is where a code is sent."""
    return presentation.form(formdata=None, data={"kind": presentation.kind.value, "target": target or ""})
