"""A WSGI application behind an ASGI server: bodies are read first, threads are taken last."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, cast
from wsgiref.types import WSGIApplication

from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPScope, Scope

from app.kit.serving.bodies import Bodies
from app.kit.serving.environ import environ_of
from app.kit.serving.exchange import Answer, Exchange
from app.kit.serving.limits import Limits
from app.kit.serving.pool import Pool
from app.kit.serving.refusals import Gone, Refusal, Refusals, send_last

HAS_LEFT = "gatehouse.has_left"
"""Where the connection puts, in the scope, a callable that says whether its client is gone."""
CLOSE = (b"connection", b"close")


def _is_here() -> bool:
    return False


class Bridge:
    """The ASGI application. A thread is held only while the application computes, or streams."""

    def __init__(
        self,
        app: WSGIApplication,
        pool: Pool,
        refusals: Refusals,
        limits: Limits,
        *,
        is_one_of_many: bool,
        reserved: Mapping[str, Pool] | None = None,
    ) -> None:
        self.bodies = Bodies(limits)
        self._app = app
        self._pool = pool
        self._reserved = reserved or {}
        self._refusals = refusals
        self._is_one_of_many = is_one_of_many

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            raise ValueError(f"not served here: {scope['type']}")
        # Taken out, because it leads back to the scope: such a circle would wait for the garbage collector.
        has_left = cast(dict[str, Any], scope).pop(HAS_LEFT, _is_here)
        unread: ASGIReceiveCallable | None = receive
        try:
            self._check_host(scope)
            body = await self.bodies.read(scope, receive)
            unread = receive if body is None else None
            try:
                environ = environ_of(scope, body, is_one_of_many=self._is_one_of_many)
                exchange = Exchange(self._app, environ, send, has_left)
                await self._exchange(exchange, unread, send)
            finally:
                self.bodies.release(body)
        except Refusal as refusal:
            await self._refusals.send(refusal.status, scope, unread, send)
        except Gone:
            return

    async def _exchange(self, exchange: Exchange, unread: ASGIReceiveCallable | None, send: ASGISendCallable) -> None:
        if not self._reserved.get(exchange.path, self._pool).take(exchange.run, is_read=exchange.is_read):
            raise Refusal(HTTPStatus.SERVICE_UNAVAILABLE)
        answer = await exchange.finished
        if answer is not None:
            await self._answer(answer, unread, send)

    async def _answer(self, answer: Answer, unread: ASGIReceiveCallable | None, send: ASGISendCallable) -> None:
        headers = answer.headers if unread is None else [*answer.headers, CLOSE]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send_last(answer.body, unread, send)

    @staticmethod
    def _check_host(scope: HTTPScope) -> None:
        """RFC 9112 section 3.2: a request without exactly one Host is answered 400; the tenant hangs on it."""
        count = sum(name == b"host" for name, _ in scope["headers"])
        if count > 1 or (count == 0 and scope["http_version"] != "1.0"):
            raise Refusal(HTTPStatus.BAD_REQUEST)
