"""Values, filters and amounts that an identity provider sends by mistake, or to do harm: each gets an error of SCIM."""

from __future__ import annotations

import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.organizations.management import Business, a_business
from tests.support.scim.connected import DOMAIN, USER, ScimClient, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer
from tests.support.visitors.plain_client import PlainClient

pytestmark = pytest.mark.both_databases
DEPTH = 400


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture
def globex(business: Business) -> ScimClient:
    return connect_organization(business)


def refused(answer: TestResponse, kind: str, status: int = 400) -> None:
    body = answer.get_json()
    assert (answer.status_code, body.get("scimType")) == (status, kind), answer.text
    assert body["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]


def send_text(client: ScimClient, method: str, path: str, text: str) -> TestResponse:
    tenant = client.business.tenant
    return PlainClient(tenant.app, use_cookies=False).open(
        f"/scim/v2{path}", method=method, data=text,
        base_url=f"http://{tenant.name}.{tenant.services.settings.hub_domain}",
        headers={"Authorization": f"Bearer {client.token}", "Content-Type": "application/scim+json"},
    )  # fmt: skip


@pytest.mark.parametrize(
    "condition", ['userName eq "x"', "type eq 1", "name pr", "primary gt true", "(" * 150 + "id pr" + ")" * 150]
)
def test_wrong_filter_of_a_path_is_named(condition: str, globex: ScimClient) -> None:
    uid = globex.create("mina")["id"]
    operation = {"op": "replace", "path": f"emails[{condition}].value", "value": f"q@{DOMAIN}"}
    refused(globex.patch(f"/Users/{uid}", operation), "invalidFilter")


@pytest.mark.parametrize("value", [r"\u0000", r"\ud800"])
def test_text_that_no_database_stores_is_refused(value: str, globex: ScimClient) -> None:
    uid = globex.create("mina")["id"]
    for name in ("externalId", "userName", "id"):
        refused(globex.send("GET", "/Users", filter=f'{name} eq "{value}"'), "invalidFilter")
    operation = {"op": "add", "path": f'emails[type eq "home" and display eq "{value}"].value', "value": f"q@{DOMAIN}"}
    assert globex.patch(f"/Users/{uid}", operation).status_code == 400


@pytest.mark.parametrize("start", [10**19, 10**25])
def test_start_beyond_every_person_is_empty(start: int, globex: ScimClient) -> None:
    globex.create("mina")
    found = globex.ok("POST", "/Users/.search", {"startIndex": start})
    assert (found["totalResults"], found["Resources"]) == (1, [])


@pytest.mark.parametrize("value", [None, 1, True, [], {}, "", [None], [1], {"a": None}])
def test_value_of_a_wrong_type_is_no_failure(value: Any, globex: ScimClient) -> None:
    uid, group = globex.create("mina")["id"], globex.ok("POST", "/Groups", {"displayName": "Lawyers"})["id"]
    for name in ("userName", "externalId", "name", "emails", "active", "password", "roles", "schemas", "id"):
        user = {"schemas": [USER], "userName": f"{name.lower()}@{DOMAIN}", name: value}
        answers = [
            globex.send("POST", "/Users", user),
            globex.patch(f"/Users/{uid}", {"op": "replace", "path": name, "value": value}),
            globex.patch(f"/Users/{uid}", {"op": value, "value": {name: value}}),
            globex.patch(f"/Groups/{group}", {"op": "add", "path": "members", "value": value}),
            globex.send("POST", "/Bulk", {"Operations": [{"method": "POST", "path": "/Users", "data": {name: value}}]}),
            globex.send("POST", "/Users/.search", {"sortBy": value, "count": value, "cursor": value}),
        ]
        assert [answer.status_code for answer in answers if answer.status_code >= 500] == [], name


def test_huge_and_deep_bodies_are_refused(globex: ScimClient) -> None:
    member = json.dumps({"userName": f"mina@{DOMAIN}", "displayName": "x" * 1_000_000})
    refused(send_text(globex, "POST", "/Users", member), "invalidSyntax")
    deep = "[" * 50_000 + "]" * 50_000
    refused(send_text(globex, "POST", "/Users", f'{{"userName": "mina@{DOMAIN}", "x": {deep}}}'), "invalidSyntax")
    nested = "[" * DEPTH + "]" * DEPTH
    for path in ("/Users", "/Bulk", "/Users/.search"):
        body = f'{{"userName": {nested}, "filter": {nested}, "Operations": [{{"data": {nested}}}]}}'
        assert send_text(globex, "POST", path, body).status_code in (200, 400)


def test_person_and_filter_have_an_end(globex: ScimClient) -> None:
    uid = globex.create("mina")["id"]
    photos = [{"value": f"https://images.example/{at}/{'x' * 60}"} for at in range(400)]
    assert globex.patch(f"/Users/{uid}", {"op": "add", "path": "photos", "value": photos}).status_code == 200
    more = [{"value": f"{item['value']}/more"} for item in photos]
    refused(globex.patch(f"/Users/{uid}", {"op": "add", "path": "photos", "value": more}), "invalidValue")
    assert "/more" not in globex.send("GET", f"/Users/{uid}").text
    terms = " or ".join(['userName eq "x"'] * 50)
    assert globex.ok("GET", "/Users", filter=terms)["totalResults"] == 0
    refused(globex.send("GET", "/Users", filter=f'{terms} or userName eq "x"'), "invalidFilter")


def test_password_is_in_no_log(globex: ScimClient) -> None:
    uid = globex.create("mina", password="Correct horse 1")["id"]
    for operation in (
        {"op": "replace", "path": "password", "value": "Correct horse 1"},
        {"op": "replace", "value": {"password": ["Correct horse 1"]}},
        {"op": "replace", "path": "password", "value": {"value": "Correct horse 1"}},
    ):
        globex.patch(f"/Users/{uid}", operation)
    assert "Correct horse" not in json.dumps(globex.requests())
    assert "Correct horse" not in globex.send("GET", f"/Users/{uid}").text
