"""What every page shares that shows an authenticator: at sign-in, and where people add one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from app.contract.hub_second_factors import FactorShown
from app.contract.second_factors.challenge import FactorKind
from app.hub.factors.presentation import FactorForm, FactorPresentation
from app.hub.forms import code
from app.hub.page import Page, provider_redirect_targets
from app.hub.parts import qr
from app.hub.parts.qr import Qr


@dataclass(frozen=True)
class FactorPage(Page):
    """A page around the template of a face."""

    scripts = (*Page.scripts, "wait")
    action: ClassVar[str]
    """Where its forms are sent."""

    form: FactorForm
    presentation: FactorPresentation
    shown: FactorShown

    @property
    def run(self) -> tuple[str, ...]:
        return (*self.scripts, *self.presentation.scripts)

    @property
    def form_targets(self) -> tuple[str, ...]:
        return (*super().form_targets, *choice_redirect_targets(self.presentation.kind))

    @property
    def polling(self) -> str:
        """Where the script asks whether another device answered; empty where none is asked."""
        return ""

    @property
    def resend_in_seconds(self) -> int:
        return self.shown.resend_in_seconds

    @property
    def wait(self) -> Any:
        return code.resend_hint(self.resend_in_seconds)

    @property
    def picture(self) -> Qr:
        """The QR code of what the app scans."""
        return qr.draw(self.shown.uri or "")

    @property
    def secret_groups(self) -> str:
        """The secret in groups of four, as people type it."""
        secret = self.shown.secret or ""
        return " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))


def choice_redirect_targets(*kinds: str) -> tuple[str, ...]:
    """Where a click leads that chooses one of these kinds: to Duo's page, too."""
    return provider_redirect_targets() if FactorKind.DUO in kinds else ()


def fresh_form(presentation: FactorPresentation, target: str | None = None) -> FactorForm:
    """Return a face's form as it is drawn first; `target` is where a code was to be sent."""
    return presentation.form(formdata=None, data={"kind": presentation.kind.value, "target": target or ""})
