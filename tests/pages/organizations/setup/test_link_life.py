"""The life of a set-up link and of its sessions: looks, openings, expiry, revocation, and what another tenant or organization can do."""

from __future__ import annotations

from functools import partial

import pytest
from flask import Flask

from app.identity.assembly.clean_up import expired_rows
from tests.pages.organizations.setup.conftest import NewSetup
from tests.support.fakes.identity_provider import CLIENT, SECRET
from tests.support.oauth.world import NewWorld
from tests.support.organizations.connected_organization import DOMAIN, business_of
from tests.support.organizations.management import PATH
from tests.support.organizations.setup_guides import SetupByLink
from tests.support.races import at_once, tabs
from tests.support.services.identity_service import pass_time
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage


def heading_after(page: VisitedPage, button: str) -> str:
    return page.press(button).heading


def test_looking_at_a_link_spends_no_opening(setup: SetupByLink) -> None:
    for agent in ("Slackbot-LinkExpanding 1.0", "Mozilla/5.0"):
        for method in ("GET", "HEAD"):
            assert (
                setup.visitor.send(method, setup.visitor.home + setup.path, None, **{"User-Agent": agent}).status == 200
            )
    assert setup.stored()["Openings"] == 0
    setup.open()
    assert setup.stored()["Openings"] == 1
    assert setup.stored()["LastOpenedDate"] is not None


def test_used_up_link_opens_no_more_and_its_session_goes_on(new_setup: NewSetup, new_visitor_at: NewVisitorAt) -> None:
    setup = new_setup(MaxOpenings=1)
    setup.open()
    other = new_visitor_at(setup.tenant)
    refused = other.open(setup.path)
    assert refused.heading == "Link already used"
    assert other.send("POST", other.home + setup.path, {"token": "x"}).status == 403
    assert setup.visitor.open("/setup/domain").heading == "Verify your domain"


@pytest.mark.both_databases
def test_concurrent_openings_do_not_exceed_the_limit(new_setup: NewSetup, new_visitor_at: NewVisitorAt) -> None:
    setup = new_setup(MaxOpenings=3)
    pages = tabs(new_visitor_at(setup.tenant).open(setup.path), 6)
    shown = at_once([partial(heading_after, page, "Start setup") for page in pages])
    assert sorted(shown) == ["Link already used"] * 3 + ["Verify your domain"] * 3
    assert setup.stored()["Openings"] == 3


def test_link_expires_and_its_session_outlives_it(new_setup: NewSetup, new_visitor_at: NewVisitorAt) -> None:
    setup = new_setup(DaysToOpen=1, SessionHours=2)
    pass_time(setup.tenant.services, hours=23)
    setup.open()
    pass_time(setup.tenant.services, minutes=90)
    assert new_visitor_at(setup.tenant).open(setup.path).heading == "Link expired"
    assert setup.visitor.open("/setup/domain").heading == "Verify your domain"
    pass_time(setup.tenant.services, minutes=31)
    ended = setup.visitor.open("/setup/domain")
    assert (ended.status, ended.heading) == (403, "Session ended")
    assert setup.visitor.cookies("setup") == []


def test_revoked_link_ends_its_sessions(setup: SetupByLink) -> None:
    page = setup.open()
    answered(setup.business.send("DELETE", f"{PATH}/{setup.org}/setup-links/{setup.link['Id']}"))
    assert page.press("Add domain", name=DOMAIN).heading == "Session ended"
    assert setup.visitor.open(setup.path).heading == "Link turned off"
    assert answered(setup.business.send("GET", f"{PATH}/{setup.org}/domains"))["Data"] == []


def test_deactivated_organization_ends_the_session(setup: SetupByLink) -> None:
    setup.open()
    setup.business.deactivate(setup.org)
    assert setup.visitor.open("/setup/domain").heading == "Session ended"
    assert setup.visitor.open(setup.path).heading == "Link not found"


def test_link_and_session_are_of_one_tenant(
    setup: SetupByLink, new_world: NewWorld, identity_app: Flask, new_visitor_at: NewVisitorAt
) -> None:
    setup.open()
    other = new_visitor_at(new_world())
    assert other.open(setup.path).heading == "Link not found"
    cookie = setup.visitor.cookie("setup")
    host = other.home.partition("://")[2].partition(":")[0]
    other.client.set_cookie(cookie.key, cookie.value, domain=host)
    assert other.open("/setup/domain").heading == "Session ended"


