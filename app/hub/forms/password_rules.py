"""The rules of a new password, as the page lists them and its script ticks them off: those that the service enforces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from flask_babel import lazy_gettext as _l
from flask_babel import lazy_ngettext as _n

from app.contract import errors as e
from app.contract.configuration import PasswordPolicy
from app.contract.password_rules import SENTENCES, PasswordRule
from app.kit.errors import ApiError

_FEW_CHARACTERS: Final = 64
"""A limit above it stops nobody, so it is said only to those whom it stops (NIST SP 800-63B asks for 64)."""


@dataclass(frozen=True)
class Rule:
    """One rule: its sentence, and where it has a number, which."""

    sentence: Any
    kind: PasswordRule
    number: int = 0
    is_broken: bool = False
    """The password that was sent did not keep it."""

    @property
    def is_watched(self) -> bool:
        """Whether the script `rules` can tell while it is typed; the rest only the service can judge."""
        return self.kind in _WATCHED


def rules_of(policy: PasswordPolicy, *, is_first: bool = False, refusal: ApiError | None = None) -> tuple[Rule, ...]:
    """Return what a new password has to be, in the order of the page.

    Args:
        is_first: there is no password before it, so it cannot be one of the earlier ones.
        refusal: of the password that was sent; marks the rules that it broke.
    """
    stated = [
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
        *(Rule(sentence, kind) for kind, sentence in _IN_WORDS.items()),
        Rule(
            _n("Not your last password", "None of your last %(num)d passwords", policy.history),
            PasswordRule.EARLIER,
            policy.history,
        ),
    ]
    asked, broken = set(_asked(policy, is_first=is_first)), set(_broken(stated, refusal))
    return tuple(
        Rule(rule.sentence, rule.kind, rule.number, rule.kind in broken)
        for rule in stated
        if rule.kind in asked or rule.kind in broken
    )


def problem_of(refusal: ApiError) -> Any | None:
    """Return what is wrong with a new password; None where the refusal speaks of something else."""
    if isinstance(refusal, e.WeakPassword) and refusal.description == SENTENCES[PasswordRule.PROFILE]:
        return _l("Your name or your address stands in this one. Choose another one.")
    return next((sentence for kind, sentence in _ON_THE_FIELD.items() if isinstance(refusal, kind)), None)


def sample_refusals() -> dict[str, ApiError]:
    """Return what may be wrong with a new password, for the samples of its pages."""
    lacks = (SENTENCES[PasswordRule.LEAST].format(number=10), SENTENCES[PasswordRule.NUMBER])
    return {
        "too weak": e.FieldsRefused(problems=[("Password", sentence) for sentence in lacks]),
        "common": e.WeakPassword(SENTENCES[PasswordRule.COMMON]),
        "with a name": e.WeakPassword(SENTENCES[PasswordRule.PROFILE]),
        "used before": e.PasswordNotAcceptable(),
        "breached": e.NewPasswordBreached(),
    }


def _asked(policy: PasswordPolicy, *, is_first: bool) -> Iterator[PasswordRule]:
    yield PasswordRule.LEAST
    for is_asked, kind in (
        (policy.max_length < _FEW_CHARACTERS, PasswordRule.MOST),
        (policy.require_lowercase, PasswordRule.LOWER),
        (policy.require_uppercase, PasswordRule.UPPER),
        (policy.require_number, PasswordRule.NUMBER),
        (policy.require_symbol, PasswordRule.SIGN),
        (policy.profile_check, PasswordRule.PROFILE),
        (policy.common_check, PasswordRule.COMMON),
        (policy.breached == "change", PasswordRule.STOLEN),
        (policy.history > 0 and not is_first, PasswordRule.EARLIER),
    ):
        if is_asked:
            yield kind


def _broken(stated: list[Rule], refusal: ApiError | None) -> Iterator[PasswordRule]:
    if isinstance(refusal, e.NewPasswordBreached):
        yield PasswordRule.STOLEN
    if isinstance(refusal, e.PasswordNotAcceptable):
        yield PasswordRule.EARLIER
    if isinstance(refusal, e.FieldsRefused | e.WeakPassword):
        said = {refusal.description, *(sentence for _, sentence in refusal.problems)}
        numbers = {rule.kind: rule.number for rule in stated}
        yield from (kind for kind, sentence in SENTENCES.items() if sentence.format(number=numbers[kind]) in said)


_WATCHED: Final = frozenset(
    {
        PasswordRule.LEAST,
        PasswordRule.MOST,
        PasswordRule.LOWER,
        PasswordRule.UPPER,
        PasswordRule.NUMBER,
        PasswordRule.SIGN,
    }
)
_IN_WORDS: Final = {
    PasswordRule.LOWER: _l("A lower-case letter"),
    PasswordRule.UPPER: _l("An upper-case letter"),
    PasswordRule.NUMBER: _l("A number"),
    PasswordRule.SIGN: _l("A sign such as ! or -"),
    PasswordRule.PROFILE: _l("Without your name or your address"),
    PasswordRule.COMMON: _l("None that many people use"),
    PasswordRule.STOLEN: _l("None that was stolen somewhere"),
}
_ON_THE_FIELD: Final[dict[type[ApiError], Any]] = {
    e.FieldsRefused: _l("Choose one that keeps every rule below."),
    e.WeakPassword: _l("Many people use this one. Choose another one."),
    e.PasswordNotAcceptable: _l("You used this one before. Choose another one."),
    e.NewPasswordBreached: _l("This one stands in lists of stolen passwords. Choose another one."),
}
