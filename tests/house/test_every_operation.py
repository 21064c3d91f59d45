"""What the statement of an operation promises, asked of every operation of the interface."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client, TestResponse

from app.contract.stating import CATALOGUE
from app.contract.visit import Visit
from app.identity import areas
from app.kit.operation import Accept, AnyOperation, Host, Letter
from app.kit.reading import MOST_BODY_BYTES
from app.kit.signing import SIGNATURE_HEADER, VISIT_HEADER, signature
from app.kit.wire import From, shape_of
from tests.support.machines import machine
from tests.support.tenant_server import TenantServer

assert areas.AREAS  # importing the areas states every operation
WRITES = ("POST", "PUT", "DELETE", "PATCH")
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH")


def every(*letters: Letter, without: tuple[Letter, ...] = ()) -> pytest.MarkDecorator:
    """Ask of each operation whose callers need these letters."""
    held = [
        operation
        for operation in CATALOGUE
        if set(letters) <= operation.auth.letters() and not set(without) & operation.auth.letters()
    ]
    return asked_of(held)


def asked_of(operations: list[AnyOperation]) -> pytest.MarkDecorator:
    assert operations
    return pytest.mark.parametrize("operation", operations, ids=lambda operation: operation.name)


def may_be_anybody(operation: AnyOperation) -> bool:
    """Return whether the tenant's key is enough, or the operation is a client's."""
    return frozenset({Letter.K}) in operation.auth.ways or Letter.C in operation.auth.letters()


def with_body() -> pytest.MarkDecorator:
    """Ask of each operation that reads a body."""
    return asked_of([one for one in CATALOGUE if one.method in WRITES and shape_of(one.request).has_body])


class Caller:
    """Calls operations of one tenant with everything that they ask for, unless told otherwise."""

    def __init__(self, tenant: TenantServer, app: Flask) -> None:
        self.tenant = tenant
        self.client = Client(app)
        self.uid = tenant.create()["Uid"]
        self.bearer = ""
        self.machine = machine(tenant, "all")
        self.renew()

    def renew(self) -> Caller:
        """Take another access token: the operation before may have ended this one."""
        self.bearer = self.tenant.tokens(self.uid)["access_token"]
        return self

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
        method = method or operation.method
        path = path or self.path_of(operation)
        sent = body if body is not None else self.body_of(operation)
        asked = {
            name: value for name, value in {**self.query_of(operation), **(query or {})}.items() if value is not None
        }
        letters = operation.auth.letters()
        known: dict[str, str | None] = {"Content-Type": kind if sent else None}
        if Letter.U in letters:
            known["Authorization"] = f"Bearer {self.bearer}"
        elif letters == {Letter.M}:
            known["Authorization"] = f"Bearer {self.machine}"
        if Letter.H in letters and is_signed:
            known.update(self.signed(method, path, sent))
            asked = {}
        held = {name: value for name, value in {**known, **(headers or {})}.items() if value is not None}
        base = f"http://{host or self.host_of(operation)}"
        return self.client.open(path, method=method, query_string=asked, base_url=base, headers=held, data=sent)

    def signed(self, method: str, path: str, body: bytes) -> dict[str, str | None]:
        house = self.tenant.house
        visit = Visit(host=f"{self.tenant.name}.{house.settings.hub_domain}").to_header()
        at = int(house.clock.now().timestamp())
        return {
            VISIT_HEADER: visit,
            SIGNATURE_HEADER: signature(house.hub_key, method, path, body, visit, at),
        }

    def host_of(self, operation: AnyOperation) -> str:
        settings = self.tenant.house.settings
        return settings.api_hostname if operation.on is Host.API else f"{self.tenant.name}.{settings.hub_domain}"

    def query_of(self, operation: AnyOperation) -> dict[str, str | None]:
        letters = operation.auth.letters()
        return {
            "apikey": self.tenant.api_key if Letter.K in letters else None,
            "apisecret": self.tenant.api_secret if Letter.S in letters else None,
            **dict.fromkeys(operation.when, "1"),
        }

    @staticmethod
    def path_of(operation: AnyOperation, path: str = "") -> str:
        return re.sub(r"\{\w+\}", "something", path or operation.path)

    @staticmethod
    def body_of(operation: AnyOperation) -> bytes:
        if operation.method not in WRITES or not shape_of(operation.request).has_body:
            return b""
        return json.dumps(dict.fromkeys(shape_of(operation.request).required_body, "x")).encode()


@pytest.fixture
def caller(acme: TenantServer, identity_app: Flask) -> Caller:
    return Caller(acme, identity_app)


def refusal(answer: TestResponse) -> tuple[int, Any]:
    """Return status and code, in whichever of the interface's three spellings."""
    body = answer.get_json()
    return answer.status_code, body.get("ErrorCode", body.get("errorCode", body.get("error")))


