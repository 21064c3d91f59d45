"""Segments of the path, the only input of some operations: hostile ones get a clean refusal, never status 500."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.catalogue import CATALOGUE
from tests.support.operations.published import published_interface
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer
from tests.support.visitors.plain_client import PlainClient

SEGMENTS = {
    "unknown": "no-such-id",
    "long": "x" * 5_000,
    "NUL": "a%00b",
    "line break": "a%0D%0Ab",
    "escape": "%1B%5B31m",
    "slash": "a%2Fb",
    "dots": "%2E%2E%2F%2E%2E",
    "no UTF-8": "%FF%FE",
    "surrogate": "%ED%A0%80",
    "right to left": quote("a\u202eb"),
    "quotes": quote("' OR 1=1 --"),
    "percent": "%25s%25n",
    "template": quote("{{7*7}}"),
}

LISTS = {("GET", "/v2/manage/roles/{name}/name")}
"""Operations that list what has the name of the segment: nothing."""


class PathSender:
    """Sends requests with the credentials of each operation, so that its own code answers."""

    def __init__(self, tenant: TenantServer, app: Flask) -> None:
        self.tenant, self.client = tenant, PlainClient(app, use_cookies=False)
        scopes = sorted({operation.admission.scope for operation in CATALOGUE if operation.admission.scope})
        self.bearers = {
            "MachineToken": machine(tenant, *scopes),
            "AccessToken": tenant.tokens(str(tenant.create()["Uid"]))["access_token"],
        }
        self.keys = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}

    def send(self, method: str, path: str, declared: dict[str, Any], segment: str) -> TestResponse:
        """Send the operation with this text as each segment of its path that is a parameter."""
        schemes = {scheme for requirement in declared["security"] for scheme in requirement}
        settings = self.tenant.services.settings
        bearer = next((token for scheme, token in self.bearers.items() if scheme in schemes), None)
        host = f"{self.tenant.name}.{settings.hub_domain}" if "servers" in declared else settings.api_hostname
        return self.client.open(
            re.sub(r"\{\w+\}", lambda _: segment, path),
            method=method,
            base_url=f"http://{host}",
            query_string=dict(self.keys[scheme] for scheme in schemes & self.keys.keys()),
            headers={"Authorization": f"Bearer {bearer}"} if bearer else {},
            json={} if method in ("PUT", "POST") else None,
        )


def with_segments() -> list[tuple[str, str, dict[str, Any]]]:
    """Return method, path and declaration of each published operation with a parameter in its path."""
    return [
        (method.upper(), path, stated)
        for path, methods in published_interface()["paths"].items()
        for method, stated in methods.items()
        if "{" in path
    ]


@on_one_database
@pytest.mark.parametrize("kind", SEGMENTS)
def test_hostile_segment_is_refused(new_tenant_server: NewTenantServer, identity_app: Flask, kind: str) -> None:
    sender, operations = PathSender(new_tenant_server(), identity_app), with_segments()
    assert len(operations) > 100
    wrong = []
    for method, path, stated in operations:
        answer = sender.send(method, path, stated, SEGMENTS[kind])
        is_other_address = (
            "%2F" in SEGMENTS[kind]
        )  # an escaped slash is one, and what is beyond it may have other methods
        is_refused = 400 <= answer.status_code < 500 and (answer.status_code != 405 or is_other_address)
        is_empty = (method, path) in LISTS and answer.json == {"Data": []}
        is_short = len(answer.data) < 2_000  # no answer repeats a long segment
        if not ((is_refused or is_empty) and answer.is_json and is_short):
            wrong.append((method, path, answer.status_code, answer.text[:120]))
    assert wrong == []
