"""Delivers the outbox and deletes expired rows, within `serve` on SQLite, else as `gatehouse worker`."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta

from app.identity.administration.theme_versions.schedule import ThemeSchedule
from app.identity.assembly.clean_up.expired_rows import Cleaner
from app.identity.assembly.clean_up.search_completion import SearchCompletion
from app.identity.assembly.services import assemble
from app.identity.messaging.senders.registry import UnsupportedKind, senders
from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims, queue_outcomes
from app.identity.platform.outbox.claims import LEASE, ClaimedMessage
from app.identity.platform.outbox.dispatcher import IDLE_SECONDS, LaneDispatcher, dispatcher
from app.identity.platform.outbox.lanes import LANES
from app.identity.platform.outbox.leases import Leases
from app.identity.platform.outbox.queue_limits import QueueLimits
from app.identity.platform.outbox.sender import DeliveryError, Receipt, Sender
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.webhooks import subscriptions
from app.identity.webhooks.webhook_sender import WebhookSender
from app.kit.clock import Clock, SystemClock, monotonic, sleep
from app.settings import Settings

UNAVAILABLE_SECONDS = 5.0
DRAIN_SECONDS = 20.0
"""After the stop signal, how long deliveries in progress may take; unfinished ones are returned to the outbox."""
_INTERRUPTED_SECONDS = 2.0
_BATCH_SIZE = 20
_POLL_SECONDS = 0.1

log = logging.getLogger("gatehouse.worker")


class SharedServices:
    """The services that senders of all threads share; assembled for the first webhook, because most workers send none."""

    def __init__(self, settings: Settings, clock: Clock, database: Database) -> None:
        self._arguments = settings, clock, database
        self._assembled: IdentityServices | None = None
        self._lock = threading.Lock()

    def __call__(self) -> IdentityServices:
        with self._lock:
            if self._assembled is None:
                settings, clock, database = self._arguments
                self._assembled = assemble(settings, clock, database=database)
            return self._assembled


@dataclass(frozen=True)
class _Sent:
    """A message that was sent and could not be marked as sent.

    Args:
        claimed: closed when it is, which ends the renewal of its lease.
    """

    message: ClaimedMessage
    receipt: Receipt
    keeps_payload: bool
    claimed: ExitStack


class Worker:
    """One worker; several may run in parallel.

    Args:
        lease: how long a message stays claimed after its worker died; renewed during delivery.
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
        self._encryption = Encryption(settings.secrets)
        self._clock = clock or SystemClock()
        self._drain_seconds = drain_seconds
        self._leases = Leases(database, self._clock, lease)
        self._lanes = [
            dispatcher(database, self._clock, lane, size=settings.sends_at_once, lease=lease) for lane in LANES
        ]
        self._services = SharedServices(settings, self._clock, database)
        self._senders = self._new_senders()
        self._unknown_kind = UnsupportedKind()
        self._cleaner = Cleaner(database)
        self._search_completion = SearchCompletion(database)
        self._queue_limits = QueueLimits(database)
        self._theme_schedule = ThemeSchedule(database, self._services)
        from app.identity.assembly.certificate_schedule import CertificateSchedule  # noqa: PLC0415 - a start makes no worker yet
        from app.identity.assembly.metadata_schedule import MetadataSchedule  # noqa: PLC0415 - as above

        self._metadata_schedule = MetadataSchedule(database, self._services)
        self._certificate_schedule = CertificateSchedule(database, self._services)
        self._unsettled: list[_Sent] = []
        self._stopped = threading.Event()

    def run(self, stop: threading.Event) -> None:
        """Work until `stop` is set, then let deliveries in progress finish for `drain_seconds`."""
        renewal = threading.Thread(target=self._leases.renew_until, args=(self._stopped,), name="leases", daemon=True)
        threads = [
            threading.Thread(
                target=self._deliver_lane, args=(lane, stop), name=f"{lane.lane.name}-{number}", daemon=True
            )
            for lane in self._lanes
            for number in range(lane.size)
        ]
        settling = threading.Thread(target=self._settle_later, name="settling", daemon=True)
        for thread in (renewal, settling, *threads):
            thread.start()
        self._clean(stop)
        for lane in self._lanes:
            lane.close()
        self._drain(threads)
        self._stopped.set()
        renewal.join()
        settling.join()

    def deliver_due(self) -> int:
        """Deliver some due messages of each lane in this thread. Return how many were claimed."""
        count = 0
        for lane in self._lanes:
            for _ in range(_BATCH_SIZE):
                message = lane.take()
                if message is None:
                    break
                self._deliver(lane, message, self._senders)
                count += 1
        return count

    def _new_senders(self) -> dict[str, Sender]:
        """Return the senders by kind."""
        return {**senders(self._settings, self._clock), subscriptions.KIND: WebhookSender(self._services)}

    def _deliver_lane(self, lane: LaneDispatcher, stop: threading.Event) -> None:
        """Claim and deliver one message after another: the loop of one delivery thread."""
        own_senders = self._new_senders()  # each thread has its own connections
        while not stop.is_set():
            try:
                message = lane.take()
                if message is not None:
                    self._deliver(lane, message, own_senders)
                    continue
                for sender in own_senders.values():
                    sender.close()
                lane.wait()
            except StoreUnavailable as problem:
                log.warning("worker.waits", extra={"problem": str(problem), "lane": lane.lane.name})
                stop.wait(UNAVAILABLE_SECONDS)
            except Exception:
                log.exception("worker.failed")
                stop.wait(UNAVAILABLE_SECONDS)

    def _deliver(self, lane: LaneDispatcher, message: ClaimedMessage, by_kind: Mapping[str, Sender]) -> None:
        with ExitStack() as claimed:
            claimed.callback(lane.done, message)
            claimed.enter_context(self._leases.renewing(message))
            sender = by_kind.get(message.kind, self._unknown_kind)
            receipt = self._send(message, sender)
            if receipt is not None and not self._settle_sent(message, receipt, keeps_payload=sender.keeps_payload):
                self._unsettled.append(_Sent(message, receipt, sender.keeps_payload, claimed.pop_all()))

    def _send(self, message: ClaimedMessage, sender: Sender) -> Receipt | None:
        """Send a message and return its receipt; None where it was not sent, which is settled then."""
        fields = {"kind": message.kind, "message_id": message.message_id, "attempts": message.attempts}
        try:
            with self._leases.sending(message, sender):
                receipt = sender.send(message.decrypted(self._encryption)) or Receipt()
        except DeliveryError as problem:
            if problem.is_interrupted:
                claims.release(self._database, message, self._clock.now())
                log.info("outbox.released", extra=fields)
            elif problem.lacks_key:
                claims.settle_unknown_key(self._database, message, self._clock.now())
                log.warning("outbox.lacks_key", extra={**fields, "problem": str(problem)})
            else:
                self._settle_failed(message, problem, fields, is_paused=problem.is_receiver_down)
        except Exception as problem:
            log.exception("outbox.broken", extra=fields)
            self._settle_failed(message, DeliveryError(type(problem).__name__), fields, is_paused=False)
        else:
            log.info("outbox.sent", extra=fields)
            return receipt
        return None

    def _settle_sent(self, message: ClaimedMessage, receipt: Receipt, *, keeps_payload: bool) -> bool:
        """Mark a message as sent. Return False where the store is unavailable."""
        now = self._clock.now()
        try:
            if message.queue is None:
                claims.settle_sent(self._database, message, now, keeps_payload=keeps_payload)
            else:
                queue_outcomes.settle_sent(self._database, self._encryption, message, now, receipt)
        except StoreUnavailable as problem:
            log.warning("outbox.not_settled", extra={"message_id": message.message_id, "problem": str(problem)})
            return False
        return True

    def _settle_later(self) -> None:
        """Mark what was sent while the store was unavailable, because it would otherwise be sent again.

        The delivery threads go on meanwhile: on Citus, the rows of other tenants lie on nodes that answer.
        """
        while not self._stopped.wait(IDLE_SECONDS):
            for sent in tuple(self._unsettled):
                if self._settle_sent(sent.message, sent.receipt, keeps_payload=sent.keeps_payload):
                    sent.claimed.close()
                    self._unsettled.remove(sent)

    def _settle_failed(
        self, message: ClaimedMessage, problem: DeliveryError, fields: dict[str, object], *, is_paused: bool
    ) -> None:
        """Postpone the message or make it a dead letter. `is_paused`: its queue, if it has one, waits with it."""
        now = self._clock.now()
        if message.queue is None:
            is_dead = claims.settle_failed(self._database, message, now, str(problem), is_final=problem.is_final)
        else:
            fields = {**fields, "queue": message.queue}
            settled = (self._database, self._encryption, message, now, problem)
            is_dead = queue_outcomes.settle_failed(*settled, is_paused=is_paused)
        log.warning("outbox.dead" if is_dead else "outbox.put_off", extra={**fields, "problem": str(problem)})

    def _drain(self, threads: list[threading.Thread]) -> None:
        """Let deliveries in progress finish, then interrupt those that no receiver has completely."""
        ends_at = monotonic() + self._drain_seconds
        _join(threads, self._drain_seconds)
        while self._unsettled and monotonic() < ends_at:
            sleep(_POLL_SECONDS)
        if self._leases.interrupt_all():
            _join(threads, _INTERRUPTED_SECONDS)
        if left := self._leases.interrupt_all():
            log.warning("worker.left", extra={"messages": left})

    def _clean(self, stop: threading.Event) -> None:
        """Delete expired rows, mark full queues, publish due themes, and complete the search of accounts, until `stop` is set."""
        wait = IDLE_SECONDS
        while not stop.wait(wait):
            wait = IDLE_SECONDS
            try:
                self._queue_limits.turn(self._clock.now())
                if published := self._theme_schedule.turn(self._clock.now()):
                    log.info("themes.published", extra={"versions": published})
                if read := self._metadata_schedule.turn(self._clock.now()):
                    log.info("saml_metadata.read", extra={"documents": read})
                self._certificate_schedule.turn(self._clock.now())
                if removed := self._cleaner.turn(self._clock.now()):
                    log.info("cleaning.done", extra={"rows": removed})
                if written := self._search_completion.turn(self._clock.now()):
                    log.info("account_search.completed", extra={"rows": written})
            except StoreUnavailable:
                wait = UNAVAILABLE_SECONDS
            except Exception:
                log.exception("cleaning.failed")
                wait = UNAVAILABLE_SECONDS


def _join(threads: list[threading.Thread], seconds: float) -> None:
    ends_at = monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, ends_at - monotonic()))
