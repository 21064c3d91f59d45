"""gatehouse audit: what happened to the accounts of a tenant."""

from __future__ import annotations

import json

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import tenant_work

_MAX_EVENTS = 10_000


@click.command
@click.argument("tenant_name", metavar="TENANT")
@click.option("--email", help="Show only the account with this email address.")
@click.option("--reference", help="Show only one request: the reference on an error page, `request_id` in the log.")
@click.option(
    "--limit",
    default=50,
    show_default=True,
    type=click.IntRange(1, _MAX_EVENTS),
    help="Maximum number of entries to show.",
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per line.")
def audit(tenant_name: str, email: str | None, reference: str | None, limit: int, is_json: bool) -> None:
    """Show the audit log of TENANT, newest first.

    Times are in UTC. An attempt with an unknown email or username has no account: leave --email out to find it.
    """
    from app.identity.directory.accounts import account_store
    from app.identity.directory.accounts.identifiers import normalize
    from app.identity.platform.audit import latest

    with open_services() as services:
        work = tenant_work(services, tenant_name)
        try:
            uid = None
            if email is not None and (uid := account_store.uid_of(work, "email", normalize("email", email))) is None:
                raise CommandError(f"{tenant_name} has no account with the email {email!r}.")
            entries = latest(work, limit, uid=uid, reference=reference)
        finally:
            work.rollback()
        if not entries and not is_json:
            click.echo("No entries.", err=True)
        for item in entries:
            click.echo(_json_line(item) if is_json else _line(item))


def _json_line(entry: object) -> str:
    return json.dumps(vars(entry), default=lambda at: at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


def _line(entry: object) -> str:
    shown = dict(vars(entry))
    at, event, facts = shown.pop("at"), shown.pop("event"), shown.pop("facts")
    named = {name: value for name, value in {**facts, **shown}.items() if value not in (None, "")}
    return f"{at:%Y-%m-%d %H:%M:%S}  {event:24}  " + " ".join(f"{name}={value}" for name, value in named.items())
