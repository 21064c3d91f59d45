"""Conformance to the published OpenAPI document: generated requests are answered as it declares, never with status 500."""

from __future__ import annotations

import base64
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from http import HTTPStatus
from itertools import islice
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import pytest
import schemathesis
from flask import Flask
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.contract.applications.settings import ApplicationSettings
from app.contract.catalogue import load_catalogue
from app.identity.directory.tenants.tables import applications
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.operations.asking import UNLIMITED
from tests.support.operations.published import published_interface
from tests.support.services.identity_service import limits_of_a_test, on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

SECRET = "a secret of the application"
AREAS = sorted({operation.area for operation in load_catalogue() if operation.documentation.is_public})


@cache
def operations() -> list[Any]:
    """Return the operations of the document; to read it takes seconds, so collection does without."""
    schema = schemathesis.openapi.from_dict(published_interface())
    schema.config.phases.coverage.unexpected_methods = (
        set()
    )  # tests/catalogue/interface/test_every_operation.py sends these
    return [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]


def area_of(operation: Any) -> str:
    """Return the part of the operation's name before the dot."""
    return str(operation.definition.raw["operationId"]).partition(".")[0]


def is_free(parameter: Any) -> bool:
    """Return whether every text is valid in the query or in the path."""
    schema = parameter.definition["schema"]
    is_text = "string" in [schema.get("type"), *(item.get("type") for item in schema.get("anyOf", []))]
    return is_text and parameter.location in ("path", "query") and not LIMITS & schema.keys()


LIMITS = {"enum", "pattern", "minLength", "maxLength"}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
# Nearly every scenario of an operation is among its first requests. GATEHOUSE_TESTS_EXAMPLES=100 sends more of each scenario.
READ = 100
EXAMPLES = int(os.environ.get("GATEHOUSE_TESTS_EXAMPLES", "1"))
TEXTS = ("\x00", "0", "é\u202e' OR 1=1 --")
"""The generator leaves texts in a path or query empty or fills them to their limit."""


def cases_of(operation: Any, mode: GenerationMode) -> list[Any]:
    """Return requests to an operation, one of each scenario: without a member, with a text that is a character too long, and so on.

    These are deterministic. Random ones take ten times as long to draw and meet half of the refusals.
    """
    configuration = operation.schema.config.generation_for(operation=operation)
    cases = operation.schema.iter_coverage_cases(operation, generation_modes=[mode], generation_config=configuration)
    chosen, seen = [], Counter[Any]()
    for case in islice(cases, READ * EXAMPLES):
        scenario = case.meta.phase.data.scenario
        seen[scenario] += 1
        if seen[scenario] <= EXAMPLES:
            chosen.append(case)
    if mode is GenerationMode.POSITIVE:
        chosen += [*with_texts(operation, chosen[0]), *with_body_alone(operation, chosen)]
    return chosen


def with_texts(operation: Any, case: Any) -> list[Any]:
    """Return copies of a request with other texts in the path and in the query, where the document permits every text."""
    free = [parameter.name for parameter in operation.iter_parameters() if is_free(parameter)]
    return [
        operation.Case(
            path_parameters={**case.path_parameters, **{name: text for name in case.path_parameters if name in free}},
            query={**case.query, **{name: text for name in case.query if name in free}},
            body=case.body,
            media_type=case.media_type,
        )
        for text in (TEXTS if free else ())
    ]


def with_body_alone(operation: Any, cases: list[Any]) -> list[Any]:
    """Return copies of requests without a query, which is refused before many bodies are read."""
    return [
        operation.Case(path_parameters=case.path_parameters, body=case.body, media_type=case.media_type)
        for case in cases
        if operation.body and case.query
    ]


@dataclass(frozen=True)
class AtHost:
    """The service at the host of an operation, for a tool that supports one host."""

    app: WSGIApplication
    host: str

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        environ["HTTP_HOST"] = self.host
        return self.app(environ, start_response)


