"""The account that an app's user signs in to: linking, creation, refusals, second factors (decisions 0130 and 0182)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import select

from app.contract.federation.errors import ConnectionNotConfigured
from app.identity.authentication.federation import offered_connections
from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.unverified import first_verification
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.tenants.tables import applications
from tests.support.accounts.connecting import led
from tests.support.accounts.social_accounts import account_of, doing, linked_to
from tests.support.credentials.factors import second_factor_holder
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.native_apps import AppServer, an_app, native_connections, prepare
from tests.support.operation_cases.cases import events
from tests.support.races import at_once
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

ADDRESS = "ada@example.test"
TRUSTS = {"trusts_email": True}


@pytest.fixture
def app(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> AppServer:
    return an_app(new_tenant_server, fake_provider)


def existing(app: AppServer, **members: Any) -> str:
    """Create an account with Ada's address and return its uid."""
    body = {"Email": [{"Type": "Primary", "Value": ADDRESS}], "EmailVerified": True, **members}
    return str(app.tenant.create(**body)["Uid"])


def signs_in(app: AppServer, name: str = "google", **who: Any) -> Any:
    """Sign in with a new access token of Google, or an id_token."""
    if name == "google":
        return app.ask(name, google_access_token=app.upstream.access_token(**who))
    return app.ask(name, id_token=app.upstream.id_token(**who))


# Linking.


@pytest.mark.parametrize("name", ["google", "googlejwt"])
@on_one_database
def test_verified_address_of_trusted_provider_opens_account(app: AppServer, name: str) -> None:
    uid = existing(app)
    app.changes("google", **TRUSTS)
    profile = app.profile(signs_in(app, name))
    assert profile["Uid"] == uid
    assert [item["Provider"] for item in profile["Identities"]] == ["google"]
    app.changes("google")
    assert app.profile(signs_in(app, name, email="new@example.test"))["Uid"] == uid, "by the identity from now on"


@pytest.mark.parametrize(
    ("trusts", "who"),
    [
        (False, {}),
        (True, {"email_verified": False}),
        (True, {"email_verified": None}),
        (True, {"email_verified": "yes"}),
        (True, {"email": "not an address"}),
    ],
)
@pytest.mark.parametrize("name", ["google", "googlejwt"])
@on_one_database
def test_unproven_address_never_opens_an_account(app: AppServer, name: str, trusts: bool, who: dict[str, Any]) -> None:
    uid = existing(app)
    app.changes("google", trusts_email=trusts)
    profile = app.profile(signs_in(app, name, **who))
    assert profile["Uid"] != uid
    assert not profile["Email"], "it is not the new account's either"
    assert not app.tenant.read(uid)["Identities"]


@pytest.mark.parametrize("name", ["facebook", "twitter"])
@on_one_database
def test_address_of_social_network_opens_no_account(app: AppServer, name: str) -> None:
    uid = existing(app)
    query: dict[str, Any] = (
        app.upstream.twitter_token() if name == "twitter" else {"fb_access_token": app.upstream.access_token()}
    )
    assert app.profile(app.ask(name, **query))["Uid"] != uid


@on_one_database
def test_address_that_x_verified_counts_where_trusted(app: AppServer) -> None:
    uid = existing(app)
    app.changes("twitter", **TRUSTS)
    assert app.profile(app.ask("twitter", **app.upstream.twitter_token()))["Uid"] == uid


@on_one_database
def test_linking_that_is_off_is_refused(app: AppServer) -> None:
    uid = existing(app)
    app.changes("google", **TRUSTS)
    app.tenant.change_settings(account_linking=False)
    assert refused(signs_in(app)) == (403, 1054)
    assert not app.tenant.read(uid)["Identities"]


@on_one_database
def test_account_whose_password_others_know_is_not_opened(app: AppServer) -> None:
    uid = existing(app)
    app.changes("google", **TRUSTS)
    with doing(app.tenant) as call:
        private = {**account_of(call, uid).private, first_verification.UNCLAIMED: ADDRESS}
        account_store.change(call, uid, {"private": private})
    assert refused(signs_in(app)) == (403, 983)


# Creation.


@on_one_database
def test_new_account_has_the_proven_address_and_names(app: AppServer) -> None:
    app.changes("google", **TRUSTS)
    answer = signs_in(app)
    profile = app.profile(answer)
    assert [item["Value"] for item in profile["Email"]] == [ADDRESS]
    assert (profile["EmailVerified"], profile["FirstName"]) == (True, "Ada")
    token = app.tenant.send("GET", "/identity/v2/auth/access_token", bearer=answered(answer)["access_token"])
    assert answered(token)["provider"] == "google"
    assert (profile["NoOfLogins"], profile["RegistrationSource"]) == (1, "google")


@on_one_database
def test_first_sign_in_emits_events_once(app: AppServer) -> None:
    signs_in(app)
    assert Counter(name for name, _ in events(app.tenant)) == {"Register": 1, "LinkAccount": 1, "Login": 1}
    signs_in(app)
    assert Counter(name for name, _ in events(app.tenant))["Login"] == 2


