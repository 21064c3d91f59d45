"""A person whom a workflow sends to a page of the tenant, on another site, in Chromium; with and without JavaScript."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import AT_THE_SHOP, HOW, Ada
from tests.support.fakes import https_receiver
from tests.support.fakes.https_receiver import HttpsReceiver
from tests.support.oauth.world import NewWorld, World
from tests.support.workflows.redirecting import RedirectingServer
from tests.support.workflows.running import put_in_force, server_of


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def ada(world: World, served: str) -> Ada:
    return Ada(world, served)


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver.https_receiver() as started:
        yield started


def sends_back(receiver: HttpsReceiver, kyc: RedirectingServer, ada: Ada, *results: str) -> None:
    """Redirect to a page that sends the browser back at once, first with these results, then with a right one."""
    remaining = list(results)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.command == "POST":
            body = json.dumps({"Action": "redirect", "Url": receiver.url("/start?case=8832")}).encode()
            https_receiver.answering(200, body, {})(handler)
            return
        call, state = kyc.calls()[0], dict(parse_qsl(urlsplit(handler.path).query))["state"]
        result = remaining.pop(0) if remaining else replace(kyc, uid=call["Account"]["Uid"]).result(state)
        back = f"{ada.served_address(call['SignIn']['ReturnUrl'])}?{urlencode({'state': state, 'result': result})}"
        https_receiver.answering(302, b"", {"Location": back})(handler)

    receiver.answer = answer


@HOW
def test_person_comes_back_from_the_tenants_page(
    ada: Ada, world: World, receiver: HttpsReceiver, opened: Opened, how: dict[str, Any]
) -> None:
    kyc = RedirectingServer(server_of(world), receiver, uid="")
    sends_back(receiver, kyc, ada, "not.a.result")
    put_in_force(kyc.tenant, kyc.workflow(redirect_origins=[receiver.url("")]))
    page = opened(ignore_https_errors=True, **how)
    ada.sign_in(page)
    page.wait_for_url("**/continue?state=**")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.locator("main .actions a").first.click()
    page.wait_for_url(AT_THE_SHOP)
    assert [request.method for request in receiver.received] == ["POST", "GET", "GET"]


def test_form_that_names_no_application_leads_there(
    ada: Ada, world: World, receiver: HttpsReceiver, opened: Opened
) -> None:
    """The policy of this form lists no other site: Chromium would not follow a redirect from it."""
    kyc = RedirectingServer(server_of(world), receiver, uid="")
    sends_back(receiver, kyc, ada)
    put_in_force(kyc.tenant, kyc.workflow(redirect_origins=[receiver.url("")]))
    page = opened(ignore_https_errors=True)
    page.goto(f"{ada.served}/login")
    ada.type_password(page)
    page.wait_for_url("**/profile")
