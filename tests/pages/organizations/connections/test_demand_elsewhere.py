"""An organization that demands its connection, beyond the first sign-in page: sign-up, reset, reauthentication and captcha."""

from __future__ import annotations

import pytest

from tests.support.accounts.mailbox import link_in, mails_to, path_of
from tests.support.organizations.connected_organization import MINA, NewConnected
from tests.support.organizations.demanding_organization import (
    ANOTHER_WAY,
    DEMAND,
    FIRST,
    NOBODY,
    SECOND,
    STRONG,
    asks_password,
    at_provider,
    buttons,
    demanding,
    policy_of,
    shop_of,
)
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.captchas import solving


def test_choosing_a_password_does_not_leave_the_demand(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    mina = globex.tenant.person(MINA["email"])
    answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org).follow(ANOTHER_WAY)
    page = page.press("Sign in", identifier=mina.email, password=mina.password)
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)
    assert globex.visitor.open("/profile").is_sign_in


@pytest.mark.parametrize("connections", [1, 2])
def test_registration_leads_to_the_demanded_connection(new_connected: NewConnected, connections: int) -> None:
    """A password would sign nobody in; an address with an account and one without are led alike, and no account is made."""
    globex = demanding(new_connected, connections=connections)
    globex.tenant.person(MINA["email"])
    count = globex.count_accounts()
    for email in (MINA["email"], NOBODY):
        page = globex.new_visitor_at(globex.tenant).open("/register")
        assert "form-action 'self' https:" in policy_of(page)
        page = page.press("Create account", email=email, password=STRONG)
        assert at_provider(globex, page) if connections == 1 else buttons(page) == [FIRST, SECOND]
    assert globex.count_accounts() == count


@pytest.mark.parametrize("jit", [{"Enabled": False}, {"Enabled": True, "RequireApproval": True}])
def test_provider_without_new_accounts_leaves_registration(new_connected: NewConnected, jit: dict[str, bool]) -> None:
    globex = demanding(new_connected)
    globex.set_policies(JITPolicy=jit)
    page = globex.visitor.open("/register").press("Create account", email=NOBODY, password=STRONG)
    assert page.heading == "Check your email"


def test_registration_with_passkey_leads_before_it_is_made(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, passkeys=True)
    page = globex.visitor.open("/register")
    fields = {**page.form("Continue with a passkey").fields, "email": NOBODY, "do": "passkey"}
    offered = globex.visitor.client.post("/register/passkey/options", data=fields, base_url=globex.visitor.home)
    assert (offered.status_code, offered.json) == (403, {})
    assert at_provider(globex, page.press("Continue with a passkey", email=NOBODY))
    fields["email"] = "abe@elsewhere.example"
    offered = globex.visitor.client.post("/register/passkey/options", data=fields, base_url=globex.visitor.home)
    assert offered.status_code == 200


def test_registration_of_other_domains_stays(new_connected: NewConnected) -> None:
    """Also where a connection has the domain, which nothing demands."""
    globex = new_connected()
    for email in (NOBODY, "abe@elsewhere.example"):
        page = globex.new_visitor_at(globex.tenant).open("/register")
        assert page.press("Create account", email=email, password=STRONG).heading == "Check your email"


def test_registration_for_organization_offers_its_connections(new_connected: NewConnected) -> None:
    globex = demanding(new_connected, connections=2)
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org, prompt="create")
    assert page.heading == "Create your account"
    assert (buttons(page), asks_password(page)) == ([FIRST, SECOND], False)
    assert not any(globex.visitor.open(page.address).cost.values())
    assert "code" in globex.visitor.open(globex.callback(page.follow(FIRST))).query


def test_sent_form_makes_no_account_for_the_organization(new_connected: NewConnected) -> None:
    """A theme's own template may still show the form."""
    globex = demanding(new_connected, connections=2)
    count = globex.count_accounts()
    page = globex.visitor.authorize(shop_of(globex), organization=globex.org, prompt="create")
    hidden = globex.visitor.open(f"/login?attempt={page.query['attempt']}&direct=y").form("Sign in").fields
    typed_now = {"email": "abe@elsewhere.example", "password": STRONG}
    answer = globex.visitor.send("POST", f"{globex.visitor.home}/register", {**hidden, **typed_now})
    assert globex.count_accounts() == count
    assert (buttons(answer), asks_password(answer)) == ([FIRST, SECOND], False)


