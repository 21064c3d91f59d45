"""The rules of a new password as texts, which a script checks while typing, and the errors of a refused one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from app.contract import errors
from app.contract.recovery.errors import PASSWORD_RULE_MESSAGES, PasswordRule
from app.contract.tenants.settings import PasswordPolicy
from app.hub.locale import lazy_gettext as _l
from app.hub.locale import lazy_ngettext as _n
from app.hub.locale import lazy_pgettext
from app.hub.web.errors import shown_for
from app.kit.operations.errors import ApiError

_SHOWN_MAXIMUM: Final = 64
"""A higher maximum is shown only after it was exceeded (NIST SP 800-63B asks for at least 64)."""


@dataclass(frozen=True)
class Rule:
    """A rule that the script `rules` checks while typing, with its text and its number, if it has one."""

    sentence: Any
    kind: PasswordRule
    number: int = 0
    is_broken: bool = False
    """Whether the refused password broke it."""


def rules_of(policy: PasswordPolicy, *, refusal: ApiError | None = None) -> tuple[Rule, ...]:
    """Return the rules of length and characters, in the order of the page.

    What only the identity service can judge is left to the error of a refused password, see `problem_of`.

    Args:
        refusal: the refusal of a password; the rules that it broke are marked.
    """
    rules = (
        Rule(
            _n("At least %(num)d character", "At least %(num)d characters", policy.min_length),
            PasswordRule.LEAST,
            policy.min_length,
        ),
        Rule(
            _n("At most %(num)d character", "At most %(num)d characters", policy.max_length),
            PasswordRule.MOST,
            policy.max_length,
        ),
        *(Rule(sentence, kind) for kind, sentence in _TEXTS.items()),
    )
    applicable = _applicable(policy)
    broken = {text for _, text in refusal.problems} if isinstance(refusal, errors.FieldsRefused) else set()
    marked = (
        replace(rule, is_broken=PASSWORD_RULE_MESSAGES[rule.kind].format(number=rule.number) in broken)
        for rule in rules
    )
    return tuple(rule for rule in marked if rule.is_broken or rule.kind in applicable)


def problem_of(refusal: ApiError) -> Any | None:
    """Return the error text for the new password; None if the refusal is about something else."""
    if isinstance(refusal, errors.WeakPassword) and refusal.description == PASSWORD_RULE_MESSAGES[PasswordRule.PROFILE]:
        return _l("Don’t use your name or email.")
    return shown_for(refusal, _FIELD_ERRORS)


def sample_refusals() -> dict[str, ApiError]:
    """Return sample refusals of a new password."""
    lacks = (PASSWORD_RULE_MESSAGES[PasswordRule.LEAST].format(number=10), PASSWORD_RULE_MESSAGES[PasswordRule.NUMBER])
    return {
        "too weak": errors.FieldsRefused(problems=[("Password", sentence) for sentence in lacks]),
        "common": errors.WeakPassword(PASSWORD_RULE_MESSAGES[PasswordRule.COMMON]),
        "with a name": errors.WeakPassword(PASSWORD_RULE_MESSAGES[PasswordRule.PROFILE]),
        "used before": errors.PasswordNotAcceptable(),
        "breached": errors.NewPasswordBreached(),
    }


def _applicable(policy: PasswordPolicy) -> set[PasswordRule]:
    rules = {
        PasswordRule.LEAST: True,
        PasswordRule.MOST: policy.max_length < _SHOWN_MAXIMUM,
        PasswordRule.LOWER: policy.require_lowercase,
        PasswordRule.UPPER: policy.require_uppercase,
        PasswordRule.NUMBER: policy.require_number,
        PasswordRule.SIGN: policy.require_symbol,
    }
    return {kind for kind, is_required in rules.items() if is_required}


_TEXTS: Final = {
    PasswordRule.LOWER: lazy_pgettext("rule of a password", "A lowercase letter"),
    PasswordRule.UPPER: lazy_pgettext("rule of a password", "An uppercase letter"),
    PasswordRule.NUMBER: lazy_pgettext("rule of a password", "A number"),
    PasswordRule.SIGN: lazy_pgettext("rule of a password", "A symbol"),
}
_FIELD_ERRORS: Final[dict[type[ApiError], Any]] = {
    errors.FieldsRefused: _l("Doesn’t meet the requirements yet."),
    errors.WeakPassword: _l("Too common. Choose another."),
    errors.PasswordNotAcceptable: _l("Used before. Choose another."),
    errors.NewPasswordBreached: _l("Found in a breach. Choose another."),
}
