"""Serves a sheet and the samples in its frames to a browser of this machine."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Final

from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from app.hub.forms import captcha
from app.hub.theme_check.browser.sheet import SHEET
from app.hub.theme_check.samples import PageSample, SamplePages
from app.kit.design import theme_file_names

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_UNSOLVED: Final = re.compile(rf' data-seed="\d+"(?= data-bits="{captcha.sample().work_bits}")')
"""What starts the work of a captcha sample: seconds of computing per frame, after which the page would change amid the rules."""
_LEAVING: Final = re.compile(r'<meta http-equiv="refresh" content="0;url=https:[^"]*">')
"""What leaves a page for another site at once: the rules would read that one, or none."""


@dataclass(frozen=True)
class SheetServer:
    """A WSGI application: the gallery of a hub, and a sheet for its pages; posted forms are answered with 204.

    Args:
        pages: the hub.
        render: takes page, state, language, look and host, and returns the page of a frame.
        files: the contents of a theme's pictures and fonts, by their addresses.
        host: of the pages; that of each request if it is empty.
    """

    pages: SamplePages
    render: Callable[[str, str, str, str, str], PageSample]
    files: Mapping[str, bytes] = field(default_factory=dict)
    host: str = ""

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        return self._answer(request)(environ, start_response)

    def _answer(self, request: Request) -> Response:
        if request.method == "POST":
            request.get_data()
            return Response(status=204)
        if request.path == "/":
            return Response(SHEET, mimetype="text/html")
        if (content := self.files.get(request.path)) is not None:
            kind = theme_file_names.MEDIA_TYPES[theme_file_names.kind_of(request.path)]
            return Response(content, content_type=kind)
        if not request.path.startswith(("/_gallery/", "/static/", "/theme/")):
            return Response("waits")  # the polling script's request
        if request.headers.get("Sec-Fetch-Dest") != "iframe":
            return Response.from_app(self.pages.app, {**request.environ, "HTTP_HOST": self._host(request)})
        return self._framed(request)

    def _host(self, request: Request) -> str:
        """Return the host without the port, as tenants of samples have it."""
        return self.host or request.host.partition(":")[0]

    def _framed(self, request: Request) -> Response:
        """Return a rendered page for a frame of the sheet: frames are allowed there only."""
        page, state = request.path.removeprefix("/_gallery/").split("/", 1)
        sample = self.render(page, state, request.args["lang"], request.args["look"], self._host(request))
        answer = Response(_LEAVING.sub("", _UNSOLVED.sub("", sample.html)), headers=sample.headers)
        del answer.headers["Content-Encoding"]
        answer.headers["Content-Security-Policy"] = sample.policy.replace(
            "frame-ancestors 'none'", "frame-ancestors 'self'"
        )
        answer.headers["X-Frame-Options"] = "SAMEORIGIN"
        answer.headers["Content-Length"] = str(len(answer.get_data()))
        return answer


class _KeepAliveHandler(WSGIRequestHandler):
    """A connection for many requests."""

    protocol_version = "HTTP/1.1"


@contextmanager
def served(app: WSGIApplication) -> Iterator[int]:
    """Serve an application on this machine while the block runs; yield its port."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=_KeepAliveHandler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
