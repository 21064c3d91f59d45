"""Conformance to the published OpenAPI document: generated requests are answered as it declares, never with status 500."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.contract.application_settings import ApplicationSettings
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit import UnitOfWork
from app.kit import randomness
from tests.support.identity_service import on_one_database
from tests.support.published import published_interface
from tests.support.tenant_server import NewTenantServer, TenantServer

SECRET = "a secret of the application"
Published: TypeAlias = dict[str, Any]
PUBLISHED: Published = published_interface()
SCHEMA = schemathesis.openapi.from_dict(PUBLISHED)
OPERATIONS = [result.ok() for result in SCHEMA.get_all_operations() if isinstance(result, Ok)]


def is_free(parameter: Any) -> bool:
    """Return whether every text is valid: a segment of the path without a form of its own."""
    names = set(parameter.definition["schema"]) - {"type", "title", "description", "anyOf", "default"}
    return parameter.location == "path" and not names


WITH_INPUT = [one for one in OPERATIONS if one.body or not all(map(is_free, one.iter_parameters()))]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
UNLIMITED = {
    "sign_in_per_minute_per_address": 0,
    "sign_in_per_minute": 0,
    "authorize_per_minute_per_address": 0,
    "token_per_minute_per_client": 0,
    "availability_per_minute_per_address": 0,
}
# Generation of the deterministic requests takes nine tenths of the time. GATEHOUSE_TESTS_EXAMPLES=100 tests more of them.
bounded = settings(
    max_examples=int(os.environ.get("GATEHOUSE_TESTS_EXAMPLES", "6")),
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class AtHost:
    """The service at the host of an operation, for a tool that supports one host."""

    app: WSGIApplication
    host: str

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["HTTP_HOST"] = self.host
        return self.app(environ, start_response)


SendCase: TypeAlias = Callable[[Any], None]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    tenant = new_tenant_server(limits=UNLIMITED, email_login=True, phone_login=True, username_login=True)
    stated = ApplicationSettings(name="shop", redirect_uris=("https://shop.example/cb",))
    row = {
        "tenant_id": tenant.tenant_id,
        "client_id": "shop",
        "name": "shop",
        "secret_hash": randomness.digest(SECRET),
        "settings": stated.model_dump(mode="json"),
        "created_at": tenant.services.clock.now(),
    }
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(applications.insert(), row)
    return tenant


@pytest.fixture
def send_case(tenant: TenantServer, identity_app: Flask) -> SendCase:
    """Send a case with the credentials of its operation and compare the answer with the document."""
    bearer = tenant.tokens(str(tenant.create()["Uid"]))["access_token"]
    basic = base64.b64encode(f"shop:{SECRET}".encode()).decode()
    credentials = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}
    authorization = {
        "AccessToken": {"Authorization": f"Bearer {bearer}"},
        "Client": {"Authorization": f"Basic {basic}"},
    }

    def send(case: Any) -> None:
        if case.formatted_path != case.operation.path and case.formatted_path in PUBLISHED["paths"]:
            return  # an id equal to a segment of another path: OpenAPI, "Path Templating Matching"
        stated = PUBLISHED["paths"][case.operation.path][case.operation.method.lower()]
        schemes = {scheme for requirement in stated["security"] for scheme in requirement}
        is_tenant_host = "servers" in stated
        service_settings = tenant.services.settings
        host = f"{tenant.name}.{service_settings.hub_domain}" if is_tenant_host else service_settings.api_hostname
        query = dict(credentials[scheme] for scheme in schemes & credentials.keys())
        headers = next((authorization[scheme] for scheme in schemes & authorization.keys()), {})
        answer = case.call(params=query, headers=headers, app=AtHost(identity_app, host))
        case.validate_response(answer, checks=CHECKS)

    return send


def test_document_has_every_public_operation() -> None:
    assert {operation.path for operation in OPERATIONS} == set(PUBLISHED["paths"])
    assert len(OPERATIONS) >= 25


def check_operation(send_case: SendCase, operation: Any, mode: GenerationMode) -> None:
    @bounded
    @given(operation.as_strategy(mode))
    def check_case(case: Any) -> None:
        send_case(case)

    check_case()


@on_one_database
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_valid_requests_are_answered_as_documented(send_case: SendCase, operation: Any) -> None:
    check_operation(send_case, operation, GenerationMode.POSITIVE)


@on_one_database
@pytest.mark.parametrize("operation", WITH_INPUT, ids=lambda operation: operation.label)
def test_invalid_requests_are_answered_as_documented(send_case: SendCase, operation: Any) -> None:
    check_operation(send_case, operation, GenerationMode.NEGATIVE)