class PublishedSender:
    """Sends cases with the credentials of their operation to a tenant that no request has changed, and checks the answers."""

    def __init__(self, new_tenant_server: NewTenantServer, identity_app: Flask) -> None:
        self._new_tenant_server = new_tenant_server
        self._app = identity_app

    @cached_property
    def _tenant(self) -> TenantServer:
        return tenant_with_shop(self._new_tenant_server)

    @cached_property
    def _bearer(self) -> str:
        return str(self._tenant.tokens(str(self._tenant.create()["Uid"]))["access_token"])

    def send(self, case: Any) -> None:
        tenant, published = self._tenant, published_interface()
        if case.formatted_path != case.operation.path and case.formatted_path in published["paths"]:
            return  # an id equal to a segment of another path: OpenAPI, "Path Templating Matching"
        basic = base64.b64encode(f"shop:{SECRET}".encode()).decode()
        credentials = {"ApiKey": ("apikey", tenant.api_key), "ApiSecret": ("apisecret", tenant.api_secret)}
        authorization = {"AccessToken": f"Bearer {self._bearer}", "ClientCredentials": f"Basic {basic}"}
        declared = published["paths"][case.operation.path][case.operation.method.lower()]
        schemes = {scheme for requirement in declared["security"] for scheme in requirement}
        query = dict(credentials[scheme] for scheme in schemes & credentials.keys())
        shown = [authorization[scheme] for scheme in schemes & authorization.keys()]
        headers = {"Authorization": shown[0]} if shown else {}
        answer = case.call(params=query, headers=headers, app=AtHost(self._app, self._host_of(declared)))
        if answer.status_code < HTTPStatus.BAD_REQUEST:
            self.__dict__.pop("_tenant"), self.__dict__.pop("_bearer")
        case.validate_response(answer, checks=CHECKS)

    def _host_of(self, declared: dict[str, Any]) -> str:
        settings = self._tenant.services.settings
        return f"{self._tenant.name}.{settings.hub_domain}" if "servers" in declared else settings.api_hostname


def tenant_with_shop(new_tenant_server: NewTenantServer) -> TenantServer:
    tenant = new_tenant_server(**UNLIMITED, email_login=True, phone_login=True, username_login=True)
    shop = ApplicationSettings(name="shop", redirect_uris=("https://shop.example/cb",))
    row = {
        "tenant_id": tenant.tenant_id,
        "client_id": "shop",
        "name": "shop",
        "secret_hash": randomness.digest(SECRET),
        "settings": shop.model_dump(mode="json"),
        "created_at": tenant.services.clock.now(),
    }
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(applications.insert(), row)
    return tenant


@pytest.fixture
def sender(services: IdentityServices, new_tenant_server: NewTenantServer, identity_app: Flask) -> PublishedSender:
    services.limits = limits_of_a_test(services)  # some are not the tenant's to state
    return PublishedSender(new_tenant_server, identity_app)


def test_document_has_every_public_operation() -> None:
    assert {operation.path for operation in operations()} == set(published_interface()["paths"])
    assert len(operations()) >= 25
    assert {area_of(operation) for operation in operations()} == set(AREAS)


def check_area(sender: PublishedSender, area: str, mode: GenerationMode) -> None:
    """Check each operation of an area; the failure names all that fail."""
    checked = [operation for operation in operations() if area_of(operation) == area]
    assert checked
    failures = []
    for operation in checked:
        for case in cases_of(operation, mode):
            try:
                sender.send(case)
            except Exception as failure:  # noqa: BLE001 - whatever a check raises is its failure
                failure.add_note(f"The operation is {operation.label}.")
                failures.append(failure)
    if failures:
        raise ExceptionGroup("answers differ from the document", failures)


@on_one_database
@pytest.mark.parametrize("area", AREAS)
def test_valid_requests_are_answered_as_documented(sender: PublishedSender, area: str) -> None:
    check_area(sender, area, GenerationMode.POSITIVE)


@on_one_database
@pytest.mark.parametrize("area", AREAS)
def test_invalid_requests_are_answered_as_documented(sender: PublishedSender, area: str) -> None:
    check_area(sender, area, GenerationMode.NEGATIVE)
