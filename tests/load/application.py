"""A small WSGI application and the process that serves it, for the tests of the server.

`python -m tests.load` runs it. It prints its address once it serves, and reports the runs of its background job.
"""

import sys
import threading
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher
from flask import Flask, Response, request

from app.kit.limits.queue_slot import QueueSlot, WsgiApp
from app.kit.observability.health import Health
from app.kit.serving import HashLimits, ServerLimits, serve

application = Flask(__name__)
closed = threading.Event()
has_crashed = threading.Event()
one_at_a_time = threading.Lock()


@application.get("/")
def ordinary() -> str:
    return "ordinary"


@application.route("/slow/<float:seconds>", methods=["GET", "POST"])
@application.route("/slow/<int:seconds>", methods=["GET", "POST"])
def slow(seconds: float) -> str:
    time.sleep(seconds)
    return "slow but complete"


@application.get("/memory/<name>")
def from_memory(name: str) -> Response:
    body = "x" * 100_000 if name == "large" else f"/memory/{name}"
    return Response(body, headers={"X-Memory": "yes"} if request.method == "GET" else {})


@application.post("/length")
def length() -> str:
    return str(len(request.get_data()))


@application.post("/echo")
def echo() -> bytes:
    return request.get_data()


@application.get("/held")
def held() -> bytes:
    return b"x" * 200_000


@application.post("/unread")
def unread() -> str:
    return "not read"


@application.get("/environ/<path:rest>")
@application.get("/environ/")
def environ(rest: str = "") -> dict[str, Any]:
    del rest
    return {key: value for key, value in request.environ.items() if isinstance(value, str | bool)}


@application.get("/stream")
def stream() -> Response:
    def blocks() -> Iterator[bytes]:
        try:
            for number in range(10_000):
                yield b"%d " % number * 1000
                time.sleep(0.001)
        finally:
            closed.set()

    return Response(blocks())


@application.get("/broken-stream")
def broken_stream() -> Response:
    def blocks() -> Iterator[bytes]:
        yield b"the first half"
        raise RuntimeError("no second half")

    return Response(blocks())


@application.get("/closed")
def was_closed() -> str:
    return str(closed.wait(5))


@application.get("/large")
def large() -> bytes:
    return b"x" * 30_000_000


@application.get("/cookies")
def cookies() -> Response:
    response = Response("two cookies")
    response.set_cookie("first", "1")
    response.set_cookie("second", "2")
    return response


@application.post("/hash")
def hash_() -> str:
    with one_at_a_time:
        return PasswordHasher(time_cost=1, memory_cost=19_456, parallelism=1).hash("password")


@application.get("/memory")
def memory() -> str:
    return next(line.split()[1] for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line)


@application.post("/queued/<float:seconds>")
@application.post("/queued/<int:seconds>")
def queued(seconds: float) -> str:
    time.sleep(seconds)
    return "served from the queue"


def queue_slot(environ: Mapping[str, Any]) -> QueueSlot | None:
    return QueueSlot("acme", "sign-in") if environ["PATH_INFO"].startswith("/queued/") else None


def raising(environ: dict[str, Any], start_response: Any) -> Any:
    """The application with paths that fail outside Flask."""
    if environ["PATH_INFO"] in {"/raise", "/memory/raise"}:
        raise RuntimeError("outside of everything")
    if environ["PATH_INFO"] == "/memory/broken":
        start_response("200 OK", [("X-Broken", "line\r\nbreak")])
        return [b"broken"]
    return application.wsgi_app(environ, start_response)


def is_answered_from_cache(environ: Mapping[str, Any]) -> bool:
    path: str = environ["PATH_INFO"]
    return path.startswith("/memory/")


def report(line: str) -> None:
    """Write a line in one call: lines of `print` may mix between threads."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def background(stop: threading.Event) -> None:
    report("job started")
    if not has_crashed.is_set():
        has_crashed.set()
        raise RuntimeError("the first run of the job crashes")
    stop.wait()
    report("job stopped")


def main(settings: dict[str, Any]) -> int:
    limits, hash_limits = ServerLimits(**settings.pop("limits", {})), HashLimits(**settings.pop("hash_limits", {}))
    if not settings.pop("job_crashes", False):
        has_crashed.set()
    bind = settings.pop("bind", "127.0.0.1:0")
    load = partial(report, "loaded") if settings.pop("defers_imports", False) else bool
    return serve(
        lambda: WsgiApp(
            Health(raising, {}), queue_slot, is_answered_from_cache=Health.beside(is_answered_from_cache), load=load
        ),
        bind=bind,
        limits=limits,
        hash_limits=hash_limits,
        background=[background],
        on_refusal=lambda reason, status: report(f"refused {reason} {status}"),
        on_ready=lambda address: report(f"ready {address}"),
        **settings,
    )
