"""Each node of a workflow, as people meet it in Chromium."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.support.accounts.consents import required_forms
from tests.support.accounts.mailbox import code_in
from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import AT_THE_SHOP, HOW, Ada, enter_code, send
from tests.support.fakes.https_receiver import https_receiver
from tests.support.oauth.world import NewWorld, World
from tests.support.workflows.drawings import Drawing, drawing, node
from tests.support.workflows.running import put_in_force, runs, server_of

POLICY = {"mode": "moderated", "versions": [{"version": "2", "starts_at": "2020-01-01T00:00:00Z"}]}
TEXTS = {"en": "Partners sign in with their company account.", "ar": "يسجّل الشركاء الدخول بحساب شركتهم."}


@pytest.fixture
def world(new_world: NewWorld) -> World:
    settings: dict[str, Any] = {
        **required_forms("FirstLogin"),
        "privacy_policy": POLICY,
        "email_verification": "optional",
    }
    return new_world(**settings, custom_fields=["plan"])


@pytest.fixture
def ada(world: World, served: str) -> Ada:
    return Ada(world, served)


def chain(*nodes: Drawing, also: tuple[str, ...] = ()) -> Drawing:
    """Return a graph in which each node leads to the next one; of two outputs, `true`, `low` and so on do."""
    first = {"Condition": ".true", "Risk": ".low"}
    edges = [f"{a['id']}{first.get(a['type'], '')} -> {b['id']}" for a, b in pairwise(nodes)]
    ends = [node("failed", "FailureFinalNode")] if also else []
    return drawing([*nodes, *ends], *edges, *also)


@HOW
def test_person_passes_every_node(ada: Ada, world: World, opened: Opened, how: dict[str, Any]) -> None:
    with https_receiver() as receiver:
        receiver.answers(200, json.dumps({"Action": "continue", "Claims": {"tier": "gold"}}).encode())
        put_in_force(
            server_of(world),
            chain(
                node("start", "Start"), node("hour", "Condition", expression="request.hour_utc >= 0"), node("login", "Login"),
                node("risk", "Risk"), node("ask", "HttpCall", url=receiver.url("/ask"), on_failure="deny", claims=["tier"]),
                node("mfa", "MFA"), node("consent", "Consent"), node("terms", "Terms"),
                node("form", "ProfileForm", fields=["company", "cf_plan"]), node("end", "SuccessFinalNode"),
                also=("hour.false -> failed", "risk.medium -> failed", "risk.high -> failed"),
            ),
        )  # fmt: skip
        page = opened(**how)
        ada.sign_in(page)
        page.wait_for_url("**/second-factor?**")
        enter_code(page, code_in(ada.mails()[-1]))
        page.wait_for_url("**/consent-forms?**")
        form = page.locator("form[action='/consent-forms']")
        form.locator("input[type=checkbox]").first.check()
        form.locator("button[type=submit]").click()
        page.wait_for_url("**/privacy-policy?**")
        page.locator("form[action='/privacy-policy'] button[type=submit]").click()
        page.wait_for_url("**/missing-fields?**")
        page.locator("[name=company]").fill("Engines")
        page.locator("[name=cf_plan]").fill("gold")
        send(page, "company")
        page.wait_for_url(AT_THE_SHOP)
        assert len(receiver.received) == 1
    passed = [step.partition(":")[0] for run in runs(server_of(world)) for step in run["path"]]
    assert set(passed) == {"start", "hour", "login", "risk", "ask", "mfa", "consent", "terms", "form", "end"}


@HOW
def test_denied_person_reads_the_text(ada: Ada, world: World, opened: Opened, how: dict[str, Any]) -> None:
    start, login, deny = node("start", "Start"), node("login", "Login"), node("deny", "Deny", text=TEXTS)
    put_in_force(server_of(world), drawing([start, login, deny], "start -> login", "login -> deny"))
    page = opened(**how)
    ada.sign_in(page)
    expect(page.get_by_role("alert")).to_contain_text(TEXTS[str(page.locator("html").get_attribute("lang"))])


def test_failure_without_a_text_has_a_general_one(ada: Ada, world: World, opened: Opened) -> None:
    page = opened()
    nodes = [node("start", "Start"), node("login", "Login"), node("end", "FailureFinalNode")]
    put_in_force(server_of(world), drawing(nodes, "start -> login", "login -> end"))
    ada.sign_in(page)
    expect(page.get_by_role("alert")).to_contain_text("Try again later, or get help.")