@pytest.mark.parametrize(
    ("settings", "trusts", "refusal"),
    [
        ({"registration": False}, False, (403, 1190)),
        ({"registration": False}, True, (403, 1190)),
        ({"registration": False, "registration_form": ()}, False, (403, 1190)),
        ({"registration_form": ()}, False, (400, 1038)),
        ({"registration_form": ({"name": "phone", "required": True},)}, False, (400, 1076)),
        ({"registration_form": ({"name": "terms", "type": "multi", "required": True},)}, False, (403, 1196)),
        ({"registration_form": ({"name": "terms", "type": "multi", "required": True},)}, True, (403, 1196)),
        ({"email_access": {"block": ["example.test"]}}, True, (403, 1247)),
    ],
)
@on_one_database
def test_account_that_tenant_does_not_register_is_refused(
    app: AppServer, settings: dict[str, Any], trusts: bool, refusal: tuple[int, int]
) -> None:
    app.changes("google", trusts_email=trusts)
    app.tenant.change_settings(**settings)
    answer = signs_in(app)
    assert answer.status_code == refusal[0], answer.text
    assert refused(answer) == refusal
    assert events(app.tenant) == []


@on_one_database
def test_default_form_registers_the_proven_address(app: AppServer) -> None:
    app.changes("google", **TRUSTS)
    app.tenant.change_settings(registration_form=())
    assert app.profile(signs_in(app))["EmailVerified"] is True


@pytest.mark.both_databases
def test_concurrent_first_sign_ins_make_one_account(app: AppServer) -> None:
    token = app.upstream.access_token()
    answers = at_once([lambda: app.ask("google", google_access_token=token)] * 5)
    assert {app.profile(answer)["Uid"] for answer in answers} == {app.profile(answers[0])["Uid"]}
    assert Counter(name for name, _ in events(app.tenant)) == {"Register": 1, "LinkAccount": 1, "Login": 5}


@pytest.mark.both_databases
def test_concurrent_first_sign_ins_by_address_make_one_account(app: AppServer) -> None:
    app.changes("google", **TRUSTS)
    token = app.upstream.access_token()
    answers = at_once([lambda: app.ask("google", google_access_token=token)] * 5)
    profiles = [app.profile(answer) for answer in answers]
    assert len({profile["Uid"] for profile in profiles}) == 1
    assert [profile["Provider"] for profile in profiles[0]["Identities"]] == ["google"]
    assert Counter(name for name, _ in events(app.tenant))["Register"] == 1


# Accounts that may not sign in, and requirements.


@pytest.mark.parametrize(("members", "code"), [({"IsActive": False}, 991), ({"IsLoginLocked": True}, 991)])
@on_one_database
def test_blocked_account_is_refused(app: AppServer, members: dict[str, Any], code: int) -> None:
    uid = app.profile(signs_in(app))["Uid"]
    app.tenant.update(uid, members)
    before = app.tenant.read(uid)
    assert refused(signs_in(app)) == (403, code)
    assert app.tenant.read(uid) == before


@on_one_database
def test_blocked_account_is_not_opened_by_its_address(app: AppServer) -> None:
    uid = existing(app)
    app.changes("google", **TRUSTS)
    app.tenant.update(uid, {"IsActive": False})
    assert refused(signs_in(app)) == (403, 991)
    assert not app.tenant.read(uid)["Identities"]


@on_one_database
def test_privacy_policy_must_be_accepted_first(app: AppServer) -> None:
    policy = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
    app.tenant.change_settings(privacy_policy=policy)
    answer = signs_in(app)
    assert refused(answer) == (403, 1194)
    assert answer.get_json()["Data"]["access_token"]


def test_second_factor_is_demanded_before_the_link(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    who = second_factor_holder(new_tenant_server).enrols()
    app = prepare(who.tenant, fake_provider)
    app.changes("google", **TRUSTS)
    answer = answered(signs_in(app, email=who.email))
    assert (answer["access_token"], answer["refresh_token"]) == ("00000000-0000-0000-0000-000000000000", None)
    assert answer["expires_in"] == "0"
    assert not who.tenant.read(who.uid)["Identities"], "not before the second factor"
    token = answer["SecondFactorAuthentication"]["SecondFactorAuthenticationToken"]
    assert answered(who.shows_code(who.next_code(), token))["Profile"]["Uid"] == who.uid


# Connections that only apps use.


@on_one_database
def test_pages_do_not_offer_connections_of_apps(app: AppServer) -> None:
    with doing(app.tenant) as call:
        offered = {connection.name for connection in offered_connections.active_connections(call)}
    stored = native_connections(app.upstream.provider)
    assert offered == {name for name, connection in stored.items() if not connection.get("native_only")}
    with pytest.raises(ConnectionNotConfigured):
        led(app.tenant, "apple")


@on_one_database
def test_last_identity_of_an_app_cannot_be_unlinked(app: AppServer) -> None:
    answer = app.ask("applejwt", id_token=app.upstream.id_token())
    token, uid = answered(answer)["access_token"], app.profile(answer)["Uid"]
    linked_to(app.tenant, uid, ProviderIdentity("google", "g-1"))
    path = "/identity/v2/auth/socialidentity"
    answered(app.tenant.send("DELETE", path, {"Provider": "google", "ProviderId": "g-1"}, bearer=token))
    last = app.tenant.send("DELETE", path, {"Provider": "apple", "ProviderId": "ada-1815"}, bearer=token)
    assert refused(last) == (403, 1008)


@on_one_database
def test_client_id_of_an_application_is_accepted(app: AppServer) -> None:
    machine(app.tenant)
    with doing(app.tenant) as call:
        row = call.work.one(select(applications.c.client_id).where(applications.c.tenant_id == app.tenant.tenant_id))
    assert row is not None
    answered(app.ask("google", google_access_token=app.upstream.access_token(), client_id=row.client_id))
