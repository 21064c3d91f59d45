"""Helpers of several commands: find a tenant by name, act in it, confirm a removal, print addresses and counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError

if TYPE_CHECKING:
    from app.identity.platform.context import Context
    from app.identity.platform.services import IdentityServices
    from app.identity.platform.store.unit_of_work import UnitOfWork


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 value` or `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


def without_password(url: str) -> str:
    """Return the address of a database as commands print it."""
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True)


def confirm(question: str) -> None:
    """Ask a question that must be answered with y. Raises click.Abort for no, CommandError without a terminal."""
    try:
        is_agreed = click.confirm(question)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo()
        raise CommandError("There's no terminal to answer at. Add --yes to go on without the question.") from None
    if not is_agreed:
        raise click.Abort


def tenant_work(services: IdentityServices, name: str) -> UnitOfWork:
    """Return a unit of work of the tenant with this name. Raises CommandError if there is none."""
    from app.identity.directory.tenants import tenant_writes
    from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
    from app.identity.platform.store.unit_of_work import UnitOfWork

    work = UnitOfWork(services.database, LOOKUP_TENANT)
    record = tenant_writes.by_name(work, name)
    work.release_connection()
    if record is None:
        raise CommandError(f"There's no tenant {name!r}. List tenants with 'gatehouse tenant list'.")
    work.switch_tenant(record.tenant_id)
    return work


@contextmanager
def outside_requests(services: IdentityServices, name: str) -> Iterator[Context]:
    """Yield the context of a command in the tenant with this name; what is not committed is rolled back.

    Raises CommandError if there is no such tenant, or if it is suspended.
    """
    from app.identity.platform.context import Context

    work = tenant_work(services, name)
    try:
        tenant = services.directory.by_name(name)
        if tenant is None:
            raise CommandError(f"{name} is suspended. To take it back, run 'gatehouse tenant resume {name}'.")
        yield Context.outside_requests(services, tenant, work)
    finally:
        work.rollback()


def only_tenant(services: IdentityServices) -> str:
    """Return the name of the only tenant. Raises CommandError if there are several, or none."""
    from app.identity.directory.tenants import tenant_writes
    from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
    from app.identity.platform.store.unit_of_work import UnitOfWork

    work = UnitOfWork(services.database, LOOKUP_TENANT)
    try:
        names = [record.name for record in tenant_writes.all_tenants(work)]
    finally:
        work.rollback()
    if len(names) != 1:
        raise CommandError("Name the tenant with --tenant. List tenants with 'gatehouse tenant list'.")
    return names[0]
