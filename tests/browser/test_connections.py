"""From the shop through another provider and back, in Chromium, between processes: the provider is a tenant of the same installation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyotp
import pytest
from playwright.sync_api import expect

from tests.support.hub_in_browser import Opened
from tests.support.installation import eventually, installed
from tests.support.scenario import HOW, OLD, Scenario, Tab, the_shop

SECRET = "the-tenants-of-the-tests-keep-a-secret"
PEOPLE = ("ada", "emmy", "grace", "mary", "joan")  # of the provider; each journey has somebody of its own
NEWCOMERS = {"script": "ada", "no script": "emmy", "ar": "grace"}
KNOWN = ("mary", "joan")  # at acme, too


def person(name: str) -> dict[str, Any]:
    return {"email": f"{name}@example.test", "password": OLD, "email_verified": True}


def connection(issuer: str, client: str, **stated: Any) -> dict[str, Any]:
    return {"issuer": issuer, "key": client, "secret": SECRET, **stated}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Acme believes what Globex says of addresses, and not what it says under another name; at Strict everybody has two factors."""
    with installed(tmp_path_factory.mktemp("scenario")) as ours:
        ours.start()
        shop, there = ours.open_shop(), ours.at("globex")
        trusted = connection(there, "acme", title="Globex", trusts_email=True)
        acme = {
            "name": "acme",
            "applications": [the_shop(shop)],
            "connections": {"globex": trusted, "partner": connection(there, "acme", title="Partner")},
            "accounts": [person(name) for name in KNOWN],
        }
        factors = {"totp": True, "email": False, "sms": False, "passkey": False, "backup_codes": False}
        strict = {
            "name": "strict",
            "settings": {"two_factor": "required", "second_factors": factors},
            "connections": {"globex": connection(there, "strict", title="Globex", trusts_email=True)},
        }
        clients = [
            {
                "name": name,
                "client_id": name,
                "client_secret": SECRET,
                "require_consent": True,
                "redirect_uris": [f"{ours.at(name)}/socialauth/validate.sauth"],
            }
            for name in ("acme", "strict")
        ]
        globex = {"name": "globex", "applications": clients, "accounts": [person(name) for name in PEOPLE]}
        ours.state(acme, strict, globex)
        eventually(ours.knows_the_tenant, "the tenant is there")
        yield Scenario(ours, shop)


class Traveller(Tab):
    """Somebody who has an account at the provider."""

    def continues(self, name: str = "globex") -> None:
        self.page.locator(f"main a[href^='/sign-in/with?provider={name}']").click()

    def signs_in_there(self) -> None:
        self.page.wait_for_url(f"{self.scenario.ours.at('globex')}/login**")
        self.fills(identifier=self.email, password=OLD)
        self.sends("password")

    def says(self, decision: str) -> None:
        self.page.wait_for_url(f"{self.scenario.ours.at('globex')}/consent**")
        self.page.locator(f"button[name=decision][value={decision}]").click()

    def forgets_us(self) -> None:
        """Come another day: the provider alone still knows this browser."""
        for host in ("acme.localhost", "shop.localhost"):
            self.page.context.clear_cookies(domain=host)


@HOW
def test_whoever_is_new_has_an_account_at_once_and_comes_straight_in_from_then_on(
    scenario: Scenario, opened: Opened, how: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    traveller = Traveller(scenario, opened(**how), person(NEWCOMERS[request.node.callspec.id])["email"])
    traveller.comes()
    traveller.speaks(how.get("locale", "en"))
    traveller.continues()
    traveller.signs_in_there()
    traveller.speaks(how.get("locale", "en"))
    traveller.says("allow")
    traveller.is_welcome()
    traveller.forgets_us()
    traveller.comes()
    traveller.continues()
    traveller.is_welcome()


def test_the_second_factor_of_the_tenant_is_asked_after_it(scenario: Scenario, opened: Opened) -> None:
    traveller = Traveller(scenario, opened(), person("joan")["email"])
    page = traveller.page
    page.goto(f"{scenario.ours.at('strict')}/profile")
    traveller.continues()
    traveller.signs_in_there()
    traveller.says("allow")
    page.wait_for_url(f"{scenario.ours.at('strict')}/second-factor**")
    page.locator("details.more summary").click()
    page.locator("[name=code]").fill(pyotp.TOTP(page.locator(".key").inner_text().replace(" ", "")).now())
    page.locator("main form:has([name=code]) button[type=submit]").last.click()
    page.wait_for_url(f"{scenario.ours.at('strict')}/profile")
    expect(page.get_by_role("heading", level=1)).to_have_text(traveller.email)


def test_whose_word_is_not_enough_signs_in_once_and_is_linked(scenario: Scenario, opened: Opened) -> None:
    traveller = Traveller(scenario, opened(), person("mary")["email"])
    traveller.comes()
    traveller.continues("partner")
    traveller.signs_in_there()
    traveller.says("allow")
    traveller.page.wait_for_url(f"{scenario.ours.tenant_url}/register**")
    traveller.page.locator("main a[href*='/login']").first.click()
    traveller.fills(identifier=traveller.email, password=OLD)
    traveller.sends("password")
    traveller.is_welcome()
    traveller.forgets_us()
    traveller.comes()
    traveller.continues("partner")
    traveller.is_welcome()


def test_who_says_no_there_is_told_here_and_signs_in_another_way(scenario: Scenario, opened: Opened) -> None:
    traveller = Traveller(scenario, opened(), person("joan")["email"])
    traveller.comes()
    traveller.continues()
    traveller.signs_in_there()
    traveller.says("deny")
    traveller.page.wait_for_url(f"{scenario.ours.tenant_url}/login**")
    expect(traveller.page.get_by_role("alert").or_(traveller.page.get_by_role("status"))).to_contain_text(
        "You are not signed in"
    )
    traveller.fills(identifier=traveller.email, password=OLD)
    traveller.sends("password")
    traveller.is_welcome()
