"""People of a verified domain ask to join its organization; its managers or the tenant's server decide."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import delete, select

from app.contract import errors as e
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.organizations.join_requests.join_request import PAUSE
from app.identity.directory.organizations.tables import organization_roles
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.use_cases.organizations.membership_requests import COOL_DOWN, MAX_MANAGERS
from tests.support.oauth.relying_party import Person, moved
from tests.support.organizations.invitations import PATH as INVITATIONS
from tests.support.organizations.joining import DOMAIN, Joining, by_server, names_of
from tests.support.organizations.management import NO_ORG, PATH, Business
from tests.support.organizations.members import OWN, refused
from tests.support.tenants.tenant_server import NewTenantServer, answered
from tests.support.tenants.tenant_server import refused as refusal

NO_REQUEST = f"join_request_{'0' * 16}"


@pytest.mark.both_databases
def test_person_of_the_domain_asks_and_is_approved(joining: Joining) -> None:
    assert names_of(joining) == [], "no account joins without approval"
    (offer,) = joining.joinable()
    assert (offer["Id"], offer["Name"], offer["IsAsked"], offer["Until"]) == (joining.team.org, "Globex", False, None)
    request = joining.open_request()
    assert joining.joinable()[0]["IsAsked"]
    (listed,) = joining.team.read("manager", f"/{joining.team.org}/requests")["Requests"]
    assert (listed["Id"], listed["Label"], listed["Domain"]) == (request, joining.ada.email, DOMAIN)
    assert joining.decide("manager", request) == (200, None)
    assert names_of(joining) == ["Globex"]
    assert joining.team.roles_of("owner") == ["Owner"]
    seen = {member["Label"]: member["Roles"] for member in joining.team.members()}
    assert seen[joining.ada.email] == ["Member"]
    assert joining.joinable() == []
    assert joining.team.read("manager", f"/{joining.team.org}/requests")["Requests"] == []


@pytest.mark.both_databases
def test_account_that_may_ask_shows_the_tab_without_a_mark(joining: Joining, services: IdentityServices) -> None:
    def marks() -> list[bool | None]:
        with UnitOfWork(services.database, joining.team.company.world.tenant_id).separate_transaction() as work:
            return [row[0] for row in work.all(select(accounts.c.has_organizations).where(accounts.c.uid == ada.uid))]

    ada, world = joining.ada, joining.team.company.world
    outsider, shop = world.person("eve@other.test"), world.application("shop")
    for person, is_shown in ((ada, True), (outsider, False)):
        browser = world.browser().signed_in(person)
        assert answered(browser.send("GET", OWN, b""))["Person"]["HasOrganizations"] is is_shown
        step = world.browser()
        begun = step.authorize(shop.authorization_parameters())
        step.sign_in(begun.interaction_id, person.email, person.password)
    joining.open_request()
    assert marks() == [None], "a sign-in of an account without organizations costs no statement"


def test_repeated_asking_makes_one_request(joining: Joining) -> None:
    assert [joining.ask() for _ in range(3)] == [(200, None)] * 3
    assert len(joining.requests()) == 1
    assert joining.subjects("owner@globex.test") == ["Someone asked to join Globex"]


@pytest.mark.parametrize(
    "columns",
    [
        {"email_verified": False},
        {"email": "ada@other.test", "emails": [{"Type": "Primary", "Value": "ada@other.test", "verified": True}]},
    ],
    ids=["unverified", "another domain"],
)
def test_others_learn_nothing_of_the_organization(joining: Joining, columns: dict[str, Any]) -> None:
    joining.team.company.world.change_settings(email_verification="optional")
    joining.ada.set_columns(**columns)
    person = Person(
        joining.ada.services, joining.ada.tenant_id, joining.ada.uid, joining.ada.email, joining.ada.password
    )
    assert joining.joinable(person) == []
    assert joining.ask(person) == joining.ask(person, NO_ORG) == refused(e.UnknownOrganization)
    assert joining.requests() == []


@pytest.mark.both_databases
def test_unverified_domain_offers_nothing(joining: Joining) -> None:
    addresses = [(joining.ada.email, "Primary"), ("ada@initech.test", "Secondary")]
    joining.ada.set_columns(emails=[{"Type": kind, "Value": value, "verified": True} for value, kind in addresses])
    business, domains = joining.team.company.business, [{"DomainName": "initech.test", "IsVerified": False}]
    other = business.create("Initech", Domains=domains)
    answered(business.send("PUT", f"{PATH}/{other}/policy", {"JITPolicy": {"RequireApproval": True}}))
    assert [item["Name"] for item in joining.joinable()] == ["Globex"]
    assert joining.ask(org=other) == refused(e.UnknownOrganization)
    answered(business.send("PUT", f"{PATH}/{other}", {"Domains": [{**domains[0], "IsVerified": True}]}))
    assert [item["Name"] for item in joining.joinable()] == ["Globex", "Initech"]
    assert joining.ask(org=other) == (200, None)


def test_policy_and_activity_decide_the_offer(joining: Joining) -> None:
    joining.set_policy(JITPolicy={"RequireApproval": False})
    assert joining.joinable() == []
    assert joining.ask() == refused(e.UnknownOrganization)
    joining.set_policy(JITPolicy={"RequireApproval": True})
    assert len(joining.joinable()) == 1
    joining.team.company.business.deactivate(joining.team.org)
    assert joining.joinable() == []
    assert joining.ask() == refused(e.UnknownOrganization)


def test_tenant_without_organizations_offers_nothing(joining: Joining) -> None:
    joining.team.company.world.change_settings(organizations={"enabled": False})
    assert joining.joinable() == []
    assert joining.ask() == refused(e.UnknownOrganization)
    assert refusal(by_server(joining, NO_REQUEST)) == (400, e.OrganizationsOff.code)


def test_approval_needs_no_connection_but_joining_does(joining: Joining) -> None:
    path = f"{PATH}/{joining.team.org}/policy"
    body = {"JITPolicy": {"Enabled": True}}
    assert refusal(joining.team.company.business.send("PUT", path, body)) == (403, e.JitWithoutConnection.code)
    assert answered(joining.team.company.business.send("GET", path))["JITPolicy"]["RequireApproval"] is True


def test_member_has_nothing_to_ask_for(joining: Joining) -> None:
    assert joining.joinable(joining.team.people["editor"]) == []
    assert joining.ask(joining.team.people["editor"]) == refused(e.UnknownOrganization)


@pytest.mark.both_databases
def test_declined_person_asks_again_after_a_pause(joining: Joining, services: IdentityServices) -> None:
    assert joining.decide("owner", joining.open_request(), is_approved=False) == (200, None)
    (offer,) = joining.joinable()
    assert (offer["IsAsked"], offer["Until"] is not None) == (False, True)
    assert joining.ask() == refused(e.JoinRequestRefused)
    with moved(services, days=PAUSE.days, minutes=1):
        assert joining.joinable()[0]["Until"] is None
        assert joining.ask() == (200, None)
    assert [request["Status"] for request in joining.requests()] == ["open"]


def test_removed_member_asks_again(joining: Joining) -> None:
    assert joining.decide("owner", joining.open_request()) == (200, None)
    assert joining.team.send("owner", "/members/remove", Uid=joining.ada.uid) == (200, None)
    assert joining.ask() == (200, None)
    assert joining.decide("owner", joining.open_request()) == (200, None)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("end", ["removed", "left", "roles taken", "all left"])
def test_request_before_the_membership_ends_with_it(joining: Joining, end: str) -> None:
    joining.open_request()
    business, org, role = joining.team.company.business, joining.team.org, joining.team.roles["Editor"]
    answered(business.assign(joining.ada.uid, org, role))
    of_account = f"/v2/manage/account/{joining.ada.uid}/orgcontext"
    if end == "removed":
        assert joining.team.send("owner", "/members/remove", Uid=joining.ada.uid) == (200, None)
    elif end == "left":
        browser = joining.team.company.world.browser().signed_in(joining.ada)
        answered(browser.send("POST", f"{OWN}/leave", json.dumps({"Organization": org}).encode()))
    elif end == "roles taken":
        answered(business.send("DELETE", f"{of_account}/{org}/roles", {"RoleIds": [role]}))
    else:
        answered(business.send("DELETE", of_account))
    assert joining.requests() == []
    assert not joining.joinable()[0]["IsAsked"]


def test_role_taken_from_a_member_keeps_other_requests(joining: Joining) -> None:
    request = joining.open_request()
    business, other = joining.team.company.business, joining.team.company.business.create("Initech")
    answered(business.assign(joining.ada.uid, other, business.role("Guest", org=other)))
    answered(business.send("DELETE", f"/v2/manage/account/{joining.ada.uid}/orgcontext/{other}"))
    assert joining.decide("owner", request) == (200, None)


@pytest.mark.parametrize("name", ["editor", "outsider"])
def test_only_managers_see_and_decide_requests(joining: Joining, name: str) -> None:
    request = joining.open_request()
    unknown = refused(e.UnknownOrganization)
    assert joining.decide(name, request) == joining.decide(name, request, is_approved=False) == unknown
    assert joining.team.read(name, f"/{joining.team.org}/requests", 404)["ErrorCode"] == e.UnknownOrganization.code
    browser = joining.team.company.world.browser().signed_in(joining.ada)
    body = {"Organization": joining.team.org, "Request": request, "IsApproved": True}
    assert browser.send("POST", f"{OWN}/requests", json.dumps(body).encode()).status_code == 404
    assert names_of(joining) == []


def test_request_belongs_to_one_organization(joining: Joining, new_tenant_server: NewTenantServer) -> None:
    request, business = joining.open_request(), joining.team.company.business
    other = business.create("Initech")
    joining.team.company.join(joining.team.people["outsider"], other, "Chief", "org:own")
    assert joining.decide("outsider", request, org=other) == refused(e.UnknownJoinRequest)
    assert refusal(by_server(joining, request, org=other)) == (404, e.UnknownJoinRequest.code)
    foreign = Business(new_tenant_server())
    path = f"{PATH}/{{}}/joinrequests/{request}/approve"
    assert refusal(foreign.send("POST", path.format(foreign.org))) == (404, e.UnknownJoinRequest.code)
    assert refusal(foreign.send("POST", path.format(joining.team.org))) == (404, e.UnknownOrganization.code)
    assert answered(foreign.send("GET", f"{PATH}/{foreign.org}/joinrequests"))["Data"] == []
    assert [item["Status"] for item in joining.requests()] == ["open"]


@pytest.mark.both_databases
def test_server_lists_approves_and_declines(joining: Joining) -> None:
    bob = joining.team.company.world.person(f"bob@{DOMAIN}")
    first, second = joining.open_request(), joining.open_request(bob)
    assert [request["Id"] for request in joining.requests(status="open")] == [first, second]
    assert [item["Id"] for item in joining.requests(page="2", pagesize="1")] == [second]
    approved, declined = answered(by_server(joining, first)), answered(by_server(joining, second, "decline"))
    assert (approved["Status"], approved["Uid"], approved["OrgId"], approved["DomainName"], approved["DecidedBy"]) == (
        "approved",
        joining.ada.uid,
        joining.team.org,
        DOMAIN,
        None,
    )
    assert (declined["Status"], declined["DecidedDate"] is not None) == ("declined", True)
    assert names_of(joining) == ["Globex"]
    assert names_of(joining, bob) == []
    assert [item["Id"] for item in joining.requests(status="declined")] == [second]


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("request_id", [NO_REQUEST, "x", "role_0000000000000000"])
def test_unknown_request_is_refused(joining: Joining, request_id: str) -> None:
    for decision in ("approve", "decline"):
        assert refusal(by_server(joining, request_id, decision)) == (404, e.UnknownJoinRequest.code)


def test_server_is_refused_by_the_rules_of_organizations(joining: Joining) -> None:
    request, business = joining.open_request(), joining.team.company.business
    for org, expected in ((NO_ORG, (404, 8118)), ("x", (400, 8117)), (" ", (400, 8129))):
        assert refusal(by_server(joining, request, org=org)) == expected
        assert refusal(business.send("GET", f"{PATH}/{org}/joinrequests")) == expected
    business.deactivate(joining.team.org)
    for decision in ("approve", "decline"):
        assert refusal(by_server(joining, request, decision)) == (403, 8180)
    assert refusal(business.send("GET", f"{PATH}/{joining.team.org}/joinrequests")) == (403, 8180)


def test_decided_request_stays_decided(joining: Joining) -> None:
    request = joining.open_request()
    assert joining.decide("owner", request, is_approved=False) == (200, None)
    assert joining.decide("manager", request) == refused(e.JoinRequestClosed)
    assert refusal(by_server(joining, request)) == (409, e.JoinRequestClosed.code)
    assert names_of(joining) == []


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("loss", ["address", "deletion"])
def test_request_without_its_reason_cannot_be_approved(joining: Joining, loss: str, services: IdentityServices) -> None:
    request = joining.open_request()
    moved_out = {
        "email": "ada@other.test",
        "emails": [{"Type": "Primary", "Value": "ada@other.test", "verified": True}],
    }
    joining.ada.set_columns(**(moved_out if loss == "address" else {"is_deleted": True}))
    assert joining.decide("owner", request) == refused(e.JoinRequestClosed)
    assert joining.decide("owner", request, is_approved=False) == (200, None)


def test_role_of_new_members_is_needed(joining: Joining) -> None:
    joining.set_policy(MemberPolicy={"DefaultMemberRole": None})
    request = joining.open_request()
    assert joining.decide("owner", request) == refused(e.WrongDefaultMemberRole)
    answered(
        joining.team.company.business.send(
            "PUT", f"/v2/manage/roles/{joining.team.company.business.role('Guest')}/default"
        )
    )
    assert joining.decide("owner", request) == (200, None)
    assert joining.team.members()[-1]["Roles"] == ["Guest"]


def test_deleted_role_of_new_members_is_no_role(joining: Joining, services: IdentityServices) -> None:
    request = joining.open_request()
    tenant_id, roles = joining.team.company.world.tenant_id, organization_roles
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        work.run(delete(roles).where(roles.c.tenant_id == tenant_id, roles.c.role_id == joining.role))
    assert joining.decide("owner", request) == refused(e.WrongDefaultMemberRole)
    assert refusal(by_server(joining, request)) == refused(e.WrongDefaultMemberRole)
    assert [item["Status"] for item in joining.requests()] == ["open"]


def test_seats_bound_approvals(joining: Joining) -> None:
    request = joining.open_request()
    joining.set_policy(MemberPolicy={"Seats": 4})
    body = {
        "email": "guest@other.test",
        "roleIds": [joining.role],
        "orgId": joining.team.org,
        "inviterUid": joining.team.people["owner"].uid,
    }
    invitation = answered(joining.team.company.business.send("POST", INVITATIONS, body))["Id"]
    assert joining.decide("owner", request) == refused(e.NoSeatLeft), "the invitation holds the last seat"
    answered(joining.team.company.business.send("DELETE", f"{INVITATIONS}/{invitation}"))
    assert joining.decide("owner", request) == (200, None)


@pytest.mark.both_databases
def test_account_that_became_a_member_keeps_its_roles(joining: Joining) -> None:
    request = joining.open_request()
    answered(joining.team.company.business.assign(joining.ada.uid, joining.team.org, joining.team.roles["Editor"]))
    assert joining.requests(status="open") == []
    assert joining.decide("owner", request) == (200, None)
    assert joining.team.members()[-1]["Roles"] == ["Editor"]


def test_everybody_concerned_gets_an_email(joining: Joining) -> None:
    bob = joining.team.company.world.person(f"bob@{DOMAIN}")
    first, second = joining.open_request(), joining.open_request(bob)
    for name in ("owner", "manager"):
        assert joining.subjects(f"{name}@globex.test") == ["Someone asked to join Globex"] * 2
    assert joining.subjects("editor@globex.test") == []
    joining.decide("owner", first)
    joining.decide("owner", second, is_approved=False)
    assert joining.subjects(joining.ada.email) == ["You joined Globex"]
    assert joining.subjects(bob.email) == ["Your request to join Globex"]


def test_emails_to_managers_are_bounded(joining: Joining) -> None:
    for number in range(MAX_MANAGERS):
        person = joining.team.company.world.person(f"m{number}@managers.test")
        answered(joining.team.company.business.assign(person.uid, joining.team.org, joining.team.roles["Manager"]))
    for number in range(COOL_DOWN.amount + 2):
        joining.open_request(joining.team.company.world.person(f"p{number}@{DOMAIN}"))
    received = [
        address
        for address in (f"m{number}@managers.test" for number in range(MAX_MANAGERS))
        if joining.subjects(address)
    ]
    assert len(received) == MAX_MANAGERS - 2, "owner and manager are older members"
    assert len(joining.subjects("owner@globex.test")) == COOL_DOWN.amount
    assert len(joining.requests(status="open")) == COOL_DOWN.amount + 2


def test_blocked_manager_gets_no_email(joining: Joining) -> None:
    joining.team.people["manager"].close()
    joining.open_request()
    assert joining.subjects("manager@globex.test") == []
    assert joining.subjects("owner@globex.test") == ["Someone asked to join Globex"]


def test_requests_and_decisions_are_audited(joining: Joining, services: IdentityServices) -> None:
    request = joining.open_request()
    joining.decide("manager", request)
    tenant_id = joining.team.company.world.tenant_id
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        rows = work.all(select(audit).where(audit.c.tenant_id == tenant_id))
    found = {row.event: (row.uid, row.facts) for row in rows if row.event.startswith("organization.join_")}
    assert {event: uid for event, (uid, _) in found.items()} == {
        "organization.join_requested": joining.ada.uid,
        "organization.join_approved": joining.team.people["manager"].uid,
    }
    for _, facts in found.values():
        assert (facts["account"], facts["org_id"], facts["join_request_id"]) == (
            joining.ada.uid,
            joining.team.org,
            request,
        )


@pytest.mark.both_databases
def test_deleted_account_and_organization_leave_no_request(joining: Joining) -> None:
    joining.open_request()
    answered(joining.team.company.business.send("DELETE", f"/identity/v2/manage/account/{joining.ada.uid}"))
    assert joining.requests() == []
    request = joining.open_request(joining.team.company.world.person(f"bob@{DOMAIN}"))
    answered(joining.team.company.business.send("DELETE", f"{PATH}/{joining.team.org}"))
    assert refusal(by_server(joining, request)) == (404, 8118)


def test_signed_out_browser_is_refused(joining: Joining) -> None:
    body = json.dumps({"Organization": joining.team.org, "Request": NO_REQUEST, "IsApproved": True}).encode()
    browser = joining.team.company.world.browser()
    for path in ("/ask", "/requests"):
        assert browser.send("POST", f"{OWN}{path}", body).status_code == e.NotAuthenticated.status
    assert browser.send("GET", f"{OWN}/{joining.team.org}/requests", b"").status_code == e.NotAuthenticated.status


def test_requests_are_listed_page_by_page(joining: Joining) -> None:
    request = joining.open_request()
    assert [[item["Id"] for item in joining.requests(page=page, pagesize="1")] for page in "12"] == [[request], []]
