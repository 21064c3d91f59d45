"""A WSGI server over HTTP/1.1 with hash queues, deadlines and graceful shutdown.

    serve(lambda: create_both(settings), bind="127.0.0.1:8000", workers=2)

Bodies are read before a thread is used, all client input has deadlines and bounds, and SIGTERM finishes the requests that
have arrived.
"""

import importlib
from collections.abc import Callable, Sequence
from wsgiref.types import WSGIApplication

from app.kit.serving.hash_queue import HashLimits
from app.kit.serving.http1.error_responses import OnRefusal, RefusalPage, default_page, ignore_refusal
from app.kit.serving.listen_address import listen, name_of
from app.kit.serving.server import ServerConfig
from app.kit.serving.server_limits import ServerLimits
from app.kit.serving.supervisor import Supervisor
from app.kit.serving.worker_process import Job, run_worker

__all__ = ["Job", "ServerLimits", "OnRefusal", "RefusalPage", "HashLimits", "serve"]

MakeApp = Callable[[], WSGIApplication]


def serve(
    make_app: MakeApp | str,
    *,
    bind: str,
    workers: int = 1,
    threads: int = 16,
    hash_limits: HashLimits | None = None,
    limits: ServerLimits | None = None,
    background: Sequence[Job] = (),
    page: RefusalPage = default_page,
    on_refusal: OnRefusal = ignore_refusal,
    on_worker_exit: Callable[[int], object] = str,
    reserved_paths: Sequence[str] = (),
    on_ready: Callable[[str], object] = str,
) -> int:
    """Serve until SIGTERM or SIGINT; return the exit status.

    One worker is this process itself. More are forked from it, so nothing that a fork does not survive (threads,
    database connections) may exist yet; `make_app` is called in each.

    Args:
        make_app: makes the application; or where to import it from, `package.module:callable`.
        bind: `HOST:PORT`, `[IPV6]:PORT` or `unix:/PATH`; port 0 takes a free one.
        threads: requests one worker computes at once, beside those of `hash_limits`.
        hash_limits: how many requests that may compute a hash run and wait in one worker; a `WsgiApp` names them.
        background: jobs beside the requests, in the first worker only, started after `make_app` has returned there;
            each returns soon after its event is set.
        on_refusal: called for each request that is refused before the application answers it; must not block.
        page: renders the body of the server's own responses.
        reserved_paths: addresses with a thread of their own each, such as those of health probes.
        on_worker_exit: called with the process id of a worker that has ended unexpectedly and is replaced.
        on_ready: called once with the real address, when every worker serves.

    Raises:
        ValueError: `bind` is not an address.
        OSError: it cannot be listened on.
    """
    listener = listen(bind)
    address = name_of(listener)
    plan = ServerConfig(
        make_app=_imported(make_app) if isinstance(make_app, str) else make_app,
        threads=threads,
        hash_limits=hash_limits or HashLimits(),
        limits=limits or ServerLimits(),
        page=page,
        on_refusal=on_refusal,
        is_one_of_many=workers > 1,
        reserved_paths=reserved_paths,
    )
    if workers > 1:
        return Supervisor(plan, listener, workers, background, on_worker_exit).run(lambda: on_ready(address))
    run_worker(plan, listener, background=background, on_ready=lambda: on_ready(address))
    return 0


def _imported(name: str) -> MakeApp:
    module, _, attribute = name.partition(":")
    make_app: MakeApp = getattr(importlib.import_module(module), attribute)
    return make_app
