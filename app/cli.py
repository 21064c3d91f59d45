"""The command line `gatehouse`. Errors that an operator can fix print one sentence and exit with status 2."""

from __future__ import annotations

import gc
import importlib
import keyword
import sys

import click

from app import __version__

COMMANDS = {
    "serve": ("serving", "Serve the hub, the identity service, or both."),
    "worker": ("serving", "Deliver emails and text messages in a separate process."),
    "demo": ("demo", "Try Gatehouse: two tenants, a sample shop and an inbox."),
    "new": ("new", "Create a tenant and a starter app that signs in with it."),
    "migrate": ("database", "Migrate the database to this version's schema."),
    "doctor": ("database", "Check that this version can serve the database."),
    "backup": ("database", "Back up the database, and check restored backups."),
    "apply": ("configuration", "Create and update tenants from a configuration file."),
    "export": ("configuration", "Print a tenant as a configuration file, without secrets."),
    "import": ("account_import", "Import accounts of another system, with their passwords."),
    "schema": ("configuration", "Print the JSON Schema of configuration files."),
    "theme": ("theme.group", "Begin and check a theme folder, save and publish versions, and find the keys of texts."),
    "mail": ("messages", "Send a sample of a tenant's emails."),
    "sms": ("messages", "Send a sample of a tenant's text messages."),
    "tenant": ("tenants", "List, suspend, remove, archive or restore tenants."),
    "key": ("tenants", "Rotate or revoke signing keys."),
    "initial-access-token": ("initial_access_tokens", "Create, list or revoke tokens that let applications register."),
    "setup-link": (
        "setup_links",
        "Create, list or revoke links by which an organization's administrator sets up its connection.",
    ),
    "secrets": ("tenants", "Re-encrypt stored secrets with the newest secret key."),
    "workflow": ("workflows", "Try a draft of a workflow on past sign-ins."),
    "account": ("accounts", "List, show, block and unblock accounts, reset their second factors, end their sessions."),
    "audit": ("audit", "Show what happened to the accounts of a tenant, and why sign-ins were refused."),
    "why": ("why", "Show why an answer of an identity provider was refused, and what to change there."),
    "webhooks": ("webhooks.webhook_commands", "Forward events to your machine, list deliveries, and send them again."),
    "outbox": ("tenants", "List outgoing messages, and send failed ones again."),
    "routes": ("catalogue", "List every endpoint, or print rules for a reverse proxy."),
    "openapi": ("catalogue", "Print the OpenAPI document of the API."),
}


_GC_THRESHOLD = 10_000
"""Threshold of the garbage collector's first generation. Python's default of 700 suits small programs; importing this one
creates half a million permanent objects. Measured: 5 % of the start and 10 % of a sign-in, for 2 MB."""


class LazyGroup(click.Group):
    """Imports the module of a command when the command is used."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"app.commands.{COMMANDS[name][0]}")
        attribute = name.replace("-", "_") + ("_" if keyword.iskeyword(name) else "")
        command: click.Command = getattr(module, attribute)
        return command

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="gatehouse")
def cli() -> None:
    """Sign-in pages for your applications, and the identity service behind them."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_GC_THRESHOLD)
    try:
        cli.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except BrokenPipeError:  # `gatehouse routes | head`
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
