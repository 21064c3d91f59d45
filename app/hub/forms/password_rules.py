"""The rules of a new password that the identity service enforces, as texts; a script checks some while typing."""

from __future__ import annotations

from collections.abc import Iterator
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
    """A rule with its text and its number, if it has one."""

    sentence: Any
    kind: PasswordRule
    number: int = 0
    is_broken: bool = False
    """Whether the refused password broke it."""

    @property
    def is_watched(self) -> bool:
        """Whether the script `rules` can check it while typing; the identity service checks all."""
        return self.kind in _CHECKED_WHILE_TYPING


def rules_of(policy: PasswordPolicy, *, is_first: bool = False, refusal: ApiError | None = None) -> tuple[Rule, ...]:
    """Return the rules of a new password, in the order of the page.

    Args:
        is_first: whether the account has no password yet; the rule on earlier passwords is left out.
        refusal: the refusal of a password; the rules that it broke are marked.
    """
    rules = [
        Rule(
            _n("%(num)d+ characters", "%(num)d+ characters", policy.min_length),
            PasswordRule.LEAST,
            policy.min_length,
        ),
        Rule(
            _n("up to %(num)d character", "up to %(num)d characters", policy.max_length),
            PasswordRule.MOST,
            policy.max_length,
        ),
        *(Rule(sentence, kind) for kind, sentence in _TEXTS.items()),
        Rule(
            _n("not your last one", "not your last %(num)d", policy.history),
            PasswordRule.EARLIER,
            policy.history,
        ),
    ]
    applicable, broken = set(_applicable(policy, is_first=is_first)), set(_broken(rules, refusal))
    return tuple(
        replace(rule, is_broken=rule.kind in broken) for rule in rules if rule.kind in applicable or rule.kind in broken
    )


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


def _applicable(policy: PasswordPolicy, *, is_first: bool) -> Iterator[PasswordRule]:
    yield PasswordRule.LEAST
    for is_required, kind in (
        (policy.max_length < _SHOWN_MAXIMUM, PasswordRule.MOST),
        (policy.require_lowercase, PasswordRule.LOWER),
        (policy.require_uppercase, PasswordRule.UPPER),
        (policy.require_number, PasswordRule.NUMBER),
        (policy.require_symbol, PasswordRule.SIGN),
        (policy.profile_check and not policy.profile_exact_match, PasswordRule.PROFILE),
        (policy.common_check, PasswordRule.COMMON),
        (policy.breached == "change", PasswordRule.STOLEN),
        (policy.history > 0 and not is_first, PasswordRule.EARLIER),
    ):
        if is_required:
            yield kind


def _broken(rules: list[Rule], refusal: ApiError | None) -> Iterator[PasswordRule]:
    if isinstance(refusal, errors.NewPasswordBreached):
        yield PasswordRule.STOLEN
    if isinstance(refusal, errors.PasswordNotAcceptable):
        yield PasswordRule.EARLIER
    if isinstance(refusal, errors.FieldsRefused | errors.WeakPassword):
        texts = {refusal.description, *(sentence for _, sentence in refusal.problems)}
        numbers = {rule.kind: rule.number for rule in rules}
        yield from (
            kind for kind, sentence in PASSWORD_RULE_MESSAGES.items() if sentence.format(number=numbers[kind]) in texts
        )


_CHECKED_WHILE_TYPING: Final = frozenset(
    {
        PasswordRule.LEAST,
        PasswordRule.MOST,
        PasswordRule.LOWER,
        PasswordRule.UPPER,
        PasswordRule.NUMBER,
        PasswordRule.SIGN,
    }
)
_TEXTS: Final = {
    PasswordRule.LOWER: lazy_pgettext("rule of a password", "lowercase"),
    PasswordRule.UPPER: lazy_pgettext("rule of a password", "uppercase"),
    PasswordRule.NUMBER: lazy_pgettext("rule of a password", "a number"),
    PasswordRule.SIGN: lazy_pgettext("rule of a password", "a symbol"),
    PasswordRule.COMMON: lazy_pgettext("rule of a password", "not common"),
    PasswordRule.STOLEN: lazy_pgettext("rule of a password", "not leaked"),
    PasswordRule.PROFILE: lazy_pgettext("rule of a password", "no name or email"),
}
_FIELD_ERRORS: Final[dict[type[ApiError], Any]] = {
    errors.FieldsRefused: _l("Doesn’t meet the requirements yet."),
    errors.WeakPassword: _l("Too common. Choose another."),
    errors.PasswordNotAcceptable: _l("Used before. Choose another."),
    errors.NewPasswordBreached: _l("Found in a data breach. Choose another."),
}
