"""gatehouse initial-access-token: tokens that let applications register themselves (RFC 7591 section 3)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import counted, tenant_work
from app.contract.oauth.registration_settings import MAX_DAYS, MAX_USES

if TYPE_CHECKING:
    from app.identity.platform.services import IdentityServices
    from app.identity.platform.store.unit_of_work import UnitOfWork


@click.group("initial-access-token")
def initial_access_token() -> None:
    """Create, list or revoke tokens that let applications register."""


@initial_access_token.command("create")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("name")
@click.option(
    "--uses",
    default=1,
    show_default=True,
    type=click.IntRange(1, MAX_USES),
    help="How many applications may register with it.",
)
@click.option(
    "--days",
    default=7,
    show_default=True,
    type=click.IntRange(1, MAX_DAYS),
    help="Days until it expires.",
)
def create(tenant_name: str, name: str, uses: int, days: int) -> None:
    """Create a token for TENANT and print it once.

    NAME names it in lists and in the audit log. Applications send the token as the bearer token of a registration.
    """
    from app.identity.administration.applications import initial_access_token_administration

    with _tenant(tenant_name) as (services, work):
        created = initial_access_token_administration.create(services, work, name, max_uses=uses, days=days)
        work.commit()
    click.echo("Save this now. It won't be shown again:", err=True)
    click.echo(created.token)
    until = f"{created.expires_at:%Y-%m-%d %H:%M} UTC"
    click.echo(f"{counted(uses, 'application')} can register at {tenant_name} with it until {until}.", err=True)
    if created.is_useless:
        sentence = "doesn't accept registrations yet: set settings.client_registration.mode to initial_access_token."
        click.echo(f"{tenant_name} {sentence}", err=True)


@initial_access_token.command("list")
@click.argument("tenant_name", metavar="TENANT")
def list_tokens(tenant_name: str) -> None:
    """List the tokens of TENANT, oldest first: name, uses and expiry."""
    from app.identity.protocols.oauth.registration import initial_access_tokens

    with _tenant(tenant_name) as (services, work):
        rows = initial_access_tokens.all_tokens(work)
        if not rows:
            click.echo("No tokens.", err=True)
        for row in rows:
            state = " (expired)" if row.expires_at <= services.clock.now() else ""
            used = f"{row.uses}/{row.max_uses} used"
            click.echo(f"{row.name.ljust(32)} {used.ljust(16)} expires {row.expires_at:%Y-%m-%d %H:%M} UTC{state}")


@initial_access_token.command("revoke")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("name")
def revoke(tenant_name: str, name: str) -> None:
    """Revoke token NAME of TENANT. Applications that registered with it stay."""
    from app.identity.administration.applications import initial_access_token_administration

    with _tenant(tenant_name) as (services, work):
        is_in_file = initial_access_token_administration.revoke(services, work, name)
        work.commit()
    click.echo(f"Revoked token {name} of {tenant_name}.")
    if is_in_file:
        click.echo("The last applied file lists it. Remove it there too, or the next 'gatehouse apply' brings it back.")


@contextmanager
def _tenant(name: str) -> Iterator[tuple[IdentityServices, UnitOfWork]]:
    """Yield the services and a unit of work of the tenant. Raises CommandError."""
    from app.identity.administration.applications.initial_access_token_administration import InitialAccessTokenRefused

    with open_services() as services:
        work = tenant_work(services, name)
        try:
            yield services, work
        except InitialAccessTokenRefused as problem:
            raise CommandError(f"{problem}. List tokens with 'gatehouse initial-access-token list {name}'.") from None
        finally:
            work.rollback()
