"""Sign-in through each built-in provider, which a local server plays as its documentation says (decision 0425)."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from app.contract.federation.provider_presets import presets
from app.identity.authentication.federation import provider_clients
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken, ConnectionRefused
from app.identity.directory.identity_provider import ProviderIdentity, ProviderTokens
from app.identity.platform.outbound.outbound_http import ProviderUnavailable
from tests.support.accounts.connecting import finished, led, query_of
from tests.support.accounts.stored_tokens import SocialAccount, stored_rows
from tests.support.fakes.chinese_upstreams import QQUpstream
from tests.support.fakes.identity_provider import CLIENT, SECRET, FakeProvider, public
from tests.support.fakes.openid_upstreams import APPLE, DIRECTORY, client_secret_claims
from tests.support.operation_cases.cases import account_holder
from tests.support.refused_answers.providers import ALL, OAUTH_UPSTREAMS, ConnectedProvider, connected
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

pytestmark = on_one_database


def at(make: NewTenantServer, fake: FakeProvider, name: str, **settings: Any) -> tuple[TenantServer, ConnectedProvider]:
    """Return a tenant with a connection to a provider."""
    tenant, provider = make(), connected(name, fake, **settings)
    provider.store(tenant)
    return tenant, provider


def signed_in(tenant: TenantServer, provider: ConnectedProvider, **who: Any) -> ProviderIdentity:
    identity, _ = finished(tenant, provider.signs_in(led(tenant, provider.name), **who))
    return identity


@pytest.mark.parametrize("name", ALL)
def test_provider_names_the_person(new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, name)
    identity = signed_in(tenant, provider)
    subject = {"salesforce": "https://login.salesforce.com/id/00D/005"}.get(
        name, "ada-1815" if provider.is_openid else "1815"
    )
    gives_email = getattr(provider.upstream, "gives_email", True)
    assert (identity.provider, identity.subject) == (name, subject)
    assert identity.email == ("ada@example.test" if gives_email else None)
    assert identity.email_verified is (gives_email and provider.upstream.verifies_email)
    shown = identity.profile.get("FullName") or identity.profile.get("FirstName") or identity.profile.get("NickName")
    assert (shown or "").startswith("Ada") is (name != "apple")


@pytest.mark.parametrize("name", ALL)
def test_no_log_has_secrets_or_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, name)
    caplog.set_level(logging.DEBUG)
    answer = provider.signs_in(led(tenant, name))
    finished(tenant, answer)
    with pytest.raises((ConnectionBroken, ConnectionRefused)):
        finished(tenant, {**provider.signs_in(led(tenant, name)), "code": answer["code"]})
    logged = "\n".join(
        f"{record.getMessage()} {record.args}" for record in caplog.records if record.name.startswith("gatehouse")
    )
    assert name in logged
    for secret in (SECRET, answer["code"], answer["state"], *fake_provider.tokens):
        assert secret not in logged


# Apple.


def test_apple_gets_a_signed_client_secret(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    settings = {"apple": {**APPLE, "service_id": CLIENT, "bundle_id": "com.acme.app"}, "key": "another"}
    tenant, provider = at(new_tenant_server, fake_provider, "apple", **settings)
    signed_in(tenant, provider)
    (exchange,) = [request for request in fake_provider.received if request.path == "/token"]
    claims = client_secret_claims(exchange.form["client_secret"], provider.private_key)
    named = {name: claims[name] for name in ("iss", "sub", "aud")}
    assert named == {"iss": "DEF123GHIJ", "sub": CLIENT, "aud": fake_provider.url}
    assert claims["exp"] - claims["iat"] <= 15_777_000  # six months, says Apple


def test_apple_without_a_key_is_not_asked(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, caplog: pytest.LogCaptureFixture
) -> None:
    tenant = new_tenant_server(connections={"apple": connected("apple", fake_provider).connection})
    with pytest.raises(ConnectionBroken):
        led(tenant, "apple")
    assert "connection apple: the connection has no apple_certificate" in caplog.text
    assert fake_provider.received == []


def test_posted_name_fills_the_profile_only(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "apple")
    user = {"name": {"firstName": "Ada", "lastName": "Lovelace"}, "email": "root@acme.test"}
    answer = {**provider.signs_in(led(tenant, "apple")), "user": json.dumps(user)}
    identity, _ = finished(tenant, answer)
    assert (identity.subject, identity.email) == ("ada-1815", "ada@example.test")
    assert identity.profile == {"FirstName": "Ada", "LastName": "Lovelace"}


@pytest.mark.parametrize(
    "user", ["", "{", "[]", '{"name": "Ada"}', '{"name": {"firstName": 1, "lastName": "\\u0007"}}', "[" * 4_000]
)
def test_malformed_posted_name_is_left_out(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, user: str
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "apple")
    identity, _ = finished(tenant, {**provider.signs_in(led(tenant, "apple")), "user": user})
    assert identity.profile == {}


def test_posted_name_of_another_provider_is_ignored(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "google")
    user = json.dumps({"name": {"firstName": "Root"}})
    identity, _ = finished(tenant, {**provider.signs_in(led(tenant, "google")), "user": user})
    assert identity.profile["FirstName"] == "Ada"


# Microsoft: accounts of many directories.

OTHER = "11111111-2222-3333-4444-555555555555"


def at_common(make: NewTenantServer, fake: FakeProvider, **claims: Any) -> tuple[TenantServer, ConnectedProvider]:
    tenant, provider = make(), connected("live", fake)
    base = fake.url
    provider.connection["issuer"] = f"{base}/common/v2.0"
    provider.store(tenant)
    fake.answers["/common/v2.0/.well-known/openid-configuration"] = (
        200, {}, json.dumps({**fake.configuration(), "issuer": f"{base}/{{tenantid}}/v2.0"}).encode(),
    )  # fmt: skip
    fake.claims = {"tid": DIRECTORY, "iss": f"{base}/{DIRECTORY}/v2.0", **claims}
    return tenant, provider


def test_account_of_any_directory_signs_in(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = at_common(new_tenant_server, fake_provider)
    assert signed_in(tenant, provider).subject == "ada-1815"


@pytest.mark.parametrize(
    "claims",
    [
        {"tid": OTHER}, {"tid": None}, {"tid": "common"}, {"tid": [DIRECTORY]}, {"tid": f"{DIRECTORY}/../{OTHER}"},
        {"iss": "https://evil.example/v2.0"}, {"iss": "{tenantid}"},
    ],
    ids=str,
)  # fmt: skip
def test_issuer_of_another_directory_is_refused(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, claims: dict[str, Any]
) -> None:
    tenant, provider = at_common(new_tenant_server, fake_provider, **claims)
    with pytest.raises(ConnectionBroken):
        signed_in(tenant, provider)


@pytest.mark.parametrize(("directory", "is_accepted"), [(DIRECTORY, True), (OTHER, False), ("{tenantid}", True)])
def test_key_signs_for_its_own_directory_only(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, directory: str, is_accepted: bool
) -> None:
    tenant, provider = at_common(new_tenant_server, fake_provider)
    fake_provider.published = [{**public(1)[0], "issuer": f"{fake_provider.url}/{directory}/v2.0"}]
    if is_accepted:
        assert signed_in(tenant, provider).subject == "ada-1815"
    else:
        with pytest.raises(ConnectionBroken):
            signed_in(tenant, provider)


@pytest.mark.parametrize(("subject", "is_accepted"), [("sub", True), ("oid", True), ("email", False), ("upn", False)])
def test_directories_cannot_choose_the_subject(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, subject: str, is_accepted: bool
) -> None:
    """Anyone has a directory, and claims any address or name in it: also those of an identity that is linked already."""
    tenant, provider = at_common(new_tenant_server, fake_provider, oid="ada-1815", upn="ada-1815")
    provider.connection["claims"] = {"subject": subject}
    provider.store(tenant)
    if is_accepted:
        assert signed_in(tenant, provider).subject == "ada-1815"
    else:
        with pytest.raises(ConnectionBroken):
            signed_in(tenant, provider)


# WeChat, QQ and Weibo.


@pytest.mark.parametrize("name", ["wechat", "qq"])
def test_unionid_is_the_subject_if_mapped(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, name, claims={"subject": "unionid"})
    identity = signed_in(tenant, provider)
    assert (identity.subject, identity.profile["NickName"]) == ("union-1815", "Ada Lovelace")


def test_openid_never_stands_for_a_missing_unionid(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "wechat", claims={"subject": "unionid"})
    answer = provider.signs_in(led(tenant, "wechat"))
    fake_provider.answers["/sns/userinfo"] = (200, {}, json.dumps({"openid": "1815", "nickname": "Ada"}).encode())
    with pytest.raises(ConnectionBroken):
        finished(tenant, answer)


def test_qq_answers_by_callback_are_read(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "qq")
    assert isinstance(provider.upstream, QQUpstream)
    provider.upstream.ignores_format = True
    assert signed_in(tenant, provider).subject == "1815"
    with pytest.raises(ConnectionRefused):
        finished(tenant, {**provider.signs_in(led(tenant, "qq")), "code": "used"})


def test_qq_refusal_of_a_refresh_token_is_a_failure(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    """Its error is that of a code; who refreshes a profile handles providers that fail, and no denial."""
    tenant, _ = at(new_tenant_server, fake_provider, "qq")
    with call_of(tenant.services, tenant.name) as call:
        client = provider_clients.for_website(call, "qq")
        with pytest.raises(ProviderUnavailable, match="refresh token"):
            client.renew_tokens(ProviderTokens("access", "unknown"), call.now)


def test_qq_token_of_another_app_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "qq")
    assert isinstance(provider.upstream, QQUpstream)
    provider.upstream.client_of_token = "another-app"
    with pytest.raises(ConnectionBroken):
        signed_in(tenant, provider)


@pytest.mark.parametrize(
    ("name", "path", "response"),
    [
        ("wechat", "/sns/userinfo", {"openid": "1816", "nickname": "Eve", "unionid": "union-1815"}),
        ("wechat", "/sns/userinfo", {"openid": "1815", "nickname": "Eve", "unionid": "union-1816"}),
        ("wechat", "/sns/userinfo", {"nickname": "Eve", "unionid": "union-1815"}),
        ("sinaweibo", "/2/users/show.json", {"idstr": "1816", "name": "Eve"}),
        ("sinaweibo", "/2/users/show.json", {"name": "Eve"}),
    ],
)
def test_profile_of_another_person_is_refused(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str, path: str, response: dict[str, Any]
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, name)
    answer = provider.signs_in(led(tenant, name))
    fake_provider.answers[path] = (200, {}, json.dumps(response).encode())
    with pytest.raises(ConnectionBroken):
        finished(tenant, answer)


# Several apps of one provider.


@pytest.mark.parametrize("name", ["google", "wechat", "twitter"])
def test_apps_of_one_provider_have_accounts_of_their_own(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    tenant, provider = new_tenant_server(), connected(name, fake_provider)
    provider.store(tenant, name, f"{name}-shop")
    for connection in (name, f"{name}-shop"):
        address = led(tenant, connection)
        identity, offered = finished(tenant, provider.signs_in(address))
        assert (identity.provider, offered.title) == (connection, presets()[name].title)
        assert CLIENT in query_of(address).values()


def test_own_address_has_no_trust_of_the_preset(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, provider = at(new_tenant_server, fake_provider, "github")
    _, connection = finished(tenant, provider.signs_in(led(tenant, "github")))
    assert connection.trusts_email is False


# The provider's tokens, kept encrypted.


@pytest.mark.parametrize("name", OAUTH_UPSTREAMS)
def test_profile_is_read_again_with_stored_tokens(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    who, provider = account_holder(new_tenant_server), connected(name, fake_provider, keep_provider_tokens=True)
    provider.store(who.tenant)
    upstream: Any = provider.upstream
    as_fake: Any = provider
    item = SocialAccount(who, as_fake, name).signs_in()
    (token,) = upstream.tokens
    assert item.stored()["access_token"] == token
    assert token not in stored_rows(who.tenant)
    upstream.tokens[token].person.update(name="Ada King", given="Ada", family="King")
    answer = item.refresh()
    if name == "wechat":  # its profile needs the openid of the token response
        assert refused(answer) == (403, 910)
        return
    (entry,) = answered(answer)["Identities"]
    shown = entry["FullName"] or entry["NickName"]
    assert shown == "Ada King"
