"""The rules of a new password, as the page lists them and its script ticks them off: those that the service enforces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n

from app.contract.configuration import PasswordPolicy


@dataclass(frozen=True)
class Rule:
    """One rule: its sentence, and how the script `rules` looks at it; a rule without that only the service can judge."""

    sentence: Any
    kind: str = ""
    number: int = 0


def rules_of(policy: PasswordPolicy) -> tuple[Rule, ...]:
    """Return what a new password has to be, in the order of the page."""
    shown = [
        Rule(
            _n("At least %(num)d character", "At least %(num)d characters", policy.min_length),
            "least",
            policy.min_length,
        ),
    ]
    classes = (
        (policy.require_lowercase, Rule(_l("A lower-case letter"), "lower")),
        (policy.require_uppercase, Rule(_l("An upper-case letter"), "upper")),
        (policy.require_number, Rule(_l("A number"), "number")),
        (policy.require_symbol, Rule(_l("A sign such as ! or -"), "sign")),
        (policy.profile_check, Rule(_l("Without your name or your address"))),
        (policy.common_check, Rule(_l("None that many people use"))),
    )
    return (*shown, *(rule for is_asked, rule in classes if is_asked))
