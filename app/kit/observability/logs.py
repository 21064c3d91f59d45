"""Logs: one JSON object a line, or plain lines for a person at a terminal. Secrets are redacted.

Code logs through the standard library: `logging.getLogger("gatehouse.area").info("area.event", extra={...})`.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from types import MappingProxyType
from typing import Any, Final

from app.kit.clock import SystemClock

REDACTED: Final = "***"
REQUEST: Final = "request"
"""The event of `log_request`."""
_quoted: Final = encode_basestring_ascii
_STEMS = (
    "key", "secret", "passw", "token", "code", "otp", "pin", "session", "binding", "cookie", "authorization", "assertion", "sott",
)  # fmt: skip
"""Each of the names holds one of these."""
_NAMES = (
    "apikey|api_key|apisecret|api_secret|secret|client_?secret|password|passwd|access_token|refresh_token|id_token|id_token_hint"
    "|token|code|otp|pin|session|binding|cookie|authorization|code_verifier|assertion|client_assertion|sott|vtoken|secondfactorauthenticationtoken"
)
_KEY = re.compile(rf"(?:x-\w+-)?(?:{_NAMES})\Z", re.IGNORECASE)
_PAIR = re.compile(rf"((?:\b|_|-)(?:{_NAMES})[\"']?\s*[=:]\s*[\"']?)([^\s&\"',;)}}\]]+)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"\b(Bearer|Basic)\s+[A-Za-z0-9+/._~=-]+", re.IGNORECASE)
_ADDRESS_PASSWORD = re.compile(r"(\b\w+://[^/\s:@]*:)[^@\s/]+@")
_PATH_TOKEN = re.compile(r"(/[a-z]/)[^\s/?#&\"'<>]{16,}", re.IGNORECASE)
"""The token of a mailed link (decision 0179)."""
_HARMLESS = frozenset({"code_challenge_method", "status_code"})


def configure(*, is_json: bool | None = None, level: int = logging.INFO) -> None:
    """Send all logs to stderr; JSON unless stderr is a terminal."""
    json_lines = not sys.stderr.isatty() if is_json is None else is_json
    handler = _Lines(sys.stderr) if json_lines else logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLines() if json_lines else _PlainLines())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(level)
    logging.captureWarnings(True)
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False  # no log line shows them
    logging.getLogger("py.warnings").setLevel(logging.ERROR)  # for developers, who see them in the tests
    for chatty in ("httpx", "httpcore", "alembic", "sqlalchemy", "werkzeug"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


class _JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        return _ENCODED(_line(record, self.formatException))


class _PlainLines(logging.Formatter):
    """One line for a person: time, level, logger and event, then the other fields; below it an exception."""

    def format(self, record: logging.LogRecord) -> str:
        line = _line(record, self.formatException)
        exception = line.pop("exception", "")
        head = f"{line.pop('timestamp')} [{line.pop('level')}] {line.pop('logger')}: {_on_one_line(line.pop('event'))}"
        fields = [f" {name}={_on_one_line(value)}" for name, value in line.items()]
        return "".join([head, *fields, *(["\n", exception] if exception else [])])


def _on_one_line(value: object) -> str:
    text = str(value)
    return text if text.isprintable() else ascii(text)


def _line(record: logging.LogRecord, format_exception: Callable[[Any], str]) -> dict[str, Any]:
    """Return the fields of a line, redacted."""
    line: dict[str, Any] = dict(_bound.get())
    line["event"] = record.getMessage()
    line.update({name: value for name, value in record.__dict__.items() if name not in _STANDARD_ATTRIBUTES})
    line = {name: redacted(value, name) for name, value in line.items()}
    line["level"] = record.levelname.lower()
    line["logger"] = record.name
    line["timestamp"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
    if record.exc_info:
        line["exception"] = redacted(format_exception(record.exc_info))
    return line


_ENCODED: Final = json.JSONEncoder(default=str).encode


class _Lines(logging.StreamHandler[Any]):
    """The only log handler of a server; it writes request lines directly, without a LogRecord."""

    def write(self, line: str) -> None:
        self.acquire()
        try:
            self.stream.write(f"{line}{self.terminator}")
            self.stream.flush()
        finally:
            self.release()


def log_request(
    logger: logging.Logger, *, method: str, host: str, path: str, status: int, milliseconds: float, address: str
) -> None:
    """Log a request that was answered.

    A server's handler writes the line directly; other handlers, such as those of tests, get a LogRecord.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    facts = {"method": method, "host": host, "path": path, "status": status}
    facts |= {"milliseconds": milliseconds, "address": address}
    handlers = logging.root.handlers
    if len(handlers) == 1 and isinstance(handlers[0], _Lines) and not logger.handlers:
        with suppress(Exception):  # with a record, the handler reports it
            handlers[0].write(_request_line(facts, logger.name))
            return
    logger.info(REQUEST, extra=facts)


