"""The environment of a WSGI call (PEP 3333)."""

import sys
from typing import Any


def environ_of_connection(server: Any, client: Any, *, is_one_of_many: bool) -> dict[str, Any]:
    """Return the environ entries that all requests of one connection share.

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
