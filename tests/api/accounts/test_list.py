"""Accounts of a tenant are listed: filtered, sorted, counted and in pages."""

from __future__ import annotations

import base64
from datetime import timedelta
from typing import Any

import pytest

from app.contract.accounts.account_list_operations import LISTED_MEMBERS
from app.identity.directory.account_search import account_search
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.identifiers import IDENTITY, identity_value
from app.identity.directory.accounts.tables import identifiers
from app.identity.directory.organizations.tables import organization_user_roles
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.services.identity_service import pass_time
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

pytestmark = pytest.mark.both_databases
LIST = "/v2/manage/accounts"
PEOPLE = {
    "ada": {"FirstName": "Ada", "LastName": "Lovelace", "UserName": "Countess", "PhoneId": "+442079460123"},
    "bob": {"FirstName": "bob", "LastName": "Älm"},
    "cyd": {"LastName": "Charisse"},
    "dan": {},
}


@pytest.fixture
def people(acme: TenantServer) -> dict[str, str]:
    """The ids of four accounts by name, created a minute apart."""
    uids = {}
    for name, members in PEOPLE.items():
        address = {"Type": "Primary", "Value": f"{name.title()}@example.test"}
        uids[name] = str(acme.create(Email=[address], **members)["Uid"])
        pass_time(acme.services, minutes=1)
    return uids


def page(tenant: TenantServer, **query: Any) -> dict[str, Any]:
    return answered(ask(tenant, machine(tenant, "profile:read"), "GET", LIST, **query))


def names(tenant: TenantServer, people: dict[str, str], **query: Any) -> list[str]:
    """Return the names of all accounts of a list, page by page."""
    by_uid, found, cursor = {uid: name for name, uid in people.items()}, [], None
    token = machine(tenant, "profile:read")
    while True:
        listed = answered(ask(tenant, token, "GET", LIST, **query, cursor=cursor))
        found += [by_uid[item["Uid"]] for item in listed["Data"]]
        cursor = listed.get("NextCursor")
        if cursor is None:
            return found


def change(tenant: TenantServer, uid: str, **columns: Any) -> None:
    row = tenant.services.directory.by_name(tenant.name)
    assert row is not None
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        assert account_store.change(Context.outside_requests(tenant.services, row, work), uid, columns)


def insert(tenant: TenantServer, table: Any, **columns: Any) -> None:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(table.insert(), {"tenant_id": tenant.tenant_id, **columns})


