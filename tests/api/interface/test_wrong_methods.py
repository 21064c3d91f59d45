"""A known path with the wrong method: 405 with `Allow`, in the error form of its API."""

import re

import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from app.contract.auth import Host
from app.factories import Dispatcher
from app.hub.web.application import HubFlask
from app.kit.observability.health import Health
from app.kit.operations.server import OperationServer
from tests.support.oauth.world import World
from tests.support.tenants.tenant_server import TenantServer


def answer(world: World, identity_app: OperationServer, hub_app: HubFlask, method: str, path: str) -> TestResponse:
    both = Dispatcher(world.services.settings, identity_app, identity_app, hub_app)
    return Client(both).open(path, method=method, base_url=world.services.settings.hub_url(world.name))


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/oidc/token", {"POST"}),
        ("GET", "/api/oidc/shop/token", {"POST"}),
        ("HEAD", "/api/oauth/shop/token", {"POST"}),
        ("GET", "/api/oidc/revoke", {"POST"}),
        ("DELETE", "/service/oidc/userinfo", {"GET", "POST"}),
        ("POST", "/.well-known/openid-configuration", {"GET"}),
    ],
)
def test_wrong_method_on_tenant_host_names_allowed_ones(
    world: World, identity_app: OperationServer, hub_app: HubFlask, method: str, path: str, allowed: set[str]
) -> None:
    refused = answer(world, identity_app, hub_app, method, path)
    assert refused.status_code == 405
    assert set(refused.headers["Allow"].split(", ")) == allowed
    if method != "HEAD":
        assert (refused.json or {})["error"] == "invalid_request"


def test_unknown_path_on_tenant_host_is_a_page(world: World, identity_app: OperationServer, hub_app: HubFlask) -> None:
    assert "mention this ID" in answer(world, identity_app, hub_app, "GET", "/api/oidc/tokens").text


def test_wrong_method_on_api_host_gets_interface_error(acme: TenantServer) -> None:
    refused = acme.send("PATCH", "/identity/v2/auth/login")
    assert (refused.status_code, (refused.json or {})["ErrorCode"]) == (405, 405)
    assert refused.headers["Allow"] == "POST"


def test_unknown_api_path_has_no_error_code(acme: TenantServer) -> None:
    refused = acme.send("GET", "/identity/v2/auth/nothing")
    assert (refused.status_code, refused.content_type) == (404, "application/json")
    assert (refused.json or {})["Message"] == "Not found"
    assert "ErrorCode" not in (refused.json or {})


def test_health_probe_allows_get_and_head_only() -> None:
    probe = Client(Health(Flask(__name__), {}))
    refused = probe.post("/health/live")
    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD")
    for answered in (refused, probe.get("/health/live"), probe.get("/health/ready")):
        assert answered.headers["X-Content-Type-Options"] == "nosniff"


def test_page_paths_never_belong_to_identity_service(identity_app: OperationServer, hub_app: HubFlask) -> None:
    """The dispatcher and the rules of `gatehouse routes --proxy` separate hub and identity service by path alone."""
    paths = [
        re.sub(r"<[^>]+>", "x", re.sub(r"<any\((\w+).*?\)[^>]*>", r"\1", rule.rule))
        for rule in hub_app.url_map.iter_rules()
    ]
    assert [path for path in paths if identity_app.owns(Host.TENANT, path)] == []
