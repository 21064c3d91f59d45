"""Federated sign-in in Chromium across processes; the provider is a tenant of the same installation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyotp
import pytest
from playwright.sync_api import expect

from tests.support.browsers.chromium import Opened
from tests.support.browsers.shop_user import HOW, enter_code
from tests.support.processes.installation import eventually, installed
from tests.support.processes.scenario import OLD, Scenario, SignInTab, shop_client

SECRET = "the-tenants-of-the-tests-keep-a-secret"
PEOPLE = ("ada", "emmy", "mary", "joan")  # accounts at the provider, one per test
NEWCOMERS = {"script": "ada", "no script, ar": "emmy"}
KNOWN = ("mary", "joan")  # also at acme


def person(name: str) -> dict[str, Any]:
    return {"email": f"{name}@example.test", "password": OLD, "email_verified": True}


def connection(issuer: str, client: str, **settings: Any) -> dict[str, Any]:
    return {"issuer": issuer, "key": client, "secret": SECRET, **settings}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scenario]:
    """Acme trusts addresses from the connection globex, but not from partner; Strict requires two factors."""
    with installed(tmp_path_factory.mktemp("scenario")) as installation:
        installation.start()
        shop, issuer = installation.open_shop(), installation.at("globex")
        trusted = connection(issuer, "acme", title="Globex", trusts_email=True)
        acme = {
            "name": "acme",
            "applications": [shop_client(shop)],
            "connections": {"globex": trusted, "partner": connection(issuer, "acme", title="Partner")},
            "accounts": [person(name) for name in KNOWN],
        }
        factors = {"totp": True, "email": False, "sms": False, "passkey": False, "backup_codes": False}
        strict = {
            "name": "strict",
            "settings": {"two_factor": "required", "second_factors": factors},
            "connections": {"globex": connection(issuer, "strict", title="Globex", trusts_email=True)},
        }
        clients = [
            {
                "name": name,
                "client_id": name,
                "client_secret": SECRET,
                "require_consent": True,
                "redirect_uris": [f"{installation.at(name)}/socialauth/validate.sauth"],
            }
            for name in ("acme", "strict")
        ]
        globex = {"name": "globex", "applications": clients, "accounts": [person(name) for name in PEOPLE]}
        installation.state(acme, strict, globex)
        eventually(installation.knows_the_tenant, "the tenant is configured")
        yield Scenario(installation, shop)


class FederatedUser(SignInTab):
    """A browser tab of a person with an account at the provider."""

    def choose_provider(self, name: str = "globex") -> None:
        self.page.locator(f"main a[href^='/sign-in/with?provider={name}']").click()

    def sign_in_at_provider(self) -> None:
        self.page.wait_for_url(f"{self.scenario.installation.at('globex')}/login**")
        self.fill(identifier=self.email, password=OLD)
        self.submit("password")

    def decide(self, decision: str) -> None:
        self.page.wait_for_url(f"{self.scenario.installation.at('globex')}/consent**")
        self.page.locator(f"button[name=decision][value={decision}]").click()

    def clear_own_cookies(self) -> None:
        """Delete the cookies of all hosts except the provider."""
        for host in ("acme.localhost", "shop.localhost"):
            self.page.context.clear_cookies(domain=host)


@HOW
def test_new_identity_registers_and_later_signs_in(
    scenario: Scenario, opened: Opened, how: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    user = FederatedUser(scenario, opened(**how), person(NEWCOMERS[request.node.callspec.id])["email"])
    user.open_login()
    user.expect_language(how.get("locale", "en"))
    user.choose_provider()
    user.sign_in_at_provider()
    user.expect_language(how.get("locale", "en"))
    user.decide("allow")
    user.expect_shop()
    user.clear_own_cookies()
    user.open_login()
    user.choose_provider()
    user.expect_shop()


def test_tenant_asks_its_second_factor_after_federation(scenario: Scenario, opened: Opened) -> None:
    user = FederatedUser(scenario, opened(), person("joan")["email"])
    page = user.page
    page.goto(f"{scenario.installation.at('strict')}/profile")
    user.choose_provider()
    user.sign_in_at_provider()
    user.decide("allow")
    page.wait_for_url(f"{scenario.installation.at('strict')}/second-factor**")
    enter_code(page, pyotp.TOTP((page.locator(".key").text_content() or "").replace(" ", "")).now())
    page.wait_for_url(f"{scenario.installation.at('strict')}/profile")
    expect(page.get_by_role("heading", level=1)).to_have_text("Profile")


def test_untrusted_identity_is_linked_by_one_sign_in(scenario: Scenario, opened: Opened) -> None:
    user = FederatedUser(scenario, opened(), person("mary")["email"])
    user.open_login()
    user.choose_provider("partner")
    user.sign_in_at_provider()
    user.decide("allow")
    user.page.wait_for_url(f"{scenario.installation.tenant_url}/register**")
    user.page.locator("main a[href*='/login']").first.click()
    user.fill(identifier=user.email, password=OLD)
    user.submit("password")
    user.expect_shop()
    user.clear_own_cookies()
    user.open_login()
    user.choose_provider("partner")
    user.expect_shop()


def test_denial_at_provider_leaves_password_sign_in(scenario: Scenario, opened: Opened) -> None:
    user = FederatedUser(scenario, opened(), person("joan")["email"])
    user.open_login()
    user.choose_provider()
    user.sign_in_at_provider()
    user.decide("deny")
    user.page.wait_for_url(f"{scenario.installation.tenant_url}/login**")
    expect(user.page.get_by_role("alert").or_(user.page.get_by_role("status"))).to_contain_text("Sign-in canceled")
    user.fill(identifier=user.email, password=OLD)
    user.submit("password")
    user.expect_shop()
