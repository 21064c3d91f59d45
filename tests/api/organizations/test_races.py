"""Concurrent requests about organizations: each rule holds for all of them together."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from tests.support.organizations.management import PATH, PERMISSIONS, ROLES, Business, a_business
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

pytestmark = pytest.mark.both_databases

MANY = 20


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.mark.parametrize(
    ("path", "code"), [(PATH, 8116), (ROLES, 8123), (PERMISSIONS, 8120), (f"{PATH}/{{org}}/roles", 8123)]
)
def test_name_is_created_once(business: Business, path: str, code: int) -> None:
    at = path.format(org=business.org)
    before = len(answered(business.send("GET", at))["Data"])
    answers = at_once([partial(business.send, "POST", at, {"Name": "Same"})] * MANY)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(409, code)}
    assert len(answered(business.send("GET", at))["Data"]) == before + 1


def test_role_is_assigned_once(business: Business) -> None:
    role, uid, org = business.role(), business.uid, business.org
    answers = at_once([partial(business.assign, uid, org, role)] * MANY)
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    assert {refused(answer) for answer in answers if answer.status_code != 200} == {(409, 8130)}
    assert len(answered(business.send("GET", f"{PATH}/{org}/orgcontext"))["Data"]) == 1


def test_domain_is_verified_for_one_organization(business: Business) -> None:
    body = {"Domains": [{"DomainName": "race.example", "IsVerified": True}]}
    paths = [f"{PATH}/{business.create()}" for _ in range(MANY)]
    answers = at_once([partial(business.send, "PUT", path, body) for path in paths])
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: MANY - 1}
    stored = [item["Domains"] for item in answered(business.send("GET", PATH))["Data"]]
    assert len([domain for domains in stored for domain in domains]) == 1


def test_one_default_role_remains(business: Business) -> None:
    roles = [business.role() for _ in range(8)]
    answers = at_once([partial(business.send, "PUT", f"{ROLES}/{role}/default") for role in roles])
    assert {answer.status_code for answer in answers} == {200}
    deleted = [business.send("DELETE", f"{ROLES}/{role}").status_code for role in roles]
    assert Counter(deleted) == {200: 7, 403: 1}


def test_deleted_role_has_no_members(business: Business) -> None:
    role, uids = business.role(), [business.account() for _ in range(6)]
    delete = partial(business.send, "DELETE", f"{ROLES}/{role}")
    acts = [partial(business.assign, uid, business.org, role) for uid in uids]
    answers = at_once([*acts[:3], delete, *acts[3:]])
    assert {answer.status_code for answer in answers} <= {200, 400}
    assert answered(business.send("GET", f"{PATH}/{business.org}/orgcontext")) == {"Data": []}


def test_deleted_organization_keeps_no_member(business: Business) -> None:
    role, uids, org = business.role(), [business.account() for _ in range(6)], business.org
    delete = partial(business.send, "DELETE", f"{PATH}/{org}")
    acts = [partial(business.assign, uid, org, role) for uid in uids]
    answers = at_once([*acts[:3], delete, *acts[3:]])
    assert {answer.status_code for answer in answers} <= {200, 404}
    for uid in uids:
        assert answered(business.send("GET", f"/v2/manage/account/{uid}/orgcontext")) == {"Data": []}


def test_partial_updates_at_once_are_all_stored(business: Business) -> None:
    """Each changes another member of what the others change."""
    look = {"Name": "A", "LogoURL": "https://acme.example/l.svg", "Color": "#0A7D55"}
    org = f"{PATH}/{business.org}"
    answers = at_once([partial(business.send, "PUT", org, {"Display": {name: value}}) for name, value in look.items()])
    assert {answer.status_code for answer in answers} == {200}
    assert answered(business.send("GET", org))["Display"] == {**look, "ThemeName": None}
    idp = "https://idp.example"
    body = {"Name": "idp", "ConnectionType": "oidc_custom", "Issuer": idp, "ClientId": "c", "ClientSecret": "s"}
    body |= {"AuthorizationUrl": f"{idp}/a", "TokenUrl": f"{idp}/t"}
    path = f"{org}/connections/{answered(business.send('POST', f'{org}/connections', body))['Id']}"
    members: list[dict[str, Any]] = [
        {"Attributes": {name: "x"}} for name in ("Email", "FirstName", "LastName", "Groups")
    ]
    members += [{"UserInfoUrl": f"{idp}/u"}, {"ClientId": "d"}]
    answers = at_once([partial(business.send, "PUT", path, member) for member in members])
    assert {answer.status_code for answer in answers} == {200}
    stored = answered(business.send("GET", path))
    assert {stored["Attributes"][name] for name in ("Email", "FirstName", "LastName", "Groups")} == {"x"}
    assert (stored["UserInfoUrl"], stored["ClientId"]) == (f"{idp}/u", "d")
    group = {"GroupId": "g", "Name": "G", "RoleId": business.role()}
    at = f"{path}/grouproles/{answered(business.send('POST', f'{path}/grouproles', group))['Id']}"
    answers = at_once([partial(business.send, "PUT", at, item) for item in ({"GroupId": "h"}, {"Name": "H"})])
    assert {answer.status_code for answer in answers} == {200}
    (role,) = answered(business.send("GET", f"{path}/grouproles"))["Data"]
    assert (role["GroupId"], role["Name"]) == ("h", "H")
