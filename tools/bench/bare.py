"""The unit of all rows: a Flask view that does nothing, served by waitress.

Another server than ours, so that a row gets smaller where our server gets cheaper.
"""

import sys

import waitress
from flask import Flask

application = Flask(__name__)


@application.get("/")
def bare() -> str:
    """Answer with nothing to compute."""
    return "ok"


if __name__ == "__main__":
    waitress.serve(application, listen=sys.argv[1], threads=4)
