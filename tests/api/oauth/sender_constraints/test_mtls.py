"""Clients and tokens with TLS certificates (RFC 8705), which a trusted proxy sends."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from werkzeug.test import Client, TestResponse

from app.factories import create_identity
from app.identity.platform.services import IdentityServices
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.client_certificates import DAY, GRANTS, Certificate, certificate, self_signed
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, claims_in
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World

MACHINE = {"grant_type": "client_credentials"}


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {}).get("error", "")


@pytest.fixture(autouse=True)
def proxied(services: IdentityServices) -> None:
    """Let the operator have named the proxy's headers."""
    services.settings = replace(
        services.settings,
        client_certificate_header="X-SSL-Client-Cert",
        client_verification_header="X-SSL-Client-Verify",
        trusted_proxies=("10.0.0.1",),
        mtls_domain="mtls.localhost:8000",
    )


@pytest.fixture
def shop_certificate() -> Certificate:
    return certificate("CN=shop,O=Example\\, Inc.,C=DE")


@pytest.fixture
def tls(world: World) -> RelyingParty:
    return world.application(
        "tls",
        secret=None,
        token_endpoint_auth_method="tls_client_auth",
        tls_client_auth_subject_dn="CN=Shop, O=Example\\, Inc.,C=DE",
        grant_types=GRANTS,
    )


def ask(client: RelyingParty, environ: dict[str, Any] | None = None, **form: str) -> TestResponse:
    how = {"environ_overrides": environ} if environ is not None else {}
    return client.back("token", {**MACHINE, "client_id": client.client_id, **form}, **how)


def test_client_authenticates_by_its_subject(tls: RelyingParty, shop_certificate: Certificate) -> None:
    """RFC 8705 section 2.1; letter case and spaces of a name have no meaning (RFC 4517 section 4.2.11)."""
    assert ask(tls, shop_certificate.environ()).status_code == 200
    assert status_and_error(ask(tls)) == (401, "invalid_client")


@pytest.mark.parametrize("check", ["", "NONE", "FAILED:self signed certificate", "success", "SUCCESS,FAILED"])
def test_chain_that_the_proxy_did_not_verify_is_refused(
    tls: RelyingParty, shop_certificate: Certificate, check: str
) -> None:
    assert status_and_error(ask(tls, shop_certificate.environ(check))) == (401, "invalid_client")


@pytest.mark.parametrize(
    "subject",
    [
        "CN=shop", "CN=shop,O=Example", "CN=other,O=Example\\, Inc.,C=DE", "C=DE,O=Example\\, Inc.,CN=shop",
        "CN=shop+O=Example\\, Inc.,C=DE", "CN=shop,O=Example\\, Inc.,C=DE,DC=evil", "OU=shop,O=Example\\, Inc.,C=DE",
    ],
)  # fmt: skip
def test_another_subject_is_refused(tls: RelyingParty, subject: str) -> None:
    """RFC 4514: the order of the parts, their types and their grouping are the name."""
    assert status_and_error(ask(tls, certificate(subject).environ())) == (401, "invalid_client")


NAMES: list[tuple[str, str, x509.GeneralName]] = [
    ("san_dns", "shop.example", x509.DNSName("Shop.Example")),
    ("san_uri", "spiffe://shop/1", x509.UniformResourceIdentifier("spiffe://shop/1")),
    ("san_ip", "192.0.2.1", x509.IPAddress(ip_address("192.0.2.1"))),
    ("san_ip", "2001:db8:0:0::1", x509.IPAddress(ip_address("2001:db8::1"))),
    ("san_email", "shop@example.com", x509.RFC822Name("shop@EXAMPLE.com")),
]


