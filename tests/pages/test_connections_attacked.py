"""Sign-in through another provider, attacked: what its word opens, for how long, and for whom."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from app.identity.authentication.sign_in.interactions import Attempt
from app.identity.directory.accounts import first_verification, linked_identities, store
from app.identity.directory.accounts import service as accounts
from app.identity.directory.identity_provider import Claimed
from app.identity.hosted import identity_linking
from tests.pages.test_connections import ADA, START, Traveller, sent
from tests.pages.test_consent_forms import POLICY
from tests.pages.test_identities import has
from tests.pages.test_own_factors import APP_ALONE, adds, signed_in
from tests.pages.test_second_factor import shows
from tests.pages.test_verification import wait
from tests.support.callers import call_of
from tests.support.mailbox import link_in
from tests.support.oauth_world import NewWorld, World
from tests.support.upstream import FakeProvider

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # the store is asked in tests/api
NEW = "Quartz-lantern-58"
NewTraveller = Callable[..., Traveller]


@pytest.fixture
def new_traveller(new_world: NewWorld, new_visitor_at: Any, elsewhere: FakeProvider) -> NewTraveller:
    def make(*, trusts: bool = True, **settings: Any) -> Traveller:
        there = new_world(connections={"globex": elsewhere.openid(title="Globex", trusts_email=trusts)}, **settings)
        return Traveller(there, new_visitor_at(there), elsewhere)

    return make


def held(there: World, email: str = ADA["email"]) -> list[str]:
    """The subjects that open the account of an address."""
    with call_of(there.services, there.name) as call:
        account = accounts.by_email(call, email)
        return [one.subject for one in linked_identities.of(account)] if account is not None else []


def test_who_once_registered_here_gets_nothing_after_the_mailbox_claimed_the_account(
    new_traveller: NewTraveller, new_visitor_at: Any
) -> None:
    eve = new_traveller(trusts=False)
    waits = eve.comes("eve", email="eve@example.test").press("Create account", email=ADA["email"])
    assert waits.heading == "Check your mail"
    ada = new_visitor_at(eve.there)
    ada.open(link_in(sent(eve)[-1])).press("Confirm")
    ada.open("/forgot-password").press("Send it", identifier=ADA["email"])
    ada.open(link_in(sent(eve)[-1])).press("Save the new password", password=NEW)
    waits.press("I have opened the link")
    assert not eve.is_in
    assert held(eve.there) == []


_REAUTH = "vendor:nist:level:1:re-auth"
_DEMAND = json.dumps({"id_token": {"acr": {"essential": True, "value": _REAUTH}}})


@pytest.mark.parametrize("wish", [{"prompt": "login"}, {"max_age": "60"}, {"acr_values": _REAUTH}, {"claims": _DEMAND}])
def test_a_new_proof_that_an_application_wants_is_wanted_of_the_provider(
    new_traveller: NewTraveller, wish: dict[str, str]
) -> None:
    """Also where nobody is signed in here: a sign-in at the provider from an hour ago is none."""
    ada = new_traveller()
    asked = ada.visitor.asked_by(ada.there.application("Shop"), **wish)
    led = ada.visitor.open(f"{START}&attempt={asked.query['attempt']}")
    assert ("prompt=login" in led.address, "max_age=0" in led.address) == (True, True)
    hour_ago = int(ada.there.services.clock.now().timestamp()) - 3600
    back = ada.visitor.open(ada.elsewhere.way_back(led.address, **ADA, sub="1", auth_time=hour_ago))
    assert "That was no new proof" in back.text


def test_an_identity_that_is_taken_away_opens_nothing_that_began_before(
    new_traveller: NewTraveller, new_visitor_at: Any
) -> None:
    eve = new_traveller(two_factor="optional", **APP_ALONE)
    ada = eve.there.person(ADA["email"])
    mine = new_visitor_at(eve.there)
    app, _ = adds(mine, eve.there, ada)
    has(eve.there, ada, "globex", "eve")
    asked = eve.comes("eve", email="eve@example.test")
    assert asked.address.startswith(f"{eve.visitor.home}/second-factor")
    mine.open("/identities").follow("Disconnect").press("Yes, disconnect it")
    wait(eve.there, seconds=31)
    asked.press("Continue", code=shows(eve.there, app))
    assert not eve.is_in
    assert held(eve.there) == []


def test_an_address_that_is_none_is_nobodys(new_traveller: NewTraveller) -> None:
    """Whatever a trusted provider calls verified: the form of registration says what is wrong with it."""
    ada = new_traveller()
    for said in ("no address", "ada@[127.0.0.1]"):
        page = ada.comes(email=said)
        assert "This is not an email address." in page.press("Create account").text


def test_a_connection_that_is_taken_away_opens_nothing_that_began_before(new_traveller: NewTraveller) -> None:
    ada = new_traveller(trusts=False)
    there, known = ada.there, ada.there.person(ADA["email"])
    form = ada.comes()
    there.restate(connections={})
    assert ada.visitor.open(form.address).form("Create account").fields.keys() >= {"password"}
    assert form.press("Create account").status == 410
    page = ada.visitor.open(form.address.replace("/register", "/login"))
    page.press("Sign in", identifier=known.email, password=known.password)
    assert (ada.is_in, held(there)) == (True, [])


def test_a_link_that_registers_nobody_registers_nobody_by_the_form_either(new_traveller: NewTraveller) -> None:
    ada = new_traveller(trusts=False, url_whitelist=["https://shop.example"])
    asked = {"provider": "globex", "callback": "https://shop.example/cb", "disablesignup": "true"}
    page = ada.comes(start=f"/RequestHandler.aspx?{urlencode(asked)}")
    form = ada.visitor.open(page.address.replace("/login", "/register"))
    made = form.press("Create account", email=ADA["email"], password=NEW)
    assert (made.status, sent(ada)) == (403, [])


def test_nothing_is_connected_where_that_was_switched_off_meanwhile(new_traveller: NewTraveller) -> None:
    ada = new_traveller()
    known = ada.there.person(ADA["email"])
    signed_in(ada.visitor, known, "/identities")
    led = ada.visitor.open("/identities/add?provider=globex").press("Go to Globex")
    ada.there.restate(account_linking=False)
    ada.visitor.open(ada.elsewhere.way_back(led.address, **ADA, sub="1"))
    assert held(ada.there) == []


def test_no_other_device_gets_in_before_what_is_asked_first(new_traveller: NewTraveller) -> None:
    ada = new_traveller(no_callback_login=True, privacy_policy=POLICY)
    asked = {"provider": "globex", "nocallback": "true", "callbackguid": secrets.token_hex(16)}
    page = ada.comes(start=f"/RequestHandler.aspx?{urlencode(asked)}")
    assert page.heading == "The privacy policy has changed"
    page = ada.visitor.open(page.address.replace("/privacy-policy", "/sign-in/elsewhere"))
    page = page.press("Yes, I began it there")
    assert page.heading == "The privacy policy has changed"
    assert page.press("Accept").press("Yes, I began it there").heading == "You said yes"


def test_an_account_that_two_may_have_used_is_claimed_before_it_is_connected(
    new_traveller: NewTraveller, new_visitor_at: Any
) -> None:
    """Its owner confirmed what a stranger had registered: signed in by the provider alone they would share it for ever."""
    ada = new_traveller()
    eve = new_visitor_at(ada.there)
    eve.open("/register").press("Create account", email=ADA["email"], password=NEW)
    ada.visitor.open(link_in(sent(ada)[-1])).press("Confirm")
    page = ada.comes()
    assert not ada.is_in
    page.follow("Forgot it?").press("Send it", identifier=ADA["email"])
    mine = "Amber-window-44"
    ada.visitor.open(link_in(sent(ada)[-1])).press("Save the new password", password=mine)
    assert eve.open("/login").press("Sign in", identifier=ADA["email"], password=NEW).heading == "Welcome back"
    ada.comes()
    assert (ada.is_in, held(ada.there)) == (True, ["1"])


def test_nothing_is_connected_that_the_page_did_not_name(new_traveller: NewTraveller) -> None:
    """Somebody left a page of sign-in open who brought an identity, with whatever address its provider says."""
    eve = new_traveller(trusts=False)
    known = eve.there.person(ADA["email"])
    page = eve.comes("eve").follow("Sign in")
    assert "the two are connected" in page.text
    plain = eve.visitor.open(page.address.replace("&needs=connects", ""))
    plain.press("Sign in", identifier=known.email, password=known.password)
    assert (eve.is_in, held(eve.there)) == (True, [])


def test_terms_that_everybody_accepts_are_accepted_by_whoever_comes_from_a_provider(
    new_traveller: NewTraveller,
) -> None:
    form = ({"name": "email", "required": True}, {"name": "terms", "type": "multi", "required": True})
    ada = new_traveller(registration_form=form)
    page = ada.comes()
    assert (page.heading, ada.is_in) == ("Create your account", False)
    assert "Tick this box to go on." in page.press("Create account").text


def test_what_the_owner_claims_in_this_very_moment_is_connected_to_nobody(new_traveller: NewTraveller) -> None:
    """The sign-in read the account before the claim, and ends after it."""
    eve = new_traveller(trusts=False)
    page = eve.comes("eve", email="eve@example.test").press("Create account", email=ADA["email"])
    with call_of(eve.there.services, eve.there.name) as call:
        before = accounts.by_email(call, ADA["email"])
        assert before is not None
        attempt = Attempt(page.query["attempt"], "return", {}, None, False, call.now, call.now)
        attempt = identity_linking.note(call, attempt, Claimed("globex", "eve"), before.uid)
        private = dict(before.private)
        store.change(call, before.uid, {**first_verification.drop_ways_in(call, before, private), "private": private})
        identity_linking.settle(call, attempt, before)
        call.work.commit()
    assert held(eve.there) == []
