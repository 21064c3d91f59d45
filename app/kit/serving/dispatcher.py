"""Dispatches complete requests: to the application or the error page, at once or through a queue."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final

from app.kit.limits.queue_slot import LAME_DUCK, SHED, LoadShed, WsgiApp
from app.kit.serving.connection import ClientConnection
from app.kit.serving.hash_queue import HashQueue
from app.kit.serving.http1.error_responses import Refusals, ServerRefusal, ServerRefusalReason
from app.kit.serving.http1.request_reader import Request
from app.kit.serving.request_slots import QueueFull, Slot, SlotPool
from app.kit.serving.worker_pool import WorkerPool
from app.kit.serving.wsgi_call import ConnectionAborted, WsgiCall

logger = logging.getLogger("gatehouse.serving")


@dataclass(frozen=True)
class Queues:
    """The queues of waiting requests."""

    main: SlotPool
    hashing: HashQueue
    reserved: Mapping[str, SlotPool] = field(default_factory=dict)
    """By path."""


class _ImmediateSlot:
    """The slot of a request that is answered from memory."""

    may_hash: Final = False

    def release(self) -> None:
        return


_IMMEDIATE: Final = _ImmediateSlot()
_READS: Final = frozenset({"GET", "HEAD"})


class RequestTask:
    """A request on its way to its response."""

    def __init__(self, service: "RequestDispatcher", connection: ClientConnection, request: Request) -> None:
        self.connection = connection
        self.request = request
        self.is_streaming = False
        """Whether a part of the response has been sent."""
        self._service = service

    def send(self, block: bytes) -> None:
        """Send a block of a stream. Raises OSError."""
        if not self.is_streaming and not self._service.claim(self):
            raise ConnectionAbortedError("the process gave up on it while draining")
        self.is_streaming = True
        self.connection.send(block)

    def ends(self) -> bool:
        """Whether the connection ends with the response."""
        return not self.request.keeps_alive or (self._service.is_draining and not self.connection.has_more)


class RequestDispatcher:
    """Answers requests: from memory at once, all others within the bounds of their queue."""

    def __init__(self, app: WsgiApp, queues: Queues, refusals: Refusals, workers: WorkerPool) -> None:
        self._app = app
        self._queues = queues
        self._refusals = refusals
        self._workers = workers
        self._in_flight: dict[RequestTask, bool] = {}
        self.is_lame_duck = False
        """Whether the process is about to drain; readiness then answers 503."""
        self.is_draining = False

    def advance(self, connection: ClientConnection) -> None:
        """Answer the requests of a connection until it waits for its client, or a request waits in a queue."""
        while connection.may_answer:
            request = connection.next_request()
            if request is None:
                break
            if self.is_lame_duck:
                request.environ[LAME_DUCK] = True
            task = RequestTask(self, connection, request)
            self._in_flight[task] = True
            if not self._begin(task):
                return
        connection.wait()

    def claim(self, task: RequestTask) -> bool:
        """Claim the right to answer, and the connection; True for the first caller: the request's thread or the end of the drain."""
        return self._in_flight.pop(task, False)

    def refuse_unfinished(self) -> None:
        """Refuse unanswered requests with 503; the end of the process aborts streams in progress."""
        for task in list(self._in_flight):
            if self._refuse(task, ServerRefusal(HTTPStatus.SERVICE_UNAVAILABLE, ServerRefusalReason.DRAINING)):
                task.connection.wait()

    def _begin(self, task: RequestTask) -> bool:
        """Answer, or queue the request; return whether this thread still owns the connection."""
        try:
            slot = self._acquire_slot(task)
        except ServerRefusal as refusal:
            return self._refuse(task, refusal)
        return slot is not None and self._run(task, slot)

    def _resume(self, task: RequestTask, end: Slot | LoadShed) -> None:
        """Answer a request whose wait has ended."""
        try:
            slot = self._shed(task, end) if isinstance(end, LoadShed) else end
        except ServerRefusal as refusal:
            is_ours = self._refuse(task, refusal)
        else:
            if slot is None:
                return
            is_ours = self._run(task, slot, has_waited=True)
        if is_ours:
            self.advance(task.connection)

    def _acquire_slot(self, task: RequestTask) -> Slot | None:
        """Return a slot; None if the request waits in a queue. Raises ServerRefusal."""
        request = task.request
        if task.connection.is_surplus:
            raise ServerRefusal(HTTPStatus.SERVICE_UNAVAILABLE, ServerRefusalReason.CONNECTIONS)
        if request.refusal is not None:
            raise request.refusal
        is_read = request.environ["REQUEST_METHOD"] in _READS and not (request.has_body or request.expects)
        try:
            if is_read and self._app.is_answered_from_cache(request.environ):
                return _IMMEDIATE
            slot = self._app.queue_slot(request.environ)
        except Exception as error:
            logger.exception("The application raised", extra={"path": request.environ["PATH_INFO"]})
            raise ServerRefusal(HTTPStatus.INTERNAL_SERVER_ERROR, ServerRefusalReason.BROKEN) from error
        if slot is None:
            return self._acquire_thread(task)
        try:
            return self._queues.hashing.acquire(slot, partial(self._resume_later, task))
        except LoadShed as shed:
            return self._shed(task, shed)

    def _shed(self, task: RequestTask, shed: LoadShed) -> Slot | None:
        """Let the application render the refusal of a too long wait for a hash."""
        task.request.environ[SHED] = shed
        self._refusals.note(ServerRefusalReason.HASHES, shed.unavailable_status)
        return self._acquire_thread(task)

    def _acquire_thread(self, task: RequestTask) -> Slot | None:
        environ = task.request.environ
        pool = self._queues.reserved.get(environ["PATH_INFO"], self._queues.main)
        is_read = SHED in environ or environ["REQUEST_METHOD"] in _READS
        try:
            return pool.acquire(partial(self._resume_later, task), is_read=is_read)
        except QueueFull:
            raise ServerRefusal(HTTPStatus.SERVICE_UNAVAILABLE, ServerRefusalReason.THREADS) from None

    def _resume_later(self, task: RequestTask, end: Slot | LoadShed) -> None:
        self._workers.submit(partial(self._resume, task, end))

    def _run(self, task: RequestTask, slot: Slot, *, has_waited: bool = False) -> bool:
        """Call the application, and send its response; return whether this thread still owns the connection."""
        connection = task.connection
        try:
            response, closes = self._call_application(task, slot, has_waited=has_waited)
        except ServerRefusal as refusal:
            return self._refuse(task, refusal)
        except ConnectionAborted:
            if task.is_streaming or self.claim(task):
                connection.close()
            return False
        finally:
            slot.release()
        if not task.is_streaming and not self.claim(task):
            return False
        connection.release(task.request)
        connection.answer(response, closes=closes)
        return True

    def _call_application(self, task: RequestTask, slot: Slot, *, has_waited: bool) -> tuple[bytes, bool]:
        """Return the bytes to send, and whether the connection ends with them."""
        if has_waited and (task not in self._in_flight or task.connection.has_left()):
            raise ConnectionAborted
        call = WsgiCall(self._app, task.request.environ, task.send, task.ends)
        if slot is _IMMEDIATE:
            return call.run(may_hash=False), call.closes
        self._workers.begin_request()
        try:
            return call.run(may_hash=slot.may_hash), call.closes
        finally:
            self._workers.end_request()

    def _refuse(self, task: RequestTask, refusal: ServerRefusal) -> bool:
        """Answer in place of the application; return whether this thread owns the connection."""
        if not self.claim(task):
            return False
        connection, accept = task.connection, task.request.environ.get("HTTP_ACCEPT", "")
        connection.release(task.request)
        connection.answer(self._refusals.answer(refusal.status, refusal.reason, accept=accept), closes=True)
        return True