@pytest.mark.parametrize(("kind", "registered", "name"), NAMES, ids=lambda value: str(value)[:20])
def test_client_authenticates_by_an_alternative_name(
    world: World, kind: str, registered: str, name: x509.GeneralName
) -> None:
    """RFC 8705 section 2.1.2."""
    settings = {f"tls_client_auth_{kind}": registered, "token_endpoint_auth_method": "tls_client_auth"}
    client = world.application("alternative", secret=None, grant_types=GRANTS, **settings)
    other = x509.DNSName("other.example")
    assert ask(client, certificate(names=[other, name]).environ()).status_code == 200
    assert status_and_error(ask(client, certificate(names=[other]).environ())) == (401, "invalid_client")
    assert status_and_error(ask(client, certificate(f"CN={registered}").environ())) == (401, "invalid_client")


def test_kinds_of_names_are_not_confused(world: World) -> None:
    settings = {"tls_client_auth_san_dns": "shop.example", "token_endpoint_auth_method": "tls_client_auth"}
    client = world.application("kinds", secret=None, grant_types=GRANTS, **settings)
    for name in (
        x509.UniformResourceIdentifier("shop.example"),
        x509.RFC822Name("shop.example"),
        x509.DNSName("*.example"),
    ):
        assert status_and_error(ask(client, certificate(names=[name]).environ())) == (401, "invalid_client")  # fmt: skip


@pytest.mark.parametrize(("begins", "ends"), [(-2 * DAY, -DAY), (2_000 * DAY, 3_000 * DAY)])
def test_certificate_out_of_its_time_is_refused(
    world: World, tls: RelyingParty, begins: timedelta, ends: timedelta
) -> None:
    expired = certificate("CN=shop,O=Example\\, Inc.,C=DE", begins=begins, ends=ends)
    assert status_and_error(ask(tls, expired.environ())) == (401, "invalid_client")
    assert status_and_error(ask(self_signed(world, expired), expired.environ())) == (401, "invalid_client")


def test_registered_certificate_needs_no_issuer(world: World, shop_certificate: Certificate) -> None:
    """RFC 8705 section 2.2."""
    other = certificate("CN=shop,O=Example\\, Inc.,C=DE")
    client = self_signed(world, certificate("CN=former"), shop_certificate)
    assert ask(client, shop_certificate.environ("FAILED:self signed certificate")).status_code == 200
    assert status_and_error(ask(client, other.environ())) == (401, "invalid_client"), "the same subject"
    assert status_and_error(ask(client)) == (401, "invalid_client")


def test_certificate_at_a_jwks_uri_is_read_again_once_a_minute(
    world: World, fake_provider: FakeProvider, shop_certificate: Certificate
) -> None:
    fake_provider.answers["/keys"] = (200, {}, json.dumps({"keys": [certificate().jwk]}).encode())
    client = self_signed(world, jwks_uri=f"{fake_provider.url}/keys")
    for _ in range(3):
        assert status_and_error(ask(client, shop_certificate.environ())) == (401, "invalid_client")
    assert sum(item.path == "/keys" for item in fake_provider.received) == 1
    fake_provider.answers["/keys"] = (200, {}, json.dumps({"keys": [shop_certificate.jwk]}).encode())
    cache: Any = fake_provider.services.provider_metadata
    cache._clock = LaterCertificate(cache._clock.now() + timedelta(seconds=61))
    assert ask(client, shop_certificate.environ()).status_code == 200


class LaterCertificate:
    """The time of the cache alone."""

    def __init__(self, at: Any) -> None:
        self.at = at

    def now(self) -> Any:
        return self.at


def test_certificate_authenticates_at_every_endpoint_of_clients(
    tls: RelyingParty, shop_certificate: Certificate
) -> None:
    form = {"client_id": tls.client_id, "token": "x", **tls.authorization_parameters()}
    for path, status in (("par", 201), ("introspect", 200), ("revoke", 200)):
        assert tls.back(path, form, environ_overrides=shop_certificate.environ()).status_code == status
        assert status_and_error(tls.back(path, form)) == (401, "invalid_client")
    device = tls.back("device", {"client_id": tls.client_id})
    assert status_and_error(device) == (401, "invalid_client")


