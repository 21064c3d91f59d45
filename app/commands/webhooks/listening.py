"""Prints events as they happen, and forwards them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import click

from app.commands.errors import CommandError
from app.commands.webhooks.event_feed import Event, EventFeed
from app.commands.webhooks.forwarding import Forwarder, secret_of
from app.commands.webhooks.management_api import ManagementApi, RequestRefused, Unreachable
from app.kit.clock import SystemClock, sleep

_POLL_SECONDS: Final = 1.0
_MAX_WAIT_SECONDS: Final = 30.0
_UNKNOWN_WEBHOOK: Final = 7986


class EventListener:
    """One run of `gatehouse webhooks listen`.

    Args:
        url: of the developer's server; None to print only.
        events: names of events; none for all.
    """

    def __init__(self, api: ManagementApi, name: str, url: str | None, events: Sequence[str]) -> None:
        self._api, self._name, self._events = api, name, events
        self._feed = EventFeed(api, name, events)
        self._secret = secret_of(api.client_secret, api.tenant_url)
        self._forwarder = Forwarder(url, self._secret) if url else None
        self._is_waiting = False

    def run(self) -> None:
        """Listen until Ctrl-C. Raises CommandError."""
        self._feed.open()
        try:
            click.echo(
                f"Listening to {', '.join(self._events) or 'all events'} of {self._api.tenant_url}. Press Ctrl-C to stop."
            )
            if self._forwarder is not None:
                click.echo(f"Signing secret: {self._secret}")
            self._listen()
        except KeyboardInterrupt:
            self._close()

    def _listen(self) -> None:
        wait = _POLL_SECONDS
        while True:
            try:
                for event in self._feed.new_events():
                    self._show(event)
                wait = _POLL_SECONDS
            except Unreachable as problem:
                wait = min(wait * 2, _MAX_WAIT_SECONDS)
                click.echo(f"{problem.message} Trying again in {wait:.0f} s.", err=True)
            except RequestRefused as problem:
                if problem.code != _UNKNOWN_WEBHOOK:
                    raise
                raise CommandError(
                    f"Another 'gatehouse webhooks listen' with the name {self._name} took over. Choose another --name."
                ) from None
            sleep(wait)

    def _show(self, event: Event) -> None:
        account = json.loads(event.body)["Data"].get("Uid") or "-"
        result = self._forward(self._forwarder, event) if self._forwarder is not None else ""
        line = f"{SystemClock().now():%H:%M:%S}  {event.name.ljust(27)}  {account}  {event.delivery_id}"
        click.echo(f"{line}  {result}".rstrip())

    def _forward(self, forwarder: Forwarder, event: Event) -> str:
        """Return the answer of the developer's server, once it listens."""
        while True:
            try:
                result = forwarder.send(event, SystemClock().now())
            except ConnectionError:
                if not self._is_waiting:
                    click.echo(f"Nothing listens at {forwarder.url}. Events wait.", err=True)
                self._is_waiting = True
                sleep(_POLL_SECONDS)
            else:
                self._is_waiting = False
                return result

    def _close(self) -> None:
        try:
            self._feed.close()
        except RequestRefused as problem:
            if problem.code != _UNKNOWN_WEBHOOK:
                raise
