"""Every operation of the interface behaves as its declaration promises.

A new operation is tested without further code. Refusals before any query run on one database (`before_the_store`); values that
reach the store run on both. A case is up to 15 operations and a test sends all values of a kind, so that set-ups are few;
`-k accounts.create` selects the cases with this operation.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from app.contract.auth import AuthScheme, Host
from app.contract.catalogue import CATALOGUE
from app.contract.error_profiles import OAUTH
from app.contract.oauth.oauth_errors import UnknownApplication
from app.identity.platform.services import IdentityServices
from app.kit.operations.operation import Accept, AnyOperation
from app.kit.operations.wire import From, shape_of
from tests.support.operations.asking import (
    METHODS,
    UNLIMITED,
    WRITES,
    Caller,
    every,
    for_each_operation,
    is_answered,
    is_declared,
    needs_key_alone,
    refusal,
    with_body,
)
from tests.support.operations.hostile_values import HOSTILE
from tests.support.services.identity_service import before_the_store, limits_of_a_test
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

NewCaller = Callable[[], Caller]
GUID = "00000000-0000-0000-0000-000000000000"
_UNCHANGED: dict[int, Caller] = {}


@pytest.fixture
def new_caller(services: IdentityServices, new_tenant_server: NewTenantServer, identity_app: Flask) -> NewCaller:
    """Return a function that gives a caller at a tenant that no request has changed.

    A refused request changes nothing, and neither does a GET, but for the token: such a tenant serves the next operation too.
    """

    def unchanged() -> Caller:
        services.limits = limits_of_a_test(services)  # some are not the tenant's to state
        stored = _UNCHANGED.get(id(services))
        if stored is None or stored.may_have_changed_tenant:
            stored = _UNCHANGED[id(services)] = Caller(new_tenant_server(**UNLIMITED), identity_app)
        return stored.renew()

    return unchanged


@pytest.fixture
def refused(new_caller: NewCaller) -> Caller:
    """A caller for requests that are refused."""
    return new_caller()


# Authentication of the caller.


@before_the_store
@every(AuthScheme.API_KEY, without=(AuthScheme.HUB,))
def test_missing_key_is_refused_by_name(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, query={"apikey": None})
    assert refusal(answer)[0] == 400
    assert refusal(answer)[1] in (908, "invalid_request")
    assert "apikey" in answer.text
    assert is_declared(operation, answer)


@every(AuthScheme.API_KEY)
def test_wrong_key_is_refused(refused: Caller, operation: AnyOperation) -> None:
    for key in (GUID, "not a key", "é\u2028"):
        answer = refused.ask(operation, query={"apikey": key})
        assert refusal(answer) in ((403, 901), (400, 920)), key
        assert is_declared(operation, answer), key


@before_the_store
@every(AuthScheme.API_SECRET)
def test_missing_secret_is_refused(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, query={"apisecret": None})
    assert refusal(answer) == (400, 923)
    assert is_declared(operation, answer)


@every(AuthScheme.API_SECRET)
def test_wrong_secret_is_refused(refused: Caller, operation: AnyOperation) -> None:
    for secret in (GUID, "x", "é"):
        answer = refused.ask(operation, query={"apisecret": secret})
        assert refusal(answer) == (401, 902), secret
        assert is_declared(operation, answer), secret


@every(AuthScheme.API_KEY, AuthScheme.API_SECRET)
def test_secret_of_another_tenant_is_refused(refused: Caller, globex: TenantServer, operation: AnyOperation) -> None:
    assert refusal(refused.ask(operation, query={"apisecret": globex.api_secret})) == (401, 902)


@before_the_store
@for_each_operation(
    [op for op in CATALOGUE if AuthScheme.ACCESS_TOKEN in op.admission.auth.schemes() and not needs_key_alone(op)]
)
def test_missing_access_token_is_refused(refused: Caller, operation: AnyOperation) -> None:
    for shown in (None, "Bearer ", "Basic eDp5"):
        answer = refused.ask(operation, headers={"Authorization": shown})
        assert is_declared(operation, answer), shown
        if operation.error_profile is OAUTH:
            assert refusal(answer) == (401, "invalid_token"), shown
        else:
            assert refusal(answer) == (401, 1409), shown
            assert set(answer.get_json()) == {"errorCode", "message", "description"}


@every(AuthScheme.ACCESS_TOKEN)
def test_unknown_access_token_is_refused(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, headers={"Authorization": f"Bearer {GUID}"})
    assert answer.status_code in (400, 401, 403)
    assert is_declared(operation, answer)


@every(AuthScheme.CLIENT)
def test_unknown_client_is_refused(refused: Caller, operation: AnyOperation) -> None:
    shown = base64.b64encode(b"unknown:secret").decode()
    answer = refused.ask(operation, headers={"Authorization": f"Basic {shown}"})
    assert answer.status_code in (400, 401)
    assert is_declared(operation, answer)


@before_the_store
@every(AuthScheme.MACHINE_TOKEN)
def test_invalid_machine_token_is_refused(refused: Caller, operation: AnyOperation) -> None:
    for token in ("", "x", "a.b.c", "a.e30.c"):
        shown = {"Authorization": f"Bearer {token}"}
        answer = refused.ask(operation, query={"apikey": None, "apisecret": None}, headers=shown)
        expects_key = AuthScheme.API_KEY in operation.admission.auth.alternatives[0]
        error = (400, 908) if not token and expects_key else (403, 6002)
        assert refusal(answer) == error, token
        assert is_declared(operation, answer), token


@before_the_store
@every(AuthScheme.HUB)
def test_unsigned_hub_call_is_refused(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, is_signed=False)
    assert refusal(answer) == (403, 909)
    assert is_declared(operation, answer)


@before_the_store
@every(AuthScheme.HUB)
def test_signature_is_valid_for_one_body_and_one_path(refused: Caller, operation: AnyOperation) -> None:
    signed = refused.signed(operation.method, refused.path_of(operation), b"{}")
    assert refusal(refused.ask(operation, body=b'{"InteractionId":"x"}', headers=signed)) == (403, 909)
    other = refused.signed(operation.method, "/hub/elsewhere", refused.body_of(operation))
    assert refusal(refused.ask(operation, headers=other)) == (403, 909)


@for_each_operation([op for op in CATALOGUE if op.host is Host.TENANT])
def test_host_without_a_tenant_is_refused(refused: Caller, operation: AnyOperation) -> None:
    """Where libraries look for metadata it is 404: a 403 would look like a matter of permissions."""
    domain = refused.tenant.services.settings.hub_domain
    error = (404, "not_found") if UnknownApplication in operation.errors else (403, 942)
    for host in (f"unknown.{domain}", domain, f"a.b.{domain}", "elsewhere.example"):
        answer = refused.ask(operation, host=host)
        assert refusal(answer) == error, host
        assert is_declared(operation, answer), host
        assert refused.tenant.name not in answer.text


# Format of the request.


@before_the_store
@with_body()
def test_body_other_than_one_json_object_is_refused(refused: Caller, operation: AnyOperation) -> None:
    for body in (b"{", b"[]", b'"x"', b"null", b"1", b'{"a":NaN}', b"\xff\xfe", b"{}{}"):
        is_json = body in (b"[]", b'"x"', b"null", b"1")
        error = (operation.body.no_object if is_json else None) or operation.error_profile.body_error(operation.method)
        assert refusal(refused.ask(operation, body=body)) == (error.status, error.code), body


WITHOUT_A_BODY = {"phones.send_code", "phones.verify", "scim.create", "self_service.unlock"}
"""Operations with an optional body: an access token names the number, the query holds the captcha response, or SCIM refuses the method
of a kind whatever the body is."""


@before_the_store
@with_body()
def test_empty_body_is_refused_by_method(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    assert shape_of(operation.request).body_is_optional is (operation.name in WITHOUT_A_BODY)
    for method, path in operation.addresses():
        error = operation.body.no_object or operation.error_profile.body_error(method)
        for kind in ("application/json", None):
            headers = {"Content-Type": kind}
            answer = caller.ask(
                operation, method=method, path=caller.path_of(operation, path), body=b"", headers=headers
            )
            is_refused = refusal(answer) == (error.status, error.code) and "body is empty" in answer.text
            assert is_refused is (operation.name not in WITHOUT_A_BODY), (method, path, answer.text)


@before_the_store
@with_body()
def test_unsupported_content_type_is_refused(refused: Caller, operation: AnyOperation) -> None:
    error = operation.error_profile.bad_content_type
    for kind in ("text/plain", "application/xml", "", "multipart/form-data; boundary=x"):
        answer = refused.ask(operation, body=b'{"a":1}', kind=kind)
        assert refusal(answer) == (error.status, error.code), kind
        if operation.error_profile.name == "Primary":
            assert refusal(answer) == (400, 1083), kind


@before_the_store
@for_each_operation(
    [op for op in CATALOGUE if op.method in WRITES and shape_of(op.request).has_body and op.body.accepts is Accept.JSON]
)
def test_form_body_is_refused_where_only_json_is_accepted(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, body=b"a=1", kind="application/x-www-form-urlencoded")
    assert refusal(answer) == (400, 1083)


@before_the_store
@every()
def test_path_segments_and_query_names_ignore_case(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    path = "/".join(part if part.startswith("{") else part.swapcase() for part in operation.path.split("/"))
    query = caller.query_of(operation)
    other = {**dict.fromkeys(query), **{name.upper(): value for name, value in query.items()}}
    plain = caller.ask(operation)
    folded = caller.renew().ask(operation, path=caller.path_of(operation, path), query=other)
    assert folded.status_code == plain.status_code
    if plain.status_code != 200:
        assert refusal(folded) == refusal(plain)


@before_the_store
@every()
def test_every_address_of_an_operation_reaches_it(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    plain = caller.ask(operation)
    for method, path in operation.addresses():
        answer = caller.renew().ask(operation, method=method, path=caller.path_of(operation, path))
        if "{app}" in path:  # no application has this name
            assert answer.status_code in (400, 401, 403, 404)
            assert is_declared(operation, answer)
        else:
            assert answer.status_code == plain.status_code, path


@before_the_store
@every()
def test_other_method_is_refused_with_the_allowed_ones(refused: Caller, operation: AnyOperation) -> None:
    router = [op for op in CATALOGUE if op.host is operation.host]
    served = {op.method for op in router if Caller.path_of(op) == Caller.path_of(operation)}
    served |= {method for op in router for method, path in op.addresses() if path == operation.path}
    other = next(method for method in reversed(METHODS) if method not in served)
    answer = refused.ask(operation, method=other)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == served


# Properties of every response.


@before_the_store
@every()
def test_responses_forbid_caching_and_sniffing(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    for answer in (caller.ask(operation), caller.ask(operation, query={"apikey": "wrong"}, is_signed=False)):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.status_code == 302 or answer.headers["Content-Type"].startswith("application/")
        if answer.status_code != 200 or not operation.is_cached:  # metadata and key sets may be kept
            assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.both_databases
@every()
def test_every_refusal_is_declared(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    query = dict.fromkeys(shape_of(operation.request).places[From.QUERY].values(), "1")
    requested: list[dict[str, Any]] = [{}, {"query": query}]
    if not caller.is_on_postgres:  # these end before the store is asked
        requested += [
            {"query": {"apikey": None, "apisecret": None}},
            {"headers": {"Authorization": None}, "is_signed": False},
            {"query": {"x": "\x00"}},
        ]
    for how in requested:
        if not caller.is_repetition(operation, query=how.get("query")):
            answer = caller.ask(operation, **how)
            assert is_answered(operation, answer), answer.text


@pytest.mark.both_databases
@with_body()
def test_hostile_body_gets_a_declared_refusal(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    for what, body in HOSTILE.items():
        if caller.is_repetition(operation, body=body):
            continue
        answer = caller.renew().ask(operation, body=body)
        assert is_answered(operation, answer), (what, answer.text)
        is_too_large = len(body) > operation.body.max_bytes
        if is_too_large or what.startswith(("a NUL", "a raw", "a lone", "deep")):
            is_unread = is_too_large and AuthScheme.HUB in operation.admission.auth.schemes()
            # an unread body has no verified signature
            assert answer.status_code == (403 if is_unread else 400), (what, answer.text)


WRONG: list[Any] = [
    None, True, -1, 10**30, 1.5, "", "x" * 5_000, [], [[]], {}, {"": None}, ["\u202e"], "%00", "<script>",
]  # fmt: skip


@pytest.mark.both_databases
@with_body()
def test_member_of_the_wrong_type_gets_a_declared_answer(new_caller: NewCaller, operation: AnyOperation) -> None:
    """All members at once, and each alone, unless the request requires others: without them it ends after the same validation.

    What that refuses of a member alone is not sent: how a refusal is answered does not depend on the member.
    """
    caller = new_caller()
    shape = shape_of(operation.request)
    names = shape.places[From.BODY].values()
    alone = [[name] for name in names if set(shape.required_body) <= {name}]
    for value in WRONG:
        caller.renew()
        for item in (names, *alone):
            body = json.dumps(dict.fromkeys(item, value)).encode()
            kind = caller.refusal_of_form(operation, body=body)
            if kind is not None and (item is not names or caller.is_on_postgres):
                assert type(kind) in operation.every_error, body
                continue
            answer = caller.ask(operation, body=body)
            assert is_answered(operation, answer), (body, answer.text)


@pytest.mark.both_databases
@for_each_operation(
    [
        op
        for op in CATALOGUE
        if AuthScheme.HUB not in op.admission.auth.schemes() or shape_of(op.request).places[From.QUERY]
    ]
)
def test_hostile_query_gets_a_declared_answer(new_caller: NewCaller, operation: AnyOperation) -> None:
    caller = new_caller()
    names = shape_of(operation.request).places[From.QUERY].values()
    if caller.is_on_postgres and not names:
        return  # no value reaches the store
    for value in ("\x00", "\udcff", "x" * 8_000, "%", "\u202e", "' OR 1=1 --", "-1", "9" * 40):
        spelt = value.encode("utf-8", "surrogateescape").decode("latin-1")
        query = dict.fromkeys([*names, "x"], spelt)
        if caller.is_repetition(operation, query=query):
            continue
        answer = caller.renew().ask(operation, query=query)
        assert is_answered(operation, answer), (value, answer.text)
        if (
            value == "\x00" and AuthScheme.HUB not in operation.admission.auth.schemes()
        ):  # a hub call without a valid signature is not read
            assert refusal(answer) == (400, operation.error_profile.dangerous.code), answer.text


@before_the_store
@every(without=(AuthScheme.HUB,))
def test_too_many_parameters_are_refused(refused: Caller, operation: AnyOperation) -> None:
    answer = refused.ask(operation, query={f"x{number}": "1" for number in range(1_001)})
    assert answer.status_code == 400, answer.text
    assert is_declared(operation, answer)
