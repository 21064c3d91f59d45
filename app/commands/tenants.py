"""gatehouse tenant, key, secrets, outbox: operations on stored data."""

from __future__ import annotations

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import confirm, counted, tenant_work, without_password
from app.commands.tenant_archives import archive, restore

_IDS_MAY_BEGIN_WITH_HYPHEN = {"ignore_unknown_options": True}
"""Older versions issued ids in base64url, whose alphabet contains the hyphen."""


@click.group
def tenant() -> None:
    """List, suspend, remove, archive or restore tenants."""


tenant.add_command(archive)
tenant.add_command(restore)


@tenant.command("list")
def tenant_list() -> None:
    """List every tenant with its address."""
    from app.identity.directory.tenants import tenant_writes
    from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
    from app.identity.platform.store.unit_of_work import UnitOfWork

    with open_services() as services:
        work = UnitOfWork(services.database, LOOKUP_TENANT)
        try:
            records = tenant_writes.all_tenants(work)
            if not records:
                click.echo(f"No tenants in {without_password(services.settings.database)}", err=True)
            for record in records:
                state = "" if record.is_active else "  (suspended)"
                click.echo(f"{record.name.ljust(32)} {services.settings.hub_url(record.name)}{state}")
        finally:
            work.rollback()


@tenant.command("remove")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
def tenant_remove(name: str, yes: bool) -> None:
    """Remove tenant NAME and everything in it.

    Its applications, accounts, tokens and audit trail are deleted. This can't be undone.
    """
    from app.identity.platform.store import removal

    with open_services() as services:
        work = tenant_work(services, name)
        try:
            if not yes:
                work.release_connection()
                confirm(f"Remove tenant {name} and everything in it? This can't be undone.")
            removal.delete_tenant_rows(work)
            work.commit()
        finally:
            work.rollback()
        click.echo(f"Removed tenant {name}.")


@tenant.command("suspend")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
def tenant_suspend(name: str, yes: bool) -> None:
    """Suspend tenant NAME, without removing anything.

    Within 5 seconds, its pages, API and token endpoints answer as if there were no such tenant, and its tokens aren't
    accepted. `tenant resume` takes it back.
    """
    _set_active(name, is_active=False, question=f"Suspend tenant {name}? Nobody can sign in to it." if not yes else "")
    click.echo(f"Suspended tenant {name}. To take it back, run 'gatehouse tenant resume {name}'.")


@tenant.command("resume")
@click.argument("name")
def tenant_resume(name: str) -> None:
    """Serve a suspended tenant again. Sessions and tokens that haven't expired meanwhile work again."""
    _set_active(name, is_active=True)
    click.echo(f"Resumed tenant {name}.")


def _set_active(name: str, *, is_active: bool, question: str = "") -> None:
    from app.identity.directory.tenants import tenant_writes
    from app.identity.platform.audit import AuditLog

    with open_services() as services:
        work = tenant_work(services, name)
        try:
            if question:
                work.release_connection()
                confirm(question)
            tenant_writes.change(work, is_active=is_active)
            audit = AuditLog(services.clock)
            audit.record("tenant.resumed" if is_active else "tenant.suspended")
            audit.write(work)
            work.commit()
        finally:
            work.rollback()


@click.group
def key() -> None:
    """Rotate or revoke signing keys."""


@key.command("rotate")
@click.argument("tenant_name", metavar="TENANT")
@click.option(
    "--algorithm", metavar="ALGORITHM", help="Rotate only the key of this algorithm, such as ES256, or webhooks."
)
def key_rotate(tenant_name: str, algorithm: str | None) -> None:
    """Publish new signing keys for TENANT.

    One for each algorithm that it has a key for. The new keys start signing in 20 minutes. The old keys stay published, so
    tokens they signed keep working. Every process publishes the new keys within 5 seconds.
    """
    from app.identity.platform.audit import AuditLog

    with open_services() as services:
        work = tenant_work(services, tenant_name)
        try:
            stored = services.signing_keys.algorithms(work) or ("RS256",)
            if algorithm is not None and algorithm not in stored:
                raise CommandError(f"{tenant_name} has no {algorithm} key. It has keys for {', '.join(stored)}.")
            kids = [(name, services.signing_keys.rotate(work, name)) for name in stored if algorithm in (None, name)]
            audit = AuditLog(services.clock)
            for name, kid in kids:
                audit.record("signing_key.rotated", kid=kid, alg=name)
            audit.write(work)
            work.commit()
        finally:
            work.rollback()
        for name, kid in kids:
            click.echo(f"Published key {kid} ({name}) for {tenant_name}. It starts signing in 20 minutes.")


