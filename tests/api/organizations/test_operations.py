"""Every response and refusal of the operations of organizations and their policies."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.management import (
    NO_ORG,
    NO_ROLE,
    OFF,
    PATH,
    Business,
    RefusedCall,
    a_business,
    ask,
    refusals,
)
from tests.support.tenants.machines import ask as ask_machine
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

DISPLAY = {"Name": "Acme", "LogoURL": "https://acme.example/logo.svg", "Color": "#0A7D55", "ThemeName": None}
BODY = {
    "Name": "Acme Ltd",
    "Display": DISPLAY,
    "Domains": [{"DomainName": "Acme.example", "IsVerified": True}, {"DomainName": "acme.test"}],
    "Metadata": {"Plan": "gold", "Seats": 7, "tags": ["a", {"b": None}]},
}
NO_POLICIES: dict[str, Any] = {
    "JITPolicy": {"Enabled": None, "RequireApproval": None},
    "MFAPolicy": {"EnforcementMode": None},
    "MemberPolicy": {"DefaultMemberRole": None, "Seats": None},
    "PasswordPolicy": {
        "ExpiryDays": None, "MinLength": None, "MaxLength": None, "RequireLowercase": None, "RequireUppercase": None,
        "RequireNumber": None, "RequireSpecialChar": None,
    },
    "SessionPolicy": {"AccessTokenTTL": None, "RefreshTokenTTL": None},
    "MethodPolicy": {"AllowedMethods": None, "LdapProvider": None},
}  # fmt: skip
DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
ONE = f"{PATH}/{{org}}"


def of_one(
    operation: str, method: str, path: str = "", body: Any = None, *, is_open: bool = False
) -> list[RefusedCall]:
    """Return the refusals of every operation of one organization; `is_open`: it may be inactive."""
    lines = [
        (1267, ask(method, f"{PATH}/{NO_ORG}{path}", body), OFF),
        (8117, ask(method, f"{PATH}/acme{path}", body)),
        (8118, ask(method, f"{PATH}/{NO_ORG}{path}", body)),
        (8129, ask(method, f"{PATH}/%20{path}", body)),
    ]
    return refusals(operation, *lines, *([] if is_open else [(8180, ask(method, f"{PATH}/{{idle}}{path}", body))]))


def taken(business: Business, method: str, path: str, body: Any) -> Any:
    business.create("Taken")
    return business.send(method, path, body)


def claim(business: Business, method: str, path: str, name: str) -> Any:
    business.create("Owner", Domains=[{"DomainName": "owned.example", "IsVerified": True}])
    return business.send(method, path, {"Name": name, "Domains": [{"DomainName": "owned.example"}]})


def full(business: Business) -> Any:
    business.create()
    return business.send("POST", PATH, {"Name": "One too many"})


TRIAL = {"trial_ends_at": "2999-01-01", "organizations": {"trial_limit": 1}}
POLICY = "/policy"
MFA_ON = {"two_factor": "optional"}


def policy(**members: Any) -> Any:
    return ask("PUT", f"{ONE}{POLICY}", members)


REFUSALS: list[RefusedCall] = [
    *refusals("organizations.list", (1267, ask("GET", PATH), OFF)),
    *refusals(
        "organizations.create",
        (1267, ask("POST", PATH, {"Name": "x"}), OFF),
        (7900, ask("POST", PATH, {"Display": {}})),
        (7914, lambda item: item.send("POST", PATH)),
        (8116, lambda item: taken(item, "POST", PATH, {"Name": " tAKEN "})),
        (8157, lambda item: claim(item, "POST", PATH, "Second")),
        (8188, full, TRIAL),
    ),
    *of_one("organizations.read", "GET"),
    *of_one("organizations.update", "PUT", body={"Name": "x"}),
    *refusals(
        "organizations.update",
        (7934, ask("PUT", ONE)),
        (8116, lambda item: taken(item, "PUT", f"{PATH}/{item.org}", {"Name": "TAKEN"})),
        (8157, lambda item: claim(item, "PUT", f"{PATH}/{item.org}", "Acme")),
    ),
    *of_one("organizations.delete", "DELETE", is_open=True),
    *of_one("organizations.set_status", "PUT", "/status", {"Active": True}, is_open=True),
    *refusals(
        "organizations.set_status",
        (8166, ask("PUT", f"{ONE}/status", {"Active": True})),
        (8167, ask("PUT", f"{ONE}/status", {"Active": "true"})),
    ),
    *of_one("organizations.read_policies", "GET", POLICY),
    *of_one("organizations.set_policies", "PUT", POLICY, {"JITPolicy": {"Enabled": False}}),
    *refusals(
        "organizations.set_policies",
        (8159, policy(MemberPolicy={"DefaultMemberRole": NO_ROLE})),
        (8160, policy(MFAPolicy={"EnforcementMode": "force"})),
        (8181, policy(JITPolicy={"Enabled": True})),
    ),
]


@every_refusal(REFUSALS, stored={
        "organizations.create 8188", "organizations.read_policies 8180", "organizations.set_status 8166",
        "organizations.update 8116", "organizations.update 8157",
    })  # fmt: skip
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


def test_create_answers_the_whole_organization(business: Business) -> None:
    made = answered(business.send("POST", PATH, BODY))
    first, second = made.pop("Domains")
    assert re.fullmatch(r"org_[A-Za-z0-9]{16}", made.pop("Id"))
    assert DATE.fullmatch(made["CreatedDate"])
    assert made.pop("CreatedDate") == made.pop("ModifiedDate")
    assert made == {
        "Name": "Acme Ltd", "Display": BODY["Display"], "IsActive": True, "Metadata": BODY["Metadata"], "Connections": [],
        "Policies": NO_POLICIES,
    }  # fmt: skip
    assert re.fullmatch(r"org_domain_[A-Za-z0-9]{16}", first.pop("Id"))
    assert re.fullmatch(r"[A-Za-z0-9]{32}", first.pop("VerificationToken"))
    assert first == {
        "DomainName": "acme.example", "IsVerified": True, "VerificationStrategy": "manual", "Status": "verified",
        "Reason": None,
    }  # fmt: skip
    assert (second["IsVerified"], second["VerificationStrategy"], second["Status"]) == (False, "dns_txt", "pending")


@pytest.mark.both_databases
def test_read_and_list_answer_what_was_created(business: Business) -> None:
    made = answered(business.send("POST", PATH, BODY))
    plain = answered(business.send("POST", PATH, {"Name": "Plain"}))
    assert plain["Display"] == {"Name": None, "LogoURL": None, "Color": None, "ThemeName": None}
    assert plain["Metadata"] == {}
    assert plain["Domains"] == []
    assert answered(business.send("GET", f"{PATH}/{made['Id']}")) == made
    assert answered(business.send("GET", PATH)) == {"Data": [made, plain]}
    assert answered(business.send("GET", PATH, page=2, pagesize=1)) == {"Data": [plain]}
    assert answered(business.send("GET", PATH, page=9)) == {"Data": []}
    assert answered(business.send("GET", PATH, name="LAIN")) == {"Data": [plain]}
    assert answered(business.send("GET", PATH, name="%")) == {"Data": []}
    assert refused(business.send("GET", PATH, page=0)) == (400, 7900)
    assert refused(business.send("GET", PATH, pagesize=201)) == (400, 7900)


def test_update_changes_only_what_it_has(business: Business) -> None:
    made = answered(business.send("POST", PATH, BODY))
    path = f"{PATH}/{made['Id']}"
    changed = answered(business.send("PUT", path, {"Metadata": {"Plan": "silver"}}))
    same = ("Id", "Name", "Display", "Domains", "CreatedDate", "IsActive")
    assert [changed[name] for name in same] == [made[name] for name in same]
    assert changed["Metadata"] == {"Plan": "silver"}
    renamed = answered(business.send("PUT", path, {"Name": "ACME LTD", "Display": {"Name": "A"}}))
    assert (renamed["Name"], renamed["Display"]) == ("ACME LTD", dict(DISPLAY, Name="A"))
    domains = [{"DomainName": "acme.example"}, {"DomainName": "new.example"}]
    replaced = answered(business.send("PUT", path, {"Domains": domains}))["Domains"]
    assert replaced[0] == made["Domains"][0]
    assert [item["DomainName"] for item in replaced] == ["acme.example", "new.example"]
    assert answered(business.send("PUT", path, {"Domains": []}))["Domains"] == []


def test_update_verifies_a_pending_domain(business: Business) -> None:
    made = answered(business.send("POST", PATH, {"Name": "A", "Domains": [{"DomainName": "a.example"}]}))
    body = {"Domains": [{"DomainName": "a.example", "IsVerified": True}]}
    assert answered(business.send("PUT", f"{PATH}/{made['Id']}", body))["Domains"][0]["IsVerified"] is True


def test_status_changes_and_is_shown(business: Business) -> None:
    path = f"{PATH}/{business.org}"
    assert answered(business.send("PUT", f"{path}/status", {"Active": False})) == {"IsActive": False}
    assert refused(business.send("GET", path)) == (403, 8180)
    assert answered(business.send("GET", PATH))["Data"][0]["IsActive"] is False
    assert answered(business.send("PUT", f"{path}/status", {"Active": True})) == {"IsActive": True}
    assert answered(business.send("GET", path))["IsActive"] is True


@pytest.mark.both_databases
def test_deleted_organization_is_gone_with_its_parts(business: Business) -> None:
    role = business.role(org=business.org)
    uid = business.member(business.org, role)
    assert answered(business.send("DELETE", f"{PATH}/{business.org}")) == {"IsDeleted": True}
    assert refused(business.send("DELETE", f"{PATH}/{business.org}")) == (404, 8118)
    assert refused(business.send("GET", f"/v2/manage/roles/{role}")) == (404, 8125)
    assert answered(business.send("GET", f"/v2/manage/account/{uid}/orgcontext")) == {"Data": []}
    assert business.tenant.read(uid)["Organizations"] is None
    assert business.create("Acme") != business.org


MALFORMED_MEMBER = [
    {"Name": ""},
    {"Name": "  "},
    {"Name": "x" * 101},
    {"Name": "\u0410cme"},  # a Cyrillic letter in a Latin word
    {"Name": "Ac\u200bme"},
    {"Name": "Acme\u202e"},
    {"Name": "Ok", "Display": {"Name": "\u0410cme"}},
    {"Name": "Ok", "Display": {"LogoURL": "http://acme.example/logo.svg"}},
    {"Name": "Ok", "Display": {"LogoURL": "javascript:alert(1)"}},
    {"Name": "Ok", "Metadata": {"a": "x" * 17_000}},
    {"Name": "Ok", "Metadata": {str(number): 1 for number in range(51)}},
    {"Name": "Ok", "Metadata": {"": 1}},
    {"Name": "Ok", "Metadata": {"x" * 101: 1}},
    {"Name": "Ok", "Metadata": [1]},
    {"Name": "Ok", "Domains": [{"DomainName": "nodots"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "a b.example"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "ada@acme.example"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "[127.0.0.1]"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "gmail.com"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "in.mailinator.com"}]},
    {"Name": "Ok", "Domains": [{"DomainName": "a.example"}, {"DomainName": "A.EXAMPLE."}]},
]


def test_malformed_member_is_refused(business: Business, subtests: pytest.Subtests) -> None:
    for body in MALFORMED_MEMBER:
        with subtests.test(str(body)[:60]):
            answer = business.send("POST", PATH, body)
            assert refused(answer) == (400, 7900), answer.text
            assert answered(business.send("GET", PATH)) == {"Data": []}


@pytest.mark.parametrize("name", ["ACME", "\uff21cme", " Acme ", "acme"])
def test_name_that_differs_in_form_alone_is_taken(business: Business, name: str) -> None:
    business.create("Acme")
    assert refused(business.send("POST", PATH, {"Name": name})) == (409, 8116)


def test_pending_domain_blocks_no_other_organization(business: Business) -> None:
    business.create("One", Domains=[{"DomainName": "both.example"}])
    business.create("Two", Domains=[{"DomainName": "both.example"}])
    path = f"{PATH}/{business.create('Three')}"
    body = {"Domains": [{"DomainName": "both.example", "IsVerified": True}]}
    assert answered(business.send("PUT", path, body))["Domains"][0]["IsVerified"] is True
    assert refused(business.send("POST", PATH, {"Name": "Four", "Domains": [{"DomainName": "both.example"}]})) == (
        409,
        8157,
    )


def test_policies_change_member_by_member(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server, **MFA_ON)
    path = f"{PATH}/{business.org}/policy"
    assert answered(business.send("GET", path)) == NO_POLICIES
    role = business.role()
    first: dict[str, Any] = {
        "MFAPolicy": {"EnforcementMode": "force"}, "MemberPolicy": {"DefaultMemberRole": role},
        "PasswordPolicy": {"MinLength": 12, "RequireSpecialChar": True},
    }  # fmt: skip
    changed = answered(business.send("PUT", path, first))
    expected = {
        **NO_POLICIES, "MFAPolicy": first["MFAPolicy"], "MemberPolicy": {**NO_POLICIES["MemberPolicy"], "DefaultMemberRole": role},
        "PasswordPolicy": {**NO_POLICIES["PasswordPolicy"], **first["PasswordPolicy"]},
    }  # fmt: skip
    assert changed == expected
    second = {"PasswordPolicy": {"MinLength": None, "MaxLength": 64}, "SessionPolicy": {"AccessTokenTTL": 14400}}
    changed = answered(business.send("PUT", path, second))
    expected["PasswordPolicy"] = {**NO_POLICIES["PasswordPolicy"], "RequireSpecialChar": True, "MaxLength": 64}
    expected["SessionPolicy"] = {"AccessTokenTTL": 14400, "RefreshTokenTTL": None}
    assert changed == expected == answered(business.send("GET", path))
    assert answered(business.send("GET", f"{PATH}/{business.org}"))["Policies"] == expected


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"two_factor": "disabled"}, ["none"]),
        ({"two_factor": "required"}, ["force"]),
        ({"two_factor": "optional"}, ["optional", "force"]),
        ({"two_factor": "optional", "second_factors": {"totp": False, "email": False, "passkey": False}}, ["optional"]),
    ],
    ids=str,
)
def test_mfa_mode_agrees_with_the_tenant(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], allowed: list[str]
) -> None:
    business = a_business(new_tenant_server, **settings)
    for mode in ("optional", "force", "none"):
        answer = business.send("PUT", f"{PATH}/{business.org}/policy", {"MFAPolicy": {"EnforcementMode": mode}})
        assert (answer.status_code == 200) is (mode in allowed), (mode, answer.text)
        assert mode in allowed or refused(answer) == (403, 8160)


@pytest.mark.parametrize(
    "body",
    [
        {"MFAPolicy": {"EnforcementMode": "always"}},
        {"PasswordPolicy": {"MinLength": 0}},
        {"PasswordPolicy": {"MinLength": 20, "MaxLength": 10}},
        {"SessionPolicy": {"AccessTokenTTL": 1}},
        {"JITPolicy": "yes"},
    ],
    ids=str,
)
def test_malformed_policy_is_refused(business: Business, body: dict[str, Any]) -> None:
    assert refused(business.send("PUT", f"{PATH}/{business.org}/policy", body)) == (400, 7900)


def test_machine_needs_the_scope_of_the_operation(business: Business) -> None:
    reader = machine(business.tenant, "organization:read")
    assert answered(ask_machine(business.tenant, reader, "GET", PATH)) == {"Data": []}
    assert refused(ask_machine(business.tenant, reader, "POST", PATH, {"Name": "x"})) == (403, 6002)
    assert refused(ask_machine(business.tenant, reader, "GET", "/v2/manage/roles")) == (403, 6002)
    writer = machine(business.tenant, "organization:create")
    body = {"Name": "By machine", "Domains": [{"DomainName": "m.example", "IsVerified": True}]}
    assert answered(ask_machine(business.tenant, writer, "POST", PATH, body))["Domains"][0]["IsVerified"] is True
