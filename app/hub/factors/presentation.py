"""What the pages need of an authenticator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from flask_babel import lazy_gettext as _l
from wtforms import BooleanField, HiddenField, StringField
from wtforms.validators import InputRequired

from app.contract import errors as e
from app.contract.hub_second_factors import FactorAnswer, FactorPrompt
from app.contract.second_factors.challenge import FactorKind
from app.hub.forms.base import HubForm
from app.hub.page import Notice
from app.kit.errors import ApiError

ATTEMPT_OF_SAMPLES: Final = ""


class FactorForm(HubForm):
    """Proves a factor, or enrols it; subclasses add what is typed."""

    kind = HiddenField()
    trust = BooleanField(_l("Do not ask again in this browser"))
    wrong: Any = None
    """What is said at the field of a proof that is wrong; None where there is no field."""
    named: str = "code"
    """The field that a wrong proof is laid on."""

    def proof(self, attempt: str) -> FactorAnswer:
        """Return what was typed."""
        raise NotImplementedError

    def said(self, refusal: ApiError) -> Notice | None:  # noqa: ARG002 - for subclasses
        """Return what is said above the form, where a refusal is not about what was typed."""
        return None

    def add_refusal(self, refusal: ApiError) -> bool:
        """Lay a wrong proof on its field; returns whether that is what was refused."""
        if self.wrong is None or not isinstance(refusal, WRONG):
            return False
        self.add_error(self.named, self.wrong)
        return True


class CodeForm(FactorForm):
    """A code, as people copy it: with spaces, dashes, in the digits of any script."""

    code = StringField(_l("Code"), [InputRequired(_l("Type the code."))])
    wrong = _l("That code did not work. Type the one that is shown now.")

    def proof(self, attempt: str) -> FactorAnswer:
        kind = FactorKind(str(self.kind.data))
        return FactorAnswer(attempt=attempt, kind=kind, code=(self.code.data or "")[:64], trust=bool(self.trust.data))


WRONG: Final[tuple[type[ApiError], ...]] = (
    e.WrongTotpCode, e.WrongBackupCode, e.NoBackupCodes, e.WrongSmsCode, e.UsedSmsCode, e.ExpiredSmsCode,
    e.ClosedSmsCode, e.WrongMailCode, e.UsedMailCode, e.ExpiredMailCode, e.ClosedMailCode, e.WrongSecurityAnswer,
    e.WrongQuestionOrAnswer, e.PasskeyRefused,
)  # fmt: skip
"""Proofs that are wrong, old, used or somebody else's: all are told alike."""


@dataclass(frozen=True)
class FactorPresentation:
    """An authenticator, as people see it. Its page is `templates/factors/<kind>.html`."""

    kind: FactorKind
    name: Any
    hint: Any
    """What it takes, in a list of ways."""
    icon: str
    form: type[FactorForm]
    scripts: tuple[str, ...] = ()
    samples: Mapping[str, FactorPrompt] = field(default_factory=dict)
    """What its page may show, by the state's name."""
    needs_target: bool = False
    """Whether a code is sent first, to a number or an address."""

    @property
    def template(self) -> str:
        return f"factors/{self.kind.value}.html"