def test_certificate_does_not_replace_the_registered_method(
    world: World, tls: RelyingParty, shop: RelyingParty, shop_certificate: Certificate
) -> None:
    assert status_and_error(ask(shop, shop_certificate.environ())) == (401, "invalid_client")
    for client in (tls, tls.at_own_issuer()):
        assert status_and_error(ask(client, shop_certificate.environ(), client_secret="x")) == (401, "invalid_client")
        assert status_and_error(ask(client, {}, client_secret="x")) == (401, "invalid_client")
    keyed = self_signed(world, shop_certificate)
    world.change(keyed, token_endpoint_auth_method="private_key_jwt")
    assert status_and_error(ask(keyed, shop_certificate.environ())) == (401, "invalid_client")


@pytest.mark.parametrize("text", ["", "x", "%00", ":AAAA:", "-----BEGIN CERTIFICATE-----", "%2D" * 20_000])
def test_unreadable_certificate_is_none(tls: RelyingParty, shop_certificate: Certificate, text: str) -> None:
    for sent in (text, f"{shop_certificate.escaped},{shop_certificate.escaped}", shop_certificate.field):
        environ = shop_certificate.environ() | {"gatehouse.client_certificate": sent}
        assert status_and_error(ask(tls, environ)) == (401, "invalid_client")


def test_installation_without_a_proxy_ignores_certificates(
    services: IdentityServices, tls: RelyingParty, shop_certificate: Certificate
) -> None:
    services.settings = replace(services.settings, client_verification_header="")
    assert status_and_error(ask(tls, shop_certificate.environ())) == (401, "invalid_client")
    services.settings = replace(services.settings, client_certificate_header="")
    assert status_and_error(ask(tls, shop_certificate.environ())) == (401, "invalid_client")


