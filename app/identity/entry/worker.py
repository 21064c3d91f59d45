"""Delivers the outbox and cleans up, until told to stop. Runs within `serve` on SQLite, else as `gatehouse worker`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import timedelta

from app.identity.entry.cleaning import Cleaner
from app.identity.messaging.senders.registry import Nowhere, senders
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.claims import LEASE, Claimed
from app.identity.platform.outbox.delivery_threads import IDLE_SECONDS, Places
from app.identity.platform.outbox.lanes import LANES
from app.identity.platform.outbox.leases import Leases
from app.identity.platform.outbox.sender import Sender
from app.identity.platform.outbox.undelivered import Undelivered
from app.identity.platform.store.database import Database, StoreUnavailable
from app.kit.clock import Clock, SystemClock, monotonic
from app.settings import Settings

UNAVAILABLE_SECONDS = 5.0
DRAIN_SECONDS = 20.0
"""On the signal to stop, how long what is being sent may take to end; what nobody has whole by then goes back."""
_INTERRUPTED_SECONDS = 2.0
_A_PASS = 20

log = logging.getLogger("gatehouse.worker")


class Worker:
    """One worker; several may run beside one another.

    Args:
        lease: how long a message of a worker that died stays its own; renewed while it is sent.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock | None = None,
        *,
        lease: timedelta = LEASE,
        drain_seconds: float = DRAIN_SECONDS,
    ) -> None:
        self._settings = settings
        self._database = database
        self._vault = Encryption(settings.secrets)
        self._clock = clock or SystemClock()
        self._drain_seconds = drain_seconds
        self._leases = Leases(database, self._clock, lease)
        self._lanes = [Places(database, self._clock, lane, size=settings.sends_at_once, lease=lease) for lane in LANES]
        self._senders = senders(settings, self._clock)
        self._nowhere = Nowhere()
        self._cleaner = Cleaner(database)
        self._over = threading.Event()

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; what is being sent then has a time to end."""
        renewal = threading.Thread(target=self._leases.renew_until, args=(self._over,), name="leases", daemon=True)
        places = [
            threading.Thread(target=self._place, args=(lane, stop), name=f"{lane.lane.name}-{number}", daemon=True)
            for lane in self._lanes
            for number in range(lane.size)
        ]
        for thread in (renewal, *places):
            thread.start()
        self._clean(stop)
        for lane in self._lanes:
            lane.close()
        self._drain(places)
        self._over.set()
        renewal.join()

    def deliver_due(self) -> int:
        """Deliver in this thread what is due, some of each lane; returns how many were claimed."""
        count = 0
        for lane in self._lanes:
            for _ in range(_A_PASS):
                message = lane.take()
                if message is None:
                    break
                self._deliver(lane, message, self._senders)
                count += 1
        return count

    def _place(self, lane: Places, stop: threading.Event) -> None:
        """One place: takes a message and sends it, and again."""
        own = senders(self._settings, self._clock)  # connections of its own
        while not stop.is_set():
            try:
                message = lane.take()
                if message is not None:
                    self._deliver(lane, message, own)
                    continue
                for sender in own.values():
                    sender.rest()
                lane.wait()
            except StoreUnavailable as problem:
                log.warning("worker.waits", extra={"problem": str(problem), "lane": lane.lane.name})
                stop.wait(UNAVAILABLE_SECONDS)
            except Exception:
                log.exception("worker.failed")
                stop.wait(UNAVAILABLE_SECONDS)

    def _deliver(self, lane: Places, message: Claimed, own: Mapping[str, Sender]) -> None:
        try:
            with self._leases.held(message):
                self._send(message, own.get(message.kind, self._nowhere))
        finally:
            lane.done(message)

    def _send(self, message: Claimed, sender: Sender) -> None:
        about = {"kind": message.kind, "message_id": message.message_id, "attempts": message.attempts}
        try:
            with self._leases.sending(message, sender):
                sender.send(message.opened(self._vault))
        except Undelivered as problem:
            if problem.is_interrupted:
                claims.release(self._database, message, self._clock.now())
                log.info("outbox.released", extra=about)
                return
            if problem.lacks_key:
                claims.settle_closed(self._database, message, self._clock.now())
                log.warning("outbox.lacks_key", extra={**about, "problem": str(problem)})
                return
            self._failed(message, str(problem), about, is_final=problem.is_final)
        except Exception as problem:
            log.exception("outbox.broken", extra=about)
            self._failed(message, f"{type(problem).__name__}", about, is_final=False)
        else:
            self._sent(message, keeps_payload=sender.keeps_payload)
            log.info("outbox.sent", extra=about)

    def _sent(self, message: Claimed, *, keeps_payload: bool) -> None:
        """Write that a message is out; a store that is away is waited for, else it would be sent again."""
        while True:
            try:
                claims.settle_sent(self._database, message, self._clock.now(), keeps_payload=keeps_payload)
                return
            except StoreUnavailable as problem:
                log.warning("outbox.not_settled", extra={"message_id": message.message_id, "problem": str(problem)})
                if self._over.wait(IDLE_SECONDS):
                    raise

    def _failed(self, message: Claimed, problem: str, about: dict[str, object], *, is_final: bool) -> None:
        is_dead = claims.settle_failed(self._database, message, self._clock.now(), problem, is_final=is_final)
        log.warning("outbox.dead" if is_dead else "outbox.put_off", extra={**about, "problem": problem})

    def _drain(self, places: list[threading.Thread]) -> None:
        """Let what is being sent come to its end; then break off what no receiver has whole."""
        _join(places, self._drain_seconds)
        if self._leases.interrupt_all():
            _join(places, _INTERRUPTED_SECONDS)
        if left := self._leases.interrupt_all():
            log.warning("worker.left", extra={"messages": left})

    def _clean(self, stop: threading.Event) -> None:
        """Clean up in turns until told to stop."""
        wait = IDLE_SECONDS
        while not stop.wait(wait):
            wait = IDLE_SECONDS
            try:
                if removed := self._cleaner.turn(self._clock.now()):
                    log.info("cleaning.done", extra={"rows": removed})
            except StoreUnavailable:
                wait = UNAVAILABLE_SECONDS
            except Exception:
                log.exception("cleaning.failed")
                wait = UNAVAILABLE_SECONDS


def _join(threads: list[threading.Thread], seconds: float) -> None:
    ends_at = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, ends_at - monotonic()))
