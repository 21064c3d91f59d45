"""The pages of the API reference without a server, and the operations of its document."""

from __future__ import annotations

from functools import cache
from typing import Any

from werkzeug.test import Client

from app.reference import Reference, Trial
from app.reference.pages import Pages
from app.settings import Settings
from tests.support.operations.published import API_URL, published_interface


@cache
def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    """Return each operation's path, method and description, by its name."""
    return {
        stated["operationId"]: (path, method, stated)
        for path, methods in published_interface()["paths"].items()
        for method, stated in methods.items()
    }


@cache
def client(trial_tenant: str = "") -> Client:
    """Return a client of the reference; the application behind it answers 418."""

    def other_app(_environ: Any, start_response: Any) -> list[bytes]:
        start_response("418 I'm a teapot", [])
        return [b""]

    reference = Reference(other_app, Settings(hub_domain="example.com"), Trial(trial_tenant))
    reference._pages = pages(trial_tenant)
    return Client(reference)


@cache
def pages(trial_tenant: str = "") -> Pages:
    """Return the pages, for the trial of a tenant."""
    tenant_url = f"http://{trial_tenant}.example.com" if trial_tenant else ""
    return Pages(published_interface(), Trial(trial_tenant), tenant_url)


def get(path: str, **headers: str) -> Any:
    """Return the answer to a request to the API host."""
    return client().get(path, base_url=API_URL, headers=headers)