class TestBoundTokens:
    """Access tokens with the thumbprint of a certificate (RFC 8705 section 3)."""

    @pytest.fixture
    def bound(self, world: World, shop_certificate: Certificate) -> RelyingParty:
        return self_signed(
            world,
            shop_certificate,
            tls_client_certificate_bound_access_tokens=True,
            access_token_format="jwt",
            interface_access="read",
        )

    def tokens(self, client: RelyingParty, browser: Browser, person: Person, presented: Certificate) -> dict[str, Any]:
        scope = "openid account:read"
        form = {
            "grant_type": "authorization_code",
            "code": browser.code(client, person, scope=scope),
            "redirect_uri": client.redirect_uri,
            "client_id": client.client_id,
        }
        answer = client.back("token", form, environ_overrides=presented.environ())
        assert answer.status_code == 200, answer.text
        return answer.json or {}

    def test_token_has_the_thumbprint(
        self, bound: RelyingParty, browser: Browser, ada: Person, shop_certificate: Certificate
    ) -> None:
        stored = self.tokens(bound, browser, ada, shop_certificate)
        cnf = claims_in(stored["access_token"])["cnf"]
        assert (set(cnf), len(cnf["x5t#S256"]), stored["token_type"]) == ({"x5t#S256"}, 43, "Bearer")
        form = {"token": stored["access_token"], "client_id": bound.client_id}
        shown = bound.back("introspect", form, environ_overrides=shop_certificate.environ()).json or {}
        assert (shown["active"], shown["cnf"]) == (True, cnf)

    def test_token_is_good_with_its_certificate_only(
        self, bound: RelyingParty, browser: Browser, ada: Person, shop_certificate: Certificate
    ) -> None:
        token = self.tokens(bound, browser, ada, shop_certificate)["access_token"]
        sent = {"headers": {"Authorization": f"Bearer {token}"}}
        for path in ("/service/oidc/userinfo", "/identity/v2/auth/account"):
            is_api = path.startswith("/identity")
            base = bound.services.settings.base_url if is_api else bound.hub_url
            query = {"query_string": {"apikey": bound.api_key}} if is_api else {}

            def get(environ: dict[str, Any], path: str = path, base: str = base, query: Any = query) -> TestResponse:
                return bound.wsgi.get(path, base_url=base, environ_overrides=environ, **sent, **query)

            assert get(shop_certificate.environ()).status_code == 200, path
            for environ in ({}, certificate("CN=shop,O=Example\\, Inc.,C=DE").environ()):
                refused = get(environ)
                assert refused.status_code == 401 if not is_api else refused.status_code >= 400, path
                assert 'error="invalid_token"' in refused.headers["WWW-Authenticate"]

    def test_bound_token_comes_in_the_header(
        self, bound: RelyingParty, browser: Browser, ada: Person, shop_certificate: Certificate
    ) -> None:
        """FAPI 2.0 Security Profile section 5.3.4"""
        token = self.tokens(bound, browser, ada, shop_certificate)["access_token"]
        form, environ = {"access_token": token}, shop_certificate.environ()
        in_body = bound.post("/service/oidc/userinfo", form, environ_overrides=environ)
        assert status_and_error(in_body) == (401, "invalid_token")
        query, base = {"apikey": bound.api_key, **form}, bound.services.settings.base_url
        path = "/identity/v2/auth/account"
        in_query = bound.wsgi.get(path, base_url=base, query_string=query, environ_overrides=environ)
        assert (in_query.status_code, (in_query.json or {})["errorCode"]) == (401, 1409)

    def test_client_without_certificate_gets_no_bound_token(self, world: World) -> None:
        client = world.application("post", grant_types=GRANTS, tls_client_certificate_bound_access_tokens=True)
        form: dict[str, Any] = {"client_secret": client.secret or ""}
        assert status_and_error(ask(client, **form)) == (400, "invalid_request")
        assert ask(client, certificate().environ(), **form).status_code == 200

    def test_refresh_token_of_public_client_is_bound(
        self, world: World, browser: Browser, ada: Person, shop_certificate: Certificate
    ) -> None:
        """RFC 8705 section 4."""
        client = world.application(
            "app", secret=None, tls_client_certificate_bound_access_tokens=True, application_type="native"
        )
        proof = Pkce()
        code = browser.code(client, ada, code_challenge=proof.challenge, code_challenge_method="S256")
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": client.redirect_uri}
        form |= {"client_id": client.client_id, "code_verifier": proof.verifier}
        first = client.back("token", form, environ_overrides=shop_certificate.environ()).json or {}
        again = {
            "grant_type": "refresh_token",
            "refresh_token": first["refresh_token"],
            "client_id": client.client_id,
        }
        other = client.back("token", again, environ_overrides=certificate().environ())
        assert status_and_error(other) == (400, "invalid_grant")
        assert status_and_error(client.back("token", again)) == (400, "invalid_request")
        assert client.back("token", again, environ_overrides=shop_certificate.environ()).status_code == 200

    def test_confidential_client_may_renew_its_certificate(
        self, world: World, bound: RelyingParty, browser: Browser, ada: Person, shop_certificate: Certificate
    ) -> None:
        """RFC 8705 section 7.1: its refresh tokens are bound to its authentication."""
        stored, newer = self.tokens(bound, browser, ada, shop_certificate), certificate("CN=newer")
        world.change(bound, jwks={"keys": [newer.jwk]})
        form = {"grant_type": "refresh_token", "refresh_token": stored["refresh_token"], "client_id": bound.client_id}
        answer = bound.back("token", form, environ_overrides=newer.environ())
        assert answer.status_code == 200, answer.text

    def test_assertion_and_certificate_go_together(self, world: World, shop_certificate: Certificate) -> None:
        client = world.application(
            "both", secret=None, token_endpoint_auth_method="private_key_jwt", jwks=public_jwks(client_key("ES256")),
            grant_types=GRANTS, tls_client_certificate_bound_access_tokens=True, access_token_format="jwt",
        )  # fmt: skip
        sent = Signer(client).assertion(aud=f"http://{client.tenant_name}.mtls.localhost:8000/api/oidc/token")
        how = {"base_url": f"http://{client.tenant_name}.mtls.localhost:8000"}
        answer = client.wsgi.post(
            "/api/oidc/token", data={**MACHINE, **sent}, environ_overrides=shop_certificate.environ(), **how
        )
        assert answer.status_code == 200, answer.text
        claims = claims_in((answer.json or {})["access_token"])
        assert "x5t#S256" in claims["cnf"]
        assert claims["iss"] == client.issuer

    def test_certificate_does_not_replace_the_dpop_proof(self, world: World, shop_certificate: Certificate) -> None:
        bound: dict[str, Any] = {"tls_client_certificate_bound_access_tokens": True, "dpop_bound_access_tokens": True}
        client = world.application("two", grant_types=GRANTS, **bound)
        sent = {**MACHINE, **client.client_credentials()}
        answer = client.back("token", sent, environ_overrides=shop_certificate.environ())
        assert status_and_error(answer) == (400, "invalid_dpop_proof")


