"""The set-up guide from its link to the first sign-in by the connection."""

from __future__ import annotations

import pytest

from tests.support.fakes.identity_provider import SECRET
from tests.support.organizations.connected_organization import DOMAIN, MINA
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.tenants.audit_entries import entries_of
from tests.support.visitors.visitor import NewVisitorAt


@pytest.mark.both_databases
def test_administrator_sets_up_and_people_sign_in(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    start = setup.visitor.open(setup.path)
    assert start.heading == "Set up single sign-on"
    assert "Globex Gardens" in start.text
    domain = start.press("Start setup")
    assert domain.heading == "Verify your domain"
    domain = domain.press("Add domain", name=f" {DOMAIN.title()} ")
    missing = domain.press(f"Verify {DOMAIN}")
    assert "We couldn’t find the TXT record" in missing.text
    setup.publish(missing)
    provider = missing.press(f"Verify again: {DOMAIN}")
    assert provider.heading == "Choose your provider"
    connection = provider.press("OpenID Connect")
    assert connection.heading == "Connect your OpenID Connect provider"
    values = {"issuer": f"{setup.provider.url}/", "client_id": "gatehouse-of-acme", "client_secret": SECRET}
    test = connection.press("Save and continue", **values)
    assert test.heading == "Test the sign-in"
    assert setup.connections() == []
    tested = setup.test(test)
    assert "The test worked" in tested.text
    assert f"You signed in as {MINA['email']}" in tested.text
    assert setup.connections() == []
    activate = tested.press("Save and continue")
    assert activate.heading == "Activate single sign-on"
    done = activate.press("Activate")
    assert done.heading == "Single sign-on is active"
    (connected,) = setup.connections()
    assert (connected["IsActive"], connected["Domain"], connected["Issuer"]) == (True, DOMAIN, setup.provider.url)
    assert connected["RedirectURI"] in {item.form.get("redirect_uri") for item in setup.provider.received}
    assert (setup.stored()["Status"], setup.stored()["ConnectionId"]) == ("completed", connected["Id"])
    mina = new_visitor_at(setup.tenant)
    redirected = mina.open("/login").press("Sign in", identifier=MINA["email"], password="filled by a manager 7")
    assert mina.open(setup.provider.callback_url(redirected.address, **MINA)).heading == "Profile"


def test_test_signs_nobody_in(setup: SetupByLink) -> None:
    tested = setup.tested()
    assert "The test worked" in tested.text
    assert setup.visitor.cookies("session") == []
    assert setup.visitor.open("/profile").is_sign_in
    events = {
        event
        for event in ("account.registered", "account.created", "identity.linked")
        for _ in entries_of(setup.business.tenant, event)
    }
    assert events == set()


def test_entries_stay_for_the_next_opening(setup: SetupByLink, new_visitor_at: NewVisitorAt) -> None:
    setup.with_values()
    other = new_visitor_at(setup.tenant)
    test = setup.open(other)
    assert test.heading == "Test the sign-in"
    connection = other.open("/setup/connection")
    assert setup.provider.url in connection.html
    assert SECRET not in connection.html
    assert "Saved. Leave it empty to keep it." in connection.text
    assert connection.press("Save and continue").heading == "Test the sign-in"


def test_another_product_has_entries_of_its_own(setup: SetupByLink) -> None:
    setup.with_values()
    okta = setup.visitor.open("/setup/provider").press("Okta")
    assert setup.provider.url not in okta.html
    back = setup.visitor.open("/setup/provider").press("OpenID Connect")
    assert setup.provider.url in back.html


def test_step_before_its_turn_leads_to_the_one_whose_turn_it_is(setup: SetupByLink) -> None:
    setup.open()
    for step in ("provider", "connection", "test", "activate"):
        assert setup.visitor.open(f"/setup/{step}").heading == "Verify your domain"


def test_completed_guide_shows_its_end_alone(setup: SetupByLink) -> None:
    assert setup.activated().heading == "Single sign-on is active"
    for step in ("domain", "provider", "connection", "test", "activate"):
        assert setup.visitor.open(f"/setup/{step}").heading == "Single sign-on is active"
    assert setup.visitor.open(setup.path).heading == "Single sign-on is set up"
