"""Errors that an operator can fix: one sentence on stderr, exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.settings import Settings, SettingsError, read, unknown_names

if TYPE_CHECKING:
    from app.identity.platform.services import IdentityServices


class CommandError(click.ClickException):
    """The command failed; the text is shown to the operator."""

    exit_code = 2


def settings(hub_domain: str = "localhost:8000") -> Settings:
    """Return the settings; `hub_domain` holds where the environment names none. Raises CommandError if they are invalid.

    Warns of variables that no setting reads, because they are usually misspelled.
    """
    for sentence in unknown_names():
        click.echo(f"Warning: {sentence}", err=True)
    try:
        return read(hub_domain=hub_domain)
    except SettingsError as problem:
        raise CommandError(str(problem)) from None


@contextmanager
def as_command_errors() -> Iterator[None]:
    """Raise CommandError for errors that an operator can fix."""
    from app.identity.platform.encryption import DecryptionError
    from app.identity.platform.store.database import StoreUnavailable

    try:
        yield
    except (SettingsError, StoreUnavailable) as problem:
        raise CommandError(str(problem)) from None
    except DecryptionError:
        raise CommandError(
            "GATEHOUSE_SECRET_KEY can't decrypt this database. Set the key it was encrypted with. "
            "After a rotation, keep the old key as another line."
        ) from None
    except OSError as problem:
        raise CommandError(f"{problem.filename or ''}: {problem.strerror or problem}".removeprefix(": ")) from None


@contextmanager
def open_services(chosen_settings: Settings | None = None) -> Iterator[IdentityServices]:
    """Yield the services over a migrated database, with the given settings or those of the environment. Raises CommandError."""
    from app import identity
    from app.identity.directory.tenants.keys import tenant_secrets
    from app.identity.platform.store import migrate

    with as_command_errors():
        services = identity.create_services(chosen_settings or settings())
        migrate.ready(services.settings, services.database)
        tenant_secrets.check_key(services.database, services.encryption)
        yield services
        services.database.dispose()