@key.command("revoke", context_settings=_IDS_MAY_BEGIN_WITH_HYPHEN)
@click.argument("tenant_name", metavar="TENANT")
@click.argument("kid", required=False)
@click.option("--yes", is_flag=True, help="Skip the confirmation prompt.")
def key_revoke(tenant_name: str, kid: str | None, yes: bool) -> None:
    """Revoke a leaked signing key of TENANT.

    Without KID, the current RS256 one. Every process stops publishing it within 5 seconds, and another key of its algorithm
    signs. JWT access tokens of that algorithm stop working, and machine tokens with RS256. Applications accept the key until
    their cached copy of the key set expires.
    """
    from app.identity.administration import key_revocation

    with open_services() as services:
        work = tenant_work(services, tenant_name)
        try:
            if not yes:
                work.release_connection()
                named = f"key {kid}" if kid else "the current signing key"
                confirm(f"Revoke {named} of {tenant_name}? Tokens it signed will stop working.")
            revoked = key_revocation.revoke(services, work, kid)
            work.commit()
        except LookupError:
            raise CommandError(f"{tenant_name} has no published key{f' {kid}' if kid else ''}.") from None
        finally:
            work.rollback()
        click.echo(
            f"Revoked key {revoked.kid} of {tenant_name} and {counted(revoked.tokens, 'token')}. Key {revoked.signs} signs now."
        )


@click.group
def secrets() -> None:
    """Re-encrypt stored secrets with the newest secret key."""


@secrets.command("rotate")
def secrets_rotate() -> None:
    """Re-encrypt stored secrets with the newest secret key.

    That's the first line of GATEHOUSE_SECRET_KEY. You can remove the older lines afterwards.
    """
    from app.identity.administration.reencryption import reencrypt
    from app.identity.platform.encryption import DecryptionError

    with open_services() as services:
        try:
            count = reencrypt(services)
        except DecryptionError as problem:
            raise CommandError(f"Couldn't re-encrypt every secret: {problem}.") from None
        click.echo(
            f"Re-encrypted {counted(count, 'value')}. All secrets now use the first line of GATEHOUSE_SECRET_KEY."
        )


@click.group
def outbox() -> None:
    """List outgoing messages, and send failed ones again."""


@outbox.command("list")
@click.option("--state", type=click.Choice(["waiting", "sent", "dead"]), help="Show only messages in this state.")
@click.option(
    "--most", default=100, show_default=True, type=click.IntRange(1, 10_000), help="Maximum number of messages to show."
)
def outbox_list(state: str | None, most: int) -> None:
    """List messages, newest first, without their content."""
    from app.identity.platform.outbox import claims

    with open_services() as services:
        rows = claims.list_messages(services.database, state, most)
        if not rows:
            click.echo("No messages.", err=True)
        for row in rows:
            about = f"{row.created_at:%Y-%m-%d %H:%M:%S}  {row.state:8} {row.kind:8} {row.message_id}  {counted(row.attempts, 'attempt')}"
            click.echo(about + (f"  {row.last_problem}" if row.last_problem else ""))


@outbox.command("replay", context_settings=_IDS_MAY_BEGIN_WITH_HYPHEN)
@click.argument("message_id", required=False)
@click.option("--all", "every", is_flag=True, help="Send all dead messages again.")
def outbox_replay(message_id: str | None, every: bool) -> None:
    """Send a dead message again, or all of them with --all.

    A message is dead once its last attempt has failed. The worker sends it within seconds.
    """
    from app.identity.platform.outbox import claims

    if every == (message_id is not None):
        raise CommandError("Name one MESSAGE_ID, or use --all.")
    with open_services() as services:
        count = claims.replay(services.database, services.clock.now(), message_id)
        if not count and message_id:
            raise CommandError(
                f"There's no dead message {message_id!r}. List them with 'gatehouse outbox list --state dead'."
            )
        click.echo(f"Queued {counted(count, 'message')} to send again.")
