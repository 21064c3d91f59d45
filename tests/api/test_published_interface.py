"""Conformance to the published OpenAPI document: generated requests are answered as it declares, never with status 500."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
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
from app.contract.operations import load_catalogue
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit import UnitOfWork
from app.kit import randomness
from tests.support.identity_service import on_one_database
from tests.support.published import published_interface
from tests.support.tenant_server import NewTenantServer, TenantServer

SECRET = "a secret of the application"
Published: TypeAlias = dict[str, Any]
AREAS = sorted({one.area for one in load_catalogue() if one.documentation.is_public})


@cache
def operations() -> list[Any]:
    """Return the operations of the document; to read it takes seconds, so collection does without."""
    schema = schemathesis.openapi.from_dict(published_interface())
    return [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]


def area_of(operation: Any) -> str:
    """Return the part of the operation's name before the dot."""
    return str(operation.definition.raw["operationId"]).partition(".")[0]


def is_free(parameter: Any) -> bool:
    """Return whether every text is valid: a segment of the path without a form of its own."""
    names = set(parameter.definition["schema"]) - {"type", "title", "description", "anyOf", "default"}
    return parameter.location == "path" and not names


def has_input(operation: Any) -> bool:
    return bool(operation.body) or not all(map(is_free, operation.iter_parameters()))


CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
UNLIMITED = {
    "sign_in_per_minute_per_address": 0,
    "sign_in_per_minute": 0,
    "authorize_per_minute_per_address": 0,
    "token_per_minute_per_client": 0,
    "availability_per_minute_per_address": 0,
}
# Generation of the deterministic requests takes nine tenths of the time. GATEHOUSE_TESTS_EXAMPLES=100 tests more of them.
# tests/catalogue/test_every_operation.py sends every operation more invalid requests than are generated here.
EXAMPLES = {GenerationMode.POSITIVE: 4, GenerationMode.NEGATIVE: 2}


def bounded(mode: GenerationMode) -> settings:
    return settings(
        max_examples=int(os.environ.get("GATEHOUSE_TESTS_EXAMPLES", EXAMPLES[mode])),
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


NewSendCase: TypeAlias = Callable[[], SendCase]


def tenant_with_shop(new_tenant_server: NewTenantServer) -> TenantServer:
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
def new_send_case(new_tenant_server: NewTenantServer, identity_app: Flask) -> NewSendCase:
    """Return a function that makes a tenant and returns what sends a case there, with the credentials of its operation.

    The answer is compared with the document.
    """

    def new() -> SendCase:
        tenant = tenant_with_shop(new_tenant_server)
        bearer = tenant.tokens(str(tenant.create()["Uid"]))["access_token"]
        return partial(send, tenant, identity_app, f"Bearer {bearer}")

    return new


def send(tenant: TenantServer, identity_app: Flask, bearer: str, case: Any) -> None:
    published = published_interface()
    if case.formatted_path != case.operation.path and case.formatted_path in published["paths"]:
        return  # an id equal to a segment of another path: OpenAPI, "Path Templating Matching"
    basic = base64.b64encode(f"shop:{SECRET}".encode()).decode()
    credentials = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}
    authorization = {"AccessToken": {"Authorization": bearer}, "ClientCredentials": {"Authorization": f"Basic {basic}"}}
    stated = published["paths"][case.operation.path][case.operation.method.lower()]
    schemes = {scheme for requirement in stated["security"] for scheme in requirement}
    is_tenant_host = "servers" in stated
    service_settings = tenant.services.settings
    host = f"{tenant.name}.{service_settings.hub_domain}" if is_tenant_host else service_settings.api_hostname
    query = dict(credentials[scheme] for scheme in schemes & credentials.keys())
    headers = next((authorization[scheme] for scheme in schemes & authorization.keys()), {})
    answer = case.call(params=query, headers=headers, app=AtHost(identity_app, host))
    case.validate_response(answer, checks=CHECKS)


def test_document_has_every_public_operation() -> None:
    assert {operation.path for operation in operations()} == set(published_interface()["paths"])
    assert len(operations()) >= 25
    assert {area_of(operation) for operation in operations()} == set(AREAS)


def check_operations(new_send_case: NewSendCase, checked: list[Any], mode: GenerationMode) -> None:
    """Check each operation at a tenant of its own; the failure names all that fail."""
    assert checked
    failures = []
    for operation in checked:
        try:
            check_operation(new_send_case(), operation, mode)
        except Exception as failure:  # noqa: BLE001 - whatever a check raises is its failure
            failure.add_note(f"The operation is {operation.label}.")
            failures.append(failure)
    if failures:
        raise ExceptionGroup("answers differ from the document", failures)


def check_operation(send_case: SendCase, operation: Any, mode: GenerationMode) -> None:
    @bounded(mode)
    @given(operation.as_strategy(mode))
    def check_case(case: Any) -> None:
        send_case(case)

    check_case()


@on_one_database
@pytest.mark.parametrize("area", AREAS)
def test_valid_requests_are_answered_as_documented(new_send_case: NewSendCase, area: str) -> None:
    held = [operation for operation in operations() if area_of(operation) == area]
    check_operations(new_send_case, held, GenerationMode.POSITIVE)


@on_one_database
@pytest.mark.parametrize("area", AREAS)
def test_invalid_requests_are_answered_as_documented(new_send_case: NewSendCase, area: str) -> None:
    held = [operation for operation in operations() if area_of(operation) == area and has_input(operation)]
    check_operations(new_send_case, held, GenerationMode.NEGATIVE)
