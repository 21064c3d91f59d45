"""A catalogue of 500 operations: declared, routed, served, called and described without repetition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import httpx
import jsonschema_rs
import pytest
from pydantic import Field, create_model

from app.contract.auth import Host
from app.kit.clock import monotonic
from app.kit.openapi.document import document
from app.kit.operations.client import Client, http_transport
from app.kit.operations.errors import ApiError
from app.kit.operations.operation import Catalogue, Documentation, ErrorProfile, Operation
from app.kit.operations.request_parsing import RawRequest
from app.kit.operations.routing import Router, choose
from app.kit.operations.server import OperationServer
from app.kit.operations.wire import From, Wire

AMOUNT = 500
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")
PER_THING = 10


class WrongOperation(ApiError):
    code, status, message = 7, 400, "WrongOperation"


class Odd(ApiError):
    code, status, message = 8, 409, "Odd"


FAMILY = ErrorProfile("generated", WrongOperation, WrongOperation, WrongOperation, WrongOperation, WrongOperation)


def declare(number: int) -> Operation[Any, Any]:
    """Return one operation: ten stand at a thing's two addresses, distinguished by method."""
    thing, place = divmod(number, PER_THING)
    method = METHODS[place % len(METHODS)]
    has_id = place >= len(METHODS)
    fields: dict[str, Any] = {"loud": (Annotated[bool, From.QUERY], False)}
    if has_id:
        fields["thing_id"] = (Annotated[str, From.PATH], Field(alias="thing_id"))
    if method not in ("GET", "DELETE"):
        fields["first_name"] = (str, Field(max_length=40))
    request = create_model(f"Request{number}", __base__=Wire, **fields)
    response = create_model(f"Response{number}", __base__=Wire, number=(int, ...), text=(str, ...))
    path = f"/v2/things{thing}" + ("/{thing_id}" if has_id else "")
    return Operation(
        f"things{thing}.does{place}",
        method,
        path,
        request,
        response,
        Host.API,
        FAMILY,
        errors=(Odd,),
        documentation=Documentation(f"Do {number}."),
    )


class Gate:
    """A lifecycle that admits every caller."""

    def open(self, _operation: object, _raw: RawRequest) -> int:
        return 0

    def admit_caller(self, *_: object) -> None:
        return None

    def cached_by(self, *_: object) -> object | None:
        return None

    def close(self, *_: object) -> None:
        return None

    def may_retry(self, *_: object) -> bool:
        return False

    def headers(self, *_: object) -> Iterable[tuple[str, str]]:
        return ()


def handler_of(operation: Operation[Any, Any], number: int) -> Any:
    def handle(_call: int, req: Any) -> Any:
        text = getattr(req, "first_name", "") + getattr(req, "thing_id", "")
        if text == "odd":
            raise Odd
        return operation.response(number=number, text=text.upper() if req.loud else text)

    return handle


@pytest.fixture(scope="module")
def operations() -> list[Operation[Any, Any]]:
    return [declare(number) for number in range(AMOUNT)]


@pytest.fixture(scope="module")
def catalogue(operations: list[Operation[Any, Any]]) -> Catalogue:
    return Catalogue(operations)


@pytest.fixture(scope="module")
def client(catalogue: Catalogue, operations: list[Operation[Any, Any]]) -> Iterator[Client]:
    begun = monotonic()
    for number, operation in enumerate(operations):
        operation.implements(handler_of(operation, number))
    server = OperationServer(catalogue, Gate(), lambda _host: Host.API)
    print(f"{AMOUNT} operations served after {(monotonic() - begun) * 1000:.0f} ms")
    with httpx.Client(transport=httpx.WSGITransport(app=server), base_url="http://api.example.com") as http:
        yield Client(http_transport(http), lambda _method, _address, _body: {})


def request_with(operation: Operation[Any, Any], text: str, *, loud: bool = False) -> Wire:
    """Return a request that holds the text once: in the path where it has one, else in the body."""
    values: dict[str, Any] = {"loud": loud}
    if "thing_id" in operation.request.model_fields:
        values["thing_id"] = text
    if "first_name" in operation.request.model_fields:
        values["first_name"] = "" if "thing_id" in values else text
    request: Wire = operation.request(**values)
    return request


def test_building_catalogue_and_router_is_timed() -> None:
    begun = monotonic()
    made = [declare(number) for number in range(AMOUNT)]
    between = monotonic()
    router = Router(Catalogue(made))
    routed = monotonic()
    print(f"declared in {(between - begun) * 1000:.0f} ms, routed in {(routed - between) * 1000:.1f} ms")
    assert router.find("/v2/things0") is not None


