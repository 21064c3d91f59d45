"""What a refused test says to the administrator, in the language of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.contract.organizations.setup_operations import SetupGuide
from app.hub.locale import current_language
from app.hub.locale import lazy_gettext as _l


@dataclass(frozen=True)
class Mismatch:
    """A value of ours that the provider sends otherwise: the sentences, and the labels of both values."""

    problem: Any
    advice: Any
    expected: Any
    received: Any


_ADVICE = _l("Fix this at your provider, then test again.")
_RECEIVED = _l("Your provider sent")
_ENTITY = Mismatch(_l("Your provider sent a different entity ID."), _ADVICE, _l("Our entity ID"), _RECEIVED)
_ACS = Mismatch(_l("Your provider sent a different ACS URL."), _ADVICE, _l("Our ACS URL"), _RECEIVED)


def mismatch_of(guide: SetupGuide) -> Mismatch | None:
    """Return which value of step 3 the provider has wrong; None for any other finding."""
    trial = guide.trial
    if guide.protocol != "saml" or trial is None or not (trial.problem and trial.expected and trial.received):
        return None
    pasted = [item.value for item in guide.instructions if item.do == "enter"]
    if trial.expected not in pasted:
        return None
    return _ACS if "/acs" in trial.expected else _ENTITY


def translated(text: str) -> tuple[str, bool]:
    """Return a diagnosis in the page's language, and whether it is: those that only the doctor has are English."""
    shown = str(_l(text))
    return shown, shown != text or current_language().tag == "en"
