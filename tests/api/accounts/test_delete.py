"""Deleting an account deletes its identifiers and tokens."""

from typing import Any

import pytest

from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

ADA = [{"Type": "Primary", "Value": "ada@example.test"}]
GONE = {"IsDeleted": True, "RecordsDeleted": 1}


@pytest.fixture
def uid(acme: TenantServer) -> str:
    return str(acme.create(Email=ADA, UserName="ada", PhoneId="+442079460123")["Uid"])


def test_account_is_deleted_by_uid(acme: TenantServer, uid: str) -> None:
    assert answered(acme.send("DELETE", f"{MANAGE}/{uid}")) == GONE
    assert refused(acme.send("GET", f"{MANAGE}/{uid}")) == (403, 984)
    assert refused(acme.send("DELETE", f"{MANAGE}/{uid}")) == (403, 984)


@pytest.mark.parametrize("named", [{"email": "Ada@example.test"}, {"username": "ADA"}, {"phone": "+44 20 7946 0123"}])
def test_account_is_deleted_by_identifier(acme: TenantServer, uid: str, named: dict[str, Any]) -> None:
    assert answered(acme.send("DELETE", MANAGE, **named)) == GONE
    assert refused(acme.send("GET", f"{MANAGE}/{uid}")) == (403, 984)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ({}, (400, 1032)),
        ({"email": "x"}, (400, 1038)),
        ({"email": "absent@example.test"}, (403, 938)),
        ({"username": "absent"}, (403, 1022)),
        ({"phone": "+442079460199"}, (403, 1043)),
        ({"email": "ada@example.test", "phone": "+442079460123"}, (400, 908)),
    ],
)
def test_invalid_identifier_deletes_no_account(
    acme: TenantServer, uid: str, named: dict[str, Any], expected: tuple[int, int]
) -> None:
    assert refused(acme.send("DELETE", MANAGE, **named)) == expected
    assert acme.read(uid)["Uid"] == uid


def test_identifiers_of_deleted_account_are_free_again(acme: TenantServer, uid: str) -> None:
    acme.send("DELETE", f"{MANAGE}/{uid}")
    assert acme.create(Email=ADA, UserName="ada", PhoneId="+442079460123")["Uid"] != uid


def test_new_account_with_same_uid_inherits_no_token(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(custom_uid=True)
    acme.create(Uid="ada")
    issued = acme.tokens("ada")
    acme.send("DELETE", f"{MANAGE}/ada")
    acme.create(Uid="ada")
    assert refused(acme.send("GET", "/identity/v2/auth/account", bearer=issued["access_token"])) == (401, 1409)
    again = acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=issued["refresh_token"])
    assert refused(again) == (403, 1217)
