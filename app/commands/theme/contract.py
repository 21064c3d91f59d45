"""gatehouse theme contract: prints what templates of themes can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.commands.errors import CommandError

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand
    from app.contract.themes.theme_problems import ThemeProblem


@click.command("contract")
def theme_contract() -> None:
    """Print what templates can use, as JSON.

    An earlier version checks a theme by it: `gatehouse theme check --against`.
    """
    from app.contract.themes.theme_contract import document

    click.echo(json.dumps(document(), ensure_ascii=False, indent=1))


def lines_against(file: Path, folder: Path, brand: Brand) -> list[str]:
    """Return what the contract in a file refuses in a theme, a line each. Raises CommandError for a file of something else."""
    from app.contract.themes.theme_contract import problems_under

    try:
        found: Any = json.loads(file.read_bytes())
        problems = [*problems_under(found, brand)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{file} isn't the output of gatehouse theme contract.") from None
    return [f"{folder}/{_file_of(problem)}:{problem.line or 1}: {problem.sentence}" for problem in problems]


def _file_of(problem: ThemeProblem) -> str:
    """Return the file of a theme folder that a problem is in, with the key of a text."""
    from app.identity.administration.configuration.file.theme.tree import PLACES

    key, *within = problem.path
    if key == "texts" and within:
        return f"{PLACES[key]}/{within[0]}.yaml ({within[-1]})"
    return "/".join((PLACES[key], *within)) if key in PLACES else "theme.yaml"