@pytest.fixture(params=["few", "few in parts", "walk"])
def strategy(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """All ways to find accounts: those of one condition, at once or some at a time, and some of all at a time."""
    if request.param == "few in parts":
        monkeypatch.setattr(account_search, "SEARCHED", 10)
    if request.param == "walk":
        monkeypatch.setattr(account_search, "FEW", 0)
        monkeypatch.setattr(account_search, "SEARCHED", 20)
    return str(request.param)


def test_accounts_are_listed_newest_first_with_count(acme: TenantServer, people: dict[str, str]) -> None:
    listed = page(acme)
    assert [item["Uid"] for item in listed["Data"]] == list(reversed(people.values()))
    assert (listed["Count"], listed["CountIsLowerBound"], "NextCursor" in listed) == (4, False, False)


def test_listed_members_are_those_of_the_profile(acme: TenantServer, people: dict[str, str]) -> None:
    (item,) = page(acme, text="ada")["Data"]
    complete = acme.read(people["ada"])
    assert item == {name: complete[name] for name in LISTED_MEMBERS}


@pytest.mark.parametrize(
    ("sort", "expected"), [("created", "abcd"), ("last_login", "cdab"), ("email", "abcd"), ("name", "dabc")]
)
@pytest.mark.parametrize("order", ["asc", "desc"])
def test_list_is_sorted_across_pages(
    acme: TenantServer, people: dict[str, str], sort: str, expected: str, order: str
) -> None:
    now = acme.services.clock.now()
    for minutes, name in enumerate(("ada", "bob")):
        change(acme, people[name], last_login_at=now + timedelta(minutes=minutes))
    if sort == "last_login":
        expected = "".join(sorted("cd", key=lambda initial: people[{"c": "cyd", "d": "dan"}[initial]])) + "ab"
    found = "".join(name[0] for name in names(acme, people, sort=sort, order=order, limit=1))
    assert found == (expected if order == "asc" else expected[::-1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ADA", ["ada"]),
        ("ada@EX", ["ada"]),
        ("count", ["ada"]),
        ("LOVE", ["ada"]),
        ("ada lov", ["ada"]),
        ("ada  Lovelace", ["ada"]),
        ("+44 20 79", ["ada"]),
        ("0044207", ["ada"]),
        ("44(207)", ["ada"]),
        ("älm", ["bob"]),
        ("ÄLM", ["bob"]),
        ("cHaR", ["cyd"]),
        ("ＡＤＡ", ["ada"]),
        ("lace", []),
        ("%", []),
        ("_da", []),
        ("\U0010ffff", []),
        ("\ud7ff", []),
        ("' OR 1=1 --", []),
    ],
)
def test_text_is_prefix_of_identifier_or_name(
    acme: TenantServer, people: dict[str, str], strategy: str, text: str, expected: list[str]
) -> None:
    assert names(acme, people, text=text) == expected


def test_times_include_their_start_but_not_their_end(acme: TenantServer, people: dict[str, str], strategy: str) -> None:
    created = {name: acme.read(uid)["CreatedDate"] for name, uid in people.items()}
    selected = {"createdfrom": created["bob"], "createdto": created["dan"]}
    for sort in ("created", "name"):
        assert set(names(acme, people, sort=sort, **selected)) == {"bob", "cyd"}
    change(acme, people["ada"], last_login_at=acme.services.clock.now())
    at = acme.read(people["ada"])["LastLoginDate"]
    for sort in ("created", "last_login"):
        assert names(acme, people, sort=sort, lastloginfrom=at) == ["ada"]
        assert set(names(acme, people, sort=sort, lastloginto=at)) == {"bob", "cyd", "dan"}


def test_provider_role_and_organization_select_accounts(
    acme: TenantServer, people: dict[str, str], strategy: str
) -> None:
    identity = {"kind": IDENTITY, "value": identity_value("google", "1"), "is_verified": True}
    insert(acme, identifiers, uid=people["bob"], **identity)
    answered(acme.send("POST", "/identity/v2/manage/role", {"Roles": [{"Name": "support", "Permissions": {}}]}))
    answered(acme.send("PUT", f"/identity/v2/manage/account/{people['cyd']}/role", {"Roles": ["support"]}))
    member = {"uid": people["dan"], "org_id": "org_1", "created_at": acme.services.clock.now()}
    for number in "12":  # of two roles, one member
        insert(acme, organization_user_roles, user_role_id=number, role_id=number, **member)
    assert names(acme, people, provider="Google") == ["bob"]
    assert names(acme, people, provider="goog") == []
    assert names(acme, people, role="support") == ["cyd"]
    assert names(acme, people, organization="org_1") == ["dan"]
    assert page(acme, organization="org_1")["Count"] == 1
    assert names(acme, people, organization="org_1", role="support") == []


def test_verified_and_blocked_select_accounts(acme: TenantServer, people: dict[str, str], strategy: str) -> None:
    change(acme, people["ada"], email_verified=True)
    change(acme, people["bob"], phone_verified=True)
    change(acme, people["cyd"], is_active=False)
    change(acme, people["dan"], is_locked=True, lock_type="Block")
    assert set(names(acme, people, verified="true")) == {"ada", "bob"}
    assert set(names(acme, people, verified="false")) == {"cyd", "dan"}
    assert set(names(acme, people, blocked="true")) == {"cyd", "dan"}
    assert set(names(acme, people, blocked="false")) == {"ada", "bob"}
    assert names(acme, people, blocked="true", text="dan") == ["dan"]


def test_account_created_meanwhile_shifts_no_page(acme: TenantServer, people: dict[str, str]) -> None:
    first = page(acme, limit=2)
    acme.create()
    second = page(acme, limit=2, cursor=first["NextCursor"])
    assert [item["Uid"] for item in second["Data"]] == [people["bob"], people["ada"]]
    assert not second.keys() & {"NextCursor", "Count", "CountIsLowerBound"}


def test_changed_name_and_email_change_place(acme: TenantServer, people: dict[str, str]) -> None:
    acme.update(people["dan"], {"FirstName": "Zoe"})
    assert names(acme, people, sort="name")[-1] == "dan"
    assert names(acme, people, text="zoe") == ["dan"]


def test_count_is_exact_up_to_its_bound(
    acme: TenantServer, people: dict[str, str], monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    monkeypatch.setattr(account_search, "MAX_COUNTED", 3)
    everyone = {"lastloginto": "2999-01-01T00:00:00Z"}
    for query in ({"limit": 1}, {**everyone, "limit": 1}):
        listed = page(acme, **query)
        assert (listed["Count"], listed["CountIsLowerBound"]) == (3, True)
    monkeypatch.setattr(account_search, "MAX_COUNTED", 4)
    listed = page(acme)
    assert (listed["Count"], listed["CountIsLowerBound"]) == (4, False)


def test_other_tenants_accounts_are_not_listed(
    acme: TenantServer, globex: TenantServer, people: dict[str, str]
) -> None:
    assert page(globex) == {"Data": [], "Count": 0, "CountIsLowerBound": False}
    assert page(globex, text="ada")["Data"] == []
    cursor = page(acme, limit=1)["NextCursor"]
    token = machine(globex, "profile:read")
    assert refused(ask(globex, token, "GET", LIST, cursor=cursor)) == (400, 7900)


def test_tampered_or_foreign_cursor_is_refused(acme: TenantServer, people: dict[str, str]) -> None:
    cursor = page(acme, limit=1)["NextCursor"]
    token = machine(acme, "profile:read")
    changed = bytearray(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    changed[-1] ^= 1
    wrong = [
        "x", "é", "AAAA", cursor[:-4], cursor + "AAAA", base64.urlsafe_b64encode(changed).decode(),
        base64.urlsafe_b64encode(b"[1, 2]").decode(),
    ]  # fmt: skip
    for text in wrong:
        assert refused(ask(acme, token, "GET", LIST, cursor=text)) == (400, 7900), text
    for other in ({"sort": "email"}, {"order": "asc"}, {"text": "ada"}):
        assert refused(ask(acme, token, "GET", LIST, cursor=cursor, **other)) == (400, 7900), other
    assert answered(ask(acme, token, "GET", LIST, cursor=cursor, limit=3))["Data"]


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0}, {"limit": 101}, {"limit": "x"}, {"sort": "uid"}, {"order": "up"}, {"createdfrom": "yesterday"},
        {"createdfrom": "2026-11-29T08:00:00"}, {"verified": "perhaps"}, {"text": "x" * 101},
        {"cursor": "x" * 2_001},
    ],
    ids=str,
)  # fmt: skip
def test_malformed_parameter_is_named(acme: TenantServer, query: dict[str, Any]) -> None:
    response = ask(acme, machine(acme, "profile:read"), "GET", LIST, **query)
    assert refused(response)[0] == 400
    (name,) = query
    assert name in response.get_json()["Description"].lower()


def test_list_needs_the_scope_that_reads_profiles(acme: TenantServer) -> None:
    assert refused(ask(acme, machine(acme, "profile:update"), "GET", LIST))[0] == 403
