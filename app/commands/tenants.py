"""gatehouse tenant, key, secrets, outbox: operations on stored data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, open_services

if TYPE_CHECKING:
    from app.identity.platform.services import Services
    from app.identity.platform.store.unit import UnitOfWork

_IDS_MAY_BEGIN_WITH_HYPHEN = {"ignore_unknown_options": True}
"""Older versions issued ids in base64url, whose alphabet contains the hyphen."""


@click.group
def tenant() -> None:
    """List or remove tenants."""


@tenant.command("list")
def tenant_list() -> None:
    """Print every tenant with its address."""
    from app.identity.directory.tenants import changes  # noqa: PLC0415 - as above
    from app.identity.directory.tenants.store import LOOKUP_TENANT  # noqa: PLC0415 - as above
    from app.identity.platform.store.unit import UnitOfWork  # noqa: PLC0415 - only this command needs it

    with open_services() as services:
        work = UnitOfWork(services.database, LOOKUP_TENANT)
        try:
            for record in changes.all_tenants(work):
                state = "" if record.is_active else "  (not active)"
                click.echo(f"{record.name.ljust(32)} {services.settings.hub_url(record.name)}{state}")
        finally:
            work.rollback()


@tenant.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
def tenant_remove(name: str, yes: bool) -> None:
    """Remove tenant NAME with its applications, accounts, tokens and audit trail. This cannot be undone."""
    from app.identity.platform.store import removal  # noqa: PLC0415 - only this command needs it

    with open_services() as services:
        work = _tenant_work(services, name)
        try:
            if not yes:
                work.release_connection()
                click.confirm(f"Remove {name} and everything in it?", abort=True)
            removal.delete_tenant_rows(work)
            work.commit()
        finally:
            work.rollback()
        click.echo(f"Removed {name}.")


@click.group
def key() -> None:
    """Signing keys."""


@key.command("rotate")
@click.argument("tenant_name", metavar="TENANT")
def key_rotate(tenant_name: str) -> None:
    """Publish a new signing key of TENANT now, sign with it in 20 minutes, and keep the old one published meanwhile."""
    with open_services() as services:
        work = _tenant_work(services, tenant_name)
        try:
            kid = services.signing_keys.rotate(work)
            work.commit()
        finally:
            work.rollback()
        click.echo(f"{tenant_name}: key {kid} is published and starts signing in 20 minutes.")


@key.command("revoke", context_settings=_IDS_MAY_BEGIN_WITH_HYPHEN)
@click.argument("tenant_name", metavar="TENANT")
@click.argument("kid", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
def key_revoke(tenant_name: str, kid: str | None, yes: bool) -> None:
    """Withdraw a leaked signing key of TENANT at once: KID, or the current signing key.

    Every process stops publishing it within 5 s, and another key signs. Machine tokens and JWT access tokens become invalid.
    Applications accept the key until their cached copy of the key set expires.
    """
    from app.identity.administration import key_revocation  # noqa: PLC0415 - only this command needs it

    with open_services() as services:
        work = _tenant_work(services, tenant_name)
        try:
            if not yes:
                work.release_connection()
                click.confirm(f"Withdraw {kid or 'the key that signs'}? Tokens that it signed are refused.", abort=True)
            revoked = key_revocation.revoke(services, work, kid)
            work.commit()
        except LookupError:
            raise CommandError(f"{tenant_name} publishes no key {kid or ''}".rstrip() + ".") from None
        finally:
            work.rollback()
        click.echo(
            f"{tenant_name}: key {revoked.kid} is withdrawn with {revoked.tokens} tokens; {revoked.signs} signs now."
        )


@click.group
def secrets() -> None:
    """Secrets at rest."""


@secrets.command("rotate")
def secrets_rotate() -> None:
    """Re-encrypt all secrets with the first line of GATEHOUSE_SECRET_KEY; older lines can then be removed."""
    from app.identity.administration.reencryption import reencrypt  # noqa: PLC0415 - only this command needs it
    from app.identity.platform.encryption import DecryptionError  # noqa: PLC0415 - as above

    with open_services() as services:
        try:
            count = reencrypt(services)
        except DecryptionError as problem:
            raise CommandError(str(problem)) from None
        click.echo(f"Re-encrypted {count} values; the others already used the first secret.")


@click.group
def outbox() -> None:
    """List and replay messages of the outbox."""


@outbox.command("list")
@click.option("--state", type=click.Choice(["waiting", "sent", "dead"]), help="Only these.")
@click.option("--most", default=100, show_default=True, type=click.IntRange(1, 10_000))
def outbox_list(state: str | None, most: int) -> None:
    """Print messages, the newest first, without their content."""
    from app.identity.platform.outbox import claims  # noqa: PLC0415 - only this command needs it

    with open_services() as services:
        for row in claims.list_messages(services.database, state, most):
            about = (
                f"{row.created_at:%Y-%m-%d %H:%M:%S}  {row.state:8} {row.kind:8} {row.message_id}  tried {row.attempts}"
            )
            click.echo(about + (f"  {row.last_problem}" if row.last_problem else ""))


@outbox.command("replay", context_settings=_IDS_MAY_BEGIN_WITH_HYPHEN)
@click.argument("message_id", required=False)
@click.option("--all", "every", is_flag=True, help="All dead letters.")
def outbox_replay(message_id: str | None, every: bool) -> None:
    """Send a dead message again, or all with --all."""
    from app.identity.platform.outbox import claims  # noqa: PLC0415 - only this command needs it

    if every == (message_id is not None):
        raise CommandError("Name one MESSAGE_ID, or --all.")
    with open_services() as services:
        count = claims.replay(services.database, services.clock.now(), message_id)
        if not count and message_id:
            raise CommandError(
                f"There is no dead letter {message_id!r}; 'gatehouse outbox list --state dead' shows them."
            )
        click.echo(f"{count} due again.")


def _tenant_work(services: Services, name: str) -> UnitOfWork:
    """Return a unit of work of the tenant with this name. Raises CommandError if there is none."""
    from app.identity.directory.tenants import changes  # noqa: PLC0415 - as above
    from app.identity.directory.tenants.store import LOOKUP_TENANT  # noqa: PLC0415 - as above
    from app.identity.platform.store.unit import UnitOfWork  # noqa: PLC0415 - as everywhere here

    work = UnitOfWork(services.database, LOOKUP_TENANT)
    record = changes.by_name(work, name)
    work.release_connection()
    if record is None:
        raise CommandError(f"There is no tenant {name!r}; 'gatehouse tenant list' shows them.")
    work.switch_tenant(record.tenant_id)
    return work
