"""The published document, taken at its word: what a generic tool sends by it is answered as it says, and never with a 500."""

from __future__ import annotations

import base64
import json
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

from app.contract.configuration import ApplicationSettings
from app.contract.operations import load_catalogue, openapi_document
from app.identity.directory.tenants.tables import applications
from app.identity.platform.store.unit import UnitOfWork
from app.kit import randomness
from tests.support.identity_service import on_one_database
from tests.support.tenant_server import NewTenantServer, TenantServer

load_catalogue()
SECRET = "a secret of the application"
Published: TypeAlias = dict[str, Any]
PUBLISHED: Published = json.loads(json.dumps(openapi_document("http://api.example.com", "http://{tenant}.example.com")))
READ = schemathesis.openapi.from_dict(PUBLISHED)
OPERATIONS = [result.ok() for result in READ.get_all_operations() if isinstance(result, Ok)]
TAKING = [operation for operation in OPERATIONS if list(operation.iter_parameters()) or operation.body]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
UNLIMITED = {
    "sign_in_per_minute_per_address": 0,
    "sign_in_per_minute": 0,
    "authorize_per_minute_per_address": 0,
    "token_per_minute_per_client": 0,
    "availability_per_minute_per_address": 0,
}
# Making what is sent takes nine tenths of the time, and the same is made each time: GATEHOUSE_TESTS_EXAMPLES=100 asks longer.
bounded = settings(
    max_examples=int(os.environ.get("GATEHOUSE_TESTS_EXAMPLES", "6")),
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@dataclass(frozen=True)
class AtHost:
    """The service as the host that an operation is served on, for a tool that knows one host."""

    app: WSGIApplication
    host: str

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["HTTP_HOST"] = self.host
        return self.app(environ, start_response)


Ask: TypeAlias = Callable[[Any], None]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    made = new_tenant_server(limits=UNLIMITED, email_login=True, phone_login=True, username_login=True)
    stated = ApplicationSettings(name="shop", redirect_uris=("https://shop.example/cb",))
    row = {
        "tenant_id": made.tenant_id,
        "client_id": "shop",
        "name": "shop",
        "secret_hash": randomness.digest(SECRET),
        "settings": stated.model_dump(mode="json"),
        "created_at": made.services.clock.now(),
    }
    with UnitOfWork(made.services.database, made.tenant_id).separate_transaction() as work:
        work.run(applications.insert(), row)
    return made


@pytest.fixture
def ask(tenant: TenantServer, identity_app: Flask) -> Ask:
    """Send a case with the credentials that its operation asks for, and hold the answer against the document."""
    bearer = tenant.tokens(str(tenant.create()["Uid"]))["access_token"]
    basic = base64.b64encode(f"shop:{SECRET}".encode()).decode()
    shown = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}
    authorization = {
        "AccessToken": {"Authorization": f"Bearer {bearer}"},
        "Client": {"Authorization": f"Basic {basic}"},
    }

    def send(case: Any) -> None:
        if case.formatted_path != case.operation.path and case.formatted_path in PUBLISHED["paths"]:
            return  # an id that spells another operation's address: OpenAPI, "Path Templating Matching"
        stated = PUBLISHED["paths"][case.operation.path][case.operation.method.lower()]
        schemes = {scheme for requirement in stated["security"] for scheme in requirement}
        is_tenant_s = "servers" in stated
        known = tenant.services.settings
        host = f"{tenant.name}.{known.hub_domain}" if is_tenant_s else known.api_hostname
        query = dict(shown[scheme] for scheme in schemes & shown.keys())
        headers = next((authorization[scheme] for scheme in schemes & authorization.keys()), {})
        answer = case.call(params=query, headers=headers, app=AtHost(identity_app, host))
        case.validate_response(answer, checks=CHECKS)

    return send


def test_the_document_is_the_whole_public_interface() -> None:
    assert {operation.path for operation in OPERATIONS} == set(PUBLISHED["paths"])
    assert len(OPERATIONS) >= 25


def held(ask: Ask, operation: Any, mode: GenerationMode) -> None:
    @bounded
    @given(operation.as_strategy(mode))
    def every_case(case: Any) -> None:
        ask(case)

    every_case()


@on_one_database
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_what_the_document_describes_is_what_is_served(ask: Ask, operation: Any) -> None:
    held(ask, operation, GenerationMode.POSITIVE)


@on_one_database
@pytest.mark.parametrize("operation", TAKING, ids=lambda operation: operation.label)
def test_what_the_document_does_not_allow_is_answered_as_it_says(ask: Ask, operation: Any) -> None:
    held(ask, operation, GenerationMode.NEGATIVE)
