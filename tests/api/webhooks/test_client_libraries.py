"""Existing client libraries call the webhooks' address with the API key and secret in the query, not with a machine token."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.tenants.webhooks import TARGET, Webhooks

PATH = "/v2/manage/webhooks"


@pytest.fixture
def webhooks(acme: TenantServer) -> Webhooks:
    return Webhooks(acme)


def test_six_methods_of_a_client_library_work(webhooks: Webhooks) -> None:
    created = answered(webhooks.server("POST", PATH, {"TargetUrl": TARGET, "Event": "login", "Name": "Sign-ins"}))
    at = f"{PATH}/{created['Id']}"

    assert answered(webhooks.server("GET", at))["Event"] == "Login"
    assert answered(webhooks.server("PUT", at, {"Name": "Both"}))["Name"] == "Both"
    assert [item["Id"] for item in answered(webhooks.server("GET", PATH))["Data"]] == [created["Id"]]
    assert len(answered(webhooks.server("GET", f"{PATH}/events"))["Data"]) == 31
    assert answered(webhooks.server("DELETE", at)) == {"IsDeleted": True}


@pytest.mark.parametrize(("method", "path"), [("GET", PATH), ("POST", PATH), ("GET", f"{PATH}/events")])
def test_request_without_credentials_needs_a_machine_token(webhooks: Webhooks, method: str, path: str) -> None:
    client = Client(webhooks.tenant.app)
    base = f"http://{webhooks.tenant.services.settings.api_hostname}"

    assert refused(client.open(path, method=method, base_url=base, json={} if method == "POST" else None)) == (
        403,
        6002,
    )


def test_wrong_secret_is_refused(webhooks: Webhooks) -> None:
    answer = webhooks.tenant.send("GET", PATH, with_secret=False, apisecret="8f1f9c2e-0000-4000-8000-000000000000")

    assert refused(answer) == (401, 902)


def test_secret_of_anglobex_is_refused(webhooks: Webhooks, globex: TenantServer) -> None:
    answer = webhooks.tenant.send("GET", PATH, with_secret=False, apisecret=globex.api_secret)

    assert refused(answer) == (401, 902)
