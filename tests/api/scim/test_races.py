"""Requests of SCIM in the same moment, and tokens that end while they are used."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.organizations.management import PATH, Business, a_business
from tests.support.races import at_once
from tests.support.scim.connected import CONNECTIONS, DOMAIN, ScimClient, connect, connect_organization
from tests.support.tenants.tenant_server import NewTenantServer, answered

pytestmark = pytest.mark.both_databases
RACERS = 6


@pytest.fixture
def business(new_tenant_server: NewTenantServer) -> Business:
    return a_business(new_tenant_server)


@pytest.fixture(params=["organization", "tenant"])
def client(request: pytest.FixtureRequest, business: Business) -> ScimClient:
    return connect_organization(business) if request.param == "organization" else connect(business)


def test_of_many_patches_of_one_version_one_is_carried_out(client: ScimClient) -> None:
    person = client.create("mina")
    group = client.ok("POST", "/Groups", {"displayName": "Lawyers"})
    for path, made in ((f"/Users/{person['id']}", person), (f"/Groups/{group['id']}", group)):
        version = {"If-Match": made["meta"]["version"]}

        rename = {"op": "replace", "path": "displayName", "value": "Mina"}
        send = partial(client.patch, path, rename, **version)
        answers = [answer.status_code for answer in at_once([send] * RACERS)]
        assert sorted(answers) == [200, *[412] * (RACERS - 1)]


def test_of_many_members_added_at_once_none_is_lost(client: ScimClient) -> None:
    people = [str(client.create(f"m{at}")["id"]) for at in range(RACERS)]
    path = f"/Groups/{client.ok('POST', '/Groups', {'displayName': 'Lawyers'})['id']}"

    added = [{"op": "add", "path": "members", "value": [{"value": uid}]} for uid in people]
    answers = at_once([partial(client.patch, path, operation) for operation in added])
    assert [answer.status_code for answer in answers] == [200] * RACERS
    assert {item["value"] for item in client.ok("GET", path)["members"]} == set(people)


def test_of_many_equal_creations_one_is_carried_out(client: ScimClient) -> None:
    user = {"userName": f"mina@{DOMAIN}"}
    answers = at_once([lambda: client.send("POST", "/Users", user).status_code] * RACERS)
    assert sorted(answers) == [201, *[409] * (RACERS - 1)]
    assert client.ok("GET", "/Users", filter=f'userName eq "mina@{DOMAIN}"')["totalResults"] == 1


def test_token_ends_with_its_time_and_its_organization(business: Business) -> None:
    globex = connect_organization(business)
    uid = globex.create("mina")["id"]
    path = f"{CONNECTIONS}/{globex.connection}/tokens"
    short = str(answered(business.send("POST", path, {"DaysToLive": 1}))["Token"])
    brief = ScimClient(business, globex.connection, short, globex.org)
    assert brief.send("GET", "/Users").status_code == 200
    clock: Any = business.tenant.services.clock
    clock.advance(days=1, seconds=1)
    assert brief.send("GET", "/Users").status_code == 401
    assert globex.send("GET", "/Users").status_code == 200
    answered(business.send("PUT", f"{PATH}/{globex.org}/status", {"Active": False}))
    for address in ("/Users", f"/Users/{uid}", "/Groups"):
        assert globex.send("GET", address).status_code == 404, address
    assert globex.patch(f"/Users/{uid}", {"op": "replace", "path": "active", "value": False}).status_code == 404
    answered(business.send("DELETE", f"{PATH}/{globex.org}"))
    assert globex.send("GET", "/Users").status_code == 401
