"""Addresses: fixed path segments are not parameters, and phone numbers whose + arrives as a space are accepted."""

from __future__ import annotations

import pytest
from werkzeug.test import Client, TestResponse

from app.contract.accounts import ReadAccount
from app.contract.auth import Host
from app.contract.operations import CATALOGUE, RESERVED_PATHS, load_catalogue, taken_uids
from app.kit.routing import Router
from app.kit.wire import From, shape_of
from tests.support.identity_service import on_one_database
from tests.support.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

load_catalogue()
WISHED = {"custom_uid": True}

NOTHING_THERE = [
    ("PUT", "uid", {"NewUid": "other"}),  # row A13
    ("GET", "uid", None),
    ("DELETE", "uid", None),
    ("PUT", "UID", {"NewUid": "other"}),
    ("GET", "uid/password", None),
    ("GET", "rolecontext", None),  # row A45
    ("GET", "rolecontext/shop", None),
    ("DELETE", "rolecontext", None),
    ("PUT", "identities/password", {"password": "Quartz-lantern-58"}),  # a segment of another operation is no id either
]
"""Below the address of accounts, with an account that an id in the same place would name."""


@on_one_database
@pytest.mark.parametrize(("method", "below", "body"), NOTHING_THERE)
def test_a_reserved_segment_is_no_account(
    new_tenant_server: NewTenantServer, method: str, below: str, body: dict[str, str] | None
) -> None:
    tenant = new_tenant_server()
    answer = tenant.send(method, f"{MANAGE}/{below}", body, uid=tenant.create()["Uid"])
    assert answer.status_code == 404, answer.text
    assert "ErrorCode" not in answer.get_json()


@on_one_database
@pytest.mark.parametrize("word", ["uid", "Identities", "rolecontext", "passkey", "access_token", "2fa"])
def test_no_account_is_called_as_a_segment_is(new_tenant_server: NewTenantServer, word: str) -> None:
    tenant = new_tenant_server(**WISHED)
    assert refused(tenant.send("POST", MANAGE, {"Uid": word, "UserName": "ada", "Password": "Zebra-kettle-91"})) == (
        403,
        1200,
    )
    assert answered(tenant.send("POST", MANAGE, {"Uid": f"{word}s", "UserName": "ada", "Password": "Zebra-kettle-91"}))


def test_a_reserved_path_is_given_up_once_its_operation_is_there() -> None:
    router = Router(CATALOGUE.on(Host.API))
    owned = {path.lower() for one in CATALOGUE for _, path in one.addresses()}
    for path in RESERVED_PATHS:
        assert not any(other == path or other.startswith(f"{path}/") for other in owned), path
        assert router.find(path) is not None, f"{path}: nothing would take it"
    assert {"uid", "rolecontext", "identities", "forgot"} <= taken_uids()


# A number in a query string, its + not escaped.

PHONE = "+4915112345678"
SPELT = ["%2B4915112345678", "+4915112345678", "%204915112345678", "+49%20151%2012345678", "++4915112345678"]


def asked(tenant: TenantServer, path: str, spelt: str) -> TestResponse:
    query = f"apikey={tenant.api_key}&apisecret={tenant.api_secret}&phone={spelt}"
    return Client(tenant.app).get(f"{path}?{query}", base_url=f"http://{tenant.services.settings.api_hostname}")


@on_one_database
@pytest.mark.parametrize("spelt", SPELT)
def test_a_plus_that_arrives_as_a_blank_is_understood(new_tenant_server: NewTenantServer, spelt: str) -> None:
    tenant = new_tenant_server(phone_login=True)
    uid = tenant.create(PhoneId=PHONE, PhoneIdVerified=True)["Uid"]
    assert answered(asked(tenant, "/identity/v2/auth/phone", spelt)) == {"IsExist": True}
    assert answered(asked(tenant, MANAGE, spelt))["Uid"] == uid


@on_one_database
@pytest.mark.parametrize("spelt", ["4915112345678", "+0151%2012345678", "%20", "%20x4915112345678"])
def test_no_plus_is_made_up(new_tenant_server: NewTenantServer, spelt: str) -> None:
    tenant = new_tenant_server(phone_login=True)
    tenant.create(PhoneId=PHONE, PhoneIdVerified=True)
    assert refused(asked(tenant, "/identity/v2/auth/phone", spelt))[1] == 1096


def test_every_number_in_a_query_is_read_so() -> None:
    taken = [
        (operation, name)
        for operation in CATALOGUE
        for name, wire in shape_of(operation.request).places[From.QUERY].items()
        if wire == "phone"
    ]
    assert len(taken) > 8
    for operation, name in taken:
        read = operation.request.model_construct()
        type(read).__pydantic_validator__.validate_assignment(read, name, " 4915112345678")
        assert getattr(read, name) == PHONE, operation.name


def test_other_parameters_keep_their_blanks() -> None:
    read = ReadAccount.model_validate({"username": " 4915112345678", "phone": None})
    assert (read.username, read.phone) == (" 4915112345678", None)
