"""A WSGI application behind an ASGI server: bodies are read first, threads are taken last."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from app.kit.admission import LEAVING, SHED, Application, Shed
from app.kit.serving.bodies import Bodies
from app.kit.serving.environ import ENVIRON, environ_of
from app.kit.serving.exchange import Answer, Exchange
from app.kit.serving.hash_queue import Grant, HashQueue
from app.kit.serving.limits import Limits
from app.kit.serving.pool import GrowingPool, Pool
from app.kit.serving.refusals import Gone, Reason, Refusal, Refusals, send_last

HAS_LEFT = "gatehouse.has_left"
"""Scope key of a callable that returns whether the client has disconnected."""
CLOSE = (b"connection", b"close")


def _is_here() -> bool:
    return False


@dataclass(frozen=True)
class Threads:
    """The threads that run requests."""

    main: Pool
    hashing: GrowingPool
    hash_queue: HashQueue
    """Admits requests to `hashing`."""
    reserved: Mapping[str, Pool] = field(default_factory=dict)
    """By path."""

    def take(self, exchange: Exchange) -> None:
        """Queue a request that computes no hash; raises Refusal if its queue is full."""
        pool = self.reserved.get(exchange.path, self.main)
        if not pool.take(exchange.run, is_read=exchange.is_read or SHED in exchange.environ):
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.THREADS)

    def close(self) -> None:
        """Stop the threads after the queued requests."""
        self.hashing.close()
        for pool in (self.main, *self.reserved.values()):
            pool.close()


class Bridge:
    """The ASGI application. A thread is held only while the application computes, or streams."""

    def __init__(
        self,
        app: Application,
        threads: Threads,
        refusals: Refusals,
        limits: Limits,
        *,
        is_one_of_many: bool,
    ) -> None:
        self.bodies = Bodies(limits)
        self._app = app
        self._threads = threads
        self._refusals = refusals
        self._is_one_of_many = is_one_of_many
        self._under_way: set[Exchange] = set()
        self.is_leaving = False
        """Whether the process drains; readiness then answers 503."""

    def give_up(self) -> None:
        """Refuse what has not been answered yet with 503."""
        self._threads.hash_queue.give_up(Refusal(HTTPStatus.SERVICE_UNAVAILABLE, Reason.DRAINING))
        for exchange in list(self._under_way):
            exchange.give_up()

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"not served here: {scope['type']}")
        # Removed, because it refers to the scope: the reference cycle would wait for the garbage collector.
        has_left = cast(dict[str, Any], scope).pop(HAS_LEFT, _is_here)
        made: dict[str, Any] | None = cast(dict[str, Any], scope).pop(ENVIRON, None)
        unread: ASGIReceiveCallable | None = receive
        try:
            self._check_host(scope)
            body = await self.bodies.read(scope, receive)
            unread = receive if body is None else None
            try:
                environ = made or environ_of(scope, body, is_one_of_many=self._is_one_of_many)
                if self.is_leaving:
                    environ[LEAVING] = True
                exchange = Exchange(self._app, environ, send, has_left)
                self._under_way.add(exchange)
                try:
                    await self._exchange(exchange, unread, send)
                finally:
                    self._under_way.discard(exchange)
            finally:
                self.bodies.release(body)
        except Refusal as refusal:
            await self._refusals.send(refusal, scope, unread, send)
        except Gone:
            return

    async def _exchange(self, exchange: Exchange, unread: ASGIReceiveCallable | None, send: ASGISendCallable) -> None:
        grant = await self._admit(exchange)
        try:
            if grant is None:
                self._threads.take(exchange)
            else:
                self._threads.hashing.run(exchange.run_with_hashing)
            answer = await exchange.finished
        finally:
            if grant is not None:
                self._threads.hash_queue.leave(grant)
        if answer is not None:
            await self._answer(answer, unread, send)

    async def _admit(self, exchange: Exchange) -> Grant | None:
        """Wait until a request that may compute a hash is admitted; return None for any other, and for one that is shed."""
        slot = self._app.queue_slot(exchange.environ)
        if slot is None:
            return None
        try:
            return await self._threads.hash_queue.enter(slot)
        except Shed as shed:
            exchange.environ[SHED] = shed
            self._refusals.note(Reason.HASHES, shed.unavailable_status)
            return None

    async def _answer(self, answer: Answer, unread: ASGIReceiveCallable | None, send: ASGISendCallable) -> None:
        headers = answer.headers if unread is None else [*answer.headers, CLOSE]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send_last(answer.body, unread, send)

    @staticmethod
    def _check_host(scope: HTTPScope) -> None:
        """RFC 9112 section 3.2: a request without exactly one Host is answered 400."""
        count = sum(name == b"host" for name, _ in scope["headers"])
        if count > 1 or (count == 0 and scope["http_version"] != "1.0"):
            raise Refusal(HTTPStatus.BAD_REQUEST, Reason.HOST)
