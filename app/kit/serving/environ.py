"""The head of a request as the environment of a WSGI call (PEP 3333)."""

import io
import sys
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

import httptools
from werkzeug.exceptions import RequestEntityTooLarge


@lru_cache(maxsize=1024)
def key_of(name: bytes) -> str | None:
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


def environ_of_connection(server: Any, client: Any, *, is_one_of_many: bool) -> dict[str, Any]:
    """Return what all requests of one connection have in common.

    Args:
        server: the address that the client connected to, and `client` its own; not a tuple for a Unix socket.
    """
    host, port = server[:2] if isinstance(server, tuple) else ("localhost", 80)
    address, from_port = client[:2] if isinstance(client, tuple) else ("", "")
    return {
        "SCRIPT_NAME": "",
        "SERVER_NAME": host,
        "SERVER_PORT": str(port),
        "REMOTE_ADDR": address,
        "REMOTE_PORT": str(from_port),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input_terminated": True,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": is_one_of_many,
        "wsgi.run_once": False,
    }


def split_target(target: bytes) -> tuple[bytes, bytes]:
    """Return path and query of a request target. Raises ValueError if it has no path, or one that is not ASCII."""
    if target.startswith(b"/") and b"#" not in target:
        path, _, query = target.partition(b"?")
    else:
        parsed = httptools.parse_url(target)
        path, query = parsed.path, parsed.query or b""
    if not path or not path.isascii():
        raise ValueError("not a request target")
    return path, query


def decoded(path: bytes) -> str:
    """Return `PATH_INFO`."""
    return (unquote_to_bytes(path) if b"%" in path else path).decode("latin-1")
