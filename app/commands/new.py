"""gatehouse new: a tenant, an application and a starter app that signs in with it, for the developer's own machine."""

from __future__ import annotations

import logging
import re
import shlex
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.commands.errors import CommandError, as_command_errors, open_services
from app.commands.errors import settings as read_settings
from app.commands.listen_address import bind_error, has_dev_inbox, hub_domain_at, is_free, refuse_taken, with_port
from app.commands.serving import application, hash_limits, outbox_job, prepare_database
from app.kit.observability import logs
from app.kit.serving import serve as serve_http
from app.settings import Settings

if TYPE_CHECKING:
    from app.demo.starters import Framework, Starter

_FIRST_PORT, _PORTS = 3000, 20


@click.command
@click.argument("name")
@click.option(
    "--framework",
    type=click.Choice(["flask", "express"]),
    default="flask",
    show_default=True,
    help="What the app is made with.",
)
@click.option(
    "--bind", metavar="ADDRESS", default="127.0.0.1:8000", show_default=True, help="Where Gatehouse listens: HOST:PORT."
)
@click.option("--run/--no-run", "runs", default=True, show_default=True, help="Start Gatehouse and the app right away.")
def new(name: str, framework: str, bind: str, *, runs: bool) -> None:
    """Create tenant NAME, an application, and a folder NAME with an app that signs in with it.

    Then start both, until Ctrl-C.
    """
    from app.demo.starters import FRAMEWORKS, Starter, StarterError, check_programs

    bind = with_port(bind)
    settings, folder = read_settings(hub_domain_at(bind)), Path(name)
    _check(settings, name, bind, folder)
    if runs:
        refuse_taken(bind)
    try:
        check_programs(FRAMEWORKS[framework])
        issuer, inbox = settings.hub_url(name), settings.hub_url("inbox")
        starter = Starter(name, FRAMEWORKS[framework], folder, _app_port(), issuer, inbox, _program())
        _create(settings, starter, installs=runs)
    except StarterError as problem:
        raise CommandError(str(problem)) from None
    click.echo(_made(settings, starter))
    if runs:
        sys.exit(_run(settings, starter, bind))
    click.echo(_commands("Start them, each in its own terminal:", starter.framework, folder, bind))


def _check(settings: Settings, name: str, bind: str, folder: Path) -> None:
    from app.contract.tenants.file import LABEL, RESERVED_TENANTS

    if not re.fullmatch(LABEL, name):
        raise CommandError(
            f"{name!r} can't be a name. Use 1 to 63 lowercase letters, digits and hyphens, such as desk."
        )
    if name in RESERVED_TENANTS:
        raise CommandError(f"The name {name!r} is reserved. Choose another one.")
    if folder.exists():
        raise CommandError(
            f"{name!r} already exists in this folder. Choose another name, or run this somewhere else."
            + _how_to_start(folder, bind)
        )
    if not has_dev_inbox(settings, bind):
        raise CommandError(
            "'gatehouse new' is for your own machine: it needs a loopback --bind, a hub domain below localhost, "
            "no trusted proxies, and GATEHOUSE_MAIL_URL unset."
        )


def _how_to_start(folder: Path, bind: str) -> str:
    """Return the commands that start the app of a folder again; empty for a folder with something else."""
    from app.demo.starters import framework_of

    framework = framework_of(folder)
    return _commands("To start this one again, each in its own terminal:", framework, folder, bind) if framework else ""


def _program() -> str:
    """Return the command that runs Gatehouse: this one, wherever it is."""
    return "gatehouse" if shutil.which("gatehouse") else shlex.quote(str(Path(sys.executable).with_name("gatehouse")))


def _app_port() -> int:
    """Return the first free port from 3000 on. Raises CommandError if there is none."""
    for port in range(_FIRST_PORT, _FIRST_PORT + _PORTS):
        if is_free(port):
            return port
    raise CommandError(f"Ports {_FIRST_PORT} to {_FIRST_PORT + _PORTS - 1} are in use. Stop a program that uses one.")


def _create(settings: Settings, starter: Starter, *, installs: bool) -> None:
    """Write the folder and apply its configuration; a refusal leaves neither. Raises CommandError."""
    from app.identity.administration.configuration import apply_configuration
    from app.identity.administration.configuration.file.read_configuration import read
    from app.identity.administration.configuration.plan import ChangeAction

    with open_services(settings) as services:
        file = read(starter.configuration.encode(), "gatehouse.yaml", starter.folder)
        if apply_configuration.plan(services, file).changes[0].action is not ChangeAction.CREATE:
            raise CommandError(
                f"There's already a tenant {starter.name!r}. Choose another name, or remove it with "
                f"'gatehouse tenant remove {starter.name}'."
            )
        starter.copy()
        try:
            if installs:
                starter.install()
            made = apply_configuration.apply(services, file).generated
            starter.write_secrets(next(item.value for item in made if item.key == "client_secret"))
        except BaseException:
            shutil.rmtree(starter.folder)
            raise


def _run(settings: Settings, starter: Starter, bind: str) -> int:
    """Serve Gatehouse and the app until Ctrl-C."""
    from app.demo.supervisor import is_listening, running

    logs.configure(level=logging.WARNING)
    with as_command_errors(), ExitStack() as stack:
        prepare_database(settings)
        process = stack.enter_context(running([*starter.framework.command], starter.folder))
        if not is_listening(process, starter.port):
            raise CommandError(f"The app couldn't start. Its own message is above; its code is in {starter.folder}/.")

        def announce(_address: str) -> None:
            click.echo(_addresses(settings, starter))
            again = "Press Ctrl-C to stop both. To start them again, each in its own terminal:"
            click.echo(_commands(again, starter.framework, starter.folder, bind))
            sys.stdout.flush()

        try:
            return serve_http(
                lambda: application(settings, "both", has_inbox=True),
                bind=bind,
                background=[outbox_job(settings)],
                hash_limits=hash_limits(settings, "both"),
                on_ready=announce,
            )
        except (ValueError, OSError) as problem:
            raise bind_error(bind, problem) from None


def _made(settings: Settings, starter: Starter) -> str:
    return (
        f"Created tenant {starter.name} with an application, and the folder {starter.folder}/ "
        f"with an app made with {starter.framework.title}.\n"
        f"Its secrets are in {starter.folder / starter.framework.secrets_file}, Gatehouse's data in {settings.data_dir.resolve()}."
    )


def _addresses(settings: Settings, starter: Starter) -> str:
    rows = (
        (starter.url, "your app: choose Sign in, then create an account"),
        (settings.hub_url("inbox"), "the inbox: open the verification email here"),
        (settings.hub_url(starter.name), "the tenant's own pages"),
    )
    return "\n" + "\n".join(f"  {address:<36} {words}" for address, words in rows)


def _commands(head: str, framework: Framework, folder: Path, bind: str) -> str:
    serve = f"{_program()} serve" + ("" if bind == "127.0.0.1:8000" else f" --bind {bind}")
    needs, start = framework.install, framework.command
    installs = f"{shlex.join(needs)} && " if needs and not (folder / "node_modules").exists() else ""
    return f"\n{head}\n\n  {serve}\n  cd {folder} && {installs}{shlex.join(start)}\n"
