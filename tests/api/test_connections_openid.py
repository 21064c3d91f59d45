"""The way to a provider that speaks OpenID Connect, and back: who is believed, and what is not (decisions/0130)."""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from joserfc.jwk import OctKey

from app.contract.errors.federation import ConnectionNotConfigured, UnknownConnection
from app.identity.connections import service
from app.identity.connections.service import Connection, ConnectionBroken, ConnectionRefused, UnknownState
from app.identity.house import House
from app.identity.providers import openid, outside
from app.kit.clock import monotonic
from tests.support import connecting
from tests.support.connecting import asked, finished
from tests.support.house import on_one_database
from tests.support.identities import doing
from tests.support.tenant_server import NewTenantServer, TenantServer
from tests.support.upstream import CLIENT, SECRET, FakeProvider, key, provider, public

pytestmark = on_one_database
NAME = "elsewhere"


@pytest.fixture
def there(house: House) -> Iterator[FakeProvider]:
    with provider(house) as running:
        yield running


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, there: FakeProvider) -> TenantServer:
    """A tenant that knows the provider."""
    made = new_tenant_server()
    there.known_to(made, NAME)
    return made


def led(tenant: TenantServer, name: str = NAME, **how: Any) -> str:
    return connecting.led(tenant, name, **how)


def test_whoever_signs_in_there_is_told_with_what_was_kept(acme: TenantServer, there: FakeProvider) -> None:
    address = led(acme, again=True, hint="ada@example.test")
    said = asked(address)
    assert (said["scope"], said["login_hint"], said["prompt"]) == ("openid profile email", "ada@example.test", "login")
    claimed, connection, facts = finished(acme, there.signs_in(address, auth_time=there.now))
    assert (claimed.provider, claimed.subject) == (NAME, "ada-1815")
    assert (claimed.email, claimed.email_verified) == ("ada@example.test", True)
    assert claimed.profile == {
        "FullName": "Ada Lovelace", "FirstName": "Ada", "LastName": "Lovelace", "ImageUrl": "https://pictures.example/ada.png",
    }  # fmt: skip
    assert connection == Connection(NAME, NAME, trusts_email=False, asks_anew=True)
    assert facts == {"links": "s1"}
    assert there.asked_for("/userinfo") == 0  # the id_token said enough


def claims(**said: Any) -> Callable[[FakeProvider], None]:
    return lambda one: one.claims.update(said)


def answers(status: int, text: str, **headers: str) -> Callable[[FakeProvider], None]:
    """What the token endpoint says."""
    return lambda one: one.answers.update({"/token": (status, headers, text.encode())})


def says(**changed: Any) -> Callable[[FakeProvider], None]:
    def change(one: FakeProvider) -> None:
        for name, value in changed.items():
            setattr(one, name, value(one) if callable(value) else value)

    return change


