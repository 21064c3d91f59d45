"""A caller of every operation of the interface at one tenant, and checks of the responses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, cached_property, wraps
from inspect import signature as signature_of
from itertools import count
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.contract.auth import AuthScheme, Host
from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.resources import BOUND
from app.contract.tenants.settings import RequestLimits
from app.contract.visitor_claims import VISIT_HEADER, VisitorClaims
from app.kit import randomness
from app.kit.operations.call_signing import SIGNATURE_HEADER, signature
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import INSIDE, RawRequest, filter_address, read_body, read_request
from app.kit.operations.server import raw_request
from app.kit.operations.wire import shape_of
from app.kit.resources.resource import CREATE
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import TenantServer
from tests.support.visitors.plain_client import PlainClient, environ_of

load_catalogue()
OWN = "/identity/v2/auth/account"
WRITES = ("POST", "PUT", "DELETE", "PATCH")
OperationTest = Callable[..., None]
MAX_IN_A_CASE = 15
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
# A limit would answer in place of the operation.
UNLIMITED = {"limits": dict.fromkeys(RequestLimits.model_fields, 0), "lockout": {"type": "none"}}


def every(*schemes: AuthScheme, without: tuple[AuthScheme, ...] = ()) -> Callable[[OperationTest], OperationTest]:
    """Run the test for each operation with one of these authentication schemes."""
    stored = [
        operation
        for operation in CATALOGUE
        if set(schemes) <= operation.admission.auth.schemes() and not set(without) & operation.admission.auth.schemes()
    ]
    return for_each_operation(stored)


def for_each_operation(operations: list[AnyOperation]) -> Callable[[OperationTest], OperationTest]:
    """Run the test, which takes `operation`, for each of these; those of a few areas are one case, since a case costs time.

    Each operation is tested whatever the others do; the failure names all that fail.
    """
    assert operations
    named = [(item.name.partition(".")[0], item) for item in sorted(operations, key=attrgetter("name"))]
    groups = [named[start : start + MAX_IN_A_CASE] for start in range(0, len(named), MAX_IN_A_CASE)]
    areas = {
        f"{number} {' '.join(dict.fromkeys(area for area, _ in group))}": [element for _, element in group]
        for number, group in enumerate(groups)
    }

    def decorate(test: OperationTest) -> OperationTest:
        @wraps(test)
        def test_area(area: list[AnyOperation], **fixtures: Any) -> None:
            failures = []
            for operation in area:
                try:
                    test(operation=operation, **fixtures)
                except Exception as failure:  # noqa: BLE001 - whatever a test raises is its failure
                    failure.add_note(f"The operation is {operation.name}.")
                    failures.append((operation.name, failure))
            if failures:
                named = ", ".join(name for name, _ in failures)
                raise ExceptionGroup(f"{test.__name__} fails for {named}", [failure for _, failure in failures])

        taken = signature_of(test)
        parameters = [
            parameter.replace(name="area") if name == "operation" else parameter
            for name, parameter in taken.parameters.items()
        ]
        test_area.__signature__ = taken.replace(parameters=parameters)  # type: ignore[attr-defined]  # pytest reads it
        cases: Callable[[OperationTest], OperationTest] = pytest.mark.parametrize("area", areas.values(), ids=areas)
        return cases(test_area)

    return decorate


def needs_key_alone(operation: AnyOperation) -> bool:
    """Return whether the API key alone admits the caller, or the operation is for clients."""
    return (
        frozenset({AuthScheme.API_KEY}) in operation.admission.auth.alternatives
        or AuthScheme.CLIENT in operation.admission.auth.schemes()
    )


def with_body() -> Callable[[OperationTest], OperationTest]:
    """Run the test for each operation with a body."""
    return for_each_operation(
        [operation for operation in CATALOGUE if operation.method in WRITES and shape_of(operation.request).has_body]
    )


SUCCESS = (200, 302)
MAY_END_TOKEN = (200, 401, 403)  # 401 and 403, so that no caller goes on with a token that is no longer accepted
_NUMBERS = count()
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_CREATES = [
    *(item.operation for item in BOUND if item.draft.verb_options and item.draft.verb_options.verb is CREATE),
    *(CATALOGUE[f"{area}.create"] for area in ("organizations", "organization_permissions", "organization_roles")),
]
"""They take the same body once."""


class Caller:
    """Calls operations of one tenant with all credentials and members that they require, unless overridden."""

    def __init__(self, tenant: TenantServer, app: Flask) -> None:
        self.tenant = tenant
        self.client = PlainClient(app, use_cookies=False)  # programs keep none
        self.may_have_changed_tenant = False
        self.may_have_changed_account = False
        self.may_have_lost_token = False
        self._raw: dict[str, RawRequest] = {}

    @cached_property
    def bearer(self) -> str:
        """The access token of an account, made when an operation first asks for it."""
        return str(self.tenant.tokens(self.tenant.create()["Uid"])["access_token"])

    @cached_property
    def machine(self) -> str:
        """The token of a machine that may do everything."""
        return machine(self.tenant, "all")

    @property
    def is_on_postgres(self) -> bool:
        return self.tenant.services.database.engine.dialect.name == "postgresql"

    def renew(self) -> Caller:
        """Switch to a new account, where an operation changed this one or ended the token; a refused one ends none."""
        if self.may_have_changed_account or (self.may_have_lost_token and not self._is_signed_in()):
            self.__dict__.pop("bearer", None)
        self.may_have_changed_account = self.may_have_lost_token = False
        return self

    def _is_signed_in(self) -> bool:
        """Return whether the token is accepted. Asking takes a quarter of the time of a new one."""
        return "bearer" in self.__dict__ and self.tenant.send("GET", OWN, bearer=self.bearer).status_code == 200

    def ask(
        self,
        operation: AnyOperation,
        *,
        method: str = "",
        path: str = "",
        body: bytes | None = None,
        kind: str = "application/json",
        query: Mapping[str, str | None] | None = None,
        headers: Mapping[str, str | None] | None = None,
        host: str = "",
        is_signed: bool = True,
    ) -> TestResponse:
        """Send it; `query` and `headers` replace what would be sent, None leaves it out."""
        named: dict[str, Any] = {
            "method": method, "path": path, "body": body, "kind": kind, "host": host, "is_signed": is_signed,
        }  # fmt: skip
        answer = self.client.open(**self._request(operation, query or {}, headers or {}, **named))
        has_written = operation.method in WRITES and answer.status_code in SUCCESS
        self.may_have_changed_tenant |= has_written
        self.may_have_changed_account |= has_written
        self.may_have_lost_token |= answer.status_code in MAY_END_TOKEN
        return answer

    def refusal_of_form(
        self, operation: AnyOperation, *, body: bytes | None = None, query: Mapping[str, str | None] | None = None
    ) -> ApiError | None:
        """Return the refusal of a request that ends for its form, after the caller was admitted: the store gets no value of it.

        None for clients: their credentials are looked up before the request is read.
        """
        if AuthScheme.CLIENT in operation.admission.every_auth.schemes():
            return None
        raw = self._unsigned(operation, query or {})
        raw = raw if body is None else replace(raw, body=body)
        try:
            filter_address(operation, raw)
            read_request(operation, raw, read_body(operation, raw))
        except ApiError as refusal:
            return refusal
        return None

    def is_repetition(self, operation: AnyOperation, **requested: Any) -> bool:
        """Return whether this need not be sent, as the services run on PostgreSQL and the test on SQLite sends it."""
        return self.is_on_postgres and self.refusal_of_form(operation, **requested) is not None

    def _unsigned(self, operation: AnyOperation, query: Mapping[str, str | None]) -> RawRequest:
        if query or operation.name not in self._raw:
            without_token = self._request(operation, query, {"Authorization": None}, is_signed=False)
            raw = raw_request(environ_of(**without_token))
            raw = replace(
                raw,
                headers={**raw.headers, "content-type": "application/json"},
                parameters=dict.fromkeys(_PLACEHOLDER.findall(operation.path), "something"),
            )
            if query:
                return raw
            self._raw[operation.name] = raw
        return self._raw[operation.name]

    def _request(
        self,
        operation: AnyOperation,
        query: Mapping[str, str | None],
        headers: Mapping[str, str | None],
        *,
        method: str = "",
        path: str = "",
        body: bytes | None = None,
        kind: str = "application/json",
        host: str = "",
        is_signed: bool = True,
    ) -> dict[str, Any]:
        method = method or operation.method
        path = (path or self.path_of(operation)).replace("{site}", self.tenant.name)
        sent = body if body is not None else self.body_of(operation)
        requested: dict[str, str] | None = {
            name: value for name, value in {**self.query_of(operation), **query}.items() if value is not None
        }
        schemes = operation.admission.auth.schemes()
        known: dict[str, str | None] = {"Content-Type": kind if sent else None}
        if "Authorization" in headers:
            pass  # a token costs three requests
        elif AuthScheme.ACCESS_TOKEN in schemes:
            known["Authorization"] = f"Bearer {self.bearer}"
        elif schemes == {AuthScheme.MACHINE_TOKEN}:
            known["Authorization"] = f"Bearer {self.machine}"
        if AuthScheme.HUB in schemes and is_signed:
            path += f"?{urlencode(query)}" if query else ""  # the signature covers it
            known.update(self.signed(method, path, sent))
            requested = None
        return {
            "path": path,
            "method": method,
            "query_string": requested,
            "base_url": f"http://{host or self.host_of(operation)}",
            "headers": {name: value for name, value in {**known, **headers}.items() if value is not None},
            "data": sent,
            "environ_overrides": {INSIDE: True} if operation.host is Host.INSIDE else {},
        }

    def signed(self, method: str, path: str, body: bytes) -> dict[str, str | None]:
        services = self.tenant.services
        visit = VisitorClaims(host=f"{self.tenant.name}.{services.settings.hub_domain}").to_header()
        at = int(services.clock.now().timestamp())
        return {
            VISIT_HEADER: visit,
            SIGNATURE_HEADER: signature(services.hub_keys, method, path, body, visit, at, randomness.token(16)),
        }

    def host_of(self, operation: AnyOperation) -> str:
        settings = self.tenant.services.settings
        return f"{self.tenant.name}.{settings.hub_domain}" if operation.host is Host.TENANT else settings.api_hostname

    def query_of(self, operation: AnyOperation) -> dict[str, str | None]:
        schemes = operation.admission.auth.schemes()
        return {
            "apikey": self.tenant.api_key if AuthScheme.API_KEY in schemes else None,
            "apisecret": self.tenant.api_secret if AuthScheme.API_SECRET in schemes else None,
            **dict.fromkeys(operation.when, "1"),
        }

    @staticmethod
    def path_of(operation: AnyOperation, path: str = "") -> str:
        """Return an address; `ask` fills in the tenant's name (`site`)."""
        return re.sub(r"\{(?!site\})\w+\}", "something", path or operation.path)

    @staticmethod
    def body_of(operation: AnyOperation) -> bytes:
        if operation.method not in WRITES or not shape_of(operation.request).has_body:
            return b""
        value = f"x{next(_NUMBERS)}" if operation in _CREATES else "x"
        return json.dumps(dict.fromkeys(shape_of(operation.request).required_body, value)).encode()


def refusal(answer: TestResponse) -> tuple[int, Any]:
    """Return status and code, in whichever of the interface's four spellings; None for an error of SCIM that has none."""
    body = answer.get_json() or {}
    spellings = ("ErrorCode", "errorCode", "error", "scimType")
    return answer.status_code, next((body[name] for name in spellings if name in body), None)


def is_declared(operation: AnyOperation, answer: TestResponse) -> bool:
    return refusal(answer) in _declared(operation.every_error)


@cache
def _declared(kinds: tuple[type[ApiError], ...]) -> frozenset[tuple[int, Any]]:
    return frozenset((kind.status, kind.code if getattr(kind, "has_scim_type", True) else None) for kind in kinds)


def is_answered(operation: AnyOperation, answer: TestResponse) -> bool:
    """Return whether it is a success or an error that the operation declares: no limit came first, and nothing broke."""
    return answer.status_code in SUCCESS or (answer.status_code not in (429, 500) and is_declared(operation, answer))
