"""gatehouse setup-link: links by which administrators of organizations set up their connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, open_services
from app.commands.prompts import outside_requests
from app.contract.organizations.setup_operations import MAX_DAYS, MAX_HOURS, MAX_OPENINGS

if TYPE_CHECKING:
    from app.identity.directory.organizations.organization import OrganizationRecord
    from app.identity.platform.context import Context


@click.group("setup-link")
def setup_link() -> None:
    """Create, list or revoke links by which an organization's administrator sets up its connection."""


@setup_link.command("create")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("organization")
@click.option(
    "--days", default=7, show_default=True, type=click.IntRange(1, MAX_DAYS), help="Days in which it can be opened."
)
@click.option(
    "--hours",
    default=8,
    show_default=True,
    type=click.IntRange(1, MAX_HOURS),
    help="Hours until it has to be opened again.",
)
@click.option(
    "--openings",
    default=10,
    show_default=True,
    type=click.IntRange(1, MAX_OPENINGS),
    help="How often it can be opened.",
)
@click.option(
    "--join/--no-join",
    default=True,
    show_default=True,
    help="Whether people who sign in by the connection join the organization.",
)
@click.option("--connection", help="The ID of a SAML connection: the link only adds certificates to it.")
def create(
    tenant_name: str, organization: str, days: int, hours: int, openings: int, join: bool, connection: str | None
) -> None:
    """Create a link for ORGANIZATION of TENANT and print it once.

    ORGANIZATION is an ID or a name. The link opens a guide on the tenant's host. Send it to one person you trust.
    """
    from app.contract.organizations.setup_operations import CreateSetupLink
    from app.identity.directory.organizations.setup import setup_links

    with _organization(tenant_name, organization) as (context, found):
        request = CreateSetupLink(
            org_id=found.org_id,
            days_to_open=days,
            session_hours=hours,
            max_openings=openings,
            jit_provisioning=join,
            connection_id=connection,
        )
        link, url = setup_links.create(context, request)
        context.commit()
    click.echo("Save this now. It won't be shown again:", err=True)
    click.echo(url)
    click.echo(f"{link.link_id} can be opened until {link.ends_at:%Y-%m-%d %H:%M} UTC.", err=True)


@setup_link.command("list")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("organization")
def list_links(tenant_name: str, organization: str) -> None:
    """List the links of ORGANIZATION of TENANT.

    The oldest first: ID, state, openings and expiry.
    """
    from app.identity.directory.organizations.setup import setup_link_store

    with _organization(tenant_name, organization) as (context, found):
        links = setup_link_store.page(context, found.org_id, None, 0)
        if not links:
            click.echo("No set-up links.", err=True)
        for link in links:
            opened = f"{link.openings}/{link.max_openings} opened"
            until = f"{link.ends_at:%Y-%m-%d %H:%M} UTC"
            click.echo(f"{link.link_id}  {link.state(context.now):10} {opened:16} until {until}")


@setup_link.command("revoke")
@click.argument("tenant_name", metavar="TENANT")
@click.argument("organization")
@click.argument("link_id", metavar="LINK")
def revoke(tenant_name: str, organization: str, link_id: str) -> None:
    """Revoke LINK of ORGANIZATION of TENANT.

    The sessions that it opened end. An activated connection stays.
    """
    from app.identity.directory.organizations.setup import setup_links

    with _organization(tenant_name, organization) as (context, found):
        setup_links.revoke(context, setup_links.require(context, found, link_id))
        context.commit()
    click.echo(f"Revoked {link_id}.")


@contextmanager
def _organization(tenant_name: str, text: str) -> Iterator[tuple[Context, OrganizationRecord]]:
    """Yield a context of the tenant and the organization with this ID or name. Raises CommandError."""
    from app.identity.directory.organizations import organizations
    from app.kit.operations.errors import ApiError

    with open_services() as services, outside_requests(services, tenant_name) as context:
        found = organizations.by_id(context, text) or organizations.by_name(context, text)
        if found is None:
            raise CommandError(f"{tenant_name} has no organization {text!r}.")
        try:
            yield context, found
        except ApiError as refusal:
            raise CommandError(f"{refusal.description or refusal.message}") from None
