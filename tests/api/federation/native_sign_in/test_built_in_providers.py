"""Apps sign in at the built-in providers, whose addresses and differences are data (decision 0425)."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.chinese_upstreams import QQUpstream
from tests.support.fakes.identity_provider import ADA, CLIENT, SECRET, FakeProvider
from tests.support.fakes.native_apps import FREE_FORM, PATH, NativeUpstream
from tests.support.fakes.openid_upstreams import APPLE, client_secret_claims
from tests.support.fakes.social_upstreams import PERSON, FacebookUpstream, Grant
from tests.support.operations.resource_samples import private_key
from tests.support.refused_answers.providers import connected
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

pytestmark = on_one_database
BACK = "https://app.example/back"


def sign_in(tenant: TenantServer, name: str, **query: Any) -> TestResponse:
    return tenant.send("GET", f"{PATH}/{name}", with_secret=True, refresh_token="any", **query)


def subject_of(tenant: TenantServer, response: TestResponse) -> str:
    token = answered(response)["access_token"]
    (identity,) = answered(tenant.send("GET", "/identity/v2/auth/account", bearer=token))["Identities"]
    return str(identity["ID"])


@pytest.mark.parametrize("name", ["wechat", "qq", "foursquare"])
def test_code_of_an_app_signs_in_once(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, name: str
) -> None:
    tenant = new_tenant_server(registration_form=FREE_FORM, url_whitelist=(BACK,))
    provider = connected(name, fake_provider)
    provider.store(tenant)
    upstream: Any = provider.upstream
    upstream.codes["of-the-app"] = Grant(PERSON, {"redirect_uri": BACK})
    query = {"code": "of-the-app", "redirect_uri": BACK}
    assert subject_of(tenant, sign_in(tenant, name, **query)) == "1815"
    assert refused(sign_in(tenant, name, **query)) == (403, 1000)


def test_access_token_of_foursquare_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = new_tenant_server(registration_form=FREE_FORM), connected("foursquare", fake_provider)
    provider.store(tenant)
    answer = sign_in(tenant, "foursquare", fs_access_token="of-any-app")
    assert refused(answer) == (403, 1223)
    assert "Send the code of its SDK as code." in answer.get_json()["Description"]
    assert fake_provider.received == []


def test_qq_code_of_another_app_is_refused(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> None:
    tenant, provider = new_tenant_server(registration_form=FREE_FORM), connected("qq", fake_provider)
    provider.store(tenant)
    assert isinstance(provider.upstream, QQUpstream)
    provider.upstream.client_of_token = "another-app"
    provider.upstream.codes["of-the-app"] = Grant(PERSON, {"redirect_uri": BACK})
    assert refused(sign_in(tenant, "qq", code="of-the-app")) == (403, 1000)


def test_facebook_profile_request_of_an_app_is_signed(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, provider = new_tenant_server(registration_form=FREE_FORM), connected("facebook", fake_provider)
    provider.store(tenant)
    assert isinstance(provider.upstream, FacebookUpstream)
    token = provider.upstream.issued(Grant(PERSON, {}))["access_token"]
    facts = b'{"data": {"app_id": "%s", "is_valid": true, "user_id": "1815"}}' % CLIENT.encode()
    fake_provider.answers["/v21.0/debug_token"] = (200, {}, facts)
    assert subject_of(tenant, sign_in(tenant, "facebook", fb_access_token=token)) == "1815"


def test_apple_app_is_the_bundle_with_a_signed_secret(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, pem = new_tenant_server(registration_form=FREE_FORM, url_whitelist=(BACK,)), private_key()
    fake_provider.needs_pkce, fake_provider.claims = False, {"nonce": None}
    apple = {**APPLE, "service_id": "com.acme.web", "bundle_id": CLIENT}
    store_service_secrets(tenant, connections={"apple.apple": pem})
    tenant.change_settings(
        connections={"apple": {"preset": "apple", "key": "k", "issuer": fake_provider.url, "apple": apple}}
    )
    fake_provider.sent_out["of-the-app"] = {"redirect_uri": BACK, "scope": "openid", "who": ADA}
    assert subject_of(tenant, sign_in(tenant, "apple", code="of-the-app", redirect_uri=BACK)) == "ada-1815"
    (exchange,) = [request for request in fake_provider.received if request.path == "/token"]
    assert client_secret_claims(exchange.form["client_secret"], pem)["sub"] == exchange.form["client_id"] == CLIENT


def test_token_for_the_website_is_not_for_the_app(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, upstream = new_tenant_server(registration_form=FREE_FORM), NativeUpstream(fake_provider)
    apple = {**APPLE, "service_id": "com.acme.web", "bundle_id": CLIENT}
    tenant.change_settings(
        connections={"apple": {"preset": "apple", "key": "k", "issuer": fake_provider.url, "apple": apple}}
    )
    assert refused(sign_in(tenant, "applejwt", id_token=upstream.id_token(aud="com.acme.web"))) == (403, 1232)
    assert subject_of(tenant, sign_in(tenant, "applejwt", id_token=upstream.id_token())) == "ada-1815"


def test_both_key_pairs_of_x_are_in_one_connection(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider
) -> None:
    tenant, upstream = new_tenant_server(registration_form=FREE_FORM), NativeUpstream(fake_provider)
    stated = {
        "preset": "twitter",
        "key": "the OAuth 2.0 client",
        "userinfo_endpoint": f"{fake_provider.url}/x",
        "native_only": True,
    }
    store_service_secrets(tenant, connections={"twitter": "another secret", "twitter.consumer": SECRET})
    tenant.change_settings(connections={"twitter": {**stated, "extra_field1": CLIENT}})
    assert subject_of(tenant, sign_in(tenant, "twitter", **upstream.twitter_token())) == "ada-1815"
    tenant.change_settings(connections={"twitter": stated})
    assert refused(sign_in(tenant, "twitter", **upstream.twitter_token())) == (403, 1000)
