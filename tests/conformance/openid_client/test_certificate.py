"""openid-client with the certificate of its TLS connections, at a real proxy that terminates TLS (RFC 8705, FAPI 2.0)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conformance.openid_client.program import run
from tests.conformance.provider import PASSWORD, ConformanceProvider
from tests.conformance.tls_proxy import Proxied, proxied
from tests.conformance.visitor import ConformanceVisitor
from tests.support.oauth.client_certificates import Certificate, certificate

SCRIPT = Path(__file__).with_name("openid_client_certificate.mjs")
SUBJECT = "CN=bank,O=Example Bank,C=DE"
METHODS = {"bank": "tls_client_auth", "own": "self_signed_tls_client_auth", "desk": "tls_client_auth"}
APPLICATION = """\
      - name: {name}
        client_id: {name}
        security_profile: fapi2
        token_endpoint_auth_method: {method}
        {registered}
        {binding}: true
        redirect_uris: ["https://{name}.example/cb"]
        grant_types: [authorization_code, refresh_token, client_credentials]
"""
AUTHORITY = certificate("CN=Authority", is_authority=True)
CERTIFICATES = {
    "bank": certificate(SUBJECT, signed_by=AUTHORITY),
    "own": certificate("CN=own"),
    "desk": certificate("CN=desk", signed_by=AUTHORITY),
}


def application(name: str) -> str:
    """Return the registration of an application; `desk` binds its tokens by DPoP."""
    item = CERTIFICATES[name]
    registered = f'tls_client_auth_subject_dn: "{item.certificate.subject.rfc4514_string()}"'
    if METHODS[name].startswith("self"):
        registered = f"jwks: {json.dumps({'keys': [item.jwk]})}"
    binding = "dpop_bound_access_tokens" if name == "desk" else "tls_client_certificate_bound_access_tokens"
    return APPLICATION.format(name=name, method=METHODS[name], registered=registered, binding=binding)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    applications = "".join(map(application, METHODS))
    with proxied(tmp_path_factory.mktemp("proxied"), applications, AUTHORITY) as found:
        yield found


def connected(installation: Proxied, name: str, **more: Any) -> dict[str, Any]:
    """Run the relying party with its certificate, and return its report."""
    item = CERTIFICATES[name]
    files = {"trust": installation.server.pem, "certificate": item.pem, "key": item.key_pem}
    provider = ConformanceProvider(installation.hub_url, name, None)
    with ConformanceVisitor("ada@example.com", PASSWORD, installation.trust()) as visitor:
        return run(provider, visitor, SCRIPT, callback=f"https://{name}.example/cb", **files, **more)


@pytest.mark.parametrize("name", ["bank", "own"])
def test_openid_client_follows_the_fapi_profile_with_mtls(installation: Proxied, name: str) -> None:
    """FAPI 2.0 Security Profile section 5.3.2.1: each request of the client is at an alias, and its tokens are bound."""
    report = connected(installation, name)
    assert report["types"] == ["bearer", "bearer", "bearer"]
    assert (report["query"], report["iss"]) == (["client_id", "request_uri"], installation.hub_url)
    assert (report["email"], report["is_same_person"], report["is_rotated"]) == ("ada@example.com", True, False)
    assert report["cnf"] == ["x5t#S256"]
    hub, mtls = (url.removeprefix("https://") for url in (installation.hub_url, installation.mtls_url))
    assert (report["opened"], report["hosts"]) == (hub, [hub, mtls]), "only discovery and pages have another host"
    assert set(report["statuses"]) == {200, 201}


def test_openid_client_binds_by_dpop_what_its_certificate_gets(installation: Proxied) -> None:
    """The htu of its proofs is the alias (RFC 9449 section 4.3, RFC 8705 section 5)."""
    report = connected(installation, "desk", dpop=True)
    assert report["types"] == ["dpop", "dpop", "dpop"]
    assert report["cnf"] == ["jkt"]
    assert (report["email"], report["is_same_person"]) == ("ada@example.com", True)
    with installation.client(CERTIFICATES["desk"]) as sender:
        answer = sender.post(f"{installation.mtls_url}/api/oidc/token", data=machine("desk"))
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_dpop_proof"), (
            "its certificate binds nothing"
        )
        assert userinfo(sender, installation.mtls_url, report["access_token"]) == (401, "invalid_token")


def machine(name: str) -> dict[str, str]:
    return {"grant_type": "client_credentials", "client_id": name}


def userinfo(sender: httpx.Client, base: str, token: str, **headers: str) -> tuple[int, str]:
    answer = sender.get(f"{base}/service/oidc/userinfo", headers={"Authorization": f"Bearer {token}", **headers})
    challenge = answer.headers.get("www-authenticate", "")
    return answer.status_code, "invalid_token" if 'error="invalid_token"' in challenge else challenge


def forged(item: Certificate) -> dict[str, str]:
    """Return the proxy's headers, as a sender may spell them."""
    return {"X-SSL-Client-Cert": item.escaped, "X-SSL-Client-Verify": "SUCCESS"}


