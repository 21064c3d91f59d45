"""Each node of a workflow in Chromium, as a person who signs in to a shop meets it; with and without JavaScript."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.accounts.consents import required_forms
from tests.support.accounts.mailbox import code_in
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import AT_THE_SHOP, NEW, Ada, enter_code, send
from tests.support.browsers.sign_up import type_new_account
from tests.support.fakes.https_receiver import HttpsReceiver, https_receiver
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.tenant_server import TenantServer
from tests.support.workflows.drawings import branching, drawing, entering, node, sequence
from tests.support.workflows.running import DENIAL, denying, put_in_force, server_of, signing_in_by

HOW = pytest.mark.parametrize("how", [{}, {"java_script_enabled": False}], ids=["script", "no script"])
ANYONE = "account.logins >= 0"
REFUSED = "You can’t sign in"
POLICY = {"mode": "moderated", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}
OTHER_BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(passkeys=True, passkey_settings={"selection": "both", "progressive_enrollment": False})


@pytest.fixture
def server(world: World) -> TenantServer:
    return server_of(world)


@pytest.fixture
def ada(world: World, served: str) -> Ada:
    return Ada(world, served)


@pytest.fixture
def receiver() -> Iterator[HttpsReceiver]:
    with https_receiver() as started:
        yield started


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


def reads_the_denial(page: Page, text: str = DENIAL["en"], title: str = REFUSED) -> None:
    heading(page, title)
    expect(page.get_by_role("alert")).to_have_text(text)
    expect(page.get_by_role("link", name="Back to Acme Shop")).to_be_visible()


@HOW
def test_register_creates_an_account(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    put_in_force(server, entering("Register"))
    page = ada.open_login(opened(**how))
    type_new_account(page, "new@example.com", NEW)
    page.get_by_role("button", name="Create account").click()
    heading(page, "Check your email")


@HOW
def test_login_of_one_method_signs_in(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    put_in_force(server, signing_in_by("password"))
    page = ada.open_login(opened(**how))
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
    ada.type_password(page)
    page.wait_for_url(AT_THE_SHOP)


def test_passkey_login_has_a_passkey_alone(server: TenantServer, ada: Ada, opened: Opened) -> None:
    put_in_force(server, entering("PasskeyLogin"))
    page = ada.open_login(opened())
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_visible()
    expect(page.get_by_label("Password")).to_have_count(0)


def test_passkey_login_without_script_shows_a_notice(server: TenantServer, ada: Ada, opened: Opened) -> None:
    put_in_force(server, entering("PasskeyLogin"))
    page = ada.open_login(opened(java_script_enabled=False))
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("JavaScript").first).to_be_visible()


@HOW
def test_second_factor_node_asks_for_a_code(
    server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]
) -> None:
    put_in_force(server, sequence(node("mfa", "MFA", factors=["email"])))
    page = opened(**how)
    ada.sign_in(page)
    heading(page, "Two-step verification")
    enter_code(page, code_in(ada.mails()[-1]))
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_consent_node_asks_for_the_forms(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    server.change_settings(**required_forms("FirstLogin"))
    put_in_force(server, sequence(node("consent", "Consent")))
    page = opened(**how)
    ada.sign_in(page)
    page.wait_for_url("**/consent-forms?**")
    page.get_by_label("Terms").check()
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_terms_node_asks_for_the_privacy_policy(
    server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]
) -> None:
    server.change_settings(privacy_policy=POLICY)
    put_in_force(server, sequence(node("terms", "Terms")))
    page = opened(**how)
    ada.sign_in(page)
    page.wait_for_url("**/privacy-policy?**")
    page.get_by_role("button", name=re.compile("Accept|Agree")).click()
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_profile_form_asks_for_what_is_missing(
    server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]
) -> None:
    put_in_force(server, sequence(node("profile", "ProfileForm", fields=["company"])))
    page = opened(**how)
    ada.sign_in(page)
    page.wait_for_url("**/missing-fields?**")
    page.get_by_label("Company").fill("Engines")
    send(page, "company")
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_condition_leads_to_a_denial(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    put_in_force(server, denying(ANYONE))
    page = opened(**how)
    ada.sign_in(page)
    reads_the_denial(page)
    page.get_by_role("link", name="Back to sign in").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()


@HOW
def test_condition_refuses_before_the_sign_in(
    server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]
) -> None:
    data = branching("request.hour_utc >= 0", **DENIAL)
    paths = ("start -> new", "new.true -> refused", "new.false -> login", "login -> end")
    put_in_force(server, drawing(data["nodes"], *paths))
    reads_the_denial(ada.open_login(opened(**how)))


@HOW
def test_risk_refuses_a_new_browser_alone(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    server.change_settings(risk={"browser": "notify"})
    nodes = [
        node("start", "Start"), node("login", "Login"), node("risk", "Risk", medium=[], high=["browser"]),
        node("deny", "Deny", text=DENIAL), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    ways = ("risk.low -> end", "risk.medium -> end", "risk.high -> deny")
    put_in_force(server, drawing(nodes, "start -> login", "login -> risk", *ways))
    home, elsewhere = opened(**how), opened(user_agent=OTHER_BROWSER, **how)
    ada.sign_in(home)
    home.wait_for_url(AT_THE_SHOP)
    ada.sign_in(elsewhere)
    reads_the_denial(elsewhere)


@HOW
def test_called_server_decides(
    server: TenantServer, ada: Ada, opened: Opened, receiver: HttpsReceiver, how: dict[str, Any]
) -> None:
    call = node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="deny", timeout_seconds=1)
    put_in_force(server, sequence(call))
    refusal = {"Action": "deny", "Text": {"en": "Your contract has ended."}}
    receiver.answers(200, json.dumps(refusal).encode())
    page = opened(**how)
    ada.sign_in(page)
    reads_the_denial(page, "Your contract has ended.")
    receiver.answers(200, json.dumps({"Action": "continue"}).encode())
    ada.sign_in(page)
    page.wait_for_url(AT_THE_SHOP)


@HOW
def test_hanging_server_refuses_by_default(
    server: TenantServer, ada: Ada, opened: Opened, receiver: HttpsReceiver, how: dict[str, Any]
) -> None:
    call = node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="deny", timeout_seconds=1)
    put_in_force(server, sequence(call))
    receiver.hangs()
    page = opened(**how)
    ada.sign_in(page)
    reads_the_denial(page, "Try again later, or get help.", "You can’t sign in right now")


@HOW
def test_failure_ends_without_a_sign_in(server: TenantServer, ada: Ada, opened: Opened, how: dict[str, Any]) -> None:
    data = denying(ANYONE)
    ended = [
        item if item["id"] != "refused" else node("refused", "FailureFinalNode", text=DENIAL) for item in data["nodes"]
    ]
    put_in_force(server, {**data, "nodes": ended})
    page = opened(**how)
    ada.sign_in(page)
    reads_the_denial(page)