def _request_line(facts: Mapping[str, Any], logger: str) -> str:
    """Return the JSON line of a request, as `_JsonLines` would format it, in a third of the time."""
    bound = "".join([f'"{name}": {_quoted(redacted(text, name))}, ' for name, text in _bound.get().items()])
    return (
        f'{{{bound}"event": "{REQUEST}", "method": "{facts["method"]}", "host": {_redacted_host(facts["host"])}, '
        f'"path": {_quoted(_redact_text(facts["path"]))}, "status": {facts["status"]}, '
        f'"milliseconds": {facts["milliseconds"]!r}, "address": {_quoted(_redact_text(facts["address"]))}, '
        f'"level": "info", "logger": "{logger}", "timestamp": "{_CLOCK.now().isoformat()[:-6]}Z"}}'
    )


_CLOCK: Final = SystemClock()
_STANDARD_ATTRIBUTES: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def redacted(value: Any, key: str = "") -> Any:
    """Return the value without secrets: values under sensitive names, and their mentions within texts."""
    if key and value is not None and _is_sensitive(key):
        return REDACTED
    if isinstance(value, str):
        return _redact_text(value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return {name: redacted(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(item) for item in value]
    return value


@lru_cache(maxsize=1024)
def _redacted_host(host: str) -> str:
    """Return a redacted host; cached, because few hosts repeat."""
    return _quoted(_redact_text(host))


@lru_cache(maxsize=1024)
def _is_sensitive(key: str) -> bool:
    return bool(_KEY.match(key)) and key not in _HARMLESS


def _redact_text(text: str) -> str:
    """Redact a text; each search is skipped unless the text has its characters, because every line is checked."""
    if "@" in text:
        text = _ADDRESS_PASSWORD.sub(rf"\1{REDACTED}@", text)
    if not text.isprintable() or " " in text:
        text = _CREDENTIALS.sub(rf"\1 {REDACTED}", text)
    if ("=" in text or ":" in text) and _may_name_secret(text):
        text = _PAIR.sub(rf"\1{REDACTED}", text)
    if "/" in text and _PATH_TOKEN.search(text):
        text = _PATH_TOKEN.sub(rf"\1{REDACTED}", text)
    return text


def _may_name_secret(text: str) -> bool:
    """Return whether a text holds a stem of a sensitive name: a fifth of the cost of searching for the names."""
    if not text.isascii():  # whose letter case is the expression's business
        return True
    return any(map(text.lower().__contains__, _STEMS))


_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_bound: ContextVar[Mapping[str, str]] = ContextVar("bound", default=_NOTHING)


def bound(name: str) -> str:
    """Return a field bound to the log lines of this request; empty if there is none."""
    return _bound.get().get(name, "")


def begin(**facts: str) -> None:
    """Set the fields of the log lines of a request that begins.

    The fields of the previous request go: a server or a test that reuses a thread's context would log them again.
    """
    _bound.set(facts)


def bind(**facts: str) -> None:
    """Add fields to every log line of this request."""
    _bound.set({**_bound.get(), **facts})
