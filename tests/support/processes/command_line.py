"""Commands of `gatehouse` run in this process, each over a store of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner, Result

from app.cli import cli

FILE = "tenants: [{name: acme, applications: [{name: desk, redirect_uris: ['https://desk.example/cb']}]}]"
SECRETS = ("first-secret-first-secret-first-secret", "other-secret-other-secret-other-secret")
Run = Callable[..., Result]
"""Runs a command; keyword arguments are settings."""


def runner(folder: Path) -> Run:
    """Return what runs commands over the SQLite database of a folder."""

    def invoke(*arguments: str, **settings: str) -> Result:
        if arguments[0] == "serve" and "--bind" not in arguments:  # the default port may be in use on this machine
            arguments = (*arguments, "--bind", f"unix:{folder / 'socket'}")
        environ = {"GATEHOUSE_DATA_DIR": str(folder), "GATEHOUSE_SECRET_KEY": SECRETS[0]}
        environ |= {f"GATEHOUSE_{name.upper()}": value for name, value in settings.items()}
        return CliRunner().invoke(cli, arguments, env=environ)

    return invoke


def refused(result: Result) -> str:
    """The one sentence of a refusal."""
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    return result.output.removeprefix("Error: ").strip()
