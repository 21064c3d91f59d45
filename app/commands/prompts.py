"""Helpers of several commands: find a tenant by name, confirm a removal, count nouns."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError

if TYPE_CHECKING:
    from app.identity.platform.services import IdentityServices
    from app.identity.platform.store.unit_of_work import UnitOfWork


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 value` or `2 values`."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or f'{noun}s'}"


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
