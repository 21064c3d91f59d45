"""A worker as a process of its own, with a lease and a time to drain of the test's choice: the arguments, in seconds."""

import signal
import sys
import threading
from datetime import timedelta

from app.identity.assembly.worker import Worker
from app.identity.platform.store.database import Database
from app.kit.observability import logs
from app.settings import read


def main() -> None:
    """Work until SIGTERM."""
    lease_seconds, drain_seconds = map(float, sys.argv[1:])
    logs.configure()
    settings, stop = read(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    database = Database(settings.database, pool_size=2)
    lease = timedelta(seconds=lease_seconds)
    Worker(settings, database, lease=lease, drain_seconds=drain_seconds).run(stop)
    database.dispose()