def is_declared(operation: AnyOperation, answer: TestResponse) -> bool:
    return refusal(answer) in {(kind.status, kind.code) for kind in operation.every_error}


# Who calls.


@every(Letter.K, without=(Letter.H,))
def test_a_missing_key_is_refused_by_name(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, query={"apikey": None})
    assert refusal(answer)[0] == 400
    assert refusal(answer)[1] in (908, "invalid_request")
    assert "apikey" in answer.text
    assert is_declared(operation, answer)


@every(Letter.K)
@pytest.mark.parametrize("key", ["00000000-0000-0000-0000-000000000000", "not a key", "é\u2028"])
def test_a_wrong_key_is_refused(caller: Caller, operation: AnyOperation, key: str) -> None:
    answer = caller.ask(operation, query={"apikey": key})
    assert refusal(answer) in ((403, 901), (400, 920))
    assert is_declared(operation, answer)


@every(Letter.S)
def test_a_missing_secret_is_refused(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, query={"apisecret": None})
    assert refusal(answer) == (400, 923)
    assert is_declared(operation, answer)


@every(Letter.S)
@pytest.mark.parametrize("secret", ["00000000-0000-0000-0000-000000000000", "x", "é"])
def test_a_wrong_secret_is_refused(caller: Caller, operation: AnyOperation, secret: str) -> None:
    answer = caller.ask(operation, query={"apisecret": secret})
    assert refusal(answer) == (401, 902)
    assert is_declared(operation, answer)


@every(Letter.K, Letter.S)
def test_the_secret_of_another_tenant_opens_nothing(
    caller: Caller, globex: TenantServer, operation: AnyOperation
) -> None:
    assert refusal(caller.ask(operation, query={"apisecret": globex.api_secret})) == (401, 902)


@asked_of([one for one in CATALOGUE if Letter.U in one.auth.letters() and not may_be_anybody(one)])
@pytest.mark.parametrize("shown", [None, "Bearer ", "Basic eDp5"])
def test_a_person_must_show_a_token(caller: Caller, operation: AnyOperation, shown: str | None) -> None:
    answer = caller.ask(operation, headers={"Authorization": shown})
    assert is_declared(operation, answer)
    if operation.on is Host.TENANT:
        assert refusal(answer) == (401, "invalid_token")
        return
    assert refusal(answer) == (401, 1409)
    assert set(answer.get_json()) == {"errorCode", "message", "description"}


@every(Letter.U)
def test_an_unknown_token_is_refused(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, headers={"Authorization": "Bearer 00000000-0000-0000-0000-000000000000"})
    assert answer.status_code in (400, 401, 403)
    assert is_declared(operation, answer)


@every(Letter.C)
def test_an_unknown_client_is_refused(caller: Caller, operation: AnyOperation) -> None:
    shown = base64.b64encode(b"nobody:nothing").decode()
    answer = caller.ask(operation, headers={"Authorization": f"Basic {shown}"})
    assert answer.status_code in (400, 401)
    assert is_declared(operation, answer)


@every(Letter.M)
@pytest.mark.parametrize("token", ["", "x", "a.b.c", "a.e30.c"])
def test_a_token_that_is_no_machine_s_opens_nothing(caller: Caller, operation: AnyOperation, token: str) -> None:
    shown = {"Authorization": f"Bearer {token}"}
    answer = caller.ask(operation, query={"apikey": None, "apisecret": None}, headers=shown)
    wanted = (400, 908) if not token and Letter.K in operation.auth.letters() else (403, 6002)
    assert refusal(answer) == wanted
    assert is_declared(operation, answer)


