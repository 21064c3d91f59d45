"""The methods that an organization allows, on the pages of each method: the page says which one it requires, and offers it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask

from tests.support.accounts.consents import POLICY, required_forms
from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.accounts.pinned import REQUIRED
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.federated_sign_in import ADA, START_URL, link_identity
from tests.support.journeys.passkeys import options, sign_in_and_add_passkey, sign_out
from tests.support.journeys.passwordless import (
    ALL_METHODS,
    E164,
    NUMBER,
    by_device,
    by_mail,
    code,
    link_path,
    number_on,
)
from tests.support.journeys.second_factors import APP_ALONE, app_of, code_now
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.management import PATH, Business
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

UNLIMITED = {"amount": 0, "minutes": 60}
PASSKEYS = {"passkeys": True, "passkey_settings": {"progressive_enrollment": False, "local_enrollment": False}}


class Member:
    """An account with every method, and the browser that signs in to it."""

    def __init__(
        self, tenant: World, app: Flask, new_visitor_at: NewVisitorAt, provider: FakeProvider, *, has_key: bool = True
    ) -> None:
        self.tenant, self.new_visitor_at, self.provider = tenant, new_visitor_at, provider
        self.visitor: Visitor = new_visitor_at(tenant)
        self.device = Authenticator(self.visitor.home)
        self.ada: Person = tenant.person("ada@example.test")
        link_identity(tenant, self.ada, subject="1")
        if has_key:
            sign_in_and_add_passkey(self.visitor, self.ada, self.device)
            sign_out(self.visitor)
        key, secret = tenant.api_key, tenant.api_secret
        self.business = Business(TenantServer(tenant.services, app, tenant.tenant_id, tenant.name, key, secret))
        self.business.tenant.update(self.ada.uid, {"PhoneId": E164, "PhoneIdVerified": True})
        self.org = self.business.create("globex", Display={"Name": "Globex Gardens"})
        answered(self.business.assign(self.ada.uid, self.org, self.business.role(org=self.org)))
        self.shop = tenant.application("shop", client_name="Acme Shop")

    def requires(self, *methods: str) -> None:
        policy = {"MethodPolicy": {"AllowedMethods": list(methods) or None}}
        answered(self.business.send("PUT", f"{PATH}/{self.org}/policy", policy))

    def begin(self) -> VisitedPage:
        sign_out(self.visitor)
        pass_time(self.tenant.services, seconds=31)
        return self.visitor.authorize(self.shop)

    def by_password(self) -> VisitedPage:
        return self.begin().press("Sign in", identifier=self.ada.email, password=self.ada.password)

    def by_passkey(self) -> VisitedPage:
        return self.show_passkey(self.begin())

    def show_passkey(self, page: VisitedPage) -> VisitedPage:
        assertion = self.device.shows(options(self.visitor, page, "/login/passkey/options"), self.device.passkeys[0])
        return page.press("Sign in with a passkey", credential=json.dumps(assertion))

    def by_mailed_code(self) -> VisitedPage:
        return by_mail(self.begin(), self.ada.email).press("Sign in", code=code(self.tenant, self.ada.email))

    def by_mailed_link(self) -> VisitedPage:
        by_mail(self.begin(), self.ada.email)
        return self.visitor.open(link_path(self.tenant, self.ada.email)).press("Sign in")

    def by_text(self) -> VisitedPage:
        page = self.begin().follow("Get a code by text message").press("Text me a code", identifier=NUMBER)
        texted = sent_messages(self.tenant.services, self.tenant.tenant_id, "sms")
        return page.press("Sign in", code=code_in(texted[-1]))

    def by_device(self) -> VisitedPage:
        page = by_device(self.begin(), self.ada.email)
        other = self.new_visitor_at(self.tenant).open(link_path(self.tenant, self.ada.email))
        other.press("Approve", number=number_on(page))
        return page.press("Continue")

    def by_provider(self) -> VisitedPage:
        attempt = self.begin().query["attempt"]
        redirected = self.visitor.open(f"{START_URL}&attempt={attempt}")
        return self.visitor.open(self.provider.callback_url(redirected.address, **{**ADA, "sub": "1"}))


Act = Callable[[Member], VisitedPage]
METHODS: dict[str, tuple[str, Act]] = {
    "password": ("password", Member.by_password),
    "passkey": ("passkey", Member.by_passkey),
    "email link": ("email", Member.by_mailed_link),
    "email code": ("email", Member.by_mailed_code),
    "text message": ("sms", Member.by_text),
    "another device": ("email", Member.by_device),
    "provider": ("connection", Member.by_provider),
}


@pytest.fixture
def tenant(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    connections: dict[str, Any] = {"globex": fake_provider.openid(title="Globex", trusts_email=True)}
    return new_world(
        **{
            **ALL_METHODS,
            **PASSKEYS,
            "phone_login": True,
            "email_login": True,
            "default_country": "GB",
            "connections": connections,
            "sending": {"mails": UNLIMITED, "mails_in_all": UNLIMITED, "mails_by_type": {}},
        }
    )


@pytest.fixture
def member(tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider) -> Member:
    return Member(tenant, identity_app, new_visitor_at, fake_provider)


def test_page_of_each_method_obeys_the_policy(member: Member, subtests: pytest.Subtests) -> None:
    for name, (method, act) in METHODS.items():
        other = "passkey" if method == "password" else "password"
        member.requires()
        with subtests.test(name):
            assert "code" in act(member).query
            member.requires(other)
            page = act(member)
            assert f"Globex Gardens requires a {other}" in page.text
            assert member.visitor.open("/profile").is_sign_in
            member.requires(other, method)
            assert "code" in act(member).query
            member.requires()
            assert "code" in act(member).query


@pytest.mark.parametrize(
    ("path", "settings"),
    [
        ("/privacy-policy", {"privacy_policy": POLICY}),
        ("/consent-forms", required_forms("FirstLogin")),
        ("/set-pin", REQUIRED),
    ],
)
def test_page_of_each_method_asks_for_required_actions(
    member: Member, subtests: pytest.Subtests, path: str, settings: dict[str, Any]
) -> None:
    member.tenant.change_settings(**settings)
    for name, (_, act) in METHODS.items():
        with subtests.test(name):
            assert act(member).address.partition("?")[0].endswith(path)


def test_page_offers_the_required_method_and_continues(member: Member) -> None:
    member.requires("passkey")
    page = member.by_password()
    assert page.status == 200
    assert 'type="password"' not in page.html
    assert "Get an email link" not in page.text
    assert page.query["attempt"]
    assert "code" in member.show_passkey(page).query


def test_page_lists_several_methods(member: Member) -> None:
    member.requires("email", "connection")
    page = member.by_password()
    assert "Globex Gardens requires another sign-in method" in page.text
    assert "Get an email link" in page.text
    assert "Continue with Globex" in page.text
    assert "Sign in with a passkey" not in page.text
    assert "Get a code by text message" not in page.text


def test_sign_in_without_application_shows_the_method(member: Member) -> None:
    member.requires("passkey")
    page = member.visitor.open("/login").press("Sign in", identifier=member.ada.email, password=member.ada.password)
    assert "Globex Gardens requires a passkey" in page.text
    assert member.show_passkey(page).address.endswith("/profile")


def test_wrong_password_and_made_up_address_name_no_organization(member: Member) -> None:
    member.requires("passkey")
    page = member.begin().press("Sign in", identifier=member.ada.email, password="wrong")
    assert "Wrong" in page.text
    assert "Globex Gardens" not in page.html
    opened = member.visitor.open(f"/login?attempt={member.begin().query['attempt']}&needs=method")
    assert "requires" not in opened.text


def test_account_without_the_method_sets_it_up(
    tenant: World, identity_app: Flask, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    member = Member(tenant, identity_app, new_visitor_at, fake_provider, has_key=False)
    member.requires("passkey")
    page = member.by_password()
    assert page.address.partition("?")[0].endswith("/passkeys/offer")


def test_sign_in_refused_by_a_changed_policy_enrols_no_factor(member: Member) -> None:
    member.tenant.change_settings(two_factor="required", second_factors=APP_ALONE)
    page = member.by_password()
    member.requires("passkey")
    refused = page.press("Verify", code=code_now(member.tenant, app_of(page)))
    assert "Globex Gardens requires a passkey" in refused.text
    member.requires()
    assert member.by_password().heading == "Protect your account"
