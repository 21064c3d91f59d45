"""Segments of the path, the only input of some operations: hostile ones get a clean refusal, never status 500."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from flask import Flask
from werkzeug.test import Client

from app.contract.operations import CATALOGUE
from tests.api.test_published_interface import OPERATIONS, PUBLISHED, WITH_INPUT
from tests.support.identity_service import on_one_database
from tests.support.machines import machine
from tests.support.tenant_server import NewTenantServer, TenantServer

WITH_SEGMENTS = [one for one in OPERATIONS if any(part.location == "path" for part in one.iter_parameters())]
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

LISTS = {"GET /v2/manage/roles/{name}/name"}
"""Operations that list what has the name of the segment: nothing."""


class Sender:
    """Sends requests with the credentials of each operation, so that its own code answers."""

    def __init__(self, tenant: TenantServer, app: Flask) -> None:
        self.tenant, self.client = tenant, Client(app, use_cookies=False)
        scopes = sorted({one.admission.scope for one in CATALOGUE if one.admission.scope})
        self.bearers = {
            "MachineToken": machine(tenant, *scopes),
            "AccessToken": tenant.tokens(str(tenant.create()["Uid"]))["access_token"],
        }
        self.keys = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}

    def send(self, operation: Any, segment: str) -> Any:
        """Send the operation with this text as each segment of its path."""
        stated = PUBLISHED["paths"][operation.path][operation.method.lower()]
        schemes = {scheme for requirement in stated["security"] for scheme in requirement}
        settings, path = self.tenant.services.settings, operation.path
        for part in operation.iter_parameters():
            path = path.replace(f"{{{part.name}}}", segment) if part.location == "path" else path
        bearer = next((token for scheme, token in self.bearers.items() if scheme in schemes), None)
        return self.client.open(
            path,
            method=operation.method.upper(),
            base_url=f"http://{f'{self.tenant.name}.{settings.hub_domain}' if 'servers' in stated else settings.api_hostname}",
            query_string=dict(self.keys[one] for one in schemes & self.keys.keys()),
            headers={"Authorization": f"Bearer {bearer}"} if bearer else {},
            json={} if operation.method in ("put", "post") else None,
        )


@on_one_database
@pytest.mark.parametrize("kind", SEGMENTS)
def test_hostile_segment_is_refused(new_tenant_server: NewTenantServer, identity_app: Flask, kind: str) -> None:
    sender = Sender(new_tenant_server(), identity_app)
    wrong = []
    for operation in WITH_SEGMENTS:
        answer = sender.send(operation, SEGMENTS[kind])
        is_refused = 400 <= answer.status_code < 500 and answer.status_code != 405
        is_empty = operation.label in LISTS and answer.json == {"Data": []}
        is_short = len(answer.data) < 2_000  # no answer repeats a long segment
        if not ((is_refused or is_empty) and answer.is_json and is_short):
            wrong.append((operation.label, answer.status_code, answer.text[:120]))
    assert wrong == []


def test_operations_without_generated_requests_are_among_them() -> None:
    left_out = [one for one in OPERATIONS if one not in WITH_INPUT and list(one.iter_parameters())]
    assert left_out
    assert {one.label for one in left_out} <= {one.label for one in WITH_SEGMENTS}
