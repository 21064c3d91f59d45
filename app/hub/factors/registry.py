"""All authenticators as pages show them, by kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from app.contract.second_factors.challenge import FactorKind
from app.hub.factors.presentation import FactorPresentation

PRESENTATIONS: Final[Mapping[FactorKind, FactorPresentation]] = MappingProxyType(
    {kind: import_module(f"{__package__}.{kind}").PRESENTATION for kind in FactorKind}
)
"""Each from the module with the name of its kind."""


_STRONGEST_FIRST: Final = (
    FactorKind.PASSKEY,
    FactorKind.TOTP,
    FactorKind.PUSH,
    FactorKind.DUO,
    FactorKind.SMS,
    FactorKind.EMAIL,
    FactorKind.BACKUP_CODE,
    FactorKind.QUESTIONS,
)


@dataclass(frozen=True)
class FactorChoiceRow:
    """A factor as a row of a list to choose from."""

    kind: str
    name: Any
    hint: Any
    icon: str
    is_last_used: bool = False

    @property
    def is_strong(self) -> bool:
        """Whether it depends on neither a message, a printed code nor an answer."""
        return strength(self.kind) < strength(FactorKind.SMS)

    @classmethod
    def of(cls, kind: FactorKind, hint: str | None = None, *, is_last_used: bool = False) -> FactorChoiceRow:
        """Return the row of a factor; `hint` is the account's own, such as a masked number."""
        presentation = PRESENTATIONS[kind]
        shown = presentation.own_hint(hint) if hint else presentation.hint
        return cls(kind.value, presentation.name, shown, presentation.icon, is_last_used)


def strength(kind: str) -> int:
    """Return the rank of a factor kind, 0 for the strongest."""
    return _STRONGEST_FIRST.index(FactorKind(kind))


def is_weak(kind: FactorKind) -> bool:
    """Return whether others can get or guess what the factor asks for more easily (NIST SP 800-63B-4, 3.1.3 and 3.2.13)."""
    return kind in (FactorKind.SMS, FactorKind.EMAIL, FactorKind.QUESTIONS)


def ranked(rows: Iterable[FactorChoiceRow]) -> tuple[FactorChoiceRow, ...]:
    """Return the row of the factor used last, then the others, the strongest first."""
    return tuple(sorted(rows, key=lambda row: (not row.is_last_used, strength(row.kind))))


_KINDS: Final[Mapping[str | None, FactorKind]] = {kind.value: kind for kind in FactorKind}


def kind_of(text: str | None) -> FactorKind | None:
    """Return the factor kind with this value; None for any other text."""
    return _KINDS.get(text)