def test_reset_password_does_not_leave_the_demand(new_connected: NewConnected) -> None:
    """An account of the connection has no password; one that it sets by email signs it in nowhere, and the page leads on."""
    globex = demanding(new_connected)
    globex.sign_in()
    globex.visitor.forget("session")
    assert globex.linked()
    page = globex.visitor.open("/forgot-password").press("Send reset link", identifier=MINA["email"])
    (mail,) = mails_to(globex.tenant.services, globex.tenant.tenant_id, MINA["email"])[-1:]
    page = globex.visitor.open(link_in(mail)).press("Save password", password=STRONG)
    assert page.visitor.open("/profile").is_sign_in
    page = globex.visitor.open("/login?direct=y")
    page = page.press("Sign in", identifier=MINA["email"], password=STRONG)
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], False)


@pytest.mark.parametrize("has_identity", [True, False])
def test_reauthentication_asks_for_the_demanded_connection(new_connected: NewConnected, has_identity: bool) -> None:
    """The session began by password before the demand; the password would be refused after it was typed."""
    globex = demanding(new_connected)
    globex.set_policies(MethodPolicy={"AllowedMethods": None})
    mina = globex.tenant.person(MINA["email"])
    if has_identity:
        globex.sign_in_anew()
    else:
        answered(globex.business.assign(mina.uid, globex.org, globex.member_role))
    globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    globex.set_policies(**DEMAND)
    page = globex.visitor.authorize(shop_of(globex), prompt="login")
    assert page.heading == "Confirm it’s you"
    assert (buttons(page), asks_password(page)) == (["Continue with Globex Gardens"], False)
    redirected = page.follow("Continue with Globex Gardens")
    assert "code" in globex.visitor.open(globex.callback(redirected, auth_time=globex.provider.now)).query


@pytest.mark.parametrize("is_demanded", [True, False])
def test_confirmation_page_hides_the_organization(new_connected: NewConnected, is_demanded: bool) -> None:
    """The owner of a mailbox at another provider learns the organization of an account only by an address of its domain."""
    globex = demanding(new_connected)
    globex.sign_in()
    account = globex.account()
    assert account is not None
    emails = [{"Type": "Primary", "Value": MINA["email"]}, {"Type": "Private", "Value": "mina@private.example"}]
    answered(globex.business.tenant.send("PUT", f"/identity/v2/manage/account/{account.uid}/email", {"Email": emails}))
    globex.set_policies(MethodPolicy={"AllowedMethods": ["connection"] if is_demanded else None})
    globex.provider.known_to(globex.business.tenant, "google-like", trusts_email=True)
    for email, button in ((MINA["email"], "Globex Gardens"), ("mina@private.example", "your organization")):
        browser = globex.new_visitor_at(globex.tenant)
        redirected = browser.open("/sign-in/with?provider=google-like")
        claims = {**MINA, "email": email, "email_verified": True, "sub": f"of {email}"}
        page = browser.open(globex.provider.callback_url(redirected.address, **claims))
        assert page.heading == "You already have an account"
        assert buttons(page) == [f"Continue with {button}"]
        assert ("Globex" in page.text) is (email == MINA["email"])
        assert at_provider(globex, page.follow(f"Continue with {button}"))


@pytest.mark.parametrize("connections", [1, 2])
def test_captcha_keeps_the_chosen_password(new_connected: NewConnected, connections: int) -> None:
    """The page of a captcha leads to no provider, as the page before it."""
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    globex = demanding(new_connected, connections=connections, lockout=lockout, captcha={"work_bits": 8})
    mina = globex.tenant.person(MINA["email"])
    globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password="wrong")
    page = globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    assert page.heading == "One more check"
    assert page.press("Continue", **solving(page, "Continue")).heading == "Profile"


def test_emailed_captcha_keeps_the_chosen_password(new_connected: NewConnected) -> None:
    lockout = {"type": "captcha", "maximum_failed_attempts": 1}
    globex = demanding(new_connected, lockout=lockout, captcha={"work_bits": 8})
    mina = globex.tenant.person(MINA["email"])
    globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password="wrong")
    page = globex.visitor.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    page.press("Email me a link")
    mail = mails_to(globex.tenant.services, globex.tenant.tenant_id, mina.email)[-1]
    page = globex.visitor.open(path_of(link_in(mail)))
    assert page.press("Sign in", identifier=mina.email, password=mina.password).heading == "Profile"
