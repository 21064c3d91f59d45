"""The demo's front page at the bare domain: where to go, and who to be. Only the demo has it; elsewhere nobody lives there."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, render_template

from app.demo.inbox import protect, stylesheet
from app.demo.supervisor import Person
from app.settings import Settings

_OURS = ("/", "/demo.css")


def addresses(settings: Settings) -> list[tuple[str, str]]:
    """Return what the demo serves: address and words."""
    at = f"{settings.public_scheme}://{{}}.{settings.hub_domain}{{}}"
    return [
        (at.format("shop", ""), "a shop: sign in there"),
        (at.format("acme", ""), 'the pages of tenant Acme; its "Continue with Globex" signs in by the other one'),
        (at.format("globex", ""), "the pages of tenant Globex, in another theme"),
        (at.format("inbox", ""), "every mail and SMS"),
        (at.format("api", "/docs"), "the API reference"),
    ]


class Front:
    """Answers the root of hosts that are no tenant's; all else goes on."""

    def __init__(
        self, services: WSGIApplication, hosts: Collection[str], settings: Settings, people: Collection[Person]
    ) -> None:
        self._house = services
        self._hosts = {host.lower() for host in hosts}
        self._page = _create_page(settings, people)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_ours = environ.get("HTTP_HOST", "").lower() in self._hosts and environ["PATH_INFO"] in _OURS
        return (self._page if is_ours else self._house)(environ, start_response)


def _create_page(settings: Settings, people: Collection[Person]) -> Flask:
    app = Flask("gatehouse.front", root_path=str(Path(__file__).parent), static_folder=None)

    @app.get("/")
    def front() -> str:
        return render_template("front.html", addresses=addresses(settings), people=people)

    app.get("/demo.css")(stylesheet)
    app.after_request(protect)
    return app
