"""Delivers the outbox and cleans up, until told to stop. Runs within `serve` on SQLite, else as `gatehouse worker`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from app.identity.store.database import Database, StoreUnavailable
from app.identity.tasks import claims
from app.identity.tasks.claims import Claimed
from app.identity.tasks.cleaning import Cleaner
from app.identity.tasks.senders import Nowhere, Sender, senders
from app.identity.tasks.undelivered import Undelivered
from app.identity.vault import Vault
from app.kit.clock import Clock, SystemClock
from app.settings import Settings

IDLE_SECONDS = 1.0
UNAVAILABLE_SECONDS = 5.0

log = logging.getLogger("gatehouse.worker")


class Worker:
    """One worker; several may run beside one another."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        clock: Clock | None = None,
        by_kind: Mapping[str, Sender] | None = None,
    ) -> None:
        self._database = database
        self._vault = Vault(settings.secrets)
        self._clock = clock or SystemClock()
        self._senders = by_kind if by_kind is not None else senders(settings, self._clock)
        self._nowhere = Nowhere()
        self._cleaner = Cleaner(database)

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set; what was claimed is finished first."""
        while not stop.is_set():
            try:
                if not self.deliver_due():
                    self._idle()
                    stop.wait(IDLE_SECONDS)
            except StoreUnavailable as problem:
                log.warning("worker.waits", extra={"problem": str(problem)})
                stop.wait(UNAVAILABLE_SECONDS)
            except Exception:
                log.exception("worker.failed")
                stop.wait(UNAVAILABLE_SECONDS)

    def deliver_due(self) -> int:
        """Deliver one batch of what is due; returns how many were claimed."""
        claimed = claims.claim(self._database, self._clock.now())
        for message in claimed:
            self._deliver(message)
        return len(claimed)

    def _deliver(self, message: Claimed) -> None:
        sender = self._senders.get(message.kind, self._nowhere)
        about = {"kind": message.kind, "message_id": message.message_id, "attempts": message.attempts}
        try:
            sender.send(message.opened(self._vault))
        except Undelivered as problem:
            if problem.lacks_key:
                claims.settle_closed(self._database, message, self._clock.now(), str(problem))
                log.warning("outbox.lacks_key", extra={**about, "problem": str(problem)})
                return
            self._failed(message, str(problem), about, is_final=problem.is_final)
        except Exception as problem:
            log.exception("outbox.broken", extra=about)
            self._failed(message, f"{type(problem).__name__}", about, is_final=False)
        else:
            claims.settle_sent(self._database, message, self._clock.now(), keeps_payload=sender.keeps_payload)
            log.info("outbox.sent", extra=about)

    def _failed(self, message: Claimed, problem: str, about: dict[str, object], *, is_final: bool) -> None:
        is_dead = claims.settle_failed(self._database, message, self._clock.now(), problem, is_final=is_final)
        log.warning("outbox.dead" if is_dead else "outbox.put_off", extra={**about, "problem": problem})

    def _idle(self) -> None:
        for sender in self._senders.values():
            sender.rest()
        if removed := self._cleaner.turn(self._clock.now()):
            log.info("cleaning.done", extra={"rows": removed})
