"""Fixed path segments are not parameters; a phone number whose + arrives as a space is accepted."""

from __future__ import annotations

import pytest
from werkzeug.test import Client, TestResponse

from app.contract.accounts.account_operations import ReadAccount
from app.contract.catalogue import CATALOGUE, load_catalogue, taken_uids
from app.kit.operations.wire import From, shape_of
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

load_catalogue()
CUSTOM_UID = {"custom_uid": True}

RESERVED_SEGMENTS = [
    ("GET", "uid/password", None),
    ("GET", "rolecontext", None),  # A45
    ("DELETE", "rolecontext", None),
    ("PUT", "identities/password", {"password": "Quartz-lantern-58"}),  # a fixed segment of another operation
]
"""Requests below the path of accounts whose last segments are reserved."""


@on_one_database
@pytest.mark.parametrize(("method", "below", "body"), RESERVED_SEGMENTS)
def test_reserved_segment_is_not_found_as_account_id(
    new_tenant_server: NewTenantServer, method: str, below: str, body: dict[str, str] | None
) -> None:
    tenant = new_tenant_server()
    answer = tenant.send(method, f"{MANAGE}/{below}", body, uid=tenant.create()["Uid"])
    assert answer.status_code == 404, answer.text
    assert "ErrorCode" not in answer.get_json()


@on_one_database
@pytest.mark.parametrize("word", ["uid", "Identities", "rolecontext", "passkey", "access_token", "2fa"])
def test_custom_uid_equal_to_reserved_segment_is_refused(new_tenant_server: NewTenantServer, word: str) -> None:
    tenant = new_tenant_server(**CUSTOM_UID)
    assert refused(tenant.send("POST", MANAGE, {"Uid": word, "UserName": "ada", "Password": "Zebra-kettle-91"})) == (
        403,
        1200,
    )
    assert answered(tenant.send("POST", MANAGE, {"Uid": f"{word}s", "UserName": "ada", "Password": "Zebra-kettle-91"}))


def test_fixed_segments_are_no_account_ids() -> None:
    assert {"uid", "rolecontext", "identities", "forgot"} <= taken_uids()


# A phone number in a query string whose + is not percent-encoded.

PHONE = "+4915112345678"
ENCODED_PHONES = ["%2B4915112345678", "+4915112345678", "%204915112345678", "+49%20151%2012345678", "++4915112345678"]


def get_by_phone(tenant: TenantServer, path: str, encoded: str) -> TestResponse:
    query = f"apikey={tenant.api_key}&apisecret={tenant.api_secret}&phone={encoded}"
    return Client(tenant.app).get(f"{path}?{query}", base_url=f"http://{tenant.services.settings.api_hostname}")


@on_one_database
@pytest.mark.parametrize("encoded", ENCODED_PHONES)
def test_plus_decoded_as_space_is_accepted(new_tenant_server: NewTenantServer, encoded: str) -> None:
    tenant = new_tenant_server(phone_login=True)
    uid = tenant.create(PhoneId=PHONE, PhoneIdVerified=True)["Uid"]
    assert answered(get_by_phone(tenant, "/identity/v2/auth/phone", encoded)) == {"IsExist": True}
    assert answered(get_by_phone(tenant, MANAGE, encoded))["Uid"] == uid


@on_one_database
@pytest.mark.parametrize("encoded", ["4915112345678", "+0151%2012345678", "%20", "%20x4915112345678"])
def test_plus_is_not_added_to_other_values(new_tenant_server: NewTenantServer, encoded: str) -> None:
    tenant = new_tenant_server(phone_login=True)
    tenant.create(PhoneId=PHONE, PhoneIdVerified=True)
    assert refused(get_by_phone(tenant, "/identity/v2/auth/phone", encoded))[1] == 1096


def test_every_phone_query_parameter_restores_plus() -> None:
    parameters = [
        (operation, name)
        for operation in CATALOGUE
        for name, wire in shape_of(operation.request).places[From.QUERY].items()
        if wire == "phone"
    ]
    assert len(parameters) > 8
    for operation, name in parameters:
        read = operation.request.model_construct()
        type(read).__pydantic_validator__.validate_assignment(read, name, " 4915112345678")
        assert getattr(read, name) == PHONE, operation.name


def test_other_query_parameters_keep_leading_spaces() -> None:
    read = ReadAccount.model_validate({"username": " 4915112345678", "phone": None})
    assert (read.username, read.phone) == (" 4915112345678", None)
