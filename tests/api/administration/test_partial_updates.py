"""PUTs that keep absent members: an absent member stays, null or an empty value clears it. All others replace."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from app.contract.catalogue import load_catalogue
from app.identity.platform import saml_certificates
from app.kit.operations.partial_update import PartialUpdate
from app.kit.resources.resource import MASKED, UPDATE, Resource
from tests.support.operations.put_kinds import KEEPS, PUTS, REPLACES
from tests.support.operations.resource_samples import SAMPLES, private_key
from tests.support.operations.resources import EVERY, manager
from tests.support.organizations.management import PATH, Business, a_business
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

Body = dict[str, Any]
Send = Callable[[str, str, Body | None], Body]
PROVIDERS, SAML = "/v2/manage/providers", "/v2/manage/custom-providers/saml"


@cache
def certificate() -> tuple[str, str]:
    return saml_certificates.generate("partner", datetime(2026, 1, 1, tzinfo=UTC))


@dataclass(frozen=True)
class PartialPut:
    """A keeping PUT.

    Args:
        make: creates the item to change, with all of these members, and returns its path.
        change: one member, and its new value.
        cleared: members, each with the value that null and an empty text leave.
        required: members that cannot be cleared.
    """

    make: Callable[[Send], str]
    change: Body
    cleared: Body
    required: tuple[str, ...] = ()


def social(send: Send) -> str:
    apple = {"Certificate": private_key(), "KeyIdentifier": "K1", "ServiceId": "s", "BundleId": "b", "TeamId": "T1"}
    body = {"Key": "client", "Secret": "s", "IsActive": True, "ExtraField1": "one", "ExtraField2": "two"}
    send("PUT", f"{PROVIDERS}/APPLE", {**body, "AppleSecretConfiguration": apple})
    return f"{PROVIDERS}/APPLE"


def saml(send: Send) -> str:
    pem, key = certificate()
    body = {
        "Provider": "partner", "FriendlyProviderName": "Partner", "DataMap": {"Email": "mail"}, "Domain": "partner.example",
        "DefaultLogoutUrl": "https://partner.example/out", "IdpCertificate": {"Certificate": pem, "Key": key},
        "IdentityProvider": {"Location": "https://partner.example/in", "LogOut": "https://partner.example/slo"},
        "RelayStateParameter": "State", "IsIdpInitiated": True,
    }  # fmt: skip
    send("POST", SAML, body)
    return f"{SAML}/partner"


def client(send: Send) -> str:
    body = {"AppName": "shop", "RedirectURIs": ["https://shop.example/in"], "DisplayName": "Shop", "IdTokenTTL": 60}
    send("POST", "/v2/manage/oauth-clients", body)
    return "/v2/manage/oauth-clients/shop"


def organization(send: Send) -> str:
    body = {
        "Name": "Acme", "Display": {"Name": "A", "LogoURL": "https://acme.example/l.svg", "Color": "#0A7D55", "ThemeName": None},
        "Metadata": {"Plan": "gold"}, "Domains": [{"DomainName": "acme.example", "IsVerified": True}],
    }  # fmt: skip
    return f"{PATH}/{send('POST', PATH, body)['Id']}"


def policies(send: Send) -> str:
    path = f"{organization(send)}/policy"
    password = {"MinLength": 9, "MaxLength": 99}
    send(
        "PUT",
        path,
        {"PasswordPolicy": password, "MemberPolicy": {"Seats": 5}, "SessionPolicy": {"AccessTokenTTL": 600}},
    )
    return path


def connection(send: Send) -> str:
    body = {
        "Name": "idp", "ConnectionType": "oidc_custom", "Issuer": "https://idp.example", "ClientId": "client",
        "ClientSecret": "s", "AuthorizationUrl": "https://idp.example/a", "TokenUrl": "https://idp.example/t",
        "UserInfoUrl": "https://idp.example/u", "Scopes": ["openid"], "Domain": "acme.example",
        "TokenAuthMethod": "client_secret_basic", "Attributes": {"Email": "mail", "Groups": "teams"},
    }  # fmt: skip
    path = f"{organization(send)}/connections"
    return f"{path}/{send('POST', path, body)['Id']}"


def group_role(send: Send) -> str:
    path = f"{connection(send)}/grouproles"
    role = send("POST", "/v2/manage/roles", {"Name": "Reader"})["Id"]
    return f"{path}/{send('POST', path, {'GroupId': 'g', 'Name': 'G', 'RoleId': role})['Id']}"


def scim(send: Send) -> str:
    made = send("POST", "/v2/manage/scim/connections", {"Name": "Entra", "DryRun": True})
    return f"/v2/manage/scim/connections/{made['Id']}"


NO_APPLE = {"Certificate": None, "KeyIdentifier": "", "ServiceId": "", "BundleId": "", "TeamId": ""}
CASES: dict[str, PartialPut] = {
    "scim_connections.update": PartialPut(scim, {"Name": "Okta"}, {}, ("Name", "Paused", "DryRun")),
    "social_providers.update": PartialPut(
        social,
        {"Key": "other"},
        {"ExtraField1": "", "Secret": None, "AppleSecretConfiguration": NO_APPLE},
        ("Key",),
    ),
    "saml_providers.update": PartialPut(
        saml,
        {"DataMap": {"Email": "email"}},
        {
            "Domain": None, "DefaultLogoutUrl": None, "FriendlyProviderName": "", "RelayStateParameter": "RelayState",
            "IdpCertificate": {"Certificate": None, "Key": None},
        },
    ),
    "oauth_clients.update": PartialPut(client, {"DisplayName": "The shop"}, {"IdTokenTTL": 3600, "DisplayName": None}),
    "organizations.update": PartialPut(
        organization,
        {"Metadata": {"Plan": "silver"}},
        {"Display": {"Name": None, "LogoURL": None, "Color": None, "ThemeName": None}, "Metadata": {}, "Domains": []},
        ("Name",),
    ),
    "organizations.set_policies": PartialPut(
        policies,
        {"MemberPolicy": {"DefaultMemberRole": None, "Seats": 6}},
        {"SessionPolicy": {"AccessTokenTTL": None, "RefreshTokenTTL": None}},
    ),
    "organization_connections.update": PartialPut(
        connection,
        {"Name": "renamed"},
        {
            "Domain": "", "UserInfoUrl": "", "Scopes": ["openid", "email", "profile"], "TokenAuthMethod": "client_secret_post",
            "Attributes": {
                "ID": "sub", "Email": "email", "FirstName": "firstName", "LastName": "lastName", "Groups": "groups",
                "CustomMapping": {},
            },
        },
        ("Name", "ConnectionType", "ClientId", "ClientSecret", "Issuer"),
    ),
    "organization_connections.update_group_role": PartialPut(group_role, {"Name": "Other"}, {}, ("GroupId", "Name", "RoleId")),
}  # fmt: skip
each = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def send(new_tenant_server: NewTenantServer) -> Send:
    business = a_business(new_tenant_server, organizations={"enabled": True})
    token = machine(business.tenant, "all")
    return lambda method, path, body: answered(ask(business.tenant, token, method, path, body))


def stored(send: Send, path: str) -> Body:
    """Return the stored item; a group role is read in the list."""
    if "/grouproles/" in path:
        (found,) = send("GET", path.rpartition("/")[0], None)["Data"]
        return dict(found)
    return without_moments(send("GET", path, None))


def without_moments(shown: Body) -> Body:
    return {name: value for name, value in shown.items() if name not in ("ModifiedDate", "LastModifiedDate")}


def test_every_put_keeps_replaces_or_acts() -> None:
    declared = {
        operation.name: operation
        for operation in load_catalogue()
        if operation.method == "PUT" and operation.documentation.is_public
    }
    assert set(PUTS) == set(declared), "tests/support/operations/put_kinds.py says what each PUT does"
    keeping = {name for name, item in declared.items() if issubclass(item.request, PartialUpdate)}
    assert keeping == {name for name, kind in PUTS.items() if kind == KEEPS} == set(CASES)


@pytest.mark.both_databases
@each
def test_absent_members_stay(send: Send, name: str) -> None:
    case = CASES[name]
    path = case.make(send)
    before = stored(send, path)
    changed = without_moments(send("PUT", path, case.change))
    assert {**before, **case.change} == changed == stored(send, path)


@pytest.mark.parametrize("empty", [None, ""], ids=["null", "empty"])
@each
def test_null_or_empty_clears(send: Send, name: str, empty: str | None) -> None:
    case = CASES[name]
    path = case.make(send)
    before = stored(send, path)
    for member, left in case.cleared.items():
        assert before[member] != left, member
        value: Any = (
            {} if empty == "" and isinstance(left, dict) else [] if empty == "" and isinstance(left, list) else empty
        )
        send("PUT", path, {member: value})
        before[member] = left
        assert stored(send, path) == before, member


@each
def test_member_that_is_needed_is_not_cleared(new_tenant_server: NewTenantServer, name: str) -> None:
    business = a_business(new_tenant_server, organizations={"enabled": True})
    token = machine(business.tenant, "all")

    def send(method: str, path: str, body: Body | None) -> Body:
        return answered(ask(business.tenant, token, method, path, body))

    path = CASES[name].make(send)
    before = stored(send, path)
    for member in CASES[name].required:
        for empty in (None, ""):
            assert refused(ask(business.tenant, token, "PUT", path, {member: empty})) == (400, 7900), member
    assert stored(send, path) == before


def test_part_keeps_its_other_members(send: Send) -> None:
    path = saml(send)
    location = send("PUT", path, {"IdentityProvider": {"Location": "https://partner.example/new"}})["IdentityProvider"]
    assert (location["Location"], location["LogOut"]) == ("https://partner.example/new", "https://partner.example/slo")
    pem, _ = certificate()
    assert send("PUT", path, {"IdpCertificate": {"Key": ""}})["IdpCertificate"] == {"Certificate": pem, "Key": None}
    shown = send("PUT", social(send), {"AppleSecretConfiguration": {"TeamId": "T2"}})["AppleSecretConfiguration"]
    assert shown == {"Certificate": MASKED, "KeyIdentifier": "K1", "ServiceId": "s", "BundleId": "b", "TeamId": "T2"}
    look = send("PUT", organization(send), {"Display": {"Color": "#000000"}})["Display"]
    assert look == {"Name": "A", "LogoURL": "https://acme.example/l.svg", "Color": "#000000", "ThemeName": None}


@pytest.mark.parametrize("body", [None, {}], ids=["no body", "empty object"])
@pytest.mark.parametrize("path", [f"{SAML}/partner", "/v2/manage/saml-clients/wiki"], ids=["provider", "client"])
def test_empty_saml_put_is_refused(new_tenant_server: NewTenantServer, path: str, body: Body | None) -> None:
    tenant = new_tenant_server()
    token = machine(tenant, "all")
    answered(ask(tenant, token, "POST", SAML, {"Provider": "partner"}))
    answered(ask(tenant, token, "POST", "/v2/manage/saml-clients", {"AppName": "wiki"}))
    assert refused(ask(tenant, token, "PUT", path, body)) == (400, 1079)
    assert refused(ask(tenant, token, "PUT", path, {"Unknown": 1})) == (400, 7900)


def test_unchanged_member_still_needs_its_power(new_tenant_server: NewTenantServer) -> None:
    business: Business = a_business(new_tenant_server, organizations={"enabled": True})
    strong, weak = machine(business.tenant, "all"), machine(business.tenant, "provider:update")

    def send(method: str, path: str, body: Body | None) -> Body:
        return answered(ask(business.tenant, strong, method, path, body))

    path = saml(send)
    before = send("GET", path, None)
    bodies: list[Body] = [{"FriendlyProviderName": "New"}, {"Domain": None}, {"IdpCertificate": None}]
    for body in bodies:
        assert refused(ask(business.tenant, weak, "PUT", path, body)) == (403, 6002), "the domain is kept or cleared"
    assert send("GET", path, None) == before
    google = f"{PROVIDERS}/GOOGLE"
    send("PUT", google, {"Key": "client"})
    assert refused(ask(business.tenant, weak, "PUT", google, {"ExtraField1": "x"})) == (403, 6002), "trusts_email"


def test_cleared_policy_needs_the_default_roles_power(new_tenant_server: NewTenantServer) -> None:
    business = a_business(new_tenant_server, organizations={"enabled": True})
    tenant, strong = business.tenant, machine(business.tenant, "all")
    weak = machine(tenant, "organization:update")
    harmless = business.role("Reader")
    owner = business.role("Boss", permissions=(business.permission("org:own"),))
    answered(ask(tenant, strong, "PUT", f"/v2/manage/roles/{owner}/default"))
    path = f"{PATH}/{business.org}/policy"
    answered(ask(tenant, strong, "PUT", path, {"MemberPolicy": {"DefaultMemberRole": harmless}}))
    cleared: list[Any] = [None, {}, {"DefaultMemberRole": None}]
    for policy in cleared:
        assert refused(ask(tenant, weak, "PUT", path, {"MemberPolicy": policy})) == (403, 6002), policy
    answered(ask(tenant, weak, "PUT", path, {"MemberPolicy": {"Seats": 3}}))
    answered(ask(tenant, strong, "PUT", path, {"MemberPolicy": None}))


REPLACING = [
    item for item in EVERY if PUTS.get(f"{item.area}.update") == REPLACES and not item.is_singleton and not item.partial
]


@pytest.mark.parametrize("resource", REPLACING, ids=lambda item: item.kind)
def test_other_puts_replace(new_tenant_server: NewTenantServer, resource: Resource) -> None:
    manage = manager(new_tenant_server, resource)
    made = answered(manage.create())
    change = SAMPLES[resource.kind].change(1)
    changed = answered(manage(UPDATE, change, of=made))
    fixed = {member.request_name.partition(".")[0] for member in resource.members if member.roles or member.key}
    left_out = set(SAMPLES[resource.kind].item(1)) - set(change) - fixed
    assert all(changed[name] != made[name] for name in left_out), left_out
