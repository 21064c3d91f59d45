"""Attacks on federated sign-in: stale identities, revoked connections, shared mailboxes."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from app.identity.authentication.sign_in.interaction_state import InteractionState
from app.identity.authentication.sign_in.interactions import Interaction, InteractionKind
from app.identity.directory.accounts import account_store, accounts, linked_identities
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.pages_api.interactions import pending_identities
from tests.support.accounts.consents import POLICY
from tests.support.accounts.mailbox import link_in
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.journeys.account_security import APP_ALONE, add_app, signed_in
from tests.support.journeys.federated_sign_in import ADA, START_URL, FederatedPageUser, link_identity, mails_sent_to
from tests.support.journeys.second_factors import code_now
from tests.support.journeys.verification import wait
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.callers import call_of
from tests.support.visitors.visitor import NewVisitorAt

pytestmark = pytest.mark.parametrize("services", ["sqlite"], indirect=True)  # tests/api covers both databases
NEW = "Quartz-lantern-58"
NewFederatedUser = Callable[..., FederatedPageUser]


@pytest.fixture
def new_federated_user(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> NewFederatedUser:
    def make(*, trusts: bool = True, **settings: Any) -> FederatedPageUser:
        tenant = new_world(
            connections={"globex": fake_provider.openid(title="Globex", trusts_email=trusts)}, **settings
        )
        return FederatedPageUser(tenant, new_visitor_at(tenant), fake_provider)

    return make


def linked_subjects(tenant: World, email: str = ADA["email"]) -> list[str]:
    """Return the provider subjects linked to the account with this address."""
    with call_of(tenant.services, tenant.name) as call:
        account = accounts.by_email(call, email)
        return [identity.subject for identity in linked_identities.of(account)] if account is not None else []


def test_claimed_account_drops_earlier_identity(
    new_federated_user: NewFederatedUser, new_visitor_at: NewVisitorAt
) -> None:
    eve = new_federated_user(trusts=False)
    pending = eve.sign_in("eve", email="eve@example.test").press("Create account", email=ADA["email"])
    assert pending.heading == "Check your email"
    ada = new_visitor_at(eve.tenant)
    ada.open(link_in(mails_sent_to(eve)[-1])).press("Verify")
    ada.open("/forgot-password").press("Send reset link", identifier=ADA["email"])
    ada.open(link_in(mails_sent_to(eve)[-1])).press("Save password", password=NEW)
    pending.press("Continue")
    assert not eve.is_in
    assert linked_subjects(eve.tenant) == []


_REAUTH = "vendor:nist:level:1:re-auth"
_DEMAND = json.dumps({"id_token": {"acr": {"essential": True, "value": _REAUTH}}})


@pytest.mark.parametrize(
    "parameters", [{"prompt": "login"}, {"max_age": "60"}, {"acr_values": _REAUTH}, {"claims": _DEMAND}]
)
def test_reauthentication_request_is_passed_to_the_provider(
    new_federated_user: NewFederatedUser, parameters: dict[str, str]
) -> None:
    """Without a session too, an hour-old sign-in at the provider is not fresh."""
    ada = new_federated_user()
    requested = ada.visitor.authorize(ada.tenant.application("Shop"), **parameters)
    redirected = ada.visitor.open(f"{START_URL}&attempt={requested.query['attempt']}")
    assert ("prompt=login" in redirected.address, "max_age=0" in redirected.address) == (True, True)
    hour_ago = int(ada.tenant.services.clock.now().timestamp()) - 3600
    back = ada.visitor.open(ada.fake_provider.callback_url(redirected.address, **ADA, sub="1", auth_time=hour_ago))
    assert "We couldn’t confirm it’s you" in back.text


def test_unlinked_identity_cannot_finish_open_sign_in(
    new_federated_user: NewFederatedUser, new_visitor_at: NewVisitorAt
) -> None:
    eve = new_federated_user(two_factor="optional", **APP_ALONE)
    ada = eve.tenant.person(ADA["email"])
    owner = new_visitor_at(eve.tenant)
    app, _ = add_app(owner, eve.tenant, ada)
    link_identity(eve.tenant, ada, "globex", "eve")
    requested = eve.sign_in("eve", email="eve@example.test")
    assert requested.address.startswith(f"{eve.visitor.home}/second-factor")
    owner.open("/identities").follow("Disconnect").press("Disconnect")
    wait(eve.tenant, seconds=31)
    requested.press("Verify", code=code_now(eve.tenant, app))
    assert not eve.is_in
    assert linked_subjects(eve.tenant) == []


def test_malformed_provider_address_is_refused(new_federated_user: NewFederatedUser) -> None:
    """The registration form refuses it even if a trusted provider calls it verified."""
    ada = new_federated_user()
    for address in ("no address", "ada@[127.0.0.1]"):
        page = ada.sign_in(email=address)
        assert "Enter a valid email address." in page.press("Create account").text


def test_removed_connection_cannot_finish_open_sign_in(new_federated_user: NewFederatedUser) -> None:
    ada = new_federated_user(trusts=False)
    tenant, person = ada.tenant, ada.tenant.person(ADA["email"])
    form = ada.sign_in()
    tenant.change_settings(connections={})
    assert ada.visitor.open(form.address).form("Create account").fields.keys() >= {"password"}
    assert form.press("Create account").status == 410
    page = ada.visitor.open(form.address.replace("/register", "/login"))
    page.press("Sign in", identifier=person.email, password=person.password)
    assert (ada.is_in, linked_subjects(tenant)) == (True, [])


def test_disabled_sign_up_holds_for_the_form_too(new_federated_user: NewFederatedUser) -> None:
    ada = new_federated_user(trusts=False, url_whitelist=["https://shop.example"])
    parameters = {"provider": "globex", "callback": "https://shop.example/cb", "disablesignup": "true"}
    page = ada.sign_in(start=f"/RequestHandler.aspx?{urlencode(parameters)}")
    form = ada.visitor.open(page.address.replace("/login", "/register"))
    made = form.press("Create account", email=ADA["email"], password=NEW)
    assert (made.status, mails_sent_to(ada)) == (403, [])


def test_identity_is_not_linked_after_linking_was_disabled(new_federated_user: NewFederatedUser) -> None:
    ada = new_federated_user()
    person = ada.tenant.person(ADA["email"])
    signed_in(ada.visitor, person, "/identities")
    redirected = ada.visitor.open("/identities/add?provider=globex").press("Continue to Globex")
    ada.tenant.change_settings(account_linking=False)
    ada.visitor.open(ada.fake_provider.callback_url(redirected.address, **ADA, sub="1"))
    assert linked_subjects(ada.tenant) == []


def test_device_handoff_waits_for_required_actions(new_federated_user: NewFederatedUser) -> None:
    ada = new_federated_user(no_callback_login=True, privacy_policy=POLICY)
    parameters = {"provider": "globex", "nocallback": "true", "callbackguid": secrets.token_hex(16)}
    page = ada.sign_in(start=f"/RequestHandler.aspx?{urlencode(parameters)}")
    assert page.heading == "Accept our privacy notice"
    page = ada.visitor.open(page.address.replace("/privacy-policy", "/sign-in/elsewhere"))
    page = page.press("Approve")
    assert page.heading == "Accept our privacy notice"
    assert page.press("Accept").press("Approve").heading == "Approved"


def test_shared_account_must_be_claimed_before_linking(
    new_federated_user: NewFederatedUser, new_visitor_at: NewVisitorAt
) -> None:
    """The owner confirmed an address that an attacker had registered; linking would share the account with the attacker."""
    ada = new_federated_user()
    eve = new_visitor_at(ada.tenant)
    eve.open("/register").press("Create account", email=ADA["email"], password=NEW)
    ada.visitor.open(link_in(mails_sent_to(ada)[-1])).press("Verify")
    page = ada.sign_in()
    assert not ada.is_in
    page.follow("Forgot password?").press("Send reset link", identifier=ADA["email"])
    owner = "Amber-window-44"
    new_visitor_at(ada.tenant).open(link_in(mails_sent_to(ada)[-1])).press("Save password", password=owner)
    assert eve.open("/login").press("Sign in", identifier=ADA["email"], password=NEW).is_sign_in
    ada.sign_in().press("Sign in", password=owner)
    assert (ada.is_in, linked_subjects(ada.tenant)) == (True, ["1"])


def test_identity_is_linked_only_if_the_page_named_it(new_federated_user: NewFederatedUser) -> None:
    """An attacker started a federated sign-in with a foreign address and left the login page open."""
    eve = new_federated_user(trusts=False)
    person = eve.tenant.person(ADA["email"])
    page = eve.sign_in("eve").follow("Sign in to connect it")
    assert "connect your accounts" in page.text
    plain = eve.visitor.open(page.address.replace("&needs=connects", ""))
    plain.press("Sign in", identifier=person.email, password=person.password)
    assert (eve.is_in, linked_subjects(eve.tenant)) == (True, [])


def test_mandatory_terms_apply_to_federated_registration(
    new_federated_user: NewFederatedUser,
) -> None:
    form = ({"name": "email", "required": True}, {"name": "terms", "type": "multi", "required": True})
    ada = new_federated_user(registration_form=form)
    page = ada.sign_in()
    assert (page.heading, ada.is_in) == ("Create your account", False)
    assert "Check this box to continue." in page.press("Create account").text


def test_claim_during_sign_in_prevents_linking(new_federated_user: NewFederatedUser) -> None:
    """The sign-in read the account before the claim and finishes after it."""
    eve = new_federated_user(trusts=False)
    page = eve.sign_in("eve", email="eve@example.test").press("Create account", email=ADA["email"])
    with call_of(eve.tenant.services, eve.tenant.name) as call:
        before = accounts.by_email(call, ADA["email"])
        assert before is not None
        attempt = Interaction(
            page.query["attempt"], InteractionKind.RETURN, InteractionState(), None, False, call.now, call.now
        )
        attempt = pending_identities.store_pending(call, attempt, ProviderIdentity("globex", "eve"), before.uid)
        private = dict(before.private)
        account_store.change(
            call,
            before.uid,
            {**first_verification.remove_unverified_credentials(call, before, private), "private": private},
        )
        pending_identities.link_pending(call, attempt, before)
        call.work.commit()
    assert linked_subjects(eve.tenant) == []