@every(Letter.H)
def test_only_the_hub_is_admitted(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, is_signed=False)
    assert refusal(answer) == (403, 909)
    assert is_declared(operation, answer)


@every(Letter.H)
def test_a_signature_holds_for_one_body_and_one_address(caller: Caller, operation: AnyOperation) -> None:
    signed = caller.signed(operation.method, caller.path_of(operation), b"{}")
    assert refusal(caller.ask(operation, body=b'{"Attempt":"x"}', headers=signed)) == (403, 909)
    elsewhere = caller.signed(operation.method, "/hub/elsewhere", caller.body_of(operation))
    assert refusal(caller.ask(operation, headers=elsewhere)) == (403, 909)


@asked_of([one for one in CATALOGUE if one.on is Host.TENANT])
@pytest.mark.parametrize("host", ["nobody.{domain}", "{domain}", "a.b.{domain}", "elsewhere.example"])
def test_a_host_without_a_tenant_serves_nothing(caller: Caller, operation: AnyOperation, host: str) -> None:
    answer = caller.ask(operation, host=host.format(domain=caller.tenant.house.settings.hub_domain))
    assert refusal(answer) == (403, 942)
    assert is_declared(operation, answer)
    assert caller.tenant.name not in answer.text


# How a request is spelt.


@with_body()
@pytest.mark.parametrize("body", [b"{", b"[]", b'"x"', b"null", b"1", b'{"a":NaN}', b"\xff\xfe", b"{}{}"])
def test_a_body_that_is_not_one_json_object_is_refused(caller: Caller, operation: AnyOperation, body: bytes) -> None:
    answer = caller.ask(operation, body=body)
    is_json = body in (b"[]", b'"x"', b"null", b"1")
    wanted = (operation.no_object if is_json else None) or operation.family.body_error(operation.method)
    assert refusal(answer) == (wanted.status, wanted.code)


@with_body()
@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "", "multipart/form-data; boundary=x"])
def test_another_content_type_is_refused(caller: Caller, operation: AnyOperation, kind: str) -> None:
    answer = caller.ask(operation, body=b'{"a":1}', kind=kind)
    wanted = operation.family.bad_content_type
    assert refusal(answer) == (wanted.status, wanted.code)
    if operation.family.name == "main":
        assert refusal(answer) == (400, 1083)


@asked_of(
    [one for one in CATALOGUE if one.method in WRITES and shape_of(one.request).has_body and one.accepts is Accept.JSON]
)
def test_a_form_is_refused_where_json_alone_is_read(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, body=b"a=1", kind="application/x-www-form-urlencoded")
    assert refusal(answer) == (400, 1083)


@every()
def test_fixed_segments_and_query_names_are_read_in_any_letter_case(caller: Caller, operation: AnyOperation) -> None:
    path = "/".join(part if part.startswith("{") else part.swapcase() for part in operation.path.split("/"))
    query = caller.query_of(operation)
    other = {**dict.fromkeys(query), **{name.upper(): value for name, value in query.items()}}
    plain = caller.ask(operation)
    folded = caller.renew().ask(operation, path=caller.path_of(operation, path), query=other)
    assert folded.status_code == plain.status_code
    if plain.status_code != 200:
        assert refusal(folded) == refusal(plain)


@every()
def test_every_address_of_an_operation_leads_to_it(caller: Caller, operation: AnyOperation) -> None:
    plain = caller.ask(operation)
    for method, path in operation.addresses():
        answer = caller.renew().ask(operation, method=method, path=caller.path_of(operation, path))
        if "{app}" in path:  # no application is called so
            assert answer.status_code in (400, 401, 403, 404)
            assert is_declared(operation, answer)
        else:
            assert answer.status_code == plain.status_code, path


@every()
def test_another_method_is_refused_with_those_that_are_served(caller: Caller, operation: AnyOperation) -> None:
    router = [one for one in CATALOGUE if one.on is operation.on]
    served = {one.method for one in router if Caller.path_of(one) == Caller.path_of(operation)}
    served |= {method for method, path in operation.addresses() if path == operation.path}
    other = next(method for method in reversed(METHODS) if method not in served)
    answer = caller.ask(operation, method=other)
    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == served


# What every answer is.


