"""Render every page sample in every language, without an identity service. pytest loads this module as a plugin."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path
from threading import Thread, get_ident

import pytest
from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from app.hub.forms import captcha
from app.hub.locale import LANGUAGES
from app.hub.theme_check.samples import PageSample, SamplePages, sample_address
from tests.support.browsers.page_rules import SHEET
from tests.support.services.real_services import FOLDER

SHARED: list[Path] = []
"""The folder where the workers of a run keep the rendered pages."""


@pytest.hookimpl(trylast=True)  # after the run's folder was made
def pytest_configure(config: pytest.Config) -> None:
    SHARED[:] = [config.stash[FOLDER] / "samples"]
    SHARED[0].mkdir(exist_ok=True)


PAGES = SamplePages()


def hub() -> Flask:
    """Return a hub with its gallery and no identity service."""
    return PAGES.app


def names() -> list[tuple[str, str]]:
    """Return each page's name with each of its states."""
    return PAGES.names


def states() -> dict[str, list[str]]:
    """Return the states of each page."""
    found: dict[str, list[str]] = {}
    for name, state in names():
        found.setdefault(name, []).append(state)
    return found


def address(page: str, state: str, language: str, look: str = "acme") -> str:
    return sample_address(page, state, language, look)


@cache
def rendered(page: str, state: str, language: str, look: str = "acme") -> PageSample:
    """Render a page and measure everything that a browser fetches for it, unless another worker of this run has done so."""
    paths = [folder / hashlib.sha256(f"{page}/{state}/{language}/{look}".encode()).hexdigest() for folder in SHARED]
    for path in paths:
        if path.exists():
            return PageSample(**json.loads(path.read_text()))
    made = PAGES.render(page, state, language, look)
    for path in paths:
        unfinished = path.with_suffix(f".{os.getpid()}.{get_ident()}")
        unfinished.write_text(json.dumps(asdict(made)))
        unfinished.rename(path)
    return made


def all_rendered() -> list[PageSample]:
    """Return every sample in every language."""
    return [rendered(page, state, language) for page, state in names() for language in LANGUAGES]


UNSOLVED = re.compile(rf' data-seed="\d+"(?= data-bits="{captcha.sample().work_bits}")')
"""What starts the work of a captcha sample: seconds of computing per frame, after which the page would change amid the rules."""

LEAVING = re.compile(r'<meta http-equiv="refresh" content="0;url=https:[^"]*">')
"""What leaves a page for another site at once: the rules would read that one, or none."""


@Request.application
def shown(request: Request) -> Response:
    """Serve the gallery and a sheet for its pages; posted forms are answered with 204."""
    if request.method == "POST":
        request.get_data()
        return Response(status=204)
    if request.path == "/":
        return Response(SHEET, mimetype="text/html")
    if not request.path.startswith(("/_gallery/", "/static/")):
        return Response("waits")  # the polling script's request
    if request.headers.get("Sec-Fetch-Dest") != "iframe":
        return Response.from_app(hub(), request.environ)
    return framed(request)


def framed(request: Request) -> Response:
    """Return a rendered page for a frame of the sheet: frames are allowed there only."""
    page, state = request.path.removeprefix("/_gallery/").split("/", 1)
    sample = rendered(page, state, request.args["lang"], request.args["look"])
    answer = Response(LEAVING.sub("", UNSOLVED.sub("", sample.html)), headers=sample.headers)
    del answer.headers["Content-Encoding"]
    answer.headers["Content-Security-Policy"] = sample.policy.replace(
        "frame-ancestors 'none'", "frame-ancestors 'self'"
    )
    answer.headers["X-Frame-Options"] = "SAMEORIGIN"
    answer.headers["Content-Length"] = str(len(answer.get_data()))
    return answer


class KeepAliveHandler(WSGIRequestHandler):
    """A connection for many requests."""

    protocol_version = "HTTP/1.1"


@pytest.fixture(scope="session")
def gallery_address() -> Iterator[str]:
    """Serve the gallery and yield its address."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, shown, threaded=True, request_handler=KeepAliveHandler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
