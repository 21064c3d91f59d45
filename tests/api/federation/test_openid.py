"""Sign-in through an OpenID provider: which responses are accepted and which are refused (decision 0130)."""

from __future__ import annotations

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from app.contract.federation import connection_completion
from app.contract.federation.errors import ConnectionNotConfigured, UnknownConnection
from app.identity.authentication.federation import offered_connections
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken, ConnectionRefused, UnknownState
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.platform.outbound import bounded_transport
from app.identity.platform.services import IdentityServices
from app.kit.clock import monotonic, sleep
from tests.support.accounts import connecting
from tests.support.accounts.connecting import finished, query_of
from tests.support.accounts.social_accounts import doing
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, key, provider, public
from tests.support.services.identity_service import NOWHERE, on_one_database, pass_time
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = on_one_database
NAME = "elsewhere"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    """Return a tenant with a connection to the provider."""
    made = new_tenant_server()
    fake_provider.known_to(made, NAME)
    return made


def led(tenant: TenantServer, name: str = NAME, **how: Any) -> str:
    return connecting.led(tenant, name, **how)


def test_sign_in_returns_identity_of_provider(acme: TenantServer, fake_provider: FakeProvider) -> None:
    address = led(acme, reauthenticate=True, hint="ada@example.test")
    params = query_of(address)
    assert (params["scope"], params["login_hint"], params["prompt"]) == (
        "openid profile email",
        "ada@example.test",
        "login",
    )
    claimed, connection = finished(acme, fake_provider.signs_in(address, auth_time=fake_provider.now))
    assert (claimed.provider, claimed.subject) == (NAME, "ada-1815")
    assert (claimed.email, claimed.email_verified) == ("ada@example.test", True)
    assert claimed.profile == {
        "FullName": "Ada Lovelace", "FirstName": "Ada", "LastName": "Lovelace", "ImageUrl": "https://pictures.example/ada.png",
    }  # fmt: skip
    assert connection == OfferedConnection(NAME, NAME, trusts_email=False, can_reauthenticate=True)
    assert fake_provider.requests_to("/userinfo") == 0  # the id_token had every claim


def test_missing_iss_parameter_is_refused(acme: TenantServer, fake_provider: FakeProvider) -> None:
    answer = fake_provider.signs_in(led(acme))
    del answer["iss"]
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert fake_provider.requests_to("/token") == 0


def test_hanging_provider_does_not_block_others(
    acme: TenantServer, fake_provider: FakeProvider, services: IdentityServices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_transport, "SLOTS", bounded_transport.RequestSlots(total=2, per_host=1))
    monkeypatch.setattr(bounded_transport, "_SLOT_WAIT_SECONDS", 0.05)
    with provider(services) as other, ThreadPoolExecutor(1) as thread:
        acme.change_settings(connections={NAME: fake_provider.openid(), "other": other.openid()})
        waiting, refused = fake_provider.signs_in(led(acme)), fake_provider.signs_in(led(acme))
        fake_provider.answers_after = Event()
        coming = thread.submit(finished, acme, waiting)
        while not fake_provider.requests_to("/token"):
            sleep(0.01)
        with pytest.raises(ConnectionBroken):
            finished(acme, refused)
        finished(acme, other.signs_in(led(acme, "other")))
        fake_provider.answers_after.set()
        assert coming.result()[0].subject == "ada-1815"
    finished(acme, fake_provider.signs_in(led(acme)))  # the slots are free again


