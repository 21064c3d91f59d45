"""Options that the commands of webhooks share."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any, Final
from urllib.parse import urlsplit

import click

from app.commands.errors import as_command_errors
from app.commands.webhooks.management_api import ManagementApi, api_url_of, check_url
from app.contract.webhooks.events import event_named
from app.kit.clock import SystemClock

_UNITS: Final = {"m": "minutes", "h": "hours", "d": "days"}


def moment(_ctx: click.Context, _param: click.Parameter, value: str | None) -> datetime | None:
    """Return the time that an option names, by itself or by how long ago it was. Raises click.BadParameter."""
    if value is None:
        return None
    if ago := re.fullmatch(r"([0-9]{1,4})([mhd])", value):
        return SystemClock().now() - timedelta(**{_UNITS[ago[2]]: int(ago[1])})
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise click.BadParameter("Write 30m, 12h or 3d, or a time with its offset, such as 2026-11-29T08:00Z.")
    return at


def receiver(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the URL of a developer's server. Raises click.BadParameter."""
    if value is None:
        return None
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise click.BadParameter("Write it as http://localhost:3000/hooks.")
    return value


def event(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return the event that an option names in any letter case. Raises click.BadParameter."""
    if value is None:
        return None
    if (name := event_named(value)) is None:
        raise click.BadParameter(f"There's no event {value!r}. 'GET /v2/manage/webhooks/events' lists them.")
    return name


def events(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> list[str]:
    """Return the events that an option names. Raises click.BadParameter."""
    return [name for value in values if (name := event(ctx, param, value)) is not None]


def with_api(scopes: str) -> Callable[[Callable[..., None]], Any]:
    """Add the options that name a server and a program's credentials; the command gets `api` in their place.

    Args:
        scopes: that the program needs, for the help.
    """

    def decorate(command: Callable[..., None]) -> Any:
        @wraps(command)
        def run(tenant: str, api: str | None, client_id: str, client_secret: str, **options: Any) -> None:
            tenant_url = check_url(tenant)
            api_url = check_url(api) if api else api_url_of(tenant_url)
            with as_command_errors():
                command(api=ManagementApi(tenant_url, api_url, client_id, client_secret), **options)

        made: Any = run
        for option in reversed(_options(scopes)):
            made = option(made)
        return made

    return decorate


def _options(scopes: str) -> list[Callable[[Any], Any]]:
    return [
        click.option("--tenant", required=True, metavar="URL", help="The tenant's address: https://acme.example.com."),
        click.option("--api", metavar="URL", help="The API's address. Default: 'api' in place of the tenant's name."),
        click.option(
            "--client-id", required=True, envvar="CLIENT_ID", show_envvar=True,
            help=f"A program of the tenant, with the scopes {scopes}.",
        ),
        click.option(
            "--client-secret", required=True, envvar="CLIENT_SECRET", show_envvar=True, help="The program's secret."
        ),
    ]  # fmt: skip
