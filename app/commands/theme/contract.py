"""gatehouse theme contract: prints what templates of themes can use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from app.commands.errors import CommandError

if TYPE_CHECKING:
    from app.contract.tenants.branding import Brand


@click.command("contract")
def theme_contract() -> None:
    """Print what templates can use, as JSON.

    An earlier version checks a theme by it: `gatehouse theme check --against`.
    """
    from app.contract.tenants.theme_contract import document

    click.echo(json.dumps(document(), ensure_ascii=False, indent=1))


def lines_against(file: Path, folder: Path, brand: Brand) -> list[str]:
    """Return what the contract in a file refuses in a theme, a line each. Raises CommandError for a file of something else."""
    from app.contract.tenants.theme_contract import problems_under

    try:
        found: Any = json.loads(file.read_bytes())
        problems = [*problems_under(found, brand)]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise CommandError(f"{file} isn't the output of gatehouse theme contract.") from None
    return [f"{folder}/{'/'.join(problem.path)}:{problem.line or 1}: {problem.sentence}" for problem in problems]