def test_metadata_name_what_the_proxy_makes_possible(services: IdentityServices, shop: RelyingParty) -> None:
    """RFC 8705 sections 3.3 and 5."""
    address = "/.well-known/openid-configuration"
    metadata = shop.get(address).json or {}
    assert {"tls_client_auth", "self_signed_tls_client_auth"} <= set(metadata["token_endpoint_auth_methods_supported"])
    assert metadata["tls_client_certificate_bound_access_tokens"] is True
    mtls = f"http://{shop.tenant_name}.mtls.localhost:8000"
    aliases = metadata["mtls_endpoint_aliases"]
    assert aliases["token_endpoint"] == f"{mtls}/api/oidc/token"
    assert {name: aliases[name].removeprefix(mtls) for name in aliases} == {
        name: metadata[name].removeprefix(shop.hub_url) for name in aliases
    }
    services.settings = replace(services.settings, client_certificate_header="", mtls_domain="")
    metadata = shop.get(address).json or {}
    assert not {"tls_client_certificate_bound_access_tokens", "mtls_endpoint_aliases"} & metadata.keys()
    assert not any("tls" in name for name in metadata["token_endpoint_auth_methods_supported"])


def test_every_alias_answers(tls: RelyingParty, shop_certificate: Certificate) -> None:
    aliases = (tls.get("/.well-known/openid-configuration").json or {})["mtls_endpoint_aliases"]
    mtls, environ = f"http://{tls.tenant_name}.mtls.localhost:8000", shop_certificate.environ()
    statuses = {}
    for name, url in aliases.items():
        is_push = name.startswith("pushed")
        form = tls.authorization_parameters() if is_push else {"client_id": tls.client_id, "token": "x", **MACHINE}
        how = {"base_url": mtls, "environ_overrides": environ}
        path = url.removeprefix(mtls)
        answer = tls.wsgi.get(path, **how) if name.startswith("userinfo") else tls.wsgi.post(path, data=form, **how)
        statuses[name.removesuffix("_endpoint")] = answer.status_code
    assert statuses == {
        "token": 200,
        "revocation": 200,
        "introspection": 200,
        "pushed_authorization_request": 201,
        "device_authorization": 400,  # authenticated, but without this grant
        "userinfo": 401,  # without an access token
    }


def test_header_of_an_untrusted_peer_is_ignored(
    services: IdentityServices, world: World, shop_certificate: Certificate
) -> None:
    """Through the whole application: the header counts only from the proxy, and the underscore form never."""
    client = self_signed(world, shop_certificate)
    complete = Client(create_identity(services.settings))
    form = {**MACHINE, "client_id": client.client_id}
    header = {"X-SSL-Client-Cert": shop_certificate.escaped}

    def post(peer: str, **more: Any) -> TestResponse:
        overrides = {"REMOTE_ADDR": peer, **more}
        return complete.post(
            "/api/oidc/token", data=form, headers=header, base_url=client.hub_url, environ_overrides=overrides
        )

    assert status_and_error(post("203.0.113.5")) == (401, "invalid_client")
    assert status_and_error(post("203.0.113.5", HTTP_X_FORWARDED_FOR="10.0.0.1")) == (401, "invalid_client")
    assert post("10.0.0.1", HTTP_X_FORWARDED_FOR="203.0.113.5").status_code == 200