OTHERS: dict[str, Certificate | None] = {
    "none": None,
    "another client's": CERTIFICATES["own"],
    "the same subject, self-signed": certificate(SUBJECT),
    "the same subject, renewed": certificate(SUBJECT, signed_by=AUTHORITY),
    "another subject of the authority": CERTIFICATES["desk"],
}


@pytest.fixture(scope="module")
def bound_token(installation: Proxied) -> str:
    return str(connected(installation, "bank")["access_token"])


@pytest.mark.parametrize("other", OTHERS)
def test_token_is_refused_without_its_certificate(installation: Proxied, bound_token: str, other: str) -> None:
    """RFC 8705 section 3, also where the sender spells the certificate in the proxy's header."""
    item = CERTIFICATES["bank"]
    with installation.client(item) as holder:
        assert userinfo(holder, installation.mtls_url, bound_token) == (200, "")
        assert userinfo(holder, installation.hub_url, bound_token) == (401, "invalid_token"), (
            "no certificate is requested there"
        )
    with installation.client(OTHERS[other]) as thief:
        for base in (installation.mtls_url, installation.hub_url):
            assert userinfo(thief, base, bound_token) == (401, "invalid_token")
            assert userinfo(thief, base, bound_token, **forged(item)) == (401, "invalid_token")


@pytest.mark.parametrize("other", OTHERS)
def test_client_is_refused_without_its_certificate(installation: Proxied, other: str) -> None:
    """RFC 8705 section 2.1: a certificate of the authority with the client's subject is the client's, no other one."""
    expected = [200 if other.endswith("renewed") else 401, 401]
    headers = forged(CERTIFICATES["bank"])
    address = f"127.0.0.{10 + list(OTHERS).index(other)}"  # refusals are limited for each address
    with installation.client(OTHERS[other], address) as sender:
        for more in ({}, headers, {name.replace("-", "_"): value for name, value in headers.items()}):
            answers = [
                sender.post(f"{base}/api/oidc/token", data=machine("bank"), headers=more).status_code
                for base in (installation.mtls_url, installation.hub_url)
            ]
            assert answers == expected, more


def test_header_from_outside_the_proxy_is_refused(installation: Proxied) -> None:
    """A caller that reaches the service itself has an address that is not the trusted one."""
    item, url = CERTIFICATES["bank"], f"http://127.0.0.1:{installation.plain_port}/api/oidc/token"
    host = installation.mtls_url.removeprefix("https://")
    headers = {"Host": host, **forged(item)}
    with installation.client(address="127.0.0.2") as outsider:
        for more in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}):
            refused = outsider.post(url, data=machine("bank"), headers={**headers, **more})
            assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    with installation.client() as proxy:
        assert proxy.post(url, data=machine("bank"), headers=headers).status_code == 200, "from the proxy's address"


def test_certificate_of_one_host_does_not_reach_another(installation: Proxied) -> None:
    """A connection to the host that asks for none, and a request for the host that asks."""
    host = installation.mtls_url.removeprefix("https://")
    with installation.client(CERTIFICATES["bank"]) as sender:
        answer = sender.post(
            f"{installation.hub_url}/api/oidc/token", data=machine("bank"), headers={"Host": host}
        )  # fmt: skip
        assert answer.status_code == 421, "Apache's misdirected request"
