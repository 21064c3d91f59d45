"""What happens to a complete request: who answers it, when, and in which thread."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final

from app.kit.admission import LEAVING, SHED, Application, Shed
from app.kit.serving.connection import Connection
from app.kit.serving.crew import Crew
from app.kit.serving.exchange import Cut, Exchange
from app.kit.serving.hash_queue import HashQueue
from app.kit.serving.pool import Permit, Pool, PoolFull
from app.kit.serving.refusals import Reason, Refusal, Refusals
from app.kit.serving.requests import Request

logger = logging.getLogger("gatehouse.serving")


@dataclass(frozen=True)
class Queues:
    """Where requests wait for their turn."""

    main: Pool
    hashing: HashQueue
    reserved: Mapping[str, Pool] = field(default_factory=dict)
    """By path."""


class _AtOnce:
    """The permit of a request that waits for nothing."""

    may_hash: Final = False

    def leave(self) -> None:
        return


_AT_ONCE: Final = _AtOnce()
_READS: Final = frozenset({"GET", "HEAD"})


class Turn:
    """A request on its way to its response."""

    def __init__(self, service: "Service", connection: Connection, request: Request) -> None:
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


class Service:
    """Answers requests. What waits for nothing is answered at once; all else runs within the bounds of its queue."""

    def __init__(self, app: Application, queues: Queues, refusals: Refusals, crew: Crew) -> None:
        self._app = app
        self._queues = queues
        self._refusals = refusals
        self._crew = crew
        self._under_way: dict[Turn, bool] = {}
        self.is_leaving = False
        """Whether the process is about to drain; readiness then answers 503."""
        self.is_draining = False

    def advance(self, connection: Connection) -> None:
        """Answer the requests of a connection, until it waits for its client, or one of them for its turn."""
        while connection.may_answer:
            request = connection.next_request()
            if request is None:
                break
            if self.is_leaving:
                request.environ[LEAVING] = True
            turn = Turn(self, connection, request)
            self._under_way[turn] = True
            if not self._begin(turn):
                return
        connection.wait()

    def claim(self, turn: Turn) -> bool:
        """Return True to the one that may answer, and owns the connection: the thread of the request, or the end of the drain."""
        return self._under_way.pop(turn, False)

    def give_up(self) -> None:
        """Refuse what has not been answered yet with 503; a stream that has begun is cut off by the end of the process."""
        for turn in list(self._under_way):
            if self._refuse(turn, Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING)):
                turn.connection.wait()

    def _begin(self, turn: Turn) -> bool:
        """Answer, or queue the request; return whether this thread still owns the connection."""
        try:
            permit = self._permit(turn)
        except Refusal as refusal:
            return self._refuse(turn, refusal)
        return permit is not None and self._run(turn, permit)

    def _go_on(self, turn: Turn, end: Permit | Shed) -> None:
        """Answer a request whose wait has ended."""
        try:
            permit = self._shed(turn, end) if isinstance(end, Shed) else end
        except Refusal as refusal:
            is_ours = self._refuse(turn, refusal)
        else:
            if permit is None:
                return
            is_ours = self._run(turn, permit, has_waited=True)
        if is_ours:
            self.advance(turn.connection)

    def _permit(self, turn: Turn) -> Permit | None:
        """Return permission to run now; None if the request waits in a queue. Raises Refusal."""
        request = turn.request
        if turn.connection.is_surplus:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.CONNECTIONS)
        if request.refusal is not None:
            raise request.refusal
        is_read = request.environ["REQUEST_METHOD"] in _READS and not (request.has_body or request.expects)
        try:
            if is_read and self._app.waits_for_nothing(request.environ):
                return _AT_ONCE
            slot = self._app.queue_slot(request.environ)
        except Exception as error:
            logger.exception("The application raised", extra={"path": request.environ["PATH_INFO"]})
            raise Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, Reason.BROKEN) from error
        if slot is None:
            return self._place(turn)
        try:
            return self._queues.hashing.enter(slot, partial(self._hand_over, turn))
        except Shed as shed:
            return self._shed(turn, shed)

    def _shed(self, turn: Turn, shed: Shed) -> Permit | None:
        """Let the application answer that the wait for a hash is too long."""
        turn.request.environ[SHED] = shed
        self._refusals.note(Reason.HASHES, shed.unavailable_status)
        return self._place(turn)

    def _place(self, turn: Turn) -> Permit | None:
        environ = turn.request.environ
        pool = self._queues.reserved.get(environ["PATH_INFO"], self._queues.main)
        is_read = SHED in environ or environ["REQUEST_METHOD"] in _READS
        try:
            return pool.enter(partial(self._hand_over, turn), is_read=is_read)
        except PoolFull:
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.THREADS) from None

    def _hand_over(self, turn: Turn, end: Permit | Shed) -> None:
        self._crew.hand_over(partial(self._go_on, turn, end))

    def _run(self, turn: Turn, permit: Permit, *, has_waited: bool = False) -> bool:
        """Call the application, and send its response; return whether this thread still owns the connection."""
        connection = turn.connection
        try:
            response, closes = self._called(turn, permit, has_waited=has_waited)
        except Refusal as refusal:
            return self._refuse(turn, refusal)
        except Cut:
            if turn.is_streaming or self.claim(turn):
                connection.close()
            return False
        finally:
            permit.leave()
        if not turn.is_streaming and not self.claim(turn):
            return False
        connection.release(turn.request)
        connection.answer(response, closes=closes)
        return True

    def _called(self, turn: Turn, permit: Permit, *, has_waited: bool) -> tuple[bytes, bool]:
        """Return what is to be sent, and whether the connection ends with it."""
        if has_waited and (turn not in self._under_way or turn.connection.has_left()):
            raise Cut
        exchange = Exchange(self._app, turn.request.environ, turn.send, turn.ends)
        if permit is _AT_ONCE:
            return exchange.run(may_hash=False), exchange.closes
        self._crew.begin()
        try:
            return exchange.run(may_hash=permit.may_hash), exchange.closes
        finally:
            self._crew.end()

    def _refuse(self, turn: Turn, refusal: Refusal) -> bool:
        """Answer in place of the application; return whether this thread owns the connection."""
        if not self.claim(turn):
            return False
        connection, accept = turn.connection, turn.request.environ.get("HTTP_ACCEPT", "")
        connection.release(turn.request)
        connection.answer(self._refusals.answer(refusal.status, refusal.reason, accept=accept), closes=True)
        return True
