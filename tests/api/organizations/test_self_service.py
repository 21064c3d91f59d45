"""People create organizations where the tenant allows it, and owners change and delete theirs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select

from app.contract import errors
from app.identity.directory.organizations.owned_organizations import MAX_CREATIONS
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Person, moved
from tests.support.oauth.world import World
from tests.support.organizations.management import PATH, PERMISSIONS, ROLES, Business
from tests.support.organizations.members import OWN, Company, Team, refused
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered

GREEK = "\u0391cme"  # its first letter looks like a Latin A


@pytest.fixture
def open_company(company: Company) -> Company:
    """A tenant that lets people create organizations."""
    company.world.change_settings(organizations={"self_service_creation": True})
    return company


def create(company: Company, name: str, person: Person | None = None) -> tuple[int, Any]:
    """Create as Ada or another person; return the status, and the id or the error code."""
    browser = company.world.browser().signed_in(person or company.ada)
    answer = browser.send("POST", OWN, json.dumps({"Name": name}).encode())
    return answer.status_code, (answer.json or {}).get("Id") or (answer.json or {}).get("ErrorCode")


def organizations_of(company: Company, person: Person | None = None) -> list[dict[str, Any]]:
    answer = company.world.browser().signed_in(person or company.ada).send("GET", OWN, b"")
    found: list[dict[str, Any]] = answered(answer)["Organizations"]
    return found


def events(services: IdentityServices, tenant_id: str, event: str) -> Sequence[Any]:
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        return work.all(select(audit).where(audit.c.tenant_id == tenant_id, audit.c.event == event))


def test_creation_is_off_by_default(company: Company) -> None:
    assert create(company, "Globex") == refused(errors.OrganizationCreationOff)
    company.world.change_settings(organizations={"self_service_creation": True, "enabled": False})
    assert create(company, "Globex") == refused(errors.OrganizationCreationOff)


@pytest.mark.both_databases
def test_creator_owns_the_organization(open_company: Company, services: IdentityServices) -> None:
    status, org = create(open_company, "  Globex  ")
    (item,) = organizations_of(open_company)
    assert status == 200
    assert (item["Id"], item["Name"], item["Roles"], item["IsOwner"], item["IsLastOwner"]) == (
        org,
        "Globex",
        ["Owner"],
        True,
        True,
    )
    (role,) = answered(open_company.business.send("GET", ROLES))["Data"]
    assert role["Level"] == "tenant"
    assert {element["Name"] for element in role["Permissions"]} == {"org:own", "org:manage"}
    (row,) = events(services, open_company.world.tenant_id, "organization.created")
    assert (row.uid, row.facts["org_id"]) == (open_company.ada.uid, org)


@pytest.mark.both_databases
def test_role_of_owners_is_reused(open_company: Company) -> None:
    own, manage, pay = (open_company.permission(name) for name in ("org:own", "org:manage", "billing:pay"))
    open_company.business.role("Tycoon", permissions=(own, manage, pay))
    open_company.business.role("Chair", permissions=(own,))
    assert create(open_company, "Globex")[0] == 200
    assert organizations_of(open_company)[0]["Roles"] == ["Chair"], "of several the one with the fewest permissions"
    assert len(answered(open_company.business.send("GET", ROLES))["Data"]) == 2


def test_role_named_owner_without_permission_stays(open_company: Company) -> None:
    open_company.business.role("OWNER")
    open_company.business.role("Organization owner")
    assert create(open_company, "Globex")[0] == 200
    assert organizations_of(open_company)[0]["Roles"] == ["Owner 2"]
    roles = {item["Name"]: item["Permissions"] for item in answered(open_company.business.send("GET", ROLES))["Data"]}
    assert roles["OWNER"] == roles["Organization owner"] == []


@pytest.mark.parametrize("name", ["GLOBEX", " globex ", "\uff27lobex"], ids=["case", "space", "compatibility form"])
def test_taken_name_is_refused(open_company: Company, name: str) -> None:
    open_company.business.create("Globex")
    assert create(open_company, name) == refused(errors.OrganizationNameTaken)
    assert organizations_of(open_company) == []


@pytest.mark.parametrize("name", [GREEK, "Glo\u200bbex", "\u202exebolG", "   ", "x" * 101])
def test_misleading_name_is_refused(open_company: Company, name: str) -> None:
    assert create(open_company, name)[0] == 400
    assert organizations_of(open_company) == []


@pytest.mark.both_databases
def test_verified_address_is_required(open_company: Company) -> None:
    open_company.world.change_settings(email_verification="optional")
    bob = open_company.world.person("bob@example.test")
    bob.set_columns(email_verified=False, emails=[{"Type": "Primary", "Value": bob.email, "verified": False}])
    assert create(open_company, "Globex", bob) == refused(errors.EmailUnverified)


def test_signed_out_browser_creates_nothing(open_company: Company, world: World) -> None:
    answer = world.browser().send("POST", OWN, json.dumps({"Name": "Globex"}).encode())
    assert answer.status_code == errors.NotAuthenticated.status
    assert answered(open_company.business.send("GET", PATH))["Data"] == []


def test_account_owns_only_so_many(open_company: Company) -> None:
    open_company.world.change_settings(organizations={"self_service_creation": True, "owned_limit": 2})
    assert [create(open_company, f"Org {number}")[0] for number in range(2)] == [200, 200]
    assert create(open_company, "Org 2") == refused(errors.TooManyOrganizations)
    assert create(open_company, "Org 2", open_company.world.person("bob@example.test"))[0] == 200


@pytest.mark.both_databases
def test_simultaneous_creations_respect_the_limit(open_company: Company) -> None:
    open_company.world.change_settings(organizations={"self_service_creation": True, "owned_limit": 2})
    answers = at_once([partial(create, open_company, f"Org {number}") for number in range(8)])
    assert Counter(status for status, _ in answers) == {200: 2, errors.TooManyOrganizations.status: 6}
    assert len(organizations_of(open_company)) == 2


def test_second_submit_creates_one_organization(open_company: Company, services: IdentityServices) -> None:
    first, second = create(open_company, "Globex"), create(open_company, "Globex")
    assert first == second
    assert len(organizations_of(open_company)) == 1
    with moved(services, minutes=11):
        assert create(open_company, "Globex") == refused(errors.OrganizationNameTaken)


def test_too_many_tries_are_refused(open_company: Company) -> None:
    open_company.business.create("Globex")
    browser, body = open_company.browser.signed_in(open_company.ada), json.dumps({"Name": "Globex"}).encode()
    tries = [browser.send("POST", OWN, body).status_code for _ in range(MAX_CREATIONS.amount + 1)]
    assert tries == [409] * MAX_CREATIONS.amount + [429]


@pytest.mark.both_databases
def test_simultaneous_creators_make_one_role(open_company: Company) -> None:
    people = [open_company.world.person(f"p{number}@example.test") for number in range(10)]
    acts = [partial(create, open_company, f"Org {number}", person) for number, person in enumerate(people)]
    assert {status for status, _ in at_once(acts)} == {200}
    (role,) = answered(open_company.business.send("GET", ROLES))["Data"]
    assert (role["Name"], len(role["Permissions"])) == ("Owner", 2)
    assert len(answered(open_company.business.send("GET", PERMISSIONS))["Data"]) == 2
    assert {item["RoleId"] for person in people for item in roles_of(open_company, person)} == {role["Id"]}


@pytest.mark.both_databases
def test_simultaneous_creators_with_permissions_make_one_role(open_company: Company) -> None:
    """The permissions are there already, so nothing but the role's name settles the race."""
    for name in ("org:own", "org:manage"):
        open_company.permission(name)
    people = [open_company.world.person(f"p{number}@example.test") for number in range(10)]
    acts = [partial(create, open_company, f"Org {number}", person) for number, person in enumerate(people)]
    assert {status for status, _ in at_once(acts)} == {200}
    assert [item["Name"] for item in answered(open_company.business.send("GET", ROLES))["Data"]] == ["Owner"]