def test_local_provider_is_reached_without_proxy(
    acme: TenantServer, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    for host in ("http://localhost:", "http://provider.localhost:"):
        fake_provider.url = host + fake_provider.url.rpartition(":")[2]
        fake_provider.known_to(acme, NAME)
        assert finished(acme, fake_provider.signs_in(led(acme)))[0].subject == "ada-1815"


@pytest.mark.parametrize("slow", [(1, 0), (0, 0.05)], ids=["silent", "drips"])
def test_slow_provider_times_out(
    acme: TenantServer, fake_provider: FakeProvider, slow: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = fake_provider.signs_in(led(acme))
    monkeypatch.setattr(bounded_transport, "TIMEOUT_SECONDS", 0.2)
    fake_provider.delay_seconds, fake_provider.drip_seconds = slow
    began = monotonic()
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert monotonic() - began < 1


@pytest.mark.parametrize(
    "members",
    [
        {"issuer": "https://evil.example"}, {"token_endpoint": None}, {"token_endpoint": 7},
        {"jwks_uri": "http://keys.example/"}, {"authorization_endpoint": "javascript:alert(1)"},
        {"userinfo_endpoint": "file:///etc/passwd"},
    ],
    ids=str,
)  # fmt: skip
def test_invalid_discovery_document_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, members: dict[str, Any]
) -> None:
    fake_provider.metadata = members
    with pytest.raises(ConnectionBroken):
        led(acme)


@pytest.mark.parametrize("refusal", ["access_denied", "login_required", "\x1b[31m" + "a" * 9_000])
def test_error_response_of_provider_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, refusal: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    answer = fake_provider.refuses(led(acme), refusal)
    del answer["iss"]  # some providers send iss with a code only
    with pytest.raises(ConnectionRefused):
        finished(acme, answer)
    assert fake_provider.requests_to("/token") == 0
    assert re.search(r"connection \w+ refused: .", caplog.text), "operators learn why from the log alone"


def test_invalid_or_foreign_code_is_refused(acme: TenantServer, fake_provider: FakeProvider) -> None:
    mine, theirs = led(acme), led(acme)
    stolen = fake_provider.signs_in(theirs)["code"]
    with pytest.raises(ConnectionRefused):  # the verifier belongs to the other code
        finished(acme, {**fake_provider.signs_in(mine), "code": stolen})
    for code in ("", "a" * 9_000, "unknown"):
        with pytest.raises(ConnectionRefused):
            finished(acme, {**fake_provider.signs_in(led(acme)), "code": code})


def test_state_is_single_use_and_bound_to_its_tenant(
    acme: TenantServer, fake_provider: FakeProvider, new_tenant_server: NewTenantServer, services: IdentityServices
) -> None:
    globex = new_tenant_server()
    fake_provider.known_to(globex, NAME)
    address = led(acme)
    answer = fake_provider.signs_in(address)
    _, _, text = answer["state"].rpartition(".")
    for state in (f"attempt-2.{text}", text, f".{text}", "", "attempt-1.", "attempt-1." + "a" * 9_000):
        with pytest.raises(UnknownState):
            finished(acme, {**answer, "state": state})
    with pytest.raises(UnknownState):
        finished(globex, answer)
    finished(acme, answer)
    with pytest.raises(UnknownState):
        finished(acme, answer)
    slow = fake_provider.signs_in(led(acme))
    pass_time(services, minutes=59)
    finished(acme, slow)
    expired = fake_provider.signs_in(led(acme))
    pass_time(services, minutes=60)
    with pytest.raises(UnknownState):
        finished(acme, expired)


def test_code_from_another_provider_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, services: IdentityServices
) -> None:
    """Mix-up (RFC 9700 section 4.4): a code is sent only to the provider that the state names."""
    with provider(services) as evil:
        acme.change_settings(connections={NAME: fake_provider.openid(), "evil": evil.openid()})
        honest = fake_provider.signs_in(led(acme, NAME))
        with pytest.raises(ConnectionBroken):
            finished(acme, {**honest, "state": query_of(led(acme, "evil"))["state"]})
        assert evil.requests_to("/token") == 0


