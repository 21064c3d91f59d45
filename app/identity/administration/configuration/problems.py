"""What is wrong with a configuration file, all of it at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One wrong place: where, which key, and what was expected there."""

    file: str
    line: int
    key: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.key + ': ' if self.key else ''}{self.sentence}"


class ConfigurationError(Exception):
    """The file cannot be applied; nothing was."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda problem: (problem.file, problem.line, problem.key)))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def key_of(path: Path) -> str:
    """Return a path as people write it: `tenants[0].settings.two_factor`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
