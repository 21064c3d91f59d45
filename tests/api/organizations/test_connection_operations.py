"""Every response and refusal of the operations of organization connections and group roles."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import Any

import pytest
from cryptography import x509
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.directory.organizations.connections import organization_connection_store
from app.identity.directory.organizations.tables import organization_connections
from app.identity.platform.encryption import Encryption
from app.identity.platform.store.encrypted_columns import reencrypt
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.organizations.connections import OIDC, certificate
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
from tests.support.races import at_once
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

NO_CONNECTION, NO_GROUP = f"conn_{'0' * 16}", f"group_role_{'0' * 16}"
NAME = "acme.example"
ONE = f"{PATH}/{{org}}/connections"
DEFAULT_ATTRIBUTES = {
    "ID": "sub", "Email": "email", "FirstName": "firstName", "LastName": "lastName", "Groups": "groups", "CustomMapping": {},
}  # fmt: skip


def saml(**members: Any) -> dict[str, Any]:
    return {
        "Name": "okta", "ConnectionType": "saml_okta", "IDPEntityId": "https://okta.example", "IDPCertificate": certificate(),
        **members,
    }  # fmt: skip


def connected(business: Business, org: str = "", **members: Any) -> dict[str, Any]:
    """Create an OpenID connection."""
    return answered(business.send("POST", f"{PATH}/{org or business.org}/connections", {**OIDC, **members}))


def verified(business: Business) -> Business:
    domains = [{"DomainName": NAME, "IsVerified": True}, {"DomainName": "pending.example"}]
    answered(business.send("PUT", f"{PATH}/{business.org}", {"Domains": domains}))
    return business


def at(business: Business, made: dict[str, Any], method: str = "GET", path: str = "", body: Any = None) -> TestResponse:
    return business.send(method, f"{PATH}/{business.org}/connections/{made['Id']}{path}", body)


def group(business: Business, made: dict[str, Any], **members: Any) -> TestResponse:
    body = {"GroupId": "admins", "Name": "Admins", "RoleId": members.pop("RoleId", None) or business.role(), **members}
    return at(business, made, "POST", "/grouproles", body)


def of_one(
    operation: str, method: str, path: str = "", body: Any = None, *, is_open: bool = False
) -> list[RefusedCall]:
    lines = [
        (1267, ask(method, f"{PATH}/{NO_ORG}/connections{path}", body), OFF),
        (8117, ask(method, f"{PATH}/acme/connections{path}", body)),
        (8118, ask(method, f"{PATH}/{NO_ORG}/connections{path}", body)),
        (8129, ask(method, f"{PATH}//connections{path}", body)),
    ]
    closed = [] if is_open else [(8180, ask(method, f"{PATH}/{{idle}}/connections{path}", body))]
    unknown = [(8151, ask(method, f"{ONE}{path}", body))] if path else []
    return refusals(operation, *lines, *closed, *unknown)


def of_content(operation: str, method: str) -> list[RefusedCall]:
    """Return the refusals of what a connection consists of, when one is created and when one is changed."""

    def sent(business: Business, **members: Any) -> TestResponse:
        verified(business)
        if method == "POST":
            return business.send("POST", f"{PATH}/{business.org}/connections", {**OIDC, "Name": "other", **members})
        return at(business, connected(business, Name="other"), "PUT", "", members)

    def twice(business: Business, **members: Any) -> TestResponse:
        connected(verified(business), **members)
        return sent(business, **members)

    return refusals(
        operation,
        (7900, partial(sent, Name="-x")),
        (8148, partial(twice, Name="ID-P_1")),
        (8149, partial(twice, Domain=NAME)),
        (8150, partial(sent, Domain="unknown.example")),
        (8177, partial(sent, Domain="pending.example")),
    )


def change_group(business: Business, **members: Any) -> TestResponse:
    made = connected(business)
    answered(group(business, made))
    second = answered(group(business, made, GroupId="users", Name="People"))
    return at(business, made, "PUT", f"/grouproles/{second['Id']}", members)


def add_group(business: Business, **members: Any) -> TestResponse:
    made = connected(business)
    answered(group(business, made))
    return group(business, made, **{"GroupId": "users", "Name": "People", **members})


GROUP = {"GroupId": "g", "Name": "g", "RoleId": NO_ROLE}
REFUSALS: list[RefusedCall] = [
    *of_one("organization_connections.list", "GET", is_open=True),
    *of_one("organization_connections.create", "POST", body=OIDC),
    *of_content("organization_connections.create", "POST"),
    *of_one("organization_connections.read", "GET", f"/{NO_CONNECTION}", is_open=True),
    *of_one("organization_connections.update", "PUT", f"/{NO_CONNECTION}", {"Name": "x"}),
    *of_content("organization_connections.update", "PUT"),
    *of_one("organization_connections.delete", "DELETE", f"/{NO_CONNECTION}"),
    *of_one("organization_connections.set_status", "PUT", f"/{NO_CONNECTION}/status", {"Active": True}, is_open=True),
    *refusals(
        "organization_connections.set_status",
        (8166, lambda item: at(item, connected(item), "PUT", "/status", {"Active": True})),
        (8167, lambda item: at(item, connected(item), "PUT", "/status", {"Active": 1})),
    ),
    *of_one("organization_connections.renew_certificate", "POST", f"/{NO_CONNECTION}/renew-certificate"),
    *of_one("organization_connections.create_next_certificate", "POST", f"/{NO_CONNECTION}/next-certificate"),
    *of_one("organization_connections.activate_certificate", "POST", f"/{NO_CONNECTION}/activate-certificate"),
    *of_one("organization_connections.delete_next_certificate", "DELETE", f"/{NO_CONNECTION}/next-certificate"),
    *of_one("organization_connections.delete_former_certificate", "DELETE", f"/{NO_CONNECTION}/former-certificate"),
    *of_one("organization_connections.list_group_roles", "GET", f"/{NO_CONNECTION}/grouproles", is_open=True),
    *of_one("organization_connections.create_group_role", "POST", f"/{NO_CONNECTION}/grouproles", GROUP),
    *refusals(
        "organization_connections.create_group_role",
        (7900, lambda item: at(item, connected(item), "POST", "/grouproles", {"Name": "x"})),
        (8124, partial(add_group, RoleId=NO_ROLE)),
        (8161, partial(add_group, Name="ADMINS")),
        (8162, partial(add_group, GroupId="admins")),
    ),
    *of_one(
        "organization_connections.update_group_role", "PUT", f"/{NO_CONNECTION}/grouproles/{NO_GROUP}", {"Name": "x"}
    ),
    *refusals(
        "organization_connections.update_group_role",
        (8124, partial(change_group, RoleId="admin")),
        (8161, partial(change_group, Name="Admins")),
        (8162, partial(change_group, GroupId="admins")),
        (8163, lambda item: at(item, connected(item), "PUT", f"/grouproles/{NO_GROUP}", {"Name": "x"})),
        (8164, lambda item: at(item, connected(item), "PUT", "/grouproles/x", {"Name": "x"})),
    ),
    *of_one(
        "organization_connections.delete_group_role", "DELETE", f"/{NO_CONNECTION}/grouproles/{NO_GROUP}", is_open=True
    ),
    *refusals(
        "organization_connections.delete_group_role",
        (8163, lambda item: at(item, connected(item), "DELETE", f"/grouproles/{NO_GROUP}")),
        (8164, lambda item: at(item, connected(item), "DELETE", f"/grouproles/{NO_ROLE}")),
    ),
    *refusals(
        "organizations.update",
        (
            8178,
            lambda item: (
                connected(verified(item), Domain=NAME) and item.send("PUT", f"{PATH}/{item.org}", {"Domains": []})
            ),
        ),
    ),
]


@every_refusal(REFUSALS)
def test_refusal(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return verified(a_business(new_tenant_server))


@pytest.mark.both_databases
def test_saml_connection_has_the_members_of_the_seed(business: Business) -> None:
    body = saml(Domain=NAME, IsIDPInitiated=True, Attributes={"Email": "mail", "CustomMapping": {"Plan": "plan"}})
    made = answered(business.send("POST", f"{PATH}/{business.org}/connections", body))
    assert re.fullmatch(r"conn_[A-Za-z0-9]{16}", made["Id"])
    base = business.tenant.services.settings.hub_url(business.tenant.name)
    opaque = made["EntityId"].removeprefix(f"{base}/saml/sp/")
    assert re.fullmatch(r"[A-Za-z0-9]{34}", opaque)
    x509.load_pem_x509_certificate(made["SPCertificate"]["Certificate"].encode())
    dated = {
        "Certificate": certificate(), "NotAfter": "2035-12-30T00:00:00.000Z", "NotBefore": "2025-12-31T23:55:00.000Z",
    }  # fmt: skip
    assert made == {
        "Id": made["Id"], "IsActive": True, "CreatedDate": made["CreatedDate"], "ModifiedDate": made["ModifiedDate"],
        "Name": "okta", "Domain": NAME, "ConnectionType": "saml_okta", "GroupRoles": [],
        "Attributes": {**DEFAULT_ATTRIBUTES, "Email": "mail", "CustomMapping": {"Plan": "plan"}},
        "IDPEntityId": "https://okta.example", "IDPMetadataUrl": "", "IsIDPInitiated": True,
        "IDPCertificate": dated, "IDPCertificates": [{**dated, "TrustedUntil": None}], "IDPSignInUrl": "", "IDPSignOutUrl": "",
        "EntityId": f"{base}/saml/sp/{opaque}", "MetadataUrl": f"{base}/saml/sp/{opaque}/metadata.xml",
        "ACSEndpoint": f"{base}/saml/sp/acs/{opaque}", "SPCertificate": {"Certificate": made["SPCertificate"]["Certificate"]},
    }  # fmt: skip
    assert answered(at(business, made)) == made
    assert answered(business.send("GET", f"{PATH}/{business.org}/connections")) == {"Data": [made]}
    assert answered(business.send("GET", f"{PATH}/{business.org}"))["Connections"] == [made]
    changed = answered(at(business, made, "PUT", "", {"ConnectionType": "saml_entraid"}))
    assert changed == {**made, "ConnectionType": "saml_entraid", "ModifiedDate": changed["ModifiedDate"]}


@pytest.mark.both_databases
def test_openid_connection_masks_its_secret(business: Business) -> None:
    made = connected(business, Scopes=["openid"])
    base = business.tenant.services.settings.hub_url(business.tenant.name)
    assert re.fullmatch(rf"{base}/oauth/sp/[A-Za-z0-9]{{34}}/callback", made["RedirectURI"])
    assert made == {
        **{name: value for name, value in OIDC.items() if name != "ClientSecret"},
        "Id": made["Id"], "IsActive": True, "CreatedDate": made["CreatedDate"], "ModifiedDate": made["ModifiedDate"],
        "Domain": "", "GroupRoles": [], "Attributes": DEFAULT_ATTRIBUTES, "UserInfoUrl": "", "ClientSecret": "********",
        "Scopes": ["openid"], "TokenAuthMethod": "client_secret_post", "RedirectURI": made["RedirectURI"],
    }  # fmt: skip
    answered(at(business, made, "PUT", "", {"ClientSecret": "********", "Name": "renamed"}))
    assert secret(business, made) == {"client_secret": "a secret"}
    answered(at(business, made, "PUT", "", {"ClientSecret": "another"}))
    assert secret(business, made) == {"client_secret": "another"}


def secret(business: Business, made: dict[str, Any]) -> dict[str, str]:
    """Return the decrypted secrets of a connection."""
    with call_of(business.tenant.services, business.tenant.name) as context:
        found = organization_connection_store.by_id(context, business.org, made["Id"])
        assert found is not None
        assert b"secret" not in (found.sealed or b"")
        return organization_connection_store.secrets_of(context, found)


def test_new_token_address_needs_the_secret_again(business: Business) -> None:
    made = connected(business)
    stolen = {"TokenUrl": "https://thief.example/token"}
    assert refused(at(business, made, "PUT", "", stolen)) == (400, 7900)
    assert refused(at(business, made, "PUT", "", {**stolen, "ClientSecret": "********"})) == (400, 7900)
    assert answered(at(business, made))["TokenUrl"] == OIDC["TokenUrl"]
    assert answered(at(business, made, "PUT", "", {**stolen, "ClientSecret": "x"}))["TokenUrl"] == stolen["TokenUrl"]


def test_issuer_fills_in_the_addresses(business: Business, fake_provider: FakeProvider) -> None:
    body = {name: value for name, value in OIDC.items() if not name.endswith("Url")}
    made = answered(business.send("POST", f"{PATH}/{business.org}/connections", {**body, "Issuer": fake_provider.url}))
    for name in ("AuthorizationUrl", "TokenUrl", "UserInfoUrl"):
        assert made[name].startswith(fake_provider.url), name
    answer = business.send(
        "POST", f"{PATH}/{business.org}/connections", {**body, "Name": "x", "Issuer": "https://127.0.0.1:9"}
    )
    assert refused(answer) == (400, 7900)
    assert "Issuer" in answer.get_json()["Description"]


MALFORMED_CONNECTION = [
    {**OIDC, "Name": "x" * 61},
    {**OIDC, "Name": "x_"},
    {**OIDC, "Name": "a b"},
    {**OIDC, "ConnectionType": "ldap"},
    {**OIDC, "ClientSecret": ""},
    {**OIDC, "ClientId": None},
    {**OIDC, "Issuer": "http://idp.example"},
    {**OIDC, "Issuer": "javascript:1"},
    {**OIDC, "TokenAuthMethod": "none"},
    {**OIDC, "Scopes": ["open id"]},
    {**OIDC, "IDPEntityId": "x"},
    {**OIDC, "Attributes": {"Email": ""}},
    {**OIDC, "Domain": "gmail.com"},
    {"Name": "x", "ConnectionType": "saml_custom"},
    {"Name": "x", "ConnectionType": "saml_custom", "IDPEntityId": "x", "IDPCertificate": "MIIC"},
    {"Name": "x", "ConnectionType": "saml_custom", "IDPEntityId": "x", "ClientId": "x"},
]


def test_malformed_connection_is_refused(business: Business, subtests: pytest.Subtests) -> None:
    for body in MALFORMED_CONNECTION:
        with subtests.test(str(body)[:60]):
            answer = business.send("POST", f"{PATH}/{business.org}/connections", body)
            assert refused(answer) == (400, 7900), answer.text


def test_connection_cannot_change_its_protocol(business: Business) -> None:
    made = connected(business)
    assert refused(at(business, made, "PUT", "", {"ConnectionType": "saml_okta"})) == (400, 7900)


@pytest.mark.both_databases
def test_connection_is_switched_and_deleted(business: Business) -> None:
    made = connected(business, Domain=NAME)
    policy = {"JITPolicy": {"Enabled": True}}
    changed = answered(business.send("PUT", f"{PATH}/{business.org}/policy", policy))
    assert changed["JITPolicy"] == {"Enabled": True, "RequireApproval": None}
    assert answered(at(business, made, "PUT", "/status", {"Active": False})) == {"IsActive": False}
    assert answered(at(business, made))["IsActive"] is False
    assert refused(business.send("PUT", f"{PATH}/{business.org}/policy", policy)) == (403, 8181)
    answered(group(business, made))
    assert answered(at(business, made, "DELETE")) == {"IsDeleted": True}
    assert refused(at(business, made)) == (400, 8151)
    assert connected(business, Domain=NAME)["GroupRoles"] == []


@pytest.mark.both_databases
def test_deactivated_connection_is_listed_as_inactive(business: Business) -> None:
    path = f"{PATH}/{business.org}/connections"
    made = connected(business)
    for is_active in (False, True):
        answer = business.send("PUT", f"{PATH}/{business.org}/connections/{made['Id']}/status", {"Active": is_active})
        assert answered(answer) == {"IsActive": is_active}
        assert [item["IsActive"] for item in answered(business.send("GET", path))["Data"]] == [is_active]


def test_connection_of_another_organization_is_unknown(business: Business) -> None:
    made = connected(business, org=business.create())
    for method, path, body in (
        ("GET", "", None),
        ("PUT", "", {"Name": "x"}),
        ("DELETE", "", None),
        ("PUT", "/status", {"Active": False}),
        ("GET", "/grouproles", None),
        ("POST", "/grouproles", GROUP),
    ):
        assert refused(at(business, made, method, path, body)) == (400, 8151), (method, path)


@pytest.mark.both_databases
def test_group_roles_are_stored_with_the_connection(business: Business) -> None:
    made, role = connected(business), business.role(org=business.org)
    added = answered(group(business, made, RoleId=role))
    assert re.fullmatch(r"group_role_[A-Za-z0-9]{16}", added["Id"])
    assert added == {"Id": added["Id"], "GroupId": "admins", "Name": "Admins", "RoleId": role}
    assert answered(at(business, made))["GroupRoles"] == [added]
    assert answered(at(business, made, "GET", "/grouproles")) == {"Data": [added]}
    changed = answered(at(business, made, "PUT", f"/grouproles/{added['Id']}", {"GroupId": "owners"}))
    assert changed == {**added, "GroupId": "owners"}
    foreign = business.role(org=business.create())
    assert refused(group(business, made, RoleId=foreign, GroupId="x", Name="x")) == (400, 8124)
    assert answered(at(business, made, "DELETE", f"/grouproles/{added['Id']}")) == {"IsDeleted": True}
    assert answered(at(business, made, "GET", "/grouproles")) == {"Data": []}


@pytest.mark.both_databases
def test_connection_name_is_created_once(business: Business) -> None:
    path = f"{PATH}/{business.org}/connections"
    answers = at_once([partial(business.send, "POST", path, OIDC)] * 10)
    assert Counter(refused(answer) if answer.status_code != 200 else 200 for answer in answers) == {
        200: 1,
        (409, 8148): 9,
    }


@pytest.mark.both_databases
def test_secrets_are_encrypted_again(business: Business) -> None:
    made, services = connected(business), business.tenant.services
    newer = Encryption((b"a newer secret, long enough to be one, too", *services.settings.secrets))
    work = UnitOfWork(services.database, business.tenant.tenant_id)
    try:
        assert reencrypt(work, newer, organization_connection_store.ENCRYPTED_COLUMNS) == 1
        assert reencrypt(work, newer, organization_connection_store.ENCRYPTED_COLUMNS) == 0
        row = work.one(
            select(organization_connections.c.sealed).where(organization_connections.c.connection_id == made["Id"])
        )
        assert row is not None
        assert newer.is_current(row.sealed)
    finally:
        work.rollback()
