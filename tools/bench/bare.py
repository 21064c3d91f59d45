"""The measure of all rows: a Flask view that does nothing, under the same server."""

import sys

from flask import Flask

from app.kit.serving import serve

application = Flask(__name__)


@application.get("/")
def bare() -> str:
    """Answer with nothing to compute."""
    return "ok"


if __name__ == "__main__":
    sys.exit(serve(lambda: application.wsgi_app, bind=sys.argv[1], on_ready=lambda address: print(address, flush=True)))
