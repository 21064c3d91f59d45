"""People of a verified domain ask to join its organization; its managers or the tenant's server decide."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import delete, select

from app.contract import errors
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.organizations.join_requests.join_request import PAUSE
from app.identity.directory.organizations.tables import organization_roles
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.use_cases.organizations.membership_requests import COOL_DOWN, MAX_MANAGERS
from tests.support.oauth.relying_party import Person, moved
from tests.support.organizations.invitations import PATH as INVITATIONS
from tests.support.organizations.management import NO_ORG, PATH, Business
from tests.support.organizations.members import OWN, refused
from tests.support.organizations.open_organization import DOMAIN, OpenOrganization, by_server, names_of
from tests.support.tenants.tenant_server import NewTenantServer, answered
from tests.support.tenants.tenant_server import refused as refusal

NO_REQUEST = f"join_request_{'0' * 16}"


@pytest.mark.both_databases
def test_person_of_the_domain_asks_and_is_approved(open_org: OpenOrganization) -> None:
    assert names_of(open_org) == [], "no account joins without approval"
    (offer,) = open_org.joinable()
    assert (offer["Id"], offer["Name"], offer["IsRequested"], offer["Until"]) == (
        open_org.team.org,
        "Globex",
        False,
        None,
    )
    request = open_org.open_request()
    assert open_org.joinable()[0]["IsRequested"]
    (listed,) = open_org.team.read("manager", f"/{open_org.team.org}/requests")["Requests"]
    assert (listed["Id"], listed["Label"], listed["Domain"]) == (request, open_org.ada.email, DOMAIN)
    assert open_org.decide("manager", request) == (200, None)
    assert names_of(open_org) == ["Globex"]
    assert open_org.team.roles_of("owner") == ["Owner"]
    seen = {member["Label"]: member["Roles"] for member in open_org.team.members()}
    assert seen[open_org.ada.email] == ["Member"]
    assert open_org.joinable() == []
    assert open_org.team.read("manager", f"/{open_org.team.org}/requests")["Requests"] == []


@pytest.mark.both_databases
def test_account_that_may_ask_shows_the_tab_without_a_mark(
    open_org: OpenOrganization, services: IdentityServices
) -> None:
    def marks() -> list[bool | None]:
        with UnitOfWork(services.database, open_org.team.company.world.tenant_id).separate_transaction() as work:
            return [row[0] for row in work.all(select(accounts.c.has_organizations).where(accounts.c.uid == ada.uid))]

    ada, world = open_org.ada, open_org.team.company.world
    outsider, shop = world.person("eve@other.test"), world.application("shop")
    for person, is_shown in ((ada, True), (outsider, False)):
        browser = world.browser().signed_in(person)
        assert answered(browser.send("GET", OWN, b""))["Person"]["HasOrganizations"] is is_shown
        step = world.browser()
        begun = step.authorize(shop.authorization_parameters())
        step.sign_in(begun.interaction_id, person.email, person.password)
    open_org.open_request()
    assert marks() == [None], "a sign-in of an account without organizations costs no statement"


def test_repeated_asking_makes_one_request(open_org: OpenOrganization) -> None:
    assert [open_org.ask() for _ in range(3)] == [(200, None)] * 3
    assert len(open_org.requests()) == 1
    assert open_org.subjects("owner@globex.test") == ["Someone asked to join Globex"]


@pytest.mark.parametrize(
    "columns",
    [
        {"email_verified": False},
        {"email": "ada@other.test", "emails": [{"Type": "Primary", "Value": "ada@other.test", "verified": True}]},
    ],
    ids=["unverified", "another domain"],
)
def test_others_learn_nothing_of_the_organization(open_org: OpenOrganization, columns: dict[str, Any]) -> None:
    open_org.team.company.world.change_settings(email_verification="optional")
    open_org.ada.set_columns(**columns)
    person = Person(
        open_org.ada.services, open_org.ada.tenant_id, open_org.ada.uid, open_org.ada.email, open_org.ada.password
    )
    assert open_org.joinable(person) == []
    assert open_org.ask(person) == open_org.ask(person, NO_ORG) == refused(errors.UnknownOrganization)
    assert open_org.requests() == []


@pytest.mark.both_databases
def test_unverified_domain_offers_nothing(open_org: OpenOrganization) -> None:
    addresses = [(open_org.ada.email, "Primary"), ("ada@initech.test", "Secondary")]
    open_org.ada.set_columns(emails=[{"Type": kind, "Value": value, "verified": True} for value, kind in addresses])
    business, domains = open_org.team.company.business, [{"DomainName": "initech.test", "IsVerified": False}]
    other = business.create("Initech", Domains=domains)
    answered(business.send("PUT", f"{PATH}/{other}/policy", {"JITPolicy": {"RequireApproval": True}}))
    assert [item["Name"] for item in open_org.joinable()] == ["Globex"]
    assert open_org.ask(org=other) == refused(errors.UnknownOrganization)
    answered(business.send("PUT", f"{PATH}/{other}", {"Domains": [{**domains[0], "IsVerified": True}]}))
    assert [item["Name"] for item in open_org.joinable()] == ["Globex", "Initech"]
    assert open_org.ask(org=other) == (200, None)


def test_policy_and_activity_decide_the_offer(open_org: OpenOrganization) -> None:
    open_org.set_policy(JITPolicy={"RequireApproval": False})
    assert open_org.joinable() == []
    assert open_org.ask() == refused(errors.UnknownOrganization)
    open_org.set_policy(JITPolicy={"RequireApproval": True})
    assert len(open_org.joinable()) == 1
    open_org.team.company.business.deactivate(open_org.team.org)
    assert open_org.joinable() == []
    assert open_org.ask() == refused(errors.UnknownOrganization)


def test_tenant_without_organizations_offers_nothing(open_org: OpenOrganization) -> None:
    open_org.team.company.world.change_settings(organizations={"enabled": False})
    assert open_org.joinable() == []
    assert open_org.ask() == refused(errors.UnknownOrganization)
    assert refusal(by_server(open_org, NO_REQUEST)) == (400, errors.OrganizationsOff.code)


def test_approval_needs_no_connection_but_joining_does(open_org: OpenOrganization) -> None:
    path = f"{PATH}/{open_org.team.org}/policy"
    body = {"JITPolicy": {"Enabled": True}}
    assert refusal(open_org.team.company.business.send("PUT", path, body)) == (403, errors.JitWithoutConnection.code)
    assert answered(open_org.team.company.business.send("GET", path))["JITPolicy"]["RequireApproval"] is True


def test_member_has_nothing_to_ask_for(open_org: OpenOrganization) -> None:
    assert open_org.joinable(open_org.team.people["editor"]) == []
    assert open_org.ask(open_org.team.people["editor"]) == refused(errors.UnknownOrganization)


@pytest.mark.both_databases
def test_declined_person_asks_again_after_a_pause(open_org: OpenOrganization, services: IdentityServices) -> None:
    assert open_org.decide("owner", open_org.open_request(), is_approved=False) == (200, None)
    (offer,) = open_org.joinable()
    assert (offer["IsRequested"], offer["Until"] is not None) == (False, True)
    assert open_org.ask() == refused(errors.JoinRequestRefused)
    with moved(services, days=PAUSE.days, minutes=1):
        assert open_org.joinable()[0]["Until"] is None
        assert open_org.ask() == (200, None)
    assert [request["Status"] for request in open_org.requests()] == ["open"]


def test_removed_member_asks_again(open_org: OpenOrganization) -> None:
    assert open_org.decide("owner", open_org.open_request()) == (200, None)
    assert open_org.team.send("owner", "/members/remove", Uid=open_org.ada.uid) == (200, None)
    assert open_org.ask() == (200, None)
    assert open_org.decide("owner", open_org.open_request()) == (200, None)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("end", ["removed", "left", "roles taken", "all left"])
def test_request_before_the_membership_ends_with_it(open_org: OpenOrganization, end: str) -> None:
    open_org.open_request()
    business, org, role = open_org.team.company.business, open_org.team.org, open_org.team.roles["Editor"]
    answered(business.assign(open_org.ada.uid, org, role))
    of_account = f"/v2/manage/account/{open_org.ada.uid}/orgcontext"
    if end == "removed":
        assert open_org.team.send("owner", "/members/remove", Uid=open_org.ada.uid) == (200, None)
    elif end == "left":
        browser = open_org.team.company.world.browser().signed_in(open_org.ada)
        answered(browser.send("POST", f"{OWN}/leave", json.dumps({"Organization": org}).encode()))
    elif end == "roles taken":
        answered(business.send("DELETE", f"{of_account}/{org}/roles", {"RoleIds": [role]}))
    else:
        answered(business.send("DELETE", of_account))
    assert open_org.requests() == []
    assert not open_org.joinable()[0]["IsRequested"]


def test_role_taken_from_a_member_keeps_other_requests(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    business, other = open_org.team.company.business, open_org.team.company.business.create("Initech")
    answered(business.assign(open_org.ada.uid, other, business.role("Guest", org=other)))
    answered(business.send("DELETE", f"/v2/manage/account/{open_org.ada.uid}/orgcontext/{other}"))
    assert open_org.decide("owner", request) == (200, None)


@pytest.mark.parametrize("name", ["editor", "outsider"])
def test_only_managers_see_and_decide_requests(open_org: OpenOrganization, name: str) -> None:
    request = open_org.open_request()
    unknown = refused(errors.UnknownOrganization)
    assert open_org.decide(name, request) == open_org.decide(name, request, is_approved=False) == unknown
    assert (
        open_org.team.read(name, f"/{open_org.team.org}/requests", 404)["ErrorCode"] == errors.UnknownOrganization.code
    )
    browser = open_org.team.company.world.browser().signed_in(open_org.ada)
    body = {"Organization": open_org.team.org, "Request": request}
    assert browser.send("POST", f"{OWN}/requests/approve", json.dumps(body).encode()).status_code == 404
    assert names_of(open_org) == []


def test_request_belongs_to_one_organization(open_org: OpenOrganization, new_tenant_server: NewTenantServer) -> None:
    request, business = open_org.open_request(), open_org.team.company.business
    other = business.create("Initech")
    open_org.team.company.join(open_org.team.people["outsider"], other, "Chief", "org:own")
    assert open_org.decide("outsider", request, org=other) == refused(errors.UnknownJoinRequest)
    assert refusal(by_server(open_org, request, org=other)) == (404, errors.UnknownJoinRequest.code)
    foreign = Business(new_tenant_server())
    path = f"{PATH}/{{}}/joinrequests/{request}/approve"
    assert refusal(foreign.send("POST", path.format(foreign.org))) == (404, errors.UnknownJoinRequest.code)
    assert refusal(foreign.send("POST", path.format(open_org.team.org))) == (404, errors.UnknownOrganization.code)
    assert answered(foreign.send("GET", f"{PATH}/{foreign.org}/joinrequests"))["Data"] == []
    assert [item["Status"] for item in open_org.requests()] == ["open"]


@pytest.mark.both_databases
def test_server_lists_approves_and_declines(open_org: OpenOrganization) -> None:
    bob = open_org.team.company.world.person(f"bob@{DOMAIN}")
    first, second = open_org.open_request(), open_org.open_request(bob)
    assert [request["Id"] for request in open_org.requests(status="open")] == [first, second]
    assert [item["Id"] for item in open_org.requests(page="2", pagesize="1")] == [second]
    approved, declined = answered(by_server(open_org, first)), answered(by_server(open_org, second, "decline"))
    assert (approved["Status"], approved["Uid"], approved["OrgId"], approved["DomainName"], approved["DecidedBy"]) == (
        "approved",
        open_org.ada.uid,
        open_org.team.org,
        DOMAIN,
        None,
    )
    assert (declined["Status"], declined["DecidedDate"] is not None) == ("declined", True)
    assert names_of(open_org) == ["Globex"]
    assert names_of(open_org, bob) == []
    assert [item["Id"] for item in open_org.requests(status="declined")] == [second]


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("request_id", [NO_REQUEST, "x", "role_0000000000000000"])
def test_unknown_request_is_refused(open_org: OpenOrganization, request_id: str) -> None:
    for decision in ("approve", "decline"):
        assert refusal(by_server(open_org, request_id, decision)) == (404, errors.UnknownJoinRequest.code)


def test_server_is_refused_by_the_rules_of_organizations(open_org: OpenOrganization) -> None:
    request, business = open_org.open_request(), open_org.team.company.business
    for org, expected in ((NO_ORG, (404, 8118)), ("x", (400, 8117)), (" ", (400, 8129))):
        assert refusal(by_server(open_org, request, org=org)) == expected
        assert refusal(business.send("GET", f"{PATH}/{org}/joinrequests")) == expected
    business.deactivate(open_org.team.org)
    for decision in ("approve", "decline"):
        assert refusal(by_server(open_org, request, decision)) == (403, 8180)
    assert refusal(business.send("GET", f"{PATH}/{open_org.team.org}/joinrequests")) == (403, 8180)


def test_decided_request_stays_decided(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    assert open_org.decide("owner", request, is_approved=False) == (200, None)
    assert open_org.decide("manager", request) == refused(errors.JoinRequestClosed)
    assert refusal(by_server(open_org, request)) == (409, errors.JoinRequestClosed.code)
    assert names_of(open_org) == []


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("loss", ["address", "deletion"])
def test_request_without_its_reason_cannot_be_approved(
    open_org: OpenOrganization, loss: str, services: IdentityServices
) -> None:
    request = open_org.open_request()
    moved_out = {
        "email": "ada@other.test",
        "emails": [{"Type": "Primary", "Value": "ada@other.test", "verified": True}],
    }
    open_org.ada.set_columns(**(moved_out if loss == "address" else {"is_deleted": True}))
    assert open_org.decide("owner", request) == refused(errors.JoinRequestClosed)
    assert open_org.decide("owner", request, is_approved=False) == (200, None)


def test_role_of_new_members_is_needed(open_org: OpenOrganization) -> None:
    open_org.set_policy(MemberPolicy={"DefaultMemberRole": None})
    request = open_org.open_request()
    assert open_org.decide("owner", request) == refused(errors.WrongDefaultMemberRole)
    answered(
        open_org.team.company.business.send(
            "PUT", f"/v2/manage/roles/{open_org.team.company.business.role('Guest')}/default"
        )
    )
    assert open_org.decide("owner", request) == (200, None)
    assert open_org.team.members()[-1]["Roles"] == ["Guest"]


def test_deleted_role_of_new_members_is_no_role(open_org: OpenOrganization, services: IdentityServices) -> None:
    request = open_org.open_request()
    tenant_id, roles = open_org.team.company.world.tenant_id, organization_roles
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        work.run(delete(roles).where(roles.c.tenant_id == tenant_id, roles.c.role_id == open_org.role))
    assert open_org.decide("owner", request) == refused(errors.WrongDefaultMemberRole)
    assert refusal(by_server(open_org, request)) == refused(errors.WrongDefaultMemberRole)
    assert [item["Status"] for item in open_org.requests()] == ["open"]


def test_seats_bound_approvals(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    open_org.set_policy(MemberPolicy={"Seats": 4})
    body = {
        "email": "guest@other.test",
        "roleIds": [open_org.role],
        "orgId": open_org.team.org,
        "inviterUid": open_org.team.people["owner"].uid,
    }
    invitation = answered(open_org.team.company.business.send("POST", INVITATIONS, body))["Id"]
    assert open_org.decide("owner", request) == refused(errors.NoSeatLeft), "the invitation holds the last seat"
    answered(open_org.team.company.business.send("DELETE", f"{INVITATIONS}/{invitation}"))
    assert open_org.decide("owner", request) == (200, None)


@pytest.mark.both_databases
def test_account_that_became_a_member_keeps_its_roles(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    answered(open_org.team.company.business.assign(open_org.ada.uid, open_org.team.org, open_org.team.roles["Editor"]))
    assert open_org.requests(status="open") == []
    assert open_org.decide("owner", request) == (200, None)
    assert open_org.team.members()[-1]["Roles"] == ["Editor"]


def test_everybody_concerned_gets_an_email(open_org: OpenOrganization) -> None:
    bob = open_org.team.company.world.person(f"bob@{DOMAIN}")
    first, second = open_org.open_request(), open_org.open_request(bob)
    for name in ("owner", "manager"):
        assert open_org.subjects(f"{name}@globex.test") == ["Someone asked to join Globex"] * 2
    assert open_org.subjects("editor@globex.test") == []
    open_org.decide("owner", first)
    open_org.decide("owner", second, is_approved=False)
    assert open_org.subjects(open_org.ada.email) == ["You joined Globex"]
    assert open_org.subjects(bob.email) == ["Your request to join Globex"]


def test_emails_to_managers_are_bounded(open_org: OpenOrganization) -> None:
    for number in range(MAX_MANAGERS):
        person = open_org.team.company.world.person(f"m{number}@managers.test")
        answered(open_org.team.company.business.assign(person.uid, open_org.team.org, open_org.team.roles["Manager"]))
    for number in range(COOL_DOWN.amount + 2):
        open_org.open_request(open_org.team.company.world.person(f"p{number}@{DOMAIN}"))
    received = [
        address
        for address in (f"m{number}@managers.test" for number in range(MAX_MANAGERS))
        if open_org.subjects(address)
    ]
    assert len(received) == MAX_MANAGERS - 2, "owner and manager are older members"
    assert len(open_org.subjects("owner@globex.test")) == COOL_DOWN.amount
    assert len(open_org.requests(status="open")) == COOL_DOWN.amount + 2


def test_blocked_manager_gets_no_email(open_org: OpenOrganization) -> None:
    open_org.team.people["manager"].close()
    open_org.open_request()
    assert open_org.subjects("manager@globex.test") == []
    assert open_org.subjects("owner@globex.test") == ["Someone asked to join Globex"]


def test_requests_and_decisions_are_audited(open_org: OpenOrganization, services: IdentityServices) -> None:
    request = open_org.open_request()
    open_org.decide("manager", request)
    tenant_id = open_org.team.company.world.tenant_id
    with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
        rows = work.all(select(audit).where(audit.c.tenant_id == tenant_id))
    found = {row.event: (row.uid, row.facts) for row in rows if row.event.startswith("organization.join_")}
    assert {event: uid for event, (uid, _) in found.items()} == {
        "organization.join_requested": open_org.ada.uid,
        "organization.join_approved": open_org.team.people["manager"].uid,
    }
    for _, facts in found.values():
        assert (facts["account"], facts["org_id"], facts["join_request_id"]) == (
            open_org.ada.uid,
            open_org.team.org,
            request,
        )


@pytest.mark.both_databases
def test_deleted_account_and_organization_leave_no_request(open_org: OpenOrganization) -> None:
    open_org.open_request()
    answered(open_org.team.company.business.send("DELETE", f"/identity/v2/manage/account/{open_org.ada.uid}"))
    assert open_org.requests() == []
    request = open_org.open_request(open_org.team.company.world.person(f"bob@{DOMAIN}"))
    answered(open_org.team.company.business.send("DELETE", f"{PATH}/{open_org.team.org}"))
    assert refusal(by_server(open_org, request)) == (404, 8118)


def test_signed_out_browser_is_refused(open_org: OpenOrganization) -> None:
    body = json.dumps({"Organization": open_org.team.org, "Request": NO_REQUEST}).encode()
    browser = open_org.team.company.world.browser()
    for path in ("/ask", "/requests/approve", "/requests/decline"):
        assert browser.send("POST", f"{OWN}{path}", body).status_code == errors.NotAuthenticated.status
    assert browser.send("GET", f"{OWN}/{open_org.team.org}/requests", b"").status_code == errors.NotAuthenticated.status


def test_requests_are_listed_page_by_page(open_org: OpenOrganization) -> None:
    request = open_org.open_request()
    assert [[item["Id"] for item in open_org.requests(page=page, pagesize="1")] for page in "12"] == [[request], []]
