"""gatehouse demo."""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, as_command_errors
from app.commands.listen_address import bind_error, free_port, hub_domain_at, is_loopback, refuse_taken, with_port
from app.commands.serving import application, hash_limits, outbox_job
from app.kit.limits.queue_slot import WsgiApp
from app.kit.observability import logs
from app.kit.serving import serve as serve_http
from app.settings import Settings, SettingsError, default_data_dir, read

if TYPE_CHECKING:
    from app.demo.supervisor import Contents, Person


@click.command
@click.option(
    "--bind",
    metavar="ADDRESS",
    default="127.0.0.1:8000",
    show_default=True,
    help="Loopback HOST:PORT to listen on. Port 0 picks a free one.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the demo's data.  [default: demo in the data folder]",
)
def demo(bind: str, data: Path | None) -> None:
    """Serve a demo: two tenants, a sample shop that signs in through them, an inbox with every email, and the API reference."""
    from app.demo import supervisor

    bind = with_port(bind)
    if not is_loopback(bind):
        raise CommandError(
            f"--bind {bind}: the demo's inbox is open to anyone, so it only listens on a loopback address such as 127.0.0.1:8000."
        )
    refuse_taken(bind)
    logs.configure(level=logging.WARNING)
    try:
        environ = {"GATEHOUSE_HUB_DOMAIN": hub_domain_at(bind), "GATEHOUSE_DEVELOPMENT": "1"}
        settings = read(environ, data or default_data_dir() / "demo")
    except SettingsError as problem:
        raise CommandError(str(problem)) from None
    with as_command_errors():
        click.echo("Preparing the demo…")
        contents = supervisor.prepare(settings)
        shop_port = free_port()
        with supervisor.shop(settings, shop_port) as shop:
            if not supervisor.is_listening(shop, shop_port):
                raise CommandError("The demo's shop couldn't start. Its own message is above.")
            sys.exit(_serve(settings, bind, shop_port, contents))


def _serve(settings: Settings, bind: str, shop_port: int, contents: Contents) -> int:
    def announce(_address: str) -> None:
        click.echo(welcome(settings, contents.people))
        sys.stdout.flush()

    try:
        return serve_http(
            lambda: demo_application(settings, shop_port, bind, contents),
            bind=bind,
            background=[outbox_job(settings)],
            hash_limits=hash_limits(settings, "both"),
            on_ready=announce,
        )
    except (ValueError, OSError) as problem:
        raise bind_error(bind, problem) from None


def demo_application(settings: Settings, shop_port: int, bind: str, contents: Contents) -> WsgiApp:
    """Return the demo's application: Gatehouse, the shop, the inbox and the front page, by host."""
    from app.demo.hosts import Hosts, acts, around, names, shop_at
    from app.demo.inbox import inbox_of
    from app.demo.start_page import DemoStartPage
    from app.reference import Trial

    keys = contents.keys
    credentials = {"ApiKey": keys.api_key, "ApiSecret": keys.api_secret, "ClientCredentials": keys.client}
    (_, start), *_ = around(settings)
    trial = Trial(keys.tenant, credentials, keys.fields, keys.machine_client, keys.public_client, start)
    hosts = names(settings)
    inbox = inbox_of(settings, "Demo", around(settings), acts(settings))
    served = application(settings, "both", trial=trial)
    with_front_page = DemoStartPage(served.wsgi, {settings.hub_domain, bind}, settings, contents)
    return replace(served, wsgi=Hosts(with_front_page, {hosts["shop"]: shop_at(shop_port), hosts["inbox"]: inbox}))


def welcome(settings: Settings, people: list[Person]) -> str:
    """Return the text with the demo's addresses and sample accounts."""
    from app.demo.start_page import addresses

    listed = addresses(settings)
    width = max(len(address) for address, _ in listed)
    lines = [
        "",
        f"The demo is ready. Open {settings.public_scheme}://{settings.hub_domain} in your browser. It leads to:",
        "",
        *(f"  {address:<{width}}  {words}" for address, words in listed),
        "",
        *(f"Sign in at {person.tenant.title():<7} {person.email:<18} password: {person.password}" for person in people),
        "",
        "Browsers resolve *.localhost. If another program doesn't, use 127.0.0.1 with a Host header.",
        "Press Ctrl-C to stop.",
    ]
    return "\n".join(lines)