def test_catalogue_holds_every_operation_as_declared(
    catalogue: Catalogue, operations: list[Operation[Any, Any]]
) -> None:
    assert len(catalogue) == AMOUNT
    assert all(catalogue[operation.name] is operation for operation in operations)
    assert all(item is operation for item, operation in zip(catalogue.on(Host.API), operations, strict=True))
    assert len(catalogue.on(Host.TENANT)) == 0
    with pytest.raises(ValueError, match="twice"):
        catalogue.add(operations[0])


def test_router_finds_exactly_one_operation(catalogue: Catalogue, operations: list[Operation[Any, Any]]) -> None:
    router = Router(catalogue)
    for operation in operations:
        found = router.find(operation.path.upper().replace("{THING_ID}", "Id-1"))
        assert found is not None
        assert choose(found.methods[operation.method], ()) is operation
        assert found.parameters == ({"thing_id": "Id-1"} if "{" in operation.path else {})
    assert [router.find(path) for path in ("/v2", "/v2/things500", "/v2/things0/1/2", "/")] == [None] * 4


def test_two_operations_at_one_address_are_refused(operations: list[Operation[Any, Any]]) -> None:
    item = operations[5]
    other = Operation("other", item.method, item.path, item.request, item.response, Host.API, FAMILY)
    with pytest.raises(ValueError, match="belongs to"):
        Router([*operations, other])


def test_models_are_built_on_first_use() -> None:
    fresh = declare(AMOUNT + 1)
    Router(Catalogue([fresh]))
    assert not fresh.request.__pydantic_complete__
    assert not fresh.response.__pydantic_complete__


def test_each_operation_is_called_and_answers(client: Client, operations: list[Operation[Any, Any]]) -> None:
    for number, operation in enumerate(operations):
        has_text = number % PER_THING not in (0, 3)  # those neither have an id nor a body
        answer = client(
            operation,
            request_with(operation, "Ä/b c?", loud=False) if has_body(operation) else request_with(operation, "x y"),
        )
        assert isinstance(answer, operation.response)
        assert answer.number == number
        if has_text:
            assert answer.text == ("Ä/b c?" if has_body(operation) else "x y")


def has_body(operation: Operation[Any, Any]) -> bool:
    """Return whether the text travels in the body, where any character may stand."""
    return "{" not in operation.path and "first_name" in operation.request.model_fields


def test_each_operation_raises_its_declared_error_class(client: Client, operations: list[Operation[Any, Any]]) -> None:
    for operation in operations:
        if operation.request.model_fields.keys() & {"thing_id", "first_name"}:
            with pytest.raises(Odd):
                client(operation, request_with(operation, "odd"))


def test_refused_field_is_named(client: Client, operations: list[Operation[Any, Any]]) -> None:
    for operation in operations[1::97]:
        if has_body(operation):
            with pytest.raises(WrongOperation, match="FirstName"):
                client(operation, operation.request.model_construct(loud=False, first_name="x" * 41))


def test_document_has_each_operation_once(catalogue: Catalogue, operations: list[Operation[Any, Any]]) -> None:
    made = document(catalogue, "https://api.example.com")
    entries = [entry for methods in made["paths"].values() for entry in methods.values()]
    assert sorted(entry["operationId"] for entry in entries) == sorted(operation.name for operation in operations)
    assert len(made["paths"]) == 2 * AMOUNT // PER_THING
    for operation in operations:
        entry = made["paths"][operation.path][operation.method.lower()]
        assert set(entry["responses"]) == {"200", "400", "409"}
        assert ("requestBody" in entry) == ("first_name" in operation.request.model_fields)
    for schema in made["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_paths_that_differ_in_a_parameter_name_collide() -> None:
    def at(method: str, path: str) -> Operation[Any, Any]:
        return Operation(f"{method} {path}", method, path, Wire, Wire, Host.API, FAMILY)

    router = Router([at("GET", "/lists/{type}"), at("PUT", "/lists/{record}"), at("DELETE", "/lists/type/{type}")])
    found = router.find("/lists/shoes")
    assert found is not None
    assert set(found.methods) == {"GET", "PUT"}
    assert found.parameters == {"type": "shoes", "record": "shoes"}
    below = router.find("/lists/type/shoes")
    assert below is not None
    assert set(below.methods) == {"DELETE"}


def test_fixed_segment_is_never_a_parameter() -> None:
    def at(method: str, path: str) -> Operation[Any, Any]:
        return Operation(f"{method} {path}", method, path, Wire, Wire, Host.API, FAMILY)

    made = [at("GET", "/things/{id}"), at("GET", "/things/{id}/parts"), at("POST", "/things/search")]
    router = Router(made)
    searched = router.find("/things/Search")
    assert searched is not None
    assert (set(searched.methods), searched.parameters) == ({"POST"}, {})
    for path in ("/things/search/parts", "/things/SEARCH/parts", "/things/search/more"):
        assert router.find(path) is None, path
    assert router.find("/things/search1/parts") is not None