LIES: dict[str, tuple[Callable[[FakeProvider], None], str]] = {
    "another issuer": (claims(iss="https://evil.example"), "not good: iss"),
    "another audience": (claims(aud="another"), "not good: aud"),
    "no audience": (claims(aud=None), "not good: aud"),
    "another party": (claims(azp="another"), "not good: azp"),
    "audiences without a party": (claims(aud=[CLIENT, "another"]), "not good: azp"),
    "another nonce": (claims(nonce="another"), "not good: nonce"),
    "no nonce": (claims(nonce=None), "not good: nonce"),
    "no subject": (claims(sub=None), "not good: sub"),
    "a subject that is a number": (claims(sub=7), "not good: sub"),
    "an empty subject": (claims(sub=""), "names nobody"),
    "a subject with a blank": (claims(sub="ada-1815 "), "names nobody"),
    "a subject without end": (claims(sub="a" * 256), "names nobody"),
    "over": (claims(exp=1), "not good: exp"),
    "without end": (claims(exp=None), "not good: exp"),
    "an end that is a text": (claims(exp="9999999999"), "not good: exp"),
    "an end that is no number": (claims(exp=float("nan")), "not good: exp"),
    "from tomorrow": (claims(iat=9_999_999_999), "not good: exp"),
    "not before tomorrow": (claims(nbf=9_999_999_999), "not good: exp"),
    "another access token's": (claims(at_hash="AAAAAAAAAAAAAAAAAAAAAA"), "not good: at_hash"),
    "another key's": (says(key=lambda _: key(2), header=lambda _: {"kid": key(1).kid}), "not signed by the provider"),
    "a key nobody knows": (says(header={"kid": "nobody"}), "not signed by the provider"),
    "signed by nobody": (says(id_token="eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ."), "key of the provider's own"),
    "signed with the client's secret": (
        says(key=OctKey.import_key(SECRET), header=lambda _: {"alg": "HS256", "kid": key(1).kid}), "key of the provider's own",
    ),
    "signed with the public key as a secret": (says(id_token=lambda one: by_public_key(one)), "key of the provider's own"),
    "no token": (answers(200, '{"access_token": "a", "token_type": "Bearer"}'), "no id_token"),
    "a token that is a list": (answers(200, '{"id_token": ["a"]}'), "no id_token"),
    "an answer without end": (answers(200, '{"access_token": "a", "expires_in": Infinity}'), "did not answer: OverflowError"),
    "lists in lists": (answers(200, "[" * 100_000), "did not answer: RecursionError"),
    "a header of lists in lists": (says(id_token=f"{'W1tb' * 1_900}.e30.e30"), "no id_token"),
    "a list": (answers(200, "[]"), "did not answer: ValueError"),
    "no JSON": (answers(200, "<html>"), "did not answer: ValueError"),
    "a redirect": (answers(307, "", Location="/else"), "did not answer: HTTPStatusError"),
    "out of order": (answers(500, "{}"), "did not answer: HTTPStatusError"),
    "does not know us": (answers(401, '{"error": "invalid_client"}'), "answered 'invalid_client'"),
    "an error that is a list": (answers(400, '{"error": ["invalid_grant"]}'), "answered \"['invalid_grant']\""),
    "too much": (answers(200, '"' + "a" * 10_000_000 + '"'), "did not answer: Unbelievable"),
    "packed": (answers(200, "x", **{"Content-Encoding": "gzip"}), "did not answer: Unbelievable"),
    "nothing": (answers(200, "", **{"Content-Length": "9"}), "did not answer: "),
    "no keys": (says(published=[]), "publishes no key"),
    "keys of other types": (says(published=[7, {"kty": "RSA"}, {"kty": "oct", "k": "AAAA"}]), "publishes no key"),
    "answers as another issuer": (says(back={"iss": "https://evil.example"}), "another issuer's"),
}  # fmt: skip


def by_public_key(one: FakeProvider) -> str:
    parts = [{"alg": "HS256", "kid": key(1).kid}, {"iss": one.url, "sub": "ada"}]
    signed = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mark = hmac.digest(key(1).as_pem(private=False), signed, "sha256")
    return b".".join([signed, urlsafe_b64encode(mark).rstrip(b"=")]).decode()


