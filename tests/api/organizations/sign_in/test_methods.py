"""The methods by which an organization lets its members sign in: each method, before and after the policy changes."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.consents import consent_answers, required_forms
from tests.support.accounts.customers import NEW
from tests.support.accounts.mailbox import token_in
from tests.support.accounts.pinned import PIN, REQUIRED, first, pin_auth_token, session, sign_in_with_pin
from tests.support.accounts.social_accounts import NO_CALLBACK, signed_in_with
from tests.support.credentials.factors import SecondFactorHolder, second_factor_holder
from tests.support.credentials.passkeys import PasskeyHolder, passkey_holder
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import an_app
from tests.support.oauth.world import NewWorld
from tests.support.operation_cases.passwordless import by_link, link
from tests.support.operation_cases.sign_in_methods import EVERY, METHODS
from tests.support.organizations.management import PATH, Business
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> PasskeyHolder:
    """A member of no organization, with every method."""
    return passkey_holder(new_tenant_server, **EVERY).add_passkey()


@pytest.fixture
def business(ada: PasskeyHolder) -> Business:
    return Business(ada.tenant)


def policy(business: Business, org: str, *methods: str) -> TestResponse:
    return business.send("PUT", f"{PATH}/{org}/policy", {"MethodPolicy": {"AllowedMethods": list(methods) or None}})


def joined(business: Business, uid: str, *methods: str, name: str = "") -> str:
    """Make an account a member of an organization that allows these methods."""
    org = business.create(name)
    answered(business.assign(uid, org, business.role(org=org)))
    answered(policy(business, org, *methods))
    return org


@pytest.mark.parametrize("name", METHODS)
def test_each_method_obeys_the_policy(ada: PasskeyHolder, business: Business, name: str) -> None:
    method, act = METHODS[name]
    other = "passkey" if method == "password" else "password"
    org = joined(business, ada.uid)
    answered(act(ada))
    answered(policy(business, org, other))
    answer = act(ada)
    assert refused(answer) == (403, 1220)
    assert answer.json is not None
    assert answer.json["Data"]["AllowedMethods"] == [other]
    answered(policy(business, org, method, other))
    answered(act(ada))
    answered(policy(business, org, other))
    assert refused(act(ada)) == (403, 1220)
    answered(policy(business, org))
    answered(act(ada))


def test_pin_obeys_the_policy(ada: PasskeyHolder, business: Business) -> None:
    org = joined(business, ada.uid)
    token = session(ada)
    answered(policy(business, org, "password"))
    assert refused(sign_in_with_pin(ada, token)) == (403, 1220)
    answered(policy(business, org, "password", "pin"))
    assert answered(sign_in_with_pin(ada, token, PIN))["access_token"]


def test_refused_link_can_be_used_after_the_policy_changed(ada: PasskeyHolder, business: Business) -> None:
    org = joined(business, ada.uid, "passkey")
    token = link(ada)
    assert refused(by_link(ada, token)) == (403, 1220)
    answered(policy(business, org, "email"))
    answered(by_link(ada, token))


@pytest.mark.parametrize("by", ["text message", "security answers"])
def test_reset_without_the_mailbox_is_no_sign_in_by_email(ada: PasskeyHolder, business: Business, by: str) -> None:
    ada.update_account(SecurityQuestionAnswer={"pet": "Grey Owl"})
    joined(business, ada.uid, "email")
    answered(ada.call("U35", {"phone": ada.phone}))
    answer = {
        "text message": lambda: ada.call("U36", {"phone": ada.phone, "otp": ada.texted(), "password": NEW}),
        "security answers": lambda: ada.call(
            "U37", {"email": ada.email, "password": NEW, "securityanswer": {"pet": "Grey Owl"}}
        ),
    }[by]()
    assert "Data" not in answered(answer)


def test_password_reset_sets_the_password_without_a_session(ada: PasskeyHolder, business: Business) -> None:
    org = joined(business, ada.uid, "passkey")
    answered(ada.forgot())
    body = answered(ada.reset(resettoken=token_in(ada.mailed()), password="Quartz-lantern-58"))
    assert not (body.get("Data") or {}).get("access_token")
    answered(policy(business, org))
    answered(ada.logs_in("Quartz-lantern-58"))


def test_native_sign_in_obeys_the_policy(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    app = an_app(new_tenant_server, fake_provider, passwordless_email=True)
    app.changes("google", trusts_email=True)

    def ask() -> TestResponse:
        return app.ask("google", google_access_token=app.upstream.access_token())

    business = Business(app.tenant)
    uid = app.profile(ask())["Uid"]
    org = joined(business, uid, "email")
    assert refused(ask()) == (403, 1220)
    answered(policy(business, org, "connection"))
    answered(ask())


def test_password_grant_obeys_the_policy(new_world: NewWorld, identity_app: Flask) -> None:
    world = new_world(passwordless_email=True)
    ada = world.person("ada@example.test")
    older = world.application("older-app", grant_types=["password", "refresh_token"])
    server = TenantServer(world.services, identity_app, world.tenant_id, world.name, world.api_key, world.api_secret)
    form = {"grant_type": "password", "username": ada.email, "password": ada.password, **older.client_credentials()}
    assert older.back("token", form).status_code == 200
    joined(Business(server), ada.uid, "email")
    answer = older.back("token", form)
    assert (answer.status_code, (answer.json or {})["error"]) == (400, "invalid_grant")


def test_wrong_password_does_not_reveal_the_organization(ada: PasskeyHolder, business: Business) -> None:
    refusal = ada.logs_in("wrong").get_json()
    joined(business, ada.uid, "passkey", name="Globex Gardens")
    answer = ada.logs_in("wrong")
    assert answer.get_json()["ErrorCode"] == refusal["ErrorCode"] != 1220
    assert "Globex" not in answer.text


def test_account_without_allowed_method_may_sign_in(
    new_tenant_server: NewTenantServer,
) -> None:
    who = passkey_holder(new_tenant_server, **EVERY)
    joined(Business(who.tenant), who.uid, "passkey")
    answered(who.logs_in())
    who.add_passkey()
    assert refused(who.logs_in()) == (403, 1220)
    answered(who.sign_in())


def test_several_organizations_allow_what_all_of_them_do(ada: PasskeyHolder, business: Business) -> None:
    joined(business, ada.uid, "password", "passkey")
    joined(business, ada.uid, "passkey", "email", name="Globex")
    answer = ada.logs_in()
    assert refused(answer) == (403, 1220)
    assert answer.get_json()["Data"] == {"Organization": "Globex", "AllowedMethods": ["passkey"]}
    answered(ada.sign_in())


def test_contradicting_organizations_lock_no_account_out(ada: PasskeyHolder, business: Business) -> None:
    joined(business, ada.uid, "password")
    joined(business, ada.uid, "passkey")
    answered(ada.logs_in())
    answered(ada.sign_in())
    assert refused(by_link(ada, link(ada))) == (403, 1220)


def test_inactive_organization_and_former_member_are_free(ada: PasskeyHolder, business: Business) -> None:
    org = joined(business, ada.uid, "passkey")
    business.deactivate(org)
    answered(ada.logs_in())
    answered(business.send("PUT", f"{PATH}/{org}/status", {"Active": True}))
    assert refused(ada.logs_in()) == (403, 1220)
    answered(business.send("DELETE", f"/v2/manage/account/{ada.uid}/orgcontext/{org}"))
    answered(ada.logs_in())


def test_policy_waits_while_the_tenant_offers_no_such_method(ada: PasskeyHolder, business: Business) -> None:
    joined(business, ada.uid, "passkey")
    ada.tenant.change_settings(passkeys=False)
    answered(ada.logs_in())
    ada.tenant.change_settings(passkeys=True)
    assert refused(ada.logs_in()) == (403, 1220)


@pytest.mark.parametrize(
    ("methods", "named"),
    [(["connection"], "connection"), (["pin"], "PIN"), ([], "AllowedMethods"), (["carrier pigeon"], "AllowedMethods")],
)
def test_policy_without_usable_method_is_refused(business: Business, methods: list[str], named: str) -> None:
    body: dict[str, Any] = {"MethodPolicy": {"AllowedMethods": methods}}
    answer = business.send("PUT", f"{PATH}/{business.org}/policy", body)
    assert refused(answer) == (400, 7900)
    assert named in answer.text
    assert answered(business.send("GET", f"{PATH}/{business.org}/policy"))["MethodPolicy"]["AllowedMethods"] is None


def tolerated(tenant: TenantServer) -> int:
    """Return how many sign-ins by a method that no organization allows were recorded."""
    where = (audit.c.tenant_id == tenant.tenant_id, audit.c.event == "sign_in.method_tolerated")
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        return len(work.all(select(audit.c.entry_id).where(*where)))


def by_code_of_app(who: SecondFactorHolder) -> TestResponse:
    return who.shows_code(who.next_code())


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("name", ["password", "email link", "email code", "text message", "smart login"])
def test_tolerated_sign_in_is_recorded_once(new_tenant_server: NewTenantServer, name: str) -> None:
    who = passkey_holder(new_tenant_server, **EVERY)
    joined(Business(who.tenant), who.uid, "passkey")
    answered(METHODS[name][1](who))
    assert tolerated(who.tenant) == 1


def test_tolerated_pin_is_recorded_once(new_tenant_server: NewTenantServer) -> None:
    who = passkey_holder(new_tenant_server, **EVERY)
    token = session(who)
    joined(Business(who.tenant), who.uid, "passkey")
    answered(sign_in_with_pin(who, token))
    assert tolerated(who.tenant) == 1


def test_tolerated_sign_in_with_second_factor_is_recorded_once(new_tenant_server: NewTenantServer) -> None:
    who = second_factor_holder(new_tenant_server, passkeys=True).enrols()
    joined(Business(who.tenant), who.uid, "passkey")
    answered(by_code_of_app(who))
    assert tolerated(who.tenant) == 1


def test_policy_that_changes_before_the_second_factor_counts(new_tenant_server: NewTenantServer) -> None:
    who = passkey_holder(new_tenant_server, two_factor="optional").add_passkey().enrols()
    business = Business(who.tenant)
    org = joined(business, who.uid)
    token = who.token()
    answered(policy(business, org, "passkey"))
    assert refused(who.shows_code(who.next_code(), token)) == (403, 1220)
    answered(policy(business, org, "password"))
    answered(by_code_of_app(who))


def test_policy_that_changes_before_the_first_pin_counts(new_tenant_server: NewTenantServer) -> None:
    who = passkey_holder(new_tenant_server, **{**EVERY, **REQUIRED}).add_passkey()
    business = Business(who.tenant)
    org = joined(business, who.uid)
    token = pin_auth_token(who)
    answered(policy(business, org, "passkey"))
    assert refused(first(who, token)) == (403, 1220)


def test_policy_that_changes_before_the_consents_counts(new_tenant_server: NewTenantServer) -> None:
    who = passkey_holder(new_tenant_server, **{**EVERY, **required_forms("FirstLogin")}).add_passkey()
    business = Business(who.tenant)
    org = joined(business, who.uid)
    token = who.logs_in().get_json()["Data"]["ConsentToken"]
    answered(policy(business, org, "passkey"))
    assert refused(who.call("U83", consent_answers("FirstLogin"), consenttoken=token)) == (403, 1220)


def test_policy_that_changes_before_the_program_asks_counts(new_tenant_server: NewTenantServer) -> None:
    """A browser's sign-in is complete; the program that began it asks for its session later."""
    who = passkey_holder(new_tenant_server, **{**EVERY, **NO_CALLBACK}).add_passkey()
    business = Business(who.tenant)
    org = joined(business, who.uid)
    stored = signed_in_with(who.tenant, who.uid)
    answered(policy(business, org, "passkey"))
    assert refused(who.call("U13", clientguid=stored)) == (403, 1220)
