"""Resolves the address that a command listens on and its hub domain; errors name the remedy."""

from __future__ import annotations

import errno
import socket
from ipaddress import ip_address

from app.commands.errors import CommandError
from app.kit.serving.listen_address import split
from app.settings import Settings

_SUGGESTED = 20
"""How many ports above a taken one are tried for the suggestion."""


def is_loopback(bind: str) -> bool:
    """Return whether only this machine reaches HOST:PORT; a name that begins like a loopback address may lead anywhere."""
    if bind.startswith("unix:"):
        return False
    host, _ = split(bind)
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def with_port(bind: str) -> str:
    """Return the address with a free port in place of port 0. Raises CommandError for anything that is no address."""
    if bind.startswith("unix:"):
        return bind
    try:
        _, port = split(bind)
    except ValueError:
        raise CommandError(
            f"--bind {bind}: use HOST:PORT, [IPV6]:PORT or unix:/PATH, such as 127.0.0.1:8000."
        ) from None
    return bind if port else f"{bind.rpartition(':')[0]}:{free_port()}"


def hub_domain_at(bind: str) -> str:
    """Return the hub domain that serves an address if no setting names one: localhost with the same port."""
    return "localhost:8000" if bind.startswith("unix:") else f"localhost:{split(bind)[1]}"


def refuse_other_port(settings: Settings, bind: str) -> None:
    """Raise CommandError if pages would be at another port than the listening one.

    A proxy may translate ports, so this holds only for development, where browsers come directly.
    """
    if not has_dev_inbox(settings, bind):
        return
    port, served = split(bind)[1], settings.hub_domain.partition(":")[2] or "80"
    if served != str(port):
        raise CommandError(
            f"--bind {bind} and GATEHOUSE_HUB_DOMAIN={settings.hub_domain} have different ports, so no page would be found. "
            f"Remove GATEHOUSE_HUB_DOMAIN, or set it to {settings.hub_domain.partition(':')[0]}:{port}."
        )


def has_dev_inbox(settings: Settings, bind: str) -> bool:
    """Return whether this start serves the development inbox, which anyone who reaches it can read.

    Only while mail is `inbox:`, on a loopback address with a hub domain below localhost, and without trusted proxies.
    """
    is_here = is_loopback(bind) and settings.is_local and not settings.trusted_proxies
    return is_here and settings.mail_url.startswith("inbox:")


def bind_error(bind: str, problem: Exception) -> CommandError:
    """Return the error of an address that can't be listened on, with its remedy."""
    if getattr(problem, "errno", None) == errno.EADDRINUSE and not bind.startswith("unix:"):
        host, _, port = bind.rpartition(":")
        return CommandError(
            f"Port {port} is in use. Stop the program that uses it, or add --bind {host}:{_free_above(int(port))}."
        )
    return CommandError(f"--bind {bind}: {getattr(problem, 'strerror', None) or problem}")


def refuse_taken(bind: str) -> None:
    """Raise CommandError if the address can't be listened on, before anything else is prepared."""
    if bind.startswith("unix:"):
        return
    host, port = split(bind)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as problem:
            raise bind_error(bind, problem) from None


def free_port() -> int:
    """Return a free loopback port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def is_free(port: int) -> bool:
    """Return whether nothing listens on a loopback port."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen()
        except OSError:
            return False
        return True


def _free_above(port: int) -> int:
    return next((number for number in range(port + 1, min(port + _SUGGESTED, 65_535)) if is_free(number)), 0)
