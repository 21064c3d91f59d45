"""gatehouse why: which check of an identity provider's answer failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import tenant_work
from app.contract.federation.connection_checks import stored_name

if TYPE_CHECKING:
    from app.identity.authentication.federation.connection_traces import ConnectionTrace

_MAX_LISTED = 100


@click.command
@click.argument("tenant_name", metavar="TENANT")
@click.argument("reference", required=False)
@click.option("--connection", default="", help="Show those of this connection alone.")
def why(tenant_name: str, reference: str | None, connection: str) -> None:
    """Show why an answer of an identity provider was refused, and what to change there.

    REFERENCE is the ID that the person's page showed, or the X-Request-Id of an app's answer. Without it, the latest refused
    answers of TENANT are listed. Gatehouse keeps 100 of each connection for seven days. Times are in UTC.
    """
    from app.identity.authentication.federation import connection_traces

    with open_services() as services:
        work, now = tenant_work(services, tenant_name), services.clock.now()
        try:
            if reference is not None:
                found = connection_traces.with_reference(work, reference.strip(), now, connection=connection)
            else:
                found = connection_traces.latest(work, now, _MAX_LISTED, connection=connection)
        finally:
            work.rollback()
    if reference is None:
        for trace in found:
            click.echo(
                f"{trace.at:%Y-%m-%d %H:%M:%S}  {trace.reference:16}  {_place(trace)}  {stored_name(trace.failed_check, trace.cause)}"
            )
        return
    if not found:
        raise CommandError(
            f"{tenant_name} has no refused answer of a provider with the reference {reference!r}. Gatehouse keeps them for seven days. "
            f"'gatehouse audit {tenant_name} --reference {reference}' shows what else happened in the request."
        )
    click.echo("\n\n".join(_described(trace) for trace in found))


def _place(trace: ConnectionTrace) -> str:
    return f"{trace.connection} of {trace.org_id}" if trace.org_id else trace.connection


def _described(trace: ConnectionTrace) -> str:
    parts = (
        ("when", f"{trace.at:%Y-%m-%d %H:%M:%S}"),
        ("connection", _place(trace)),
        ("failed check", stored_name(trace.failed_check, trace.cause)),
        ("problem", trace.diagnosis.problem),
        ("expected", trace.expected),
        ("received", trace.received),
        ("what to change", trace.diagnosis.advice),
    )
    return "\n".join(f"{name + ':':16}{text}" for name, text in parts if text)
