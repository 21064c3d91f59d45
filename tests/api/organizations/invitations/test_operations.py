"""Every response and refusal of the operations of invitations."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.invitations import (
    ACCEPT,
    GUEST,
    LOOK_UP,
    NO_INVITATION,
    PATH,
    InvitingBusiness,
    inviting_business,
    token_in,
)
from tests.support.organizations.management import NO_ORG, NO_ROLE, NO_UID, OFF, RefusedCall, ask, refusals
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

A = "organization_invitations"


def creating(**members: Any) -> Any:
    return lambda item: of(item).ask(
        **{name: value(of(item)) if callable(value) else value for name, value in members.items()}
    )


def of(business: Any) -> InvitingBusiness:
    """Return the tenant as an inviter."""
    stored: InvitingBusiness = business.__dict__.setdefault("inviting_business", InvitingBusiness(business.tenant))
    return stored


def twice(business: Any) -> TestResponse:
    of(business).invite()
    return of(business).ask(email=GUEST.upper())


def member(business: Any) -> TestResponse:
    of(business).member(of(business).org, email=GUEST)
    return of(business).ask()


def full(business: Any) -> TestResponse:
    of(business).invite("bob@example.com")
    of(business).set_policy(MemberPolicy={"Seats": 2})
    return of(business).ask()


def on_one(method: str, path: str = "", body: Any = None) -> Any:
    """Return what asks for an operation of an invitation that was revoked."""

    def act(business: Any) -> TestResponse:
        invitation = of(business).invite()["Id"]
        answered(of(business).send("DELETE", f"{PATH}/{invitation}"))
        return of(business).send(method, f"{PATH}/{invitation}{path}", body)

    return act


def inactive(method: str, path: str = "", body: Any = None) -> Any:
    def act(business: Any) -> TestResponse:
        invitation = of(business).invite()["Id"]
        of(business).deactivate(of(business).org)
        return of(business).send(method, f"{PATH}/{invitation}{path}", body)

    return act


def of_one(name: str, method: str, path: str = "", body: Any = None) -> list[RefusedCall]:
    return refusals(
        f"{A}.{name}",
        (1267, ask(method, f"{PATH}/{NO_INVITATION}{path}", body), OFF),
        (8169, ask(method, f"{PATH}/{NO_INVITATION}{path}", body)),
        (8175, on_one(method, path, body) if name != "read" else ask("GET", f"{PATH}/acme")),
        (8180, inactive(method, path, body)),
    )


def changing(body: dict[str, Any], url: str | None = None) -> Any:
    def act(business: Any) -> TestResponse:
        invitation = of(business).invite()["Id"]
        return of(business).send("PUT", f"{PATH}/{invitation}", body, invitation_url=url)

    return act


def without_inviter(business: Any) -> TestResponse:
    invitation = of(business).invite()["Id"]
    answered(of(business).send("DELETE", f"/v2/manage/account/{of(business).grace}/orgcontext"))
    return of(business).send("PUT", f"{PATH}/{invitation}", {"RoleIds": [of(business).member_role]})


def limited_resend(method: str, path: str, body: Any = None) -> Any:
    """Resend after the cool-down, where the recipient may get one mail."""

    def act(business: Any) -> TestResponse:
        of(business).tenant.change_settings(sending={"mails": {"amount": 1, "minutes": 60}})
        invitation = of(business).invite()["Id"]
        of(business).wait(seconds=61)
        return of(business).send(method, f"{PATH}/{invitation}{path}", body)

    return act


def limited_invitation(business: Any) -> TestResponse:
    of(business).tenant.change_settings(sending={"mails": {"amount": 1, "minutes": 60}})
    answered(of(business).send("DELETE", f"{PATH}/{of(business).invite()['Id']}"))
    return of(business).ask()


def accepting(email: str = GUEST, prepare: Any = None, token: str = "", *, is_verified: bool = True) -> Any:
    """Return what accepts an invitation with an account of this address, after something changed."""

    def act(business: Any) -> TestResponse:
        item = of(business)
        item.invite()
        found, bearer = item.token(), item.guest(email, is_verified=is_verified)
        if prepare:
            prepare(item)
        return item.accept(token or found, bearer)

    return act


def looking(prepare: Any) -> Any:
    def act(business: Any) -> TestResponse:
        item = of(business)
        item.invite()
        prepare(item)
        return item.tenant.send("GET", LOOK_UP, with_secret=False, invitation_token=item.token())

    return act


def fill(item: InvitingBusiness) -> None:
    item.set_policy(MemberPolicy={"Seats": 1})


def deactivate(item: InvitingBusiness) -> None:
    item.deactivate(item.org)


def off(item: InvitingBusiness) -> None:
    item.tenant.change_settings(**OFF)


REFUSALS: list[RefusedCall] = [
    *refusals(
        f"{A}.list_all",
        (1267, ask("GET", PATH, orgid=NO_ORG), OFF),
        (8117, ask("GET", PATH, orgid="acme")),
        (8118, ask("GET", PATH, orgid=NO_ORG)),
        (8129, ask("GET", PATH)),
        (8180, ask("GET", PATH, orgid="{idle}")),
    ),
    *refusals(
        f"{A}.create",
        (1267, ask("POST", PATH, {"email": GUEST, "roleIds": [], "orgId": NO_ORG, "inviterUid": NO_UID}), OFF),
        (1122, limited_invitation),
        (8044, ask("POST", PATH)),
        (8117, creating(orgId="acme")),
        (8118, creating(orgId=NO_ORG)),
        (8129, creating(orgId=" ")),
        (8124, creating(roleIds=["admin"])),
        (8125, creating(roleIds=[NO_ROLE])),
        (8137, creating(email="ada")),
        (8170, member),
        (8171, twice),
        (8174, creating(inviterUid=NO_UID)),
        (8176, creating(url="https://evil.example/join")),
        (8180, creating(orgId=lambda item: item.idle)),
        (8188, full),
    ),
    *of_one("read", "GET"),
    *of_one("revoke", "DELETE"),
    *of_one("resend", "POST", "/resend"),
    *refusals(f"{A}.resend", (1122, limited_resend("POST", "/resend"))),
    *of_one("update", "PUT", "", {"ResendEmail": False, "RoleIds": []}),
    *refusals(
        f"{A}.update",
        (1122, limited_resend("PUT", "", {"ResendEmail": True})),
        (8044, lambda item: of(item).send("PUT", f"{PATH}/{of(item).invite()['Id']}")),
        (8124, changing({"RolesIds": ["admin"]})),
        (8125, changing({"RoleIds": [NO_ROLE]})),
        (8174, without_inviter),
        (8176, changing({"ResendEmail": True}, "https://evil.example/join")),
    ),
    *refusals(
        f"{A}.look_up",
        (1267, looking(off)),
        (8175, ask("GET", LOOK_UP, invitation_token="any")),
        (8180, looking(deactivate)),
    ),
    *refusals(
        f"{A}.accept",
        (1267, accepting(prepare=off)),
        (8137, accepting(is_verified=False)),
        (8175, accepting(token="any")),
        (8180, accepting(prepare=deactivate)),
        (8188, accepting(prepare=fill)),
    ),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def inviter(new_tenant_server: NewTenantServer) -> InvitingBusiness:
    return inviting_business(new_tenant_server)


@pytest.mark.parametrize("member", ["email", "roleIds", "orgId", "inviterUid"])
def test_missing_member_is_named(inviter: InvitingBusiness, member: str) -> None:
    answer = inviter.ask(**{member: None})
    assert refused(answer) == (400, 908)
    assert member in answer.get_json()["Description"]


def test_change_of_nothing_is_refused(inviter: InvitingBusiness) -> None:
    path = f"{PATH}/{inviter.invite()['Id']}"
    assert refused(inviter.send("PUT", path, {"Other": 1})) == (400, 908)
    assert refused(inviter.send("PUT", path, {"RoleIds": "role"})) == (400, 908)


@pytest.mark.both_databases
def test_invitation_is_answered_read_and_listed(inviter: InvitingBusiness) -> None:
    made = inviter.invite("Ada@Example.com")
    assert re.fullmatch(r"inv_[A-Za-z0-9]{16}", made["Id"])
    assert made == {
        "Id": made["Id"], "EmailId": "Ada@Example.com", "Status": "invited", "RoleIds": [inviter.member_role], "OrgId": inviter.org,
        "InviterUid": inviter.grace, "CreatedDate": made["CreatedDate"], "ExpirationDate": made["ExpirationDate"],
        "ModifiedDate": made["ModifiedDate"],
    }  # fmt: skip
    assert answered(inviter.send("GET", f"{PATH}/{made['Id']}")) == made
    other = inviter.invite("bob@example.com")
    listed = answered(inviter.send("GET", PATH, orgid=inviter.org))
    assert listed == {"Data": [made, other], "TotalCount": 2}
    assert answered(inviter.send("GET", PATH, orgid=inviter.org, page=2, pagesize=1)) == {
        "Data": [other],
        "TotalCount": 2,
    }


@pytest.mark.both_databases
def test_invitation_ends_after_seven_days(inviter: InvitingBusiness) -> None:
    made, token = inviter.invite(), inviter.token()
    assert made["ExpirationDate"][:10] == (inviter.tenant.services.clock.now() + timedelta(days=7)).date().isoformat()
    inviter.wait(days=7)
    assert answered(inviter.send("GET", f"{PATH}/{made['Id']}"))["Status"] == "expired"
    assert refused(inviter.accept(token, inviter.guest())) == (400, 8175)
    assert refused(inviter.send("DELETE", f"{PATH}/{made['Id']}")) == (400, 8175)
    assert inviter.invite()["Id"] != made["Id"]


def test_revoked_invitation_is_answered(inviter: InvitingBusiness) -> None:
    made, token = inviter.invite(), inviter.token()
    revoked = answered(inviter.send("DELETE", f"{PATH}/{made['Id']}"))
    assert {**revoked, "ModifiedDate": ""} == {**made, "Status": "revoked", "ModifiedDate": ""}
    assert refused(inviter.tenant.send("GET", LOOK_UP, invitation_token=token)) == (400, 8175)
    assert refused(inviter.accept(token, inviter.guest())) == (400, 8175)
    assert inviter.invite()["Status"] == "invited"


def test_resend_ends_the_earlier_link(inviter: InvitingBusiness) -> None:
    made, earlier = inviter.invite(), inviter.token()
    path = f"{PATH}/{made['Id']}/resend"
    waiting = inviter.send("POST", path)
    assert refused(waiting) == (429, 429)
    assert int(waiting.headers["Retry-After"]) in range(1, 61)
    inviter.wait(seconds=61)
    assert answered(inviter.send("POST", path)) == {"Resent": True}
    assert inviter.token() != earlier
    assert answered(inviter.send("GET", f"{PATH}/{made['Id']}"))["ExpirationDate"] > made["ExpirationDate"]
    bearer = inviter.guest()
    assert refused(inviter.accept(earlier, bearer)) == (400, 8175)
    answered(inviter.accept(inviter.token(), bearer))


@pytest.mark.both_databases
def test_roles_of_an_open_invitation_change(inviter: InvitingBusiness) -> None:
    made, role = inviter.invite(), inviter.role("Admin", inviter.org)
    path = f"{PATH}/{made['Id']}"
    assert answered(inviter.send("PUT", path, {"RolesIds": [role]}))["RoleIds"] == [role]
    inviter.wait(seconds=61)
    token = inviter.token()
    both = {"RoleIds": [inviter.member_role], "ResendEmail": True}
    assert answered(inviter.send("PUT", path, both))["RoleIds"] == [inviter.member_role]
    assert inviter.token() != token


def test_link_opens_the_page_of_the_application(new_tenant_server: NewTenantServer) -> None:
    item = inviting_business(new_tenant_server, url_whitelist=["https://app.example/join"])
    item.invite(url="https://app.example/join?team=1&invitation_token=theirs")
    line = next(line for line in item.mail()["text"].splitlines() if line.startswith("http"))
    assert line == f"https://app.example/join?team=1&invitation_token={token_in(item.mail())}"
    assert token_in(item.mail()) != "theirs"


def test_open_invitation_is_shown_to_its_link(inviter: InvitingBusiness) -> None:
    made = inviter.invite()
    shown = answered(inviter.tenant.send("GET", LOOK_UP, with_secret=False, invitation_token=inviter.token()))
    assert shown == {
        "Id": made["Id"], "EmailId": GUEST, "Status": "invited", "ExpirationDate": made["ExpirationDate"], "OrgId": inviter.org,
        "Organization": {"Name": "Acme", "Display": {"Name": None, "LogoURL": None, "Color": None, "ThemeName": None}},
        "IsExistingUser": False,
    }  # fmt: skip
    inviter.guest()
    again = answered(inviter.tenant.send("GET", LOOK_UP, with_secret=False, invitation_token=inviter.token()))
    assert again == {**shown, "IsExistingUser": True}
    assert answered(inviter.send("GET", f"{PATH}/{made['Id']}"))["Status"] == "invited"


def test_accepted_invitation_makes_a_member(inviter: InvitingBusiness) -> None:
    made, bearer = inviter.invite(), inviter.guest("ADA@example.com")
    accepted = answered(inviter.accept(inviter.token(), bearer))
    assert accepted["Status"] == "accepted"
    assert [role["RoleId"] for role in accepted["Data"]] == [inviter.member_role]
    assert {role["RoleId"] for role in inviter.members() if role["Email"] == "ADA@example.com"} == {inviter.member_role}
    assert answered(inviter.send("GET", f"{PATH}/{made['Id']}"))["Status"] == "accepted"
    assert refused(inviter.accept(inviter.token(), bearer)) == (400, 8175)
    assert len(inviter.members()) == 2


@pytest.mark.both_databases
def test_invitation_without_roles_gives_the_default(inviter: InvitingBusiness) -> None:
    assert refused(inviter.ask(roleIds=[])) == (400, 908)
    role = inviter.role("Guest", inviter.org)
    inviter.set_policy(MemberPolicy={"DefaultMemberRole": role})
    inviter.invite(roleIds=[])
    assert [item["RoleId"] for item in answered(inviter.accept(inviter.token(), inviter.guest()))["Data"]] == [role]


@pytest.mark.both_databases
def test_deleted_role_is_not_given(inviter: InvitingBusiness) -> None:
    role = inviter.role("Gone", inviter.org)
    inviter.invite(roleIds=[role, inviter.member_role])
    answered(inviter.send("DELETE", f"/v2/manage/roles/{role}"))
    values = answered(inviter.accept(inviter.token(), inviter.guest()))["Data"]
    assert [found["RoleId"] for found in values] == [inviter.member_role]


def test_invitation_of_deleted_roles_is_closed(inviter: InvitingBusiness) -> None:
    role = inviter.role("Gone", inviter.org)
    inviter.invite(roleIds=[role])
    answered(inviter.send("DELETE", f"/v2/manage/roles/{role}"))
    assert refused(inviter.accept(inviter.token(), inviter.guest())) == (400, 8175)
    assert len(inviter.members()) == 1


def test_member_on_the_last_seat_gets_more_roles(inviter: InvitingBusiness) -> None:
    inviter.invite()
    token, bearer = inviter.token(), inviter.guest()
    answered(inviter.accept(token, bearer))
    inviter.set_policy(MemberPolicy={"Seats": 2})
    assert refused(inviter.ask(email="bob@example.com")) == (403, 8188)
    inviter.set_policy(MemberPolicy={"Seats": 3})
    assert inviter.invite("bob@example.com")["Status"] == "invited"
    assert refused(inviter.ask(email="eve@example.com")) == (403, 8188)


def test_body_of_acceptance_is_required(inviter: InvitingBusiness) -> None:
    assert refused(inviter.tenant.send("PUT", ACCEPT, {}, bearer=inviter.guest())) == (400, 908)
