"""Ordinary requests while many clients drip."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

from tools.bench.measurement import MeasuredLine
from tools.bench.scene import TENANT, Scene

CLIENTS = 200
ORDINARY = 50
PATIENCE_SECONDS = 5
DRIP_SECONDS = 0.5


def measured(scene: Scene) -> Iterator[MeasuredLine]:
    """Heads first, then bodies of a sign-in form."""
    host = f"{TENANT}.localhost:{scene.port}"
    heads = f"GET /login HTTP/1.1\r\nHost: {host}\r\nX-Slow: "
    bodies = f"POST /login HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    bodies += "Content-Length: 100000\r\n\r\n"
    for name, begun in (("heads", heads), ("bodies", bodies)):
        answered, slowest_ms = _ask_meanwhile(scene, begun.encode())
        yield MeasuredLine(
            operation=f"{CLIENTS} clients that drip {name}",
            counts=f"{answered} of {ORDINARY} answered",
            measured=f"slowest {slowest_ms:.0f} ms",
            bar="all",
            aim="all",
            is_over=answered < ORDINARY,
            is_reached=answered == ORDINARY,
        )


def _ask_meanwhile(scene: Scene, begun: bytes) -> tuple[int, float]:
    stop = threading.Event()
    with ExitStack() as open_:
        clients = [open_.enter_context(socket.create_connection(("127.0.0.1", scene.port))) for _ in range(CLIENTS)]
        for client in clients:
            client.sendall(begun)
        dripping = threading.Thread(target=_drip, args=(clients, stop))
        dripping.start()
        try:
            times = [_ask(scene) for _ in range(ORDINARY)]
        finally:
            stop.set()
            dripping.join()
    answered = [seconds for seconds in times if seconds is not None]
    return len(answered), max(answered, default=0.0) * 1000


def _drip(clients: list[socket.socket], stop: threading.Event) -> None:
    while not stop.wait(DRIP_SECONDS):
        for client in clients:
            try:
                client.sendall(b"a")
            except OSError:  # given up on, as it should be in the end
                continue


def _ask(scene: Scene) -> float | None:
    """How long a fresh visitor waits for the login page; None when it does not come."""
    began = time.monotonic()
    visitor = scene.visitor()
    try:
        if visitor.get("/login").status != 200:
            return None
    except OSError:
        return None
    finally:
        visitor.close()
    seconds = time.monotonic() - began
    return seconds if seconds < PATIENCE_SECONDS else None