@every()
def test_no_answer_is_kept_or_sniffed(caller: Caller, operation: AnyOperation) -> None:
    for answer in (caller.ask(operation), caller.ask(operation, query={"apikey": "wrong"}, is_signed=False)):
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Type"].startswith("application/")
        if answer.status_code != 200 or not operation.name.startswith("oauth_metadata."):  # key sets may be kept
            assert answer.headers["Cache-Control"] == "no-store"


@every()
def test_whatever_is_asked_the_refusal_is_declared(caller: Caller, operation: AnyOperation) -> None:
    answers = [
        caller.ask(operation),
        caller.ask(operation, query={"apikey": None, "apisecret": None}),
        caller.ask(operation, headers={"Authorization": None}, is_signed=False),
        caller.ask(operation, query={"x": "\x00"}),
        caller.ask(operation, query=dict.fromkeys(shape_of(operation.request).places[From.QUERY].values(), "1")),
    ]
    for answer in answers:
        assert answer.status_code == 200 or is_declared(operation, answer), answer.text


# Whatever is sent, it is answered.

HOSTILE = {
    "a NUL": b'{"Password":"a\\u0000b","password":"a\\u0000b","UserName":"a\\u0000"}',
    "a raw NUL": b'{"Password":"a\x00b"}',
    "a lone surrogate": b'{"Password":"\\ud800","password":"\\ud800","Identifier":"\\udfff"}',
    "half a pair in a name": b'{"\\ud83d":1}',
    "deep lists": b'{"a":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "two megabytes": b'{"Password":"' + b"x" * 2_000_000 + b'"}',
    "a huge number": b'{"password":1e999,"Password":' + b"9" * 5_000 + b"}",
    "one name twice": b'{"password":1,"password":2,"PASSWORD":3}',
}


@with_body()
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_body_is_refused_in_the_interface_s_words(caller: Caller, operation: AnyOperation, what: str) -> None:
    answer = caller.ask(operation, body=HOSTILE[what])
    assert answer.status_code < 500, answer.text
    assert answer.status_code == 200 or is_declared(operation, answer), answer.text
    if len(HOSTILE[what]) > MOST_BODY_BYTES or what.startswith(("a NUL", "a raw", "a lone", "deep")):
        is_unread = len(HOSTILE[what]) > MOST_BODY_BYTES and Letter.H in operation.auth.letters()
        assert answer.status_code == (403 if is_unread else 400), answer.text  # what was not read is not signed


WRONG: list[Any] = [
    None, True, -1, 10**30, 1.5, "", "x" * 5_000, [], [[]], {}, {"": None}, ["\u202e"], "%00", "<script>",
]  # fmt: skip


@with_body()
@pytest.mark.parametrize("value", WRONG, ids=lambda value: json.dumps(value)[:20])
def test_a_member_of_the_wrong_type_is_refused_not_broken(caller: Caller, operation: AnyOperation, value: Any) -> None:
    names = shape_of(operation.request).places[From.BODY].values()
    for held in (names, *([name] for name in names)):
        answer = caller.ask(operation, body=json.dumps(dict.fromkeys(held, value)).encode())
        assert answer.status_code < 500, answer.text
        assert answer.status_code == 200 or is_declared(operation, answer), answer.text


@every()
@pytest.mark.parametrize("value", ["\x00", "\udcff", "x" * 8_000, "%", "\u202e", "' OR 1=1 --", "-1", "9" * 40])
def test_a_hostile_address_is_refused_not_broken(caller: Caller, operation: AnyOperation, value: str) -> None:
    names = shape_of(operation.request).places[From.QUERY].values()
    spelt = value.encode("utf-8", "surrogateescape").decode("latin-1")
    answer = caller.ask(operation, query=dict.fromkeys([*names, "x"], spelt))
    assert answer.status_code < 500, answer.text
    assert answer.status_code == 200 or is_declared(operation, answer), answer.text


@every(without=(Letter.H,))
def test_too_many_parameters_are_refused_not_broken(caller: Caller, operation: AnyOperation) -> None:
    answer = caller.ask(operation, query={f"x{number}": "1" for number in range(1_500)})
    assert answer.status_code == 400, answer.text
    assert is_declared(operation, answer)
