"""How a command refuses: one sentence on stderr, exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from app.settings import Settings, SettingsError, read

if TYPE_CHECKING:
    from app.identity.platform.services import Services


class Refusal(click.ClickException):
    """The command cannot do it; the text says why."""

    exit_code = 2


def settings() -> Settings:
    """Return the settings, or refuse."""
    try:
        return read()
    except SettingsError as problem:
        raise Refusal(str(problem)) from None


@contextmanager
def in_words() -> Iterator[None]:
    """Turn what an operator can mend into a refusal."""
    from app.identity.platform.encryption import DecryptionError  # noqa: PLC0415 - as above
    from app.identity.platform.store.database import StoreUnavailable  # noqa: PLC0415 - only commands that reach the store pay for it

    try:
        yield
    except (SettingsError, StoreUnavailable) as problem:
        raise Refusal(str(problem)) from None
    except DecryptionError:
        raise Refusal(
            "GATEHOUSE_SECRET_KEY is not what the store was sealed under, so no key opens this value: is an older line missing?"
        ) from None
    except OSError as problem:
        raise Refusal(f"{problem.filename or ''}: {problem.strerror or problem}".removeprefix(": ")) from None


@contextmanager
def services() -> Iterator[Services]:
    """Give the process's services over a database that is up to date, or refuse."""
    from app.identity.directory.tenants import tenant_secrets  # noqa: PLC0415 - as above
    from app.identity.entry.assembly import assemble  # noqa: PLC0415 - as above
    from app.identity.platform.store import migrate  # noqa: PLC0415 - as above

    with in_words():
        made = assemble(settings())
        migrate.ready(made.settings, made.database)
        tenant_secrets.check_key(made.database, made.encryption)
        yield made
        made.database.dispose()