def test_unknown_kid_refetches_keys_once_a_minute(
    acme: TenantServer, fake_provider: FakeProvider, services: IdentityServices
) -> None:
    finished(acme, fake_provider.signs_in(led(acme)))
    fake_provider.key, fake_provider.published = key(2), public(1, 2)
    with pytest.raises(ConnectionBroken):  # the keys were read a moment ago
        finished(acme, fake_provider.signs_in(led(acme)))
    pass_time(services, minutes=1)
    finished(acme, fake_provider.signs_in(led(acme)))
    assert (fake_provider.requests_to("/keys"), fake_provider.requests_to("/.well-known/openid-configuration")) == (
        2,
        1,
    )
    fake_provider.header["kid"] = None  # without kid any key may have signed
    finished(acme, fake_provider.signs_in(led(acme)))
    pass_time(services, hours=1)
    finished(acme, fake_provider.signs_in(led(acme)))
    assert (fake_provider.requests_to("/keys"), fake_provider.requests_to("/.well-known/openid-configuration")) == (
        3,
        2,
    )


def test_userinfo_is_read_where_id_token_has_no_email(acme: TenantServer, fake_provider: FakeProvider) -> None:
    fake_provider.claims = {"email": None, "email_verified": None, "name": None}
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme)))
    assert (claimed.email, claimed.email_verified) == ("ada@example.test", True)
    assert claimed.profile["FullName"] == "Ada Lovelace"
    fake_provider.userinfo = {"sub": "eve"}
    with pytest.raises(ConnectionBroken):
        finished(acme, fake_provider.signs_in(led(acme)))
    fake_provider.metadata = {"userinfo_endpoint": None}
    pass_time(acme.services, hours=1)
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme)))
    assert (claimed.email, claimed.email_verified) == (None, False)


@pytest.mark.parametrize(
    ("claims", "email", "is_verified"),
    [
        ({"email_verified": "true"}, "ada@example.test", True),
        ({"email_verified": "false"}, "ada@example.test", False),
        ({"email_verified": 1}, "ada@example.test", False),
        ({"email_verified": None}, "ada@example.test", False),
        ({"email": ["eve@example.test"]}, None, False),
        ({"email": "a" * 321}, None, False),
        ({"email": "ada@example.test\r\nBcc: eve@example.test"}, None, False),
        ({"email": {}}, None, False),
    ],
    ids=str,
)
def test_email_claims_are_read_strictly(
    acme: TenantServer, fake_provider: FakeProvider, claims: dict[str, Any], email: str | None, is_verified: bool
) -> None:
    fake_provider.metadata = {"userinfo_endpoint": None}
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme), **claims))
    assert (claimed.email, claimed.email_verified) == (email, is_verified)


@pytest.mark.parametrize(
    ("claims", "is_trusted"),
    [
        ({"email": "ada@gmail.com"}, True),
        ({"email": "ada@company.example", "hd": "company.example"}, True),
        ({"email": "ada@company.example"}, False),
        ({"email": "ada@company.example", "hd": "another.example"}, False),
        ({"email": "ada@gmail.com.evil.example"}, False),
    ],
    ids=str,
)
def test_google_is_trusted_for_its_own_mailboxes_only(
    acme: TenantServer,
    fake_provider: FakeProvider,
    claims: dict[str, Any],
    is_trusted: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_completion, "GOOGLE", fake_provider.url)
    fake_provider.known_to(acme, "google", trusts_email=True)
    claimed, connection = finished(acme, fake_provider.signs_in(led(acme, "google"), **claims))
    assert (claimed.email_verified, connection.trusts_email) == (True, is_trusted)


def test_auth_time_decides_reauthentication(acme: TenantServer, fake_provider: FakeProvider) -> None:
    for authenticated_at in (fake_provider.now - 600, None, "now", True, float("nan")):
        claimed, _ = finished(acme, fake_provider.signs_in(led(acme, reauthenticate=True), auth_time=authenticated_at))
        assert not claimed.is_anew, authenticated_at
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme, reauthenticate=True), auth_time=fake_provider.now))
    assert claimed.is_anew
    claimed, _ = finished(acme, fake_provider.signs_in(led(acme), auth_time=fake_provider.now))
    assert not claimed.is_anew  # no reauthentication was requested


