"""gatehouse webhooks: forward events to a developer's machine, list deliveries, send them again, and end pauses."""

from __future__ import annotations

import json
import platform
import re
import signal
from datetime import datetime
from typing import Any, Final

import click

from app.commands.prompts import counted
from app.commands.webhooks import options
from app.commands.webhooks.listening import EventListener
from app.commands.webhooks.management_api import Busy, ManagementApi
from app.commands.webhooks.options import with_api
from app.contract.webhooks.targets import is_listener
from app.kit.clock import iso, sleep

_NOUNS: Final = ("delivery", "deliveries")
_STATES: Final = ("waiting", "sent", "dead")
_MAX_DELIVERIES: Final = 10_000
_SINCE: Final = "The earliest time: 30m, 12h or 3d ago, or a time with its offset."
_WRITES: Final = "webhook:read, webhook:create, webhook:delete and profile:read"


@click.group
def webhooks() -> None:
    """Forward a tenant's events to your machine, list deliveries, send them again, and end pauses.

    The commands call the server with the credentials of a program, so they work from anywhere.
    """


@webhooks.command
@with_api(_WRITES)
@click.option(
    "--forward",
    metavar="URL",
    callback=options.receiver,
    help="Your server, such as http://localhost:3000/hooks. Default: print only.",
)
@click.option(
    "--event",
    "events",
    multiple=True,
    metavar="EVENT",
    callback=options.events,
    help="Only this event; repeat it for more.",
)
@click.option(
    "--name", help="A name of this listener; it ends an earlier one of the same name. Default: this machine's name."
)
def listen(api: ManagementApi, forward: str | None, events: list[str], name: str | None) -> None:
    """Print events as they happen, and forward them.

    Your server gets what a webhook would get, signed with the printed secret, which is the same at each start. It needs no public
    address. If it's down, events wait for it. Ctrl-C ends the command and deletes what it stored on the server.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    EventListener(api, _listener_name(name), forward, events).run()


@webhooks.command
@with_api("webhook:read")
@click.option("--webhook", "webhook_id", metavar="ID", help="Only this webhook. Default: all of the tenant.")
@click.option("--state", type=click.Choice(_STATES), help="Only deliveries in this state.")
@click.option("--event", metavar="EVENT", callback=options.event, help="Only this event.")
@click.option(
    "--since",
    metavar="TIME",
    callback=options.moment,
    help=_SINCE,
)
@click.option(
    "--limit", default=50, show_default=True, type=click.IntRange(1, _MAX_DELIVERIES), help="Maximum number to show."
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per line.")
def deliveries(
    api: ManagementApi, webhook_id: str | None, state: str | None, event: str | None, since: datetime | None, limit: int,
    is_json: bool,
) -> None:  # fmt: skip
    """List deliveries, newest first.

    A line has time (UTC), event, state, status, attempts, ID, target and problem. The log has the last 30 days.
    """
    found: list[dict[str, Any]] = []
    for webhook in _targets(api, webhook_id):
        items = api.deliveries(webhook["Id"], limit, state=state, event=event, since=iso(since))
        found += [{**item, "WebhookId": webhook["Id"], "TargetUrl": webhook["TargetUrl"]} for item in items]
    found.sort(key=lambda item: str(item["Time"]), reverse=True)
    if not found and not is_json:
        click.echo("No deliveries.", err=True)
    for item in found[:limit]:
        click.echo(json.dumps(item) if is_json else _line(item))


@webhooks.command
@with_api("webhook:read, webhook:update and profile:read")
@click.option(
    "--since",
    required=True,
    metavar="TIME",
    callback=options.moment,
    help=_SINCE,
)
@click.option(
    "--until", metavar="TIME", callback=options.moment, help="The time before which events happened. Default: now."
)
@click.option("--webhook", "webhook_id", metavar="ID", help="Only this webhook. Default: all of the tenant.")
@click.option(
    "--state", default="dead", show_default=True, type=click.Choice(["dead", "sent"]), help="Which to send again."
)
def replay(api: ManagementApi, since: datetime, until: datetime | None, webhook_id: str | None, state: str) -> None:
    """Send deliveries of a period again.

    By default, those that failed, for example while your server was down. They keep their IDs and bodies, and go in order for each
    account.
    """
    total = 0
    for webhook in _targets(api, webhook_id):
        count = _replay(api, webhook["Id"], {"Since": iso(since), "Until": iso(until), "State": state})
        total += count
        if count:
            click.echo(f"{counted(count, *_NOUNS)} of {webhook['Event']} to {webhook['TargetUrl']}")
    click.echo(f"{counted(total, *_NOUNS)} will be sent again.")
    if not total and state == "dead":
        click.echo("Those that wait are tried again without a replay.", err=True)


@webhooks.command
@with_api("webhook:read, webhook:update and profile:read")
@click.option("--webhook", "webhook_id", metavar="ID", help="Only this webhook. Default: all of the tenant.")
def resume(api: ManagementApi, webhook_id: str | None) -> None:
    """Try deliveries again at once, when your server works again.

    While a server fails, its webhook is paused for up to an hour, or as long as Retry-After says. This ends the pause.
    """
    total = 0
    for webhook in _targets(api, webhook_id):
        answer = _post(api, f"/webhooks/{webhook['Id']}/resume", {})
        if answer["WasPaused"] or answer["Count"]:
            total += 1
            click.echo(f"{webhook['Event']} to {webhook['TargetUrl']}")
    click.echo(f"{counted(total, 'webhook', 'webhooks')} resumed.")


def _replay(api: ManagementApi, webhook_id: str, period: dict[str, str | None]) -> int:
    """Replay all deliveries of a period, in as many requests as that takes. Return their number."""
    count, path = 0, f"/webhooks/{webhook_id}/replay"
    while True:
        answer = _post(api, path, {name: value for name, value in period.items() if value is not None})
        count += int(answer["Count"])
        if answer["Next"] is None or (answer["Next"] == period["Since"] and not answer["Count"]):
            return count
        period = {**period, "Since": answer["Next"]}


def _post(api: ManagementApi, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the answer of an operation, when the server's limit allows it."""
    while True:
        try:
            return api.call("POST", path, body)
        except Busy as problem:
            wait = counted(problem.seconds, "second", "seconds")
            click.echo(f"Waiting for {wait}: the server limits how often you ask for this.", err=True)
            sleep(problem.seconds)


def _targets(api: ManagementApi, webhook_id: str | None) -> list[dict[str, Any]]:
    """Return the webhook, or all to which deliveries go."""
    found = api.webhooks(webhook_id)
    return found if webhook_id else [webhook for webhook in found if not is_listener(webhook["TargetUrl"])]


def _listener_name(name: str | None) -> str:
    return re.sub(r"[^a-z0-9]+", "-", (name or platform.node()).lower()).strip("-")[:100] or "listener"


def _line(item: dict[str, Any]) -> str:
    at = datetime.fromisoformat(item["Time"])
    shown = [
        f"{at:%Y-%m-%d %H:%M:%S}", item["Event"].ljust(27), item["State"].ljust(7), str(item["StatusCode"] or "-").ljust(3),
        f"{item['Attempt']}x".ljust(4), item["Id"], item["TargetUrl"], item["Problem"] or "",
    ]  # fmt: skip
    return "  ".join(shown).rstrip()
