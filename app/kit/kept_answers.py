"""Answers that are kept, so that the next request alike is answered from memory, by the thread that read it.

The straight way makes each answer first; the next one repeats it, with what must be fresh filled in. An answer is kept as
long as the state that it was made from is the current one.

    class KeyDocuments(KeptAnswers[bytes]):    # asked, kept, filled
    app = KeyDocuments(app)                    # WSGI middleware: answers, or asks the application and keeps
    Application(app, ready=app.ready)          # the server asks before it queues a request
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from app.kit.lru_cache import LruCache

READY: Final = "gatehouse.ready"
"""Where the environment carries the `Ready` that the server got from `Application.ready`."""
MOST_KEPT: Final = 2_000
Headers = list[tuple[str, str]]
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Ready:
    """A complete answer of status 200, in memory."""

    headers: Headers
    body: bytes

    def send(self, start_response: StartResponse) -> Iterable[bytes]:
        """Send it (PEP 3333)."""
        start_response("200 OK", list(self.headers))
        return [self.body]


ReadyOf = Callable[[Mapping[str, Any]], Ready | None]
"""Returns the answer to the environment of a WSGI call, if it is in memory; never waits, and leaves the environment as it is."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks for."""

    key: Hashable
    """All of the request on which the answer depends."""
    state: tuple[object, ...]
    """All else on which it depends; compared by identity."""
    facts: Any = None
    """What the filling needs."""


class AnswerReady:
    """WSGI middleware that sends the answer that the server brings."""

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        ready: Ready | None = environ.get(READY)
        return self._app(environ, start_response) if ready is None else ready.send(start_response)


class KeptAnswers(ABC, Generic[Answer]):
    """WSGI middleware that keeps answers to GET. Thread-safe."""

    def __init__(self, app: WSGIApplication) -> None:
        self.straight = app
        """The application without what is kept."""
        self._kept: LruCache[Hashable, tuple[tuple[object, ...], Answer]] = LruCache(MOST_KEPT)

    @abstractmethod
    def asked(self, environ: Mapping[str, Any]) -> Asked | None:
        """Return what a GET asks for; None if no kept answer may serve it, or if the state is not in memory. Never waits."""

    @abstractmethod
    def kept(self, environ: Mapping[str, Any], headers: Headers, body: Iterable[bytes]) -> Answer | None:
        """Return what to keep of an answer of status 200, without using up the body; None if it must not be kept."""

    @abstractmethod
    def filled(self, answer: Answer, asked: Asked) -> Ready | None:
        """Return a kept answer with what must be fresh; None if it does not fit. Never waits."""

    def ready(self, environ: Mapping[str, Any]) -> Ready | None:
        """Return the answer if it is kept and current: a `ReadyOf`."""
        asked = self.asked(environ) if environ["REQUEST_METHOD"] == "GET" else None
        return self._current(asked) if asked is not None else None

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        asked = self.asked(environ) if environ["REQUEST_METHOD"] == "GET" else None
        if asked is None:
            return self.straight(environ, start_response)
        ready = self._current(asked)
        return self._answer_and_keep(environ, start_response, asked) if ready is None else ready.send(start_response)

    def _current(self, asked: Asked) -> Ready | None:
        found = self._kept.get(asked.key)
        return self.filled(found[1], asked) if found is not None and _is_same(found[0], asked.state) else None

    def _answer_and_keep(
        self, environ: WSGIEnvironment, start_response: StartResponse, before: Asked
    ) -> Iterable[bytes]:
        """Ask the application. If the state is the same before and after, the answer was made from it."""
        started: list[tuple[str, Headers]] = []

        def start(status: str, headers: Headers, exc_info: Any = None, /) -> Callable[[bytes], object]:
            started[:] = [(status, list(headers))]
            return start_response(status, headers, exc_info)

        question = dict(environ)  # the application may rewrite it
        body = self.straight(environ, start)
        if started and started[0][0].startswith("200 "):
            answer = self.kept(environ, started[0][1], body)
            after = self.asked(question) if answer is not None else None
            if answer is not None and after is not None and _is_same(after.state, before.state):
                self._kept.put(before.key, (before.state, answer))
        return body


def _is_same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return len(one) == len(other) and all(a is b for a, b in zip(one, other, strict=True))