@pytest.mark.parametrize(("lie", "reason"), LIES.values(), ids=LIES)
def test_what_cannot_be_believed_opens_nothing(
    acme: TenantServer,
    there: FakeProvider,
    lie: Callable[[FakeProvider], None],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = led(acme)
    lie(there)
    answer = there.signs_in(address)
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert there.asked_for("/else") == 0
    assert reason in caplog.text
    assert not any(secret in caplog.text for secret in (SECRET, answer["code"], answer["state"], "eyJ"))


def test_a_provider_that_said_it_names_itself_must(acme: TenantServer, there: FakeProvider) -> None:
    answer = there.signs_in(led(acme))
    del answer["iss"]
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert there.asked_for("/token") == 0


@pytest.mark.parametrize("slow", [{"delay_seconds": 1}, {"drip_seconds": 0.05}], ids=str)
def test_one_that_is_slow_is_not_waited_for(
    acme: TenantServer, there: FakeProvider, slow: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = there.signs_in(led(acme))
    monkeypatch.setattr(outside, "SECONDS", 0.2)
    says(**slow)(there)
    began = monotonic()
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert monotonic() - began < 1


@pytest.mark.parametrize(
    "said",
    [
        {"issuer": "https://evil.example"}, {"token_endpoint": None}, {"token_endpoint": 7},
        {"jwks_uri": "http://keys.example/"}, {"authorization_endpoint": "javascript:alert(1)"},
        {"userinfo_endpoint": "file:///etc/passwd"},
    ],
    ids=str,
)  # fmt: skip
def test_a_configuration_that_leads_elsewhere_is_not_followed(
    acme: TenantServer, there: FakeProvider, said: dict[str, Any]
) -> None:
    there.says = said
    with pytest.raises(ConnectionBroken):
        led(acme)


@pytest.mark.parametrize("refusal", ["access_denied", "login_required", "\x1b[31m" + "a" * 9_000])
def test_whoever_says_no_there_is_refused(acme: TenantServer, there: FakeProvider, refusal: str) -> None:
    answer = there.refuses(led(acme), refusal)
    with pytest.raises(ConnectionRefused):
        finished(acme, answer)
    assert there.asked_for("/token") == 0


def test_a_code_that_is_spent_or_anothers_is_refused(acme: TenantServer, there: FakeProvider) -> None:
    mine, theirs = led(acme), led(acme)
    stolen = there.signs_in(theirs)["code"]
    with pytest.raises(ConnectionRefused):  # the verifier of the one does not open the other
        finished(acme, {**there.signs_in(mine), "code": stolen})
    for code in ("", "a" * 9_000, "unknown"):
        with pytest.raises(ConnectionRefused):
            finished(acme, {**there.signs_in(led(acme)), "code": code})


def test_a_state_is_used_once_and_is_of_one_attempt_and_tenant(
    acme: TenantServer, there: FakeProvider, new_tenant_server: NewTenantServer, house: House
) -> None:
    globex = new_tenant_server()
    there.known_to(globex, NAME)
    address = led(acme)
    answer = there.signs_in(address)
    _, _, text = answer["state"].rpartition(".")
    for state in (f"attempt-2.{text}", text, f".{text}", "", "attempt-1.", "attempt-1." + "a" * 9_000):
        with pytest.raises(UnknownState):
            finished(acme, {**answer, "state": state})
    with pytest.raises(UnknownState):
        finished(globex, answer)
    finished(acme, answer)
    with pytest.raises(UnknownState):
        finished(acme, answer)
    late = there.signs_in(led(acme))
    house.clock.advance(minutes=10)
    with pytest.raises(UnknownState):
        finished(acme, late)


def test_a_state_of_one_connection_is_finished_there(acme: TenantServer, there: FakeProvider, house: House) -> None:
    """Mix-up (RFC 9700 section 4.4): a code that another provider gave goes to nobody but whom the state names."""
    with provider(house) as evil:
        acme.restate(connections={NAME: there.openid(), "evil": evil.openid()})
        honest = there.signs_in(led(acme, NAME))
        with pytest.raises(ConnectionBroken):
            finished(acme, {**honest, "state": asked(led(acme, "evil"))["state"]})
        assert evil.asked_for("/token") == 0


def test_keys_are_read_anew_for_an_unknown_name_once_a_minute(
    acme: TenantServer, there: FakeProvider, house: House
) -> None:
    finished(acme, there.signs_in(led(acme)))
    there.key, there.published = key(2), public(1, 2)
    with pytest.raises(ConnectionBroken):  # read a moment ago
        finished(acme, there.signs_in(led(acme)))
    house.clock.advance(minutes=1)
    finished(acme, there.signs_in(led(acme)))
    assert (there.asked_for("/keys"), there.asked_for("/.well-known/openid-configuration")) == (2, 1)
    there.header["kid"] = None  # any of them may have signed
    finished(acme, there.signs_in(led(acme)))
    house.clock.advance(hours=1)
    finished(acme, there.signs_in(led(acme)))
    assert (there.asked_for("/keys"), there.asked_for("/.well-known/openid-configuration")) == (3, 2)


def test_userinfo_is_asked_where_the_token_lacks_an_address(acme: TenantServer, there: FakeProvider) -> None:
    there.claims = {"email": None, "email_verified": None, "name": None}
    claimed, _, _ = finished(acme, there.signs_in(led(acme)))
    assert (claimed.email, claimed.email_verified) == ("ada@example.test", True)
    assert claimed.profile["FullName"] == "Ada Lovelace"
    there.userinfo = {"sub": "eve"}
    with pytest.raises(ConnectionBroken):
        finished(acme, there.signs_in(led(acme)))
    there.says = {"userinfo_endpoint": None}
    acme.house.clock.advance(hours=1)
    claimed, _, _ = finished(acme, there.signs_in(led(acme)))
    assert (claimed.email, claimed.email_verified) == (None, False)


@pytest.mark.parametrize(
    ("said", "email", "is_verified"),
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
def test_an_address_is_taken_as_it_is_said(
    acme: TenantServer, there: FakeProvider, said: dict[str, Any], email: str | None, is_verified: bool
) -> None:
    there.says = {"userinfo_endpoint": None}
    claimed, _, _ = finished(acme, there.signs_in(led(acme), **said))
    assert (claimed.email, claimed.email_verified) == (email, is_verified)


@pytest.mark.parametrize(
    ("said", "is_trusted"),
    [
        ({"email": "ada@gmail.com"}, True),
        ({"email": "ada@company.example", "hd": "company.example"}, True),
        ({"email": "ada@company.example"}, False),
        ({"email": "ada@company.example", "hd": "another.example"}, False),
        ({"email": "ada@gmail.com.evil.example"}, False),
    ],
    ids=str,
)
def test_google_vouches_for_mailboxes_that_it_gives(
    acme: TenantServer, there: FakeProvider, said: dict[str, Any], is_trusted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openid, "GOOGLE", there.url)
    there.known_to(acme, "google", trusts_email=True)
    claimed, connection, _ = finished(acme, there.signs_in(led(acme, "google"), **said))
    assert (claimed.email_verified, connection.trusts_email) == (True, is_trusted)


def test_a_proof_is_a_new_one_where_the_provider_says_so(acme: TenantServer, there: FakeProvider) -> None:
    for proved_at in (there.now - 600, None, "now", True, float("nan")):
        claimed, _, _ = finished(acme, there.signs_in(led(acme, again=True), auth_time=proved_at))
        assert not claimed.is_anew, proved_at
    claimed, _, _ = finished(acme, there.signs_in(led(acme, again=True), auth_time=there.now))
    assert claimed.is_anew
    claimed, _, _ = finished(acme, there.signs_in(led(acme), auth_time=there.now))
    assert not claimed.is_anew  # nobody asked


def test_google_is_not_told_to_ask(acme: TenantServer, there: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers `prompt=login` with an error, on its own page."""
    monkeypatch.setattr(openid, "GOOGLE", there.url)
    there.known_to(acme, "google")
    address = led(acme, "google", again=True)
    assert asked(address).keys().isdisjoint({"prompt", "max_age"})
    claimed, connection, _ = finished(acme, there.signs_in(address))
    assert (claimed.is_anew, connection.asks_anew) == (False, False)


@pytest.mark.parametrize(
    ("methods", "shown"),
    [(None, "basic"), (["client_secret_post", "client_secret_basic"], "basic"), (["client_secret_post"], "post")],
)
def test_the_secret_is_shown_as_the_provider_wants_it(
    acme: TenantServer, there: FakeProvider, methods: list[str] | None, shown: str
) -> None:
    there.says = {"token_endpoint_auth_methods_supported": methods}
    finished(acme, there.signs_in(led(acme)))
    (heard,) = [one for one in there.heard if one.path == "/token"]
    as_form = heard.form.get("client_secret") == SECRET and heard.form["client_id"] == CLIENT
    basic = heard.headers.get("Authorization", "")
    # RFC 6749 section 2.3.1, its secret written as in a form
    as_basic = basic == "Basic Z2F0ZWhvdXNlLW9mLWFjbWU6dGhlK3Byb3ZpZGVyJTI3cytvd24rc2VjcmV0JTNBKzEwMCUyNSslMjYrbW9yZQ=="
    assert (as_form, as_basic) == (shown == "post", shown == "basic")


def test_a_client_without_a_secret_has_its_verifier(new_tenant_server: NewTenantServer, there: FakeProvider) -> None:
    open_one = new_tenant_server(connections={NAME: there.openid()})
    claimed, _, _ = finished(open_one, there.signs_in(led(open_one)))
    assert claimed.subject == "ada-1815"
    (heard,) = [one for one in there.heard if one.path == "/token"]
    assert heard.form["client_id"] == CLIENT
    assert "Authorization" not in heard.headers


def test_what_is_offered_and_what_is_refused(new_tenant_server: NewTenantServer) -> None:
    stated = {
        "zeta": {"key": "z", "issuer": "https://zeta.example", "title": "Zeta"},
        "google": {"key": "g"},
        "github": {"key": "h", "is_active": False},
        "live": {"key": "l", "issuer": "https://login.microsoftonline.com/acme/v2.0", "trusts_email": True},
        "alpha": {"key": "a", "issuer": "https://alpha.example"},
    }
    tenant = new_tenant_server(connections=stated)
    with doing(tenant) as call:
        assert service.offered(call) == (
            Connection("google", "Google", trusts_email=True, asks_anew=False),
            Connection("live", "Microsoft", trusts_email=True, asks_anew=True),
            Connection("alpha", "alpha", trusts_email=False, asks_anew=True),
            Connection("zeta", "Zeta", trusts_email=False, asks_anew=True),
        )
        assert service.find(call, " Google ").name == "google"
        for name in ("github", "twitter"):
            with pytest.raises(ConnectionNotConfigured):
                service.find(call, name)
        for name in ("", "nobody", "google/", "../google", "a" * 9_000):
            with pytest.raises(UnknownConnection):
                service.find(call, name)


def test_a_connection_that_was_taken_away_meanwhile_is_broken(acme: TenantServer, there: FakeProvider) -> None:
    answer = there.signs_in(led(acme))
    acme.restate(connections={NAME: there.openid(is_active=False)})
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert there.asked_for("/token") == 0
