"""What direct posts, queries and pages share: a request that is answered without Flask, or handed over to it (decisions/0284)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from wsgiref.types import WSGIEnvironment

from flask import Flask, Response
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException

from app.contract.hub import Next
from app.hub import journey, lifecycle
from app.hub.identity_client import AccountChanged
from app.hub.services import HANDED_OVER, HandedOver, Services, api
from app.hub.visit import Visit, current_visit
from app.kit import form_fields
from app.kit.admission import SHED
from app.kit.client import Client, Req, Res, ServiceUnavailable
from app.kit.errors import ApiError
from app.kit.operation import Operation

log = logging.getLogger("gatehouse.hub")


Made = TypeVar("Made")
_SHOWN: Final = (ApiError, ServiceUnavailable, AccountChanged, journey.InteractionGone, HTTPException)
"""Errors that have a page of their own, or Flask's answer."""


class Unusual(Exception):
    """Flask is to answer this request."""


@dataclass(frozen=True, slots=True)
class DirectRequest:
    """A usual request."""

    environ: WSGIEnvironment

    def call(self, operation: Operation[Req, Res], req: Req) -> Res:
        """Return the operation's response.

        An error, or a step without an address, is handed over to the view, which shows it. Raises Unusual then.
        """
        try:
            outcome: Any = self._api()(operation, req)
        except Exception as problem:  # noqa: BLE001 - Flask's error handlers answer it
            outcome = problem
        self.environ[HANDED_OVER] = [HandedOver(operation.name, outcome, tuple(self._visit().costs))]
        if isinstance(outcome, Exception) or (isinstance(outcome, Next) and journey.needs_page(outcome)):
            raise Unusual
        answer: Res = outcome
        return answer

    def _api(self) -> Client:
        return api()

    def _visit(self) -> Visit:
        return current_visit()


def directly(flask: Flask, answer: Callable[[Services], Response]) -> Response | None:
    """Return the response of `answer`; None if Flask is to answer, also after an error."""
    with flask.app_context():
        return attempt(lambda: lifecycle.finish_response(answer(flask.extensions["gatehouse"])))


def attempt(answer: Callable[[], Made]) -> Made | None:
    """Return what `answer` makes; None if Flask is to answer, also after an error."""
    try:
        return answer()
    except (Unusual, ValidationError, *_SHOWN):
        return None
    except Exception:  # its outcome is handed over, too
        log.exception("direct_answer.broke")
        return None


def read_parameters(environ: WSGIEnvironment) -> dict[str, str]:
    """Return the parameters of an address. Raises Unusual where one is repeated or other than ASCII, and for a body."""
    text = environ["QUERY_STRING"]
    if SHED in environ or environ.get("CONTENT_LENGTH", "0") != "0":
        raise Unusual
    if not text:
        return {}
    try:
        pairs = form_fields.read(text.encode("ascii").decode(), errors="strict")
    except ValueError:
        raise Unusual from None
    parameters = dict(pairs)
    if len(parameters) != len(pairs):
        raise Unusual
    return parameters


def visit_in_memory(shared: Services, environ: WSGIEnvironment) -> Visit:
    """Return the visit, as the hook of Flask sets it up, without an interaction. Raises Unusual if that takes a call."""
    visit = lifecycle.new_visit(shared, environ)
    tenant = shared.tenancy.fresh(visit.host)
    if tenant is None:
        raise Unusual
    visit.tenant = tenant
    return visit
