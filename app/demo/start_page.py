"""The demo's front page on the bare domain: its addresses and sample accounts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import groupby
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, render_template

from app.demo import hosts, page_style
from app.demo.supervisor import Contents, Person
from app.kit.text.languages import LANGUAGES
from app.settings import Settings

_PATHS = ("/", "/demo.css", "/copy.js")


def addresses(settings: Settings) -> list[tuple[str, str]]:
    """Return the demo's addresses, each with a description."""
    template = f"{settings.public_scheme}://{{}}.{settings.hub_domain}{{}}"
    return [
        (template.format("shop", ""), "the shop: sign in here"),
        (template.format("acme", ""), 'tenant Acme; "Continue with Globex" signs in through the other tenant'),
        (template.format("globex", ""), "tenant Globex, in another theme"),
        (template.format("studio", "/login?brand=bank"), "five themes: bank, game, government, newspaper, shop"),
        (template.format("inbox", ""), "every email and text message"),
        (template.format("api", "/docs"), "API reference"),
    ]


def _tenant_of(person: Person) -> str:
    return person.tenant


class DemoStartPage:
    """Serves the front page on hosts without a tenant; passes other requests on."""

    def __init__(self, app: WSGIApplication, hosts: Collection[str], settings: Settings, contents: Contents) -> None:
        self._app = app
        self._hosts = {host.lower() for host in hosts}
        self._page = _create_page(settings, contents)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_front_page = environ.get("HTTP_HOST", "").lower() in self._hosts and environ["PATH_INFO"] in _PATHS
        return (self._page if is_front_page else self._app)(environ, start_response)


def _create_page(settings: Settings, contents: Contents) -> Flask:
    app = Flask("gatehouse.front", root_path=page_style.FOLDER, static_folder=None)

    @app.get("/")
    def front() -> str:
        shop, *_, inbox, reference = (address for address, _ in addresses(settings))
        *tenants, themed = [(name, list(group)) for name, group in groupby(contents.people, _tenant_of)]
        return render_template(
            "front.html",
            shop=shop,
            inbox=inbox,
            reference=reference,
            tenants=tenants,
            themed=themed,
            themes=contents.themes,
            hub_url=settings.hub_url,
            languages=len(LANGUAGES),
        )

    app.jinja_env.globals.update(place="Demo", around=hosts.around(settings))
    brands = {person.tenant: person.brand for person in contents.people}
    page_style.install(app, brands, {theme.key: theme.brand for theme in contents.themes})
    return app
