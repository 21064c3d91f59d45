"""Where no page can send people elsewhere, an answer `redirect` refuses the sign-in or the token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.credentials.passkeys import passkey_holder
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.token_exchange import error, exchanged
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import NewTenantServer, refused
from tests.support.workflows.redirecting import RedirectingServer
from tests.support.workflows.running import put_in_force, runs, server_of


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as started:
        yield started


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def kyc(world: World, receiver: HttpsReceiver, ada: Person) -> RedirectingServer:
    return RedirectingServer(server_of(world), receiver, ada.uid)


def signed_in(world: World, person: Person, shop: RelyingParty, **changed: str) -> dict[str, Any]:
    answer = shop.redeem(Browser(world.services, world.wsgi, world.name).code(shop, person, **changed))
    tokens: dict[str, Any] = answer.get_json()
    return tokens


def test_program_learns_that_a_page_is_required(new_tenant_server: NewTenantServer, receiver: HttpsReceiver) -> None:
    ada = passkey_holder(new_tenant_server)
    kyc = RedirectingServer(ada.tenant, receiver, ada.uid)
    kyc.redirects()
    put_in_force(ada.tenant, kyc.workflow(on_failure="continue"))
    answer = ada.logs_in()
    assert refused(answer) == (403, 8200)
    assert answer.get_json()["Data"] == {"Action": "redirect"}
    assert [call["SignIn"]["ReturnUrl"] for call in kyc.calls()] == [None]
    assert runs(ada.tenant)[-1]["outcome"] == "action"


def test_refresh_that_would_redirect_is_refused(world: World, kyc: RedirectingServer, ada: Person) -> None:
    kyc.receiver.answers(200, b'{"Action": "continue"}')
    drawn = kyc.workflow()
    drawn["nodes"][0]["data"] = {"on_refresh": True}
    put_in_force(kyc.tenant, drawn)
    shop = world.application("Shop", scope="openid offline_access")
    tokens = signed_in(world, ada, shop, scope="openid offline_access")
    kyc.redirects()
    answer = shop.refresh(tokens["refresh_token"])
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_grant")
    assert kyc.calls()[-1]["SignIn"]["IsRefresh"]
    assert kyc.calls()[-1]["SignIn"]["ReturnUrl"] is None
    kyc.receiver.answers(200, b'{"Action": "continue"}')
    assert shop.refresh(tokens["refresh_token"]).status_code == 200, "the token stays valid"


def test_exchange_that_would_redirect_is_refused(
    world: World, kyc: RedirectingServer, ada: Person, frontend: RelyingParty, orders: RelyingParty
) -> None:
    token = signed_in(world, ada, frontend)["access_token"]
    kyc.redirects()
    put_in_force(kyc.tenant, kyc.workflow(on_failure="continue"))
    assert error(exchanged(orders, token)) == (400, "invalid_grant")
    assert kyc.calls()[-1]["SignIn"]["ReturnUrl"] is None
