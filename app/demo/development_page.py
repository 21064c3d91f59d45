"""The start page of `gatehouse serve` on a developer's machine, on the bare hub domain: tenants, inbox, API reference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from flask import Flask, render_template

from app.demo import page_style
from app.demo.inbox import around_development, is_of_this_machine
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.platform.store.database import Database
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.settings import Settings

_PATHS: Final = ("/", "/demo.css")
_MAX_SHOWN: Final = 100


class StartPage:
    """Serves the page to this machine on the hub domain, which is no tenant's; passes all other requests on."""

    def __init__(self, app: WSGIApplication, settings: Settings) -> None:
        self._app = app
        self._host = settings.hub_domain.lower()
        self._page = _create_page(settings)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        is_start = environ.get("HTTP_HOST", "").lower() == self._host and environ["PATH_INFO"] in _PATHS
        app = self._page if is_start and is_of_this_machine(environ) else self._app
        return app(environ, start_response)


def _create_page(settings: Settings) -> Flask:
    app = Flask("gatehouse.development", root_path=page_style.FOLDER, static_folder=None)
    database = Database(settings.database, pool_size=1)

    @app.get("/")
    def start() -> str:
        tenants = _tenants(database)
        return render_template(
            "development.html",
            tenants=[(tenant, settings.hub_url(tenant)) for tenant in tenants[:_MAX_SHOWN]],
            left_out=max(0, len(tenants) - _MAX_SHOWN),
            inbox=settings.hub_url("inbox"),
            reference=f"{settings.base_url}/docs",
        )

    app.jinja_env.globals.update(place="Development", around=around_development(settings))
    page_style.install(app)
    return app


def _tenants(database: Database) -> list[str]:
    work = UnitOfWork(database, LOOKUP_TENANT)
    try:
        return [tenant.name for tenant in tenant_writes.all_tenants(work) if tenant.is_active]
    finally:
        work.rollback()
