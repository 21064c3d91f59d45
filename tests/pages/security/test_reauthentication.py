"""Reauthentication on /confirm, by password or second factor, and requests for an `acr`."""

from __future__ import annotations

import json
import re
from hashlib import pbkdf2_hmac
from html import unescape
from typing import Any

import pyotp
import pytest
from sqlalchemy import select, update

from app.identity.authentication.sign_in.sessions import session_renewal
from app.identity.credentials.passwords import imported_hashes
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.credentials.software_authenticator import Authenticator
from tests.support.journeys.account_security import authentication_claims, one_factor_session
from tests.support.journeys.passwordless import by_mail, code, link_path
from tests.support.journeys.second_factors import APP_ALONE, app_of, code_now
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

BOTH = {"two_factor": "required", "second_factors": APP_ALONE, "username_login": True, "email_login": True}


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(**BOTH)


@pytest.fixture
def visitor(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    browser: Visitor = new_visitor_at(tenant)
    return browser


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


def sign_in_with_totp(visitor: Visitor, tenant: World, ada: Person) -> tuple[pyotp.TOTP, RelyingParty]:
    """Sign in with password and TOTP on behalf of a shop."""
    shop = tenant.application("shop", client_name="Acme Shop")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    app = app_of(page)
    page.press("Verify", code=code_now(tenant, app))
    pass_time(tenant.services, minutes=10)
    return app, shop


def status_and_heading(page: VisitedPage) -> tuple[int, str]:
    return page.status, page.heading


@pytest.mark.both_databases
def test_second_factor_reauthenticates_and_keeps_session(tenant: World, visitor: Visitor, ada: Person) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    before = visitor.session_cookie()
    page = visitor.open("/username")
    assert status_and_heading(page) == (200, "Two-step verification")
    assert "Do not ask again" not in page.text
    assert status_and_heading(page.press("Verify", code="000000")) == (403, "Two-step verification")
    page = page.press("Verify", code=code_now(tenant, app))
    assert page.address.endswith("/username")
    assert visitor.session_cookie() != before
    assert page.press("Save", username="countess").address.endswith("/profile?saved=1")


def failed_attempts(ada: Person) -> int:
    where = (accounts.c.tenant_id == ada.tenant_id, accounts.c.uid == ada.uid)
    with UnitOfWork(ada.services.database, ada.tenant_id).separate_transaction() as work:
        return int(work.run(select(accounts.c.failed_attempts).where(*where)).scalar_one())


@pytest.mark.both_databases
def test_reauthentication_resets_failed_attempts(tenant: World, visitor: Visitor, ada: Person) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open("/username")
    for count in (1, 2):
        page.press("Verify", code="000000")
        assert failed_attempts(ada) == count
    assert page.press("Verify", code=code_now(tenant, app)).address.endswith("/username")
    assert failed_attempts(ada) == 0


def test_crash_of_reauthentication_leaves_code_counted(
    tenant: World, visitor: Visitor, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open("/username")
    with monkeypatch.context() as patch:
        patch.setattr(session_renewal, "mark_reauthenticated", crash)
        assert page.press("Verify", code=code_now(tenant, app)).status == 500
    assert failed_attempts(ada) == 1


def crash(*_: object) -> None:
    raise RuntimeError("the request ends here")


def test_password_alone_is_refused_with_second_factor(tenant: World, visitor: Visitor, ada: Person) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open("/username").press("Verify", code=code_now(tenant, app))
    pass_time(tenant.services, minutes=10)
    page = page.press("Save", username="countess", asks="1", password=ada.password)
    assert status_and_heading(page) == (200, "Two-step verification")
    assert "countess" not in visitor.open("/profile").text


def test_reauthentication_satisfies_max_age(tenant: World, visitor: Visitor, ada: Person) -> None:
    app, shop = sign_in_with_totp(visitor, tenant, ada)
    visitor.open("/confirm?next=/security").press("Verify", code=code_now(tenant, app))
    answer = visitor.authorize(shop, max_age="60")
    assert answer.address.startswith(shop.redirect_uri)


@pytest.mark.parametrize("target", ["https://evil.example", "//evil.example", "/logout", "", "/security?x=1"])
def test_confirm_redirects_to_own_pages_only(tenant: World, visitor: Visitor, ada: Person, target: str) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open(f"/confirm?next={target}").press("Verify", code=code_now(tenant, app))
    assert page.address == f"{visitor.home}/security"


def test_account_with_password_only_confirms_by_password(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world()
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    assert visitor.open("/confirm?next=/emails").address.endswith("/emails")
    pass_time(tenant.services, minutes=10)
    page = visitor.open("/confirm?next=/emails")
    assert page.heading == "Confirm it’s you"
    assert status_and_heading(page.press("Continue", password="wrong")) == (401, "Confirm it’s you")
    assert page.press("Continue", password=ada.password).address.endswith("/emails")


def test_confirmation_replaces_an_expensive_hash(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world()
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop")
    visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    derived = pbkdf2_hmac("sha256", ada.password.encode(), b"16 bytes of salt", 900_000)
    stored = imported_hashes.pbkdf2("sha256", 900_000, b"16 bytes of salt", derived)
    where = (accounts.c.tenant_id == tenant.tenant_id, accounts.c.email == ada.email)
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(*where).values(password_hash=stored))
    pass_time(tenant.services, minutes=10)
    assert visitor.open("/confirm?next=/emails").press("Continue", password=ada.password).address.endswith("/emails")
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        row = work.one(select(accounts.c.password_hash).where(*where))
    assert row is not None
    assert row.password_hash.startswith("$argon2id$")


def test_confirm_without_session_signs_no_account_in(
    tenant: World, visitor: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open("/confirm?next=/security")
    visitor.forget("session")
    after = page.press("Verify", code=code_now(tenant, app))
    assert not after.address.endswith("/security")


@pytest.fixture
def optional(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", second_factors=APP_ALONE)


def test_acr_values_asks_second_factor_and_is_reported(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop", client_name="Acme Shop")
    app = one_factor_session(visitor, optional, ada)
    assert authentication_claims(shop, visitor.authorize(shop))["acr"] == "1"
    pass_time(optional.services, minutes=10)
    refused = visitor.authorize(shop, acr_values="2", prompt="none")
    assert refused.query["error"] == "interaction_required"
    page = visitor.authorize(shop, acr_values="2")
    assert status_and_heading(page) == (200, "Two-step verification")
    assert page.press("Verify", code="000000").status == 403
    now = int(optional.services.clock.now().timestamp())
    authentication = authentication_claims(shop, page.press("Verify", code=code_now(optional, app)))
    assert (authentication["acr"], authentication["amr"]) == ("2", ["pwd", "otp", "mfa"])
    assert abs(authentication["auth_time"] - now) <= 1
    assert visitor.authorize(shop, acr_values="2", prompt="none").query["code"]


def test_unmet_acr_values_reports_the_lower_acr(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop")
    answer = visitor.authorize(shop, acr_values="2").press("Sign in", identifier=ada.email, password=ada.password)
    assert authentication_claims(shop, answer)["acr"] == "1"


def test_lost_session_during_step_up_signs_in_again(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop")
    app = one_factor_session(visitor, optional, ada)
    page = visitor.authorize(shop, acr_values="2")
    attempt = page.form("Verify").fields["attempt"]
    visitor.forget("session")
    page = visitor.open(f"/login?attempt={attempt}").press("Sign in", identifier=ada.email, password=ada.password)
    assert authentication_claims(shop, page.press("Verify", code=code_now(optional, app)))["acr"] == "2"


def test_mailed_link_and_mailed_code_are_one_factor(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """After a sign-in by mailed link, a mailed code is the same factor, whatever `acr_values` asks."""
    mail_alone = {"email": True, "totp": False, "passkey": False}
    tenant = new_world(two_factor="optional", second_factors=mail_alone, passwordless_email=True)
    tenant.person("ada@example.com")
    shop, visitor = tenant.application("shop"), new_visitor_at(tenant)
    by_mail(visitor.open("/login"))
    visitor.open(link_path(tenant)).press("Sign in")
    page = visitor.open("/second-factors").press("Email")
    page = page.press("Send code") if "We mail a code" in page.text else page
    page.press("Verify", code=code(tenant))
    assert "Email" in visitor.open("/second-factors").text
    assert authentication_claims(shop, visitor.authorize(shop, acr_values="2")) | {"auth_time": 0} == {
        "acr": "1", "amr": ["otp"], "auth_time": 0
    }  # fmt: skip
    pass_time(tenant.services, minutes=10)
    assert visitor.open("/confirm?next=/emails").heading == "Confirm it’s you", (
        "the account has a password, so the page asks it"
    )


@pytest.mark.both_databases
def test_removed_factor_is_not_reenrolled_by_confirm(optional: World, new_visitor_at: NewVisitorAt) -> None:
    """Otherwise a stolen, stale session could enrol its own factor and become fresh."""
    visitor: Visitor = new_visitor_at(optional)
    ada = optional.person("ada@example.com")
    one_factor_session(visitor, optional, ada)
    pass_time(optional.services, minutes=10)
    page = visitor.open("/confirm?next=/emails")
    assert page.heading == "Two-step verification"
    optional.delete_passkeys()
    again = visitor.open(page.address)
    assert "scan" not in again.text.lower()
    assert visitor.open("/confirm?next=/emails").heading == "Confirm it’s you"


def test_confirm_returns_to_the_page_with_its_query(tenant: World, visitor: Visitor, ada: Person) -> None:
    app, _ = sign_in_with_totp(visitor, tenant, ada)
    page = visitor.open("/second-factors/remove?kind=totp")
    assert status_and_heading(page) == (200, "Two-step verification")
    page = page.press("Verify", code=code_now(tenant, app))
    assert page.address.endswith("/second-factors/remove?kind=totp")
    assert page.status == 200


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_passkey_without_user_verification_is_refused(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="required", second_factors={"email": False, "totp": False, "passkey": True})
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop, device = tenant.person("ada@example.com"), tenant.application("shop"), Authenticator(visitor.home)
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    page.press("Create passkey", credential=json.dumps(device.makes(options_in(page))))
    pass_time(tenant.services, minutes=10)

    def assertion(page: VisitedPage) -> str:
        return json.dumps(device.shows(options_in(page), device.passkeys[0]))

    device.verifies = False
    page = visitor.open("/username")
    page = page.press("Use a passkey", credential=assertion(page))
    assert status_and_heading(page) == (403, "Two-step verification")
    page = page.follow("Sign in again instead")
    assert status_and_heading(page) == (200, "Confirm it’s you")
    page = page.press("Continue", password=ada.password)
    page = page.press("Use a passkey", credential=assertion(page))
    assert page.address.endswith("/username")
    pass_time(tenant.services, minutes=10)
    device.verifies = True
    page = visitor.open("/username")
    assert page.press("Use a passkey", credential=assertion(page)).address.endswith("/username")


def options_in(page: VisitedPage) -> dict[str, Any]:
    """Return the WebAuthn options that the page gives the browser."""
    return dict(json.loads(unescape(re.findall(r'data-options="([^"]*)"', page.html)[0])))


def essential_acr(*values: str) -> dict[str, str]:
    """Return a request for an essential `acr` (OpenID Connect Core section 5.5.1.1)."""
    return {"claims": json.dumps({"id_token": {"acr": {"essential": True, "values": values}}})}


def test_essential_acr_asks_for_second_factor(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop")
    app = one_factor_session(visitor, optional, ada)
    assert visitor.authorize(shop, **essential_acr("2"), prompt="none").query["error"] == "interaction_required"
    page = visitor.authorize(shop, **essential_acr("urn:x", "2"))
    assert status_and_heading(page) == (200, "Two-step verification")
    assert authentication_claims(shop, page.press("Verify", code=code_now(optional, app)))["acr"] == "2"
    assert authentication_claims(shop, visitor.authorize(shop, **essential_acr("1")))["acr"] == "1", (
        "exactly one of the requested values"
    )


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_essential_acr_without_factor_is_refused(new_world: NewWorld, new_visitor_at: NewVisitorAt, mode: str) -> None:
    tenant = new_world(two_factor=mode, second_factors=APP_ALONE)
    visitor: Visitor = new_visitor_at(tenant)
    ada, shop = tenant.person("ada@example.com"), tenant.application("shop", require_consent=True)
    answer = visitor.authorize(shop, **essential_acr("2")).press("Sign in", identifier=ada.email, password=ada.password)
    assert (answer.query["error"], answer.query["state"]) == ("unmet_authentication_requirements", "a state")
    assert "code" not in answer.query
    again = visitor.authorize(shop, **essential_acr("2"), prompt="none")
    assert again.query["error"] == "unmet_authentication_requirements"


def test_unknown_essential_acr_is_refused_at_once(optional: World, new_visitor_at: NewVisitorAt) -> None:
    shop, visitor = optional.application("shop"), new_visitor_at(optional)
    answer = visitor.authorize(shop, **essential_acr("urn:mace:incommon:iap:silver"), acr_values="2")
    assert answer.query["error"] == "unmet_authentication_requirements"
    value = {"claims": '{"id_token": {"acr": {"essential": true, "value": "urn:x"}}}'}
    assert visitor.authorize(shop, **value).query["error"] == "unmet_authentication_requirements"
    wrong = {"claims": '{"id_token": {"acr": {"essential": true, "values": "2"}}}'}
    assert visitor.authorize(shop, **wrong).query["error"] == "invalid_request"


@pytest.mark.both_databases
def test_essential_reauthentication_acr_reauthenticates(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop")
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.authorize(shop, **essential_acr("acme:nist:level:1:re-auth"))
    answer = page.press("Continue", password=ada.password)
    assert authentication_claims(shop, answer)["acr"] == "acme:nist:level:1:re-auth"


def test_voluntary_acr_is_not_enforced(optional: World, new_visitor_at: NewVisitorAt) -> None:
    visitor: Visitor = new_visitor_at(optional)
    ada, shop = optional.person("ada@example.com"), optional.application("shop")
    wish = {"claims": '{"id_token": {"acr": {"values": ["2"]}}}'}
    answer = visitor.authorize(shop, **wish).press("Sign in", identifier=ada.email, password=ada.password)
    assert authentication_claims(shop, answer)["acr"] == "1"
