"""Every refusal and response of custom objects by token, operations U78 to U82, and by id: A31 to A35."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.operation_cases.cases import AccountHolder, Act, Answer, Ask, Refusal, account_holder, refusals, send
from tests.support.operation_cases.expected_operations import ROWS
from tests.support.operation_cases.shapes import DELETED, ListOf
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.operations.hostile_values import HOSTILE
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient

CARS = {"custom_objects": [{"name": "cars", "id": "5f3c1a", "max_records_per_account": 3}, {"name": "pets"}]}
CAR: dict[str, Any] = {"Plate": "B-AD 1", "Doors": 5, "Owners": [{"name": "Ada", "Since": 1843.5}], "Sold": None}
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def add(content: Any = CAR, **query: Any) -> Act:
    return lambda who: who.own("U78", content, **{"objectname": "cars", **query})


def added(who: AccountHolder, content: Any = CAR, **query: Any) -> dict[str, Any]:
    return answered(add(content, **query)(who))


def of_record(row: str, record_id: str = "", body: Any = None, **query: Any) -> Act:
    """Call an operation for a record; create one where no id is given."""

    def done(who: AccountHolder) -> TestResponse:
        at = {"objectrecordid": record_id or str(added(who)["Id"])}
        return who.own(row, body, at=at, **{"objectname": "cars", **query})

    return done


def by_id(row: str, body: Any = None, uid: str = "", **query: Any) -> Act:
    """Call a management operation, for a record id that does not exist."""

    def done(who: AccountHolder) -> TestResponse:
        at = {"uid": uid or who.uid, "objectrecordid": UNKNOWN_ID}
        return who.managed(row, body, at=at, **{"objectname": "cars", **query})

    return done


def full(who: AccountHolder) -> TestResponse:
    for _ in range(3):
        added(who)
    return add()(who)


def once_full(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        full(who)
        return act(who)

    return done


WRONG_ID: dict[str, Any] = {"objectname": None, "customobjectid": "none"}
REFUSALS: list[Refusal] = [
    *refusals(
        "U78",
        (999, add()),
        (1002, full, CARS),
        (1035, add([CAR]), CARS),
        (1036, add(objectname=None), CARS),
        (1064, add(objectname="Cars"), CARS),
    ),
    *refusals(
        "U79",
        (1057, lambda who: who.own("U79", objectname="cars"), CARS),
        (1064, lambda who: who.own("U79", objectname="boats"), CARS),
    ),
    *refusals(
        "U80",
        (995, of_record("U80", "mine"), CARS),
        (1001, of_record("U80", UNKNOWN_ID, **WRONG_ID), CARS),
        (1057, of_record("U80", UNKNOWN_ID), CARS),
    ),
    *refusals(
        "U81",
        (1001, of_record("U81", "mine", CAR), CARS),
        (1035, of_record("U81", UNKNOWN_ID, "text"), CARS),
        (1057, of_record("U81", objectname="pets", body=CAR), CARS),
    ),
    *refusals(
        "U82", (1001, of_record("U82", UNKNOWN_ID, **WRONG_ID), CARS), (1057, of_record("U82", UNKNOWN_ID), CARS)
    ),
    *refusals(
        "A31",
        (984, by_id("A31", CAR, uid="0" * 32), CARS),
        (999, by_id("A31", CAR)),
        (1002, once_full(by_id("A31", CAR)), CARS),
        (1035, by_id("A31", "text"), CARS),
        (1036, by_id("A31", CAR, objectname=None), CARS),
        (1064, by_id("A31", CAR, objectname="boats"), CARS),
    ),
    *refusals("A32", (1057, by_id("A32"), CARS), (1064, by_id("A32", objectname="boats"), CARS)),
    *refusals("A33", (1001, by_id("A33", **WRONG_ID), CARS), (1057, by_id("A33"), CARS)),
    *refusals(
        "A34",
        (1001, by_id("A34", CAR, **WRONG_ID), CARS),
        (1035, by_id("A34", []), CARS),
        (1057, by_id("A34", CAR), CARS),
    ),
    *refusals(
        "A35",
        (902, by_id("A35", apisecret=UNKNOWN_ID), CARS),
        (1001, by_id("A35", **WRONG_ID), CARS),
        (1057, by_id("A35"), CARS),
    ),
]
_SIGNED = "every operation with the secret accepts a signature: tests/catalogue and tests/unit check them all"
NOT_HERE: dict[tuple[str, int], str] = {("A35", 1208): _SIGNED, ("A35", 1212): _SIGNED}
RECORD = {
    "Id": str, "Uid": str, "IsActive": True, "IsDeleted": False, "DateCreated": str, "DateModified": str, "CustomObject": CAR,
}  # fmt: skip


def with_record(who: AccountHolder, body: Any = None, **query: Any) -> Ask:
    return Ask(body, {"customobjectid": "5f3c1a", **query}, {"objectrecordid": added(who)["Id"]})


def listed(who: AccountHolder) -> Ask:
    added(who)
    return Ask(query={"objectname": "cars"})


ANSWERS: list[Answer] = [
    Answer("U78", lambda _: Ask(CAR, {"objectname": "cars", "customobjectid": "5f3c1a"}), RECORD, CARS,
           events=("CreateCustomObject",)),
    Answer("U79", listed, {"data": ListOf(RECORD), "Count": 1}, CARS),
    Answer("U80", with_record, RECORD, CARS),
    Answer("U81", lambda who: with_record(who, CAR, updatetype="replace"), RECORD, CARS, events=("UpdateCustomObject",)),
    Answer("U82", with_record, DELETED, CARS, events=("DeleteCustomObject",)),
    Answer("A31", lambda _: Ask(CAR, {"objectname": "cars"}), RECORD, CARS, events=("CreateCustomObject",)),
    Answer("A32", listed, {"data": ListOf(RECORD), "Count": 1}, CARS),
    Answer("A33", with_record, RECORD, CARS),
    Answer("A34", lambda who: with_record(who, CAR), RECORD, CARS, events=("UpdateCustomObject",)),
    Answer("A35", with_record, DELETED, CARS, events=("DeleteCustomObject",)),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


ODD = {name.lower() if name[:1].isupper() else name.upper(): value for name, value in CAR.items()}
"""Fields of a record are no parameters: their letter case is kept."""


@every_variant(ANSWERS, stored={"A32", "U82"})
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    answer = variants.answer
    for variant in variants.spellings:
        stays_odd = "odd letter case" in variant and answer.row in ("U78", "U81", "A31", "A34")
        shape = {**RECORD, "CustomObject": ODD} if stays_odd else answer.shape
        with subtests.test(f"{answer}, {variant}"):
            replace(answer, shape=shape).check(new_tenant_server, variant)


def test_update_merges_or_replaces_record(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS)
    at = {"objectrecordid": added(who)["Id"]}
    who.advance_clock(minutes=1)
    part = answered(who.own("U81", {"Doors": 3, "Owners": []}, at=at, objectname="cars", updatetype="partialreplace"))
    assert part["CustomObject"] == {**CAR, "Doors": 3, "Owners": []}
    assert part["DateModified"] > part["DateCreated"]
    assert answered(who.own("U81", {"Doors": 2}, at=at, objectname="cars"))["CustomObject"] == {"Doors": 2}
    assert answered(who.own("U80", at=at, objectname="cars"))["CustomObject"] == {"Doors": 2}
    assert refused(who.own("U81", {}, at=at, objectname="cars", updatetype="merge")) == (400, 908)


def test_parameter_names_are_ordinary_record_fields(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS)
    record = {"objectname": "a", "access_token": "b", "prevent_webhook": "c", "record": {"record": 1}, "ApiKey": "d"}
    assert added(who, record)["CustomObject"] == record


def test_token_in_body_is_not_stored_in_record(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS)
    ask = Ask(CAR, {"objectname": "cars"})
    assert answered(send(who, "U78", ask, "token in the body"))["CustomObject"] == CAR


@pytest.mark.parametrize(
    "body",
    [b"", b"null", b'{"n": 1e999}', b'{"a": ' + b'"' + b"x" * 101_000 + b'"}', *HOSTILE.values()],
    ids=lambda body: body[:20].decode(errors="replace"),
)
def test_malformed_record_is_refused(new_tenant_server: NewTenantServer, body: bytes) -> None:
    who = account_holder(new_tenant_server, **CARS)
    answer = posted(who, body)
    if answer.status_code == 200:  # large numbers and duplicate names are valid JSON
        assert answered(who.own("U80", at={"objectrecordid": answer.get_json()["Id"]}, objectname="cars"))
    else:
        assert answer.status_code == 400, answer.text
        assert refused(who.own("U79", objectname="cars")) == (403, 1057)


def posted(who: AccountHolder, body: bytes) -> TestResponse:
    """Send raw bytes."""
    address = {"base_url": f"http://{who.tenant.services.settings.api_hostname}", "content_type": "application/json"}
    query, shown = {"apikey": who.tenant.api_key, "objectname": "cars"}, {"Authorization": f"Bearer {who.bearer}"}
    return PlainClient(who.tenant.app).post(ROWS["U78"].path, query_string=query, headers=shown, data=body, **address)


def test_partial_updates_cannot_exceed_record_size(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, custom_objects=[{"name": "cars", "max_record_bytes": 200}])
    at = {"objectrecordid": added(who, {"a": "x" * 100})["Id"]}
    more = who.own("U81", {"b": "x" * 100}, at=at, objectname="cars", updatetype="partialreplace")
    assert refused(more) == (400, 1035)
    assert answered(who.own("U80", at=at, objectname="cars"))["CustomObject"] == {"a": "x" * 100}


@pytest.mark.both_databases
def test_records_of_another_account_are_not_found(new_tenant_server: NewTenantServer) -> None:
    who, outsider = account_holder(new_tenant_server, **CARS), account_holder(new_tenant_server, **CARS)
    same_tenant = AccountHolder(who.tenant, who.tenant.create()["Uid"], "", "")
    at = {"objectrecordid": added(who)["Id"]}
    for other in (same_tenant, outsider):
        for row, body in (("U80", None), ("U81", {"a": 1}), ("U82", None)):
            assert refused(other.own(row, body, at=at, objectname="cars")) == (403, 1057)
        assert refused(other.own("U79", objectname="cars")) == (403, 1057)
    assert answered(who.own("U80", at=at, objectname="cars"))["CustomObject"] == CAR


def test_server_reaches_records_of_its_own_tenant_only(new_tenant_server: NewTenantServer) -> None:
    who, outsider = account_holder(new_tenant_server, **CARS), account_holder(new_tenant_server, **CARS)
    at = {"uid": who.uid, "objectrecordid": added(who)["Id"]}
    assert answered(who.managed("A33", at=at, objectname="cars"))["CustomObject"] == CAR
    for row, body in (("A31", CAR), ("A32", None), ("A33", None), ("A34", CAR), ("A35", None)):
        assert refused(outsider.managed(row, body, at=at, objectname="cars")) == (403, 984)


@pytest.mark.both_databases
def test_concurrent_additions_respect_record_limit(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS)
    who.bearer  # noqa: B018 - the sign-in comes first
    answers = at_once([lambda: add()(who)] * 12)
    assert sorted(refused(answer)[1] or 0 for answer in answers) == [0] * 3 + [1002] * 9
    assert answered(who.own("U79", objectname="cars"))["Count"] == 3


@pytest.mark.both_databases
def test_concurrent_partial_updates_all_persist(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS)
    at = {"objectrecordid": added(who, {})["Id"]}

    def put(number: int) -> TestResponse:
        return who.own("U81", {str(number): number}, at=at, objectname="cars", updatetype="partialreplace")

    at_once([lambda n=number: answered(put(n)) for number in range(8)])  # type: ignore[misc]  # a lambda's default has no type
    stored = answered(who.own("U80", at=at, objectname="cars"))["CustomObject"]
    assert stored == {str(number): number for number in range(8)}


@pytest.mark.both_databases
def test_records_are_deleted_with_account(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **CARS, custom_uid=True)
    added(who)
    answered(who.tenant.send("DELETE", f"/identity/v2/manage/account/{who.uid}"))
    again = who.tenant.create(Uid=who.uid)
    assert refused(AccountHolder(who.tenant, again["Uid"], "", "").own("U79", objectname="cars")) == (403, 1057)
