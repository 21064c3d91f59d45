"""The command `gatehouse`. Every refusal is one clear sentence and exit status 2."""

from __future__ import annotations

import gc
import importlib
import sys

import click

_COMMANDS = {
    "serve": ("serving", "Serve the hub, the identity service, or both."),
    "worker": ("serving", "Deliver mails and messages, and clean up, as a process of its own."),
    "demo": ("demo", "Serve a demo with two tenants, a relying app and an inbox."),
    "migrate": ("store", "Bring the database to the schema of this version."),
    "backup": ("backup", "Back up the database while it serves; check a restored one."),
    "apply": ("configuration", "Bring tenants to what a configuration file says."),
    "export": ("configuration", "Write a tenant as a configuration file, without secrets."),
    "schema": ("configuration", "Print the JSON Schema of configuration files."),
    "tenant": ("tenants", "List or remove tenants."),
    "key": ("tenants", "Signing keys."),
    "secrets": ("tenants", "Secrets at rest."),
    "outbox": ("tenants", "What waits to be delivered, and what could not be."),
    "routes": ("catalogue", "Print the addresses that are served."),
    "openapi": ("catalogue", "Print the OpenAPI document."),
}


_GARBAGE_AFTER = 10_000
"""New objects between two looks for garbage. Python's 700 is for small programs: loading this one alone makes half a million that stay.
Measured: a twentieth of the start, and a tenth of a sign-in, for 2 MB."""


class Lazy(click.Group):
    """Imports a command's file when the command is asked for."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        module = importlib.import_module(f"app.commands.{_COMMANDS[name][0]}")
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in _COMMANDS.items()])


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(package_name="gatehouse", prog_name="gatehouse")
def cli() -> None:
    """The front door of your applications: hosted sign-in pages and the identity service behind them."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_GARBAGE_AFTER)
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as refusal:
        refusal.show()
        sys.exit(refusal.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # `gatehouse routes | head`
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
