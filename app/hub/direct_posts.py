"""Usual form posts, answered without Flask: the straight way from the server to the operation and back (decisions/0284).

A page declares one function for the usual post of its form; it calls the operation and returns the redirect. Whatever is
unusual raises `Unusual`, and Flask answers: with nothing changed, or with the operation's outcome handed over to the view, so
that no operation is called twice.

    @direct_post("/login", "identifier", "password")
    def sign_in(post: Post) -> Response:
        return journey.follow(post.call(contract.sign_in, contract.SignInRequest(identifier=post.required("identifier"), ...)))
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from wsgiref.types import StartResponse, WSGIEnvironment

from flask import Flask, Response

from app.hub import lifecycle, plain_responses
from app.hub.direct import DirectRequest, Unusual, directly, visit_in_memory
from app.hub.forms.base import TOKEN_FIELD, is_own_post
from app.hub.parameters import MAX_FORM_BYTES
from app.hub.services import Services
from app.hub.visit import SHOWN_UID, Visit, set_current_visit
from app.kit import form_fields
from app.kit.admission import SHED

_FORM: Final = "application/x-www-form-urlencoded"
_ATTEMPT: Final = "attempt"
_CHECKED: Final = "y"


@dataclass(frozen=True, slots=True)
class Post(DirectRequest):
    """A usual post: from a page of the visit, with no field that the form does not have."""

    fields: Mapping[str, str]

    def required(self, name: str) -> str:
        """Return a field. Raises Unusual if it is missing or empty: the page is shown again."""
        if not (text := self.fields.get(name)):
            raise Unusual
        return text

    def short(self, name: str, max_length: int) -> str:
        """Return a field, which may be empty. Raises Unusual if it is missing or longer."""
        text = self.fields.get(name)
        if text is None or len(text) > max_length:
            raise Unusual
        return text

    def refuse_others(self, names: Iterable[str]) -> None:
        """Raise Unusual if the form has other fields than these, where `direct_post` allows any."""
        if not self.fields.keys() <= {TOKEN_FIELD, _ATTEMPT, *names}:
            raise Unusual

    def is_checked(self, name: str) -> bool:
        """Return whether a checkbox is checked. Raises Unusual for a value that is not the page's."""
        if self.fields.get(name, _CHECKED) != _CHECKED:
            raise Unusual
        return name in self.fields


@dataclass(frozen=True, slots=True)
class _Direct:
    fields: frozenset[str]
    prefix: str | None
    """Of the names of further fields; None if the form has none."""
    answer: Callable[[Post], Response]

    def expects(self, names: Iterable[str]) -> bool:
        """Return whether a form has no other fields than these."""
        others = frozenset(names) - self.fields
        return not others or (self.prefix is not None and all(name.startswith(self.prefix) for name in others))


DIRECT: Final[dict[str, _Direct]] = {}
"""By path."""


Answer = Callable[[Post], Response]


def direct_post(path: str, *fields: str, prefix: str | None = None) -> Callable[[Answer], Answer]:
    """Declare the function that answers the posts to a path that have no other fields than these, each once.

    Args:
        prefix: of the names of further fields; empty if the function checks their names, by `Post.refuse_others`.
    """

    def declare(answer: Answer) -> Answer:
        DIRECT[path] = _Direct(frozenset({TOKEN_FIELD, _ATTEMPT, *fields}), prefix, answer)
        return answer

    return declare


class DirectPosts:
    """WSGI middleware that answers usual posts. Anything else is Flask's."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._flask = app.wsgi_app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        direct = DIRECT.get(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "POST" else None
        response = self.response(direct, environ) if direct is not None else None
        if response is None:
            if direct is not None and environ["wsgi.input"].seekable():
                environ["wsgi.input"].seek(0)  # the visit may have read it
            return self._flask(environ, start_response)
        return plain_responses.send(response, environ, start_response)

    def response(self, direct: _Direct, environ: WSGIEnvironment) -> Response | None:
        """Return the response; None if Flask is to answer."""

        def answer(shared: Services) -> Response:
            fields = _read_fields(environ, direct)
            set_current_visit(_read_visit(shared, environ, fields)).choose_language()
            if not is_own_post(fields.get(TOKEN_FIELD, "")):
                raise Unusual
            return direct.answer(Post(environ, fields))

        return directly(self._app, answer)


def _read_fields(environ: WSGIEnvironment, direct: _Direct) -> dict[str, str]:
    """Return the fields of a form that the server has read whole. Raises Unusual."""
    stream, kind = environ["wsgi.input"], environ.get("CONTENT_TYPE")
    if kind != _FORM or not isinstance(stream, io.BytesIO) or environ["QUERY_STRING"] or SHED in environ:
        raise Unusual
    body = stream.getvalue()
    if len(body) > MAX_FORM_BYTES or environ.get("CONTENT_LENGTH") != str(len(body)):
        raise Unusual
    try:
        pairs = form_fields.read(body.decode("ascii"), errors="strict")
    except ValueError:
        raise Unusual from None
    fields = dict(pairs)
    if len(fields) != len(pairs) or not direct.expects(fields):
        raise Unusual
    return fields


def _read_visit(shared: Services, environ: WSGIEnvironment, fields: Mapping[str, str]) -> Visit:
    """Return the visit of a form. Raises Unusual also if its page is an error."""
    visit = visit_in_memory(shared, environ)
    visit.posted_uid = fields.get(SHOWN_UID, "")[:64]
    if attempt := fields.get(_ATTEMPT):
        visit.interaction = shared.interactions.read(visit.cookies, visit.tenant.name, attempt)
        if lifecycle.needs_reopening(visit):
            raise Unusual
    elif not visit.binding:
        raise Unusual
    return visit
