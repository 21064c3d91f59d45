"""Serve the shop on SHOP_PORT until SIGTERM, or until the process that started it is gone (its end of our stdin closes)."""

import logging
import os
import sys
import threading

from werkzeug.serving import make_server

from examples.shop.shop import app


def leave_with_parent() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    if os.environ.get("SHOP_LEAVES_WITH_STDIN"):
        threading.Thread(target=leave_with_parent, daemon=True).start()
    server = make_server("127.0.0.1", int(os.environ["SHOP_PORT"]), app, threaded=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
