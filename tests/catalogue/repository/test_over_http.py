"""A third of the page modules runs over HTTP between hub and identity service, some of each kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from app.kit.operations.call_signing import SIGNATURE_HEADER
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import World
from tests.support.plugins.over_http import FAMILIES, OVER_HTTP, PAGES, is_over_http, make_hub
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import Visitor

KINDS = {
    "sign-in", "registration", "mailed links", "recovery", "second factors", "passkeys", "passwordless", "PIN", "reauthentication",
    "account", "security alerts", "organizations", "providers", "consent", "devices", "sign-out", "redirects", "cookies", "errors",
}  # fmt: skip
MODULES = set(PAGES.rglob("test_*.py"))


def test_a_third_of_the_page_modules_is_listed() -> None:
    assert OVER_HTTP <= MODULES
    assert 0.3 <= len(OVER_HTTP) / len(MODULES) <= 0.37


def test_each_kind_of_page_has_a_listed_module() -> None:
    assert set(FAMILIES) == KINDS
    assert all(FAMILIES.values())
    names = [name for names in FAMILIES.values() for name in names]
    assert len(names) == len(set(names))


def test_listed_modules_visit_pages() -> None:
    visits = ("visitor: Visitor", "new_visitor", "hub_app", "WSGITransport")
    assert [module.name for module in OVER_HTTP if not any(text in module.read_text() for text in visits)] == []


def test_listed_modules_run_over_http_and_all_if_asked() -> None:
    for module in MODULES:
        assert is_over_http(module, is_all=False) is (module in OVER_HTTP)
        assert is_over_http(module, is_all=True)
    assert not is_over_http(PAGES.parent / "api" / "hub_calls" / "test_signatures.py", is_all=True)


def test_hub_over_http_sends_signed_requests(world: World, identity_app: OperationServer) -> None:
    sent: list[dict[str, Any]] = []

    def recorded(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        sent.append(environ)
        return identity_app(environ, start_response)

    hub = make_hub(world.services, cast("OperationServer", recorded), over_http=True)
    visitor = Visitor(PlainClient(hub), world.services.settings.hub_url(world.name))
    assert visitor.open("/login").is_sign_in
    assert sent
    assert all(environ[f"HTTP_{SIGNATURE_HEADER.upper().replace('-', '_')}"] for environ in sent)
