"""The head of a request as the environment of a WSGI call (PEP 3333)."""

import io
import sys
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from uvicorn._types import HTTPScope
from werkzeug.exceptions import RequestEntityTooLarge

ENVIRON = "gatehouse.environ"
"""Scope key of the environment of a request without a body, where it has been made already."""


@lru_cache(maxsize=1024)
def _environ_name(name: bytes) -> str | None:
    """Return the key of a header field, or None for a field that is dropped.

    `X_Forwarded_For` and `X-Forwarded-For` would share one key, so a client could write past a proxy that sets the
    latter: names with underscores are dropped, as nginx does.
    """
    if b"_" in name:
        return None
    key = name.decode("latin-1").upper().replace("-", "_")
    return key if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{key}"


class UnreadBody(io.RawIOBase):
    """A body over the limit: reading it raises 413, so that the application refuses it in its own format."""

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        raise RequestEntityTooLarge

    def read(self, _size: int = -1) -> bytes:
        raise RequestEntityTooLarge


def environ_of(scope: HTTPScope, body: bytes | None, *, is_one_of_many: bool) -> dict[str, Any]:
    """Make the environment; `body` is None if it exceeded the limit."""
    client, server = scope.get("client"), scope.get("server")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0] if server else "localhost",
        "SERVER_PORT": str(server[1] or "") if server else "80",
        "REMOTE_ADDR": client[0] if client else "",
        "REMOTE_PORT": str(client[1]) if client else "",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": UnreadBody() if body is None else io.BytesIO(body),
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": is_one_of_many,
        "wsgi.run_once": False,
    }
    for name, value in scope["headers"]:
        key = _environ_name(name)
        if key is None or key == "HTTP_TRANSFER_ENCODING":
            continue
        text = value.decode("latin-1")
        if key in environ:
            text = environ[key] + ("; " if key == "HTTP_COOKIE" else ",") + text
        environ[key] = text
    if body:
        environ["CONTENT_LENGTH"] = str(len(body))
    return environ