def roles_of(company: Company, person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answered(company.business.send("GET", f"/v2/manage/account/{person.uid}/orgcontext"))[
        "Data"
    ]
    return found


def change(team: Team, name: str, **members: Any) -> tuple[int, Any]:
    return team.send(name, "/settings", **{"Name": "Globex", **members})


@pytest.mark.both_databases
def test_owner_changes_name_and_look(team: Team, services: IdentityServices) -> None:
    display = {"Display": {"Name": "Old", "LogoURL": "https://globex.test/old.png"}}
    answered(team.company.business.send("PUT", f"{PATH}/{team.org}", display))
    look = {"DisplayName": " Globex Gardens ", "Color": "#0a7d55"}
    assert change(team, "owner", Name="Globex Ltd", **look) == (200, None)
    item = answered(team.company.business.send("GET", f"{PATH}/{team.org}"))
    shown = {"Name": "Globex Gardens", "LogoURL": "https://globex.test/old.png", "Color": "#0a7d55", "ThemeName": None}
    assert (item["Name"], item["Display"]) == ("Globex Ltd", shown)
    view = team.read("owner", f"/{team.org}/settings")
    assert (view["Name"], view["DisplayName"], view["Color"]) == ("Globex Ltd", "Globex Gardens", "#0a7d55")
    assert change(team, "owner", Name="Globex Ltd") == (200, None)
    item = answered(team.company.business.send("GET", f"{PATH}/{team.org}"))
    assert {name: value for name, value in item["Display"].items() if value} == {"LogoURL": shown["LogoURL"]}
    rows = events(services, team.company.world.tenant_id, "organization.changed")
    assert [row.uid for row in rows].count(team.people["owner"].uid) == 2


@pytest.mark.both_databases("first")
@pytest.mark.parametrize(
    ("members", "status"),
    [
        ({"Name": "Initech"}, 409),
        ({"Name": GREEK}, 400),
        ({"DisplayName": GREEK}, 400),
        ({"Color": "green"}, 400),
    ],
)
def test_wrong_settings_are_refused(team: Team, members: dict[str, str], status: int) -> None:
    team.company.business.create("Initech")
    assert change(team, "owner", **members)[0] == status
    assert answered(team.company.business.send("GET", f"{PATH}/{team.org}"))["Name"] == "Globex"


def test_only_owners_change_and_delete(team: Team) -> None:
    assert change(team, "manager", Name="Mine") == refused(errors.OwnersOnly)
    assert team.send("manager", "/delete", Name="Globex") == refused(errors.OwnersOnly)
    for name in ("editor", "outsider"):
        assert change(team, name, Name="Mine") == refused(errors.UnknownOrganization)
        assert team.send(name, "/delete", Name="Globex") == refused(errors.UnknownOrganization)
        assert team.read(name, f"/{team.org}/settings", 404)["ErrorCode"] == errors.UnknownOrganization.code
    assert answered(team.company.business.send("GET", f"{PATH}/{team.org}"))["Name"] == "Globex"


@pytest.mark.both_databases
def test_other_tenants_organization_cannot_be_changed(team: Team, new_tenant_server: NewTenantServer) -> None:
    foreign = Business(new_tenant_server()).create("Globex")
    unknown = refused(errors.UnknownOrganization)
    assert change(team, "owner", Organization=foreign, Name="Mine") == unknown
    assert team.send("owner", "/delete", Organization=foreign, Name="Globex") == unknown


def test_owner_deletes_the_organization(team: Team, services: IdentityServices) -> None:
    assert team.send("owner", "/delete", Name="Globe") == (400, errors.BadField.code)
    assert len(team.members()) == 3
    assert team.send("owner", "/delete", Name=" GLOBEX ") == (200, None)
    assert team.company.business.send("GET", f"{PATH}/{team.org}").status_code == 404
    assert team.read("owner")["Organizations"] == team.read("editor")["Organizations"] == []
    assert team.send("owner", "/delete", Name="Globex") == refused(errors.UnknownOrganization)
    (row,) = events(services, team.company.world.tenant_id, "organization.deleted")
    assert row.uid == team.people["owner"].uid


def test_settings_count_what_a_deletion_deletes(team: Team) -> None:
    domain = [{"DomainName": "globex.example", "IsVerified": True}]
    answered(team.company.business.send("PUT", f"{PATH}/{team.org}", {"Domains": domain}))
    view = team.read("owner", f"/{team.org}/settings")
    assert (view["Organization"]["People"], view["Domains"], view["Connections"], view["Invitations"]) == (3, 1, 0, 0)


def test_settings_need_recent_authentication(team: Team, services: IdentityServices) -> None:
    browser = team.browser("owner")
    with moved(services, minutes=6):
        for path in ("/settings", "/delete", "/transfer"):
            body = {"Organization": team.org, "Name": "Globex", "Uid": team.people["editor"].uid, "StepsDown": True}
            answer = browser.send("POST", f"{OWN}{path}", json.dumps(body).encode())
            assert (answer.status_code, answer.get_json()["ErrorCode"]) == refused(errors.WrongCurrentPassword), path
