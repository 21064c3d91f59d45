"""A tenant's program configures custom objects; the records of accounts obey them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.oauth.relying_party import moved
from tests.support.operations.resources import manager, named
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused

AT = "/v2/manage/custom-objects"
SCHEMA = {"type": "object", "properties": {"Plate": {"type": "string"}}, "required": ["Plate"]}
Ask = Callable[..., Any]


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    token = machine(tenant, *(f"customobject:{verb}" for verb in ("read", "create", "update", "delete")))
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


def records(tenant: TenantServer, uid: str, name: str, method: str = "GET", body: Any = None, record: str = "") -> Any:
    path = f"{MANAGE}/{uid}/customobject{f'/{record}' if record else ''}"
    return tenant.send(method, path, body, objectname=name)


@pytest.mark.both_databases
def test_created_object_takes_records_at_once(tenant: TenantServer, send: Ask) -> None:
    uid = tenant.create()["Uid"]
    assert refused(records(tenant, uid, "cars", "POST", {"Plate": "A"})) == (403, 999)
    made = answered(send("POST", AT, {"Name": "cars", "MaxRecordsPerAccount": 1}))
    assert made["Id"]
    assert made["CreatedDate"] == made["ModifiedDate"]
    assert made == {
        "Name": "cars", "Id": made["Id"], "Schema": None, "MaxRecordsPerAccount": 1, "MaxRecordBytes": 100_000,
        "CreatedDate": made["CreatedDate"], "ModifiedDate": made["ModifiedDate"],
    }  # fmt: skip
    answered(records(tenant, uid, "cars", "POST", {"Plate": "A"}))
    by_id = tenant.send("GET", f"{MANAGE}/{uid}/customobject", customobjectid=made["Id"])
    assert answered(by_id)["Count"] == 1
    assert refused(records(tenant, uid, "cars", "POST", {"Plate": "B"})) == (403, 1002)


def test_change_replaces_and_keeps_id_and_date(tenant: TenantServer, send: Ask) -> None:
    made = answered(send("POST", AT, {"Name": "cars", "Id": "c-1", "MaxRecordsPerAccount": 1, "Schema": SCHEMA}))
    with moved(tenant.services, hours=1):
        token = machine(tenant, "customobject:update")
        assert refused(ask(tenant, token, "PUT", f"{AT}/cars", {"MaxRecordBytes": 200, "Id": "other"})) == (400, 7900)
        changed = answered(ask(tenant, token, "PUT", f"{AT}/cars", {"MaxRecordBytes": 200, "Id": "c-1"}))
    assert (changed["Id"], changed["CreatedDate"]) == ("c-1", made["CreatedDate"])
    assert changed["ModifiedDate"] > made["ModifiedDate"]
    assert (changed["Schema"], changed["MaxRecordsPerAccount"], changed["MaxRecordBytes"]) == (None, 50, 200)


@pytest.mark.both_databases
def test_record_that_breaks_the_schema_is_refused(tenant: TenantServer, send: Ask) -> None:
    uid = tenant.create()["Uid"]
    answered(send("POST", AT, {"Name": "cars", "Schema": SCHEMA}))
    assert answered(send("GET", f"{AT}/cars"))["Schema"] == SCHEMA
    answer = records(tenant, uid, "cars", "POST", {"plate": "A"})
    assert refused(answer) == (400, 1035)
    assert "/ breaks required" in answer.get_json()["Description"]
    stored = answered(records(tenant, uid, "cars", "POST", {"Plate": "A"}))
    for mode, body in (("replace", {}), ("partialreplace", {"Plate": 1})):
        path = f"{MANAGE}/{uid}/customobject/{stored['Id']}"
        assert refused(tenant.send("PUT", path, body, objectname="cars", updatetype=mode)) == (400, 1035), mode
    assert answered(records(tenant, uid, "cars", record=stored["Id"]))["CustomObject"] == {"Plate": "A"}


def test_deleted_object_hides_its_records_until_it_is_back(tenant: TenantServer, send: Ask) -> None:
    uid = tenant.create()["Uid"]
    answered(send("POST", AT, {"Name": "cars", "Id": "c-1"}))
    answered(records(tenant, uid, "cars", "POST", {"Plate": "A"}))
    assert answered(send("DELETE", f"{AT}/cars")) == {"IsDeleted": True}
    assert refused(records(tenant, uid, "cars")) == (403, 999)
    answered(send("POST", AT, {"Name": "cars", "Id": "c-1"}))
    assert answered(records(tenant, uid, "cars"))["Count"] == 1
    answered(tenant.send("DELETE", f"{MANAGE}/{uid}"))
    uid = tenant.create()["Uid"]
    assert refused(records(tenant, uid, "cars")) == (403, 1057)


@pytest.mark.parametrize(
    "body",
    [
        {"Name": "-cars"}, {"Name": "a" * 101}, {"Name": ""}, {"Name": "cars", "Id": "a b"}, {"Name": "cars", "Id": "taken"},
        {"Name": "cars", "MaxRecordsPerAccount": 0}, {"Name": "cars", "MaxRecordsPerAccount": 1001},
        {"Name": "cars", "MaxRecordBytes": 1_000_001}, {"Name": "cars", "Schema": {"pattern": "(?=a)b"}},
        {"Name": "cars", "Schema": {"$ref": "https://evil.example"}}, {"Name": "cars", "Schema": {"description": "x" * 20_001}},
        {"MaxRecordsPerAccount": 5},
    ],
)  # fmt: skip
def test_malformed_object_is_refused(send: Ask, body: dict[str, Any]) -> None:
    answered(send("POST", AT, {"Name": "first", "Id": "taken"}))
    assert refused(send("POST", AT, body)) == (400, 7900)
    assert [item["Name"] for item in answered(send("GET", AT))["Data"]] == ["first"]


def test_object_needs_its_scope(tenant: TenantServer, send: Ask) -> None:
    answered(send("POST", AT, {"Name": "cars"}))
    read = machine(tenant, "customobject:read")
    assert len(answered(ask(tenant, read, "GET", AT))["Data"]) == 1
    for method, path in (("POST", AT), ("PUT", f"{AT}/cars"), ("DELETE", f"{AT}/cars")):
        assert refused(ask(tenant, read, method, path, {"Name": "other"})) == (403, 6002), method
    assert refused(ask(tenant, machine(tenant, "profile:read"), "GET", AT)) == (403, 6002)


def test_file_and_api_see_the_same_objects(new_tenant_server: NewTenantServer) -> None:
    manage = manager(new_tenant_server, named("custom_object_types"))
    objects = "custom_objects: [{name: pets, record_schema: {type: object}}]"
    manage.apply(f"tenants:\n  - name: {manage.tenant.name}\n    settings: {{{objects}}}\n")
    (shown,) = manage.listed()
    assert (shown["Name"], shown["Id"], shown["Schema"], shown["CreatedDate"]) == (
        "pets",
        None,
        {"type": "object"},
        None,
    )
    made = answered(manage.create())
    exported = manage.export()
    assert f"id: {made['Id']}" in exported
    manage.apply(exported)
    assert [item["Name"] for item in manage.listed()] == ["pets", made["Name"]]
