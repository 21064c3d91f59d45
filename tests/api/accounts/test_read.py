"""Accounts are read by id, email, username and phone, inside their tenant only."""

from typing import Any
from urllib.parse import unquote

import pytest

from tests.support.tenants.tenant_server import MANAGE, TenantServer, answered, refused

IDENTITIES = f"{MANAGE}/identities"


@pytest.fixture
def uid(acme: TenantServer) -> str:
    profile = acme.create(
        Email=[{"Type": "Primary", "Value": "Ada@Example.test"}, {"Type": "Work", "Value": "ada@bücher.example"}],
        UserName="Countess",
        PhoneId="+442079460123",
        FirstName="Ada",
        Country="Germany",
        Addresses=[{"Type": "Home", "City": "London"}],
    )
    return str(profile["Uid"])


@pytest.mark.parametrize(
    "named",
    [
        {"email": "ada@example.test"},
        {"email": " ADA@EXAMPLE.TEST "},
        {"email": "ada@xn--bcher-kva.example"},
        {"username": "COUNTESS"},
        {"phone": "+44 (20) 7946-0123"},
    ],
)
def test_account_is_found_by_any_spelling_of_identifier(acme: TenantServer, uid: str, named: dict[str, Any]) -> None:
    assert answered(acme.send("GET", MANAGE, **named))["Uid"] == uid


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({}, (400, 1118)),
        ({"email": "a@b.example", "username": "x"}, (400, 908)),
        ({"email": "nonsense"}, (400, 1038)),
        ({"email": "absent@example.test"}, (403, 938)),
        ({"username": "absent"}, (403, 1022)),
        ({"username": "no body"}, (403, 1022)),
        ({"phone": "+442079460124"}, (403, 1043)),
        ({"phone": "nonsense"}, (403, 1043)),
        ({"email": "аda@example.test"}, (403, 938)),  # a Cyrillic а
    ],
)
def test_unknown_identifier_is_refused(
    acme: TenantServer, uid: str, named: dict[str, Any], expected: tuple[int, int]
) -> None:
    assert refused(acme.send("GET", MANAGE, **named)) == expected


def test_unknown_uid_is_refused(acme: TenantServer) -> None:
    assert refused(acme.send("GET", f"{MANAGE}/{'0' * 32}")) == (403, 984)


@pytest.mark.parametrize("uid", ["has%20space", "x" * 51, "a.b", "%C3%BC", "'"])
def test_malformed_uid_is_refused(acme: TenantServer, uid: str) -> None:
    spelt = unquote(uid)
    by_path = [
        acme.send("GET", f"{MANAGE}/{uid}"),
        acme.send("PUT", f"{MANAGE}/{uid}", {"FirstName": "Ada"}),
        acme.send("DELETE", f"{MANAGE}/{uid}"),
        acme.send("DELETE", f"{MANAGE}/{uid}/access_token/refresh/revoke"),
    ]
    by_query = [
        acme.send("GET", f"{MANAGE}/access_token", uid=spelt),
        acme.send("GET", "/api/v2/access_token/activesession", accountid=spelt),
    ]
    assert {refused(answer) for answer in (*by_path, *by_query)} == {(403, 1200)}


@pytest.mark.both_databases
def test_account_of_another_tenant_is_not_found(acme: TenantServer, globex: TenantServer, uid: str) -> None:
    address = f"{MANAGE}/{uid}"
    assert refused(globex.send("GET", address)) == (403, 984)
    assert refused(globex.send("PUT", address, {"FirstName": "Eve"})) == (403, 984)
    assert refused(globex.send("DELETE", address)) == (403, 984)
    assert refused(globex.send("GET", MANAGE, email="ada@example.test")) == (403, 938)
    assert refused(globex.send("GET", f"{MANAGE}/access_token", uid=uid)) == (403, 984)
    assert acme.read(uid)["FirstName"] == "Ada"


@pytest.mark.both_databases
def test_api_secret_of_another_tenant_is_refused(acme: TenantServer, globex: TenantServer, uid: str) -> None:
    answer = acme.send("GET", f"{MANAGE}/{uid}", apisecret=globex.api_secret)
    assert refused(answer) == (401, 902)


def test_identities_lists_accounts_with_one_email(acme: TenantServer, uid: str) -> None:
    body = answered(acme.send("GET", IDENTITIES, email="ada@example.test", fields="Uid"))
    assert body == {"Data": [{"Uid": uid}]}
    assert refused(acme.send("GET", IDENTITIES)) == (400, 1032)
    assert refused(acme.send("GET", IDENTITIES, email="x")) == (400, 1038)
    assert refused(acme.send("GET", IDENTITIES, email="x@example.test")) == (403, 938)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("FirstName", {"FirstName": "Ada"}),
        ("firstname,Nonsense", {"FirstName": "Ada"}),
        ("Country/Code", {"Country": {"Code": "DE"}}),
        ("Email/Type,Addresses(City,Type)", {
            "Email": [{"Type": "Primary"}, {"Type": "Work"}], "Addresses": [{"City": "London", "Type": "Home"}]
        }),
        ("Nonsense", {}),
        ("Identities/Provider", {"Identities": None}),
    ],
)  # fmt: skip
def test_fields_parameter_selects_fields(acme: TenantServer, uid: str, fields: str, expected: object) -> None:
    assert acme.read(uid, fields=fields) == expected


@pytest.mark.parametrize("fields", ["*", "", ",", "((", "*,FirstName", "(" * 5000])
def test_empty_or_malformed_fields_select_everything(acme: TenantServer, uid: str, fields: str) -> None:
    assert acme.read(uid, fields=fields) == acme.read(uid)


def test_path_ignores_case_but_uid_does_not(acme: TenantServer, uid: str) -> None:
    assert answered(acme.send("GET", f"/Identity/V2/MANAGE/Account/{uid}"))["Uid"] == uid
    assert refused(acme.send("GET", f"{MANAGE}/{uid.upper()}X")) == (403, 984)


def test_uid_with_markup_is_refused(acme: TenantServer) -> None:
    assert refused(acme.send("GET", f"{MANAGE}/<script>")) == (400, 1214)