def test_google_gets_no_prompt_parameter(
    acme: TenantServer, fake_provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Google answers `prompt=login` with an error page."""
    monkeypatch.setattr(connection_completion, "GOOGLE", fake_provider.url)
    fake_provider.known_to(acme, "google")
    address = led(acme, "google", reauthenticate=True)
    assert query_of(address).keys().isdisjoint({"prompt", "max_age"})
    claimed, connection = finished(acme, fake_provider.signs_in(address))
    assert (claimed.is_anew, connection.can_reauthenticate) == (False, False)


@pytest.mark.parametrize(
    ("methods", "shown"),
    [(None, "basic"), (["client_secret_post", "client_secret_basic"], "basic"), (["client_secret_post"], "post")],
)
def test_client_authentication_follows_discovery(
    acme: TenantServer, fake_provider: FakeProvider, methods: list[str] | None, shown: str
) -> None:
    fake_provider.metadata = {"token_endpoint_auth_methods_supported": methods}
    finished(acme, fake_provider.signs_in(led(acme)))
    (token_request,) = [item for item in fake_provider.received if item.path == "/token"]
    as_form = token_request.form.get("client_secret") == SECRET and token_request.form["client_id"] == CLIENT
    basic = token_request.headers.get("Authorization", "")
    # RFC 6749 section 2.3.1, with the secret form-encoded
    as_basic = basic == "Basic Z2F0ZWhvdXNlLW9mLWFjbWU6dGhlK3Byb3ZpZGVyJTI3cytvd24rc2VjcmV0JTNBKzEwMCUyNSslMjYrbW9yZQ=="
    assert (as_form, as_basic) == (shown == "post", shown == "basic")


def test_public_client_sends_no_secret(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    open_one = new_tenant_server(connections={NAME: fake_provider.openid()})
    claimed, _ = finished(open_one, fake_provider.signs_in(led(open_one)))
    assert claimed.subject == "ada-1815"
    (token_request,) = [item for item in fake_provider.received if item.path == "/token"]
    assert token_request.form["client_id"] == CLIENT
    assert "Authorization" not in token_request.headers


def test_only_active_connections_are_offered(new_tenant_server: NewTenantServer) -> None:
    stated = {
        "zeta": {"key": "z", "issuer": "https://zeta.example", "title": "Zeta"},
        "google": {"key": "g"},
        "github": {"key": "h", "is_active": False},
        "live": {"key": "l", "issuer": "https://login.microsoftonline.com/acme/v2.0", "trusts_email": True},
        "alpha": {"key": "a", "issuer": "https://alpha.example"},
    }
    tenant = new_tenant_server(connections=stated)
    with doing(tenant) as call:
        assert offered_connections.active_connections(call) == (
            OfferedConnection("google", "Google", trusts_email=True, can_reauthenticate=False, mark="google"),
            OfferedConnection("live", "Microsoft", trusts_email=True, can_reauthenticate=True, mark="microsoft"),
            OfferedConnection("alpha", "alpha", trusts_email=False, can_reauthenticate=True),
            OfferedConnection("zeta", "Zeta", trusts_email=False, can_reauthenticate=True),
        )
        assert offered_connections.find(call, " Google ").name == "google"
        for name in ("github", "twitter"):
            with pytest.raises(ConnectionNotConfigured):
                offered_connections.find(call, name)
        for name in ("", "absent", "google/", "../google", "a" * 9_000):
            with pytest.raises(UnknownConnection):
                offered_connections.find(call, name)


def test_connection_disabled_during_sign_in_is_refused(acme: TenantServer, fake_provider: FakeProvider) -> None:
    answer = fake_provider.signs_in(led(acme))
    acme.change_settings(connections={NAME: fake_provider.openid(is_active=False)})
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert fake_provider.requests_to("/token") == 0
