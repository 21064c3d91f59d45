"""Registration data lists and their choices: U10 and U11, A51 to A55."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.tenants.tenant_server import TenantServer, answered, refused

MANAGED, PUBLIC = "/identity/v2/manage/registrationdata", "/identity/v2/auth/registrationdata"
MEMBERS = {"Id", "Code", "Type", "Key", "Value", "ParentId", "ParentType", "IsActive", "DateCreated", "DateModified"}


def add(acme: TenantServer, *records: dict[str, Any]) -> Any:
    return acme.send("POST", MANAGED, {"Data": list(records)})


def choice(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "Town", "key": name.lower(), "value": name, **more}


def public_list(acme: TenantServer, kind: str = "town", **query: Any) -> list[dict[str, Any]]:
    found: Any = answered(acme.send("GET", f"{PUBLIC}/{kind}", with_secret=False, **query))
    return list(found)


@pytest.mark.both_databases
def test_public_list_omits_record_codes(acme: TenantServer) -> None:
    assert answered(add(acme, choice("Bonn", code="s3cret"), choice("Ulm"))) == {"IsPosted": True}
    bonn, _ulm = public_list(acme, "TOWN")
    assert set(bonn) == MEMBERS
    assert (bonn["Value"], bonn["Code"], bonn["IsActive"]) == ("Bonn", None, True)
    managed: Any = answered(acme.send("GET", f"{MANAGED}/town"))
    assert [item["Code"] for item in managed] == ["s3cret", None]


@pytest.mark.both_databases
def test_children_are_listed_under_their_parent(acme: TenantServer) -> None:
    add(acme, choice("Bonn"))
    (bonn,) = public_list(acme)
    add(acme, {"type": "school", "key": "a", "value": "A", "parentid": bonn["Id"]})
    (school,) = public_list(acme, "school", parentid=bonn["Id"])
    assert (school["ParentId"], school["ParentType"]) == (bonn["Id"], "town")
    assert refused(acme.send("GET", f"{PUBLIC}/school", with_secret=False, parentid="none")) == (403, 1156)


def test_page_holds_at_most_fifty_records(acme: TenantServer) -> None:
    add(acme, *(choice(f"T{number:02}") for number in range(60)))
    assert len(public_list(acme)) == 50
    assert [item["Value"] for item in public_list(acme, skip=58)] != []
    assert len(public_list(acme, limit=3)) == 3
    assert refused(acme.send("GET", f"{PUBLIC}/town", with_secret=False, limit=51)) == (400, 908)


def test_inactive_record_is_hidden_from_public_list(acme: TenantServer) -> None:
    add(acme, choice("Bonn", isactive=False))
    assert refused(acme.send("GET", f"{PUBLIC}/town", with_secret=False)) == (403, 1155)
    assert len(answered(acme.send("GET", f"{MANAGED}/town"))) == 1


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"type": "town", "key": "x"}, (403, 1151)),
        ({"type": "town", "key": " ", "value": "x"}, (403, 1151)),
        ({"type": "town", "key": "x" * 201, "value": "x"}, (403, 1151)),
        ({"type": "to/wn", "key": "x", "value": "x"}, (403, 1158)),
        ({"type": "town", "key": "x", "value": "x", "parentid": "absent"}, (403, 1154)),
    ],
)
def test_malformed_record_adds_nothing(acme: TenantServer, record: dict[str, Any], expected: tuple[int, int]) -> None:
    assert refused(add(acme, choice("Bonn"), record)) == expected
    assert refused(acme.send("GET", f"{PUBLIC}/town", with_secret=False)) == (403, 1155)


def test_record_code_is_validated(acme: TenantServer) -> None:
    add(acme, choice("Bonn", code="s3cret"), choice("Ulm"))
    bonn, ulm = (item["Id"] for item in public_list(acme))

    def check(record: str, code: str | None) -> Any:
        body = {"recordid": record, "code": code}
        return acme.send("POST", f"{PUBLIC}/validatecode", body, with_secret=False)

    assert answered(check(bonn, "s3cret")) == {"IsValid": True}
    assert refused(check(bonn, "S3cret")) == (403, 1153)
    assert refused(check(bonn, None)) == (403, 1157)
    assert refused(check(ulm, "s3cret")) == (403, 1152)
    assert refused(check("absent", "s3cret")) == (403, 1150)


@pytest.mark.both_databases
def test_record_is_changed_and_removed(acme: TenantServer) -> None:
    add(acme, choice("Bonn"))
    (bonn,) = public_list(acme)
    changed = answered(acme.send("PUT", f"{MANAGED}/{bonn['Id']}", {"Value": "Bonn am Rhein", "Code": "new"}))
    assert (changed["IsPosted"], changed["Data"]["Value"], changed["Data"]["Code"]) == (True, "Bonn am Rhein", "new")
    assert refused(acme.send("PUT", f"{MANAGED}/{bonn['Id']}", {"ParentId": bonn["Id"]})) == (403, 1154)
    assert answered(acme.send("DELETE", f"{MANAGED}/{bonn['Id']}")) == {"IsDeleted": True}
    assert refused(acme.send("DELETE", f"{MANAGED}/{bonn['Id']}")) == (403, 1150)
    assert refused(acme.send("PUT", f"{MANAGED}/{bonn['Id']}", {"Value": "x"})) == (403, 1150)


@pytest.mark.both_databases
def test_deleting_a_type_removes_its_whole_list(acme: TenantServer) -> None:
    add(acme, choice("Bonn"), choice("Ulm"))
    assert answered(acme.send("DELETE", f"{MANAGED}/type/Town")) == {"IsDeleted": True}
    assert refused(acme.send("DELETE", f"{MANAGED}/type/town")) == (403, 1155)


@pytest.mark.both_databases
def test_list_of_other_tenant_is_not_found(acme: TenantServer, globex: TenantServer) -> None:
    add(acme, choice("Bonn", code="s3cret"))
    (bonn,) = public_list(acme)
    assert refused(globex.send("GET", f"{PUBLIC}/town", with_secret=False)) == (403, 1155)
    assert refused(globex.send("DELETE", f"{MANAGED}/{bonn['Id']}")) == (403, 1150)
    assert refused(add(globex, {**choice("Ulm"), "parentid": bonn["Id"]})) == (403, 1154)
