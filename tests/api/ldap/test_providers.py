"""A tenant's server stores LDAP providers, and tests them before people sign in."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from app.kit.resources.resource import MASKED
from tests.api.ldap.conftest import PATH, Ask, SignIn
from tests.support.services import slapd
from tests.support.services.identity_service import on_one_database
from tests.support.services.slapd import PASSWORD, Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

pytestmark = on_one_database
TEST = f"{PATH}/corp/test"


def test_provider_is_stored_with_a_masked_password(send: Ask, provider: dict[str, Any]) -> None:
    made = answered(send("POST", PATH, provider))
    assert made["BindPassword"] == MASKED
    assert made["SubjectAttribute"] == "entryUUID"
    assert answered(send("GET", f"{PATH}/corp")) == made
    assert answered(send("GET", PATH))["Data"] == [made]
    changed = answered(send("PUT", f"{PATH}/corp", {**provider, "BindPassword": MASKED, "IsActive": False}))
    assert changed["IsActive"] is False
    assert answered(send("POST", TEST, {"Login": "ada"}))["IsSuccessful"] is True, "a masked password stays"
    answered(send("DELETE", f"{PATH}/corp"))
    assert refused(send("GET", f"{PATH}/corp")) == (404, 7966)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("ServerUrl", "http://directory.example"),
        ("ServerUrl", "ldapi://%2Ftmp%2Fsocket"),
        ("ServerUrl", "ldaps://directory.example/dc=x??sub"),
        ("ServerUrl", "ldaps://user@directory.example"),
        ("UserFilter", "(uid=ada)"),
        ("UserFilter", "(uid={login}"),
        ("UserFilter", "(uid={login})(objectClass=*)"),
        ("UserFilter", "uid={login}"),
        ("UserFilter", "({login}=*)"),
        ("UserFilter", "(&(uid=a)(x{login}=ada))"),
        ("GroupFilter", "(member=cn=x)"),
        ("SubjectAttribute", "entry)(uid=*"),
        ("DataMap", {"Password": "userPassword"}),
        ("DataMap", {"Email": "mail)(x"}),
        ("CaCertificates", "no certificate"),
        ("PasswordUrl", "http://password.example"),
        ("BaseDn", ""),
        ("PasswordChange", "Reset"),
    ],
)
def test_malformed_members_are_named(send: Ask, provider: dict[str, Any], member: str, value: Any) -> None:
    answer = send("POST", PATH, {**provider, member: value})
    assert answer.status_code == 400
    assert member in answer.text


def test_domain_and_usernames_have_one_provider(send: Ask, provider: dict[str, Any]) -> None:
    answered(send("POST", PATH, {**provider, "AcceptsUsernames": True}))
    assert refused(send("POST", PATH, {**provider, "ProviderName": "other"})) == (409, 8038)
    second = {**provider, "ProviderName": "other", "Domain": "other.example", "AcceptsUsernames": True}
    assert "AcceptsUsernames" in send("POST", PATH, second).text
    assert refused(send("POST", PATH, {**provider, "Domain": None})) == (409, 7967)


def test_program_without_all_powers_changes_nothing(tenant: TenantServer, provider: dict[str, Any]) -> None:
    token = machine(tenant, "provider:create", "provider:update", "provider:read")
    assert ask(tenant, token, "POST", PATH, provider).status_code == 403
    answered(ask(tenant, machine(tenant, "all"), "POST", PATH, provider))
    assert ask(tenant, token, "POST", TEST, {"Login": "ada", "Password": "a guess"}).status_code == 403


def test_trial_shows_what_a_sign_in_would_make(send: Ask, provider: dict[str, Any], directory: Slapd) -> None:
    dn = directory.add_person("grace", given_name="Grace", surname="Hopper")
    group = directory.add_group("admirals", dn)
    roles = {"admirals": "Admiral", "others": "Other"}
    answered(send("POST", PATH, {**provider, "GroupBaseDn": slapd.GROUPS, "GroupRoles": roles}))
    tested = answered(send("POST", TEST, {"Login": "grace@corp.test", "Password": PASSWORD}))
    assert tested["IsSuccessful"] is True
    assert tested["Passed"] == ["connection", "bind", "search", "groups", "password"]
    assert (tested["Dn"], tested["Email"], tested["EmailVerified"]) == (dn, "grace@corp.test", True)
    assert tested["Profile"] == {"FirstName": "Grace", "LastName": "Hopper"}
    assert (tested["Groups"], tested["Roles"]) == ([group], ["Admiral"])
    assert len(tested["ID"]) == 36


@pytest.mark.parametrize(
    ("changed", "body", "passed", "check"),
    [
        ({"ServerUrl": "ldaps://directory.localhost:1"}, {}, [], "ldap_connection"),
        ({"CaCertificates": None}, {}, [], "ldap_tls"),
        ({"BindPassword": "wrong"}, {}, [], "ldap_bind"),
        ({"BaseDn": "ou=nowhere,dc=corp,dc=test"}, {}, ["connection", "bind"], "ldap_search"),
        ({}, {"Login": "nobody"}, ["connection", "bind"], "ldap_search"),
        ({}, {"Login": "*"}, ["connection", "bind"], "ldap_search"),
        ({"SubjectAttribute": "employeeNumber"}, {}, ["connection", "bind"], "mapping"),
        ({"GroupBaseDn": "ou=nowhere,dc=corp,dc=test"}, {}, ["connection", "bind", "search"], "ldap_groups"),
        ({}, {"Password": "wrong"}, ["connection", "bind", "search", "groups"], "ldap_password"),
        ({}, {"Password": ""}, ["connection", "bind", "search", "groups"], "ldap_password"),
    ],
)
def test_trial_names_the_step_that_failed(
    send: Ask, provider: dict[str, Any], changed: dict[str, Any], body: dict[str, Any], passed: list[str], check: str
) -> None:
    answered(send("POST", PATH, {**provider, **changed}))
    tested = answered(send("POST", TEST, {"Login": "ada", **body}))
    assert (tested["IsSuccessful"], tested["Passed"], tested["Check"]) == (False, passed, check)
    assert all(tested[name] for name in ("Problem", "Expected", "Received", "Advice"))
    assert slapd.SERVICE_PASSWORD not in str(tested)
    assert refused(send("POST", f"{PATH}/other/test", {"Login": "ada"})) == (404, 7966)


def test_installation_without_the_extra_names_it(
    send: Ask, provider: dict[str, Any], sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered(send("POST", PATH, provider))
    monkeypatch.setitem(sys.modules, "ldap", None)  # as where nothing of the name can be imported
    tested = answered(send("POST", TEST, {"Login": "ada"}))
    assert (tested["Passed"], tested["Check"]) == ([], "configuration")
    assert "extra ldap" in tested["Received"]
    assert refused(sign_in("ada@corp.test")) == (503, 7968)
