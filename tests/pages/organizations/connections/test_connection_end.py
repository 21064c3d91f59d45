"""A connection that signs nobody in any more: what its people are signed in with ends, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.contract.applications.file import DEVICE_GRANT
from tests.support.accounts.mailbox import sent_messages
from tests.support.journeys.account_security import APP_ALONE, add_app
from tests.support.journeys.second_factors import code_now
from tests.support.oauth.relying_party import RelyingParty
from tests.support.organizations.connected_organization import DOMAIN, MINA, ConnectedOrganization, NewConnected
from tests.support.organizations.management import PATH
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import answered
from tests.support.visitors.visitor import Visitor

OFFLINE, ONLINE = "openid offline_access", "openid"


def turn_off(globex: ConnectedOrganization) -> None:
    globex.set_policies(JITPolicy={"Enabled": False})
    globex.set_active(False)


def delete_connection(globex: ConnectedOrganization) -> None:
    answered(globex.business.send("DELETE", f"{PATH}/{globex.org}/connections/{globex.id}"))


def deactivate_organization(globex: ConnectedOrganization) -> None:
    globex.business.deactivate(globex.org)


def delete_organization(globex: ConnectedOrganization) -> None:
    answered(globex.business.send("DELETE", f"{PATH}/{globex.org}"))


def lose_domain(globex: ConnectedOrganization) -> None:
    globex.change(Domain="")
    answered(globex.business.send("PUT", f"{PATH}/{globex.org}", {"Domains": []}))


ENDS: list[Callable[[ConnectedOrganization], None]] = [
    turn_off, delete_connection, deactivate_organization, delete_organization, lose_domain,
]  # fmt: skip


def is_in(visitor: Visitor) -> bool:
    return not visitor.open("/profile").is_sign_in


def tokens_of(visitor: Visitor, app: RelyingParty, scope: str) -> dict[str, Any]:
    code = str(visitor.authorize(app, scope=scope).query["code"])
    return app.redeem(code).json or {}


def desk_of(globex: ConnectedOrganization, **settings: Any) -> RelyingParty:
    grants = ["authorization_code", "refresh_token"]
    return globex.tenant.application("desk", client_id="desk", client_name="Desk", grant_types=grants, **settings)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("end", ENDS, ids=lambda item: item.__name__)
def test_sessions_and_refresh_tokens_end(
    globex: ConnectedOrganization, end: Callable[[ConnectedOrganization], None]
) -> None:
    desk = desk_of(globex)
    globex.sign_in()
    tokens = [tokens_of(globex.visitor, desk, scope) for scope in (ONLINE, OFFLINE)]
    assert is_in(globex.visitor)
    end(globex)
    assert not is_in(globex.visitor)
    assert [desk.refresh(item["refresh_token"]).status_code for item in tokens] == [400, 400]
    assert [desk.userinfo(item["access_token"]).status_code for item in tokens] == [401, 401]
    (entry,) = globex.events("organization.connection_sessions_ended")
    assert (entry[1]["accounts"], entry[1]["sessions"]) == (1, 1)


def test_offline_access_ends_after_its_session(globex: ConnectedOrganization) -> None:
    """The refresh token outlives the browser's session, and names no connection."""
    desk = desk_of(globex)
    globex.sign_in()
    offline = tokens_of(globex.visitor, desk, OFFLINE)
    globex.visitor.open("/logout").press("Sign out")
    renewed = desk.refresh(offline["refresh_token"])
    assert renewed.status_code == 200
    turn_off(globex)
    assert desk.refresh((renewed.json or {})["refresh_token"]).status_code == 400


def test_what_others_began_goes_on(globex: ConnectedOrganization, new_connected: NewConnected) -> None:
    """By password, by another organization's connection, and in another tenant."""
    initech, abroad = new_connected(globex.tenant, name="Initech", domain="initech.example"), new_connected()
    mina = globex.tenant.person(MINA["email"])
    globex.sign_in()
    by_password = globex.new_visitor_at(globex.tenant)
    by_password.open("/login?direct=y").press("Sign in", identifier=mina.email, password=mina.password)
    initech.sign_in(sub="milton", email="milton@initech.example")
    abroad.sign_in()
    turn_off(globex)
    assert [is_in(item) for item in (globex.visitor, by_password, initech.visitor, abroad.visitor)] == [
        False, True, True, True,
    ]  # fmt: skip


def test_applications_are_notified_of_the_end(globex: ConnectedOrganization) -> None:
    desk = desk_of(globex, backchannel_logout_uri="https://desk.example/logout")
    globex.sign_in()
    globex.sign_in_anew(sub="jonathan", email=f"jonathan@{DOMAIN}")
    tokens_of(globex.visitor, desk, ONLINE)
    turn_off(globex)
    assert len(sent_messages(globex.tenant.services, globex.tenant.tenant_id, "backchannel_logout")) == 1


def test_session_that_came_from_another_browser_ends(new_connected: NewConnected) -> None:
    """A device has a session of its own, which came from that of the browser."""
    globex = new_connected()
    tv = globex.tenant.application(
        "tv", secret=None, client_id="tv", grant_types=[DEVICE_GRANT, "refresh_token"], redirect_uris=[]
    )
    globex.sign_in()
    stored = tv.start_device(scope="openid").json or {}
    globex.visitor.open(f"/device?user_code={stored['user_code']}").press("Continue").press("Connect device")
    tokens = tv.poll(stored["device_code"]).json or {}
    assert tv.userinfo(tokens["access_token"]).status_code == 200
    turn_off(globex)
    assert tv.userinfo(tokens["access_token"]).status_code == 401
    assert tv.refresh(tokens["refresh_token"]).status_code == 400


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("end", [turn_off, lose_domain])
def test_sign_in_that_waits_for_a_second_factor_ends(
    new_connected: NewConnected, end: Callable[[ConnectedOrganization], None]
) -> None:
    globex = new_connected(settings={"two_factor": "optional", **APP_ALONE})
    mina = globex.tenant.person(MINA["email"])
    globex.sign_in()
    app, _ = add_app(globex.visitor, globex.tenant, mina)
    waiting = globex.new_visitor_at(globex.tenant)
    asked = globex.sign_in(waiting)
    assert asked.heading == "Two-step verification"
    end(globex)
    pass_time(globex.tenant.services, seconds=60)
    asked.press("Verify", code=code_now(globex.tenant, app))
    assert not is_in(waiting)
