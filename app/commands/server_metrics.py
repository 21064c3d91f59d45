"""Metrics of one `gatehouse serve`: counters, the endpoint, and the directory that its processes share."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from app.commands.errors import CommandError
from app.kit.observability.instrumentation import RequestObserver
from app.kit.serving import Job, OnRefusal
from app.settings import Settings, share_metrics

_PREFIX: Final = "gatehouse-metrics-"
_LOCK: Final = "lock"


def _ignore(*_details: object) -> None:
    return


@dataclass(frozen=True)
class ServerMetrics:
    """The server's metrics hooks; empty if metrics are off."""

    jobs: tuple[Job, ...] = ()
    observers: tuple[RequestObserver, ...] = ()
    on_refusal: OnRefusal = _ignore
    on_worker_exit: Callable[[int], object] = _ignore
    """Called with the id of a process that has ended and is replaced."""
    close: Callable[[], object] = field(default=_ignore)


def start(settings: Settings, role: str, workers: int) -> ServerMetrics:
    """Start the metrics before processes are forked; `close` ends them in the process that started them."""
    if not settings.metrics_bind:
        return ServerMetrics()
    shared = MetricsDirectory() if workers > 1 else None
    if shared is not None:
        share_metrics(shared.path)
    from app.kit.observability import metrics

    collectors = []
    if role != "hub":
        from app.identity.platform.outbox.metrics import OutboxMetrics
        from app.identity.platform.store.database import Database

        metrics.count_full_disk()
        collectors.append(OutboxMetrics(Database(settings.database, pool_size=1)))  # connects at the first scrape
    try:
        exposition = metrics.Exposition(settings.metrics_bind, shared.path if shared else None, collectors)
    except ValueError:
        raise CommandError(f"GATEHOUSE_METRICS_BIND must be host:port, not {settings.metrics_bind!r}.") from None
    observers, on_refusal = (metrics.request_metrics(partial(surface_of, settings)),), metrics.count_refusals()
    if shared is None:
        return ServerMetrics((exposition,), observers, on_refusal)
    path = shared.path
    return ServerMetrics(
        (exposition,), observers, on_refusal, lambda process: metrics.forget(process, path), shared.remove
    )


def surface_of(settings: Settings, host: str) -> str:
    """Return the metrics label of a host: the API's, or a tenant's."""
    return "api" if host.lower() == settings.api_hostname else "tenant"


class MetricsDirectory:
    """The metrics directory of one server, locked for as long as one of its processes runs.

    This lets the next server find and remove the directories of killed servers.
    """

    def __init__(self) -> None:
        _remove_abandoned(Path(tempfile.gettempdir()))
        self.path, self._lock = _create_locked()
        while not (self.path / _LOCK).exists():  # another starting server took it for abandoned
            os.close(self._lock)
            self.path, self._lock = _create_locked()

    def remove(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _create_locked() -> tuple[Path, int]:
    path = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(path / _LOCK, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600)  # forked processes share the lock
    fcntl.flock(lock, fcntl.LOCK_EX)
    return path, lock


def _remove_abandoned(parent: Path) -> None:
    """Remove the directories of killed servers of this user."""
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            if folder.is_symlink() or folder.lstat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
        except OSError:  # removed meanwhile, or of another user
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:  # in use
            continue
        finally:
            os.close(lock)