@pytest.mark.parametrize("token", ["", "x", "x" * 5_000, "%00", "ü"], ids=repr)
def test_unknown_link_opens_nothing(setup: SetupByLink, token: str) -> None:
    page = setup.visitor.open(f"/setup?link={token}")
    assert page.heading in ("Link not found", "Session ended")
    assert setup.visitor.send("POST", f"{setup.visitor.home}/setup?link={token}", {}).status == 403


def test_form_of_another_page_opens_nothing(setup: SetupByLink) -> None:
    setup.visitor.open(setup.path)
    assert setup.visitor.send("POST", setup.visitor.home + setup.path, {"token": "forged"}).status == 403
    foreign = {"Sec-Fetch-Site": "cross-site"}
    page = setup.visitor.open(setup.path)
    fields = page.form("Start setup").fields
    assert setup.visitor.send("POST", setup.visitor.home + setup.path, fields, **foreign).status == 403
    assert setup.stored()["Openings"] == 0


def test_domain_of_another_organization_is_out_of_reach(setup: SetupByLink) -> None:
    setup.dns.mail_server("initech.example")
    other = setup.business.create("Initech", Domains=[{"DomainName": "initech.example", "IsVerified": True}])
    domain = answered(setup.business.send("GET", f"{PATH}/{other}/domains"))["Data"][0]
    page = setup.open()
    fields = page.form("Add domain").fields
    for action in (f"use {domain['DomainName']}", f"verify {domain['Id']}"):
        shown = setup.visitor.send("POST", f"{setup.visitor.home}/setup/domain", {**fields, "do": action})
        assert shown.heading == "Verify your domain"
    assert "initech" not in setup.visitor.open("/setup/domain").html


def test_session_cannot_activate_before_its_turn(setup: SetupByLink) -> None:
    page = setup.open()
    fields = page.form("Add domain").fields
    for step in ("test", "activate"):
        shown = setup.visitor.send("POST", f"{setup.visitor.home}/setup/{step}", fields)
        assert shown.heading == "Verify your domain"
    assert setup.connections() == []


def test_concurrent_activations_make_one_connection(setup: SetupByLink) -> None:
    ready = setup.tested().press("Save and continue")
    shown = at_once([partial(heading_after, page, "Activate") for page in tabs(ready, 4)])
    assert set(shown) == {"Single sign-on is active"}
    assert len(setup.connections()) == 1


def test_entries_name_the_link_and_no_secret(setup: SetupByLink) -> None:
    setup.activated()
    actor = f"setup link {setup.link['Id']}"
    for event in ("domain_added", "domain_verified", "connection_created", "setup_completed"):
        ((_, facts),) = entries_of(setup.business.tenant, f"organization.{event}")
        assert facts["act"] == actor
        assert SECRET not in str(facts)


def test_session_reads_no_people_and_no_other_connection(setup: SetupByLink) -> None:
    setup.tenant.person("ada@initech.example")
    body = {
        "Name": "other", "ConnectionType": "oidc_custom", "Issuer": setup.provider.url, "ClientId": f"{CLIENT}-2",
        "ClientSecret": "s",
    }  # fmt: skip
    answered(setup.business.send("POST", f"{PATH}/{setup.org}/connections", body))
    pages = [setup.tested(), *(setup.visitor.open(f"/setup/{step}") for step in ("domain", "provider", "connection"))]
    for page in pages:
        assert f"{CLIENT}-2" not in page.html
        assert "initech" not in page.html
    assert setup.visitor.open("/organizations").is_sign_in


def test_people_do_not_join_if_the_link_forbids(new_setup: NewSetup) -> None:
    setup = new_setup(JITProvisioning=False)
    done = setup.activated()
    assert "Sign in once they’re members" in done.text
    policies = answered(setup.business.send("GET", f"{PATH}/{setup.org}/policy"))
    assert not policies["JITPolicy"]["Enabled"]


def test_row_of_an_old_link_is_deleted(setup: SetupByLink, identity_app: Flask) -> None:
    pass_time(setup.tenant.services, days=38)
    expired_rows.clean(setup.tenant.services.database, setup.tenant.services.clock.now())
    assert (
        answered(business_of(setup.tenant, identity_app).send("GET", f"{PATH}/{setup.org}/setup-links"))["Data"] == []
    )
